"""MuJoCo as the plant: statics, friction and contact against closed forms and the core's rigid body."""

import numpy as np
import pytest
from ur_rig import Rig

from bench import mujoco_model
from bench.polishing import polishing
from robot_dynamics_ros import _core
from robot_dynamics_ros.cli.demo_robots import demo_robot
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.models.mjcf_writer import mjcf_text
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.robot import SimulatedRobot

mujoco = pytest.importorskip("mujoco", minversion="3.7")
PLANT = "bench.mujoco_plant:MujocoPlant"
Q = np.array(demo_robot("ur5e").pose)
WRENCH = np.array([10.0, -5.0, 20.0, 1.0, -2.0, 0.5])


def machine(robot="ur5e", **options):
    return SimulatedRobot(robot, q=np.array(demo_robot(robot).pose), plant=PLANT, rate=500.0, **options)


def held(robot, seconds=0.6):
    q = robot.truth()["q"]
    for _ in range(round(seconds * robot.rate)):
        robot.step_position(q)
    return robot.truth()


def turned(robot, speed, cycles):
    """Truth while joint 0 turns."""
    q, qd = np.tile(Q, (cycles, 1)), np.zeros((cycles, 6))
    q[:, 0], qd[:, 0] = Q[0] + speed * np.arange(1, cycles + 1) / robot.rate, speed
    return robot.run(q, qd, np.zeros_like(q))[1]


@pytest.mark.parametrize("name", ["ur5e", "fr3", "comau_ns16"])
def test_at_rest_the_joints_carry_gravity_and_the_wrench(name):
    robot = machine(name)
    robot.set_wrench(WRENCH)
    robot.set_payload(2.0)
    truth = held(robot)
    chain = robot.robot.chain_with_links(robot.machine.link_parameters).with_payload(2.0, [0.0] * 3, [0.0] * 6)
    body, q = _core.RigidBody(chain), truth["q"]
    expected = body.gravity(q) - body.jacobian(q).T @ WRENCH
    np.testing.assert_allclose(truth["joint_torque"], expected, atol=0.02 * np.abs(expected).max())
    np.testing.assert_allclose(truth["external_joint_torque"], body.jacobian(q).T @ WRENCH, atol=0.01)
    np.testing.assert_allclose(truth["tcp_position"], body.fk(q)[-1][:3, 3], atol=1e-6)
    np.testing.assert_allclose(truth["motor_torque"] - truth["friction_torque"], truth["joint_torque"], atol=0.02)


@pytest.mark.parametrize(("speed", "warmer"), [(0.05, 0.0), (0.5, 0.0), (0.5, 30.0)])
def test_friction_of_a_turning_joint_is_that_of_the_individual_at_its_temperature(speed, warmer):
    robot, true = machine(), machine().machine.true
    robot.set_temperatures(true["friction.reference_temperature"] + warmer)
    robot.set_payload(0.5)  # compiles the model again
    truth = turned(robot, speed, 400)
    names = ("coulomb", "stribeck", "stribeck_velocity", "viscous")
    coulomb, static, stribeck, viscous = (true[f"friction.{name}"][0] for name in names)
    viscous *= np.exp(-true["friction.viscosity_rate"][0] * warmer)
    expected = coulomb + (static - coulomb) * np.exp(-((speed / stribeck) ** 2)) + viscous * speed
    assert truth["friction_torque"][-100:, 0].mean() == pytest.approx(expected, rel=0.02)


def test_a_dry_joint_holds_any_torque_up_to_its_level_without_turning():
    level, speed = 8.0, 0.5
    dry = {"friction.coulomb": level, "friction.presliding": 1e-6, "friction.viscous": 2.0}
    robot = machine(overrides=dry)
    for share, turns in ((0.9, False), (1.5, True)):
        for _ in range(100):
            robot.step_torque(np.array([share * level, 0, 0, 0, 0, 0]))
        assert (np.abs(robot.truth()["q"][0] - Q[0]) > 1e-3) == turns
    friction = turned(machine(overrides=dry), speed, 200)["friction_torque"][-50:, 0].mean()
    assert friction == pytest.approx(level + 2.0 * speed, rel=0.03)


def test_the_box_pushes_with_stiffness_times_depth_and_drags():
    motion = polishing(load_robot("ur5e"), Q, ((0.1, 2.3),), 2.4, force=30.0)
    motion.wall["friction"] = 0.2
    robot = machine()
    motion.start(robot)
    _, truth = robot.run(*motion.motion)
    force, depth = truth["external_wrench"][:, :3], truth["penetration"][:, 0]
    on = depth > 0
    assert not force[~on].any() and on.sum() > 100 and not on[:50].any() and force[on, 2].max() > 10.0
    # damping is 0 in the mean but for bounces
    assert force[on, 2].mean() == pytest.approx(2e4 * depth[on].mean(), rel=0.1)
    drag = np.linalg.norm(force[on, :2], axis=1)
    assert np.all(drag <= 0.2001 * force[on, 2]) and drag.mean() > 0.15 * force[on, 2].mean()
    robot.clear_wall()
    assert not held(robot, 0.1)["external_wrench"].any()


@pytest.mark.parametrize(("tool", "lever"), [("ball", 0.0), ("plate", 0.039), ("peg", 0.010)])
def test_each_tool_feels_the_same_stiffness_and_its_edge_brings_a_moment(tool, lever):
    robot = machine()
    robot.core.set_tool(tool)
    motion, normal = polishing(load_robot("ur5e"), Q, ((0.1, 5.0),), 1.2, radius=0.0), np.array([0.12, 0.16, 0.98])
    motion.wall.update(normal=normal, friction=0.0)
    motion.start(robot)
    _, truth = robot.run(*motion.motion)
    force, moment = np.split(truth["external_wrench"][-50:].mean(axis=0), 2)
    assert force @ normal == pytest.approx(2e4 * truth["penetration"][-50:].mean(), rel=0.05) and force[2] > 10.0
    assert np.linalg.norm(moment) / np.linalg.norm(force) == pytest.approx(lever, abs=1e-3)


