"""The force stage on other robots: any number of joints, a leg, every shipped arm, torque sensors behind the gear."""

import numpy as np
import pytest
from chains import random_chain
from force_bench import estimated, with_residuals
from presliding_joint import elements

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.robot_file import load_robot, shipped_robots
from robot_dynamics_ros.signals import Log


@pytest.mark.parametrize("n", range(1, 17))
def test_one_to_sixteen_joints(n):
    """External torque of a static push is recovered on any chain; with fewer than six joints the wrench says so."""
    chain = random_chain(n, n)
    force = _core.ExternalForce(chain.core, torque_std=np.full(n, 0.1), model_error=0.0)
    q, zero = np.linspace(-1, 1, n), np.zeros(n)
    J, push = chain.model().jacobian(q), np.array([30.0, -20, 10, 0, 0, 0])
    g = chain.model().gravity(q)
    out = [np.zeros(k) for k in (n, n, 6, 6, 1, n + 1, 1, n, 6, 6)]
    for k in range(1000):
        status = force.step(k * 2_000_000, q, zero, g, g - J.T @ push, zero, zero, zero, None, *out)
    np.testing.assert_allclose(out[0], J.T @ push, atol=1e-3 * np.abs(J).max() * 30)
    assert np.isfinite(np.concatenate(out)).all()
    if n < 6:
        assert status == Status.degraded and out[3][3:].max() > 1.0  # of the expected 2 Nm
    else:
        assert out[4] > 0 and (np.abs(out[2] - push) < 4 * out[3] + 0.1).all()


LEG = """<robot name="leg"><link name="hip"/>
<link name="thigh"><inertial><mass value="3"/><origin xyz="0.2 0 0"/>
 <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.03"/></inertial></link>
<link name="shank"><inertial><mass value="2"/><origin xyz="0.2 0 0"/>
 <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link><link name="foot"/>
<joint name="hip_joint" type="continuous"><parent link="hip"/><child link="thigh"/><axis xyz="0 1 0"/></joint>
<joint name="knee_joint" type="continuous"><parent link="thigh"/><child link="shank"/><origin xyz="0.4 0 0"/>
 <axis xyz="0 1 0"/></joint>
<joint name="ankle" type="fixed"><parent link="shank"/><child link="foot"/><origin xyz="0.4 0 0"/></joint></robot>"""


def test_a_two_joint_leg_estimates_a_force_without_moments_by_itself(tmp_path):
    """F = J^-T tau in the plane of the leg, as its two joints show it; the rest has the deviation of the prior."""
    pytest.importorskip("pinocchio")
    from robot_dynamics_ros.models.urdf_import import robot_from_urdf

    (tmp_path / "leg.urdf").write_text(LEG)
    robot = robot_from_urdf(tmp_path / "leg.urdf", torque_side="motor", effort_unit="Nm", tip="foot")
    rigid, n = RobotModel(robot.chain(), robot.joint_names), 2000
    q, push = np.tile([0.7, -1.1], (n, 1)), np.array([30.0, 0, -50.0])
    J = rigid.jacobian(q[0])[:3]
    effort = rigid.gravity(q) - J.T @ push
    log = Log(robot.joint_names, np.arange(n) * 2_000_000, {"q": q, "qd": 0 * q, "effort": effort})
    given = {"force": {"torque_std": 0.001, "unknown_friction": 0.001, "model_error": 1e-6}}
    status = Pipeline(robot, given).run(log)
    plane = np.linalg.solve(J[[0, 2]].T, log.external_joint_torque[-1])
    np.testing.assert_allclose(log.external_wrench[-1, [0, 2]], plane, atol=0.05)
    np.testing.assert_allclose(plane, push[[0, 2]], atol=0.05)
    assert not log.external_wrench[-1, 3:].any() and not log.external_wrench_std[-1, 3:].any()
    assert 20.0 < log.external_wrench_std[-1, 1] < 80.0  # of its priors
    assert status[-1] == int(Status.degraded)  # no friction


@pytest.mark.parametrize("name", [n for n in shipped_robots() if load_robot(n).links is not None])
def test_every_shipped_robot_feels_a_push_at_rest(name):
    robot = load_robot(name)
    rigid = RobotModel(robot.chain(), robot.joint_names)
    rng, best = np.random.default_rng(0), (0.0, None)
    for q in rng.uniform(-2, 2, (50, robot.n_joints)):
        best = max(best, (np.linalg.svd(rigid.jacobian(q), compute_uv=False)[-1], tuple(q)))
    q = np.tile(best[1], (2000, 1))
    push = np.array([10.0, -20, 40, 0.5, 0, 0])
    friction = 0.0 if robot.friction is None else FrictionModel.from_robot(robot).torque(0 * q, 0 * q)
    effort = robot.drives.effort.sign * (rigid.gravity(q) - rigid.jacobian(q[0]).T @ push + friction)
    log = Log(robot.joint_names, np.arange(2000) * 2_000_000, {"q": q, "qd": 0 * q, "effort": effort})
    pipeline, _ = estimated(log, robot, expected_force=1e6, expected_moment=1e6)
    np.testing.assert_allclose(log.external_wrench[-1], push, atol=0.05)
    if robot.drives.torque_side == "link":
        assert not any("friction" in note for note in pipeline.notes)


FR3 = load_robot("fr3")
START = np.array([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8])
NOISE = np.array([0.05] * 4 + [0.015] * 3)  # Nm, of good torque sensors


