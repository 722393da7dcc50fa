"""Contact force as an observation of LeRobot (0.6): a step of its observation processor, and currents of its servos.

Imports without LeRobot.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import ConfigError, DataError
from robot_dynamics_ros.live import Contact, LiveForce
from robot_dynamics_ros.signals import WRENCH_AXES, joint_columns

try:
    from lerobot.processor import ObservationProcessorStep
except ImportError:  # the step then works on plain dicts of observations
    ObservationProcessorStep = object

OUTPUTS = ("wrench", "wrench_std", "torque", "torque_std", "contact")
EFFORTS = ("torque", "effort", "current")  # suffixes of an observation that LeRobot robots use, the first one counts
SIGN_BIT = 1 << 15  # of Feetech STS currents, which LeRobot hands on raw [SCServo SMS_STS::ReadCurrent]


@dataclass
class ExternalWrenchStep(ObservationProcessorStep):  # type: ignore[misc]
    """Adds `external_<output>.<entry>` to observations `<joint>.pos` [deg], `.vel` [deg/s], `.torque` or `.current`.

    robot_file: name or file whose joints, or their aliases, are those of the observation, with their zeros, directions
    and unit of effort. outputs: of OUTPUTS. A reading without an estimate repeats the last one; `estimate.status` says
    why.
    """

    robot_file: str
    outputs: tuple[str, ...] = ("wrench", "contact")
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = [name for name in self.outputs if name not in OUTPUTS]
        if unknown:
            raise ConfigError("ExternalWrenchStep", "outputs", f"{unknown[0]!r} is none of {', '.join(OUTPUTS)}")
        self.force = LiveForce(self.robot_file, self.parameters)
        self.estimate: Contact | None = None
        self._last = dict.fromkeys(self._names(), 0.0)

    def observation(self, observation: dict[str, Any], stamp: float | None = None) -> dict[str, Any]:
        """The observation with the entries of the outputs; stamp [s], None: the time of this call.

        Raises DataError naming a joint without position or effort.
        """
        suffix = next((s for s in EFFORTS if any(_is(key, s) for key in observation)), EFFORTS[-1])
        has_velocity = any(_is(key, "vel") for key in observation)
        q, effort = np.deg2rad(self._joints(observation, "pos")), self._joints(observation, suffix)
        qd = np.deg2rad(self._joints(observation, "vel")) if has_velocity else None
        self.estimate = self.force.update(q, qd, effort, stamp=stamp)
        values = np.concatenate([np.atleast_1d(getattr(self.estimate, name)).astype(float) for name in self.outputs])
        if np.isfinite(values).all() and np.isfinite(self.estimate.wrench).all():
            self._last = dict(zip(self._names(), values.tolist(), strict=True))
        return {**observation, **self._last}

    def transform_features(self, features: dict[Any, dict[str, Any]]) -> dict[Any, dict[str, Any]]:
        """The features with a float per entry; LeRobot joins them to `observation.state` with their names."""
        kind = next(key for key in features if key == "OBSERVATION")
        return {**features, kind: {**features[kind], **dict.fromkeys(self._names(), float)}}

    def get_config(self) -> dict[str, Any]:
        """What a saved pipeline holds."""
        names = ("robot_file", "outputs", "parameters")
        return {name: str(v) if isinstance(v := getattr(self, name), Path) else v for name in names}

    def reset(self) -> None:
        """Forget the past of the observers, at the start of an episode."""
        self.force.reset()
        self._last = dict.fromkeys(self._last, 0.0)

    def _names(self) -> list[str]:
        joints, axes = self.force.robot.joint_names, [axis.lower() for axis in WRENCH_AXES]
        entries = {"contact": [""]} | {name: joints for name in OUTPUTS if "torque" in name}
        return [f"external_{name}.{entry}".rstrip(".") for name in self.outputs for entry in entries.get(name, axes)]

    def _joints(self, observation: dict[str, Any], suffix: str) -> np.ndarray:
        """Numbers (n,) of `<joint>.<suffix>`. Raises DataError naming a joint that is missing."""
        present = {key.removesuffix(f".{suffix}"): value for key, value in observation.items() if _is(key, suffix)}
        if not present:
            kinds = ", .".join(EFFORTS) if suffix in EFFORTS else suffix
            hint = "; a robot with a servo bus has its currents by the mixin Currents" if suffix in EFFORTS else ""
            raise DataError(f"observation has no JOINT.{kinds}{hint}")
        robot, values = self.force.robot, list(present.values())
        try:
            columns = joint_columns(list(present), robot.joint_names, robot.joint_aliases)
        except DataError as error:
            raise DataError(f"observation JOINT.{suffix}: {error}") from None
        return np.array([float(values[k]) for k in columns])


class Currents:
    """Mixin before a LeRobot robot with a servo bus: its observations hold `<motor>.current` [A], too.

    ampere: A per step of Present_Current.
    """

    ampere: float
    bus: Any

    @property
    def observation_features(self) -> dict[str, Any]:
        """Those of the robot, and a float per motor."""
        own: dict[str, Any] = super().observation_features  # type: ignore[misc]
        return {**own, **{f"{motor}.current": float for motor in self.bus.motors}}

    def get_observation(self) -> dict[str, Any]:
        """That of the robot, and the currents of its motors."""
        seen: dict[str, Any] = super().get_observation()  # type: ignore[misc]
        raw = self.bus.sync_read("Present_Current")
        signed = {motor: SIGN_BIT - v if v >= SIGN_BIT else v for motor, v in raw.items()}
        return {**seen, **{f"{motor}.current": self.ampere * v for motor, v in signed.items()}}


def _is(key: str, suffix: str) -> bool:
    return key.endswith(f".{suffix}") and not key.startswith("external_")
