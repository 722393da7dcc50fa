"""The model as a robot file holds it: consistent inertias, rotor inertias, a static friction law, memory where it
helps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.identification.arm.coupled import coupled_motors, coupled_torque
from robot_dynamics_ros.identification.arm.model import IdentifiedModel, Structure
from robot_dynamics_ros.identification.arm.presliding import JointData, JointMemory, as_block, clock, fit_memory
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.solvers.least_squares import huber
from robot_dynamics_ros.identification.arm.static_law import LAW, StaticFit, as_table, fit_joint
from robot_dynamics_ros.identification.arm.tuning import fold_sets, stretches
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import maxwell_slip

SAMPLES = 20_000  # used for the static law: a handful of parameters per joint


@dataclass(frozen=True)
class LiveModel:
    """phi (10 n,), rotor inertia (n,) as it is in the effort, parameters of the friction law by name, of the hysteresis
    block (None: no joint has memory), and motors that turn with two joints (K, 6); predicts the effort as nodes do.
    """

    rigid: RigidModel
    phi: np.ndarray
    rotor: np.ndarray
    friction: dict[str, list[float]]
    structure: Structure
    memory: dict[str, Any] | None = None
    coupled: np.ndarray | None = None

    def friction_torque(self, motion: Motion, load: np.ndarray) -> np.ndarray:
        """Friction (N, n) [Nm] by the stage that runs live."""
        law = FrictionModel(LAW, self.friction, motion.n)
        if self.memory is None and self.coupled is None:
            return law.torque(motion.qd, load)
        memory = None if self.memory is None else self._memory(law, motion.n)
        out, std = np.empty_like(load), np.empty_like(load)
        columns = [np.ascontiguousarray(x) for x in (motion.position, motion.qd, load)]
        stage = _core.FrictionStage(law.core, memory, self.coupled)
        stage.run(clock(motion.start, motion.rate), *columns, None, None, out, std)
        return out

    def _memory(self, law: FrictionModel, n: int) -> Any:
        m = {k: np.array(np.broadcast_to(self.memory[k], n), dtype=float) for k in ("b", "fc0", "fc1")}
        return _core.EGms(law.core, maxwell_slip(n, backlash=m["b"]), m["fc0"], m["fc1"], _no_error(n))

    def predict(self, motion: Motion) -> np.ndarray:
        """Effort (N, n) [Nm]; a filter that the log's effort has passed is applied, it is no part of the robot."""
        load = self.rigid.torque(self.phi, motion.q, motion.qd, motion.qdd)
        out = load + self.rotor * motion.qdd + self.friction_torque(motion, load)
        for j, chosen in enumerate(self.structure.filters):
            if chosen is not None:
                out[:, j] = chosen.apply(out[:, j], motion.rate, motion.start)
        return out


def _no_error(n: int) -> np.ndarray:
    return np.zeros((n, 1))


def fit_live(body: IdentifiedModel, rotor: np.ndarray, motion: Motion) -> LiveModel:
    """Static law of every joint fitted to what the consistent body leaves of the effort."""
    if len(motion) > SAMPLES:
        motion = motion.take(stretches(len(motion), SAMPLES, 20))
    load, predicted = body.load(motion), body.predict(motion)
    fits: list[StaticFit] = []
    memories: list[JointMemory | None] = []
    folds, limits = fold_sets(motion), body.rigid.robot.array_or("limits.velocity", 1.0)
    motors = coupled_motors(body)
    shared = coupled_torque(body, motors, motion)
    for j, chosen in enumerate(body.structure.filters):
        inertial = load[:, j] + rotor[j] * motion.qdd[:, j] + shared[:, j]
        if chosen is not None:
            inertial = chosen.apply(inertial, motion.rate, motion.start)
        y = motion.effort[:, j] - inertial
        terms = body.structure.laws[j].terms
        # less weight far off the identified model: collisions and stops are no friction
        weight = huber(motion.effort[:, j] - predicted[:, j], np.ones(len(motion)))
        v, q = motion.qd[:, j], motion.position[:, j]
        fit = fit_joint(y, v, load[:, j], weight, chosen, motion.rate, motion.start, terms, limits[j])
        data = JointData(y, v, load[:, j], q, weight, motion.start, folds, chosen, motion.rate, limits[j])
        memory = fit_memory(data, fit.parameters)
        fits.append(fit if memory is None else StaticFit(memory.law, fit.residual))
        memories.append(memory)
    coupled = motors if len(motors) else None
    return LiveModel(body.rigid, body.phi, rotor, as_table(fits), body.structure, as_block(memories), coupled)
