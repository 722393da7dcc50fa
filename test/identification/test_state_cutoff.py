"""The state's cut-off follows the motion, not the logger's noise, and the rate the length of a recording."""

import numpy as np
import pytest
from synthetic import synthetic_log, truth_of

from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.tuning import Tuner
from robot_dynamics_ros.identification.dataset.motion import Motion, at_lower_rate, kept_rate, motion_frequency
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

HIGHEST = 5 / 10.0  # Hz, harmonic of the motion


def jittered(velocity: bool):
    """Stamps that jitter by 0.3 ms at 1 kHz, and 6 % of the samples missing."""
    robot = load_robot("ur5e")
    log = synthetic_log(robot, truth_of(robot), duration=12.0, rate=1000.0, amplitude=0.6)
    jitter = np.random.default_rng(3).uniform(0, 9e5, len(log.stamp_ns)).astype(np.int64)
    rows = np.sort(np.random.default_rng(4).choice(len(jitter), int(0.94 * len(jitter)), replace=False))
    names = ("q", "qd", "effort") if velocity else ("q", "effort")
    log = Log(log.joint_names, (log.stamp_ns + jitter)[rows], {k: log.signals[k][rows] for k in names})
    return recording(log, "jittered")


def test_late_stamps_do_not_make_the_motion_look_faster() -> None:
    assert HIGHEST < motion_frequency(jittered(False)) < 2 * HIGHEST


@pytest.mark.parametrize("velocity", [True, False])
@pytest.mark.long
def test_late_stamps_do_not_raise_the_cut_off(velocity: bool) -> None:
    """Nor let their noise pass to the acceleration."""
    structure = Tuner([jittered(velocity)], RigidModel(load_robot("ur5e"))).run()
    assert 4 * HIGHEST < structure.cutoff < 26 * HIGHEST


@pytest.mark.parametrize(
    "minutes, rate, kept", [(1, 500.0, 250.0), (10, 500.0, 100.0), (4, 500.0, 250.0), (60, 125.0, 125.0)]
)
def test_a_long_recording_is_decimated_further(minutes, rate, kept):
    samples = int(60 * minutes * rate)
    t, x = np.arange(samples) / rate, np.zeros((samples, 1))
    motion = Motion(t, x, x, x, x, t == 0, rate)
    assert at_lower_rate(motion, kept_rate(samples, rate)).rate == kept
