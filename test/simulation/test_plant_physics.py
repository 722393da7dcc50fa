"""The simulated plant against closed forms, an independent rigid-body chain and conservation laws."""

import numpy as np
import pinocchio as pin
import pytest

from bench.speed.setup import pinocchio_model
from robot_dynamics_ros import _core
from robot_dynamics_ros.simulation.plant.build import FAST, load_plant, without
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions

Q = np.array([0.3, -1.2, 1.5, -1.9, -1.57, 0.4])
IDEAL = without("ripple", "noise", "quantisation", "kinematic_error", "backlash", "deviation")


def pinocchio_of(robot):
    """The machine's own links in Pinocchio."""
    return pinocchio_model(robot.machine.robot.chain_with_links(robot.machine.link_parameters))


def swing(seconds, overrides):
    """Energy of the machine falling from Q under no torque but the limits' small one."""
    robot = SimulatedRobot("ur5e", overrides=IDEAL | {"drive.torque_limit": 1e-9} | overrides, q=Q)
    energy = [robot.core.energy()]
    for _ in range(round(seconds * 500)):
        robot.step_torque(np.zeros(6))
        energy.append(robot.core.energy())
    return np.array(energy), robot


def free_swing(seconds, inner_rate):
    """The same without friction and damping."""
    off = {"transmission.damping": 0.0, "integration.inner_rate": inner_rate}
    return swing(seconds, without("friction") | off)


def test_energy_is_conserved_without_friction():
    energy, robot = free_swing(1.0, 8000.0)
    kinetic = np.abs(energy[0] - energy).max()
    assert np.abs(robot.truth()["qd"]).max() > 1.0
    assert kinetic < 1e-3, kinetic


def test_energy_error_falls_with_the_step():
    coarse = np.abs(np.diff(free_swing(0.5, 4000.0)[0][[0, -1]]))[0]
    fine = np.abs(np.diff(free_swing(0.5, 32000.0)[0][[0, -1]]))[0]
    assert fine < 0.5 * coarse


def test_friction_and_damping_only_dissipate():
    energy, _ = swing(1.0, {})
    stored = 0.1  # J: what the friction elements can give back, k D^2 / 2 summed
    assert energy[-1] < energy[0] - 1.0
    assert np.diff(energy).max() < stored


def test_rigid_limit_accelerates_as_pinocchio_says():
    off = {"drive.torque_limit": 1e-9, "integration.refresh": 1}
    robot = SimulatedRobot("ur5e", overrides=IDEAL | without("friction", "elasticity") | off, q=Q)
    model = pinocchio_of(robot)
    model.armature = robot.machine.true["drive.rotor_inertia"].copy()
    qdd = pin.aba(model, model.createData(), Q, np.zeros(6), np.zeros(6))
    for _ in range(10):
        robot.step_torque(np.zeros(6))
    assert robot.truth()["qd"] / 0.02 == pytest.approx(qdd, rel=0.02, abs=0.05)


def test_individual_follows_the_nominal_chain_when_it_does_not_deviate():
    exact = load_plant("ur5e", without("deviation"))
    assert np.array_equal(exact.link_parameters, exact.robot.link_parameters)
    other = load_plant("ur5e")
    assert 0.0 < np.abs(other.link_parameters[:, 9] / exact.link_parameters[:, 9] - 1).max() < 0.1


def test_perturbed_links_stay_physically_consistent():
    for individual in range(20):
        links = load_plant("ur5e", {"deviation.individual": individual, "deviation.mass": 0.1}).link_parameters
        for X in links:
            arm = pin.skew(X[6:9] / X[9])
            about_origin = np.array([[X[0], X[1], X[2]], [X[1], X[3], X[4]], [X[2], X[4], X[5]]])
            a, b, d = np.linalg.eigvalsh(about_origin + X[9] * arm @ arm)
            assert X[9] > 0 and a > 0 and a + b >= d - 1e-12


