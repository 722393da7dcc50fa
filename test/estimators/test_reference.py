"""Estimate against a force sensor: frames, tare, sign, delay and figures."""

import json
from functools import partial

import numpy as np
import pytest
from command_line import robot_dynamics
from force_bench import POSE, RATE, UR5E, measured, moving, through

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.bags.wrench import WrenchSeries
from robot_dynamics_ros.errors import ConfigError, DataError
from robot_dynamics_ros.estimators.force_sensor import SensorOptions, at_tcp, known_frame
from robot_dynamics_ros.estimators.reference import compare, delay_of, held
from robot_dynamics_ros.estimators.replay import replay
from robot_dynamics_ros.estimators.wrench_metrics import Series
from robot_dynamics_ros.models import RobotModel

TOPIC = "/robot_dynamics/vendor_external_wrench"  # any WrenchStamped topic is a sensor; write_bag writes this one
BIAS = np.array([4.0, -3.0, 2.0, 0.2, -0.1, 0.1])
PUSH = np.array([15.0, -10.0, 30.0, 0.5, 1.0, -0.5])
run = partial(robot_dynamics, "replay", catch_exceptions=False)


def pushed(seconds, period=4.0, first=3.0):
    """Wrench (N, 6): PUSH for 1.5 s in every period, with ramps of 0.1 s."""
    t = np.arange(int(seconds * RATE)) / RATE
    x = np.clip(np.minimum((t - first) % period, 1.5 - (t - first) % period) / 0.1, 0, 1) * (t > first)
    return (x * x * (3 - 2 * x))[:, None] * PUSH


def sensor_bag(path, motion, wrench, frame="tool0", sign=1.0):
    """A bag of joint states and of a biased sensor in the axes of the tool."""
    log = measured(motion, wrench, noise=0.1)
    R = RobotModel(UR5E.chain()).fk(log.q)[:, -1, :3, :3]
    tool = np.hstack([np.einsum("kji,kj->ki", R, wrench[:, part]) for part in (slice(0, 3), slice(3, 6))])
    values = sign * tool + BIAS + 0.05 * np.random.default_rng(5).normal(size=tool.shape)
    log.vendor_external_wrench = values
    return write_bag(log, path, topics=["joint_states", "vendor_external_wrench"], frame_id=frame)


def test_replay_compares_with_the_sensor(tmp_path):
    bag, out = sensor_bag(tmp_path / "b", moving(12.0), pushed(12.0)), tmp_path / "o"
    done = run(bag, "--robot", "ur5e", "--out", out, "--reference", f"{TOPIC},tare=2")
    assert done.exit_code == 0 and "axes of tool0 (the TCP)" in done.output and "tared by [4" in done.output
    assert "estimate - sensor, from 2 s on" in done.output and "60 warming_up (warming_up is not in the" in done.output
    c = json.loads((out / "replay.json").read_text())["reference"]
    assert max(c["axes_moving"][:3]) < 1.5 and 0.9 < c["gain"]["Fz"] < 1.1 and c["correlation"]["Fz"] > 0.95
    assert abs(c["bias"]["Fz"]) < 1.0 and c["precision"] > 0.95 and c["recall"] > 0.9 and c["sign"] == 1
    assert 0.02 < c["delay"] < 0.08  # of an observer with a bandwidth of 25 rad/s
    assert (out / "reference.png").read_bytes()[:4] == b"\x89PNG"


def test_without_a_tare_the_bias_of_the_sensor_is_in_the_figures(tmp_path):
    bag = sensor_bag(tmp_path / "b", through([POSE], rest=8.0), pushed(8.0))
    plain, tared = (compare(replay([bag], UR5E), [bag], SensorOptions(TOPIC, tare=t)) for t in (0.0, 2.0))
    assert np.linalg.norm(plain.bias[:3]) > 4.0 > 1.5 > np.linalg.norm(tared.bias[:3])


def test_a_sensor_of_robot_on_environment_is_turned_and_reported(tmp_path):
    bag = sensor_bag(tmp_path / "b", moving(12.0), pushed(12.0), sign=-1.0)
    c = compare(replay([bag], UR5E), [bag], SensorOptions(TOPIC, tare=2.0))
    assert c.sign == -1 and c.gain[2] > 0.9 and any("robot on environment" in note for note in c.notes)


