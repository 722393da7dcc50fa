"""What bags contain: logs that are spoiled still identify, or are refused in one line; joints that are no arm's."""

import numpy as np
import pytest
from prepared import UR5E, r2, run, steps
from synthetic import with_signals

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.identify import identify
from robot_dynamics_ros.identification.arm.read import read, read_training
from robot_dynamics_ros.identification.arm.state import DEFAULTS
from robot_dynamics_ros.identification.dataset.initial_model import any_robot
from robot_dynamics_ros.models.urdf_writer import write_urdf
from robot_dynamics_ros.signals import Log


def bag(log: Log, folder):
    return write_bag(log, folder / "bag", topics=["joint_states"])


def garbage(log):
    q, tau = log.q.copy(), log.effort.copy()
    rows = np.random.default_rng(3).integers(0, len(q), 60)
    tau[rows[:20]], q[rows[20:40]], tau[rows[40:], 2] = 1e300, np.nan, 1e12
    return with_signals(log, q=q, effort=tau)


def reordered(log):
    return log.reordered([log.joint_names[i] for i in (3, 1, 0, 5, 4, 2)])


def duplicated(log):
    return log[np.sort(np.r_[np.arange(len(log)), np.random.default_rng(4).integers(0, len(log), len(log) // 16)])]


def jittered(log):
    stamp = np.sort(log.stamp_ns + np.random.default_rng(5).normal(0, 2e6, len(log)).astype(np.int64))
    return with_signals(log, stamp)


def with_gaps(log):
    return log[np.r_[0:500, 600:1000, 1100 : len(log)]]


def backwards(log):
    return with_signals(log, np.concatenate([log.stamp_ns[:1000], log.stamp_ns[: len(log) - 1000]]))


def stepped_back(log, seconds):
    """A recorder sorts by its clock, and rows of two times lie between each other."""
    later = np.arange(len(log)) >= len(log) // 2
    moved = with_signals(log, log.stamp_ns - (1e9 * seconds * later).astype(np.int64))
    return moved[np.argsort(moved.stamp_ns, kind="stable")]


def jumped(log):
    return with_signals(log, q=log.q + 0.5 * (np.arange(len(log)) > 1000)[:, None])


def renamed(log):
    return Log([f"arm_{i}" for i in range(6)], log.stamp_ns, log.signals, log.receive_ns)


def coarse(log):
    period = 2 * int(np.median(np.diff(log.stamp_ns)))
    return Log(log.joint_names, log.stamp_ns // period * period, log.signals, None)


@pytest.mark.parametrize("spoil", [garbage, reordered, duplicated, jittered, with_gaps, backwards, renamed, coarse])
def test_spoiled_logs_still_identify(log, tmp_path, spoil):
    rec = read(UR5E, bag(spoil(log), tmp_path), DEFAULTS)
    found = steps([rec], [run(2)], until="fit_parameters")
    assert r2(found).min() > 0.985
    assert any("please check" in note for note in rec.notes) == (spoil in (renamed, coarse))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda log: with_signals(log, effort=log.effort / 1e5), "times too small"),
        (lambda log: with_signals(log, qd=1000 * log.qd), "wrong unit of velocity"),
        (lambda log: with_signals(log, q=0 * log.q, qd=0 * log.qd), "does not move"),
        (lambda log: log.reordered(log.joint_names[:5]), "'wrist_3_joint' is missing"),
        (lambda log: with_signals(log, effort=None), "no effort"),
        (lambda log: log[:100], "usable samples"),
        (lambda log: stepped_back(log, 2.0013), "the clock of the recorder stepped back"),
        (lambda log: with_signals(jumped(log), qd=-log.qd), "or a sign; or positions jump between"),
        (lambda log: with_signals(log, effort=np.full_like(log.effort, np.nan)), ""),
    ],
)
def test_unusable_logs_are_refused_in_one_line(log, tmp_path, spoil, words):
    with pytest.raises(DataError) as caught:
        identify(UR5E, [bag(spoil(log), tmp_path)])
    text = str(caught.value)
    assert words in text and "\n" not in text


def test_one_of_several_recordings_in_which_the_robot_stands_is_left_out(log, tmp_path):
    still = with_signals(log, q=log.q[:1].repeat(len(log), axis=0), qd=0 * log.qd)
    bags = [bag(still, tmp_path / "still"), bag(log, tmp_path / "moves")]
    for order in (bags, bags[::-1]):
        found, notes = read_training(UR5E, order, DEFAULTS)
        assert [rec.name for rec in found] == [str(bags[1])]
        assert len(notes) == 1 and str(bags[0]) in notes[0] and "does not move" in notes[0]


def test_urdf_with_a_gripper_follows_the_joints_of_the_bag(log, tmp_path):
    path = tmp_path / "arm.urdf"
    write_urdf(UR5E, path)
    fingers = "".join(
        f'<link name="finger{k}"/><joint name="finger_joint{k}" type="prismatic"><parent link="wrist_3_link"/>'
        f'<child link="finger{k}"/><axis xyz="0 1 0"/><limit lower="0" upper="0.04" effort="1" velocity="1"/></joint>'
        for k in (1, 2)
    )
    path.write_text(path.read_text().replace("</robot>", fingers + "</robot>"))
    robot = any_robot(str(path), bags=[bag(log, tmp_path)])
    assert robot.joint_names == UR5E.joint_names
