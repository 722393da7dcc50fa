"""Synthetic logs: rigid body, rotor inertia, friction and noise on a Fourier excitation; every corruption is
added by name.
"""

from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.robot_file.geometry import inertia_about_origin
from robot_dynamics_ros.signals import Log


def with_signals(log: Log, stamp_ns=None, **signals) -> Log:
    """A copy of a log with other stamps and signals; None leaves one out."""
    kept = {name: values for name, values in (log.signals | signals).items() if values is not None}
    return Log(log.joint_names, log.stamp_ns if stamp_ns is None else stamp_ns, kept, log.receive_ns)


@dataclass(frozen=True)
class Truth:
    """What the log was made from: inertial parameters, rotor inertia, Coulomb and viscous friction, offset per
    joint.
    """

    phi: np.ndarray
    rotor: np.ndarray
    fc: np.ndarray
    fv: np.ndarray
    offset: np.ndarray


def truth_of(robot: RobotFile, seed: int = 0, scale: float = 1.0) -> Truth:
    """Parameters near the robot file's: links uniformly `scale` as heavy, friction in proportion to gravity."""
    rng = np.random.default_rng(seed)
    n = robot.n_joints
    phi = robot.inertial_parameters * scale
    size = np.linspace(1.0, 0.15, n)
    rotor = 0.4 * size * rng.uniform(0.8, 1.2, n)
    return Truth(phi, rotor, 4 * size * rng.uniform(0.8, 1.2, n), 5 * size * rng.uniform(0.8, 1.2, n), 0.2 * size)


UR5E = load_robot("ur5e")
TRUTH, MODEL = truth_of(UR5E), RobotModel(UR5E.chain(), UR5E.joint_names)


def carrying(mass: float, com=(0.02, 0.0, 0.06), truth: Truth = TRUTH) -> Truth:
    """A truth with a point mass [kg] at `com` [m] of the last link."""
    phi = truth.phi.copy()
    phi[-10:] += inertia_about_origin(mass, com, np.zeros(6))
    return replace(truth, phi=phi)


def excitation(n: int, duration: float, rate: float, seed: int, amplitude: float = 1.0, period: float = 10.0):
    """Time and Fourier motion (N, n) of five harmonics that starts and ends at rest."""
    rng = np.random.default_rng(seed)
    t, k = np.arange(0, duration, 1 / rate), np.arange(1, 6)
    w = 2 * np.pi / period * k
    centre = rng.uniform(-1, 1, n)
    a, b = amplitude * 0.45 / k[:, None] * np.moveaxis(rng.normal(size=(n, 5, 2)), 0, 2).swapaxes(0, 1)
    sin, cos = (f(np.outer(t, w)) for f in (np.sin, np.cos))
    q, qd = sin @ a + cos @ b, (w * cos) @ a - (w * sin) @ b
    return t, q + centre, qd, -(w * w * sin) @ a - (w * w * cos) @ b


def sines(t: np.ndarray, joints: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity (N, n) at times t (N,); the third joint stands."""
    w, a = np.array([1.1, 2.3, 1.0])[:joints], np.array([0.8, 0.4, 0.0])[:joints]
    return a * np.sin(np.outer(t, w)), a * w * np.cos(np.outer(t, w))


def torque(robot: RobotFile, truth: Truth, q, qd, qdd, gravity=None, payload=None) -> np.ndarray:
    """Effort (N, n) [Nm] of a motion: rigid body + rotor inertia + friction."""
    chain = robot.kinematic_chain()
    model = RobotModel(chain).with_gravity(robot.gravity if gravity is None else gravity)
    phi = truth.phi.copy()
    if payload is not None:
        phi[-10:] += payload
    W = model.stacked_regressor(*(np.ascontiguousarray(x) for x in (q, qd, qdd)))
    rigid = (W @ phi).reshape(robot.n_joints, len(q)).T
    return rigid + truth.rotor * qdd + truth.fc * np.tanh(qd / 0.02) + truth.fv * qd + truth.offset


def log_at(t: np.ndarray, signals: dict[str, np.ndarray], names) -> Log:
    """A log of samples at the times t (N,) [s]."""
    return Log(names, 10**18 + np.round(1e9 * t).astype(np.int64), signals)


def coupled(log: Log, first: int = 4, share: float = 1.0) -> Log:
    """The log of an arm of which a motor turns with the sum of joint `first` and the next and loads both: a share of
    1.2 Nm of Coulomb and 1 Nm s/rad of viscous friction at the wrist, six times as much before it.
    """
    v = log.qd[:, first] + log.qd[:, first + 1]
    extra = np.zeros_like(log.qd)
    extra[:, first : first + 2] = (share * (1.2 * np.tanh(v / 0.02) + 1.0 * v) * (1.0 if first > 2 else 6.0))[:, None]
    return with_signals(log, effort=log.effort + extra)


def synthetic_log(robot, truth, seed=1, duration=30.0, rate=125.0, noise=0.02, amplitude=1.0, names=None, **load):
    """A log of an excitation run; noise: of each joint's effort range; load: gravity, payload of `torque`."""
    rng = np.random.default_rng(seed + 100)
    t, q, qd, qdd = excitation(robot.n_joints, duration, rate, seed, amplitude)
    tau = torque(robot, truth, q, qd, qdd, **load)
    tau = tau + noise * tau.std(0) * rng.standard_normal(tau.shape)
    q = q + 2e-5 * rng.standard_normal(q.shape)
    qd = qd + 1e-3 * rng.standard_normal(q.shape)
    stamp = 1_700_000_000_000_000_000 + np.round(t * 1e9).astype(np.int64)
    return Log(names or robot.joint_names, stamp, {"q": q, "qd": qd, "effort": tau}, stamp + 50_000)