def test_unknown_frames_and_topics_are_refused_with_what_is_known(tmp_path):
    bag = sensor_bag(tmp_path / "b", moving(6.0), pushed(6.0), frame="ft_sensor")
    result = replay([bag], UR5E)
    with pytest.raises(ConfigError, match=r"frame_id of .*ft_sensor.*known: tool, flange, base, tool0"):
        compare(result, [bag], SensorOptions(TOPIC))
    with pytest.raises(DataError, match=f"/ft.*wrench topics: {TOPIC}"):
        compare(result, [bag], SensorOptions("/ft", frame="tool"))
    assert compare(result, [bag], SensorOptions(TOPIC, frame="tool", tare=2.0)).gain[2] > 0.9


def test_power_of_a_wrench_does_not_depend_on_its_frame():
    """F'v + M'w at the TCP of a tilted tool is the same as at the flange, at the base, in any axes."""
    robot = UR5E.with_updates({"kinematics.tool": {"xyz": [0.1, -0.05, 0.2], "rpy": [0.4, -0.7, 1.1]}})
    rng = np.random.default_rng(1)
    q, qd, w = rng.uniform(-2, 2, (5, 6)), rng.normal(size=(5, 6)), rng.normal(size=(5, 6))
    tcp, flange = RobotModel(robot.chain()), RobotModel(UR5E.chain())
    models = {"tool": tcp, "flange": flange}
    twist = {frame: np.einsum("kij,kj->ki", model.jacobian(q), qd) for frame, model in models.items()}
    for frame, model in models.items():
        R = model.fk(q)[:, -1, :3, :3]
        local = np.hstack([np.einsum("kji,kj->ki", R, twist[frame][:, p]) for p in (slice(0, 3), slice(3, 6))])
        power = (at_tcp(robot, q, w, frame) * twist["tool"]).sum(axis=1)
        np.testing.assert_allclose(power, (w * local).sum(axis=1), rtol=1e-9)
    origin = twist["tool"][:, :3] - np.cross(twist["tool"][:, 3:], tcp.fk(q)[:, -1, :3, 3])  # of the body at the base
    power = (at_tcp(robot, q, w, "base", "base") * twist["tool"]).sum(axis=1)
    np.testing.assert_allclose(power, (w * np.hstack([origin, twist["tool"][:, 3:]])).sum(axis=1), rtol=1e-9)


@pytest.mark.parametrize("tip, meaning", [("tool0", "flange"), ("flange", "tool")])
def test_frame_id_of_the_robot_file_is_no_word_of_the_option(tip, meaning):
    robot = UR5E.with_updates({"kinematics.tip_frame": tip})
    assert known_frame(robot, tip) == "tool" and known_frame(robot, "flange") == meaning


@pytest.mark.parametrize("late", [-0.08, 0.0, 0.12])
def test_delay_is_found(late):
    t = np.arange(0, 20, 0.002)
    draws = [np.random.default_rng(k).normal(size=21) for k in range(6)]
    force = np.column_stack([np.interp(t, np.arange(0, 21), x) for x in draws])
    shifted = np.column_stack([np.interp(t - late, t, 10 * x) for x in force.T])
    none = np.zeros(len(t), bool)
    assert delay_of(Series(t, shifted, force, 10 * force, none, none, none)) == pytest.approx(late, abs=0.005)


def test_a_single_row_has_no_delay():
    row, mask = np.full((1, 6), 10.0), np.ones(1, bool)
    assert np.isnan(delay_of(Series(np.array([3.0]), row, row, row, mask, mask, mask)))


def test_gaps_of_the_sensor_are_not_bridged():
    stamps = np.array([0, 10, 20, 30, 300, 310]) * 10**6
    values = WrenchSeries("/w", stamps, np.arange(36.0).reshape(6, 6), "tool").at(np.array([-1, 15, 100, 305]) * 10**6)
    assert np.isnan(values[[0, 2]]).all() and values[1, 0] == 9.0 and values[3, 0] == pytest.approx(27.0)
    mask = np.array([0, 1, 0, 0, 0], bool)
    assert held(mask, np.arange(5) * 0.1, 0.25).tolist() == [False, True, True, True, False]
