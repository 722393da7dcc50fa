"""Friction stage with memory, the observer over both encoders, and the health of the friction model."""

import numpy as np
import pytest

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.estimators.mujoco_friction import MujocoFriction
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.speeds import SLOW

MS = 1_000_000
STATIC = {"fc": 6.0, "fs": 7.0, "vs": 0.05, "fv1": 9.0, "fv2": -1.0, "fv3": 0.1, "alpha": -0.008}
SOURCE = {"fit_test": "numbers of this test"}


def robot(memory="egms", **blocks):
    parameters = {"b": 1e-3, "m": 4, "r_d": 4.0, "r_k": 2.0, "fc0": 6.0, "fc1": 1e-3}
    egms = {"model": "egms", "parameters": parameters, "source": "fit_test"}
    law = {"model": "madsen", "parameters": STATIC, "source": "fit_test", "reference_temperature": 30.0}
    changes = {"friction": law, "hysteresis": egms if memory == "egms" else None}
    return load_robot("ur5e").with_updates(changes | blocks, SOURCE)


def stage(*args, **parameters):
    return FrictionStage.of(robot(*args), parameters)


def log(N=4000, amplitude=0.02, rest=500):
    """Slow strokes with reversals, then rest."""
    t = np.arange(N + rest) * 1e-3
    q = amplitude * np.sin(2.2 * t)[:, None] * np.ones(6) + 0.3
    q[N:] = q[N - 1]
    qd = np.gradient(q, 1e-3, axis=0)
    record = Log(load_robot("ur5e").joint_names, np.arange(N + rest) * MS + 10**15, {"q": q, "qd": qd})
    record.model_torque = 20 * np.cos(q)
    return record


def test_memory_has_an_effect_at_reversals_only():
    record, static = log(amplitude=0.3), log(amplitude=0.3)
    stage().run(record)
    stage(model="static").run(static)
    difference = abs(record.friction_torque - static.friction_torque)[1000:4000, 0]
    fast = abs(record.qd[1000:4000, 0]) > 0.4
    assert difference.max() > 2.0
    assert difference[fast].max() < 0.6  # fc1 load^2 of egms is 0.4


def test_a_robot_without_friction_has_none_in_mujoco():
    with pytest.raises(CapabilityError, match="friction is null"):
        MujocoFriction(load_robot("ur5e").with_updates({"friction": None, "hysteresis": None}))


def test_at_rest_memory_knows_the_friction_and_says_how_well():
    record, static = log(), log()
    stage().run(record)
    stage(model="static").run(static)
    assert abs(static.friction_torque[-1]).max() < 1e-9 < 4.0 < abs(record.friction_torque[-1]).min()
    assert (record.friction_std[-1] < 0.6 * static.friction_std[-1] + 0.3 * abs(record.friction_torque[-1])).all()
    assert (record.friction_std[0] >= 6.0 / np.sqrt(3)).all()  # state unknown: anywhere within the level


def test_temperature_scales_friction_with_memory():
    hot, cold = log(), log()
    for record, T in ((hot, 60.0), (cold, 30.0)):
        record.temperature_estimate, record.temperature_variance = T + 0 * record.q, 1.0 + 0 * record.q
        stage().run(record)
    assert (abs(hot.friction_torque[3000:3500]) < abs(cold.friction_torque[3000:3500])).all()


def test_rotor_position_is_preferred_and_no_position_falls_back():
    record, moved = log(), log()
    moved.theta = moved.q + 1e-3 * np.sin(moved.q * 500)
    blind = log()
    blind.q = None
    for r in (record, moved):
        stage().run(r)
    codes = stage().run(blind)
    assert abs(record.friction_torque - moved.friction_torque).max() > 0.3
    assert (codes == int(Status.ok)).all()
    static = log()
    stage(model="static").run(static)
    np.testing.assert_array_equal(blind.friction_torque, static.friction_torque)


# ---- observer over both encoders

B, L = 1.7, 100.0


def rotor(friction, N=2000, dt=1e-3):
    """Rotor driven by a sine torque against a known friction and joint torque; exact to the integration step."""
    t = np.arange(N) * dt
    tau_m, tau_J = 20 * np.sin(3 * t), 5 * np.cos(2 * t)
    omega = np.zeros(N)
    f = np.array([friction(x) for x in t])
    for k in range(1, N):
        omega[k] = omega[k - 1] + dt * (tau_m[k - 1] - tau_J[k - 1] - f[k - 1]) / B
    return t, omega, tau_m, tau_J, f


def test_observer_settles_on_the_friction():
    # [Madsen2020 appB fig. 11]
    t, omega, tau_m, tau_J, f = rotor(lambda x: 6.0 + 2.0 * (x > 1.0))
    core = _core.RotorFrictionObserver(np.array([B]), np.array([L]))
    column = lambda x: x[:, None].copy()  # noqa: E731
    found, std = np.empty((2, len(t), 1))
    rows = core.rows(len(t), column(omega), column(tau_m), column(tau_J), found, std)
    _core.run_in_turn(np.arange(len(t)) * MS, [rows])
    estimate = found[:, 0]
    assert abs(estimate[300:1000] - 6.0).max() < 0.1
    assert abs(estimate[1300:] - 8.0).max() < 0.1


