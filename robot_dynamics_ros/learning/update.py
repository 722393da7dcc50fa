"""Prior, posterior and wear in square-root information form: |R x - z|^2 with x ~ N(R^-1 z, (R'R)^-1).

Posterior of recordings i:  |R0 x - z0|^2 + sum_ij |R_ij x - z_ij|^2 / (INFLATION sigma_ij^2 kappa_ij)
prior R0, z0; triangles R_ij, z_ij of joint j; sigma_ij deviation of its rows; kappa_ij rows per independent row.
Between recordings friction walks, f' = f + w, cov(w) = 2 S0 dt / tau with S0 its prior covariance: what is old counts
less and less, without ever returning to the prior; masses and rotor inertia do not walk, so they never forget.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from robot_dynamics_ros.identification.arm.parameters import OFF_CENTRE
from robot_dynamics_ros.learning.columns import GROUPS, VISCOUS, WARM, Columns
from robot_dynamics_ros.learning.triangles import Triangle
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import viscosity
from robot_dynamics_ros.models.inertia import LinkBody, about_com, body_slopes
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.gaps import identified

DAY = 86400.0  # s
INFLATION = 4.0  # of variances: what a model leaves of one task comes back in it and not in another; of the zoo's tasks
TAU = 365 * DAY  # s: friction walks by sqrt(2) of its prior deviation within it
MASS, CENTRE, INERTIA = 0.1, OFF_CENTRE, 0.2  # prior deviations of a data sheet: share, m, share
ROTOR = 0.2  # share
KNOWN = 0.3  # of these deviations, where the numbers were identified on the robot itself
FRICTION = {"h": 0.6, "hg": 0.5, "hl": 0.1, "hgl": 0.05, "fv1": 0.6, "fv2": 0.3, "fv0": 0.6, "fo": 0.2}
FRICTION |= {"tc": 0.015, "tv": 0.015}
# of the Coulomb level (h, hg, fo), of the viscous friction at 1 rad/s (fv..), per Nm of load (hl, hgl), per K of both
THINNER = -0.01  # 1/K, viscous friction of a robot file without a temperature law: grease
TYPICAL = 0.5  # rad/s at which a temperature slope of all friction and those of its parts agree


@dataclass(frozen=True)
class Information:
    """R (p, p), z (p,) of a normal distribution of p parameters."""

    R: np.ndarray
    z: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """x (p,)."""
        return np.linalg.solve(self.R, self.z)

    @property
    def root(self) -> np.ndarray:
        """C (p, p) with covariance C C'."""
        return np.linalg.inv(self.R)

    @property
    def std(self) -> np.ndarray:
        """Standard deviations (p,)."""
        return np.linalg.norm(self.root, axis=1)

    @property
    def usable(self) -> bool:
        """Whether it is one: finite, every parameter known."""
        return bool(np.isfinite(self.R).all() and np.isfinite(self.z).all() and (np.diag(self.R) != 0).all())

    def with_rows(self, rows: np.ndarray) -> Information:
        """With further rows [A, y] (m, p + 1) of unit variance."""
        T: Any = np.linalg.qr(np.vstack([np.column_stack([self.R, self.z]), rows]), mode="r")
        p = len(self.z)
        return Information(T[:p, :p], T[:p, p])

    @classmethod
    def of(cls, mean: np.ndarray, covariance: np.ndarray) -> Information:
        """From mean (p,) and covariance (p, p)."""
        d = np.sqrt(np.diag(covariance))
        L = np.linalg.cholesky(covariance / d / d[:, None] + 1e-10 * np.eye(len(d)))
        R = linalg.solve_triangular(L, np.diag(1 / d), lower=True)
        return cls(R, R @ mean)


