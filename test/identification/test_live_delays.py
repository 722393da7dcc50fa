"""Delay of the effort, given in the robot file, and of the velocity, which identify finds: the live pipeline takes both
out once."""

import numpy as np
import pytest
from prepared import TRUTH, UR5E
from synthetic import excitation, log_at, torque

from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.identification.arm.export import identified_robot, write_outputs
from robot_dynamics_ros.identification.arm.identify import identify_recordings
from robot_dynamics_ros.identification.arm.residuals import for_repaired
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.arm.written_file import live_torques
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

EFFORT, VELOCITY = 0.003, 0.003  # s
GAIN = np.array([1.0, 1.05, 1.0, 1.0, 0.95, 1.0])
STAGES = ("motion", "friction", "force")


def reported(seed: int, duration: float = 18.0) -> Log:
    """What a robot reports whose effort and velocity are 3 ms late and whose velocity is 5 % wrong in two joints."""
    t, q, qd, qdd = excitation(6, duration, 1000.0, seed)
    effort = np.roll(torque(UR5E, TRUTH, q, qd, qdd), round(1000 * EFFORT), axis=0)
    velocity = GAIN * np.roll(qd, round(1000 * VELOCITY), axis=0)
    kept = slice(20, -20, 4)
    rng = np.random.default_rng(seed)
    signals = {"q": q + 2e-5 * rng.standard_normal(q.shape), "qd": velocity + 1e-4 * rng.standard_normal(q.shape)}
    signals["effort"] = effort + 0.02 * effort.std(0) * rng.standard_normal(q.shape)
    return log_at(t, signals, UR5E.joint_names)[kept]


@pytest.fixture(scope="module")
def found():
    return identified(EFFORT)


def identified(delay: float):
    """From a robot file that gives this delay of the effort [s]."""
    runs = [recording(reported(seed), str(seed)) for seed in (1, 2)]
    known = UR5E.with_updates({"drives.effort.delay": delay})
    return identify_recordings(known, runs[:1], runs[1:], Options(contact="off"))


def rms(robot) -> np.ndarray:
    """External joint torque (n,) [Nm] of a free robot in a run that identification has not seen, as reported."""
    log = reported(3)
    Pipeline(robot, stages=STAGES).run(log)
    return np.sqrt((log.external_joint_torque[log.time > 1.0] ** 2).mean(0))


def test_a_delay_in_the_robot_file_is_compensated(found):
    missed = identified(0.0)
    assert rms(identified_robot(found)).sum() < 0.85 * rms(identified_robot(missed)).sum()


def test_the_written_file_declares_what_was_injected(found, tmp_path):
    write_outputs(found, tmp_path, [])
    drives = load_robot(tmp_path / "ur5e_identified.yaml").drives
    assert drives.effort.delay == EFFORT
    assert drives.velocity.delay == pytest.approx(VELOCITY, abs=3e-4)
    np.testing.assert_allclose(drives.velocity.gain, GAIN, atol=5e-3)
    assert max(drives.velocity.gain_std) < 5e-3


def test_the_live_pipeline_is_better_with_each_of_them(found):
    robot = identified_robot(found)
    whole = rms(robot)
    without = [rms(robot.with_updates({k: v})) for k, v in (("drives.effort.delay", 0.0), ("drives.velocity", None))]
    for other in without:
        assert (whole < 1.05 * other).all()
        assert np.median(whole / other) < 0.85


def test_a_repaired_recording_is_not_repaired_twice(found):
    """The figures of the live nodes, from repaired recordings, are those of the raw log through the written file."""
    # a slow filter: interpolated velocities have less noise, which is 2 % of joint 1 behind a fast one
    robot = identified_robot(found).with_updates({"drives.acceleration_cutoff": 60.0})
    y, p = live_torques(for_repaired(robot), found.validation[0])
    log = reported(2)
    Pipeline(robot, stages=STAGES).run(log)
    rest = (log.drive_torque - log.model_torque - log.friction_torque)[log.time > 1.0]
    np.testing.assert_allclose(np.sqrt(((y - p) ** 2).mean(0)), np.sqrt((rest**2).mean(0)), rtol=0.015)
