"""Any bag with a JointState topic into a Log: topic, stamps and joint order chosen, bad rows dropped and counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.bags.layout import MAX_SHAPES, Group
from robot_dynamics_ros.bags.rows import (
    OTHER_JOINTS,
    BagReport,
    drop_jumps,
    dropped_rows,
    moved_beside,
    order_rows,
    possible_speed,
    repair_rows,
)
from robot_dynamics_ros.bags.side import add_side_topics
from robot_dynamics_ros.bags.storage import RawTopic, Wrap, read_topics
from robot_dynamics_ros.bags.table_clock import one_after_another, starts_again
from robot_dynamics_ros.bags.table_log import BY_NAME, TableOptions, table_log
from robot_dynamics_ros.bags.tables import is_table
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.signals import Log, joint_columns
from robot_dynamics_ros.signals.runs import last_true
from robot_dynamics_ros.signals.table import shown
from robot_dynamics_ros.topics import ARRAY, BOOL, INERTIA, JOINT_STATE, TEMPERATURE, TOPICS, TRAJECTORY, WRENCH

TYPES = (JOINT_STATE, TEMPERATURE, INERTIA, TRAJECTORY, WRENCH, ARRAY, BOOL)
Aliases = Mapping[str, str] | None  # other name of a joint -> its name
PARTIAL = "message that lacks a joint or holds it twice"
APART = "no message holds every joint: they come in parts; publish and record all in one message"


def load_bag(
    paths: str | Path | Sequence[str | Path],
    robot: Any = None,
    *,
    topic: str = "auto",
    require: Iterable[str] = ("q", "effort"),
    repair: bool = True,
    progress: Wrap | None = None,
    table: TableOptions = BY_NAME,
) -> tuple[Log, BagReport]:
    """Log of one recording (several paths = its parts) and the report of what was chosen, repaired and dropped.

    paths: ROS 1 bags, rosbag2 directories with or without metadata.yaml, .db3 or .mcap files, or tables of numbers
    (.csv, .npz, .parquet, .h5), read as `table` says. robot: a RobotFile giving
    joint names and aliases; without it the joints are those of the data. topic: name or "auto".
    require: signals that must be there. repair=False keeps every readable row.
    Raises DataError naming the file and what to do.
    """
    joint_names, aliases = (None, None) if robot is None else (robot.joint_names, robot.joint_aliases)
    files = [Path(p) for p in ([paths] if isinstance(paths, (str, Path)) else paths)]
    if not files:
        raise DataError("no bag given")
    report = BagReport([str(p) for p in files])
    logs = [
        table_log(p, report, table, joint_names, aliases)
        if is_table(p)
        else _load_one(p, joint_names, aliases, topic, report, progress)
        for p in files
    ]
    _compare_joints(logs, files, report)
    _in_turn(logs, files, report)
    log = concatenate(logs)
    log = order_rows(drop_jumps(log, report) if repair else log, report)
    if log.has("payload"):
        log.payload = _lasting(log.payload)
    if repair:
        log = repair_rows(log, report, possible_speed(robot))
    _require(log, require, report)
    _describe(log, report, _pauses(logs, log))
    return log, report


def _lasting(values: np.ndarray) -> np.ndarray:
    """Rows (N, m), each that is not finite as the last one before it that is."""
    known = np.isfinite(values).all(axis=1)
    return np.asarray(values[last_true(known)])


def _compare_joints(logs: Sequence[Log], files: Sequence[Path], report: BagReport) -> None:
    """Raise DataError naming a part that lacks a joint of the first part in time; note what others have beyond it."""
    first = min(range(len(logs)), key=lambda k: int(logs[k].stamp_ns[0]))
    for log, file in zip(logs, files, strict=True):
        try:
            joint_columns(log.joint_names, logs[first].joint_names)
        except DataError as error:
            raise DataError(f"{file}: {error}; it is read as a part of the recording {files[first]}") from None
        if more := [name for name in log.joint_names if name not in logs[first].joint_names]:
            report.notes.append(f"{file}: {', '.join(more)} not read, because {files[first]} has no such joint")


def _in_turn(logs: list[Log], files: Sequence[Path], report: BagReport) -> None:
    """Move tables whose clocks start again behind each other."""
    tables, again = [k for k, file in enumerate(files) if is_table(file)], 0
    for k, stamps in zip(tables, one_after_another([logs[k].stamp_ns for k in tables]), strict=True):
        again += int(stamps[0] != logs[k].stamp_ns[0])
        logs[k] = Log(logs[k].joint_names, stamps, logs[k].signals)
    if again:
        report.notes.append(starts_again(again))


def concatenate(logs: Sequence[Log]) -> Log:
    """Parts of one recording as one log, in order of time; signals that a part lacks are NaN there."""
    if len(logs) == 1:
        return logs[0]
    parts = sorted(logs, key=lambda part: int(part.stamp_ns[0]))
    names = parts[0].joint_names
    parts = [part.reordered(names) for part in parts]
    signals = {s: np.concatenate([getattr(p, s) for p in parts]) for s in {k for p in parts for k in p.signals}}
    receive = None
    if all(p.receive_ns is not None for p in parts):
        receive = np.concatenate([p.receive_ns for p in parts])
    return Log(names, np.concatenate([p.stamp_ns for p in parts]), signals, receive)


def choose_topic(topics: Mapping[str, RawTopic], wanted: str, path: Path) -> str:
    """The JointState topic to read. Raises DataError listing those of the bag, or all topics where there is none."""
    derived = {t.name for t in TOPICS.values() if t.type == JOINT_STATE} - {"joint_states"}
    names = [n for n, t in topics.items() if t.type == JOINT_STATE and t.raws and n.rsplit("/", 1)[-1] not in derived]
    if wanted != "auto":
        for name in (wanted, "/" + wanted):
            if name in topics and topics[name].type == JOINT_STATE:
                return name
        what = f"no JointState topic {wanted!r}"
    elif len(names) == 1:
        return names[0]
    else:
        what = "several JointState topics, choose one (--topic)" if names else "no JointState messages"
    listed = sorted(names) or [f"{name} [{t.type}]" for name, t in sorted(topics.items())]
    raise DataError(f"{path}: {what}; topics: {shown(listed, 50) or 'none'}")


def choose_stamps(header: np.ndarray, receive: np.ndarray) -> tuple[np.ndarray, str, str]:
    """Stamps (N,) int64 [ns], their name, and the reason; header stamps unless constant, zero or implausible.

    header, receive: (N,) int64 [ns].
    """
    if len(header) < 2 or _distinct(receive) < len(receive) // 2:
        return header, "header", ""
    distinct = _distinct(header)
    if 2 * distinct < len(header):
        fault = f"constant ({header[0]} ns)" if distinct == 1 else f"repeated ({distinct} values)"
        return receive, "receive", f"header stamps are {fault} over {len(header)} messages: receive stamps are used"
    ratio = np.median(np.diff(header)) / max(np.median(np.diff(receive)), 1)
    # A late recorder receives messages in bursts: compare the whole duration, not the typical distance.
    overall = float(np.ptp(header)) / max(float(np.ptp(receive)), 1.0)
    if not 0.2 <= ratio <= 5.0 and not 0.2 <= overall <= 5.0:
        return receive, "receive", f"header stamps run {ratio:.3g} times the receive clock: receive stamps are used"
    return header, "header", ""


def _distinct(stamps: np.ndarray) -> int:
    """How many stamps differ; np.unique takes forty times as long."""
    return int(np.count_nonzero(np.diff(np.sort(stamps)))) + 1


def _load_one(
    path: Path,
    joint_names: Sequence[str] | None,
    aliases: Aliases,
    topic: str,
    report: BagReport,
    progress: Wrap | None,
) -> Log:
    """One file's rows as they stand there: topic, joints and stamps chosen, the other topics joined."""
    topics = read_topics(path, TYPES, progress)
    name = choose_topic(topics, topic, path)
    raw = topics[name]
    report.take_unit(path, raw.effort_unit)
    report.topic = name
    switches = [t for n, t in topics.items() if t.type == BOOL and "freedrive" in n and t.raws]
    report.freedrive += [(t.stamps(), np.array([message[-1:] > b"\0" for message in t.raws])) for t in switches]
    report.messages += len(raw.raws) + raw.too_long + raw.no_time
    report.drop("message longer than 1 MiB", raw.too_long)
    report.drop("message whose stamp is no time", raw.no_time)
    groups, unreadable = raw.decoded()
    raw.raws.clear()  # most of the memory of a reading
    orders = f", or is in one of more than {MAX_SHAPES} orders of joints" if len(groups) >= MAX_SHAPES else ""
    report.drop(f"message cannot be decoded{orders}", unreadable)
    names, groups = _select(groups, joint_names, aliases, path, report)
    if joint_names is not None and (moved := moved_beside(_beside(groups, {*names, *(aliases or {})}))):
        report.notes.append(moved)
    rows = np.sort(np.concatenate([g.rows for g in groups]))
    log = _assemble(groups, rows, names, aliases, raw)
    log.stamp_ns, report.stamps, why = choose_stamps(log.stamp_ns, raw.stamps()[rows])
    if why:
        report.notes.append(f"{path}: {why}")
    add_side_topics(log, topics, name, aliases, use_header=report.stamps == "header")
    return log