@dataclass(frozen=True)
class Prior:
    """What is known before any recording: mean (p,), covariance (p, p) of the parameters of some columns."""

    columns: Columns
    mean: np.ndarray
    covariance: np.ndarray

    @property
    def information(self) -> Information:
        """The same in information form."""
        return Information.of(self.mean, self.covariance)

    @property
    def wears(self) -> np.ndarray:
        """Places of the parameters that walk: friction, not inertia."""
        c = self.columns
        return np.array([c.own(j).start + k for j in range(c.n) for k, t in enumerate(c.terms[j]) if t != "ia"])


def file_prior(columns: Columns) -> Prior:
    """The robot file with its deviations. Raises CapabilityError where it has no links or rotor inertias."""
    mean, covariance = np.zeros(columns.size), np.zeros((columns.size, columns.size))
    b, robot, P = columns.base, columns.robot, columns.rigid.base.matrix()
    mean[:b] = P @ robot.inertial_parameters
    links = _link_covariance(columns)
    covariance[:b, :b] = P @ links @ P.T
    for j in range(columns.n):
        own = columns.own(j)
        mean[own], covariance[own, own] = _joint_prior(columns, j)
    return Prior(columns, mean, covariance)


def rows_of(recording: Triangle, columns: Columns, inflation: float = INFLATION) -> np.ndarray:
    """Rows (m, p + 1) of unit variance of a recording's triangles, variances times `inflation`."""
    weights = 1 / np.maximum(recording.sigma * np.sqrt(inflation * recording.correlation), 1e-6)
    joints = zip(recording.joints, weights, strict=True)
    return np.vstack([columns.wide(j, T[:-1] * weight) for j, (T, weight) in enumerate(joints)])


def walked(state: Information, prior: Prior, seconds: float) -> Information:
    """After `seconds` in which friction walked: f' = f + w is appended and f eliminated by a QR."""
    if seconds <= 0:
        return state
    f: np.ndarray = prior.wears
    rest = np.setdiff1d(np.arange(len(state.z)), f)
    spread: np.ndarray = prior.covariance[np.ix_(f, f)]
    step = Information.of(np.zeros(len(f)), 2 * seconds / TAU * spread).R
    p, m = len(state.z), len(f)
    stack = np.zeros((p + m, p + m + 1))
    stack[:p, :m], stack[:p, m:p], stack[:p, -1] = state.R[:, f], state.R[:, rest], state.z
    stack[p:, :m], stack[p:, p : p + m] = -step, step
    whole: Any = np.linalg.qr(stack, mode="r")
    T = whole[m:, m:]
    R = np.zeros((p, p))
    R[:, rest], R[:, f] = T[:, : len(rest)], T[:, len(rest) : -1]
    return Information(R, T[:, -1])


def _link_covariance(columns: Columns) -> np.ndarray:
    """Covariance (10 n, 10 n) of standard parameters whose mass, centre and inertia about it are off."""
    robot = columns.robot
    share = KNOWN if identified(robot.links) else 1.0
    out = np.zeros((10 * columns.n, 10 * columns.n))
    for i, row in enumerate(robot.link_parameters):
        m, size = max(row[9], 0.1), max(float(row[0] + row[3] + row[5]) / 2, 1e-3)
        body = about_com(row) if row[9] > 0 else LinkBody(0.0, np.zeros(3), np.zeros(6))
        J = body_slopes(body) * share * np.array([MASS * m, *[CENTRE] * 3, *[INERTIA * size] * 6])
        out[10 * i : 10 * i + 10, 10 * i : 10 * i + 10] = J @ J.T
    return out


