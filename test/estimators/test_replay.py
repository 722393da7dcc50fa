"""Replay: any recording to bag, plot and numbers; equal to live; bad input is one line."""

import json
import re
import sys
from functools import partial

import numpy as np
import pytest
from command_line import robot_dynamics
from force_bench import POSE, UR5E, measured, moving, still, through, with_residuals
from presliding_joint import robot as with_memory
from public_data import DATA, needs_data
from stepwise import gated, live
from table_files import numbers

from robot_dynamics_ros.bags import load_bag, write_bag
from robot_dynamics_ros.cli.replay import carrying, parse_settings
from robot_dynamics_ros.errors import ConfigError, DataError
from robot_dynamics_ros.estimators.core_file import core_text
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.replay import replay, write_replay
from robot_dynamics_ros.plots import plot_force
from robot_dynamics_ros.signals import Log

RECORDED = ("external_wrench", "framed_wrench", "external_joint_torque", "friction_torque")
WRENCH = np.array([10.0, -20.0, -70.0, 0, 0, 0])
run = partial(robot_dynamics, "replay", catch_exceptions=False)


def pushed():
    return measured(moving(), np.where(np.arange(2000) > 500, 1.0, 0.0)[:, None] * WRENCH, noise=0.1)


def bag(tmp_path, log=None):
    return numbers(log or pushed(), tmp_path / "recording")


def test_command_writes_bag_plot_and_numbers(tmp_path):
    out = tmp_path / "out"
    result = run(write_bag(pushed(), tmp_path / "bag"), "--robot", "ur5e", "--out", out)
    assert result.exit_code == 0 and "times real time" in result.output
    summary = json.loads((out / "replay.json").read_text())
    assert summary["samples"] == 2000 and summary["wrench_rms"]["Fz"] == pytest.approx(60, abs=4)
    assert summary["contact_share"] > 0.6 and summary["times_real_time"] > 0
    assert (out / "force.png").read_bytes()[:4] == b"\x89PNG"
    estimates, _ = load_bag(out / "estimates", UR5E)
    assert np.median(estimates.external_wrench[600:, 2]) == pytest.approx(-70, abs=4)
    assert sorted(p.name for p in out.iterdir()) == ["estimates", "force.png", "replay.json"]


