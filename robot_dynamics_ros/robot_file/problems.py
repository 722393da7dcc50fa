"""From pydantic's errors to one line each: file, field, value, bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from robot_dynamics_ros.errors import ConfigError, nearest

M = TypeVar("M", bound=BaseModel)
_BOUNDS = {
    "greater_than": ("gt", "must be > {}"),
    "greater_than_equal": ("ge", "must be >= {}"),
    "less_than": ("lt", "must be < {}"),
    "less_than_equal": ("le", "must be <= {}"),
    "too_short": ("min_length", "needs at least {} entries"),
    "too_long": ("max_length", "has more than {} entries"),
    "literal_error": ("expected", "must be {}"),
    "string_pattern_mismatch": ("pattern", "must match {}"),
    "string_too_long": ("max_length", "is longer than {} characters"),
}
_KINDS = {
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "int_parsing": "must be a whole number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be text",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping of keys to values",
    "model_type": "must be a block of keys and values",
    "model_attributes_type": "must be a block of keys and values",
}


def wrong_fields(error: ValidationError) -> str:
    """The fields that are wrong and why, in one line."""
    return "; ".join(": ".join(map(str, (*one["loc"][:1], one["msg"]))) for one in error.errors())


def validated(model: type[M], raw: Any, file: str) -> M:
    """The model of `raw`, or the first of its problems as ConfigError."""
    found, value = examine(model, raw, file)
    if value is not None:
        return value
    first = found[0]
    first.others = found[1:]  # type: ignore[attr-defined]
    if len(found) > 1:
        first.args = (f"{first} (and {len(found) - 1} more: robot-dynamics check lists them)",)
    raise first


def examine(model: type[M], raw: Any, file: str) -> tuple[list[ConfigError], M | None]:
    """All problems of `raw` as a `model`, and the model when there are none."""
    if not isinstance(raw, Mapping):
        urdf = " (a URDF: robot-dynamics new makes a robot file of it)" if "<robot" in str(raw) else ""
        return [ConfigError(file, "", f"must hold a mapping of keys to values, not {short(raw)}{urdf}")], None
    try:
        return [], model.model_validate(raw)
    except ValidationError as error:
        return [problem for e in error.errors() for problem in _problems(e, model, raw, file)], None


def _problems(error: Any, model: type[BaseModel], raw: Any, file: str) -> list[ConfigError]:
    if error["type"] == "inconsistent":
        return [_problem(file, loc, raw, text) for loc, text in error["ctx"]["found"]]
    loc = error["loc"]
    if error["type"] == "extra_forbidden":
        return [_problem(file, loc, raw, "unknown key" + nearest(str(loc[-1]), _keys(model, loc[:-1])))]
    return [_problem(file, loc, raw, _text(error))]


def _problem(file: str, loc: Sequence[Any], raw: Any, text: str) -> ConfigError:
    return ConfigError(file, " ".join(_dotted(loc, raw).split()), " ".join(text.split()))


def _text(error: Any) -> str:
    kind, value, context = error["type"], short(error["input"]), error.get("ctx", {})
    if kind == "missing":
        return "is missing; write null where the value is unknown"
    if kind in _BOUNDS:
        key, text = _BOUNDS[kind]
        return f"{value} {text.format(context[key])}"
    return f"{value} {_KINDS.get(kind, error['msg'])}"


def short(value: Any) -> str:
    """A value as one short line of a message."""
    text = "null" if value is None else " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def _dotted(loc: Sequence[Any], raw: Any) -> str:
    text = ""
    for part in loc:
        if isinstance(part, int):
            name = _joint_name(raw, part)
            text += f"[{part}: {name}]" if name and _first_index(text) else f"[{part}]"
        else:
            text += f".{part}" if text else str(part)
    return text


def _first_index(text: str) -> bool:
    others = ("provenance", "kinematics.gravity", "payload", "kinematics.tool", "hysteresis.motors")
    return "[" not in text and not text.startswith(others)


def _joint_name(raw: Any, index: int) -> str:
    try:
        return str(raw["kinematics"]["joints"][index]["name"])
    except (KeyError, IndexError, TypeError):
        return ""


def _keys(model: type[BaseModel], loc: Sequence[Any]) -> list[str]:
    for part in loc:
        if isinstance(part, str) and part in model.model_fields:
            model = _model_in(model.model_fields[part].annotation) or model
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if get_origin(annotation) is None and isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation  # in Python 3.10 also tuple[X, ...] is a type
    return next((m for m in map(_model_in, get_args(annotation)) if m), None)
