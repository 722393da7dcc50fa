"""Which columns of a table are which signal, by their names: q, qd, effort, desired state, temperature, time; and which
names a text of --map means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from robot_dynamics_ros.bags.tables import Table
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.signals.table import shown

WORDS = {  # quantity -> words of a column's name, the stronger quantities first: "observation.state.elbow.torque"
    "temperature": {"temperature", "temperatures", "temp", "temps"},
    "qdd": {"qdd", "ddq", "qacc", "acc", "acceleration", "accelerations", "qddot"},
    "torque": {"tau", "torque", "torques", "moment", "moments", "effort", "efforts", "trq"},
    "current": {"current", "currents"},
    "qd": {"qd", "dq", "qvel", "vel", "velocity", "velocities", "qdot", "speed", "speeds"},
    "q": {"q", "qpos", "pos", "position", "positions", "angle", "angles", "state", "theta", "action"},
}
DESIRED = {  # also computed by the controller
    *("target", "desired", "des", "d", "command", "commanded", "cmd", "ref", "reference", "setpoint", "action"),
    *("computed", "cmptd", "calculated", "calc", "cmded"),
}
MEASURED = {
    *("actual", "measured", "meas", "observation", "observations", "obs", "as", "states", "observed", "motor", "raw")
}
OTHER = {  # words of columns that are no joint's, nor its whole torque: the hand, the Cartesian space, estimates
    *("tcp", "tool", "ext", "external", "gripper", "finger", "jaw", "cartesian", "ee", "wrench", "error", "std"),
    *("variance", "limit", "voltage", "fraction", "scaling", "hat"),
    *("gravity", "coriolis", "friction", "feedforward", "disturbance", "residual"),
}
GENERIC = {"joint", "joints", "j", "axis", "a", "link", "arm", "robot"}
TIMES = {"time", "timestamp", "stamp", "t", "stamps", "times", "datetime", "zeit"}
UNITS = {  # as written in names -> unit
    **dict.fromkeys(("deg", "degree", "degrees", "°", "deg/s", "°/s", "deg/s2", "deg/s^2"), "deg"),
    **dict.fromkeys(("rad", "radian", "radians", "rad/s", "rad/s2", "rad/s^2"), "rad"),
    **dict.fromkeys(("nm", "n·m", "n*m", "n.m", "n m"), "Nm"),
    **dict.fromkeys(("a", "amp", "ampere", "amps"), "A"),
    "ma": "mA",
    "mnm": "mNm",
    **dict.fromkeys(("ncm", "n·cm", "n*cm"), "Ncm"),
    "knm": "kNm",
    **dict.fromkeys(("mrad", "mrad/s"), "mrad"),
    **dict.fromkeys(("rpm", "1/min", "rev/min"), "rpm"),
    **dict.fromkeys(("%", "pct", "percent"), "%"),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), "s"),
    **dict.fromkeys(("min", "minutes"), "min"),
    **dict.fromkeys(("ms", "msec"), "ms"),
    **dict.fromkeys(("us", "µs", "usec"), "us"),
    **dict.fromkeys(("ns", "nsec", "nsecs", "nanosec", "nanoseconds"), "ns"),
}
# without brackets at the end of a name
SUFFIX_UNITS = {"deg", "rad", "nm", "ma", "pct", "percent", "amps", "ms", "us", "ns", "sec"} | {
    *("mnm", "ncm", "knm", "mrad", "rpm", "secs", "nsec", "nsecs", "nanosec")
}


@dataclass
class Group:
    """Columns of one quantity, one per joint: label of the joint -> column; desired or measured; unit in the names."""

    quantity: str
    desired: bool
    unit: str
    words: frozenset[str]
    columns: dict[str, str] = field(default_factory=dict)


def grouped(names: Sequence[str]) -> list[Group]:
    """The groups that column names form, in the order of the file."""
    groups: dict[tuple[str, bool, str, frozenset[str]], Group] = {}
    for name in names:
        words, unit = _words(name)
        quantity = next((q for q, known in WORDS.items() if known & set(words)), None)
        if quantity is None or OTHER & set(words) or TIMES & set(words):
            continue
        special = {w for w in words if w in DESIRED | MEASURED or any(w in known for known in WORDS.values())}
        key = (quantity, bool(special & DESIRED), unit, frozenset(special))
        group = groups.setdefault(key, Group(*key))
        group.columns.setdefault(_label([w for w in words if w not in special]), name)
    for group in groups.values():
        if all(label.isdigit() for label in group.columns):
            group.columns = dict(sorted(group.columns.items(), key=lambda item: natural(item[0])))
    return list(groups.values())


def joints_in(columns: Mapping[str, str], joint_names: Sequence[str]) -> list[str]:
    """The joint that each column (label -> name) names in full, as position_axis_2 does, and the labels of others that
    name none; empty unless each joint has a column of its own.
    """
    whole = {name: re.compile(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", re.IGNORECASE) for name in joint_names}
    found = [[name for name, pattern in whole.items() if pattern.search(column)] for column in columns.values()]
    named = sorted(name for names in found for name in names)
    labels = [(names or [label])[0] for label, names in zip(columns, found, strict=True)]
    return labels if named == sorted(joint_names) else []


def time_columns(names: Sequence[str]) -> list[tuple[str, str]]:
    """Columns whose names say time, with the unit in the name or "", the plainest names first."""
    found = []
    for name in names:
        words, unit = _words(name)
        if TIMES & set(words):
            found.append((len(words) + 0.5 * (unit == "ns"), name, unit))  # a ROS stamp's seconds first
    return [(name, unit) for _, name, unit in sorted(found, key=lambda item: item[0])]


def unit_of(name: str) -> str:
    """Unit written in a column's name; empty where there is none."""
    return _words(name)[1]


