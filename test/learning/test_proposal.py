"""Acceptance test: what is proposed and what is not; contradictions; the written file is the posterior."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from command_line import robot_dynamics

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.written_file import file_effort
from robot_dynamics_ros.identification.dataset.motion import ROTOR_TIME
from robot_dynamics_ros.learning import changes, observability
from robot_dynamics_ros.learning.changes import Change, change_of, is_new
from robot_dynamics_ros.learning.intake import working_motion
from robot_dynamics_ros.learning.observability import OPEN, expected, knowledge, shortest_motion
from robot_dynamics_ros.learning.proposal import MARGIN, Proposal, judge, propose, verdict
from robot_dynamics_ros.learning.report import improvement, shown_at_rest
from robot_dynamics_ros.learning.running import Running
from robot_dynamics_ros.learning.update import Prior
from robot_dynamics_ros.learning.written import parameters_of, shows_rotors, with_residuals, written
from robot_dynamics_ros.models.friction import created_energy
from robot_dynamics_ros.models.inertia import is_consistent
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

DAY = 20  # of a recording that is not learned yet


@pytest.fixture(scope="module")
def learned(worker):
    return written(worker.prior.columns, Running.of(worker.prior, worker.triangles).state, "test")


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
    columns, state = worker.prior.columns, Running.of(worker.prior, worker.triangles).state
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


def with_effort(log, effort):
    return Log(log.joint_names, log.stamp_ns, {**log.signals, "effort": effort})


def changed(worker, gain=1.0, bias=0.0, **load):
    log = worker.log(DAY, **load)
    triangle, _ = worker.learned(with_effort(log, log.effort * gain + bias), DAY)
    return change_of(Running.of(worker.prior, worker.triangles).state, triangle, worker.prior.columns)


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


def test_what_the_recording_before_shows_too_is_no_change(monkeypatch):
    now = Change("payload", "", 3.0, 1.0, where=0, size=0.45, std=0.04, least=0.2)
    befores = {False: [replace(now, size=0.4)], True: [replace(now, size=-0.4), replace(now, where=3), None]}
    for new, olds in befores.items():
        for old in olds:
            monkeypatch.setattr(changes, "change_of", lambda *_, old=old: old)
            assert is_new(now, None, None, None) == new


def test_contact_in_a_recording_is_left_out_and_not_learned(worker, monkeypatch):
    """A push for a fifth of the time: what it adds to the residual variances is a third without the contact found."""
    log = worker.log(DAY)
    free, kept = worker.learned(log, DAY)
    touched = (log.time > 8) & (log.time < 13)
    arm = np.array([5.0, 9.0, 7.0, 2.0, 1.5, 0.5])
    touched = with_effort(log, log.effort + touched[:, None] * arm)
    pushed, left = worker.learned(touched, DAY)
    assert 2.0 < kept.duration - left.duration < 7.0
    monkeypatch.setattr("robot_dynamics_ros.learning.intake.FAR", np.inf)
    with_contact, _ = worker.learned(touched, DAY)
    more, less = ((t.sigma**2 - free.sigma**2).sum() for t in (with_contact, pushed))
    assert less < more / 3


def test_a_collision_is_left_out_and_the_rest_of_the_recording_agrees(worker):
    log = worker.log(DAY)
    hit = (log.time > 12.0) & (log.time < 12.6)
    force = np.array([15.0, 25.0, 15.0, 4.0, 3.0, 1.0])
    triangle, kept = worker.learned(with_effort(log, log.effort + hit[:, None] * force), DAY)
    assert not any(p.t[0] < 12.3 < p.t[-1] for p in kept.pieces)
    assert change_of(Running.of(worker.prior, worker.triangles).state, triangle, worker.prior.columns) is None


def test_what_is_open_is_reported_and_a_motion_for_it_shows_it(worker, monkeypatch):
    monkeypatch.setattr(observability, "DURATIONS", (5.0, 10.0))
    state = Running.of(worker.prior, worker.triangles).state
    known = knowledge(worker.prior, state)
    assert 0 < sum(k.left > OPEN for k in known) < len(known)
    motion, shown = shortest_motion(worker.prior, state)
    assert shown
    after = expected(worker.prior, state, motion)
    names = worker.prior.columns.names
    assert all(after.std[names.index(name)] < 0.5 * state.std[names.index(name)] for name in shown)


TORQUE = "--effort", "torque"
run = partial(robot_dynamics, "learn")


def test_the_command_from_bags_to_a_version(worker, tmp_path, monkeypatch, request):
    bags = [write_bag(log, tmp_path / f"day{k}", topics=["joint_states"]) for k, log in enumerate(worker.logs[:3])]
    loaded = write_bag(worker.log(DAY, payload=1.5), tmp_path / "loaded", topics=["joint_states"])
    state = tmp_path / "state"
    first = run("ur5e", *bags, "--state", state, "--effort", "torque", "--apply")
    assert first.exit_code == 0, first.output
    report = json.loads((state / "learn.json").read_text())
    assert report["verdict"][1].startswith("While the arm stands it shows pushes from ")
    assert report["proposed"] and report["level"] == "good" and report["next"].endswith("robot.yaml")
    rows = {row["joint"]: row["cells"] for row in report["matrix"]["rows"]}
    assert set(rows) == set(worker.robot.joint_names)
    assert {joint for joint, cells in rows.items() if cells[1]["level"] == "good"} == set(report["better"])
    assert "<svg" in Path(report["files"]["report"]).read_text()
    assert report["files"]["robot_file"] == str(state / "robot.yaml")
    assert load_robot(state / "robot.yaml").hysteresis.model == "presliding"
    assert 0 < report["bytes"] < 3 * 100_000
    request.getfixturevalue("no_pictures")
    second = run("ur5e", bags[0], loaded, tmp_path / "nothing", "--state", state, "--effort", "torque")
    assert second.exit_code == 0, second.output
    assert json.loads((state / "learn.json").read_text())["level"] == "fair"  # two recordings were left out
    assert "is learned already" in second.output
    assert "held: loaded: held back, load of +1." in second.output
    assert "a new --state, or --accept loaded and --forget those before" in " ".join(second.output.split())
    assert "refused" in second.output and str(tmp_path / "nothing") in second.output
    none = run("ur5e", tmp_path / "nothing", "--state", state, "--apply")
    assert none.exit_code == 1 and f"refused: {tmp_path / 'nothing'}: no such file" in none.output
    assert str(none.exception) == "no recording is usable, nothing is learned"
    kept = run("ur5e", tmp_path / "nothing", "--state", state, "--accept", "loaded", "--forget", "day1")
    assert kept.exit_code == 1 and "nothing is learned, forgotten or accepted" in str(kept.exception)
    assert [len(list((state / folder).iterdir())) for folder in ("recordings", "held")] == [3, 1]
    gone = run("ur5e", "--state", state, "--forget", "day1")
    assert gone.exit_code == 0 and len(list((state / "recordings").iterdir())) == 2
    monkeypatch.setattr("robot_dynamics_ros.learning.session.read", Mock(side_effect=DataError("not by today's rules")))
    gone = run("ur5e", bags[0], "--state", state, "--forget", "day2")
    assert gone.exit_code == 0 and len(list((state / "recordings").iterdir())) == 1, gone.output


@pytest.mark.parametrize(("rows", "says"), [(12_500, "on the other half of a recording"), (3_500, "record once more")])
def test_one_recording_is_judged_by_its_halves_where_these_say_something(worker, tmp_path, no_pictures, rows, says):
    log = worker.logs[0]
    log = Log(log.joint_names, log.stamp_ns[:rows], {name: x[:rows] for name, x in log.signals.items()})
    bag = write_bag(log, tmp_path / "day0", topics=["joint_states"])
    done = run("ur5e", bag, "--state", tmp_path / "state", *TORQUE)
    report = json.loads((tmp_path / "state" / "learn.json").read_text())
    assert done.exit_code == 0 and says in " ".join(report["verdict"]), done.output
    assert report["level"] == ("fair" if report["proposed"] else "good") and len(report["lines"]) == 1
    again = run("ur5e", "--state", tmp_path / "state")  # the recording is not at hand, its proposal is
    assert "nan" not in again.output and ("as found with its recordings" in again.output) == report["proposed"]
    assert again.output.startswith("Fair" if report["proposed"] else "Good"), again.output


def test_a_recording_of_a_smaller_robot_is_refused(worker, tmp_path):
    bag = write_bag(worker.logs[0], tmp_path / "day0", topics=["joint_states"])
    done = run("ur10e", bag, "--state", tmp_path / "state", *TORQUE)
    assert done.exit_code == 1 and "another robot than ur10e" in done.output, done.output


def test_wrong_input_is_one_line(worker, tmp_path):
    state = tmp_path / "state"
    nothing = run("ur5e", "--state", state)
    assert nothing.exit_code != 0 and "no recording is learned yet" in str(nothing.exception)
    missing = run("ur5e", tmp_path / "nothing", "--state", state)
    assert missing.exit_code != 0 and f"refused: {tmp_path / 'nothing'}" in missing.output
    long = run("ur5e", 300 * "x", "--state", state)
    assert long.exit_code != 0 and "refused: xxx" in long.output and "xxx: File name too long" in long.output
    other = run("ur10e", "--state", state)
    assert other.exit_code != 0
    unknown = run("ur5e", "--state", state, "--forget", "day1")
    assert unknown.exit_code != 0 and "0 recordings of that name" in str(unknown.exception)
