"""Control laws against Pinocchio-free oracles: a rigid or flexible robot integrated in the test."""

import math

import numpy as np
import pytest

from robot_dynamics_ros._core import (
    ComputedTorque,
    FlexibleFeedforward,
    HandGuiding,
    JointTorqueFeedback,
    Status,
    joint_torque,
)
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.trajectories.smooth import through

N, DT = 6, 0.002
ROBOT = load_robot("ur5e")
MODEL = RobotModel.load("ur5e")
CHAIN = ROBOT.chain()
B = np.array([1.0, 1.0, 0.8, 0.2, 0.2, 0.2])
ZERO = np.zeros(N)


def states(seed=3):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1.5, 1.5, N) for _ in range(5)]


def computed_torque(gravity=True, **changes):
    gains = {"kp": np.full(N, 400.0), "kd": np.full(N, 40.0), "ki": np.zeros(N), "rotor_inertia": B}
    return ComputedTorque(CHAIN, **{**gains, **changes}, includes_gravity=gravity)


def control(law, q, qd, q_d, qd_d, qdd_d, friction=ZERO):
    u, tau_d = np.full(N, np.nan), np.full(N, np.nan)
    status = law.step(DT, q, qd, q_d, qd_d, qdd_d, friction, u, tau_d)
    return status, u, tau_d


@pytest.mark.parametrize("gravity", [True, False])
def test_on_the_trajectory_it_is_the_model_torque_friction_and_rotor(gravity):
    q, qd, qdd, friction, _ = states()
    status, u, tau_d = control(computed_torque(gravity), q, qd, q, qd, qdd, friction)
    without = ZERO if gravity else MODEL.gravity(q)
    assert status == Status.ok
    np.testing.assert_allclose(tau_d, MODEL.rnea(q, qd, qdd), atol=1e-9)
    np.testing.assert_allclose(u, tau_d + B * qdd + friction - without, atol=1e-9)


def test_feedback_is_scaled_by_the_mass_matrix_of_the_desired_position():
    q, qd, q_d, qd_d, qdd_d = states()
    law = computed_torque()
    u = control(law, q, qd, q_d, qd_d, qdd_d)[1]
    v = -40 * (qd - qd_d) - 400 * (q - q_d)
    expected = MODEL.mass_matrix(q_d) @ v + B * v + MODEL.rnea(q_d, qd_d, qdd_d) + B * qdd_d
    np.testing.assert_allclose(u, expected, atol=1e-8)


def simulate(law, trajectory, disturbance=ZERO):
    """Semi-implicit Euler of the rigid robot with rotor inertia under the law; the tracking error over time."""
    q, qd, errors = trajectory.q[0].copy(), np.zeros(N), []
    for q_d, qd_d, qdd_d in zip(trajectory.q, trajectory.qd, trajectory.qdd, strict=True):
        u = control(law, q, qd, q_d, qd_d, qdd_d)[1]
        bias = MODEL.rnea(q, qd, ZERO)
        qd = qd + DT * np.linalg.solve(MODEL.mass_matrix(q) + np.diag(B), u + disturbance - bias)
        q = q + DT * qd
        errors.append(q - q_d)
    return np.array(errors)


def test_it_tracks_and_the_integral_removes_a_constant_disturbance():
    trajectory = through(np.array(states()) * 0.4, velocity=1.0, acceleration=2.0, rate=1 / DT)
    load = np.array([5.0, 8.0, 4.0, 1.0, 1.0, 0.5])
    assert np.abs(simulate(computed_torque(), trajectory)).max() < 3e-3
    without = simulate(computed_torque(), trajectory, load)[-1]
    with_integral = simulate(computed_torque(ki=np.full(N, 2000.0), integral_limit=1.0), trajectory, load)[-1]
    assert np.abs(with_integral).max() < 0.3 * np.abs(without).max()


def test_a_not_finite_state_gives_zero_torque_and_says_fault():
    q, qd, q_d, qd_d, qdd_d = states()
    q[2] = math.nan
    status, u, _ = control(computed_torque(), q, qd, q_d, qd_d, qdd_d)
    assert status == Status.fault and not u.any()


@pytest.mark.parametrize("name", ["kp", "kd", "ki", "rotor_inertia"])
@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_gains_name_the_argument(name, bad):
    with pytest.raises(ValueError, match=name):
        computed_torque(**{name: np.full(N, bad)})


A1, A2 = np.array([2e3, 2e3, 1.5e3, 400.0, 400.0, 400.0]), np.array([1e6] * 4 + [0.0] * 2)  # softer than a UR's


