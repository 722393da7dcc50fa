"""Torque mode evaluates the friction law of the robot file, whatever its shape; its scales are learned in motion."""

import numpy as np
import pytest
from presliding_joint import JOINT
from synthetic import log_at

from robot_dynamics_ros.control.torque import coulomb_level, friction_feedforward
from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot

PLAIN = load_robot("ur5e")
NAMES, DT, N = PLAIN.joint_names, 2e-3, 3000
STATIC = {"model": "viscous_coulomb", "parameters": {"fc": 3.0, "fv": 1.0}, "source": "identified_test"}
MOTOR = {"joint": NAMES[4], "turns_with": NAMES[5], "sign": -1}


def robot(model):
    """The arm with a law of one kind; "wrist": presliding, and a motor that turns with the last two joints."""
    block = {"model": "presliding", "parameters": {k: [v] * 6 for k, v in JOINT.items()}}
    if model == "egms":
        block = {"model": "egms", "parameters": {"b": 1e-3, "m": 4, "r_d": 4.0, "r_k": 2.0, "fc0": 6.0, "fc1": 1e-3}}
    motors = [MOTOR | {"parameters": JOINT | {"rotor_time": 0.0}}] if model == "wrist" else []
    updates = {"friction": STATIC, "hysteresis": block | {"source": "identified_test", "motors": motors}}
    return PLAIN.with_updates(updates, {"identified_test": "numbers of this test"})


@pytest.fixture(scope="module")
def motion():
    """Strokes of 0.03 to 30 mrad with reversals, a stand, and the load of the gears."""
    t = np.arange(N) * DT
    q = 0.03 * np.sin(2.2 * np.minimum(t, 4.5))[:, None] * np.geomspace(1e-3, 1, 6)
    signals = {"q": q, "qd": np.gradient(q, DT, axis=0), "model_torque": 20 * np.cos(40 * q)}
    return log_at(t, signals, NAMES)


def fed_forward(arm, motion, coulomb=1.0, viscous=1.0):
    """Friction (N, n) [Nm] that torque mode adds along the motion, with these scales."""
    core = friction_feedforward(arm)
    assert core.restore(np.full(6, coulomb), np.full(6, viscous))
    rows = zip(motion.stamp_ns.tolist(), motion.q, motion.qd, motion.model_torque, strict=True)
    return np.array([core.predict(*row) for row in rows])


def observed(arm, motion):
    """Friction (N, n) [Nm] that the live observer takes off along the same motion."""
    log, stage = motion[:], FrictionStage.of(arm)
    stage.run(log)
    return log.friction_torque


@pytest.mark.parametrize("model", ["presliding", "wrist", "egms"])
def test_feedforward_is_the_friction_of_the_observer(model, motion):
    arm = robot(model)
    np.testing.assert_allclose(fed_forward(arm, motion), observed(arm, motion), atol=1e-12)


def test_adaptation_scales_the_level_and_the_viscous_terms(motion):
    arm = robot("presliding")
    level = observed(arm, motion) - observed(without_level(arm), motion)
    viscous = observed(arm, motion) - observed(without_viscosity(arm), motion)
    scaled = fed_forward(arm, motion, 0.7, 1.4)
    np.testing.assert_allclose(scaled, observed(arm, motion) - 0.3 * level + 0.4 * viscous, atol=1e-12)
    assert np.abs(level[-1]).max() > 1.0 and np.abs(viscous).max() > 0.01  # the level at rest as well


def without_viscosity(arm):
    return arm.with_updates({f"hysteresis.parameters.{name}": [0.0] * 6 for name in ("fv1", "fv2", "fv0")})


def without_level(arm):
    """The same law with elements so long that they never carry friction; its other terms stay."""
    none = {"span": [1.0, 2.0, 3.0], "level": [1e-9, 0.0, 0.0], "load": [0.0, 0.0, 0.0]}
    return arm.with_updates({f"hysteresis.parameters.{name}": [row] * 6 for name, row in none.items()})


ROBOT, MODEL, CYCLE = load_robot("ur5e"), RobotModel.load("ur5e"), 2_000_000
Q = np.array([0.3, -1.5, 1.2, -1.1, -1.5, 0.2])
NOISE = 5e-6  # rad
LAWS = pytest.mark.parametrize("law", ["scales", "rls"])


def learned(path, law):
    """Largest change of what is learned from positions (samples, 6); friction holds 60 % of its Coulomb level."""
    friction, random = friction_feedforward(ROBOT, {"law": law}), np.random.default_rng(0)
    tau = MODEL.gravity(Q) + 0.6 * coulomb_level(ROBOT)
    for k, q in enumerate(path + NOISE * random.normal(size=path.shape)):
        friction.learn(10**9 + k * CYCLE, q, tau)
        if k == 200:
            begin = friction.coulomb.copy()
    return np.abs(friction.coulomb - begin).max()


def test_rls_learns_the_friction_of_every_joint():
    """Coulomb and viscous friction, in both directions. Over whole strokes the torque of the rotors would cancel."""
    t = np.arange(1500)[:, None] * 2e-3
    qdd = np.tile([0.3, -0.3, 0.25, -0.25, 0.2, -0.2], (len(t), 1))
    q, qd = Q + 0.5 * qdd * t**2, qdd * t
    coulomb, viscous = 0.8 * coulomb_level(ROBOT), np.linspace(9.0, 3.0, 6)
    tau = MODEL.rnea(q, qd, qdd) + ROBOT.array("drives.rotor_inertia") * qdd + coulomb * np.sign(qd) + viscous * qd
    friction = friction_feedforward(ROBOT, {"law": "rls"})
    for k in np.flatnonzero(np.arange(len(t)) % 5):  # samples that are missing are interpolated
        friction.learn(10**9 + int(k) * CYCLE, q[k], tau[k])
    np.testing.assert_allclose(friction.coulomb, coulomb, rtol=0.1)
    np.testing.assert_allclose(friction.viscous, viscous, rtol=0.1)


def test_friction_of_the_robot_file_teaches_the_scales_nothing():
    arm, t, w = robot("presliding"), np.arange(2000)[:, None] * DT, np.linspace(1.0, 2.0, 6)
    q, qd, qdd = Q + 0.2 * np.sin(w * t), 0.2 * w * np.cos(w * t), -0.2 * w**2 * np.sin(w * t)
    log = log_at(t[:, 0], {"q": q, "qd": qd, "model_torque": MODEL.rnea(q, qd, qdd)}, NAMES)
    tau = log.model_torque + PLAIN.array("drives.rotor_inertia") * qdd + observed(arm, log)
    core = friction_feedforward(arm)
    for row in zip(log.stamp_ns.tolist(), q, tau, strict=True):
        core.learn(*row)
    np.testing.assert_allclose([core.coulomb, core.viscous], 1.0, atol=0.02)


@LAWS
@pytest.mark.parametrize("size", [2e-4, 6e-4, -6e-4, 5e-3])
@pytest.mark.parametrize("shape", ["step", "spike", "both ways"])
def test_a_glitch_at_rest_teaches_nothing(size, shape, law):
    path = np.tile(Q, (600, 1))
    end = {"step": 600, "spike": 301, "both ways": 330}[shape]
    path[300:end, 2] += size
    assert learned(path, law) == 0.0


@LAWS
@pytest.mark.parametrize("speed", [0.015, 0.1])
def test_a_slow_motion_still_teaches(speed, law):
    path = np.tile(Q, (600, 1))
    path[300:, 2] += speed * 0.002 * np.arange(300)
    assert learned(path, law) > 0.01
