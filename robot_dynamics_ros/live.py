"""Contact force in a loop of your own, without ROS: joint positions and efforts in; wrench, deviation, contact out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.core_file import STAGES
from robot_dynamics_ros.estimators.force_arguments import refuse_units
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.models.robot_report import refuse_implausible
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.signals import Sample, width

Numbers = Sequence[float] | np.ndarray
LAST_STAMP = 9e9  # s: stamps are nanoseconds in 64 bits


@dataclass(frozen=True)
class Contact:
    """One estimate, environment on robot; NaN where nothing could be estimated.

    wrench, wrench_std (6,): force [N] and moment [Nm] at the TCP in base axes; torque, torque_std (n,): on the joints
    [Nm]; contact: a joint or the TCP is in contact; status: ok, warming_up, degraded, or why there is no estimate.
    """

    wrench: np.ndarray
    wrench_std: np.ndarray
    torque: np.ndarray
    torque_std: np.ndarray
    contact: bool
    status: Status


class LiveForce:
    """The stages of the nodes (`Pipeline`) as one call per cycle of any arm, 30 Hz to 1 kHz.

    Units are not judged: degrees, or amperes where the file declares Nm, give a wrong force without an error. The nodes
    and `robot-dynamics replay` judge them: replay a recording first.

    robot: RobotFile, shipped name or file. parameters: stage -> name -> value, e.g. {"force": {"bandwidth": 10.0}}.
    Raises ConfigError, CapabilityError where the robot file lacks links or torque constants.
    """

    def __init__(
        self, robot: RobotFile | str | Path, parameters: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        self.robot = robot if isinstance(robot, RobotFile) else load_robot(robot)
        refuse_implausible(self.robot)
        self.pipeline = Pipeline(self.robot, parameters, STAGES)
        self._sample = Sample(self.robot.joint_names)
        self._carried = np.zeros(4)  # the payload that was named last

    def update(
        self,
        q: Numbers,
        qd: Numbers | None = None,
        effort: Numbers | None = None,
        *,
        temperature: Numbers | None = None,
        payload: Numbers | None = None,
        stamp: float | None = None,
    ) -> Contact:
        """One cycle. q (n,) [rad]; qd (n,) [rad/s], None: differentiated; effort (n,) in the unit that the robot file
        declares, Nm or A (current); temperature (n,) [deg C]; payload (4,): mass [kg] and centre [m], in the
        last link's frame, of what the arm carries beside the payload of its file; stamp [s], increasing, None: the time
        of this call.

        Raises DataError for an array of another length, a stamp that is no time and a payload that no arm carries;
        positions and efforts that are not finite give an estimate of NaN.
        """
        if stamp is not None and not abs(stamp) < LAST_STAMP:
            raise DataError(f"stamp = {stamp} is no time in seconds")
        sample = self._sample
        sample.clear()
        sample.stamp_ns = time.monotonic_ns() if stamp is None else round(1e9 * stamp)
        given = {"q": q, "qd": qd, "effort": effort, "temperature": temperature, "payload": payload}
        for name, values in given.items():
            if values is not None:
                setattr(sample, name, self._checked(name, values))
        if payload is not None and not np.array_equal(sample.payload, self._carried):
            refuse_units(sample.payload, self.robot)
            self._carried = sample.payload.copy()
        status = self.pipeline.step(sample)
        s = sample.copy()
        return Contact(
            s.external_wrench,
            s.external_wrench_std,
            s.external_joint_torque,
            s.external_joint_torque_std,
            bool((s.contact == 1.0).any()),
            status,
        )

    def _checked(self, name: str, values: Numbers) -> np.ndarray:
        array = np.asarray(values, dtype=float)
        expected = (width(name, self.robot.n_joints),)
        if array.shape != expected:
            raise DataError(f"{name} has shape {array.shape}, expected {expected}: {self.robot.name}")
        return array

    def tare(self) -> str:
        """Take the mean external torque of the last second as zero; returns the bias in words.

        Raises DataError with the reason where the stage refuses it: in contact, unsteady, too early.
        """
        done, words = self.pipeline.stage("force").tare()
        if not done:
            raise DataError(f"tare: {words}")
        return str(words)

    def reset(self) -> None:
        """Forget all state, e.g. after a pause; a tare stays."""
        self.pipeline.reset()
