"""Robot files that older versions wrote, in the present form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CONVERTED = "converted_motors"  # key of `sources`
SPAN = 1e-3  # rad, of the element that takes the place of tanh(v/eps)
LAW = {"load_limit": 0.0, "load_power": 1.0, "sliding_ratio": 1.0, "stribeck_velocity": 0.1, "fv2": 0.0, "fv0": 0.0}
LAW |= {"v0": 0.3}


def present_form(raw: Any) -> Any:
    """A file whose `friction.coupled` held f_j += fc tanh((v_j + s v_k)/eps) + fv v_k, with one element of level fc at
    each motor's angle in `hysteresis.motors` and viscous friction s fv that both joints lose; any other as it is.
    """
    friction = raw.get("friction") if isinstance(raw, Mapping) else None
    if not (isinstance(friction, Mapping) and "coupled" in friction):
        return raw
    bare = {name: value for name, value in friction.items() if name != "coupled"}
    if isinstance(bare.get("source"), Mapping):
        bare["source"] = {name: key for name, key in bare["source"].items() if name != "coupled"}
    try:
        return _with_motors({**raw, "friction": bare}, friction["coupled"])
    except (KeyError, TypeError, IndexError):
        return raw  # which is refused by name


def _with_motors(raw: dict[str, Any], rows: Any) -> dict[str, Any]:
    names = [joint["name"] for joint in raw["kinematics"]["joints"]]
    block = dict(raw.get("hysteresis") or _empty(raw["friction"], len(names)))
    motors = list(block.get("motors", ()))
    spans = _spans(block, motors)
    nearest = min(range(len(spans)), key=lambda k: abs(spans[k] - SPAN))
    static, own = dict(raw["friction"]["parameters"]), dict(block["parameters"])
    for place in dict.fromkeys(map(_place, rows)):
        if place in map(_place, motors):
            continue
        first, *more = (row for row in rows if _place(row) == place)
        level = sum(row["coulomb"] for row in (first, *more)) / (1 + len(more))
        viscous = max(sum(row["sign"] * row["viscous"] for row in (first, *more)) / (1 + len(more)), 0.0)
        levels = [level if k == nearest else 0.0 for k in range(len(spans))]
        parameters = LAW | {"span": spans, "level": levels, "load": [0.0] * len(spans), "fv1": viscous}
        motors.append({name: first[name] for name in ("joint", "turns_with", "sign")} | {"parameters": parameters})
        for law in (static, own):
            _lower(law, [names.index(name) for name in place[0] if name in names], len(names), viscous)
    if not motors:
        return raw
    source = block["source"]
    block["source"] = ({"*": source} if isinstance(source, str) else dict(source)) | {"motors": CONVERTED}
    text = "friction.coupled (tanh) of an older file, as one element per motor"
    raw = {**raw, "sources": {**raw["sources"], CONVERTED: text}, "friction": raw["friction"] | {"parameters": static}}
    return raw | {"hysteresis": block | {"parameters": own, "motors": motors}}


def _place(motor: Any) -> tuple[frozenset[str], int]:
    return frozenset((motor["joint"], motor["turns_with"])), motor["sign"]


def _spans(block: Mapping[str, Any], motors: list[Any]) -> list[float]:
    """Spans [rad] of all motors: equally many in each, and those of the joints where these have elements."""
    if motors:
        return list(motors[0]["parameters"]["span"])
    return list(block["parameters"]["span"][0]) if block["model"] == "presliding" else [SPAN]


def _lower(law: dict[str, Any], joints: list[int], n: int, viscous: float) -> None:
    """Take viscous friction [Nm s/rad] off these joints."""
    for name in ("fv1", "fv"):
        if name in law:
            values = law[name] if isinstance(law[name], list | tuple) else [law[name]]
            values = list(values) * (n if len(values) == 1 else 1)
            for j in joints:
                values[j] = max(values[j] - viscous, 0.0)
            law[name] = values


def _empty(friction: Mapping[str, Any], n: int) -> dict[str, Any]:
    """A block whose joints keep their static law."""
    parameters: dict[str, Any] = {name: [value] * n for name, value in (LAW | {"fv1": 0.0}).items()}
    parameters |= {"span": [[SPAN]] * n, "level": [[0.0]] * n, "load": [[0.0]] * n}
    source = friction["source"]
    return {
        "source": source if isinstance(source, str) else source.get("parameters", source.get("*")),
        "model": "presliding",
        "parameters": parameters,
    }
