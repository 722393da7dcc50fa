"""The robot file as a value: blocks, numpy arrays on demand, and the chain every dynamics routine reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import PrivateAttr, model_validator
from pydantic_core import PydanticCustomError

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.robot_file import blocks as b
from robot_dynamics_ros.robot_file.consistency import RobotFields, inconsistencies
from robot_dynamics_ros.robot_file.geometry import coupling_matrix, inertia_about_origin, joint_placement, placement
from robot_dynamics_ros.robot_file.problems import validated

if TYPE_CHECKING:
    from pandas import DataFrame

RATE = 500.0  # Hz, of most controllers
_MODELS = ("friction", "hysteresis", "thermal", "stiffness")
_PYDANTIC = {"construct", "copy", "dict", "from_orm", "json", "parse_file", "parse_obj", "parse_raw", "schema"} | {
    *("schema_json", "update_forward_refs", "validate")
}


class RobotFile(RobotFields):
    """All parameters of one robot; unknown numbers are null, and access to them raises CapabilityError."""

    _file: str = PrivateAttr("robot file")

    @model_validator(mode="after")
    def _consistent(self) -> RobotFile:
        found = inconsistencies(self)
        if found:
            raise PydanticCustomError("inconsistent", "inconsistent", {"found": found})
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RobotFile) and self.raw() == other.raw()

    def __hash__(self) -> int:
        return hash((self.name, self.provenance))

    def __repr__(self) -> str:
        models = [f"{name} {getattr(self, name).model}" for name in _MODELS if getattr(self, name) is not None]
        return (
            f"<RobotFile {self.name}: {self.manufacturer} {self.model}, {self.n_joints} joints; "
            f"{', '.join(models) or 'no joint models'}; {self._file}>"
        )

    __str__ = __repr__

    def __dir__(self) -> list[str]:
        """Attributes for completion, without those of the validation library."""
        return [name for name in super().__dir__() if not name.startswith("model_") and name not in _PYDANTIC]

    def to_pandas(self) -> DataFrame:
        """DataFrame of all numbers per joint: one row per joint, columns by dotted field; NaN where unknown.

        Raises CapabilityError where pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise CapabilityError("to_pandas needs pandas: pip install 'robot_dynamics_ros[pandas]'") from None
        blocks = {"limits": dict(self.limits), "drives": dict(self.drives)}
        models = {f"{name}.parameters": getattr(self, name) for name in _MODELS}
        blocks |= {name: model.parameters for name, model in models.items() if model is not None}
        columns = {
            f"{block}.{name}": [np.nan if v is None else v for v in values]
            for block, fields in blocks.items()
            for name, values in fields.items()
            if _per_joint(values, self.n_joints)
        }
        return pandas.DataFrame(columns, index=pandas.Index(self.joint_names, name="joint"), dtype=float)

    @property
    def file(self) -> str:
        """Where this robot was loaded from, for messages."""
        return self._file

    @property
    def n_joints(self) -> int:
        """Number of joints n."""
        return len(self.kinematics.joints)

    @property
    def joint_names(self) -> list[str]:
        """Joint names from base to tip."""
        return [joint.name for joint in self.kinematics.joints]

    @property
    def joint_aliases(self) -> dict[str, str]:
        """Alias -> joint name, for bags and drivers that name joints differently; includes the names themselves."""
        return {a: j.name for j in self.kinematics.joints for a in (j.name, *j.aliases)}

    @property
    def rate(self) -> float:
        """Samples per second of the controller [Hz]; RATE where the file does not state them."""
        return float(self.sensing.sample_rate or RATE)

    @property
    def gravity(self) -> np.ndarray:
        """Gravity (3,) [m/s2] in the base frame."""
        return np.array(self.kinematics.gravity)

    def has(self, field: str) -> bool:
        """True when every number of the dotted `field` is known."""
        try:
            self.array(field)
        except CapabilityError:
            return False
        return True

    def array(self, field: str) -> np.ndarray:
        """Numbers of a dotted field (`drives.torque_constant`, `friction.parameters.fc`) as float64, broadcast to n.

        Raises CapabilityError where the field is null or does not exist.
        """
        value = self._value(field)
        if value is None:
            raise self._unknown(field)
        return self._numbers(field, value)

    def _value(self, field: str) -> Any:
        value: Any = self
        for part in field.split("."):
            value = value.get(part) if isinstance(value, Mapping) else getattr(value, part, None)
        return value

    def array_or(self, field: str, otherwise: float | np.ndarray) -> np.ndarray:
        """`array` of a field with a number per joint, or `otherwise`, one or (n,), of joints where it is unknown."""
        if self.has(field):
            return self.array(field)
        value = self._value(field)
        values = value if isinstance(value, tuple) else (None,)
        known = np.array([v if isinstance(v, int | float) else np.nan for v in values])
        return np.where(np.isnan(known), np.full(self.n_joints, otherwise, dtype=float), known)

    def _unknown(self, field: str, joints: str = "") -> CapabilityError:
        return CapabilityError(
            f"{self.name}: {field}{joints} is unknown (null in {self._file}); identify it or fill it in"
        )

    def _numbers(self, field: str, value: Any) -> np.ndarray:
        values = value if isinstance(value, tuple) else (value,)
        if len(values) == 1 and isinstance(value, tuple):
            values = values * self.n_joints
        missing = [i for i, v in enumerate(values) if v is None or (isinstance(v, tuple) and None in v)]
        if missing:
            raise self._unknown(field, f" of {', '.join(self.joint_names[i] for i in missing)}")
        return np.array(values if isinstance(value, tuple) else value, dtype=float)

    @property
    def effort_inertia(self) -> np.ndarray:
        """Inertia beside the links (n,) [kg m2] as it appears in effort: zero on the link side.

        For an effort without rotor torque it is `drives.effort.residual_inertia`, below zero where the controller
        subtracts too much.

        Raises CapabilityError where effort contains it and it is unknown.
        """
        if self.drives.torque_side == "link":
            return np.zeros(self.n_joints)
        if not self.drives.effort.includes_rotor_inertia:
            return self.array_or("drives.effort.residual_inertia", 0.0)
        return self.array("drives.rotor_inertia")

    @property
    def coupled_inertia(self) -> np.ndarray:
        """J (n, n) [kg m2] beside `effort_inertia` as it appears in effort: tau += J qdd, J_jk = J_kj = s I of rotors
        that turn with two joints; zero on the link side, and where the effort holds no rotor torque (source: own).
        """
        held = self.drives.torque_side == "motor" and self.drives.effort.includes_rotor_inertia
        motors = self.hysteresis.motors if held and self.hysteresis is not None else ()
        number = self.joint_names.index
        turns = [(number(m.joint), number(m.turns_with), m.sign * m.rotor_inertia) for m in motors]
        return coupling_matrix(turns, self.n_joints)

    @property
    def pose_range(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions (n,), (n,) [rad] within the limits: half a turn from zero, a quarter from a limit beyond that."""
        lower, upper = self.array_or("limits.position_lower", -np.inf), self.array_or("limits.position_upper", np.inf)
        low = np.maximum(lower, np.minimum(-np.pi, upper - np.pi / 2))
        return low, np.minimum(upper, np.maximum(np.pi, lower + np.pi / 2))

    def random_poses(self, count: int) -> np.ndarray:
        """q (count, n) [rad], uniform within pose_range, always the same ones."""
        return np.random.default_rng(0).uniform(*self.pose_range, (count, self.n_joints))

    @property
    def presliding(self) -> b.Hysteresis | None:
        """The hysteresis block where its elements have free spans; None for the E-GMS law, and without a block."""
        return self.hysteresis if self.hysteresis is not None and self.hysteresis.model == "presliding" else None

    @property
    def heat_balance(self) -> b.ModelBlock | None:
        """The thermal block where it knows every joint; None otherwise, as after the identification of one joint."""
        values = [] if self.thermal is None else self.thermal.parameters.values()
        return None if any(None in (v if isinstance(v, (list, tuple)) else [v]) for v in values) else self.thermal

    def _placements(self) -> np.ndarray:
        for joint in self.kinematics.joints:
            if None in ((joint.a, joint.alpha, joint.d) if self.is_dh else (joint.xyz, joint.rpy)):
                raise self._unknown(f"kinematics of {joint.name}")
        return np.array([joint_placement(joint, self.is_dh) for joint in self.kinematics.joints])

    @property
    def is_dh(self) -> bool:
        """True when the kinematics are modified Denavit-Hartenberg parameters."""
        return self.kinematics.convention == "modified_dh"

    @property
    def link_parameters(self) -> np.ndarray:
        """Inertial parameters (n, 10) about the link frame origins, without payload [Madsen2020 2.49]."""
        if self.links is None or (self.links.values is None and self.links.parameters is None):
            raise self._unknown("links")
        if self.links.parameters is not None:
            return np.array(self.links.parameters)
        return np.array([inertia_about_origin(v.mass, v.com, v.inertia) for v in self.links.values or ()])

    @property
    def inertial_parameters(self) -> np.ndarray:
        """Inertial parameters (10 n,), per link XX XY XZ YY YZ ZZ mX mY mZ m, without payload."""
        return self.link_parameters.ravel()

    def chain(self, payload: b.Payload | None = None, gravity: Any = None) -> _core.Chain:
        """Chain of the core with `payload` (None: the file's) and `gravity` (3,) [m/s2] (None: the file's)."""
        body = self.payload if payload is None else payload
        return self.chain_with_links(self.link_parameters, gravity).with_payload(body.mass, body.com, body.inertia)

    def kinematic_chain(self) -> _core.Chain:
        """Chain without masses, for robots whose links are unknown: kinematics only."""
        return self.chain_with_links(np.zeros((self.n_joints, 10)), np.zeros(3))

    def chain_with_links(self, links: np.ndarray, gravity: Any = None) -> _core.Chain:
        """Chain of this robot's kinematics with other link parameters (n, 10), without payload; gravity as in chain."""
        g = self.gravity if gravity is None else np.ascontiguousarray(gravity, dtype=float)
        tool = self.kinematics.tool
        return _core.Chain(self._placements(), np.ascontiguousarray(links), placement(tool.xyz, tool.rpy), g)

    def with_updates(self, updates: Mapping[str, Any], sources: Mapping[str, str] | None = None) -> RobotFile:
        """Copy with dotted fields replaced (`{"friction.parameters.fc": array}`), validated; `sources` are added.

        Raises ConfigError for an unknown field or a value out of range.
        """
        raw = self.raw()
        raw["sources"].update(sources or {})
        for field, value in updates.items():
            _assign(raw, field, _plain(value), self._file)
        robot = validated(RobotFile, raw, self._file)
        robot._file = self._file
        return robot

    def raw(self) -> dict[str, Any]:
        """Plain lists and dicts as they stand in the file."""
        return _plain(self.model_dump(mode="python", by_alias=True))


def _per_joint(values: Any, n_joints: int) -> bool:
    """Whether a field holds one number (or null) per joint."""
    return (
        isinstance(values, tuple)
        and len(values) == n_joints
        and all(v is None or (isinstance(v, (int, float)) and not isinstance(v, bool)) for v in values)
    )


def _plain(value: Any) -> Any:
    if isinstance(value, b.Block):
        return _plain(value.model_dump(mode="python", by_alias=True))
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


def _assign(raw: dict[str, Any], field: str, value: Any, file: str) -> None:
    *parents, last = field.split(".")
    node: Any = raw
    for part in parents:
        if not isinstance(node, dict) or not isinstance(node.get(part), dict):
            raise ConfigError(file, field, "no such field to update")
        node = node[part]
    if not isinstance(node, dict):
        raise ConfigError(file, field, "no such field to update")
    node[last] = value
