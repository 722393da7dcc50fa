"""Health of the friction model: drift of measured friction against it, for diagnostics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.parameters import Parameter, resolve
from robot_dynamics_ros.signals import Log, Sample

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile


class FrictionHealthStage:
    """Drift of measured friction against the model, for diagnostics: it writes no signal."""

    name = "friction_health"
    reads = ("qd", "drive_torque", "model_torque", "friction_torque")
    optional = ("contact",)
    writes = ()
    parameters = (
        Parameter("time_constant", 300.0, "time constant of the average", "s", 1.0, 1e6),
        Parameter("moving", 0.05, "speed above which friction is compared", "rad/s", 1e-3, 10.0),
        Parameter("settle", 30.0, "free motion before a level is reported", "s", 0.0, 1e6),
        Parameter("warn", 0.3, "drift that warns, share of the Coulomb level", "", 0.01, 10.0),
        Parameter("error", 0.6, "drift that is an error, share of the Coulomb level", "", 0.01, 10.0),
    )

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.core: Any = None

    def configure(self, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
        """Build for a robot; raises ConfigError for a bad parameter."""
        p = resolve(self.parameters, parameters, self.name)
        level = None
        if robot.friction is not None and robot.drives.torque_side == "motor":
            level = FrictionModel.from_robot(robot).coulomb_level().tolist()
        self.core = _core.FrictionHealth(robot.n_joints, p["time_constant"], p["moving"])
        self.names, self.values, self.level = robot.joint_names, p, level

    def reset(self) -> None:
        """Forget the averages."""
        self.core.reset()

    def step(self, sample: Sample) -> Status:
        """Advance by one sample."""
        if self.level is None:
            return Status.unavailable
        s = sample
        return self.core.step(s.stamp_ns, s.qd, s.drive_torque, s.model_torque, s.friction_torque, s.contact)

    def run(self, log: Log) -> np.ndarray:
        """The same over a log."""
        if self.level is None:
            return np.full(len(log), int(Status.unavailable), dtype=np.int32)
        columns = [log.get(name) for name in (*self.reads, *self.optional)]
        return self.core.run(log.stamp_ns, *columns)

    def health(self) -> list[dict[str, Any]]:
        """Per joint: level unknown, ok, warn or error; drift (above the model) and scatter [Nm], seen [s]."""
        result = []
        for i, name in enumerate(self.names):
            drift, scatter, seen = self.core.drift(i), self.core.scatter(i), self.core.seen(i)
            known = self.level is not None and seen >= self.values["settle"]
            share = abs(drift) / max(self.level[i], 1e-9) if known and self.level else 0.0
            level = "error" if share > self.values["error"] else "warn" if share > self.values["warn"] else "ok"
            state = {"level": level if known else "unknown", "drift": drift, "scatter": scatter, "seen": seen}
            result.append({"joint": name} | state)
        return result
