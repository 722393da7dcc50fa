"""Fields of a robot file and their consistency: lengths with joints, sources with fields, limits with each other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

from pydantic import Field

from robot_dynamics_ros.errors import nearest
from robot_dynamics_ros.robot_file import blocks as b
from robot_dynamics_ros.robot_file.numbers import PerJointMarker
from robot_dynamics_ros.robot_file.parameters import MODELS, ModelParameter
from robot_dynamics_ros.robot_file.problems import short

Problem = tuple[tuple[Any, ...], str]
Judge = Callable[[tuple[Any, ...], Any, ModelParameter], Iterator[Problem]]  # location, value or values, bounds
_LARGEST = sys.float_info.max
_NO_NUMBERS = {"source", "model", "convention", "base_frame", "tip_frame"}


class RobotFields(b.Block):
    """Fields of a robot file, without the checks between them."""

    schema_version: Literal[1] = Field(alias="schema", description="version of this format")
    name: b.Name = Field(description="short name, as in `--robot NAME`")
    manufacturer: b.Text = Field(description="who builds it")
    model: b.Text = Field(description="type, series, controller generation")
    sources: dict[str, b.Text] = Field(description="key -> citation; keys starting with `estimate` mark estimates")
    kinematics: b.Kinematics
    links: b.Links | None
    drives: b.Drives
    limits: b.Limits
    friction: b.ModelBlock | None = None
    hysteresis: b.Hysteresis | None = None
    thermal: b.ModelBlock | None = None
    stiffness: b.ModelBlock | None = None
    residuals: b.Residuals | None = None
    sensing: b.Sensing
    payload: b.Payload = b.Payload()
    provenance: tuple[b.ProvenanceEntry, ...] = Field(
        default=(), description="appended by every command that writes the file"
    )


def inconsistencies(robot: RobotFields) -> list[Problem]:
    """Every (location, text) that is wrong between fields of a robot file."""
    rules = (_lengths, _joints, _frames, _placed, _links, _limits, _coupling, _sources, _models, _payload)
    return [problem for rule in rules for problem in rule(robot)]


def _blocks(robot: RobotFields) -> Iterator[tuple[str, b.SourcedBlock]]:
    for name in type(robot).model_fields:
        block = getattr(robot, name)
        if isinstance(block, b.SourcedBlock):
            yield name, block


def _lengths(robot: RobotFields) -> Iterator[Problem]:
    n = len(robot.kinematics.joints)
    inner = [("drives.effort", robot.drives.effort), ("drives.velocity", robot.drives.velocity)]
    for name, block in (*_blocks(robot), *((name, block) for name, block in inner if block is not None)):
        for field, info in type(block).model_fields.items():
            value = getattr(block, field)
            marked = any(isinstance(m, PerJointMarker) for m in info.metadata)
            if marked and value is not None and len(value) not in (1, n):
                yield (*name.split("."), field), f"has {len(value)} entries for {n} joints"


def _joints(robot: RobotFields) -> Iterator[Problem]:
    used: dict[str, str] = {}
    for i, joint in enumerate(robot.kinematics.joints):
        for name in (joint.name, *joint.aliases):
            if name in used:
                yield ("kinematics", "joints", i), f"name or alias '{name}' is already used by {used[name]}"
            used.setdefault(name, joint.name)


def _frames(robot: RobotFields) -> Iterator[Problem]:
    base, tip = robot.kinematics.base_frame, robot.kinematics.tip_frame
    for field, name in (("base_frame", base), ("tip_frame", tip)):
        if not name.strip():
            yield ("kinematics", field), f"{name!r} must name a frame"
    if base == tip:
        yield ("kinematics", "tip_frame"), f"'{tip}' is the base_frame too: nobody could tell the axes of a force"


def _placed(robot: RobotFields) -> Iterator[Problem]:
    dh, xyz = ("a", "alpha", "d"), ("xyz", "rpy")
    is_dh = robot.kinematics.convention == "modified_dh"
    for i, joint in enumerate(robot.kinematics.joints):
        for field in xyz if is_dh else dh:
            if getattr(joint, field) is not None:
                yield ("kinematics", "joints", i, field), f"does not belong to convention {robot.kinematics.convention}"
        for field in dh if is_dh else xyz:
            if field not in joint.model_fields_set:
                yield ("kinematics", "joints", i, field), "is missing; write null where the value is unknown"


def _links(robot: RobotFields) -> Iterator[Problem]:
    n = len(robot.kinematics.joints)
    if robot.links is None:
        return
    given = {f: v for f in ("values", "parameters") if (v := getattr(robot.links, f)) is not None}
    if len(given) > 1:
        yield ("links",), "has both values and parameters; keep one"
    for field, entries in given.items():
        if len(entries) != n:
            yield ("links", field), f"has {len(entries)} entries for {n} joints"
    for i, row in enumerate(robot.links.parameters or ()):
        if len(row) != 10:
            yield ("links", "parameters", i), f"has {len(row)} entries, must have 10"


def _limits(robot: RobotFields) -> Iterator[Problem]:
    n = len(robot.kinematics.joints)
    given = robot.limits.position_lower or (), robot.limits.position_upper or ()
    lower, upper = (n * ends if len(ends) == 1 else ends for ends in given)
    for i, (lo, hi) in enumerate(zip(lower, upper, strict=False)):
        if lo is not None and hi is not None and not lo < hi:
            yield ("limits", "position_lower", i), f"{lo} must be < position_upper {hi}"


def _coupling(robot: RobotFields) -> Iterator[Problem]:
    n, rows = len(robot.kinematics.joints), robot.drives.coupling
    if rows is not None and [len(row) for row in rows] != [n] * n:
        yield ("drives", "coupling"), f"must be {n} x {n}"
    names = [j.name for j in robot.kinematics.joints]
    for i, motor in enumerate(robot.hysteresis.motors if robot.hysteresis is not None else ()):
        where = ("hysteresis", "motors", i)
        for field in ("joint", "turns_with"):
            if (name := getattr(motor, field)) not in names:
                yield (*where, field), f"'{name}' is no joint of this robot"
        if motor.joint == motor.turns_with:
            yield (*where, "turns_with"), "must be another joint"


def _payload(robot: RobotFields) -> Iterator[Problem]:
    if robot.payload.mass == 0.0 and any((*robot.payload.com, *robot.payload.inertia)):
        yield ("payload", "mass"), "0.0 must be > 0 when com or inertia is given"


def _sources(robot: RobotFields) -> Iterator[Problem]:
    known = list(robot.sources)
    for name, block in _blocks(robot):
        fields = {f for f, i in type(block).model_fields.items() if f not in _NO_NUMBERS and _given(block, f, i)}
        for field, key in block.source.items():
            if key not in robot.sources:
                yield (name, "source"), f"'{key}' is not a key of sources{nearest(key, known)}"
            if field != "*" and field not in type(block).model_fields:
                yield (name, "source"), f"'{field}' is not a field of this block"
        missing = {f for f in fields if f not in block.source and "*" not in block.source}
        for field in sorted(missing):
            yield (name, "source"), f"has no entry for '{field}' (nor '*')"


def _given(block: b.SourcedBlock, field: str, info: Any) -> bool:
    value = getattr(block, field)
    return value is not None and (info.is_required() or value != info.default)


def _models(robot: RobotFields) -> Iterator[Problem]:
    for kind, models in MODELS.items():
        block = getattr(robot, kind)
        if block is None:
            continue
        if block.model not in models:
            yield (kind, "model"), f"'{block.model}' is unknown{nearest(block.model, list(models))}"
            continue
        judge = partial(_values, n=len(robot.kinematics.joints))
        yield from _parameters((kind, "parameters"), block.model, block.parameters, judge)
    if robot.hysteresis is not None:
        yield from _motors(robot.hysteresis)


def _motors(block: b.Hysteresis) -> Iterator[Problem]:
    """Each entry is another motor, with all numbers of a presliding joint and as many elements as the others."""
    seen: list[tuple[set[str], int]] = []
    for i, motor in enumerate(block.motors):
        where, turned = ("hysteresis", "motors", i), ({motor.joint, motor.turns_with}, motor.sign)
        if turned in seen:
            yield where, f"is the motor of hysteresis.motors[{seen.index(turned)}]"
        seen.append(turned)
        yield from _parameters((*where, "parameters"), "presliding", motor.values, _known)
    rows = [motor.values.get(name) for motor in block.motors for name in ("span", "level", "load")]
    if len({len(row) for row in rows if isinstance(row, tuple)}) > 1:
        yield ("hysteresis", "motors"), "span, level and load must have equally many entries, the same in every motor"


def _parameters(where: tuple[Any, ...], model: str, given: dict[str, Any], judge: Judge) -> Iterator[Problem]:
    known = MODELS[str(where[0])][model]
    for name in given:
        if name not in known:
            yield (*where, name), f"unknown parameter of {model}{nearest(name, list(known))}"
    for name, spec in known.items():
        if name in given:
            yield from judge((*where, name), given[name], spec)
        elif spec.required:
            hint = "" if judge is _known else "; write null where the value is unknown"
            yield (*where, name), f"is missing{hint}"


def _values(loc: tuple[Any, ...], values: tuple[Any, ...], spec: ModelParameter, n: int) -> Iterator[Problem]:
    if len(values) not in (1, n):
        yield loc, f"has {len(values)} entries for {n} joints"
    if len({len(row) for row in values if isinstance(row, tuple)}) > 1:
        yield loc, "must have equally many entries for every joint"
    for i, value in enumerate(values):
        yield from _value((*loc, i), value, spec)


def _known(loc: tuple[Any, ...], value: Any, spec: ModelParameter) -> Iterator[Problem]:
    if value is None or (isinstance(value, tuple) and None in value):
        yield loc, "must be known: leave out a motor with unknown numbers"
    yield from _value(loc, value, spec)


def _value(loc: tuple[Any, ...], value: Any, spec: ModelParameter) -> Iterator[Problem]:
    if isinstance(value, tuple) != spec.row and value is not None:
        yield loc, "must be a list per joint" if spec.row else "must be one number per joint"
        return
    for j, one in enumerate(value if isinstance(value, tuple) else (value,)):
        yield from _number((*loc, j) if spec.row else loc, one, spec)


def _number(loc: tuple[Any, ...], value: Any, spec: ModelParameter) -> Iterator[Problem]:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield loc, f"{short(value)} must be a number"
    elif not -_LARGEST <= value <= _LARGEST:
        yield loc, f"{short(value)} must be a finite number"
    elif not spec.lower <= value <= spec.upper:
        bound = f">= {spec.lower}" if value < spec.lower else f"<= {spec.upper}"
        yield loc, f"{short(value)} must be {bound} {spec.unit}".removesuffix(" 1")
