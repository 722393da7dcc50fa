"""Acceptance test: what is proposed and what is not; contradictions; the written file is the posterior."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic import with_signals

from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.arm.written_file import file_effort
from robot_dynamics_ros.identification.dataset.motion import ROTOR_TIME
from robot_dynamics_ros.identification.dataset.recording import recording as loaded
from robot_dynamics_ros.learning import changes
from robot_dynamics_ros.learning.changes import Change, change_of, is_new
from robot_dynamics_ros.learning.intake import working_motion
from robot_dynamics_ros.learning.proposal import MARGIN, Proposal, judge, propose, verdict
from robot_dynamics_ros.learning.report import OPEN, improvement, knowledge, shown_at_rest
from robot_dynamics_ros.learning.running import Running
from robot_dynamics_ros.learning.session import Session
from robot_dynamics_ros.learning.store import Store
from robot_dynamics_ros.learning.update import Prior
from robot_dynamics_ros.learning.written import parameters_of, shows_rotors, with_residuals, written
from robot_dynamics_ros.models.friction import created_energy
from robot_dynamics_ros.models.inertia import is_consistent


def test_a_written_file_is_possible_and_dissipates(learned):
    assert all(is_consistent(row) for row in learned.link_parameters)
    assert created_energy(learned) == {}
    assert (learned.effort_inertia >= 0).all()


def test_the_parameters_of_a_written_file_predict_as_the_live_stages_do(worker, learned):
    """Oracle: the robot file through the model and the friction stage of the nodes, against A x from the columns."""
    c, m = worker.prior.columns, working_motion(worker.recordings[1])
    x = parameters_of(c, learned)
    live = file_effort(learned, c.rigid.gravity, (None,) * c.n)(m)
    own = np.column_stack([F @ x[c.own(j)] for j, F in enumerate(c.friction(m, c.load(m)))])
    linear = c.rigid.torque(c.rigid.base.to_standard(x[: c.base]), m.q, m.qd, m.qdd) + own
    moved = np.ptp(m.q[: len(m) // 2], axis=0) > 0.05
    late = slice(len(m) // 2, None)  # the presliding state is known there
    error = np.sqrt(((live - linear)[late][:, moved] ** 2).mean(axis=0))
    # the load of the gear is that of the first file in the columns and that of the new file in the nodes
    assert (error < 0.05 * np.sqrt((m.effort[late][:, moved] ** 2).mean(axis=0))).all()


def test_a_learned_file_follows_the_positions_unless_velocities_show_the_rotors(worker):
    columns, state = worker.prior.columns, worker.state
    seen = worker.recordings[1]
    blind = replace(seen, pieces=[replace(p, qd=np.gradient(p.q, p.t, axis=0)) for p in seen.pieces])
    for recording, time in ((seen, ROTOR_TIME), (blind, 0.0)):
        found = written(columns, state, "test", shows_rotors(columns, [recording]))
        assert set(found.array("hysteresis.parameters.rotor_time")) == {time}


def test_the_first_file_from_work_is_proposed_and_halves_the_error(worker):
    found = propose(Running.of(worker.prior), worker.triangles[:3], None, worker.recordings[1:3])
    assert found.robot is not None and found.worse == []
    assert set(found.better) == set(worker.robot.joint_names)
    assert (found.new < 0.5 * found.present).all()
    assert found.rest is not None and found.rest[1] < found.rest[0]
    assert found.robot.residuals is not None


def test_a_file_that_would_be_worse_is_not_proposed_and_the_reason_names_the_joint(worker, learned):
    """A prior that is wrong and sure of itself cannot be written over a file that is right."""
    c = worker.prior.columns
    mean = worker.prior.mean.copy()
    wrong = 2
    mean[c.own(wrong)] *= 3.0
    tight = np.diag(np.diag(worker.prior.covariance)) * 1e-8
    found = propose(Running.of(Prior(c, mean, tight)), worker.triangles, learned, worker.recordings[-1:])
    assert found.robot is None
    assert worker.robot.joint_names[wrong] in found.worse
    assert any("contradict" in text and worker.robot.joint_names[wrong] in text for text in found.reasons)


def test_the_same_file_again_is_not_proposed(worker, learned):
    seen = Running.of(worker.prior, worker.triangles[:3])
    found = propose(seen, worker.triangles[3:], learned, worker.recordings[3:])
    assert found.robot is None


def test_nothing_is_proposed_without_a_recording_to_compare_the_force_at_rest(worker):
    found = propose(Running.of(worker.prior), worker.triangles, None)
    assert found.better and found.robot is None
    assert "no recording is at hand" in found.reasons[-1]


@pytest.mark.parametrize("recordings", [2, 3, 5, 30])
@pytest.mark.parametrize("tails", [np.inf, 4.0])
def test_a_file_that_is_as_good_is_proposed_by_chance_in_one_of_twenty(rng, recordings, tails):
    """Simulated false proposals: no joint differs, the joints scatter up to threefold, also with heavy tails."""
    draws, joints = 4000, 6
    scatter = 0.05 * rng.uniform(1.0, 3.0, joints)
    size = (draws, recordings, joints)
    d = scatter * (rng.normal(size=size) if np.isinf(tails) else rng.standard_t(tails, size) / np.sqrt(2))
    verdicts = [verdict(one) for one in d]
    proposed = np.mean([better.any() and not worse.any() for better, worse in verdicts])
    assert proposed < 0.05 + 3 * np.sqrt(0.05 * 0.95 / draws)
    blocked = np.mean([worse for _, worse in verdicts])  # more where a joint scatters more than the others, else less
    assert blocked < 0.07


def test_a_joint_that_is_worse_by_more_than_the_scatter_blocks_and_one_that_is_not_does_not(rng):
    draws, recordings, scatter = 2000, 5, 0.03
    gain = np.array([0.3, 0.3, 0.2, 0.2, 0.1, 0.0])
    d = gain + scatter * rng.normal(size=(draws, recordings, 6))
    better, worse = np.swapaxes([verdict(one) for one in d - np.array([0, 0, 0, 0, 0, 0.12])], 0, 1)
    assert np.mean(worse[:, -1]) > 0.99 and np.mean(better[:, :4]) > 0.99
    better, worse = np.swapaxes([verdict(one) for one in d - np.array([0, 0, 0, 0, 0, 0.01])], 0, 1)
    assert np.mean(better.any(axis=1) & ~worse.any(axis=1)) > 0.8  # a percent worse, with 3 % of scatter
    steady = gain - np.array([0, 0, 0, 0, 0, 0.9 * MARGIN]) + 1e-4 * rng.normal(size=(recordings, 6))
    assert not verdict(steady)[1].any()  # less than a robot repeats itself, however sure


def changed(worker, gain=1.0, bias=0.0, **load):
    log = worker.log(**load)
    triangle, _ = worker.learned(with_signals(log, effort=log.effort * gain + bias))
    return change_of(worker.state, triangle, worker.prior.columns)


def test_the_error_that_is_reported_is_of_the_joints_that_are_better():
    """Of all joints it can be the same, while one is better and the others differ by chance."""
    found = Proposal(None, None, np.array([0.2, 0.3, 0.4]), np.array([0.25, 0.2, 0.45]), better=["b"])
    assert improvement(found, ["a", "b", "c"]) == "error 0.2 instead of 0.3 Nm in b"


def test_the_verdict_says_which_pushes_at_rest_a_file_shows(worker, learned):
    """Larger ones with larger residuals: "Good" alone was said of a file that showed none of 30 N."""
    file = with_residuals(learned, worker.recordings[:2])
    rest, said = file.array("residuals.rest"), []
    for factor in (1.0, 4.0, 1000.0):
        said.append(shown_at_rest(file.with_updates({"residuals.rest": (factor * rest).tolist()})))
    one, four = (float(text.split(" from ")[1].split(" N")[0]) for text in said[:2])
    assert 5.0 < one < 35.0 and 2.0 * one < four < 4.5 * one and "shows no push" in said[2]


@pytest.mark.parametrize("gain", [0.001, 0.01, 0.015, 0.025, 0.1])
def test_figures_of_a_joint_that_is_better_differ_as_they_are_printed(gain):
    """However sure: a file that is better by less than a robot repeats itself is not proposed."""
    names, present = ["a", "b"], np.array([0.99, 0.5])
    found = Proposal(None, None, present, present * (1 - gain))
    judge(found, np.full((5, 2), -np.log(1 - gain)) + 1e-5 * np.arange(10).reshape(5, 2), names)
    before, after = (float(improvement(found, names).split()[k]) for k in (4, 1)) if found.better else (0.0, 0.0)
    assert found.better == (names if gain > MARGIN else []) and (after < before or not found.better)


def test_another_ordinary_day_is_no_change_point(worker):
    assert changed(worker) is None


def test_a_payload_is_recognised_with_its_mass(worker):
    found = changed(worker, payload=1.5)
    assert found is not None and found.kind == "payload"
    mass = float(found.text.split("load of ")[1].split(" ")[0])
    assert mass == pytest.approx(1.5, abs=0.15)


def test_another_tool_is_recognised_with_its_centre(worker):
    found = changed(worker, payload=0.8, height=0.2)
    assert found is not None and found.kind == "payload" and "tool" in found.text
    centre = [float(x) for x in found.text.split("(centre ")[1].split(" m)")[0].split(", ")]
    assert np.linalg.norm(np.array(centre) - [0.0, 0.0, 0.2]) < 0.08


def test_a_recalibrated_sensor_is_recognised_by_gain_and_by_zero(worker):
    names = worker.robot.joint_names
    gain = changed(worker, gain=np.array([1, 1.12, 1, 1, 1, 1]))
    assert gain is not None and gain.kind == "gain" and names[1] in gain.text
    bias = changed(worker, bias=np.array([0, 0, 2.5, 0, 0, 0]))
    assert bias is not None and bias.kind == "bias" and names[2] in bias.text
    value, _, std = bias.text.split(f"{names[2]} ")[1].split(" ")[:3]
    assert float(value) == pytest.approx(2.5, abs=0.75), std


def test_other_friction_of_one_joint_that_carries_a_load_is_named(worker):
    """A replaced gear: half as much more was averaged without a word."""
    found = changed(worker, bias=stiffer(worker))
    assert found is not None and found.kind == "gear" and f"friction of {worker.robot.joint_names[1]}" in found.text


def test_the_first_recording_is_compared_with_an_identified_file(worker, learned, tmp_path):
    session = Session.of(Store(tmp_path, with_residuals(learned, worker.recordings[:2])), Options(effort="torque"))
    log = worker.log()
    for name, more in (("other", stiffer(worker)), ("same", 0.0)):
        session.add(loaded(with_signals(log, effort=log.effort + more), name), 16 * name)
    held, same = session.lines
    assert held.startswith("held: other: held back, it contradicts the robot file: ") and "--accept other" in held
    assert f"({worker.robot.joint_names[1]}" in held and same.startswith("learned: same: ")


def stiffer(worker):
    """Half as much more friction (N, n) [Nm] of the second joint."""
    return np.tanh(worker.log().qd / 0.02) * [0, 0.5 * worker.who.overrides["friction.stribeck"][1], 0, 0, 0, 0]


def test_a_drag_through_all_of_a_recording_is_not_learned_as_friction(worker):
    """It is explained by half as 76 % more friction of all joints; what is left is no recording to learn from."""
    found = changed(worker, bias=np.tanh(worker.log().qd / 0.02) * [12.0, 15.0, 9.0, 3.0, 3.0, 1.5])
    assert found is not None and found.kind == "unexplained"


def test_what_the_recording_before_shows_too_is_no_change(monkeypatch):
    now = Change("payload", "", 3.0, 1.0, where=0, size=0.45, std=0.04, least=0.2)
    befores = {False: [replace(now, size=0.4)], True: [replace(now, size=-0.4), replace(now, where=3), None]}
    for new, olds in befores.items():
        for old in olds:
            monkeypatch.setattr(changes, "change_of", lambda *_, old=old: old)
            assert is_new(now, None, None, None) == new


def test_what_is_open_is_some_of_the_base_parameters(worker):
    known = knowledge(worker.prior, worker.state)
    assert 0 < sum(k.left > OPEN for k in known) < len(known)
