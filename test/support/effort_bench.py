"""A synthetic recording of a UR5e whose effort a test changes, and what identification takes that for."""

import numpy as np
from synthetic import MODEL, TRUTH, UR5E, synthetic_log, with_signals

from robot_dynamics_ros.effort.evidence import Evidence, Slopes
from robot_dynamics_ros.identification.arm.effort_meaning import recognise
from robot_dynamics_ros.identification.dataset.motion import slow_motion
from robot_dynamics_ros.identification.dataset.recording import recording

LOG = synthetic_log(UR5E, TRUTH, 1, duration=20.0)
GRAVITY = MODEL.gravity(LOG.q)
WRIST = 4


def with_effort(effort):
    return with_signals(LOG, effort=effort)


def semantics(effort, robot=UR5E, given="auto"):
    return recognise(robot, slow_motion(recording(with_effort(effort), "log")), given)


def column(values, j):
    return np.eye(values.shape[1])[j] * values


def evidence_of(gravity, gravity_std, inertial, inertial_std, *others):
    """What a test says of each joint (n,), as in Evidence: slopes on the rigid body alone, which are independent."""
    n, stuck = len(gravity), others[4]
    values, information = np.zeros((n, 6)), np.zeros((n, 6, 6))
    for i, (slope, std, moves) in enumerate(((gravity, gravity_std, stuck == 0), (inertial, inertial_std, True))):
        shown = np.isfinite(slope) & (std > 0) & moves
        values[:, i] = np.where(shown, slope, 0.0)
        information[:, i, i] = np.where(shown, 1 / np.where(shown, std, 1.0) ** 2, 0.0)
    return Evidence(gravity, gravity_std, inertial, inertial_std, *others, Slopes(values, information, np.ones(n)))
