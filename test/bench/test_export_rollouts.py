"""Rollouts of exported models: zero error against their own motion, ordered errors against friction they lack."""

import numpy as np
import pytest
from click.testing import CliRunner
from force_bench import UR5E, measured, moving

from bench.__main__ import cli
from bench.evidence.export_rollouts import compare, drive_torque, roll_out, with_coulomb_viscous
from robot_dynamics_ros.estimators.mujoco_friction import MujocoFriction
from robot_dynamics_ros.models.mjcf_writer import mjcf_text
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

mujoco = pytest.importorskip("mujoco")
LAW = {"fv1": 3.0, "fv2": 0.0, "fv3": 0.0, "fc": 4.0, "fb": 0.0, "eps": 1e-3}


@pytest.fixture(scope="module")
def robot():
    block = {"source": "found", "model": "luo", "parameters": LAW}
    return load_robot("ur5e").with_updates({"friction": block, "hysteresis": None}, {"found": "this test"})


def motion_of(text, robot, seconds=4.0):
    """Log of a MuJoCo model under torques that move every joint to and fro about a pose; 500 Hz."""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep = 0.001
    data, n, rows = mujoco.MjData(model), robot.n_joints, []
    pose, gain = np.array([0.0, -1.2, 1.3, -1.5, -1.4, 0.3]), np.array([300.0, 300.0, 300.0, 40.0, 40.0, 40.0])
    data.qpos[:] = pose
    mujoco.mj_forward(model, data)
    for k in range(round(500 * seconds)):
        target = pose + 0.5 * np.sin(np.arange(1.5, 1.5 + n) * 0.004 * k)
        torque = data.qfrc_bias[:n] + gain * (target - data.qpos) - 0.2 * gain * data.qvel
        rows.append((data.qpos.copy(), data.qvel.copy(), torque))
        data.ctrl[:n] = torque
        for _ in range(2):
            mujoco.mj_step(model, data)
    q, qd, effort = map(np.array, zip(*rows, strict=True))
    return Log(robot.joint_names, np.arange(len(q)) * 2_000_000, {"q": q, "qd": qd, "effort": effort})


@pytest.fixture(scope="module")
def log(robot):
    return motion_of(mjcf_text(robot), robot)


def test_a_model_follows_its_own_motion_and_one_without_friction_does_not(robot, log):
    held = np.vstack([log.effort[:-1], log.effort[-1:]])
    own, bare = (roll_out(kind, mjcf_text(robot, kind), held, log) for kind in ("piecewise", "none"))
    assert own.mean < 0.01 * bare.mean and bare.mean > 0.05


def test_the_law_beside_mujoco_replaces_the_friction_in_the_file(robot, log):
    beside = roll_out("beside", mjcf_text(robot, "none"), log.effort, log, MujocoFriction(robot))
    assert beside.mean < 0.05 * roll_out("none", mjcf_text(robot, "none"), log.effort, log).mean


def test_coulomb_and_viscous_friction_is_found_from_a_log(robot):
    log = measured(moving(6.0), noise=0.05)  # of a UR5e with the friction of its robot file
    found = with_coulomb_viscous(robot, log).friction.parameters
    for name in ("fc", "fv"):
        np.testing.assert_allclose(found[name], UR5E.array(f"friction.parameters.{name}"), rtol=0.03, atol=0.05)
    np.testing.assert_array_equal(drive_torque(robot, log), log.effort)


def test_all_models_are_compared(robot, log):
    rows = compare(robot, load_robot("ur5e"), log, log)
    errors = {r.name: r.mean for r in rows}
    assert len(errors) == 6 and errors["exported"] < errors["the same without friction"]
    assert errors["exported"] < errors["robot file it began with, Coulomb and viscous"]


@pytest.mark.parametrize("seed", ["11", "12"])
def test_a_motion_that_the_robot_is_identified_from_is_not_held_out(seed):
    done = CliRunner().invoke(cli, ["export", "--seed", seed])
    assert done.exit_code == 2 and f"--seed {seed}: the robot is identified from this motion" in done.output