def test_standing_still_the_transmission_carries_gravity():
    robot = SimulatedRobot("ur5e", overrides=IDEAL | without("friction"), q=Q)
    model = pinocchio_of(robot)
    log, truth = robot.run(*motions.hold(Q, 3.0))
    gravity = pin.computeGeneralizedGravity(model, model.createData(), truth["q"][-1])
    assert truth["joint_torque"][-1] == pytest.approx(gravity, abs=1e-3)
    true = robot.machine.true
    assert log.current[-1] * true["drive.torque_constant"] == pytest.approx(gravity, abs=1e-3)
    phi = truth["deflection"][-1]
    elastic = true["transmission.stiffness"] * phi + true["transmission.hardening"] * phi**3
    assert elastic == pytest.approx(gravity, abs=1e-3)


def test_external_wrench_is_environment_on_robot_and_loads_the_joints_by_the_transposed_jacobian():
    robot = SimulatedRobot("ur5e", overrides=IDEAL | without("friction"), q=Q)
    model = pinocchio_of(robot)
    wrench = np.array([10.0, -20.0, 30.0, 1.0, 2.0, -3.0])
    motion = motions.hold(Q, 3.0)
    _, truth = robot.run(*motion, wrench=np.tile(wrench, (1500, 1)))
    data = model.createData()
    J = pin.computeJointJacobians(model, data, truth["q"][-1])
    J = pin.getJointJacobian(model, data, 6, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)  # the UR5e file's tool is identity
    assert truth["external_joint_torque"][-1] == pytest.approx(J.T @ wrench, abs=1e-3)
    gravity = pin.computeGeneralizedGravity(model, data, truth["q"][-1])
    assert truth["joint_torque"][-1] == pytest.approx(gravity - J.T @ wrench, abs=5e-3)


def test_wall_pushes_with_stiffness_times_penetration():
    robot = SimulatedRobot("ur5e", overrides=without("noise"), q=Q)
    tcp = robot.truth()["tcp_position"]
    robot.set_wall(tcp + [0, 0, 0.002], [0, 0, 1], stiffness=3e4, damping=50.0)
    _, truth = robot.run(*motions.hold(Q, 4.0))
    force, depth = truth["external_wrench"][-1, 2], truth["penetration"][-1, 0]
    assert 5.0 < force == pytest.approx(3e4 * depth, rel=1e-3)
    assert truth["tcp_position"][-1, 2] == pytest.approx(tcp[2] + 0.002 - depth, abs=1e-6)
    robot.clear_wall()
    _, truth = robot.run(*motions.hold(Q, 0.1))
    assert np.all(truth["external_wrench"][-1] == 0.0)


def test_a_reset_leaves_neither_the_wall_s_force_nor_the_friction_of_before():
    robot = SimulatedRobot("ur5e", overrides=IDEAL, q=Q)
    wrench = np.array([0.0, 0.0, 5.0, 0.0, 0.0, 0.0])
    robot.core.set_wall(robot.truth()["tcp_position"] + np.array([0, 0, 1e-3]), [0, 0, 1.0])
    for _ in range(50):
        robot.core.cycle_position(Q, np.zeros(6), np.zeros(6), 0.002)
    assert robot.truth()["penetration"] > 0 and robot.truth()["friction_torque"].any()
    robot.core.clear_wall()
    robot.core.set_wrench(wrench)
    robot.core.reset(Q)
    truth = robot.truth()
    assert truth["penetration"] == 0 and not truth["friction_torque"].any()
    np.testing.assert_array_equal(truth["external_wrench"], wrench)
    jacobian = _core.RigidBody(robot.machine.robot.chain()).jacobian(Q)
    assert truth["external_joint_torque"] == pytest.approx(jacobian.T @ wrench, abs=1e-9)


def test_wall_never_pulls():
    robot = SimulatedRobot("ur5e", q=Q)
    tcp = robot.truth()["tcp_position"]
    robot.set_wall(tcp - [0, 0, 0.01], [0, 0, 1], stiffness=5e4, damping=1000.0)
    down, up = Q + [0, 0.05, 0, 0, 0, 0], Q
    _, truth = robot.run(*motions.path([Q, down, up], velocity=1.0, acceleration=3.0))
    assert truth["external_wrench"][:, 2].max() > 50.0
    assert truth["external_wrench"][:, 2].min() >= 0.0


