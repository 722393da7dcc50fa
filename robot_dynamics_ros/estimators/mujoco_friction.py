"""Friction of a robot file in MuJoCo: `mujoco.set_mjcb_passive(MujocoFriction(robot))`.

For what no file format holds: memory of many spans, load and direction. The model is the export without friction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile


class MujocoFriction:
    """Passive torque -f(q, qd, gravity torque) [Nm] of the file's law on the joints of its names, once per time step.

    Temperature is that of reference. One arm per process: MuJoCo has one callback for all models.
    Raises CapabilityError for a robot without friction.
    """

    def __init__(self, robot: RobotFile) -> None:
        if robot.friction is None:
            raise CapabilityError(f"{robot.name}: friction is null in {robot.file}; identify it first")
        self._stage, self._body = FrictionStage.of(robot), RobotModel(robot.chain(), robot.joint_names)
        self._names, self._out, self._std = robot.joint_names, np.zeros(robot.n_joints), np.zeros(robot.n_joints)
        self._stamp, self._time, self._places = 0, -1.0, (np.zeros(0, int),) * 2

    def reset(self) -> None:
        """Forget the motion and the model."""
        self._stage.reset()
        self._time, self._places = -1.0, (np.zeros(0, int),) * 2

    def step(self, q: np.ndarray, qd: np.ndarray, dt: float) -> np.ndarray:
        """Friction (n,) [Nm] after another dt [s]."""
        self._stamp += round(1e9 * dt)
        load = self._body.gravity(np.array(q))
        self._stage.core.step(
            self._stamp, np.array(q), np.array(qd), load, None, None, None, None, self._out, self._std
        )
        return self._out

    def __call__(self, model: Any, data: Any) -> None:
        """What MuJoCo calls; evaluations at the same time have no memory of each other."""
        if not len(self._places[0]):
            joints = [model.joint(name) for name in self._names]
            self._places = np.array([j.qposadr[0] for j in joints]), np.array([j.dofadr[0] for j in joints])
        q, v = self._places
        if data.time != self._time:
            self.step(data.qpos[q], data.qvel[v], model.opt.timestep)
            self._time = data.time
        data.qfrc_passive[v] -= self._out
