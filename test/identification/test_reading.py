"""What is read of a recording: neither freedrive nor excluded seconds, nor a validation bag at rest."""

import numpy as np
import pytest
from command_line import robot_dynamics
from force_bench import ORIENTATIONS, POSE, measured, model, through
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from synthetic import TRUTH, UR5E, synthetic_log
from table_files import numbers

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.cli.identify import _interval
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.read import read, read_moving
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.dataset.recording import folded, recording
from robot_dynamics_ros.signals import Log

UNFILLED = "rows behind closed brakes, or without any effort"


def freedrive_bag(path, on):
    """Joint states at 125 Hz and a Bool topic of the driver, true during `on` [s]."""
    log, store = synthetic_log(UR5E, TRUTH, 1, 20.0), get_typestore(Stores.ROS2_JAZZY)
    write_bag(log, path / "plain", topics=["joint_states"])
    from rosbags.rosbag2 import Reader

    with Reader(path / "plain") as source, Writer(path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as out:
        states = out.add_connection("/joint_states", "sensor_msgs/msg/JointState", typestore=store)
        flag = out.add_connection("/freedrive_mode_controller/enable", "std_msgs/msg/Bool", typestore=store)
        Bool, start = store.types["std_msgs/msg/Bool"], int(log.stamp_ns[0])
        for k in range(200):
            message = Bool(data=bool(on[0] <= 0.1 * k < on[1]))
            out.write(flag, start + k * 10**8, store.serialize_cdr(message, "std_msgs/msg/Bool").tobytes())
        for _, stamp, raw in source.messages():
            out.write(states, stamp, raw)
    return path / "bag"


def test_freedrive_of_the_driver_is_left_out_or_refused(tmp_path):
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    some = read(UR5E, freedrive_bag(tmp_path / "a", (4.0, 9.0)), Options())
    assert some.duration == pytest.approx(15.0, abs=0.3) and some.counts["in freedrive"] == pytest.approx(625, abs=15)
    assert all(not 4.1 < t < 8.9 for p in some.pieces for t in p.time)
    with pytest.raises(DataError, match="recorded in freedrive"):
        read(UR5E, freedrive_bag(tmp_path / "b", (1.0, 18.0)), Options())


def test_excluded_seconds_are_not_read(tmp_path):
    bag = numbers(synthetic_log(UR5E, TRUTH, 1, 20.0), tmp_path / "bag")
    rec = read(UR5E, bag, Options(), [_interval("5:8"), _interval("18:")])
    assert [round(p.time[-1]) for p in rec.pieces] == [5, 18] and rec.duration == pytest.approx(15.0, abs=0.1)
    late = read(UR5E, bag, Options(), [_interval("0:4")])  # counted from 4 s on, contact was named where it was not
    assert late.pieces[0].time[0] == pytest.approx(4.0, abs=0.02) and late.start_ns == rec.start_ns
    for text in ("5", "8:5", "a:b", "-1:2", "nan:2"):
        with pytest.raises(DataError, match="FROM:TO"):
            _interval(text)
    done = robot_dynamics("identify", bag, "--robot", "ur5e", "--out", tmp_path / "o", "--exclude", "0:")
    assert "nothing is left" in str(done.exception)


def test_a_validation_bag_at_rest_is_skipped_with_a_note(tmp_path):
    log = synthetic_log(UR5E, TRUTH, 1, 10.0)
    still = Log(log.joint_names, log.stamp_ns, {"q": np.tile(log.q[0], (len(log), 1)), "effort": log.effort})
    bags = [numbers(x, tmp_path / n) for x, n in ((still, "rest"), (log, "moves"))]
    found, skipped = read_moving(UR5E, bags, Options())
    assert [r.name for r in found] == [str(bags[1])]
    assert skipped == [f"skipped for validation: {bags[0]}: the robot does not move (largest travel 0 mrad)"]
    with pytest.raises(DataError, match="does not move"):  # to identify from, it stays an error
        read(UR5E, bags[0], Options())


def test_repeated_notes_are_one_line_with_a_count():
    notes = ["stamps are uneven (1.2 ms)", "stamps are uneven (0.9 ms)", "3 gaps", "stamps are uneven (2e-1 ms)"]
    assert folded(notes) == ["stamps are uneven (1.2 ms) (3 times)", "3 gaps"]


@pytest.mark.parametrize(("name", "size"), [("q", 0.2), ("qd", 2.0), ("effort", 60.0)])
def test_rows_in_which_a_reading_jumps_are_left_out(name, size):
    log = synthetic_log(UR5E, TRUTH, 1, 20.0)
    log.get(name)[200:2000:300, 2] += size
    assert recording(log, "spikes").counts["rows with an isolated spike"] == 6


def test_positions_that_begin_again_after_a_turn_are_continuous():
    log = synthetic_log(UR5E, TRUTH, 1, 20.0)
    whole = recording(log, "whole").stacked("q")
    middle = log.q.mean(axis=0)
    log.q = np.where(log.q > middle, log.q - 2 * np.pi, log.q)
    turns = (recording(log, "wrapped").stacked("q") - whole) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.round(turns[:1]) * np.ones_like(turns), atol=1e-9)


