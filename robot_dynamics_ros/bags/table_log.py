"""A table file as a Log: columns chosen by name or as the user maps them, units and clock settled, and what was taken.

Units that no name states are judged by physics: dq = qd dt for the velocity's, size for the others; all is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from robot_dynamics_ros.bags.rows import BagReport, moved_beside
from robot_dynamics_ros.bags.table_bounds import within
from robot_dynamics_ros.bags.table_clock import clock_of
from robot_dynamics_ros.bags.table_columns import WORDS, Group, chosen, grouped, joints_in, odd_unit, unit_of, words_of
from robot_dynamics_ros.bags.tables import Table, read_table
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.table import shown

SIGNALS = ("q", "qd", "effort", "current", "q_d", "qd_d", "qdd_d", "tau_d", "temperature")
ANGLES = ("q", "qd", "q_d", "qd_d", "qdd_d")
UNITS = ("rad", "deg", "Nm", "A", "mA")
ANGULAR = {"rad": 1.0, "deg": np.pi / 180, "mrad": 1e-3}  # unit -> SI
SPEED = ANGULAR | {"rpm": np.pi / 30}
TORQUE = {"Nm": 1.0, "mNm": 1e-3, "Ncm": 1e-2, "kNm": 1e3, "A": 1.0, "mA": 1e-3, "%": 1.0}  # % stays what it is
SCALE = SPEED | TORQUE
CELSIUS = ("", "c", "°c", "degc", "deg c", "celsius")
TURNS = 4 * np.pi  # rad; an axis that goes further is recorded in degrees
SPIKES = 0.02  # share of the rows, and one row of a short file, that no unit is judged by
MAX_JOINTS = 64


@dataclass(frozen=True)
class TableOptions:
    """What the user says about a table; empty: found by names. columns: signal -> columns (`tables.chosen`); time: its
    column; rate [Hz] instead of a clock; units: of UNITS.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    time: str = ""
    rate: float | None = None
    units: tuple[str, ...] = ()


BY_NAME = TableOptions()
Taken = dict[str, dict[str, str]]  # signal -> label of the joint -> column


def table_log(
    path: Path,
    report: BagReport,
    options: TableOptions = BY_NAME,
    joint_names: Sequence[str] | None = None,
    aliases: Mapping[str, str] | None = None,
) -> Log:
    """Log of a file's rows in SI units, and in `report.notes` every column that was taken with its unit.

    Raises DataError where no position is found or a joint of the robot is missing, CapabilityError for a missing
    library.
    """
    table = read_table(path)
    mapped = _mapped(table, options)
    taken = _found(table, options, mapped) | mapped
    if "q" not in taken:
        raise DataError(
            f"{path}: no columns of joint positions found; name them with robot-dynamics import --map q=FIRST..LAST; "
            f"columns: {shown(list(table.columns))}"
        )
    heat = [*taken.get("temperature", {}).values()]
    if heat and (odd := odd_unit(heat)).lower() not in CELSIUS:
        report.notes.append(f"temperature is left out: {odd!r} is not degC")
        del taken["temperature"]
    labels = list(taken["q"])
    within(path, len(labels), MAX_JOINTS, "columns of joint positions")
    report.notes += _incomplete(table, taken, labels)
    taken = {s: _by_joint(path, s, c, labels, s in options.columns) for s, c in taken.items()}
    signals = {s: np.column_stack([table.columns[c] for c in cs.values()]).astype(float) for s, cs in taken.items()}
    start, stamps, clock = clock_of(table, options.time, options.rate, report)
    units = _units(path, taken, signals, options, stamps)
    unit = {"A": "A", "mA": "A", "%": "%"}.get(units.get("effort", ""), "")
    if "effort" in units:
        report.take_unit(path, unit, units["effort"])
    report.topic, report.stamps = f"columns {', '.join(_with_unit(*u) for u in units.items())}", clock
    report.messages += table.rows
    report.notes += [_sentence(s, taken[s], units[s]) for s in signals]
    signals = {s: v * SCALE.get(units[s], 1.0) for s, v in signals.items()}
    finite = np.isfinite(stamps)
    if not finite.any():
        raise DataError(f"{path}: no row has a time")
    report.drop("without a time, or whose time alone jumps", int((~finite).sum()))
    columns = {} if "q" in options.columns else taken["q"]
    labels = labels if joint_names is None else joints_in(columns, joint_names) or labels
    log = Log(_names(labels), start + stamps[finite].astype(np.int64), {s: v[finite] for s, v in signals.items()})
    return log if joint_names is None else _named(log, path, labels, joint_names, aliases, report)


