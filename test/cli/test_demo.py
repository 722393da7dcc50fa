"""The demo as a user runs it, and what its summary and its picture say."""

import io
import json
import os
import signal
import subprocess
import sys
from fnmatch import fnmatch
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import printed, robot_dynamics
from matplotlib import image
from rich.console import Console

from robot_dynamics_ros.cli.demo import RECORDED, _watch
from robot_dynamics_ros.cli.demo_robots import demo_robot, touched
from robot_dynamics_ros.cli.demo_summary import TruthRecorder, agreement, align, force_errors, judged, pace
from robot_dynamics_ros.errors import ConfigError, ConnectionFailed, DataError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.replay import replay
from robot_dynamics_ros.plots import plot_against_truth
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import WRENCH_AXES, Log
from robot_dynamics_ros.simulation.plant.assumed import assumed_file
from robot_dynamics_ros.topics import TOPICS

NAMES = [f"joint{k}" for k in range(6)]
STEP_NS = 2_000_000


def made_up(error=0.0, n=5000):
    """A log whose estimate is the truth plus `error`, with 20 N on z in the second half."""
    truth = np.zeros((n, 6))
    truth[n // 2 :, 2] = 20.0
    contact = np.zeros((n, 7))
    contact[n // 2 :, -1] = 1.0
    signals = {"external_wrench": truth + error, "external_wrench_std": np.full((n, 6), 1.0), "contact": contact}
    signals |= {name: np.zeros((n, 6)) for name in ("friction_torque", "q")}
    stamps = 10**18 + STEP_NS * np.arange(n)
    return Log(NAMES, stamps, signals), truth


def test_what_the_demo_records_suffices_for_its_replay_and_its_picture():
    pipeline = Pipeline(load_robot("ur5e"))
    patterns = [pattern.split("/")[0] for pattern in RECORDED]
    topics = [topic for topic in TOPICS.values() if any(fnmatch(topic.name, p) for p in patterns)]
    recorded = {signal for topic in topics for signal in topic.fields.values()}
    written = {name for stage in pipeline.stages for name in stage.writes}
    assert {name for stage in pipeline.stages for name in stage.reads} - written <= recorded
    assert {"external_wrench", "external_wrench_std", "contact", "temperature"} <= recorded
    assert {"joint_temperatures/*"} <= set(RECORDED), "topics of one joint each have its name below their own"


def test_errors_are_split_by_phase_and_compared_with_the_standard_deviation():
    log, truth = made_up(error=np.array([1.0, 0, 3.0, 0, 0, 0]))
    result = force_errors(log, truth)
    for phase in ("free", "contact"):
        assert result[phase]["Fx"] == pytest.approx(1.0) and result[phase]["Fz"] == pytest.approx(3.0)
    assert result["within_two_std"]["Fx"] == 1.0 and result["within_two_std"]["Fz"] == 0.0
    assert result["contact_detected"] == 1.0 and result["false_contact"] == 0.0
    assert result["seconds"]["contact"] == pytest.approx(5.0)


def test_truth_is_moved_to_the_host_clock_and_interpolated():
    log, truth = made_up(n=100)
    table = np.column_stack([1e-9 * log.stamp_ns, truth])
    np.testing.assert_allclose(align(log, table)[::10], truth[::10], atol=1e-6)
    with pytest.raises(DataError, match="overlap"):
        align(log, table + np.array([3600.0, *np.zeros(6)]))


@pytest.mark.parametrize("cut", [slice(350, 4000), slice(0, 4900)], ids=["bag within the truth", "truth begins later"])
def test_positions_bring_the_clocks_of_truth_and_log_together(cut):
    log, truth = made_up()
    log.q = np.sin(np.outer(log.time, np.arange(1, 7)) / 3)
    records = [
        {"timestamp": 5.0 + log.time[k], "external_wrench": truth[k], "q": log.q[k]} for k in range(100, len(log), 5)
    ]
    recorder = TruthRecorder(iter(records))
    recorder._thread.join(5)
    table = recorder.table(log[cut])
    np.testing.assert_allclose(table[:, 0], 1e-9 * log.stamp_ns[100::5], atol=1e-3)
    np.testing.assert_array_equal(table[:, 1:], truth[100::5])
    with pytest.raises(DataError, match="no ground truth"):
        TruthRecorder(iter([])).table(log)


def test_without_a_wrench_there_is_no_summary():
    log, truth = made_up()
    with pytest.raises(DataError, match="external_wrench"):
        force_errors(log[:900], truth[:900])
    log.external_wrench = None
    with pytest.raises(DataError, match="external_wrench"):
        force_errors(log, truth)


def test_without_contact_in_the_recording_nothing_is_said_of_it():
    log, truth = made_up()
    log.contact = None
    found = force_errors(log, truth)
    assert not {"contact_detected", "false_contact"} & set(found)
    assert len(judged(found | {"bag": "b", "model": "m"})["verdict"]) == 2


@pytest.mark.parametrize(("error", "same", "near"), [(0.0, 1.0, 1.0), (0.9, 0.0, 1.0), (1.1, 0.0, 0.0)])
def test_live_and_replayed_forces_are_compared_with_their_deviation(error, same, near):
    found = agreement(made_up()[0], made_up(error)[0])
    assert found == {"identical_share": same, "near_share": near}


def test_a_run_that_ended_before_the_first_contact_is_summarised(capsys):
    pytest.importorskip("rclpy", reason="the demo needs rclpy")
    from robot_dynamics_ros.cli.demo import _print

    log, truth = made_up(error=1.0)
    for part in (slice(0, 2400), slice(2600, None)):  # free, in contact
        found = force_errors(log[part], truth[part])
        result = {**found, "as_shipped": found, "identical_share": 1.0, "near_share": 1.0, "pace": {"busy": ""}}
        result |= {"stream": {}, "bag": "bag", "model": "ur5e"}
        result |= judged(result)
        _print(result)
        assert result["verdict"][0] in capsys.readouterr().out.replace("\n", " ")


@pytest.mark.parametrize(("error", "level"), [(0.5, "good"), (9.0, "bad")])
def test_the_grade_of_a_demo_is_that_of_its_deviations(error, level):
    log, truth = made_up(error=error)
    assert judged(force_errors(log, truth) | {"bag": "b", "model": "m"})["level"] == level


@pytest.mark.parametrize("stretch, delay_ms, words", [(1, 0, ""), (16, 0, "31 of 500 Hz"), (1, 459, "459 ms late")])
def test_a_machine_too_busy_for_real_time_is_reported(stretch, delay_ms, words):
    stamps = 10**18 + stretch * STEP_NS * np.arange(5000)
    delays = np.where(np.arange(5000) % 20 == 0, delay_ms * 1_000_000, 0)
    found = pace(Log(NAMES, stamps, receive_ns=stamps + delays), 500.0)
    assert words in found["busy"] and bool(found["busy"]) == bool(words)
    assert found["rate"] == pytest.approx(500 / stretch, rel=0.05)
    assert found["age_p99"] == pytest.approx(1e-3 * delay_ms)
    lost = pace(Log(NAMES, stamps, receive_ns=stamps + (stamps - stamps[0]) // 2), 500.0)
    assert "of 500 Hz (" in lost["busy"], "time that a controller loses is no delay"


def test_the_picture_shows_the_estimate(tmp_path):
    log, truth = made_up(error=1.0)
    plot_against_truth(log, truth, tmp_path / "a.png", "title")
    plot_against_truth(made_up(error=9.0)[0], truth, tmp_path / "b.png", "title")
    a, b = (image.imread(tmp_path / name)[..., :3] for name in ("a.png", "b.png"))
    assert a.std() > 0.05 and np.abs(a - b).max() > 0.5


def test_the_live_picture_answers_contact_force_and_certainty():
    pytest.importorskip("rclpy", reason="the monitor needs rclpy")
    from robot_dynamics_ros.cli.demo_view import picture
    from robot_dynamics_ros.nodes.topics.monitor import View

    def text(view):
        stream = io.StringIO()
        Console(file=stream, width=100).print(picture(view, np.full(6, 1.0), 3, 50, "ur5e"))
        return stream.getvalue()

    view = View(wrench=np.array([0, 0, 31.5, 0, 0, 0.0]), std=np.full(6, 2.5), contact=True, level=0)
    assert all(word in text(view) for word in ("CONTACT", "31.5", "2.5", "1.0", "health: ok"))
    assert "free" in text(View(contact=False)) and "no data yet" in text(View())


@pytest.mark.parametrize(("motion", "said"), [("moving", ""), ("failed: program ended", "stood from then on: failed")])
def test_a_robot_that_is_slower_than_the_clock_is_waited_for_and_a_motion_that_failed_is_said(motion, said, capsys):
    class Truth:
        newest, looks, ended = np.zeros(6), 0, False

        @property
        def seconds(self):
            self.looks += 1
            return 7.0 + 0.1 * self.looks

    truth = Truth()
    view = SimpleNamespace(diagnostics={}, motion=motion)
    _watch(SimpleNamespace(snapshot=lambda: view), truth, 0.45, "ur5e")
    assert truth.looks == 6  # 0.1 s of the robot's time, 0.2 s of ours each
    printed = " ".join(capsys.readouterr().out.split())
    assert said in printed and bool(said) == bool(printed)


def test_ctrl_c_during_the_motion_ends_it_with_what_the_nodes_reported_last(monkeypatch):
    monkeypatch.delattr("threading.Event.wait")  # a signal while it holds its lock would block the handler for ever

    def snapshot():
        signal.raise_signal(signal.SIGINT)
        return SimpleNamespace(diagnostics={"observer": {"rate": "500"}}, motion="moving")

    truth = SimpleNamespace(seconds=0.0, newest=np.zeros(6), ended=False)
    assert _watch(SimpleNamespace(snapshot=snapshot), truth, 25.0, "ur5e") == {"observer": {"rate": "500"}}


def test_a_controller_that_ended_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("robot_dynamics_ros.cli.demo.SLOWEST", 0.001)  # the wait would end, and nothing be said
    records = [{"timestamp": 1.0, "external_wrench": np.zeros(6), "q": np.zeros(6)}]
    truth = TruthRecorder(iter(records))
    truth._thread.join(5)
    view = SimpleNamespace(diagnostics={}, motion="moving")
    with pytest.raises(ConnectionFailed, match="the simulated controller ended after 0 of 400 s"):
        _watch(SimpleNamespace(snapshot=lambda: view), truth, 400.0, "ur5e")


@pytest.mark.realtime
@pytest.mark.long
@pytest.mark.ros
def test_the_demo_runs_and_its_force_is_near_the_truth(tmp_path):
    pytest.importorskip("rclpy", reason="the graph needs rclpy")
    command = [sys.executable, "-m", "robot_dynamics_ros.cli.main", "demo", "--duration", "16"]
    command += ["--out", str(tmp_path / "out")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, text=True, capture_output=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "force RMS error, from 2 s on" in done.stdout and "Traceback" not in done.stderr
    result = json.loads((tmp_path / "out" / "demo.json").read_text())
    assert result["seconds"]["contact"] > 3 and result["seconds"]["free"] > 3
    for phase in ("free", "contact"):
        assert all(0 < result[phase][axis] < 25 for axis in WRENCH_AXES)
    assert result["contact"]["Fz"] < 12  # N of 30: a sensor that reads zero would miss by more than 20
    assert min(result["within_two_std"].values()) > 0.7
    assert result["near_share"] > 0.5  # 1 unless a busy machine starts the recorder late or makes it lose samples
    ours, shipped = (max(r["free"][axis] for axis in WRENCH_AXES[:3]) for r in (result, result["as_shipped"]))
    assert ours < shipped  # identification has an effect
    assert image.imread(result["picture"])[..., :3].std() > 0.05


@pytest.mark.parametrize(("robot", "force"), [("ur5e", 30.0), ("comau_ns16", 200.0)])
def test_the_offline_demo_presses_as_its_scenario_says(robot, force):
    file = load_robot(robot)
    measured, wrench = touched(file if file.links is not None else assumed_file(robot), demo_robot(robot), 15.0)
    seconds, size = 1e-9 * measured.stamp_ns, np.linalg.norm(wrench[:, :3], axis=1)
    assert not size[seconds < 6.0].any() and not size[(seconds > 12.1) & (seconds < 15.0)].any()
    steady = size[(seconds > 6.6) & (seconds < 11.4)]  # the normal force and at most its drag across it
    assert np.all(steady > 0.999 * force) and np.all(steady < 1.001 * force * np.hypot(1.0, 0.15))
    assert np.abs(measured.qd).max() > 0.05


@pytest.mark.long
def test_the_offline_demo_is_the_same_every_time_and_starts_no_nodes(tmp_path):
    results = []
    for name in ("a", "b"):
        arguments = ["demo", "--offline", "--as-shipped", "--duration", "15", "--out", str(tmp_path / name)]
        printed(*arguments)
        results.append(json.loads((tmp_path / name / "demo.json").read_text()))
    assert results[0]["contact"] == results[1]["contact"] and results[0]["seconds"]["contact"] > 5
    assert "stream" not in results[0]
    log, truth = replay([tmp_path / "a" / "bag"], load_robot("ur5e")).log, results[0]["contact"]
    assert len(log) == results[0]["samples"] and 0 < truth["Fz"] < 12
    refused = robot_dynamics("demo", "--offline", "--view")
    assert isinstance(refused.exception, ConfigError) and "--view" in str(refused.exception)
