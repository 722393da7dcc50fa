"""What is entered in the benchmark beside ours: each takes what a bag holds and gives wrenches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

import numpy as np

from bench.force import baseline
from bench.force.recordings import replayed
from robot_dynamics_ros.estimators.collision import CollisionDetector
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log

Estimate = dict[str, np.ndarray]  # wrench (N, 6), perhaps std (N, 6), flagged (N,) and significance (N,)
Entry = Callable[[Log, Log], Estimate]  # of a log as it was reported, and after the live pipeline
MOVING = 0.02  # rad/s beyond which Coulomb friction is fitted
STEP = 1e-3  # rad/s over which its sign changes


def entries(
    robot: RobotFile, training: Sequence[Log], ordinary: Iterable[Log], rate: float, names: Sequence[str]
) -> dict[str, Entry]:
    """Entries by name; robot: as identified from the training recordings, without contact like
    the ordinary ones.

    rate: false alarms per hour for which the collision detector is fitted to both.
    """
    tanh, coulomb = baseline.fit(robot, training), _coulomb(robot, training)
    detector = CollisionDetector.fitted((replayed(robot, log) for log in chain(training, ordinary)), rate)
    found: dict[str, Entry] = {
        "ours": lambda _, done: ours(done),
        "ours_collision": lambda _, done: ours(done) | collision(detector, done),
        "tanh_least_squares": lambda log, _: _named(baseline.estimate(robot, log, tanh)),
        "momentum_observer_coulomb": lambda log, _: momentum(robot, log, coulomb),
        "joint_torque_formula": lambda log, _: joint_torque(robot, log),
        "zero": lambda log, _: {"wrench": np.zeros((len(log), 6))},
    }
    return {name: found[name] for name in names}


def ours(done: Log) -> Estimate:
    """The live pipeline."""
    return _named((done.external_wrench, done.external_wrench_std, done.contact[:, -1] > 0.5))


def collision(detector: CollisionDetector, done: Log) -> Estimate:
    """Claims of the collision detector."""
    distance = detector.distance(done)
    return {"flagged": detector.collided(done, distance), "significance": distance}


def momentum(robot: RobotFile, log: Log, law: baseline.Baseline) -> Estimate:
    """Momentum observer less Coulomb and viscous friction, damped inverse; no deviation."""
    done = replayed(robot, log, baseline.MOTION)
    friction = law.friction(done.qd, done.model_torque)
    torque = baseline.observed(robot, log, friction, np.ones_like(friction)).external_joint_torque
    return {"wrench": np.einsum("nij,nj->ni", baseline.damped_inverse(robot, done.q), torque)}


def joint_torque(robot: RobotFile, log: Log) -> Estimate:
    """J^-T (gravity - motor torque): what broadcasters of joint torque do. Neither motion nor friction is known."""
    done = replayed(robot, log, baseline.MOTION)
    torque = RobotModel(robot.chain()).gravity(done.q) - done.drive_torque
    return {"wrench": np.einsum("nij,nj->ni", baseline.damped_inverse(robot, done.q), torque)}


def _named(columns: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Estimate:
    return dict(zip(("wrench", "std", "flagged"), columns, strict=True))


def _coulomb(robot: RobotFile, training: Sequence[Log]) -> baseline.Baseline:
    """fo + fv qd + fc sign(qd) of every joint by least squares on moving rows."""
    done = [replayed(robot, log, baseline.MOTION) for log in training]
    qd, rest = (np.concatenate(x) for x in zip(*((d.qd, d.drive_torque - d.model_torque) for d in done), strict=True))
    law = np.zeros((qd.shape[1], 4))
    for j, (v, target) in enumerate(zip(qd.T, rest.T, strict=True)):
        rows = np.abs(v) > MOVING
        columns = np.column_stack([np.ones(rows.sum()), v[rows], np.sign(v[rows])])
        law[j, :3] = np.linalg.lstsq(columns, target[rows], rcond=None)[0]
    return baseline.Baseline(law, np.full(len(law), STEP), np.zeros(0), np.zeros(0))