def test_observer_rejects_bad_samples_and_any_step_is_stable():
    core, f, std = _core.RotorFrictionObserver(np.array([B]), np.array([1e4])), np.zeros(1), np.zeros(1)
    one = lambda x: np.array([float(x)])  # noqa: E731
    for k in range(100):
        core.step(k * 50 * MS, one(0.0), one(6.0), one(0.0), f, std)
    assert f[0] == pytest.approx(6.0)
    assert core.step(99 * 50 * MS, one(0), one(9), one(0), f, std) == Status.dropped
    assert core.step(100 * 50 * MS, one(np.inf), one(9), one(0), f, std) == Status.dropped
    assert f[0] == pytest.approx(6.0)
    assert core.step(0, one(0), one(9), one(0), f, std) == Status.reset


def two_encoders(stiffness=True, **changes):
    block = {"model": "odd_polynomial", "parameters": {"a": [[2e4, 0.0]] * 6, "damping": 10.0}, "source": "fit_test"}
    sensing = {"sensing.rotor_encoder": True, "sensing.motor_torque": True}
    return robot("none", stiffness=block if stiffness else None, **sensing, **changes)


def encoder_log():
    t, omega, tau_m, tau_J, f = rotor(lambda x: 6.0)
    record = Log(load_robot("ur5e").joint_names, np.arange(len(t)) * MS)
    wide = lambda x: np.tile(x[:, None], 6)  # noqa: E731
    theta, phi = np.cumsum(omega) * 1e-3, np.zeros_like(t)
    for k in range(1, len(t)):  # 2e4 phi + 10 dphi/dt = tau_J
        phi[k] = (tau_J[k] + 10 * phi[k - 1] / 1e-3) / (2e4 + 10 / 1e-3)
    record.theta, record.q = wide(theta), wide(theta - phi)
    record.omega, record.qd = wide(omega), wide(omega - np.gradient(phi, 1e-3))
    record.motor_torque, record.drive_torque = wide(tau_m), wide(tau_J)
    inertia = load_robot("ur5e").array("drives.rotor_inertia")
    acceleration = np.gradient(omega, 1e-3)
    record.motor_torque = record.motor_torque + (inertia - B) * acceleration[:, None]
    return record


@pytest.mark.parametrize("sensor", [True, False])
def test_observer_stage_uses_sensor_or_spring(sensor):
    changes = {"sensing.joint_torque_sensor": True, "drives.torque_side": "link"} if sensor else {}
    s, record = FrictionStage.of(two_encoders(stiffness=not sensor, **changes), {"model": "observer"}), encoder_log()
    s.run(record)
    assert abs(record.friction_torque[500:] - 6.0).max() < 0.5
    assert (record.friction_std == 1.0).all()


def test_observer_stage_refuses_robots_without_both_sides():
    with pytest.raises(CapabilityError, match="rotor encoder"):
        FrictionStage().configure(robot(), {"model": "observer"})
    with pytest.raises(CapabilityError, match="stiffness"):
        FrictionStage().configure(two_encoders(stiffness=False), {"model": "observer"})


def test_a_refused_configuration_leaves_the_observer_at_work():
    s, record = FrictionStage.of(two_encoders(), {"model": "observer"}), encoder_log()
    with pytest.raises(CapabilityError, match="hysteresis is null"):
        s.configure(robot("none"), {"model": "hysteresis"})
    s.run(record)
    assert abs(record.friction_torque[500:] - 6.0).max() < 0.5


def test_the_deviation_at_rest_ends_with_the_speed():
    """A joint that starts fast has the deviation of motion at once, one that creeps nearly that at rest."""
    found = {"source": "fit_test", "moving": [0.1] * 6, "rest": [1.0] * 6, "speed": [2.0] * 6}
    s = FrictionStage.of(robot("static", residuals=found))
    record = log(200, rest=0)
    record.temperature_estimate, record.temperature_variance = np.full_like(record.q, 30.0), np.zeros_like(record.q)
    speed = np.repeat([0.0, 1e-3, SLOW, 0.5], 50)
    record.q = 0.3 + np.cumsum(speed * 1e-3)[:, None] * np.ones(6)
    record.qd = speed[:, None] * np.ones(6)
    s.run(record)
    at_rest = np.exp(-((speed / SLOW) ** 2))[:, None]
    expected = np.sqrt(1.0 * at_rest + 0.01 * (1.0 - at_rest) + (0.01 * record.friction_torque) ** 2)
    np.testing.assert_allclose(record.friction_std, expected, rtol=1e-9)