def odd_unit(names: Sequence[str]) -> str:
    """Text in brackets at the end of all names that is neither a known unit nor a word of a name; "" where there is
    none. Other brackets hold a joint's number or name.
    """
    ends = {found[1].strip() if (found := re.search(r"[\[(]([^\[(\])]*)[\])]\s*$", name)) else "" for name in names}
    text = ends.pop()
    known = GENERIC.union(DESIRED, MEASURED, *WORDS.values())
    words = set(re.findall(r"[^\W\d_]+|%", text.lower()))
    return "" if ends or len(names) < 2 or text.lower() in UNITS or words <= known else text


def words_of(name: str) -> set[str]:
    """Words and numbers of a column's name in lower case, without its unit."""
    return set(_words(name)[0])


def _words(name: str) -> tuple[list[str], str]:
    """Words and numbers of a name in lower case, and its unit: position_1 [deg], q1_deg, q_deg_1, actualPosition3."""
    text = re.sub(r"(?<=[a-z][a-z])(?=[A-Z])", "_", name).lower()
    unit = ""
    for bracket in re.findall(r"[\[({<]([^\[({<\])}>]*)[\])}>]", text):
        if bracket.strip() in UNITS:
            unit = UNITS[bracket.strip()]
            text = re.sub(r"[\[({<]" + re.escape(bracket) + r"[\])}>]", " ", text)
    text = text.replace("joint_states", " ").replace("joint_state", " ")
    words = re.findall(r"[a-zµ°]+|\d+", text)
    last = next((k for k in range(len(words) - 1, 0, -1) if not words[k].isdigit()), 0)
    if not unit and last and words[last] in SUFFIX_UNITS:
        unit = UNITS[words.pop(last)]
    return words, unit


def _label(words: list[str]) -> str:
    """The joint that the other words name: its number alone where there is nothing else."""
    numbers = [w for w in words if w not in GENERIC]
    return numbers[0] if len(numbers) == 1 and numbers[0].isdigit() else "_".join(words)


def chosen(table: Table, wanted: str) -> list[str]:
    """Columns that a text of --map names: a column, an array, FIRST..LAST, numbers A-B from 1, or a pattern with *.

    Raises DataError where it names none.
    """
    names = list(table.columns)
    if wanted in table.columns:
        return [wanted]
    if entries := [n for n in names if re.fullmatch(re.escape(wanted) + r"(\[\d+\]|_\d+|\..+)", n)]:
        return entries
    first, dots, last = wanted.partition("..")
    if dots and first in names and last in names and names.index(first) <= names.index(last):
        return names[names.index(first) : names.index(last) + 1]
    if numbers := re.fullmatch(r"(\d+)(?:-(\d+))?", wanted):
        a, b = int(numbers[1]), int(numbers[2] or numbers[1])
        if all(name.isdecimal() for name in names):  # of a file without names, of which words are left out
            if found := [name for name in names if a <= int(name) <= b]:
                return found
        elif 1 <= a <= b <= len(names):
            return names[a - 1 : b]
    pattern = re.sub(r"[?[]", r"[\g<0>]", wanted)  # in which the star alone has a meaning
    if "*" in wanted and (matching := [n for n in names if fnmatchcase(n, pattern)]):
        return sorted(matching, key=natural)
    raise DataError(f"{table.path}: no column {wanted!r}; columns: {shown(names)}")


def natural(name: str) -> list[str | int]:
    """Key that sorts q2 before q10: its texts and numbers in turn."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]
