"""Whether reported velocities are those of the rotors: then their integral shows how the gears bend under torque."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import uniform_filter1d

from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.signals.runs import pieces_of

SHORT, LONG = 0.05, 2.0  # s of the means between which changes are compared: biases and white noise add up slowly
# Share of the changes that torque explains, mean of the joints: elastic simulated arms 0.28 to 0.57, rigid ones 0.02.
SHOWN = 0.1


def rotors_shown(motion: Motion) -> bool:
    """Whether rotor - position of a motion contains the deflection of the gears, in the mean of the joints."""
    return motion.rotor is not None and bool(np.mean(shares(motion, motion.rotor)) > SHOWN)


def shares(motion: Motion, rotor: np.ndarray) -> np.ndarray:
    """Share (n,) of the changes of rotor (N, n) [rad] - position that c tau explains with a compliance c > 0, beyond
    delay and gain of the velocity: [qd, q, qdd, tau] by least squares on what lies between SHORT and LONG.
    """
    signals = rotor - motion.position, motion.qd, motion.q, motion.qdd, motion.effort
    D, *X, tau = (_changes(x, motion) for x in signals)
    return np.array([_share(D[:, j], np.stack([x[:, j] for x in X], axis=1), tau[:, j]) for j in range(motion.n)])


def _share(D: np.ndarray, X: np.ndarray, tau: np.ndarray) -> float:
    """Squared partial correlation of D and tau (N,) beside X (N, 3); 0 for a negative one."""
    both = np.column_stack([D, tau])
    d, f = (both - X @ np.linalg.lstsq(X, both, rcond=None)[0]).T
    return float((d @ f) ** 2 / ((d @ d) * (f @ f))) if d @ f > 0 else 0.0


def _changes(x: np.ndarray, motion: Motion) -> np.ndarray:
    """Means over SHORT less those over LONG of every piece (N, n)."""
    short, long = (max(round(s * motion.rate), 1) for s in (SHORT, LONG))
    parts = [x[a:b] for a, b in pieces_of(motion.start)]
    return np.concatenate([uniform_filter1d(p, short, axis=0) - uniform_filter1d(p, long, axis=0) for p in parts])
