"""Contact force of a robot file as a functional mock-up unit (FMI 2.0 co-simulation), by pythonfmu."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.estimators.core_file import STAGES
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.outputs import replacing
from robot_dynamics_ros.robot_file import load_robot, save_robot
from robot_dynamics_ros.signals import WRENCH_AXES, Sample

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

ROBOT = "robot.yaml"  # among the resources of the unit
INPUTS = {"q": "position [rad]", "qd": "velocity [rad/s]", "effort": "effort as the robot file declares it"}
# the script that pythonfmu loads inside the unit; it looks for a class of its own there
SCRIPT = """
from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Fmi2Variability, Real
from robot_dynamics_ros.estimators.fmu import Estimator, variables

class ContactForce(Fmi2Slave):
    description = "Contact force of a robot arm from position, velocity and effort"

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.estimator = Estimator(self.resources)
        for name, place, meaning, given in variables(self.estimator):
            kind = Boolean if place is None else Real
            array, index = place or (None, 0)
            causality = Fmi2Causality.input if given else Fmi2Causality.output
            more = {"start": 0.0} if given else {} if place else {"variability": Fmi2Variability.discrete}
            get = (lambda a=array, i=index: float(a[i])) if place else (lambda: self.estimator.contact)
            put = (lambda v, a=array, i=index: a.__setitem__(i, v)) if given else None
            self.register_variable(
                kind(name, causality=causality, description=meaning, getter=get, setter=put, **more), nested=False
            )

    def do_step(self, current_time, step_size):
        self.estimator.step(current_time + step_size)
        return True
"""


class Estimator:
    """The stages of core_text() on one sample per step; before the first estimate everything is 0."""

    def __init__(self, resources: str | Path) -> None:
        robot = load_robot(str(Path(resources) / ROBOT))
        self._pipeline, self.sample = Pipeline(robot, stages=STAGES), Sample(robot.joint_names)
        self.contact, self.wrench, self.std = False, np.zeros(6), np.zeros(6)
        for name in INPUTS:
            getattr(self.sample, name).fill(0.0)

    def step(self, time: float) -> None:
        """Take the inputs as measured at `time` [s]."""
        self.sample.stamp_ns = round(1e9 * time)
        self._pipeline.step(self.sample)
        if self.sample.has("external_wrench"):
            self.wrench[:], self.std[:] = self.sample.external_wrench, self.sample.external_wrench_std
            self.contact = bool(self.sample.contact[-1] > 0)


def variables(estimator: Estimator) -> Iterator[tuple[str, tuple[np.ndarray, int] | None, str, bool]]:
    """(name, (array, index) or None for `contact`, description, whether it is an input)."""
    joints = estimator.sample.joint_names
    for name, meaning in INPUTS.items():
        for i, joint in enumerate(joints):
            yield f"{name}[{i + 1}]", (getattr(estimator.sample, name), i), f"{joint}: {meaning}", True
    for name, values in (("wrench", estimator.wrench), ("wrench_std", estimator.std)):
        for i, axis in enumerate(WRENCH_AXES):
            meaning = "of the environment on the robot at the TCP, base orientation [N, Nm]"
            yield f"{name}.{axis}", (values, i), "standard deviation" if name == "wrench_std" else meaning, False
    yield "contact", None, "contact at the TCP", False


def write_fmu(robot: RobotFile, path: Path) -> None:
    """Write the unit; the tool that runs it needs a Python with this package. Raises CapabilityError without pythonfmu
    or where the robot file lacks numbers.
    """
    builder = _builder()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "contact_force_unit.py"
        script.write_text(SCRIPT)
        save_robot(robot, Path(folder) / ROBOT, command="robot-dynamics export --format fmu")
        Estimator(folder)
        unit = Path(folder) / "unit" / "unit.fmu"
        unit.parent.mkdir()
        builder.build_FMU(script, unit, project_files=[Path(folder) / ROBOT])
        with replacing(path) as temporary:
            shutil.copyfile(unit, temporary)


def _builder() -> Any:
    try:
        from pythonfmu import FmuBuilder
    except ImportError:
        raise CapabilityError('an FMU needs pythonfmu: pip install "robot_dynamics_ros[fmu]"') from None
    return FmuBuilder
