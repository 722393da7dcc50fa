"""LiveForce: the pipeline of the nodes bit for bit, absent and bad input, rates of a servo bus."""

import numpy as np
import pytest

from robot_dynamics_ros import Log, Pipeline, load_robot
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import ConfigError, DataError
from robot_dynamics_ros.estimators.core_file import STAGES
from robot_dynamics_ros.live import LiveForce

POSE = np.array([0.3, -1.2, 1.5, -1.9, -1.57, 0.4])
WRENCH = np.array([20.0, -10.0, 15.0, 0.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def robot():
    return load_robot("ur5e").with_updates({"drives.effort.unit": "Nm"})


def pushed(robot, rate, seconds=3.0):
    """A standing arm whose effort holds gravity and, from the middle on, a known wrench; q, effort (N, n)."""
    from robot_dynamics_ros import RobotModel

    model = RobotModel(robot.chain(), robot.joint_names)
    q = np.tile(POSE, (int(rate * seconds), 1))
    effort = model.gravity(q)
    effort[len(q) // 2 :] -= model.jacobian(POSE[None])[0].T @ WRENCH
    return q, effort


def test_it_is_the_pipeline_bit_for_bit(robot):
    q, effort = pushed(robot, 100)
    stamps = 1_000_000_000 + np.arange(len(q)) * 10_000_000
    load = np.repeat([[0.0] * 4, [1.0, 0.0, 0.0, 0.05]], len(q) // 2, axis=0)
    log = Log(robot.joint_names, stamps, {"q": q, "qd": 0 * q, "effort": effort, "payload": load})
    Pipeline(robot, stages=STAGES).run(log)
    live = LiveForce(robot)
    rows = enumerate(zip(q, effort, load, strict=True))
    found = [live.update(a, 0 * a, b, payload=c, stamp=1.0 + 0.01 * k) for k, (a, b, c) in rows]
    assert np.array_equal([e.wrench for e in found], log.external_wrench, equal_nan=True)
    assert np.array_equal([e.wrench_std for e in found], log.external_wrench_std, equal_nan=True)
    assert np.array_equal([e.contact for e in found], (log.contact == 1.0).any(axis=1))


@pytest.mark.parametrize("rate", [30, 100, 1000])
def test_a_push_is_found_at_the_rate_of_a_servo_bus_without_velocities(robot, rate):
    live = LiveForce(robot, {"force": {"torque_std": 0.001, "model_error": 0.003, "unknown_friction": 0.001}})
    q, effort = pushed(robot.with_updates({"friction": None}), rate)
    found = [live.update(a, effort=b, stamp=k / rate) for k, (a, b) in enumerate(zip(q, effort, strict=True))]
    assert np.abs(found[len(q) // 2 - 1].wrench).max() < 1.0
    assert (np.abs(found[-1].wrench - WRENCH) < 0.5 * found[-1].wrench_std).all()


def test_numbers_that_are_absent_give_no_estimate_and_the_next_cycle_goes_on(robot):
    live, nan = LiveForce(robot), [np.nan] * 6
    assert live.update(POSE).status == Status.unavailable
    first = live.update(POSE, effort=[5.0] * 6, stamp=1e9)
    bad = live.update(nan, effort=[5.0] * 6, stamp=1e9 + 0.01)
    good = live.update(POSE, effort=[5.0] * 6, stamp=1e9 + 0.02)
    assert np.isnan(bad.wrench).all() and not bad.contact
    assert np.isfinite(good.wrench).all() and np.isfinite(first.wrench).all()


def test_an_array_of_another_arm_is_refused_by_name(robot):
    with pytest.raises(DataError, match=r"effort has shape \(7,\), expected \(6,\): ur5e"):
        LiveForce(robot).update(POSE, effort=[0.0] * 7)


@pytest.mark.parametrize(
    ("load", "why"), [([np.nan, 0, 0, 0], "finite"), ([500, 0, 0, 0], "grams"), ([1, 0, 0, 50], "millimetres")]
)
def test_a_payload_that_no_arm_carries_is_refused(robot, load, why):
    """One that is not finite was none: the force was off by the weight that is carried."""
    live = LiveForce(robot)
    live.update(POSE, effort=[5.0] * 6, payload=[1.0, 0.0, 0.0, 0.05], stamp=1.0)
    for k in range(2):  # the second is as wrong as the first
        with pytest.raises(DataError, match=f"payload: .*{why}"):
            live.update(POSE, effort=[5.0] * 6, payload=load, stamp=1.01 + 0.01 * k)


@pytest.mark.parametrize("stamp", [float("nan"), float("inf"), -1e300, 1e10])
def test_a_stamp_that_is_no_time_is_refused_by_name_and_the_next_cycle_goes_on(robot, stamp):
    live = LiveForce(robot)
    live.update(POSE, effort=[5.0] * 6, stamp=1.0)
    with pytest.raises(DataError, match="stamp = .* is no time in seconds"):
        live.update(POSE, effort=[5.0] * 6, stamp=stamp)
    assert np.isfinite(live.update(POSE, effort=[5.0] * 6, stamp=1.01).wrench).all()


def test_what_is_no_robot_is_refused_by_name():
    with pytest.raises(ConfigError, match="robot: None: is no RobotFile, name"):
        LiveForce(None)


def test_a_tare_is_refused_with_its_reason(robot):
    with pytest.raises(DataError, match="a changed parameter: wait two seconds"):
        LiveForce(robot).tare()
