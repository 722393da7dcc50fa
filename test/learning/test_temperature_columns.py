"""Temperature: a column of the triangles, one slope per joint in the robot file, and back."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic import with_signals

from robot_dynamics_ros.identification.arm.written_file import file_effort
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.learning.columns import WARM
from robot_dynamics_ros.learning.intake import Work, triangles_of, warmer_than, working_motion
from robot_dynamics_ros.learning.triangles import Triangle
from robot_dynamics_ros.learning.update import Information, rows_of, warm_slopes
from robot_dynamics_ros.learning.written import STEEPEST, parameters_of, written
from robot_dynamics_ros.models.friction import FrictionModel, created_energy


def test_the_temperatures_of_a_recording_are_those_at_its_rows(worker):
    rec = worker.recordings[0]
    motion = working_motion(rec)
    warmer = warmer_than(rec, motion)
    assert warmer is not None and warmer.shape == motion.q.shape
    piece = rec.pieces[0]
    k = len(motion) // 2
    nearest = np.argmin(np.abs(piece.t - motion.t[k]))
    assert warmer[k] + WARM == pytest.approx(piece.extra["temperature"][nearest], abs=0.2)


def test_a_row_without_or_with_an_impossible_temperature_does_not_lose_or_spoil_those_of_the_recording(worker):
    """A bag begins before the first temperature: none of its temperatures was learned; kelvin were 270 K warmer."""
    log = worker.logs[0]
    whole, first = recording(log, "whole"), log.temperature.copy()
    first[:50] = np.nan
    first[1000, 2] = 300.0
    rec = recording(with_signals(log, temperature=first), "first")
    warmer, expected = (warmer_than(r, working_motion(r)) for r in (rec, whole))
    np.testing.assert_allclose(warmer, expected, atol=0.5)
    assert any("kelvin" in note for note in rec.notes) and not any("kelvin" in note for note in whole.notes)
    kelvin = recording(with_signals(log, temperature=first + 273.15), "kelvin")
    assert warmer_than(kelvin, working_motion(kelvin)) is None


@pytest.mark.parametrize(("softer", "thinner"), [(-0.012, -0.012), (0.0, -0.015)])
def test_slopes_in_the_data_are_found_and_written(worker, learned, softer, thinner):
    """Oracle: effort made with a level and viscous friction that fall with temperature, seen at three temperatures."""
    c, prior = worker.prior.columns, worker.prior
    base = parameters_of(c, learned)
    state = prior.information
    for day, warmer in enumerate((-8.0, 0.0, 8.0)):
        m = working_motion(worker.recordings[day])
        own = [F @ base[c.own(j)] for j, F in enumerate(c.friction(m, c.load(m)))]
        links = c.rigid.torque(c.rigid.base.to_standard(base[: c.base]), m.q, m.qd, m.qdd)
        inertia = np.column_stack([m.qdd[:, j] * base[c.place(j, "ia")] for j in range(c.n)])
        offset = np.array([base[c.place(j, "fo")] for j in range(c.n)])
        friction = np.column_stack(own) - inertia - offset
        terms = [[c.place(j, t) - c.own(j).start for t in ("fv1", "fv2", "fv0")] for j in range(c.n)]
        F = c.friction(m, c.load(m))
        viscous = np.column_stack([F[j][:, k] @ base[c.own(j)][k] for j, k in enumerate(terms)])
        level = friction - viscous
        m.effort = links + inertia + offset + (1 + softer * warmer) * level + (1 + thinner * warmer) * viscous
        ones = np.ones(m.q.shape)
        joints = triangles_of(prior, Work(m, warmer * ones), ones)
        count = ones.sum(axis=0)
        state = state.with_rows(rows_of(Triangle(joints, count, np.ones(c.n), count), c))
    found = written(c, state, "test")
    alpha, beside = found.array("friction.parameters.alpha"), found.array("hysteresis.parameters.viscous_slope")
    assert alpha == pytest.approx(softer * np.ones(c.n), abs=0.005)
    assert alpha + beside == pytest.approx(thinner * np.ones(c.n), abs=0.006)
    assert created_energy(found) == {}


def test_one_cold_and_one_warm_recording_say_what_they_show(worker, session):
    warm = replace(worker, who=replace(worker.who, temperature=worker.who.temperature + 15.0)).log(1)
    for day, log in enumerate((worker.logs[0], warm)):
        session.add(recording(log, f"day{day}"), str(day) * 64)
    session.propose()
    said = [line for line in session.lines if line.startswith("changed")]
    assert "day1: viscous friction is" in said[0] and "lower (+" in said[0] and said[0].endswith("than in day0.")
    assert -2.5 < float(said[1].split("changes by ")[1].split(" ")[0]) < -0.5 and "per recorded kelvin" in said[1]


def test_a_warm_recording_without_temperatures_is_learned_and_not_held_back(worker, session):
    warm = replace(worker, who=replace(worker.who, temperature=worker.who.temperature + 30.0)).log(1)
    for day, log in enumerate((worker.logs[0], worker.logs[2], warm)):
        session.add(recording(with_signals(log, temperature=None), f"day{day}"), str(day) * 64)
    session.propose()
    again = [line for line in session.lines if "than in day0" in line]
    assert len(session.recordings) == 3 and "day2: viscous friction is" in again[0] and " lower " in again[0]
    assert not any("Coulomb" in line for line in again)


def test_friction_of_all_joints_that_rose_is_said_and_learned_as_it_is(worker, session):
    parts = ("friction.coulomb", "friction.stribeck", "friction.viscous")
    colder = worker.who.overrides | {part: 1.3 * worker.who.overrides[part] for part in parts}
    changed = replace(worker, who=replace(worker.who, overrides=colder)).log(1)
    for day, log in enumerate((worker.logs[0], worker.logs[2], changed)):
        session.add(recording(log, f"day{day}"), str(day) * 64)
    said = [line for line in session.lines if line.startswith(("changed", "held"))]
    share = float(said[0].split(" is ")[1].split(" ")[0])
    assert len(said) == 1 and said[0].startswith("changed: day2: friction of all joints is ") and "higher" in said[0]
    assert share == pytest.approx(30, abs=8) and len(session.recordings) == 3
    session.propose()
    (coulomb,) = (line for line in session.lines if line.startswith("changed: day2: Coulomb friction is "))
    size = float(coulomb.split(" is ")[1].split(" ")[0])
    assert size == pytest.approx(30, abs=8) and "higher than in day0" in coulomb


def test_a_written_slope_comes_back_as_parameters(worker, learned):
    c = worker.prior.columns
    x = parameters_of(c, learned)
    again = parameters_of(c, written(c, Information.of(x, worker.prior.covariance), "test"))
    places = [c.place(j, t) for j in range(c.n) for t in ("tc", "tv")]
    assert again[places] == pytest.approx(x[places], rel=0.1, abs=1e-3)


def test_a_warm_joint_rubs_less_by_the_written_slope(worker, learned):
    """The factor of the friction law in the nodes is 1 + alpha (T - T0), bounded so that friction stays positive."""
    c, robot = worker.prior.columns, learned
    alpha = robot.array("friction.parameters.alpha")
    assert (np.abs(alpha) <= STEEPEST).all() and [warm_slopes(robot, j)[0] for j in range(c.n)] == pytest.approx(alpha)
    law, v = FrictionModel.from_robot(robot), np.full((1, c.n), 0.5)
    cold, warm = (law.torque(v, None, np.full((1, c.n), T)) for T in (WARM, WARM + 10.0))
    offset = robot.array_or("friction.parameters.fo", 0.0)
    assert (warm - offset) == pytest.approx((1 + 10 * alpha) * (cold - offset), rel=1e-6)


def test_without_temperatures_the_columns_are_empty_and_the_prior_stays(worker):
    c, m = worker.prior.columns, working_motion(worker.recordings[0])
    own = c.friction(m, c.load(m))
    for j, F in enumerate(own):
        assert not F[:, [c.terms[j].index(t) for t in ("tc", "tv")]].any()
    law = file_effort(worker.robot, c.rigid.gravity, (None,) * c.n)(m)
    assert np.isfinite(law).all()