@pytest.mark.parametrize("name", ["ur5e", "fr3"])
def test_an_exported_mjcf_is_read_again_as_the_same_arm(name, tmp_path):
    robot, path = load_robot(name), tmp_path / "arm.xml"
    servo = f'<position joint="{robot.joint_names[0]}" kp="9"/></actuator><keyframe><key ctrl="9"/></keyframe>'
    path.write_text(mjcf_text(robot, "none").replace("</actuator>", servo).replace(' ctrl="9"', ""))
    core = SimulatedRobot(name, plant=f"{PLANT}:{path}").core
    q, (qd, qdd) = np.array(demo_robot(name).pose), np.random.default_rng(0).normal(size=(2, robot.n_joints))
    core._data.qpos[:], core._data.qvel[:], core._data.qacc[:] = q, qd, qdd
    mujoco.mj_inverse(core._model, core._data)
    expected = _core.RigidBody(robot.chain()).rnea(q, qd, qdd) + robot.array_or("drives.rotor_inertia", 0.0) * qdd
    np.testing.assert_allclose(core._data.qfrc_inverse, expected, atol=1e-6 * np.abs(expected).max())
    assert core._model.nu == robot.n_joints
    path.write_text(mjcf_text(robot).replace(f'"{robot.joint_names[0]}"', '"hinge"'))
    with pytest.raises(ConfigError, match=rf"arm.xml: joints hinge, .* must be {robot.joint_names[0]}, "):
        SimulatedRobot(name, plant=f"{PLANT}:{path}")


def test_friction_of_an_mjcf_is_its_own_and_another_arm_is_refused(tmp_path):
    path, speed = tmp_path / "arm.xml", 0.5
    path.write_text(mjcf_text(load_robot("ur5e"), "coulomb-viscous"))
    robot = SimulatedRobot("ur5e", q=Q, plant=f"{PLANT}:{path}", rate=500.0)
    friction, model = turned(robot, speed, 200)["friction_torque"][-100:, 0].mean(), robot.core._model
    assert 1.0 < friction == pytest.approx(model.dof_frictionloss[0] + speed * model.dof_damping[0], rel=0.02)
    with pytest.raises(ValueError, match=r"mass = 1.0 kg must be 0: .*arm.xml"):
        robot.set_payload(1.0)
    with pytest.raises(ConfigError, match=r"last site is \d\.\d+ m from the TCP of ur10e"):
        SimulatedRobot("ur10e", plant=f"{PLANT}:{path}")


def test_same_seed_same_bits_and_cycles_equal_the_batch():
    motion = [x[:200] for x in polishing(load_robot("ur5e"), Q, (), 1.0).motion]
    robots = [machine(seed=seed) for seed in (1, 1, 2)]
    logs = [robot.run(*motion)[0] for robot in robots[:1] + robots[2:]]
    records = [robots[1].step_position(*(x[k] for x in motion)) for k in range(200)]
    assert np.array_equal([r.current for r in records], logs[0].current)
    assert np.array_equal([r.q for r in records], logs[0].q)
    assert np.array_equal(logs[0].q, logs[1].q) and not np.array_equal(logs[0].current, logs[1].current)


def test_torque_moves_it_and_a_command_that_is_no_number_does_not():
    robot = machine()
    assert robot.step_torque(np.full(6, np.nan)).status == _core.Status.dropped
    assert np.array_equal(robot.truth()["q"], Q)
    for _ in range(100):
        robot.step_torque(np.array([5.0, 0, 0, 0, 0, 0]))
    stuck = robot.truth()["q"][0] - Q[0]
    for _ in range(100):
        robot.step_torque(np.array([25.0, 0, 0, 0, 0, 0]))
    assert 0 < stuck < 5e-3 < 0.02 < robot.truth()["q"][0] - Q[0]  # breakaway: 8 Nm


def test_the_simulated_ur_controller_reports_what_pushes_it():
    rig = Rig(plant=PLANT)
    rig.cycles(50)
    rig.process.scenario.commanded[2] = 25.0
    rig.controller.arm.zero_force_sensor()
    rig.cycles(100)
    assert type(rig.controller.arm.simulated.core).__name__ == "MujocoPlant"
    assert rig.process.signals.values["actual_TCP_force"][2] == pytest.approx(25.0, abs=2.0)
    assert rig.process.arm.simulated.truth()["external_wrench"][2] == 25.0


def test_an_unknown_plant_and_a_missing_mujoco_are_named(monkeypatch):
    for plant in ("bullet", "bench.mujoco_plant:Bullet", ":"):
        with pytest.raises(ConfigError, match=f"plant: '{plant}' is neither 'elastic' nor module:class"):
            SimulatedRobot("ur5e", plant=plant)
    for plant in ("os:path", "json:JSONDecoder"):  # neither is the class of a plant
        with pytest.raises(ConfigError, match=f"plant: {plant}: "):
            SimulatedRobot("ur5e", plant=plant)
    monkeypatch.setattr("mujoco.mjtBias", object())
    with pytest.raises(CapabilityError, match="has no dcmotor: pip install 'mujoco>=3.7'"):
        mujoco_model.mujoco()