def standing(robot, push, noise=0.0, velocity_noise=0.0):
    """What an arm with torque sensors reports that stands at START, at 1 kHz; push (N, 6), environment on robot."""
    rigid, rng = RobotModel(robot.chain(), robot.joint_names), np.random.default_rng(7)
    q = np.tile(START, (len(push), 1))
    effort = rigid.gravity(q) - push @ rigid.jacobian(START) + noise * rng.normal(size=q.shape)
    signals = {"q": q, "qd": velocity_noise * rng.normal(size=q.shape), "effort": effort}
    return Log(robot.joint_names, np.arange(len(q)) * 1_000_000, signals)


def pushed(size, seconds=3.0):
    """Wrench (N, 6) [N] from 2 s on."""
    t = np.arange(round(1e3 * seconds)) * 1e-3
    return (t > 2.0)[:, None] * np.broadcast_to(size, (len(t), 6))


def test_friction_that_a_torque_sensor_sees_is_taken_off():
    """That of the output bearings of an FR3."""
    friction = {"source": "test", "model": "viscous_coulomb", "parameters": {"fc": 0.6, "fv": 0.0}}
    updates = {"friction": friction, "hysteresis": elements([1e-4], [0.6], 7)}
    robot, t = FR3.with_updates(updates, {"test": "bearings of 0.6 Nm"}), np.arange(4000) * 1e-3
    rigid = RobotModel(robot.chain(), robot.joint_names)
    q = START + 0.2 * np.sin(2.0 * t)[:, None]
    qd, qdd = 0.4 * np.cos(2.0 * t)[:, None] * np.ones(7), -0.8 * np.sin(2.0 * t)[:, None] * np.ones(7)
    bearing, seen = np.zeros(7), []
    for step in np.diff(q, axis=0, prepend=q[:1]):
        bearing = np.clip(bearing + 0.6 / 1e-4 * step, -0.6, 0.6)
        seen.append(bearing)
    effort = rigid.rnea(q, qd, qdd) + np.array(seen)
    theta = q + 0.05  # friction behind the gear moves with the link, whatever the rotor does
    theta[2000:] -= 0.01
    log = Log(robot.joint_names, np.arange(4000) * 1_000_000, {"q": q, "qd": qd, "effort": effort, "theta": theta})
    Pipeline(robot).run(log)
    late = log.time > 1.0
    assert np.abs(log.external_joint_torque[late]).max() < 0.05
    other = Log(robot.joint_names, log.stamp_ns, {"q": q, "qd": qd, "effort": effort})
    Pipeline(robot, {"force": {"subtract_friction": False}}).run(other)
    assert np.abs(other.external_joint_torque[late]).max() > 0.5


def test_friction_before_a_torque_sensor_is_not_taken_off():
    changes = {"sensing.motor_torque": True, "drives.torque_side": "link", "sensing.joint_torque_sensor": True}
    robot = FR3.with_updates(changes)
    log = standing(robot, np.zeros((1000, 6)))
    log.theta, log.omega, log.motor_torque = log.q, 0 * log.q, log.effort + 5.0
    Pipeline(robot, {"friction": {"model": "observer"}}).run(log)
    np.testing.assert_allclose(log.friction_torque[-1], 5.0, atol=0.01)
    np.testing.assert_allclose(log.external_joint_torque, 0.0, atol=1e-9)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_an_arm_with_good_torque_sensors_flags_5_newton(axis):
    robot = with_residuals(3 * NOISE, 3 * NOISE, FR3, significance=4.0)
    log = standing(robot, pushed(5.0 * np.eye(6)[axis]), NOISE)
    Pipeline(robot).run(log)
    flagged = log.contact[:, -1] > 0.5
    assert not flagged[log.time < 2.0].any() and flagged[log.time > 2.1].all()


@pytest.mark.parametrize("onset", [0.0, 150.0])
def test_the_deviation_of_a_push_that_changes_is_that_of_the_lag(onset):
    """Where no friction adds to it; noise of the velocity is not lag."""
    robot, t = with_residuals(NOISE, NOISE, FR3, onset=onset), np.arange(6000)[:, None] * 1e-3
    push = pushed((12.0 + 10.0 * np.sin(4.0 * t)) * np.eye(6)[:3].sum(axis=0), 6.0)
    log = standing(robot, push, NOISE, velocity_noise=5e-4)
    Pipeline(robot).run(log)
    error, std = (x[log.time > 2.2, :3] for x in (log.external_wrench - push, log.external_wrench_std))
    assert (np.abs(error) < 2.0 * std).mean() > 0.85
    assert np.sqrt((std**2).mean()) < 2.0 * np.sqrt((error**2).mean())


@pytest.mark.parametrize(("noise", "flagged"), [(0.0, False), (0.0005, True)])
def test_the_least_contact_of_an_arm_without_residuals_is_in_proportion_to_its_noise(noise, flagged):
    """4 N lie below the 5 N of an unknown arm; torque_std says that this one sees a twentieth of the usual noise."""
    robot = FR3.with_updates({"friction": None})
    log = standing(robot, pushed(4.0 * np.eye(6)[2]))
    Pipeline(robot, {"force": {"torque_std": noise, "model_error": 1e-6}}).run(log)
    contact = log.contact[:, -1] > 0.5
    before, late = log.time < 2.0, log.time > 2.2
    assert not contact[before].any() and contact[late].all() == contact[late].any() == flagged
