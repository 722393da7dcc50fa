"""Joints in another order give the same numbers in that order: no joint takes those of another."""

import numpy as np
import pytest
from presliding_joint import JOINT
from presliding_joint import robot as presliding
from synthetic import log_at
from thermal_bench import FRICTION, HOUSING
from thermal_bench import robot as warming

from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.estimators.power import PowerStage
from robot_dynamics_ros.estimators.stiffness import StiffnessStage
from robot_dynamics_ros.estimators.temperature import TemperatureStage

ORDER = np.array([3, 0, 5, 1, 4, 2])
SHARE = 1.0 + 0.1 * np.arange(6)  # of each joint: none has the numbers of another
BLOCKS = ("drives", "friction", "hysteresis", "thermal", "stiffness", "residuals")


def different(robot, block, parameters, names):
    """The robot whose joints have SHARE of these parameters each."""
    return robot.with_updates({f"{block}.parameters.{k}": np.multiply.outer(SHARE, parameters[k]) for k in names})


def turned(value):
    """A part of a robot file whose lists of joints are in the other order."""
    if isinstance(value, dict):
        return {key: turned(part) for key, part in value.items()}
    return [value[k] for k in ORDER] if isinstance(value, list) and len(value) == 6 else value


def motion(seconds=40.0, dt=0.01):
    """Every joint at speeds, torques and temperatures of its own; two without a reading of the last."""
    t = np.arange(0.0, seconds, dt)[:, None]
    qd, bend = SHARE * np.sin(2 * t / SHARE), 1e-3 * np.cos(3 * t * SHARE)
    q = np.cumsum(qd, axis=0) * dt
    load = 2e4 * SHARE * bend
    signals = {"q": q, "qd": qd, "qdd": np.gradient(qd, dt, axis=0), "theta": q + bend, "model_torque": load}
    signals["omega"] = np.gradient(q + bend, dt, axis=0)
    signals["friction_torque"] = 8.0 * SHARE * np.tanh(qd / 0.05)
    signals["drive_torque"] = load + signals["friction_torque"]
    signals["motor_torque"] = signals["drive_torque"] + SHARE * np.gradient(signals["omega"], dt, axis=0)
    signals["temperature_estimate"] = 25.0 + SHARE + 0.1 * t
    signals["temperature_variance"] = SHARE + 0.0 * t
    signals["temperature"] = np.where(np.arange(6) % 4 == 1, np.nan, 25.0 + SHARE + 0.01 * np.floor(t))
    return log_at(t[:, 0], signals | {"contact": np.zeros((len(t), 7))}, warming().joint_names)


def warm(robot, order):
    """Joints that begin at temperatures of their own, as well known as those of no other."""
    stage = TemperatureStage.of(robot, {"observe_time": 10.0, "convergence_time": 2.0})
    for joint, k in enumerate(order):
        stage.core.set_initial(joint, 25.0 + k, 24.0 + k, (100.0, 9.0, 25.0, 1.0, 4.0, 2.0)[k])
    return stage


def spring(robot, order):
    return StiffnessStage.of(robot, {"skew": 0.0})


MOTORS = {f"drives.{name}": (SHARE * x).tolist() for name, x in (("gear_ratio", 80.0), ("back_emf_ratio", 0.6))}
ENCODERS = dict.fromkeys([f"sensing.{name}" for name in ("rotor_encoder", "motor_torque", "joint_torque_sensor")], True)
SPRINGS = {"source": "fit_test", "model": "odd_polynomial", "parameters": {"a": np.outer(SHARE, [2e4, 1e9]).tolist()}}
WARMING = different(different(warming(**HOUSING), "thermal", HOUSING, HOUSING), "friction", FRICTION, ("c0", "c1"))
SLIP = ("span", "level", "load", "fv1", "fs", "stribeck_velocity", "widening")
SLIPPING = different(presliding(), "hysteresis", JOINT | {"widening": [0.1, 0.2]}, SLIP)
SPRUNG = presliding().with_updates(ENCODERS | {"stiffness": SPRINGS})
ARMS = {
    "temperature": (WARMING, warm),
    "friction": (SLIPPING, lambda robot, order: FrictionStage.of(robot)),
    "static law": (WARMING, lambda robot, order: FrictionStage.of(robot, {"model": "static"})),
    "stiffness": (SPRUNG, spring),
    "observer": (SPRUNG, lambda robot, order: FrictionStage.of(robot, {"model": "observer"})),
    "power": (presliding().with_updates(MOTORS), lambda robot, order: PowerStage.of(robot)),
}


@pytest.mark.parametrize("name", ARMS)
def test_joints_in_another_order_give_their_own_numbers(name):
    robot, make = ARMS[name]
    raw = robot.raw()
    other = robot.with_updates({block: turned(raw[block]) for block in BLOCKS if raw.get(block) is not None})
    log, same = motion(), motion()
    for signal in [key for key, values in same.signals.items() if values.shape[1] == 6]:
        setattr(same, signal, same.get(signal)[:, ORDER].copy())
    first, second = make(robot, range(6)), make(other, ORDER)
    np.testing.assert_array_equal(first.run(log), second.run(same))
    assert len(np.unique(log.get(first.writes[0])[-1, :6])) == 6
    for signal in first.writes:
        ours, theirs = (found.get(signal)[:, :6] for found in (log, same))
        np.testing.assert_allclose(theirs, ours[:, ORDER], rtol=1e-12, atol=1e-12, err_msg=signal)