def _select(
    groups: list[Group], joint_names: Sequence[str] | None, aliases: Aliases, path: Path, report: BagReport
) -> tuple[tuple[str, ...], list[Group]]:
    """The joints to read and the messages that hold them; messages of other joints alone (a gripper) are ignored."""
    groups = [g for g in groups if g.fields["position"].shape[1] == len(g.names)]
    if not groups:
        raise DataError(f"{path}: no JointState message with positions and joint names")
    if joint_names is None:
        rows: dict[tuple[str, ...], int] = {}
        for g in groups:
            rows[g.names] = rows.get(g.names, 0) + len(g.rows)
        first = max(rows, key=lambda names: rows[names])
        joint_names = [(aliases or {}).get(name, name) for name in first]
    wanted, alias = set(joint_names), aliases or {}
    keep = [g for g in groups if wanted & {n if n in wanted else alias.get(n, n) for n in g.names}]
    other = sum(len(g.rows) for g in groups) - sum(len(g.rows) for g in keep)
    report.drop(OTHER_JOINTS, other)
    return tuple(joint_names), _whole(keep or groups, joint_names, alias, path, report)


def _whole(
    groups: list[Group], joint_names: Sequence[str], aliases: Mapping[str, str], path: Path, report: BagReport
) -> list[Group]:
    """The messages that hold every joint once, as live nodes take them. Raises DataError where none does."""
    whole: list[Group] = []
    wrong: dict[str, list[Group]] = {}
    for g in groups:
        try:
            joint_columns(g.names, joint_names, aliases)
            whole.append(g)
        except DataError as error:
            wrong.setdefault(str(error), []).append(g)
    if not whole:
        present = {aliases.get(name, name) for g in groups for name in g.names} | {n for g in groups for n in g.names}
        if len(wrong) > 1 and present.issuperset(joint_names):
            raise DataError(f"{path}: {APART}")
        raise DataError(f"{path}: {max(wrong, key=lambda why: sum(len(g.rows) for g in wrong[why]))}")
    report.drop(PARTIAL, sum(len(g.rows) for part in wrong.values() for g in part))
    return whole


