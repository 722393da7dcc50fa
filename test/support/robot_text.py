"""A small valid robot file to break in tests."""

import copy
from pathlib import Path
from typing import Any

import yaml

TWO_JOINTS = yaml.safe_load("""
schema: 1
name: two
manufacturer: nobody
model: two joints
sources: {here: made up for tests}
kinematics:
  source: here
  convention: modified_dh
  joints: [{name: one, aliases: [J1], a: 0.0, alpha: 0.0, d: 0.3}, {name: two, a: 0.0, alpha: 1.5, d: 0.0}]
links:
  source: here
  values:
    - {mass: 3.0, com: [0.0, 0.0, 0.1], inertia: [0.1, 0.0, 0.0, 0.1, 0.0, 0.1]}
    - {mass: 2.0, com: [0.1, 0.0, 0.0], inertia: [0.1, 0.0, 0.0, 0.1, 0.0, 0.1]}
drives: {source: here, torque_side: motor, torque_constant: [10.0, 10.0], rotor_inertia: [1.0, 1.0],
         effort: {unit: Nm, includes_gravity: true}}
limits: {source: here, position_lower: [-3.0, -3.0], position_upper: [3.0, 3.0],
         velocity: [2.0, 2.0], torque: [50.0, 50.0]}
friction: {source: here, model: viscous_coulomb, parameters: {fc: [1.0, 1.0], fv: 2.0}}
sensing: {source: here, sample_rate: 100.0, temperature: false, rotor_encoder: false, joint_torque_sensor: false}
""")
MISSING = object()


def changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The valid robot with one entry replaced, or removed (MISSING)."""
    raw = copy.deepcopy(TWO_JOINTS)
    node: Any = raw
    for part in path[:-1]:
        node = node[part]
    if value is MISSING:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return raw


def write(folder: Path, raw: Any) -> Path:
    """The raw content as robot.yaml in a folder."""
    file = folder / "robot.yaml"
    file.write_text(raw if isinstance(raw, str) else yaml.safe_dump(raw), encoding="utf-8")
    return file
