"""The numbers of an identification as plain values: what report.json holds and the report shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import numpy as np

from robot_dynamics_ros.bags.rows import FIRST_DATE_NS
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.friction_columns import simple_law
from robot_dynamics_ros.identification.arm.residuals import for_repaired, slipped
from robot_dynamics_ros.identification.arm.rigid import base_names
from robot_dynamics_ros.identification.arm.solvers.consistency import initial_parameters
from robot_dynamics_ros.identification.arm.solvers.fitting import fitted
from robot_dynamics_ros.identification.arm.solvers.uncertainty import steady_friction
from robot_dynamics_ros.identification.arm.state import Identification
from robot_dynamics_ros.identification.arm.written_file import file_effort, live_torques
from robot_dynamics_ros.identification.blas import one_thread
from robot_dynamics_ros.identification.dataset.motion import JUDGED_PERIODS, Motion, low_pass
from robot_dynamics_ros.identification.dataset.recording import temperature_of
from robot_dynamics_ros.identification.dataset.stretches import sampled
from robot_dynamics_ros.identification.metrics import mean_r2, metrics, split_metrics
from robot_dynamics_ros.identification.reports.free_force import free_force
from robot_dynamics_ros.identification.reports.grade import arm_matrix, judged_r2
from robot_dynamics_ros.identification.reports.verdict import judged
from robot_dynamics_ros.models.sliding_friction import typical_load
from robot_dynamics_ros.outputs import plain
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals.runs import pieces_of
from robot_dynamics_ros.verdict import word

SPEEDS = np.array([0.1, 0.5, 1.0])  # rad/s, at which friction is reported with its deviation
UNITS = (("mX", "kg m"), ("mY", "kg m"), ("mZ", "kg m"), ("m", "kg"), ("", "kg m²"))  # by the beginning of a name
MAX_R2_LOSS = 0.01  # of the validation data, that physical consistency may cost without a warning
ROWS = 60_000  # at the rate of the solution, that the figures of the training data are of


def compare(found: Identification, motions: list[Motion], efforts: list[np.ndarray], predict: Any) -> dict[str, Any]:
    """Figures per joint of a prediction on motions of recorded `efforts` (N, n)."""
    return _figures(np.concatenate(efforts), np.concatenate([found.as_recorded(predict(m)) for m in motions]))


def _efforts(found: Identification, written: RobotFile, motion: Motion) -> np.ndarray:
    """Recorded effort (N, n), NaN until a joint has `slipped` in a piece: no model knows its friction before."""
    known = [slipped(written, motion.q[a:b]) for a, b in pieces_of(motion.start)]
    return np.where(np.concatenate(known), found.as_recorded(motion.effort), np.nan)


def _figures(y: np.ndarray, p: np.ndarray) -> dict[str, Any]:
    result: dict[str, Any] = metrics(y, p)
    return {"mean_r2": mean_r2(result["r2"]), **result}


@one_thread()
def summarise(found: Identification, robot: str) -> dict[str, Any]:
    """Everything in the report, as plain lists and numbers; `validation` judges the robot file that is written.

    robot: as the user has named it, for the next command. Fills `predicted`, which the report draws.
    """
    motions, in_ampere = found.judged, found.effort.in_ampere
    written = identified_robot(found)
    predict = file_effort(written, found.rigid.gravity, found.structure.filters)
    found.predicted = [predict(m) for m in motions]
    efforts = [_efforts(found, written, m) for m in motions]
    pairs = [(y, found.as_recorded(p)) for y, p in zip(efforts, found.predicted, strict=True)]
    y, p = (np.concatenate([pair[k] for pair in pairs]) for k in (0, 1))
    written_file = _figures(y, p)
    moving = np.concatenate([m.moving for m in motions])
    smooth = np.concatenate(
        [found.as_recorded(low_pass(m.effort, found.structure.cutoff, 1 / m.rate)) for m in motions]
    )
    others = {
        "consistent": compare(found, motions, efforts, found.consistent.predict),
        "unconstrained": compare(found, motions, efforts, found.fit.predict),
        **{name: compare(found, motions, efforts, model) for name, model in baselines(found).items()},
    }
    training = [found.filtered(r, JUDGED_PERIODS) for r in sampled(found.training, ROWS, 0.0)]
    known = [_efforts(found, written, m) for m in training]
    per_bag = [{"bag": r.name, **_figures(*pair)} for r, pair in zip(found.validation, pairs, strict=True)]
    result: dict[str, Any] = plain(
        {
            "robot": found.robot.name,
            "joint_names": list(found.robot.joint_names),
            "unit": found.effort.unit,
            "validation": {
                **written_file,
                "samples": int(np.isfinite(y).any(axis=1).sum()),
                "split": found.split,
                "repeats_training": found.repeated,
                **split_metrics(y, p, moving),
                "filtered": _figures(np.where(np.isfinite(y), smooth, np.nan), p),
                "above_cutoff_bound_r2": metrics(y, smooth)["r2"],
                "per_bag": per_bag,
                "live_nodes": live_nodes(found, written),
                "force": None if in_ampere else free_force(for_repaired(written), found.validation),
                "longest_piece": max(p.t[-1] - p.t[0] for r in found.validation for p in r.pieces),
            },
            "comparison": others,
            "training": {**compare(found, training, known, predict), "bags": [_bag(r) for r in found.training]},
            "validation_bags": [_bag(r) for r in found.validation],
            "conditioning": _conditioning(found),
            "parameters": _parameters(found, typical_load(written) * found.effort.meaning.includes_gravity),
            "structure": _structure(found),
            "effort": found.effort.to_dict() | {"includes_rotor_inertia": found.rotor_included},
            "other_robot": found.other_robot,
            "in_ampere": in_ampere,
            "friction_differences": found.friction_differences,
            "load_differences": found.load_differences,
            "statements": [text for text in dict.fromkeys(found.statements) if text not in found.warnings],
            "warnings": list(dict.fromkeys(found.warnings)),
        }
    )
    result["warnings"] += _inconsistent(result)
    said = judged(result, _remedy(found, robot))
    statements = [text for text in result["statements"] if f"({text}" not in " ".join(said["verdict"])]
    return result | {"statements": statements, "matrix": arm_matrix(result)} | said


def _remedy(found: Identification, robot: str) -> str:
    """Command after a verdict "not usable": the same recordings for the arm they are of, or another recording."""
    bags = " ".join(word(r.name) for r in found.training)
    again = f"identify {bags} --robot ROBOT --out identified"
    return f"robot-dynamics {again if found.other_robot else f'excite --robot {word(robot)} --out motion.csv'}"


def live_nodes(found: Identification, written: RobotFile) -> dict[str, Any]:
    """Figures of the written file over the validation recordings by the stages and causal filters of the live nodes."""
    parts = [live_torques(for_repaired(written), r) for r in found.validation]
    y, p = (np.concatenate([found.as_recorded(part[k]) for part in parts]) for k in (0, 1))
    figures = _figures(y, p)
    return {name: figures[name] for name in ("mean_r2", "r2", "rmse")} | {"samples": len(y)}


def _inconsistent(result: dict[str, Any]) -> list[str]:
    """A warning where no possible bodies predict the validation data as well as the unconstrained solution does."""
    free, bound = (judged_r2(result, result["comparison"][name]) for name in ("unconstrained", "consistent"))
    if not free - bound > MAX_R2_LOSS:
        return []
    return [
        f"no possible bodies explain this effort: consistency, which a robot file needs, costs {free - bound:.3f} of "
        "R2 on the validation data; check kinematics, mounting (gravity), sign and unit of the effort, joint order"
    ]


def _bag(rec: Any) -> dict[str, Any]:
    return {
        "name": rec.name,
        "samples": rec.samples,
        "duration": rec.duration,
        "rate": rec.rate,
        "pieces": len(rec.pieces),
        "dropped": rec.counts,
        "notes": rec.notes,
        "begun": _date(rec.start_ns),
        "temperature": temperature_of(rec),
    }


def _date(stamp_ns: int) -> str | None:
    """Date and time (UTC) of a stamp; None for stamps before 2000, e.g. of a simulation."""
    if stamp_ns < FIRST_DATE_NS:
        return None
    return datetime.fromtimestamp(stamp_ns * 1e-9, timezone.utc).isoformat(timespec="seconds")


def _conditioning(found: Identification) -> dict[str, Any]:
    s = found.solution
    return {"condition": s.condition, "rank": s.rank, "parameters": len(s.x), "base_parameters": found.rigid.base.size}


def _parameters(found: Identification, load: np.ndarray) -> dict[str, Any]:
    s, base = found.solution, found.rigid.base
    b = base.size
    index = found.structure.index(b)
    P = base.matrix()
    friction_at = steady_friction(found.fit, SPEEDS, load)
    friction = [
        {
            "joint": name,
            "terms": list(law.terms),
            "units": law.units(),
            "values": found.consistent.friction[j],
            "std": s.std[index[j][b:]],
        }
        for j, (name, law) in enumerate(zip(found.robot.joint_names, found.structure.laws, strict=True))
    ]
    return {
        "base": {
            "names": (names := base_names(base)),
            "units": [next(u for k, u in UNITS if name.startswith(k)) for name in names],
            "values": s.x[:b],
            "std": s.std[:b],
            "relative_std_percent": s.relative_std[:b],
            "separable": s.separable[:b],
            "consistent": P @ found.consistent.phi,
        },
        "friction": friction,
        "sliding_friction": {"speeds": SPEEDS, "torque": friction_at[0], "std": friction_at[1], "load": load},
        "rotor_inertia": found.rotor,
        "links": found.consistent.phi.reshape(-1, 10),
    }


def _structure(found: Identification) -> dict[str, Any]:
    s = found.structure
    return {
        "cutoff": s.cutoff,
        "effort_delay": s.delay,
        "reported_velocity": None if found.velocity is None else vars(found.velocity),
        "acceleration_cutoff": found.acceleration_cutoff,
        "effort_filter": [None if f is None else str(f) for f in s.filters],
        "friction": [list(law.terms) for law in s.laws],
    }


def baselines(found: Identification) -> dict[str, Callable[[Motion], np.ndarray]]:
    """Predictions by name: "constant_coulomb" always, "initial_model" where the robot file has masses."""
    made = {"constant_coulomb": constant_coulomb(found)}
    if initial_parameters(found.robot) is not None:  # links and friction as the file has them, as live nodes do
        made["initial_model"] = file_effort(found.robot, found.rigid.gravity, found.structure.filters)
    return made


def constant_coulomb(found: Identification) -> Callable[[Motion], np.ndarray]:
    """Rigid body, rotor inertia, viscous and constant Coulomb friction, offset: the usual identification."""
    n, law = found.robot.n_joints, simple_law(found.robot.drives.torque_side == "motor")
    structure = replace(found.structure, laws=(law,) * n, filters=(None,) * n)
    return fitted(found.rigid, structure, replace(found.motion, weight=None), rough=True).predict
