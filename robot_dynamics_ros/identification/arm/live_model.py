"""The model as a robot file holds it: consistent inertias, rotor inertias, friction laws with their presliding part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.estimators.force_arguments import torque_scale
from robot_dynamics_ros.identification.arm.cross_validation import fold_sets
from robot_dynamics_ros.identification.arm.friction_columns import LAW
from robot_dynamics_ros.identification.arm.friction_samples import FrictionSamples, Kind, friction_of
from robot_dynamics_ros.identification.arm.model import IdentifiedModel, Structure, passed, recorded
from robot_dynamics_ros.identification.arm.presliding import PreslidingProblem
from robot_dynamics_ros.identification.arm.presliding_shape import presliding_problems
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.solvers.least_squares import huber
from robot_dynamics_ros.identification.arm.written_law import (
    MotorLaw,
    WrittenLaw,
    choose_law,
    choose_motors,
    load_of_others,
    motor_friction,
    written_blocks,
)
from robot_dynamics_ros.identification.dataset.deflection import rotors_shown
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import motors_core, presliding_core
from robot_dynamics_ros.robot_file.geometry import coupling_matrix


@dataclass(frozen=True)
class LiveModel:
    """phi (10 n,), rotor inertia (n,) as it is in the effort, parameters of the friction law by name, of the hysteresis
    block (None: nothing is presliding) and of motors that turn with two joints; predicts the effort as nodes do.
    """

    rigid: RigidModel
    phi: np.ndarray
    rotor: np.ndarray
    friction: dict[str, list[float]]
    structure: Structure
    hysteresis: dict[str, Any] | None = None
    motors: tuple[MotorLaw, ...] = ()

    def friction_torque(self, motion: Motion, load: np.ndarray) -> np.ndarray:
        """Friction (N, n) [Nm] by the stage that runs live."""
        law = FrictionModel(LAW, self.friction, motion.n)
        own = [motor.presliding.parameters for motor in self.motors]
        memory = None if self.hysteresis is None else presliding_core(self.hysteresis, law)
        turning: dict[str, Any] = {}
        if own:
            turning = {"motors": motors_core(own), "turns": np.array([m.place for m in self.motors], dtype=float)}
        return friction_of(_core.FrictionStage(law.core, memory, **turning), motion, load)

    @property
    def coupled(self) -> np.ndarray:
        """J (n, n) [kg m2] of the motors' rotors, as a robot file has it."""
        return coupled_rotors(self.motors, len(self.rotor))

    def predict(self, motion: Motion) -> np.ndarray:
        """Effort (N, n) [Nm]; a filter that the log's effort has passed is applied, it is no part of the robot."""
        load = self.rigid.torque(self.phi, motion.q, motion.qd, motion.qdd)
        rotors = self.rotor * motion.qdd + motion.qdd @ self.coupled
        torque = load + rotors + self.friction_torque(motion, load)
        return recorded(self.structure.filters, torque, motion)


def fit_live(
    body: IdentifiedModel,
    rotor: np.ndarray,
    motion: Motion,
    known: Sequence[WrittenLaw] = (),
    turning: Sequence[MotorLaw] = (),
) -> tuple[LiveModel, list[WrittenLaw]]:
    """Model of the robot file and its law per joint: fitted to what the consistent body leaves of the effort.

    rotor (n,) [kg m2]: inertia of the rotors as it is in the effort. known, turning: laws of joints and motors of
    nearly the same bodies, whose kind, shape, driving signal and rotors' inertia are taken over.
    """
    motors, load = motor_friction(body, motion), body.load(motion)
    by_rotor = any(law.rotor for law in known) if known else rotors_shown(motion, load)
    known_rotors = coupled_rotors(turning, motion.n)  # where there are none, as each joint's own law has it
    shared = sum(motors.values(), motion.qdd @ np.where(known_rotors, known_rotors, body.coupled).T)
    joints = _samples(body, rotor, motion, load, shared, by_rotor)
    if not known:
        problems = presliding_problems(joints)
    else:
        kinds = [law.presliding.kind for law in known if law.presliding is not None] or [Kind()]
        kind = replace(kinds[0], widens=any(kind.widens for kind in kinds))
        problems = [PreslidingProblem(replace(s, kind=kind)) for s in joints]
    before: Sequence[WrittenLaw | None] = known or [None] * len(problems)
    chosen = [choose_law(problem, law) for problem, law in zip(problems, before, strict=True)]
    turning, laws = choose_motors(motors, problems, chosen, turning)
    laws = load_of_others(problems, laws, torque_scale(body.rigid.robot))
    friction, hysteresis = written_blocks(laws, turning)
    return LiveModel(body.rigid, body.phi, rotor, friction, body.structure, hysteresis, tuple(turning)), laws


def coupled_rotors(motors: Sequence[MotorLaw], n: int) -> np.ndarray:
    """J (n, n) [kg m2] of the rotors of motors that turn with two of n joints."""
    return coupling_matrix([(j, k, sign * m.inertia) for m in motors for j, k, sign in [m.place]], n)


def _samples(
    body: IdentifiedModel, rotor: np.ndarray, motion: Motion, load: np.ndarray, shared: np.ndarray, by_rotor: bool
) -> list[FrictionSamples]:
    """What the consistent body, whose load (N, n) [Nm] is known, the rotors' inertia and `shared` (N, n) [Nm] leave of
    every joint's effort.

    by_rotor: the rotors drive it where the motion has them and the torque is that of the motors.
    """
    predicted, given = body.predict(motion, load=load), motion.weights
    folds = fold_sets(motion)
    motor_side = body.rigid.robot.drives.torque_side == "motor"  # friction behind the gear follows the link
    joints: list[FrictionSamples] = []
    for j, chosen in enumerate(body.structure.filters):
        inertial = passed(chosen, load[:, j] + rotor[j] * motion.qdd[:, j] + shared[:, j], motion)
        y, v = motion.effort[:, j] - inertial, motion.qd[:, j]
        # less weight far off the identified model: collisions and stops are no friction
        weight = huber(motion.effort[:, j] - predicted[:, j], given[:, j])
        signals = (y, v, load[:, j], motion.position[:, j], weight, motion.start)
        rotor_angle = motion.rotor[:, j] if by_rotor and motor_side and motion.rotor is not None else None
        joints.append(FrictionSamples(*signals, folds, chosen, motion.rate, motion.t, rotor_angle))
    return joints
