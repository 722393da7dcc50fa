"""Exported MuJoCo models against a simulated robot: recorded torque in, motion compared."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.mujoco_model import mujoco
from robot_dynamics_ros.estimators.motion import effort_gain
from robot_dynamics_ros.estimators.mujoco_friction import MujocoFriction
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.mjcf_writer import mjcf_text
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log

WINDOW, PAUSE = 0.5, 0.1  # s, length of a rollout and time between the starts of two
SIMPLE = "the same with Coulomb and viscous friction"
STEP = 0.001  # s, longest step of MuJoCo
MEMORY = 1.0  # s of recorded motion before a window, from which friction with memory starts


@dataclass(frozen=True)
class Rollouts:
    """RMS error of position (n,) [rad] and velocity (n,) [rad/s] over all windows of a model."""

    name: str
    position: np.ndarray
    velocity: np.ndarray

    @property
    def mean(self) -> float:
        """RMS position error over all joints [rad]."""
        return float(np.sqrt((self.position**2).mean()))


def models(identified: RobotFile, given: RobotFile, training: Log) -> dict[str, str]:
    """MJCF of the models that are compared, by name; `given` is the robot file before identification."""
    simple = with_coulomb_viscous(identified, training)
    bare = given.with_updates({"drives.rotor_inertia": None, "friction": None, "hysteresis": None})
    return {
        "exported": mjcf_text(identified),
        SIMPLE: mjcf_text(simple, "coulomb-viscous"),
        "the same without friction": mjcf_text(identified, "none"),
        "robot file it began with, Coulomb and viscous": mjcf_text(given, "coulomb-viscous"),
        "its URDF (no friction, no rotors)": mjcf_text(bare, "none"),
    }


def compare(
    identified: RobotFile, given: RobotFile, training: Log, held_out: Log, true_friction: np.ndarray | None = None
) -> list[Rollouts]:
    """Rollouts of models() over a held-out recording; true_friction (N, n) [Nm]: what the simulated plant had.

    Raises CapabilityError without MuJoCo.
    """
    torque = motor_torque(identified, held_out)
    found = [roll_out(name, text, torque, held_out) for name, text in models(identified, given, training).items()]
    bare = mjcf_text(identified, "none")
    if identified.friction is not None:
        found.append(
            roll_out("our law by callback (not in the file)", bare, torque, held_out, MujocoFriction(identified))
        )
    if true_friction is not None:
        name = "true friction as recorded (no error of friction)"
        found.append(roll_out(name, bare, torque - true_friction, held_out))
    return found


def table(found: Sequence[Rollouts]) -> list[list[str]]:
    """Head and rows of text: RMS errors in mrad and mrad/s, and the error relative to that of SIMPLE."""
    head = ["model", f"position after up to {WINDOW:g} s [mrad]", "velocity [mrad/s]", "of Coulomb and viscous"]
    simple = next(r for r in found if r.name == SIMPLE).mean
    rows = [
        [r.name, f"{1e3 * r.mean:.2f}", f"{1e3 * np.sqrt((r.velocity**2).mean()):.1f}", f"{r.mean / simple:.2f}"]
        for r in found
    ]
    return [head, *rows]


def with_coulomb_viscous(robot: RobotFile, log: Log) -> RobotFile:
    """The robot with constant Coulomb and viscous friction, by least squares of drive torque minus model over a log."""
    model, qdd = RobotModel(robot.chain(), robot.joint_names), _acceleration(log)
    rest = drive_torque(robot, log) - model.rnea(log.q, log.qd, qdd) - robot.effort_inertia * qdd
    fc, fv = np.zeros(robot.n_joints), np.zeros(robot.n_joints)
    for i in range(robot.n_joints):
        moving = np.abs(log.qd[:, i]) > 0.02
        v = log.qd[moving, i]
        columns = np.column_stack([np.sign(v), v, np.ones_like(v)])
        (c, d, _), *_ = np.linalg.lstsq(columns, rest[moving, i], rcond=None)
        fc[i], fv[i] = max(c, 0.0), max(d, 0.0)
    law = {"source": "fit", "model": "viscous_coulomb", "parameters": {"fc": fc, "fv": fv, "eps": 1e-3}}
    updates = {"friction": law, "hysteresis": None, "thermal": None, "residuals": None}
    return robot.with_updates(updates, {"fit": "least squares of this validation"})


def drive_torque(robot: RobotFile, log: Log) -> np.ndarray:
    """Torque of the drives (N, n) [Nm] as MuJoCo's motors take it."""
    effort = log.effort * effort_gain(robot, "effort", "robot_file")
    if robot.drives.effort.includes_gravity:
        return effort
    return effort + RobotModel(robot.chain(), robot.joint_names).gravity(log.q)


def motor_torque(robot: RobotFile, log: Log) -> np.ndarray:
    """Torque of the motors (N, n) [Nm]: with a sensor behind the gears, what it senses and B qdd of the rotors."""
    sensed = drive_torque(robot, log)
    if robot.drives.torque_side == "motor":
        return sensed
    return sensed + robot.array("drives.rotor_inertia") * _acceleration(log)


def roll_out(name: str, text: str, torque: np.ndarray, log: Log, friction: MujocoFriction | None = None) -> Rollouts:
    """Windows of a log from their measured states on, under the recorded torque (N, n) [Nm].

    friction: the callback. Raises CapabilityError without MuJoCo.
    """
    mj = mujoco()
    model = mj.MjModel.from_xml_string(text)
    data, n = mj.MjData(model), len(log.joint_names)
    period = float(np.median(np.diff(log.time)))
    substeps = int(np.ceil(period / STEP))
    model.opt.timestep = period / substeps
    length, before, errors = round(WINDOW / period), round(MEMORY / period), []
    for start in range(before, len(log) - length, round((WINDOW + PAUSE) / period)):
        mj.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = log.q[start], log.qd[start]
        if friction is not None:
            warm_up(friction, log, slice(start - before, start + 1))
        mj.set_mjcb_passive(friction)
        for k in range(start, start + length):
            data.ctrl[:n] = 0.5 * (torque[k] + torque[k + 1])
            mj.mj_step(model, data, substeps)
            errors.append(np.concatenate([data.qpos - log.q[k + 1], data.qvel - log.qd[k + 1]]))
    mj.set_mjcb_passive(None)
    rms = np.sqrt((np.array(errors) ** 2).mean(axis=0))
    return Rollouts(name, rms[:n], rms[n:])


def warm_up(friction: MujocoFriction, log: Log, rows: slice) -> None:
    """Start with the memory that the recorded motion before a window leaves."""
    friction.reset()
    period = float(np.median(np.diff(log.time)))
    for q, qd in zip(log.q[rows], log.qd[rows], strict=True):
        friction.step(q, qd, period)


def _acceleration(log: Log) -> np.ndarray:
    """Central differences of the velocity over 20 ms (N, n) [rad/s2]."""
    width = max(1, round(0.01 / float(np.median(np.diff(log.time)))))
    kernel = np.ones(2 * width + 1) / (2 * width + 1)
    smooth = np.apply_along_axis(lambda v: np.convolve(np.pad(v, width, mode="edge"), kernel, "valid"), 0, log.qd)
    return np.gradient(smooth, log.time, axis=0)