def _joint_prior(columns: Columns, j: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean (k,), covariance (k, k) of one joint's own terms."""
    terms, robot = columns.terms[j], columns.robot
    known = file_terms(columns, j)
    limit = float(robot.array_or("limits.torque", 100.0)[j])
    kinds = [t.partition("@")[0] for t in terms]
    level = max(sum(known[t] for t, kind in zip(terms, kinds, strict=True) if kind in ("h", "hg")), 5e-3 * limit)
    viscous = max(sum(known[t] for t in VISCOUS), 0.3 * level)
    share = KNOWN if identified(robot.friction) and robot.hysteresis is not None else 1.0
    size = {"h": level, "hg": level, "hl": 1.0, "hgl": 1.0, "fo": level, "tc": level, "tv": viscous}
    size |= dict.fromkeys(VISCOUS, viscous)
    if "tv" in known and warm_slopes(robot, j)[1] == 0.0:
        known["tv"] = THINNER * known["fv1"]
    std = np.zeros(len(terms))
    for k, (t, kind) in enumerate(zip(terms, kinds, strict=True)):
        std[k] = ROTOR * max(known[t], 0.01) if t == "ia" else share * FRICTION[kind] * size[kind]
        std[k] /= np.sqrt(len(columns.shapes[j].spans)) if kind in GROUPS else 1.0  # of their sum
    return np.array([known[t] for t in terms]), np.diag(std**2)


def file_terms(columns: Columns, j: int, robot: RobotFile | None = None) -> dict[str, float]:
    """Friction law and rotor inertia of a robot file (None: the columns' own) in the terms of joint j.

    Exact for a presliding law of the columns' shape; a static law gives level and slope.
    """
    robot = columns.robot if robot is None else robot
    terms, shape = columns.terms[j], columns.shapes[j]
    out = dict.fromkeys(terms, 0.0)
    if "ia" in out:
        out["ia"] = float(robot.effort_inertia[j])
    if robot.friction is None or "h@0" not in out:
        return out
    block, m = robot.hysteresis, len(shape.spans)
    value = {} if block is None else {k: robot.array(f"hysteresis.parameters.{k}")[j] for k in block.parameters}
    if block is not None and block.model == "presliding" and np.any(value["level"]):
        r = float(value["sliding_ratio"])
        for k in range(m):
            c, load = float(value["level"][k]), float(value["load"][k])
            out |= {f"h@{k}": r * c, f"hg@{k}": (1 - r) * c, f"hl@{k}": r * load, f"hgl@{k}": (1 - r) * load}
        out["hg@0"] += float(value.get("fs", 0.0))  # Stribeck friction of speed alone: all but the same while sliding
        out |= {t: float(value.get(t, 0.0)) for t in (*VISCOUS, "fo")}
        softer, thinner = warm_slopes(robot, j)
        level = r * loaded_level(columns, j, value["level"], value["load"])
        return out | {"tc": softer * level, "tv": thinner * viscosity(out, shape.thinning, TYPICAL)}
    law, v = FrictionModel.from_robot(robot), np.linspace(0.2, 1.0, 9)
    both = [law.torque(np.outer(s * v, np.ones(columns.n)))[:, j] for s in (1.0, -1.0)]
    slope, level = np.polyfit(v, (both[0] - both[1]) / 2, 1)
    out |= {f"h@{k}": max(level, 0.0) / m for k in range(m)}
    return out | {"fv1": max(slope, 0.0), "fo": float(np.mean((both[0] + both[1]) / 2))}


def loaded_level(columns: Columns, j: int, level: np.ndarray, load: np.ndarray) -> float:
    """Breakaway level [Nm] of the elements (m,) of joint j at its typical load."""
    shape = columns.shapes[j]
    typical = min(float(columns.typical_load[j]), shape.load_limit)
    return float(np.sum(level) + np.sum(load) * typical**shape.power)


def warm_slopes(robot: RobotFile, j: int) -> tuple[float, float]:
    """Slopes [1/K] of joint j's sliding level and of its viscous friction about WARM; 0 where the file has none."""
    block, memory = robot.friction, robot.hysteresis
    if block is None or block.reference_temperature is None:
        return 0.0, 0.0
    off = WARM - np.broadcast_to(block.reference_temperature, robot.n_joints)[j]
    level = float(robot.array_or("friction.parameters.alpha", 0.0)[j])
    beside = 0.0 if memory is None else float(robot.array_or("hysteresis.parameters.viscous_slope", 0.0)[j])
    about = [slope / (1 + slope * off) for slope in (level, level + beside)]
    return about[0], about[1]