def test_wall_friction_opposes_sliding():
    robot = SimulatedRobot("ur5e", q=Q)
    tcp = robot.truth()["tcp_position"]
    robot.set_wall(tcp + [0, 0, 0.002], [0, 0, 1], stiffness=3e4, friction=0.3)
    robot.run(*motions.hold(Q, 1.0))
    _, truth = robot.run(*motions.quintic(Q, Q + [0.3, 0, 0, 0, 0, 0], velocity=0.3))
    middle = slice(200, 400)
    F, v = truth["external_wrench"][middle, :3], np.gradient(truth["tcp_position"], 0.002, axis=0)[middle]
    tangential = np.linalg.norm(F[:, :2], axis=1)
    assert tangential == pytest.approx(0.3 * F[:, 2], rel=0.05)
    assert np.all(np.sum(F[:, :2] * v[:, :2], axis=1) < 0)


def test_steady_temperatures_match_the_closed_form():
    # [Simoni2017 7] at rest: heat of friction = K (T - T_env)
    # heat capacities only set how long it takes; copper loss and constant viscosity keep the powers known
    quick = {"thermal.lubricant_capacity": 1.0, "thermal.housing_capacity": 5.0, "thermal.copper_loss": 0.0}
    robot = SimulatedRobot("ur5e", overrides={**FAST, **quick, "friction.viscosity_rate": 0.0}, q=Q)
    true = robot.machine.true
    robot.set_ambient(21.0)
    motion = motions.duty_cycle(Q, [1.0, 0.3, 0.3, 0.5, 0.5, 0.5], 4.0, 1.0, 4.0)
    robot.run(*(np.tile(x, (60, 1)) for x in motion))
    _, truth = robot.run(*motion)
    power = truth["friction_power"].mean(0)
    housing = 21.0 + (power + true["thermal.idle_power"]) / true["thermal.outer_conductance"]
    lubricant = housing + power / true["thermal.inner_conductance"]
    assert power.min() > 0.05
    assert truth["housing_temperature"].mean(0) - 21 == pytest.approx(housing - 21, rel=0.02)
    assert truth["lubricant_temperature"].mean(0) - 21 == pytest.approx(lubricant - 21, rel=0.02)


def test_fast_integration_agrees_with_the_full_one():
    motion = motions.fourier(Q, duration=10.0, base=0.2 * np.pi, seed=3)
    results = []
    for overrides in ({}, FAST):
        robot = SimulatedRobot("ur5e", overrides=without("ripple", "noise") | overrides, q=motion[0][0])
        robot.set_temperatures(30.0)
        results.append(robot.run(*motion))
    (fine, a), (coarse, b) = results
    assert np.all((a["friction_torque"] - b["friction_torque"]).std(0) < 0.015 * a["friction_torque"].std(0))
    assert np.all((fine.current - coarse.current).std(0) < 0.01 * fine.current.std(0))
    assert np.abs(a["q"] - b["q"]).max() < 2e-4
    assert a["lubricant_temperature"][-1] == pytest.approx(b["lubricant_temperature"][-1], abs=0.01)


def test_refresh_of_the_rigid_body_terms_is_accurate():
    motion = motions.fourier(Q, duration=4.0, base=0.5 * np.pi, velocity=2.5, seed=4)
    torques = []
    for refresh in (1, 4):
        robot = SimulatedRobot("ur5e", overrides=without("noise") | {"integration.refresh": refresh}, q=motion[0][0])
        torques.append(robot.run(*motion)[1]["joint_torque"])
    assert np.abs(torques[0] - torques[1]).max() < 0.05


def test_core_refuses_bad_parameters_by_name():
    with pytest.raises(Exception, match=r"friction.presliding\[2\]"):
        load_plant("ur5e", {"friction.presliding": [1e-3, 1e-3, 0.0, 1e-3, 1e-3, 1e-3]})
    with pytest.raises(Exception, match="friction.nonsense"):
        load_plant("ur5e", {"friction.nonsense": 1.0})
    with pytest.raises(ValueError, match="q has shape"):
        load_plant("ur5e").core.reset(np.zeros(5))


def test_nan_command_is_dropped_and_changes_nothing():
    robot = SimulatedRobot("ur5e", q=Q)
    before = robot.truth()
    record = robot.step_position(np.where(np.arange(6) == 2, np.nan, Q))
    assert record.status == _core.Status.dropped
    assert all(np.array_equal(before[k], v) for k, v in robot.truth().items())
