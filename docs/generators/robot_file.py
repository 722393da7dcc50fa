"""Reference page of the robot file: every field, and the parameters of every joint model."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from robot_dynamics_ros.robot_file import blocks as b
from robot_dynamics_ros.robot_file.capabilities import capability_table
from robot_dynamics_ros.robot_file.numbers import PerJointMarker, Source
from robot_dynamics_ros.robot_file.parameters import MODELS, ModelParameter
from robot_dynamics_ros.robot_file.schema import RobotFile
from robot_dynamics_ros.robot_file.store import load_robot, shipped_robots

_MODEL_BLOCKS = "friction, thermal, stiffness"


def schema_tables() -> str:
    """Markdown tables of every field of every block: type, unit, bounds, meaning."""
    parts = [_table("top level", RobotFile)]
    for name, model in _blocks():
        parts.append(_table(f"`{name}`", model))
    return "\n".join(parts)


def parameter_tables() -> str:
    """Markdown tables of the parameters of every joint model."""
    return "\n".join(_models(kind, models) for kind, models in MODELS.items())


def _blocks() -> Iterator[tuple[str, type[BaseModel]]]:
    yield "kinematics", b.Kinematics
    yield "kinematics.joints[]", b.Joint
    yield "kinematics.tool", b.Frame
    yield "links", b.Links
    yield "links.values[]", b.LinkInertia
    yield "drives", b.Drives
    yield "drives.effort", b.Effort
    yield "drives.velocity", b.Velocity
    yield "drives.torque_command", b.TorqueCommand
    yield "limits", b.Limits
    yield "hysteresis", b.Hysteresis
    yield "hysteresis.motors[]", b.PreslidingMotor
    yield _MODEL_BLOCKS, b.ModelBlock
    yield "residuals", b.Residuals
    yield "sensing", b.Sensing
    yield "payload", b.Payload
    yield "provenance[]", b.ProvenanceEntry
    yield "provenance[].inputs[]", b.InputFile


def _table(title: str, model: type[BaseModel]) -> str:
    doc = (model.__doc__ or "").strip().splitlines()[0]
    rows = ["| field | type | unit | bounds | meaning |", "|---|---|---|---|---|"]
    for name, info in model.model_fields.items():
        unit, bounds = _unit_and_bounds(info)
        needed = "" if info.is_required() else " (may be absent)"
        cells = (f"`{info.alias or name}`", _type(info), unit, bounds, (info.description or "") + needed)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return f"### {title}\n\n{doc}\n\n" + "\n".join(rows) + "\n"


_WORDS = {float: "number", bool: "true/false", str: "text", int: "integer", Any: "number or list"}


def _type(info: FieldInfo) -> str:
    if any(isinstance(m, PerJointMarker) for m in info.metadata):
        return "number per joint, or null"
    if any(m is m_ for m in info.metadata for m_ in get_args(Source)[1:]):
        return "text, or mapping field to text"
    return _name(info.annotation)


def _name(annotation: Any) -> str:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _name(inner[0])
    if origin is Literal:
        return " / ".join(str(v) for v in inner)
    if origin in (Union, UnionType):
        return _name(inner[0]) + ", or null"
    if origin is tuple:
        return f"list of {_name(inner[0])}" if inner[-1] is Ellipsis else f"{len(inner)} x {_name(inner[0])}"
    if origin is dict:
        return f"mapping to {_name(inner[1])}"
    return "block" if isinstance(annotation, type) and issubclass(annotation, BaseModel) else _WORDS[annotation]


def _metadata(annotation: Any) -> Iterator[Any]:
    yield from getattr(annotation, "__metadata__", ())
    for argument in get_args(annotation):
        if argument is not annotation:
            yield from _metadata(argument)


def _unit_and_bounds(info: FieldInfo) -> tuple[str, str]:
    for found in (info, *_metadata(info.annotation), *info.metadata):
        extra = getattr(found, "json_schema_extra", None)
        if isinstance(found, FieldInfo) and isinstance(extra, dict) and "unit" in extra:
            return extra["unit"], _bounds(found)
    extra = info.json_schema_extra
    return (str(extra["unit"]), _bounds(info)) if isinstance(extra, dict) and "unit" in extra else ("", "")


def _bounds(info: FieldInfo) -> str:
    signs = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}
    found = [(signs[k], v) for m in info.metadata for k in signs if (v := getattr(m, k, None)) is not None]
    found = [(sign, value) for sign, value in found if isfinite(value)]
    return ", ".join(f"{sign} {value:g}" for sign, value in found)


def _models(kind: str, models: dict[str, dict[str, ModelParameter]]) -> str:
    rows = ["| model | parameter | unit | bounds | meaning |", "|---|---|---|---|---|"]
    for model, parameters in models.items():
        for name, p in parameters.items():
            shape = "list per joint; " if p.row else ""
            absent = "" if p.required else " (may be absent)"
            bounds = f"{p.lower:g} .. {p.upper:g}"
            text = (shape + p.text + absent).replace("|", "\\|")
            rows.append(f"| {model} | `{name}` | {p.unit} | {bounds} | {text} |")
    return f"### {kind}\n\n" + "\n".join(rows) + "\n"


def robots() -> str:
    """The page of the shipped robots and what each supports."""
    table = capability_table([load_robot(name) for name in shipped_robots()])
    return f"# Shipped robots and what each supports\n\nWhere the numbers come from: [robots](../robots.md).\n\n{table}"


def fields() -> str:
    """The page of every field and model parameter."""
    head = "# Fields of a robot file\n\nFrom the schema. How to make one: [robot files](../robot_files.md)."
    return f"{head}\n\n{schema_tables()}\n## Parameters of the joint models\n\n{parameter_tables()}"