def _beside(groups: list[Group], known: set[str]) -> dict[str, tuple[float, float]]:
    """Joints in the messages of the arm that are not known to it, with the ends of their travel."""
    ends: dict[str, tuple[float, float]] = {}
    for g in groups:
        for name, x in zip(g.names, g.fields["position"].T, strict=True):
            if name not in known:
                both = np.concatenate([ends.get(name, ()), x])
                ends[name] = (np.fmin.reduce(both), np.fmax.reduce(both))
    return ends


def _assemble(groups: list[Group], rows: np.ndarray, names: tuple[str, ...], aliases: Aliases, raw: RawTopic) -> Log:
    place = {"position": "q", "velocity": "qd", "effort": "effort"}
    stamp = np.empty(len(rows), dtype=np.int64)
    arrays = {signal: np.full((len(rows), len(names)), np.nan) for signal in place.values()}
    for g in groups:
        at = np.searchsorted(rows, g.rows)
        columns = joint_columns(g.names, names, aliases)
        stamp[at] = g.stamp_ns
        for field, signal in place.items():
            if g.fields[field].shape[1] == len(g.names):
                arrays[signal][at] = g.fields[field][:, columns]
    signals = {k: v for k, v in arrays.items() if not np.isnan(v).all()}
    return Log(names, stamp, signals, raw.stamps()[rows])


def _require(log: Log, require: Iterable[str], report: BagReport) -> None:
    for name in require:
        if not log.has(name):
            field = "effort" if name in ("effort", "current") else name
            remedy = f"record JointState messages whose {field} field is filled for every joint"
            if any(map(is_table, report.files)):
                remedy = f"name its columns with robot-dynamics import --map {name}=FIRST..LAST"
            raise DataError(f"{report.source} has no {name}: {remedy}")
    if len(log) < 2:
        text = f"{report.source} has {len(log)} usable messages; needs 2"
        raise DataError("".join(dropped_rows(text, report.dropped)) or text)


def _pauses(logs: Sequence[Log], log: Log) -> int:
    """Time [ns] between parts of a recording, where rows of its log are left before and behind it."""
    parts = sorted(logs, key=lambda part: int(part.stamp_ns[0]))
    pauses = ((int(a.stamp_ns.max()), int(b.stamp_ns.min())) for a, b in pairwise(parts))
    return sum(max(0, b - a) for a, b in pauses if log.stamp_ns.min() <= a and b <= log.stamp_ns.max())


def _describe(log: Log, report: BagReport, pauses: int) -> None:
    report.rows, report.joint_names = len(log), log.joint_names
    report.signals = sorted(log.signals)
    step = np.diff(log.stamp_ns)
    report.duration = 1e-9 * float(step[step > 0].sum() - pauses)  # of a clock that starts again: of every run
    report.rate = float(1e9 / np.median(step[step > 0])) if (step > 0).any() else 0.0
