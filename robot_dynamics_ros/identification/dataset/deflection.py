"""Whether reported velocities are those of the rotors: then their integral shows how the gears bend under torque."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import uniform_filter1d
from scipy.optimize import nnls

from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.signals.runs import pieces_of

SHORT, LONG = 0.05, 2.0  # s of the means between which changes are compared: biases and white noise add up slowly
# Share of the changes that torque explains, mean of the joints: elastic simulated arms 0.28 to 0.7, rigid ones 0.02.
SHOWN = 0.1


def rotors_shown(motion: Motion, load: np.ndarray) -> bool:
    """Whether rotor - position of a motion contains the deflection of the gears, in the mean of the joints.

    load (N, n) [Nm]: torque of the links.
    """
    return motion.rotor is not None and bool(np.mean(shares(motion, motion.rotor, load)) > SHOWN)


def shares(motion: Motion, rotor: np.ndarray, load: np.ndarray) -> np.ndarray:
    """Share (n,) of the changes of rotor (N, n) [rad] - position that c tau + d load explain, c, d >= 0, beyond delay
    and gain of the velocity: [qd, q, qdd, tau, load] by least squares on what lies between SHORT and LONG. A gear bends
    under its load and friction of its output; friction on the motor's side of it does not bend it.
    """
    signals = rotor - motion.position, motion.qd, motion.q, motion.qdd, motion.effort, load
    columns = np.stack([_changes(x, motion) for x in signals], axis=2)
    return np.array([_share(*np.split(columns[:, j], [1, 4], axis=1)) for j in range(motion.n)])


def _share(D: np.ndarray, X: np.ndarray, torque: np.ndarray) -> float:
    """Share of D (N, 1) that torque (N, 2) explains with compliances >= 0 beside X (N, 3)."""
    both = np.column_stack([D, torque])
    d, *f = (both - X @ np.linalg.lstsq(X, both, rcond=None)[0]).T
    size = np.fmax(np.linalg.norm(f, axis=1), 1e-12)
    whole = float(d @ d)
    return (whole - nnls(np.stack(f, axis=1) / size, d)[1] ** 2) / max(whole, 1e-300)


def _changes(x: np.ndarray, motion: Motion) -> np.ndarray:
    """Means over SHORT less those over LONG of every piece (N, n)."""
    short, long = (max(round(s * motion.rate), 1) for s in (SHORT, LONG))
    parts = [x[a:b] for a, b in pieces_of(motion.start)]
    return np.concatenate([uniform_filter1d(p, short, axis=0) - uniform_filter1d(p, long, axis=0) for p in parts])
