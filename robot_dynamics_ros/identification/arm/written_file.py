"""A robot file judged as nodes evaluate it: links, inertia beside them, and the friction stage that runs live."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.estimators.motion import effort_inertia
from robot_dynamics_ros.identification.arm.model import Filters
from robot_dynamics_ros.identification.arm.presliding import clock, driven
from robot_dynamics_ros.identification.arm.residuals import replayed
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log

SETTLING = 0.1  # s at the beginning of a piece, in which the causal filters of the live nodes (150 rad/s) settle


def file_effort(robot: RobotFile, gravity: np.ndarray, filters: Filters) -> Callable[[Motion], np.ndarray]:
    """Prediction motion -> effort (N, n) [Nm] of a robot file, payload included, as the live stages compute it.

    gravity (3,) [m/s2] as the effort contains it; filters: those that the recorded effort has passed. Raises
    CapabilityError where the links are unknown.
    """
    model = RobotModel(robot.chain(), robot.joint_names).with_gravity(gravity)
    inertia = effort_inertia(robot)

    def predict(motion: Motion) -> np.ndarray:
        load = model.rnea(*(np.ascontiguousarray(x) for x in (motion.q, motion.qd, motion.qdd)))
        out = load + inertia * motion.qdd + file_friction(robot, motion, load)
        for j, chosen in enumerate(filters):
            if chosen is not None:
                out[:, j] = chosen.apply(out[:, j], motion.rate, motion.start)
        return out

    return predict


def file_friction(robot: RobotFile, motion: Motion, load: np.ndarray) -> np.ndarray:
    """Friction (N, n) [Nm] that the live nodes take off for torque load (N, n) [Nm]."""
    if robot.friction is None:
        return np.zeros_like(load)
    position = motion.position
    if robot.hysteresis is not None and robot.hysteresis.model == "presliding":
        given = robot.hysteresis.motors
        block, motors, position = driven(robot.hysteresis.parameters, motion, [motor.values for motor in given])
        if block is not None and "rotor_time" in block:
            still = [motor.model_dump() | {"parameters": p} for motor, p in zip(given, motors, strict=True)]
            updates = {"hysteresis.parameters.rotor_time": block["rotor_time"], "hysteresis.motors": still}
            robot = robot.with_updates(updates)
    stage = FrictionStage()
    stage.configure(robot)
    signals = {"q": position, "qd": motion.qd, "model_torque": load}
    log = Log(robot.joint_names, clock(motion.start, motion.rate), signals)
    stage.run(log)
    return np.array(log.friction_torque)


def live_torques(robot: RobotFile, recording: Recording) -> tuple[np.ndarray, np.ndarray]:
    """Drive torque and its prediction (N, n) [Nm] of a recording replayed through the live motion and friction stages.

    The recording's effort is in Nm. Raises CapabilityError where a stage lacks numbers.
    """
    found = [_replayed(robot, piece) for piece in recording.pieces]
    return np.concatenate([y for y, _ in found]), np.concatenate([p for _, p in found])


def _replayed(robot: RobotFile, piece: Piece) -> tuple[np.ndarray, np.ndarray]:
    has_friction = robot.friction is not None
    torques, predictions = [], []
    for log in replayed(robot, piece, ["motion", "friction"] if has_friction else ["motion"]):
        prediction = log.model_torque + log.friction_torque if has_friction else log.model_torque
        good = np.isfinite(log.drive_torque).all(1) & np.isfinite(prediction).all(1)
        rows = good & (log.stamp_ns > 1e9 * SETTLING)
        torques.append(log.drive_torque[rows])
        predictions.append(prediction[rows])
    return np.concatenate(torques), np.concatenate(predictions)
