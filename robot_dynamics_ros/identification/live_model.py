"""The model as a robot file holds it: consistent inertias, rotor inertias and a static friction law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.identification.least_squares import HUBER
from robot_dynamics_ros.identification.model import IdentifiedModel, Structure
from robot_dynamics_ros.identification.recording import Motion
from robot_dynamics_ros.identification.rigid import RigidModel
from robot_dynamics_ros.identification.static_law import LAW, StaticFit, as_table, fit_joint
from robot_dynamics_ros.models.friction import FrictionModel

SAMPLES = 20_000  # used for the static law: a handful of parameters per joint


@dataclass(frozen=True)
class LiveModel:
    """phi (10 n,), rotor inertia (n,), parameters of the friction law by name; predicts the effort as nodes do."""

    rigid: RigidModel
    phi: np.ndarray
    rotor: np.ndarray
    friction: dict[str, list[float]]
    structure: Structure

    def predict(self, motion: Motion) -> np.ndarray:
        """Effort (N, n) [Nm]; a filter that the log's effort has passed is applied, it is no part of the robot."""
        load = self.rigid.torque(self.phi, motion.q, motion.qd, motion.qdd)
        out = load + self.rotor * motion.qdd + FrictionModel(LAW, self.friction, motion.n).torque(motion.qd, load)
        for j, chosen in enumerate(self.structure.filters):
            if chosen is not None:
                out[:, j] = chosen.apply(out[:, j], motion.rate, motion.start)
        return out


def fit_live(body: IdentifiedModel, rotor: np.ndarray, motion: Motion) -> LiveModel:
    """Static law of every joint fitted to what the consistent body leaves of the effort."""
    from robot_dynamics_ros.identification.tuning import stretches

    if len(motion) > SAMPLES:
        motion = motion.take(stretches(len(motion), SAMPLES, 20))
    load, predicted = body.load(motion), body.predict(motion)
    fits: list[StaticFit] = []
    for j, chosen in enumerate(body.structure.filters):
        inertial = load[:, j] + rotor[j] * motion.qdd[:, j]
        if chosen is not None:
            inertial = chosen.apply(inertial, motion.rate, motion.start)
        y = motion.effort[:, j] - inertial
        terms = body.structure.laws[j].terms
        weight = _weights(motion.effort[:, j] - predicted[:, j])
        fits.append(fit_joint(y, motion.qd[:, j], load[:, j], weight, chosen, motion.rate, motion.start, terms))
    return LiveModel(body.rigid, body.phi, rotor, as_table(fits), body.structure)


def _weights(residual: np.ndarray) -> np.ndarray:
    """Less weight beyond HUBER robust deviations of the identified model: collisions and stops are no friction."""
    scale = max(1.4826 * float(np.median(np.abs(residual))), 1e-9)
    return np.minimum(1.0, HUBER * scale / np.maximum(np.abs(residual), 1e-12))
