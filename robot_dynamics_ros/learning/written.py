"""A posterior as a robot file: physically consistent links, non-negative friction; and a robot file as parameters."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import numpy as np
from scipy.optimize import nnls

from robot_dynamics_ros.identification.arm.contact import pushes, without
from robot_dynamics_ros.identification.arm.friction_columns import LAW, static_table
from robot_dynamics_ros.identification.arm.presliding_shape import SLIDING_RATIOS
from robot_dynamics_ros.identification.arm.residuals import residuals
from robot_dynamics_ros.identification.arm.solvers.consistency import consistent
from robot_dynamics_ros.identification.arm.solvers.least_squares import Solution
from robot_dynamics_ros.identification.dataset.deflection import rotors_shown
from robot_dynamics_ros.identification.dataset.motion import ROTOR_TIME, stack
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.learning.columns import VISCOUS, WARM, Columns
from robot_dynamics_ros.learning.intake import working_motion
from robot_dynamics_ros.learning.update import TYPICAL, Information, file_terms, loaded_level
from robot_dynamics_ros.models.hysteresis import viscosity
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals.speeds import STEP

STEEPEST, WITHIN = 0.025, 25.0  # 1/K of alpha; K about WARM within which it is used: friction stays positive


def written(columns: Columns, state: Information, source: str, by_rotor: bool = True) -> RobotFile:
    """The robot file nearest to a posterior in its own metric.

    by_rotor: what drives presliding elements may be the rotor of the columns; False: it is the position.
    Raises DataError where no consistent body is found.
    """
    robot = columns.robot
    phi, rotor = _bodies(columns, state)
    stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    key = f"learned_{stamp}"
    updates: dict[str, Any] = {"links": {"source": key, "parameters": phi.reshape(-1, 10)}}
    updates |= _friction(columns, state, phi, rotor, key)
    if columns.motor_side:
        updates |= _rotors(columns, rotor, key)
    robot = robot.with_updates(updates | {"residuals": None}, {key: source})
    if by_rotor or robot.hysteresis is None:
        return robot
    return robot.with_updates({"hysteresis.parameters.rotor_time": [0.0] * columns.n})


def shows_rotors(columns: Columns, recordings: Sequence[Recording]) -> bool:
    """Whether the velocities of recordings in Nm show the rotors: `by_rotor` of the file that is written of them."""
    delay = columns.robot.drives.effort.delay
    motion = stack([working_motion(rec, delay) for rec in recordings])
    return rotors_shown(motion, columns.load(motion))


def with_residuals(robot: RobotFile, recordings: Sequence[Recording]) -> RobotFile:
    """A file of `written` with what its live pipeline leaves unexplained in recordings in Nm, without pushes: a first
    look, which knew the robot less, has not found all of them.
    """
    key = next(k for k in robot.sources if k.startswith("learned_"))
    free = without(recordings, pushes(robot, recordings)) or recordings
    return robot.with_updates({"residuals": {"source": key} | residuals(robot, free)})


def parameters_of(columns: Columns, robot: RobotFile) -> np.ndarray:
    """x (p,) of a robot file that `written` has made from these columns."""
    x = np.zeros(columns.size)
    x[: columns.base] = columns.rigid.base.from_standard(robot.inertial_parameters)
    for j in range(columns.n):
        known = file_terms(columns, j, robot)
        x[columns.own(j)] = [known[t] for t in columns.terms[j]]
    return x


def _bodies(columns: Columns, state: Information) -> tuple[np.ndarray, np.ndarray]:
    """Standard parameters (10 n,) and rotor inertias (n,)."""
    robot, p = columns.robot, columns.size
    places = [columns.place(j, "ia") for j in range(columns.n)] if columns.motor_side else []
    none = np.zeros(0)
    solution = Solution(state.mean, none, none, state.R, state.z, p, 1.0, none, none, none)
    own = robot.effort_inertia
    included = robot.drives.effort.includes_rotor_inertia
    P = columns.rigid.base.matrix()
    phi, rotor, _ = consistent(
        solution, P, np.array(places, dtype=int), robot.inertial_parameters, own[: len(places)], included
    )
    return phi, rotor if places else own


def _rotors(columns: Columns, rotor: np.ndarray, key: str) -> dict[str, Any]:
    drives = columns.robot.drives
    name = "rotor_inertia" if drives.effort.includes_rotor_inertia else "effort.residual_inertia"
    return {f"drives.{name}": rotor, "drives.source": drives.sources_with([name.split(".")[0]], key)}


def _friction(columns: Columns, state: Information, phi: np.ndarray, rotor: np.ndarray, key: str) -> dict[str, Any]:
    beta = columns.rigid.base.from_standard(phi)
    found = [joint_law(columns, j, state, beta, float(rotor[j])) for j in range(columns.n)]
    laws, alpha = [law for law, _ in found], [slope for _, slope in found]
    static = static_table([_static(columns, j, law) for j, law in enumerate(laws)])
    ends = {"t_min": [WARM - WITHIN] * columns.n, "t_max": [WARM + WITHIN] * columns.n}
    static |= {"alpha": alpha, "gamma": alpha} | ends if any(alpha) else {}
    before = columns.robot.hysteresis
    motors = () if before is None else before.motors
    block = {name: [law[name] for law in laws] for name in laws[0]}
    block |= {
        name: before.parameters[name] for name in ("bearing", "bearing_span") if before and name in before.parameters
    }
    return {
        "friction": {"source": key, "model": LAW, "parameters": static, "reference_temperature": WARM},
        "hysteresis": {"source": key, "model": "presliding", "parameters": block, "motors": motors},
    }


def joint_law(
    columns: Columns, j: int, state: Information, beta: np.ndarray, rotor: float
) -> tuple[dict[str, Any], float]:
    """Joint j's presliding block nearest to the posterior, given base parameters beta (b,), and alpha [1/K] about WARM
    of its sliding level; that of its viscous friction is alpha + viscous_slope.

    Given the bodies, the frictions of the joints are independent. min |R u' - z|^2 over non-negative u for every
    sliding ratio r, where level u_k counts r in c_k and 1 - r in d_k; then both slopes by their own minimum.
    """
    shape, own, m = columns.shapes[j], columns.own(j), len(columns.shapes[j].spans)
    friction, inertia = np.split(state.R[:, own], [4 * m + 6], axis=1)  # behind the gear no rotor's
    target = state.z - state.R[:, : columns.base] @ beta - (inertia * rotor).sum(axis=1)
    R: Any = np.linalg.qr(np.column_stack([friction, target]), mode="r")
    R, z = R[:, :-1], R[:, -1]
    found = [(*nnls(R @ _basis(m, r), z), r) for r in SLIDING_RATIOS]
    u, _, r = min(found, key=lambda one: one[1])
    size = r * loaded_level(columns, j, u[:m], u[m : 2 * m]), viscosity(_viscous(u, m), shape.thinning, TYPICAL)
    u, (alpha, thinner) = _with_temperature(R, z, _basis(m, r), u, size)
    return {
        "span": list(shape.spans),
        "level": u[:m].tolist(),
        "load": u[m : 2 * m].tolist(),
        "load_limit": shape.load_limit,
        "load_power": shape.power,
        "sliding_ratio": r,
        "stribeck_velocity": shape.velocity,
        **_viscous(u, m),
        "v0": shape.thinning,
        "fo": float(u[2 * m + 3] - u[2 * m + 4]),
        "widening": list(shape.widening),
        "dahl_step": shape.step,
        "rotor_time": ROTOR_TIME if shape.rotor else 0.0,
        "viscous_slope": thinner - alpha,
    }, alpha


def _viscous(u: np.ndarray, m: int) -> dict[str, float]:
    return dict(zip(VISCOUS, u[2 * m : 2 * m + 3].tolist(), strict=True))


def _with_temperature(
    R: np.ndarray, z: np.ndarray, B: np.ndarray, u: np.ndarray, size: tuple[float, float]
) -> tuple[np.ndarray, list[float]]:
    """u with a slope [1/K] of the sliding level and one of the viscous friction, size [Nm, Nm s/rad]; and both."""
    warm = R[:, -3:-1] * np.array(size)
    cold = R @ (B[:, :-4] @ u[:-4])
    slopes = np.clip(np.linalg.lstsq(warm, z - cold, rcond=1e-6)[0], -STEEPEST, STEEPEST)
    rest, _ = nnls(R @ B[:, :-4], z - warm @ slopes)
    return np.append(rest, np.zeros(4)), slopes.tolist()


def _basis(m: int, r: float) -> np.ndarray:
    """(4 m + 6, 2 m + 9): own terms of levels, loads, fv1, fv2, fv0, +fo, -fo, +tc, -tc, +tv, -tv."""
    B = np.zeros((4 * m + 6, 2 * m + 9))
    k = np.arange(m)
    B[k, k], B[m + k, k] = r, 1 - r
    B[2 * m + k, m + k], B[3 * m + k, m + k] = r, 1 - r
    B[4 * m + np.arange(3), 2 * m + np.arange(3)] = 1.0
    for place, first in ((4 * m + 5, 2 * m + 3), (4 * m + 3, 2 * m + 5), (4 * m + 4, 2 * m + 7)):
        B[place, first : first + 2] = 1.0, -1.0
    return B


def _static(columns: Columns, j: int, law: dict[str, Any]) -> dict[str, float]:
    """Law without memory of about the same sliding friction, for the time before the presliding state is known."""
    level = law["sliding_ratio"] * loaded_level(columns, j, law["level"], law["load"])
    return {"fc": level, "fv": viscosity(law, law["v0"], TYPICAL), "fo": law["fo"], "eps": STEP}