# -- columns ----------------------------------------------------------------------------------------------------------
def _mapped(table: Table, options: TableOptions) -> Taken:
    """Signals that the user maps, their joints numbered from 1."""
    found: Taken = {}
    for signal, wanted in options.columns.items():
        if signal not in SIGNALS:
            raise DataError(f"--map {signal}={wanted}: {signal!r} is none of {', '.join(SIGNALS)}")
        found[signal] = {str(k + 1): name for k, name in enumerate(chosen(table, wanted))}
    return found


def _found(table: Table, options: TableOptions, known: Taken) -> Taken:
    """Signals that the names of the columns show; joints are those of the positions."""
    groups = grouped(list(table.columns))
    positions = sorted((g for g in groups if g.quantity == "q" and not g.desired), key=_rank)
    width = len(known["q"]) if "q" in known else len(positions[0].columns) if positions else None
    found: Taken = {}
    wanted = {"q": ("q", False), "qd": ("qd", False), "temperature": ("temperature", False)}
    wanted |= {"q_d": ("q", True), "qd_d": ("qd", True), "qdd_d": ("qdd", True), "tau_d": ("torque", True)}
    for signal, (quantity, desired) in wanted.items():
        fit = [g for g in groups if (g.quantity, g.desired) == (quantity, desired) and len(g.columns) == width]
        if fit and signal not in known:
            found[signal] = min(fit, key=_rank).columns
    torques = ["current", "torque"] if {"A", "mA"} & set(options.units) else ["torque", "current"]
    efforts = [g for g in groups if g.quantity in torques and not g.desired and len(g.columns) == width]
    if efforts and "effort" not in known:
        best = min(efforts, key=lambda g: (torques.index(g.quantity), *_rank(g)))
        found["effort"] = best.columns
        currents = sorted((g for g in efforts if g.quantity == "current"), key=_rank)
        if best.quantity == "torque" and currents and "current" not in known:
            found["current"] = currents[0].columns
    return found


def _incomplete(table: Table, taken: Taken, labels: list[str]) -> list[str]:
    """A sentence for velocities and efforts that are left out because columns of single joints are missing."""
    notes = []
    for signal, quantities in {"qd": ("qd",), "effort": ("torque", "current")}.items():
        for group in [] if signal in taken else grouped(list(table.columns)):
            of_joints = 1 < len(group.columns) and set(group.columns) < set(labels)
            if of_joints and group.quantity in quantities and not group.desired:
                joints = ", ".join(label for label in labels if label not in group.columns)
                beside = shown(list(group.columns.values()))
                notes.append(f"{signal} is left out: joint {joints} has no column beside {beside}")
    return notes


def _rank(group: Group) -> tuple[int, int]:
    """Order of groups of one quantity: the most joints, the fewest words beside the quantity's."""
    odd = group.words & {"theta", "motor", "raw"}
    return (10 * len(odd) - len(group.columns), len(group.words - {"actual", "measured"}))


def _by_joint(path: Path, signal: str, columns: dict[str, str], labels: list[str], mapped: bool) -> dict[str, str]:
    """Columns in the order of the positions' joints; in their own order where they are labelled otherwise."""
    if len(columns) != len(labels):
        what = "--map " if mapped else ""
        raise DataError(
            f"{path}: {what}{signal} has {len(columns)} columns ({shown(list(columns.values()))}), q has {len(labels)}"
        )
    if set(columns) == set(labels):
        return {label: columns[label] for label in labels}
    return dict(zip(labels, columns.values(), strict=True))


def _names(labels: list[str]) -> list[str]:
    return [f"joint{k + 1}" for k in range(len(labels))] if all(x.isdigit() for x in labels) else labels


def _named(
    log: Log,
    path: Path,
    labels: list[str],
    joint_names: Sequence[str],
    aliases: Mapping[str, str] | None,
    report: BagReport,
) -> Log:
    """The log with a robot's joints: by name, by order where columns are numbered."""
    if not all(label.isdigit() for label in labels):
        try:
            beside = set(log.joint_names) - {*joint_names, *(aliases or {})}
            travels = zip(log.joint_names, np.fmin.reduce(log.q), np.fmax.reduce(log.q), strict=True)
            if moved := moved_beside({name: (low, high) for name, low, high in travels if name in beside}):
                report.notes.append(moved)
            return log.reordered(joint_names, aliases)
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
    if log.n_joints != len(joint_names):
        raise DataError(
            f"{path}: columns of {log.n_joints} joints, the robot has {len(joint_names)}: check --robot, or "
            "choose them with robot-dynamics import --map q=FIRST..LAST"
        )
    report.notes.append(f"columns are numbered: joints are {', '.join(joint_names)} in this order")
    return Log(joint_names, log.stamp_ns, log.signals)


