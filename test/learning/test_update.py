"""Bayes' rule against its covariance form; wear forgets friction and never masses; a fleet's mean and spread."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from bench.force import zoo
from bench.force.recordings import recorded, simulated
from robot_dynamics_ros.identification.arm.friction_columns import SPANS
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.learning.columns import Columns
from robot_dynamics_ros.learning.fleet import fleet_prior, load_prior, save_prior
from robot_dynamics_ros.learning.intake import learn_recording, working_motion
from robot_dynamics_ros.learning.running import Running
from robot_dynamics_ros.learning.update import DAY, TAU, Information, Prior, file_prior, rows_of, walked
from robot_dynamics_ros.learning.written import written
from robot_dynamics_ros.robot_file import load_robot


def covariance(state):
    return state.root @ state.root.T


def test_information_is_the_covariance_form_of_bayes(rng):
    p, m = 6, 4
    S = np.diag(rng.uniform(0.5, 2.0, p)) + 0.1
    mean, A, y = rng.normal(size=p), rng.normal(size=(m, p)), rng.normal(size=m)
    state = Information.of(mean, S).with_rows(np.column_stack([A, y]))
    gain = S @ A.T @ np.linalg.inv(np.eye(m) + A @ S @ A.T)
    assert state.mean == pytest.approx(mean + gain @ (y - A @ mean), abs=1e-8)
    assert covariance(state) == pytest.approx(S - gain @ A @ S, abs=1e-8)


def test_recordings_in_any_order_give_one_posterior_and_each_lowers_every_deviation(worker):
    states = [Running.of(worker.prior, worker.triangles[:k]).state for k in range(4)]
    for before, after in zip(states[:-1], states[1:], strict=True):
        inertia = slice(0, worker.prior.columns.base)
        assert (after.std[inertia] <= before.std[inertia] * (1 + 1e-9)).all()
    again = Running.of(worker.prior, worker.triangles[2::-1]).state
    assert again.mean == pytest.approx(states[3].mean, rel=1e-9, abs=1e-12)


def test_wear_adds_to_the_variance_of_friction_and_to_nothing_else(worker):
    prior = worker.prior
    state = prior.information.with_rows(rows_of(worker.triangles[0], prior.columns))
    late = walked(state, prior, TAU / 10)
    expected = covariance(state)
    f = prior.wears
    expected[np.ix_(f, f)] += 0.2 * prior.covariance[np.ix_(f, f)]
    scale = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(covariance(late) / scale / scale[:, None], expected / scale / scale[:, None], 1e-6, 1e-6)
    assert np.abs(late.mean - state.mean).max() < 1e-6
    masses = np.setdiff1d(np.arange(prior.columns.size), f)
    assert late.std[masses] == pytest.approx(state.std[masses], rel=1e-6)


def test_wear_of_two_days_is_twice_that_of_one(worker):
    state = worker.prior.information.with_rows(rows_of(worker.triangles[0], worker.prior.columns))
    once = walked(state, worker.prior, 2 * DAY)
    twice = walked(walked(state, worker.prior, DAY), worker.prior, DAY)
    assert twice.std == pytest.approx(once.std, rel=1e-6)
    assert walked(state, worker.prior, 0.0) is state


def test_an_old_recording_says_less_about_friction_and_as_much_about_masses(worker):
    fresh = Running.of(worker.prior, worker.triangles[:1]).state
    old = Running.of(worker.prior, worker.triangles[:1]).at(worker.triangles[0].time + 3650 * DAY)
    c = worker.prior.columns
    assert old.std[: c.base] == pytest.approx(fresh.std[: c.base], rel=1e-6)
    friction = worker.prior.wears
    assert (old.std[friction] > fresh.std[friction]).all()


def test_the_prior_is_the_robot_file(worker):
    c = worker.prior.columns
    assert worker.prior.mean[: c.base] == pytest.approx(c.rigid.base.from_standard(worker.robot.inertial_parameters))
    assert worker.prior.mean[[c.place(j, "ia") for j in range(c.n)]] == pytest.approx(worker.robot.effort_inertia)
    levels = [sum(worker.prior.mean[c.place(j, f"h@{k}")] for k in range(len(SPANS))) for j in range(c.n)]
    assert levels == pytest.approx(worker.robot.array("friction.parameters.fc"), rel=1e-6)


def test_behind_the_gear_friction_of_the_link_is_learned_and_no_rotor():
    """A torque sensor sees bearings and seals: recordings of free motion are none of contact, and their friction is
    that of the law that is written.
    """
    robot = load_robot("fr3")
    who = replace(zoo.individuals(robot, 1, 0, ["maxwell"])[0], kinds=("slow", "moves"))
    prior = file_prior(Columns(robot))
    assert prior.columns.terms[0] == tuple(t for t in Columns(load_robot("ur5e")).terms[0] if t != "ia")
    logs = [recorded(robot, who, k)[0] for k in (0, 1)]
    learned = [learn_recording(prior, recording(log, "r"), Options(effort="torque"), "0" * 64) for log in logs]
    assert all(free.duration > 0.9 * log.time[-1] for log, (_, free) in zip(logs, learned, strict=True))
    state = Running.of(prior, [triangle for triangle, _ in learned]).state
    file = written(prior.columns, state, "test", by_rotor=False)
    true = simulated(robot, who, 0).machine.true["transmission.bearing_friction"]
    assert file.array("friction.parameters.fc") == pytest.approx(true, rel=0.1)


def individuals(prior, rng, count, spread=0.5):
    """Robots whose parameters are off the prior alike, and each by itself, and their posteriors."""
    scale = np.sqrt(np.diag(prior.covariance))
    common = prior.mean + 1.0 * scale * rng.choice([-1.0, 1.0], len(scale))
    truths = [common + spread * scale * rng.normal(size=len(scale)) for _ in range(count)]
    rows = []
    for x in truths:
        A = rng.normal(size=(2 * len(scale), len(scale))) / scale
        rows.append(np.column_stack([A, A @ x + rng.normal(size=len(A))]))
    return common, truths, rows


def small_prior(rng, p=8):
    class Few:
        base, n, size, robot_id = p, 0, p, "few"

    return Prior(Few(), rng.normal(size=p), np.diag(rng.uniform(0.5, 2.0, p)))


def test_a_fleet_finds_its_mean_and_its_spread(rng):
    prior = small_prior(rng)
    common, _, rows = individuals(prior, rng, 60)
    found = fleet_prior(prior, rows)
    scale = np.sqrt(np.diag(prior.covariance))
    assert np.abs((found.mean - common) / scale).max() < 0.35  # 3 standard errors of 60, and the pull of five robots
    spread = np.sqrt(np.diag(found.covariance)) / scale
    assert (spread > 0.35).all() and (spread < 0.85).all()


def test_a_new_robot_begins_nearer_to_the_truth_with_its_fleet(rng):
    prior = small_prior(rng)
    _, truths, rows = individuals(prior, rng, 30)
    fleet = fleet_prior(prior, rows[:-1])
    scale = np.sqrt(np.diag(prior.covariance))
    few = rows[-1][:2]
    found = [p.information.with_rows(r).mean for p in (prior, fleet) for r in (few[:0], few)]
    errors = [np.linalg.norm((mean - truths[-1]) / scale) for mean in found]
    assert errors[2] < errors[0] and errors[3] < errors[1]


def test_without_robots_the_fleet_prior_is_the_files(rng):
    prior = small_prior(rng)
    found = fleet_prior(prior, [])
    assert np.array_equal(found.mean, prior.mean) and np.array_equal(found.covariance, prior.covariance)


def test_a_fleet_prior_is_refused_when_it_is_of_another_model(worker, tmp_path):
    from robot_dynamics_ros.errors import DataError

    path = tmp_path / "fleet.npz"
    save_prior(worker.prior, path)
    assert np.array_equal(load_prior(worker.prior.columns, path).mean, worker.prior.mean)
    with pytest.raises(DataError, match="fleet.npz.*another robot model"):
        load_prior(Columns(load_robot("ur10e")), path)
    for text in (b"PK no archive", b"text"):
        path.write_bytes(text)
        with pytest.raises(DataError, match=r"fleet.npz: is no fleet prior, which learn-fleet writes$"):
            load_prior(worker.prior.columns, path)


def test_presliding_follows_the_rotor_where_the_velocity_is_measured_on_it(worker):
    """Other link positions change nothing while those of the rotor are known; without them they drive the elements."""
    c = worker.prior.columns
    motion = working_motion(worker.recordings[0])
    assert motion.rotor is not None
    moved = replace(motion, measured=motion.position + 1e-3 * np.sin(motion.t)[:, None])
    blind = replace(moved, rotor=None)
    own, same, other = (c.friction(m, c.load(m))[1] for m in (motion, moved, blind))
    np.testing.assert_array_equal(own, same)
    assert np.abs(own - other).max() > 0.5


def test_a_prior_goes_to_another_process():
    prior = file_prior(Columns(load_robot("ur5e")))
    again = pickle.loads(pickle.dumps(prior))
    assert again.columns.names == prior.columns.names
    np.testing.assert_array_equal(again.mean, prior.mean)
    np.testing.assert_array_equal(again.covariance, prior.covariance)
