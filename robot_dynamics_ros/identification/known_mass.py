"""Gains of currents from one loaded run of a payload whose mass is known.

Both runs at once, every joint j in the unit of its recorded effort (h_j: recorded over true torque):
  unloaded  y_j = h_j W_j beta + F_j phi_j          loaded  y_j = h_j (W_j beta + Y_j pi) + F_j phi'_j
pi = [I, m c, m] with m known, friction of its own in each run (warmer grease, another load), rotor inertia in common.
The mass fixes the scale that base parameters leave open; friction is that under the load of arm and payload, so that
everything is solved twice. Bilinear in h and (beta, pi): Gauss-Newton steps on triangles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.effort.evidence import pooled
from robot_dynamics_ros.effort.meaning import CURRENT
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.cross_validation import state_folds
from robot_dynamics_ros.identification.arm.model import joint_rows, passed
from robot_dynamics_ros.identification.arm.solvers.least_squares import RANK, triangle
from robot_dynamics_ros.identification.arm.solvers.uncertainty import REGIONS, jackknife
from robot_dynamics_ros.identification.arm.state import Identification
from robot_dynamics_ros.identification.blas import one_thread
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.metrics import column_sizes
from robot_dynamics_ros.identification.payload import body_columns, loaded_motion
from robot_dynamics_ros.robot_file import RobotFile

STEPS = 8  # Gauss-Newton, each with new residual deviations of the joints: more change no gain by 1e-6
FREE = 0.5  # deviation of a gain that is assumed before the data: joints that show nothing keep theirs
SCALES = np.array([0.1] * 6 + [1.0] * 3)  # kg m2, kg m: typical inertia and first moment of a payload
MODEL_ERROR = 0.005  # relative deviation of a gain for what the model does not know: springs, lag of the motion


@dataclass(frozen=True)
class KnownMassGains:
    """Torque per recorded unit of effort (n,) with standard deviation; joints whose own data decide (n,)."""

    scale: np.ndarray
    std: np.ndarray
    own: np.ndarray


@one_thread()
def gains_of_known_mass(found: Identification, loaded: Sequence[Recording], mass: float) -> KnownMassGains:
    """Gains from an identified unloaded arm and loaded recordings (effort as recorded) of a payload of `mass` [kg].

    Raises DataError for a mass that is not positive, an effort that is no current, or no joint that shows the mass.
    """
    if not 0.0 < mass < 1e4:
        raise DataError(f"payload mass {mass:g} kg must be above 0 and below 10000 kg")
    if not found.effort.meaning.same_as(CURRENT):
        what = found.effort.meaning.word
        raise DataError(f"a known payload mass finds torque constants; effort is {what}, not a current")
    motion = loaded_motion(found, loaded)
    first = _Problem(found, motion, mass)
    h, std = _Problem(found, motion, mass, first.carried(found, motion)).solve()
    if not (std < 0.1).any():
        raise DataError(f"no joint shows a payload of {mass:g} kg: record it in more poses, or a heavier one")
    robot = found.robot
    limit = robot.array_or("limits.torque", 1.0)
    own = np.abs(found.effort.scale) / h
    gain, deviation = pooled(own, own * np.hypot(std, MODEL_ERROR), limit)
    return KnownMassGains(np.sign(found.effort.scale) * gain, deviation, std < 0.1)


def with_known_mass(
    found: Identification, gains: KnownMassGains, loaded: Sequence[Recording], mass: float
) -> tuple[RobotFile, str]:
    """The given robot with torque constants and deviations from loaded runs of a known mass [kg], and a sentence."""
    K = np.abs(gains.scale)
    names = zip(found.robot.joint_names, K, gains.std, gains.own, strict=True)
    shown = ", ".join(f"{n} {k:.3g} +- {s:.2g}{'' if o else ' (from the others)'}" for n, k, s, o in names)
    key = f"payload_of_{mass:g}_kg"
    found_in_drives = {"torque_constant": K, "torque_constant_std": gains.std}
    updates = {f"drives.{name}": value for name, value in found_in_drives.items()} | {
        "drives.effort.unit": "A",
        "drives.source": found.robot.drives.sources_with(found_in_drives, key),
    }
    text = f"robot-dynamics identify with a known payload of {mass:g} kg on {', '.join(r.name for r in loaded)}"
    return found.given.with_updates(updates, {key: text}), f"K_tau from a payload of {mass:g} kg: {shown} Nm/A"


class _Problem:
    """Triangles of every joint and run, and where parameters lie in x = [h (n), beta (b), pi / SCALES (9), phi]."""

    def __init__(self, found: Identification, loaded: Motion, mass: float, carried: np.ndarray | float = 0.0) -> None:
        self.n, self.b = found.robot.n_joints, found.rigid.base.size
        self.beta0 = found.rigid.base.from_standard(found.fit.phi)
        self.mass, self.parts = mass, list[_Part]()
        self.regions: list[list[_Part]] = [[] for _ in range(REGIONS)]
        places: dict[tuple[int, str, bool], int] = {}  # by joint, term and run, a rotor's inertia in both
        first = self.n + self.b + 9
        for motion, extra, load in ((found.motion, False, 0.0), (loaded, True, carried)):
            for j, (triangles, terms) in enumerate(_triangles(found, motion, extra, load)):
                keys = [(j, term, extra and term != "ia") for term in terms]
                at = np.array([places.setdefault(key, first + len(places)) for key in keys], int)
                self.parts.append(_Part(j, np.asarray(np.linalg.qr(np.vstack(triangles), mode="r")), extra, at))
                for region, R in zip(self.regions, triangles, strict=True):
                    region.append(_Part(j, R, extra, at))
        self.size = first + len(places)
        self.sigma = np.ones(self.n)
        self.samples = len(found.motion) + len(loaded)

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """h (n,) and its relative standard deviation."""
        x = self._settled()
        return x[: self.n], self._deviations(x) / x[: self.n]

    def carried(self, found: Identification, loaded: Motion) -> np.ndarray:
        """Torque (N, n) of the payload as recorded, h_j Y_j pi."""
        x = self._settled()
        pi = np.append(SCALES * x[self.n + self.b : self.n + self.b + 9], self.mass)
        return x[: self.n] * np.einsum("jtk,k->tj", body_columns(found, loaded), pi)

    def _settled(self) -> np.ndarray:
        x = np.zeros(self.size)
        x[: self.n], x[self.n : self.n + self.b] = 1.0, self.beta0
        for _ in range(STEPS):
            J, rest = self._linear(x)
            size = column_sizes(J)
            x = x - np.linalg.lstsq(J / size, rest, rcond=RANK)[0] / size
            self._scale(x)
        return x

    def _deviations(self, x: np.ndarray) -> np.ndarray:
        """Standard deviation of h (n,) by the jackknife over regions of the state."""
        J, _ = self._linear(x)
        norm = column_sizes(J)
        rows = [(own / norm, rest) for own, rest in (self._rows(region, x) for region in self.regions)]
        moved = jackknife(np.asarray(np.linalg.qr(J / norm, mode="r")), [(A.T @ A, A.T @ rest) for A, rest in rows])
        return np.sqrt(np.diag(moved)[: self.n]) / norm[: self.n]

    def _linear(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Jacobian and residuals of all triangles, and of the prior of h."""
        J, rest = self._rows(self.parts, x)
        prior = np.zeros((self.n, self.size))
        prior[:, : self.n] = np.eye(self.n) / FREE
        return np.vstack([J, prior]), np.concatenate([rest, (x[: self.n] - 1.0) / FREE])

    def _rows(self, parts: Sequence[_Part], x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Jacobian and residuals of triangles, each joint over its residual deviation."""
        n, b = self.n, self.b
        beta, pi = x[n : n + b], x[n + b : n + b + 9]
        rows, rest = [], []
        for part in parts:
            j, R, h = part.joint, part.R / self.sigma[part.joint], x[part.joint]
            W, F, y = R[:, :b], R[:, -1 - len(part.places) : -1], R[:, -1]
            torque = W @ beta
            J = np.zeros((len(R), self.size))
            J[:, n : n + b] = h * W
            if part.loaded:
                Y = R[:, b : b + 10]
                torque = torque + Y[:, :9] @ (SCALES * pi) + Y[:, 9] * self.mass
                J[:, n + b : n + b + 9] = h * Y[:, :9] * SCALES
            J[:, j] = torque
            J[:, part.places] += F
            rows.append(J)
            rest.append(h * torque + F @ x[part.places] - y)
        return np.vstack(rows), np.concatenate(rest)

    def _scale(self, x: np.ndarray) -> None:
        """Residual deviation of every joint over both runs."""
        _, r = self._rows(self.parts, x)
        squares = np.add.reduceat(r**2, np.cumsum([0, *(len(part.R) for part in self.parts[:-1])]))
        total = np.bincount([part.joint for part in self.parts], squares) / self.samples
        self.sigma = np.maximum(self.sigma * np.sqrt(total), 1e-6)


@dataclass(frozen=True)
class _Part:
    """Triangle of one joint in one run or a region, columns [W (b), Y (10, loaded only), F, y]; places of F in x."""

    joint: int
    R: np.ndarray
    loaded: bool
    places: np.ndarray


def _triangles(
    found: Identification, motion: Motion, loaded: bool, carried: np.ndarray | float
) -> list[tuple[list[np.ndarray], tuple[str, ...]]]:
    """Triangles of the regions of the state, and friction terms, of every joint; carried (N, n): see `predict`.

    Friction has the elements and loads of all spans: the law that `found` chose was chosen with other gains.
    """
    region = state_folds(motion.q, motion.qd, REGIONS)
    W = found.rigid.base_regressor(motion.q, motion.qd, motion.qdd)
    Y = body_columns(found, motion) if loaded else None
    structure = found.structure.remembering(loaded=True)
    rows = joint_rows(motion, W, found.consistent.load(motion) + carried, structure)
    result = []
    for j, (row, law) in enumerate(zip(rows, structure.laws, strict=True)):
        A, chosen = row.A, found.structure.filters[j]
        if Y is not None:
            A = np.column_stack([A[:, : W.shape[2]], passed(chosen, Y[j], motion), A[:, W.shape[2] :]])
        result.append(([triangle(A[region == b], row.y[region == b]) for b in range(REGIONS)], law.terms))
    return result
