"""MomentumObserver on a robot simulated by RK4 (bandwidth, sign, rotor inertia), and the terms of the momentum."""

import numpy as np
import pytest
from chains import random_chain
from force_bench import POSE, UR5E, model, with_residuals

from robot_dynamics_ros import _core
from robot_dynamics_ros.estimators.external_force import ForceStage
from robot_dynamics_ros.estimators.motion import MotionStage
from robot_dynamics_ros.signals import Log

ROTOR = UR5E.array("drives.rotor_inertia")
STEP = np.array([8.0, -12.0, 6.0, 2.0, -1.5, 1.0])  # Nm, environment on the joints
START = 1.0  # s


def simulate(rate=1000, seconds=2.0):
    """Frictionless UR5e under a computed-torque law, pushed by STEP from START on; torque continuous in time."""
    robot = model()
    w = np.array([0.9, 1.3, 1.7, 2.1, 2.5, 2.9])

    def desired(t):
        return POSE + 0.2 * (1 - np.cos(w * t)), 0.2 * w * np.sin(w * t), 0.2 * w**2 * np.cos(w * t)

    def torque(t, q, qd):
        q_d, qd_d, qdd_d = desired(t)
        inertia = robot.mass_matrix(q) + np.diag(ROTOR)
        return inertia @ (qdd_d + 60 * (qd_d - qd) + 900 * (q_d - q)) + robot.rnea(q, qd, np.zeros(6))

    def rate_of(t, x):
        q, qd = x[:6], x[6:]
        push = STEP if t >= START - 1e-12 else np.zeros(6)
        free = torque(t, q, qd) + push - robot.rnea(q, qd, np.zeros(6))
        return np.concatenate([qd, np.linalg.solve(robot.mass_matrix(q) + np.diag(ROTOR), free)])

    h, x, rows = 1 / rate, np.concatenate([*desired(0.0)[:2]]), []
    for k in range(int(seconds * rate)):
        t = k * h
        rows.append((x[:6], x[6:], torque(t, x[:6], x[6:])))
        k1 = rate_of(t, x)
        k2 = rate_of(t + h / 2, x + h / 2 * k1)
        k3 = rate_of(t + h / 2, x + h / 2 * k2)
        k4 = rate_of(t + h - 1e-9, x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    q, qd, tau = (np.array(part) for part in zip(*rows, strict=True))
    return Log(UR5E.joint_names, 10**18 + np.arange(len(q)) * (10**9 // rate), {"q": q, "qd": qd, "effort": tau})


@pytest.fixture(scope="module")
def pushed():
    return simulate()


def external(log, robot=UR5E, **parameters):
    log = log[:]
    log.friction_torque = log.friction_std = np.zeros_like(log.q)
    MotionStage.of(robot).run(log)
    ForceStage.of(robot, parameters).run(log)
    return log.external_joint_torque


@pytest.mark.parametrize("bandwidth", [10.0, 25.0, 60.0])
def test_step_of_torque_is_followed_with_the_set_bandwidth(pushed, bandwidth):
    t = pushed.time
    expected = STEP * np.where(t >= START, 1 - np.exp(-bandwidth * (t - START)), 0.0)[:, None]
    error = np.abs(external(pushed, bandwidth=bandwidth, onset_bandwidth=0.0) - expected) / np.abs(STEP)
    assert error[t < START].max() < 1e-3
    assert error.max() < 0.04 and error[-100:].max() < 2e-3


def lags(log, robot=UR5E, **parameters):
    """How much later than STEP each joint's torque follows it (6,) [s], before a contact is flagged."""
    parameters["contact_on_time"] = 1.0
    first = (log.time >= START) & (log.time < START + 0.3)
    return (1.0 - external(log, robot, **parameters)[first] / STEP).sum(axis=0) * np.diff(log.time).mean()


@pytest.mark.parametrize(("torque_std", "lag"), [(1.0, 1 / 25), (1e-5, 1 / 100 + 1 / 300)])
def test_a_change_beyond_a_deviation_is_followed_sooner_than_a_small_one(pushed, torque_std, lag):
    """Small: the lag of the bandwidth. Large: that of the observer and of the filter behind it."""
    found = lags(pushed, torque_std=torque_std, model_error=1e-9, onset_bandwidth=100.0)
    np.testing.assert_allclose(found, lag, rtol=0.15)


@pytest.mark.parametrize(("onset", "lag"), [(0.0, 1 / 25), (60.0, 1 / 60 + 1 / 180), (150.0, 1 / 150 + 1 / 450)])
def test_a_robot_whose_file_names_fast_changes_its_own_is_followed_slowly(pushed, onset, lag):
    robot = with_residuals([1e-3] * 6, [1e-3] * 6, onset=onset)
    np.testing.assert_allclose(lags(pushed, robot, rest_bias=0.0, friction_drift=0.0), lag, rtol=0.15)


def test_rotor_inertia_matters_for_motor_side_torque_and_not_for_link_side(pushed):
    without = UR5E.with_updates({"drives.rotor_inertia": np.zeros(6)})
    right, wrong = external(pushed)[:900], external(pushed, without)[:900]
    assert np.abs(wrong).max() > 30 * np.abs(right).max()
    link_side = UR5E.with_updates({"drives.torque_side": "link"})
    np.testing.assert_array_equal(external(pushed, link_side)[:900], wrong)


def test_stable_for_any_sample_time():
    log = simulate(rate=1000, seconds=0.5)[::12]
    assert np.abs(external(log, bandwidth=1000.0)).max() < 3.0


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 16])
@pytest.mark.parametrize("seed", range(3))
def test_momentum_and_transposed_coriolis(n, seed):
    chain = random_chain(n, seed)
    robot, core = chain.model(), chain.core
    rng = np.random.default_rng(seed + 50)
    q, qd = rng.uniform(-3, 3, n), rng.normal(size=n)
    p, beta = _core.generalised_momentum(core, q, qd)
    M = robot.mass_matrix(q)
    np.testing.assert_allclose(p, M @ qd, rtol=1e-10, atol=1e-10)
    # C'qd = Mdot qd - C qd with Mdot qd from a central difference of M along the motion
    h = 1e-5
    mdot_qd = (robot.mass_matrix(q + h * qd) - robot.mass_matrix(q - h * qd)) @ qd / (2 * h)
    scale = np.abs(mdot_qd).max() + 1
    np.testing.assert_allclose(beta, mdot_qd - robot.coriolis(q, qd), atol=1e-7 * scale)
    # and = the gradient of the kinetic energy with respect to q
    energy = [0.5 * qd @ robot.mass_matrix(q + s * h * e) @ qd for e in np.eye(n) for s in (1, -1)]
    np.testing.assert_allclose(beta, (np.array(energy[::2]) - energy[1::2]) / (2 * h), atol=1e-7 * scale)
