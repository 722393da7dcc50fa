"""A robot that moves as prescribed and an inverse-dynamics oracle for what its drives would measure."""

import numpy as np

from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

UR5E = load_robot("ur5e")
UNLOADED = RobotModel.load("ur5e")
POSE = np.array([0.0, -1.2, 1.3, -1.5, -1.4, 0.3])
ORIENTATIONS = [POSE, POSE + [0, 0, 0, 0.9, 0, 0], POSE + [0, 0, 0, 0, 0.9, 0], POSE + [0.5, 0.2, -0.3, -0.8, 0, 1.0]]
COM = (0.0, 0.0, 0.05)  # of a payload
RATE = 500


def with_residuals(moving, rest, robot=UR5E, **more):
    """The robot with residuals [Nm] of its torque in free motion and at rest, as identify writes them."""
    block = {"source": "test", "moving": moving, "rest": rest} | more
    return robot.with_updates({"residuals": block}, {"test": "numbers of a test"})


def model(payload=None):
    return UNLOADED.with_payload(*payload) if payload else UNLOADED


def still(pose=POSE, seconds=2.0, rate=RATE):
    q = np.tile(np.asarray(pose, dtype=float), (int(seconds * rate), 1))
    return q, np.zeros_like(q), np.zeros_like(q)


def moving(seconds=4.0, amplitude=0.4, rate=RATE, pose=POSE):
    t = np.arange(int(seconds * rate))[:, None] / rate
    w = np.array([0.9, 1.3, 1.7, 2.1, 2.5, 2.9])
    q = pose + amplitude * (1 - np.cos(w * t)) / 2
    return q, amplitude * w * np.sin(w * t) / 2, amplitude * w**2 * np.cos(w * t) / 2


def through(poses, rest=1.5, travel=1.0, rate=RATE):
    """Rest at each pose, smooth (quintic) travel between them."""
    s = np.linspace(0, 1, int(travel * rate), endpoint=False)[:, None]
    blend = 10 * s**3 - 15 * s**4 + 6 * s**5
    rows = []
    for here, there in zip(poses, [*poses[1:], None], strict=True):
        rows.append(np.tile(here, (int(rest * rate), 1)))
        if there is not None:
            rows.append(here + blend * (np.asarray(there) - here))
    q = np.concatenate(rows)
    qd = np.gradient(q, 1 / rate, axis=0)
    return q, qd, np.gradient(qd, 1 / rate, axis=0)


def measured(motion, wrench=None, payload=None, friction=True, noise=0.0, rate=RATE, seed=0):
    """Log of what a UR5e would report: effort = rnea + B qdd + friction - J'F, F environment on robot (N, 6). Beside a
    noise [Nm] of the effort positions have 0.1 urad per Nm, so that none stays to the last digit.
    """
    q, qd, qdd = motion
    robot = model(payload)
    effort = robot.rnea(q, qd, qdd) + UR5E.array("drives.rotor_inertia") * qdd
    if friction:
        effort = effort + FrictionModel.from_robot(UR5E).torque(qd)
    if wrench is not None:
        effort = effort - np.einsum("kij,ki->kj", robot.jacobian(q), np.broadcast_to(wrench, (len(q), 6)))
    effort_noise, position_noise = np.random.default_rng(seed).normal(size=(2, *q.shape))
    effort, q = effort + noise * effort_noise, q + 1e-7 * noise * position_noise
    stamp = 10**18 + np.arange(len(q)) * (10**9 // rate)
    return Log(UR5E.joint_names, stamp, {"q": q, "qd": qd, "effort": effort})


def during(begin, end, seconds, wrench):
    """The wrench (N, 6) that acts from `begin` to `end` [s] of so many seconds."""
    t = np.arange(int(seconds * RATE)) / RATE
    return np.outer((t >= begin) & (t < end), wrench)


def push(log, wrench):
    """The log of a UR5e as a wrench (N, 6) on the robot would change it."""
    log.effort = log.effort - np.einsum("kij,ki->kj", model().jacobian(log.q), wrench)


def carried(seconds, mass, when):
    """A log of so many seconds of an arm that carries `mass` [kg] at the times t [s] where when(t) holds; its times."""
    log, full = (measured(moving(seconds), payload=(m, COM, (0,) * 6), noise=0.1) for m in (0.0, mass))
    log.effort = np.where(when(log.time)[:, None], full.effort, log.effort)
    return log, log.time


def loaded(seconds, mass, begin=-1.0, end=np.inf):
    """The same from `begin` to `end` [s]."""
    return carried(seconds, mass, lambda t: (t > begin) & (t < end))


def carrying(mass, poses=ORIENTATIONS):
    return measured(through(poses), payload=(mass, COM, (0.0,) * 6))


def named(log, mass, rows=slice(None), com=COM):
    """The log in whose rows a payload of `mass` [kg] is named."""
    log.allocate("payload")[:] = 0.0
    log.payload[rows] = mass, *com
    return log


def estimated(log, robot=UR5E, **force):
    pipeline = Pipeline(robot, {"force": force})
    status = pipeline.run(log)
    return pipeline, status