def test_rows_with_a_payload_are_left_out():
    log = synthetic_log(UR5E, TRUTH, 1, 20.0)
    log.allocate("payload")[log.time > 12] = 1.0, 0.0, 0.0, 0.1
    read = recording(log, "loaded")
    assert read.duration < 12.01 and read.counts["rows with a payload"] == len(log) - read.samples


def test_a_payload_that_is_named_all_the_time_is_refused_but_where_it_is_to_be_found(tmp_path):
    log = synthetic_log(UR5E, TRUTH, 1, 20.0)
    log.allocate("payload")[:] = 1.0, 0.0, 0.0, 0.1
    bag = write_bag(log, tmp_path / "bag", topics=["joint_states", "payload"])
    with pytest.raises(DataError, match="names a load in every row"):
        read(UR5E, bag, Options())
    assert read(UR5E, bag, Options(), carrying=True).samples == len(log)


@pytest.mark.parametrize(
    ("named", "stay"),
    [
        ([(2, 1.0), (14, 0.0)], (2, 14)),  # picked up and put down
        ([(14, 0.0)], (0, 14)),  # put down: it was picked up before the recording
        ([(0, 0.0), (6, 1.0)], (6, 20)),
    ],
)
def test_a_payload_is_found_from_the_rows_in_which_it_was_carried(tmp_path, named, stay):
    log = synthetic_log(UR5E, TRUTH, 1, 20.0)
    for at, mass in named:
        log.allocate("payload")[log.time >= at] = mass, 0.0, 0.0, 0.1
    bag = write_bag(log, tmp_path / "bag", topics=["joint_states", "payload"])
    rows = (stay[0] <= log.time) & (log.time < stay[1])
    np.testing.assert_allclose(read(UR5E, bag, Options(), carrying=True).stacked("q"), log.q[rows], atol=1e-9)


@pytest.mark.parametrize(("masses", "why"), [((1.0, 2.0), "names 1, 2 kg"), ((0.0, 0.0), "without a payload")])
def test_a_bag_of_two_payloads_or_of_none_is_no_loaded_run(tmp_path, masses, why):
    log = synthetic_log(UR5E, TRUTH, 1, 20.0)
    log.allocate("payload")[:] = 0.0
    log.payload[:, 0] = np.where(log.time < 10, *masses)
    bag = write_bag(log, tmp_path / "bag", topics=["joint_states", "payload"])
    with pytest.raises(DataError, match=why):
        read(UR5E, bag, Options(), carrying=True)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_rows_behind_closed_brakes_are_left_out(noise):
    log = synthetic_log(UR5E, TRUTH, 1, 20.0)
    braked = (log.time > 8) & (log.time < 14)
    log.effort[braked] = noise * np.random.default_rng(0).normal(size=log.effort[braked].shape)
    read = recording(log, "braked", UR5E)
    first, last = ((p.time[0], p.time[-1]) for p in read.pieces)
    assert 7.5 < first[1] < 8 and 14 < last[0] < 14.5
    assert read.counts[UNFILLED] == len(log) - read.samples


def test_rows_of_another_publisher_without_effort_are_left_out():
    """One in ten has efforts and velocities of zero while the robot moves."""
    log = synthetic_log(UR5E, TRUTH, 1, 20.0)
    other = np.arange(len(log)) % 10 == 5
    log.effort[other], log.qd[other] = 0.0, 0.0
    read = recording(log, "two publishers", UR5E)
    assert read.counts[UNFILLED] > 0.9 * other.sum()  # but where friction can hold the arm
    assert all((p.effort != 0).any(axis=1).mean() > 0.99 for p in read.pieces)


@pytest.mark.parametrize("upright", [True, False])
def test_rests_without_torque_are_kept_where_friction_holds_the_arm_or_the_effort_lacks_gravity(upright):
    up = np.array([0.0, -np.pi / 2, 0.0, -np.pi / 2, 0.0, 0.0])
    log = measured(through([up if upright else POSE, ORIENTATIONS[1], up if upright else POSE], rest=3.0), noise=0.05)
    if not upright:
        log.effort = log.effort - model().gravity(log.q)
    assert UNFILLED not in recording(log, "still", UR5E).counts