# -- units ------------------------------------------------------------------------------------------------------------
def _units(
    path: Path, taken: Taken, signals: dict[str, np.ndarray], options: TableOptions, stamps: np.ndarray
) -> dict[str, str]:
    """Unit of every signal: as the user says, as the names say, or as the numbers show. Raises DataError for a unit in
    a name that is not known.
    """
    units: dict[str, str] = {}
    for signal, columns in taken.items():
        first = next(iter(columns.values()))
        units[signal] = _allowed(signal, options.units) or _written(path, signal, columns) or _by_name(signal, first)
    for signal in ("q", "q_d"):
        if signal in units and not units[signal]:
            beyond, known = (np.abs(signals[signal]) > TURNS).sum(axis=0), np.isfinite(signals[signal]).sum(axis=0)
            units[signal] = "deg" if (beyond > 1 + SPIKES * known).any() else "rad"
    for signal in ("qd", "qd_d", "qdd_d"):
        if signal in units and not units[signal]:
            units[signal] = units["q"]
            if signal == "qd":
                units[signal] = _velocity_unit(signals["q"], units["q"], signals["qd"], stamps)
    return units


def _allowed(signal: str, units: Sequence[str]) -> str:
    """Unit that the user gives for a signal; empty where none of them is of its kind."""
    kinds = {"effort": ("Nm", "A", "mA"), "current": ("A", "mA"), "tau_d": ("Nm",)}
    kind = ("rad", "deg") if signal in ANGLES else kinds.get(signal, ())
    return next((unit for unit in units if unit in kind), "")


def _written(path: Path, signal: str, columns: Mapping[str, str]) -> str:
    """Unit that the names of a signal's columns state; empty where they do not."""
    names = list(columns.values())
    stated = {unit_of(name) for name in names}
    odd = odd_unit(names) if stated == {""} else ""
    if signal == "temperature" or (stated == {""} and not odd):
        return ""
    known = TORQUE if signal not in ANGLES else SPEED if signal in ("qd", "qd_d") else ANGULAR
    if len(stated) > 1 or not stated & known.keys():
        unit = " and ".join(repr(u) for u in sorted(stated - {""} or {odd}))
        differ = "is not one of all columns" if len(stated) > 1 else f"is not known for {signal}"
        raise DataError(
            f"{path}: the unit {unit} in {names[0]!r} .. {names[-1]!r} {differ}: convert the columns to one of "
            f"{', '.join(known)}, or overrule their names with robot-dynamics import --unit"
        )
    return stated.pop()


def _by_name(signal: str, column: str) -> str:
    """Unit that the kind of a quantity has; empty for a mere "effort", as of a JointState, which does not say it."""
    words = words_of(column)
    if signal == "effort":
        return "Nm" if words & WORDS["torque"] - {"effort", "efforts"} else "A" if words & WORDS["current"] else ""
    return {"current": "A", "tau_d": "Nm", "temperature": "degC"}.get(signal, "")


def _velocity_unit(q: np.ndarray, unit: str, qd: np.ndarray, stamps: np.ndarray) -> str:
    """The other unit than that of q where dq = qd dt holds within a factor of two with it; SPIKES are left out."""
    rows = np.isfinite(np.column_stack([stamps, q, qd])).all(axis=1)
    rows[rows] = np.diff(stamps[rows], prepend=-1) != 0  # of equal stamps the first, as in `repair_rows`
    dt, angle, other = np.diff(stamps[rows])[:, None] * 1e-9, SCALE[unit], "deg" if unit == "rad" else "rad"
    use = dt[:, 0] > 0
    if not use.any():
        return unit
    dq, mean = (np.diff(q[rows], axis=0) * angle)[use], (0.5 * (qd[rows][1:] + qd[rows][:-1]) * dt)[use]
    usual = np.all([np.abs(x) <= np.quantile(np.abs(x), 1 - SPIKES, axis=0) for x in (dq, mean)], axis=0)
    dq, mean = dq[usual], mean[usual]
    ratio = abs(dq @ mean) / max(mean @ mean, 1e-300) / SCALE[other]
    return other if 0.5 < ratio < 2 else unit


def _with_unit(signal: str, unit: str, columns: str = "") -> str:
    per = {"qd": "/s", "qd_d": "/s", "qdd_d": "/s2"}.get(signal, "") if unit != "rpm" else ""
    return f"{signal}{columns} [{f'{unit}{per}' if unit else 'unit not stated'}]"


def _sentence(signal: str, columns: dict[str, str], unit: str) -> str:
    names = list(columns.values())
    shown = f"{names[0]} .. {names[-1]}" if len(names) > 2 else ", ".join(names)
    return _with_unit(signal, unit, f": {len(names)} columns {shown}")