@pytest.mark.filterwarnings("error::UserWarning", "error::RuntimeWarning")
def test_forces_and_deviations_of_zero_are_drawn_without_a_warning(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is in the reports extra")
    zero = np.zeros((3, 6))
    signals = {"external_wrench": zero, "external_wrench_std": zero, "contact": np.zeros((3, 7))}
    for name in ("external_joint_torque", "external_joint_torque_std"):
        signals[name] = zero
    log = Log(UR5E.joint_names, np.arange(3) * 2_000_000, signals)
    assert plot_force(log, tmp_path / "force.png", "moments of an arm of two joints").exists()


def test_a_title_with_a_name_of_a_file_is_no_formula(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is in the reports extra")
    log = measured(moving(2.0))
    assert plot_force(log, tmp_path / "force.png", "run $1^$ of two").exists()


def test_the_picture_shows_the_whole_of_a_short_contact(tmp_path, monkeypatch):
    """Its axes leave single outliers of a singular pose out, but no contact that is clear of its deviation."""
    n, drawn = 5000, []
    monkeypatch.setattr("robot_dynamics_ros.plots._save", lambda drawing, path: drawn.append(drawing) or path)
    names = ("external_wrench", "external_wrench_std", "contact", "external_joint_torque", "external_joint_torque_std")
    signals = {name: np.zeros((n, 6)) for name in names} | {"q": np.zeros((n, 6)), "contact": np.zeros((n, 7))}
    signals["external_wrench_std"][:] = signals["external_joint_torque_std"][:] = 1.0
    hit, singular = slice(3000, 3005), slice(4000, 4005)
    signals["external_wrench"][hit, 0], signals["external_wrench"][singular, 1] = -60.0, 900.0
    signals["external_wrench_std"][singular] = 1000.0
    signals["contact"][hit, -1] = signals["contact"][singular, -1] = 1.0
    signals["external_joint_torque"][hit, 2], signals["contact"][hit, 2] = -20.0, 1.0
    plot_force(Log(UR5E.joint_names, np.arange(n) * 2_000_000, signals), tmp_path / "force.png", "a hit of 10 ms")
    limits = [axis.get_ylim() for axis in drawn[0].axes]
    assert limits[0][0] < -60.0 and limits[0][1] < 10.0 and limits[4][0] < -20.0


def test_collisions_are_listed_at_the_rate_that_was_asked_for(tmp_path, no_pictures):
    hit = np.zeros((4000, 6))
    hit[2500:2510, 0] = 60.0
    free = bag(tmp_path / "free", measured(moving(34.0), noise=0.1, seed=1))
    run_one = bag(tmp_path, measured(moving(8.0), hit, noise=0.1))
    result = run(run_one, "-r", "ur5e", "--collisions", free, 2, "--out", tmp_path / "out")
    (found,) = json.loads((tmp_path / "out" / "replay.json").read_text())["collisions"]
    assert 5.0 <= found["begin"] < 5.02 and "collisions, at 2 false alarms per hour: 5.0" in result.output


def test_replay_of_a_recorded_live_run_is_identical(tmp_path):
    """Step live, record measurements and estimates, replay the bag: not a bit differs."""
    recorded, _ = live(Pipeline(UR5E), measured(moving(1.0), WRENCH, noise=0.1))
    result = replay([write_bag(recorded, tmp_path / "live")], UR5E)
    assert set(RECORDED) <= set(result.recorded) and not any(result.recorded.values())
    np.testing.assert_array_equal(result.log.external_wrench, recorded.external_wrench)


def test_a_recording_that_began_late_is_identical_once_the_past_is_forgotten(tmp_path):
    push = np.where(np.arange(4000) > 3000, 1.0, 0.1)[:, None] * WRENCH
    log = measured(moving(8.0), push, noise=0.1)
    Pipeline(UR5E).run(log)
    result = replay([write_bag(log[400:], tmp_path / "late")], UR5E)
    assert np.abs(result.log.external_wrench[0] - log.external_wrench[400]).max() > 1
    assert set(result.recorded.values()) == {0.0}


def test_why_estimates_are_degraded_is_counted_and_printed(tmp_path, no_pictures):
    """The wrist is stretched, a singular pose, in the middle third; without friction in the file all others are too."""
    stretched = POSE * [1, 1, 1, 1, 0, 1]
    path = bag(tmp_path, measured(through([POSE, stretched, POSE], rest=2.0)))
    for robot, others in ((UR5E, 0), (UR5E.with_updates({"friction": None, "hysteresis": None}), 1)):
        result = replay([path], robot)
        found = result.degraded()
        assert sum(found.values()) == result.summary()["status"]["degraded"] and len(found) == 1 + others
        assert found["near singular poses"] == pytest.approx(1000 + 2 * 500 * 0.35, rel=0.3)
    output = run(path, "--robot", "ur5e", "--out", tmp_path / "o").output
    assert re.search(r"degraded: \d\d % near singular poses \(of all samples\)", output)
    always = bag(tmp_path / "always", measured(still(pose=stretched)))
    assert "degraded: 100 % near singular" in run(always, "--robot", "ur5e", "--out", tmp_path / "a").output


@pytest.mark.parametrize(("every", "said"), [(4, True), (1, False)])
def test_a_recording_slower_than_the_controller_is_a_note(tmp_path, every, said):
    robot = with_memory(rotor_time=[600.0] * 6)
    result = replay([bag(tmp_path, measured(moving(4.5))[::every])], robot)
    assert any("samples come at 125 Hz, the controller has 500" in note for note in result.notes) == said
    assert "\nleast_rate 375\n" in core_text(robot)  # what a C++ program compares its rate with


@pytest.mark.parametrize("rotor_time", [600.0, 0.0])
@pytest.mark.parametrize("reported", ["fine", "none", "coarse"])
def test_missing_and_coarse_velocities_are_a_doubt_where_friction_follows_them(tmp_path, reported, rotor_time):
    log = measured(moving())
    log.qd[:, 2] = np.round(log.qd[:, 2] / 0.01) * 0.01 if reported == "coarse" else log.qd[:, 2]
    log.qd = None if reported == "none" else log.qd
    found = replay([bag(tmp_path, log)], with_memory(rotor_time=[rotor_time] * 6))
    said = {"fine": "velocit", "none": "No velocity is reported: ", "coarse": "Velocities (elbow_joint) come in"}
    doubted = any(said[reported] in text for text in found.doubts)
    assert doubted == (reported != "fine" and rotor_time > 0) and all(text in found.notes for text in found.doubts)


@pytest.mark.parametrize(
    ("step", "known", "velocities", "said"),
    [
        (1e-4, 2e-6, False, True),
        (1e-4, 2e-6, True, False),
        (1e-4, 8e-5, False, False),
        (1e-4, 0.0, False, False),
        (1e-4, 2e-6, "behind the gear", True),
        (1e-5, 2e-6, "behind the gear", False),
        (1e-5, 2e-6, False, False),
        (None, 2e-6, False, False),
    ],
    ids=[
        *("coarser", "put right by velocities", "as identified", "unknown"),
        *("behind the gear", "fine there", "finer than friction", "fine"),
    ],
)
def test_positions_coarser_than_friction_was_identified_from_are_a_doubt(tmp_path, step, known, velocities, said):
    log = measured(moving())
    log.qd = log.qd if velocities else None
    log.q[:, 2] = np.round(log.q[:, 2] / step) * step if step else log.q[:, 2]
    robot = with_residuals(np.full(6, 0.4), np.full(6, 1.0), with_memory(dahl_step=[known] * 6))
    if velocities == "behind the gear":
        robot = robot.with_updates({"drives.torque_side": "link", "residuals.rest": np.full(6, 0.01)})
    found = replay([bag(tmp_path, log)], robot)
    sentence = "ositions (elbow_joint) come in steps of up to 0.1 mrad"
    doubted = any(sentence in text for text in found.doubts)
    assert doubted == said and all(text in found.notes for text in found.doubts)
    assert (sentence in gated(robot, log).doubt) == said


def test_effort_meaning_is_corrected_in_auto_and_taken_as_given_otherwise(tmp_path):
    log = measured(moving(), WRENCH)
    log.effort = -log.effort
    path = bag(tmp_path, log)
    refused = {"force": {"payload_pieces": 8}}  # or the push, there from the start, is taken for a payload
    result = replay([path], UR5E, parameters=refused)
    assert any("sign -1" in note for note in result.notes)
    assert np.median(result.log.external_wrench[500:, 2]) == pytest.approx(-70, abs=4)
    literal = replay([path], UR5E, effort="torque", parameters=refused)
    assert np.abs(literal.log.external_wrench[500:, 2] + 70).mean() > 20


def test_a_payload_that_came_and_went_is_told_of(tmp_path):
    empty, full = (measured(moving(24.0), payload=(m, (0.0, 0.0, 0.05), (0.0,) * 6)) for m in (0.0, 3.0))
    empty.effort = np.where((empty.time < 12.0)[:, None], full.effort, empty.effort)
    result = replay([bag(tmp_path, empty)], UR5E)
    assert result.summary()["payload_or_bias"] == ""
    assert "was recognised for 1" in result.recognised and "taken off" in result.recognised


def test_a_payload_that_its_topic_names_is_told_of(tmp_path):
    log = measured(moving(), payload=(1.5, (0.0, 0.0, 0.05), (0.0,) * 6))
    log.allocate("payload")[1000:] = 1.5, 0.0, 0.0, 0.05
    notes = replay([write_bag(log, tmp_path / "carried", topics=["joint_states", "payload"])], UR5E).notes
    assert any("payload names 1.5 kg, for 50 % of the time" in note for note in notes)


@pytest.mark.parametrize(("load", "text"), [((1500.0, 0, 0, 0.05), "grams"), ((1.5, 0, 0, 50.0), "millimetres")])
def test_a_payload_in_other_units_is_refused_as_live(tmp_path, load, text):
    log = measured(moving())
    log.allocate("payload")[1000:] = load
    with pytest.raises(DataError, match=text):
        replay([write_bag(log, tmp_path / "carried", topics=["joint_states", "payload"])], UR5E)


def test_settings_and_payload_reach_the_stages(tmp_path):
    path = bag(tmp_path)
    slow = replay([path], UR5E, parameters=parse_settings(("force.bandwidth=2", "force.frame_id=base")))
    assert np.abs(slow.log.external_wrench[600, 2]) < 40
    arm = carrying(UR5E, "5,0,0,0.1")
    log = replay([path], arm, parameters={"force": {"payload_pieces": 8}}).log  # or it is recognised and taken off
    assert np.median(log.external_wrench[600:, 2]) == pytest.approx(-70 + 5 * 9.81, abs=4)


BAD = [("--set", x) for x in ("force", "force.bandwith=1", "froce.froce=1")] + [("--payload", x) for x in ("a", "1,2")]


@pytest.mark.parametrize("arguments", BAD)
def test_bad_settings_name_what_is_wrong(tmp_path, arguments):
    path = bag(tmp_path, measured(still(seconds=0.1)))
    with pytest.raises(ConfigError, match=arguments[1].split(".")[-1].split("=")[0]):
        run(path, "--robot", "ur5e", "--out", tmp_path / "o", *arguments)
    assert not (tmp_path / "o").exists()


def test_without_matplotlib_the_bag_is_still_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run(bag(tmp_path, measured(moving(1.0))), "--robot", "ur5e", "--out", tmp_path / "o")
    assert result.exit_code == 0 and "matplotlib is missing" in result.output
    assert sorted(p.name for p in (tmp_path / "o").iterdir()) == ["estimates", "replay.json"]


def test_unwritable_directory_is_an_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigError, match="is a file, not a directory"):
        run(bag(tmp_path, measured(moving(1.0))), "--robot", "ur5e", "--out", tmp_path / "file" / "o")
    with pytest.raises(DataError, match="cannot be written"):
        write_replay(replay([tmp_path / "recording.npz"], UR5E), tmp_path / "file" / "o")


def test_wrong_robot_for_the_bag_is_named(tmp_path):
    log = measured(still(seconds=0.1))
    log.joint_names = tuple("abcdef")
    with pytest.raises(DataError, match="shoulder_pan_joint"):
        replay([write_bag(log, tmp_path / "recording")], UR5E)


@needs_data
@pytest.mark.parametrize(
    ("file", "robot", "payload"),
    [("ur3/id1.bag", "ur3", True), ("ur3/id2.bag", "ur3", True), ("ur10/ur10_exciting_trajectory.db3", "ur10", False)],
)
def test_public_recordings(tmp_path, no_pictures, file, robot, payload):
    """Free motion of real robots: forces near zero; the UR3's tool, which its file does not know, is recognised."""
    assert run(DATA / file, "--robot", robot, "--out", tmp_path / "o").exit_code == 0
    summary = json.loads((tmp_path / "o" / "replay.json").read_text())
    assert summary["contact_share"] < 0.03 and ("payload" in summary["payload_or_bias"]) == payload
    assert max(summary["wrench_rms"][axis] for axis in ("Fx", "Fy", "Fz")) < 15


def test_medians_are_not_changed_by_a_few_singular_poses(tmp_path):
    result = replay([bag(tmp_path)], UR5E)
    before = result.summary()
    result.log.external_wrench[1000:1010] = 1e6
    after = result.summary()
    assert after["wrench_median"]["Fx"] == pytest.approx(before["wrench_median"]["Fx"], rel=0.05)
    assert after["wrench_rms"]["Fx"] > 1e4
