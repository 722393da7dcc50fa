"""A synthetic recording of a UR5e whose effort a test changes, and what identification takes that for."""

import numpy as np
from synthetic import MODEL, TRUTH, UR5E, synthetic_log, with_signals

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