def test_flexible_feedforward_satisfies_both_equations_of_motion():
    """theta from the law, differentiated numerically along the trajectory, must reproduce its own motor torque."""
    law = FlexibleFeedforward(CHAIN, a1=A1, a2=A2, rotor_inertia=B)
    h = 1e-3
    trajectory = through(np.array(states()) * 0.4, velocity=1.5, acceleration=6.0, rate=1 / h)
    rows = range(len(trajectory.time) // 2 - 40, len(trajectory.time) // 2 + 40)
    columns = [trajectory.q, trajectory.qd, trajectory.qdd, trajectory.jerk, trajectory.snap]
    out = [law.step(*(c[k] for c in columns)) for k in rows]
    tau_m, theta = (np.array(x) for x in zip(*out, strict=True))
    q, qd, qdd = (c[rows.start : rows.stop] for c in columns[:3])
    phi = theta - q
    tau_J = MODEL.rnea(np.ascontiguousarray(q), np.ascontiguousarray(qd), np.ascontiguousarray(qdd))
    np.testing.assert_allclose(A1 * phi + A2 * phi**3, tau_J, atol=1e-9)
    thetadd = np.diff(theta, 2, axis=0) / h**2
    np.testing.assert_allclose(tau_m[1:-1], B * thetadd + tau_J[1:-1], atol=2e-3)
    rigid = B * qdd + tau_J
    assert np.abs(tau_m - rigid).max() > 1e-2  # flexibility has an effect


def test_joint_torque_feedback_brings_the_torque_to_its_target_and_is_bounded():
    kp, ki, limit = np.array([0.5, 0.2]), np.array([20.0, 40.0]), np.array([10.0, 5.0])
    law = JointTorqueFeedback(kp=kp, ki=ki, correction_limit=limit)
    correction, target = np.zeros(2), np.array([7.0, 4.0])
    assert law.step(1e-3, target, target - 3.0, correction) == Status.ok
    np.testing.assert_allclose(correction, 3.0 * (kp + 1e-3 * ki))
    for _ in range(2000):  # a drive whose friction eats 3 Nm of what is asked
        assert law.step(1e-3, target, target + correction - 3.0, correction) == Status.ok
    np.testing.assert_allclose(correction, 3.0, atol=1e-3)
    for _ in range(5000):
        status = law.step(1e-3, target, target - 107.0, correction)
        assert (np.abs(correction) <= limit).all()
    assert status == Status.saturated
    law.step(1e-3, target, target + 1.0, correction)
    np.testing.assert_allclose(correction, limit - kp - 1e-3 * ki)  # no more was integrated meanwhile
    assert law.step(1e-3, target, np.full(2, np.nan), correction) == Status.unavailable and not correction.any()
    assert joint_torque(2e4, 1e9, 5.0, 1e-3, 0.1) == pytest.approx(20 + 1 + 0.5)


def guide(**changes):
    base = {"damping": 2.0, "speed_limit": 1.0, "torque_limit": 30.0, "wall_stiffness": 100.0}
    base |= {"position_lower": -3.0, "position_upper": 3.0}
    return HandGuiding(CHAIN, **{name: np.full(N, value) for name, value in base.items()} | changes)


def guided(law, q, qd, friction=ZERO):
    tau = np.zeros(N)
    return law.step(q, qd, friction, tau), tau


def test_hand_guiding_is_coriolis_gravity_friction_and_damping():
    q, qd, friction, *_ = states()
    qd = 0.3 * qd
    law = guide(includes_gravity=True, torque_limit=np.full(N, 1e3))
    expected = MODEL.rnea(q, qd, ZERO) + 0.8 * friction - 2.0 * qd
    np.testing.assert_allclose(guided(law, q, qd, friction)[1], expected, atol=1e-9)
    np.testing.assert_allclose(guided(guide(), q, ZERO)[1], ZERO, atol=1e-9)  # at rest the robot's own gravity holds it


@pytest.mark.parametrize("rest", [0.0, 0.4, 1.0])
def test_friction_at_rest_is_compensated_in_part(rest):
    friction, law, helped = np.full(N, 5.0), guide(rest_share=rest, damping=ZERO), []
    for speed in (0.0, 0.02, 0.035, 0.05, 0.5):
        qd = np.full(N, speed)
        helped.append((guided(law, ZERO, qd, friction)[1] - MODEL.coriolis(ZERO, qd))[5])
    assert helped == pytest.approx([4.0 * part for part in (rest, rest, 0.5 + 0.5 * rest, 1.0, 1.0)])


def test_walls_push_inwards_only_and_stop_friction_assistance():
    q = ZERO.copy()
    q[0] = 2.95
    for friction in (0.0, 5.0):
        tau = guided(guide(), q, ZERO, np.full(N, friction))[1]
        assert tau[0] == pytest.approx(-100.0 * 0.05)
    assert guided(guide(), -q, ZERO)[1][0] == pytest.approx(5.0)


def test_damping_rises_before_the_speed_limit_and_assistance_ends_at_it():
    qd = ZERO.copy()
    drags = []
    for qd[0] in (0.8, 1.0, 1.2):
        drags.append(guided(guide(), ZERO, qd)[1][0] - MODEL.coriolis(ZERO, qd)[0])
    assert drags == pytest.approx([-1.6, -2 * (1.0 + 2.0), -2 * (1.2 + 4.0)])
    friction = np.full(N, 5.0)
    assert guided(guide(), ZERO, qd, friction)[1][0] == pytest.approx(drags[2] + MODEL.coriolis(ZERO, qd)[0])
    for qd[0], left in ((0.8, 4.0), (0.9, 2.0), (0.99, 0.2)):  # it fades
        helped = guided(guide(), ZERO, qd, friction)[1][0] - guided(guide(), ZERO, qd)[1][0]
        assert helped == pytest.approx(left)


def test_hand_guiding_saturates_and_refuses_what_is_not_finite():
    status, tau = guided(guide(), ZERO, ZERO, np.full(N, 1e3))
    assert status == Status.saturated and np.abs(tau).max() == 30.0
    for speed in (np.nan, 1e200):  # the dynamics of the second overflow
        status, tau = guided(guide(), np.full(N, 0.3), np.full(N, speed))
        assert status == Status.fault and not tau.any()


def test_a_speed_limit_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match=r"speed_limit\[0\] = inf must be finite"):
        guide(speed_limit=np.full(N, np.inf))


@pytest.mark.parametrize("share", [-0.1, 0.96, math.nan])
def test_full_friction_compensation_is_refused(share):
    with pytest.raises(ValueError, match="friction_share"):
        guide(friction_share=share)
