"""Whether contacts were at the TCP: a force at another link loads other joints, and reads as another force there."""

from __future__ import annotations

from itertools import product

import numpy as np

from robot_dynamics_ros.estimators.contact_limits import flagged
from robot_dynamics_ros.estimators.force_arguments import CONSTANTS, expected_moment
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log

ROWS = 8  # of each contact that are judged; their median counts
SURE = 100.0  # times likelier
BRIEF = 0.1  # s; of a shorter contact nothing is said: the observer shows its torques too small, or noise was flagged
PLACES = (0.0, 0.5, 1.0)  # along a link, from its joint to the next
WRIST = 2  # last links, on which a force is about that at the TCP
EXPECTED = {p.name: float(p.default) for p in CONSTANTS if p.name in ("expected_force", "small_contact")}


def beside_tcp(log: Log, robot: RobotFile) -> np.ndarray:
    """Contact at the TCP that a replay flagged -> whether a force at another link explains its torques SURE times
    better, at none that is BRIEF (K,) bool.
    """
    found = flagged(log)
    if not found or robot.n_joints <= WRIST + 1:
        return np.zeros(len(found), bool)
    rows = [of[np.unique(np.linspace(0, len(of) - 1, ROWS).astype(int))] for of in found]
    better = _better_elsewhere(log[np.concatenate(rows)], robot)
    parts = np.split(better, np.cumsum([len(k) for k in rows])[:-1])
    lasting = np.array([log.time[of[-1]] - log.time[of[0]] >= BRIEF for of in found])
    return lasting & (np.array([np.median(part) for part in parts]) > np.log(SURE))


def _better_elsewhere(log: Log, robot: RobotFile) -> np.ndarray:
    """Log likelihood of the likeliest place at another link less that of the TCP (N,)."""
    model, q = RobotModel(robot.chain(), robot.joint_names), np.ascontiguousarray(log.q)
    jacobian, points = model.jacobian(q), model.fk(q)[:, :, :3, 3]
    torques = log.external_joint_torque, log.external_joint_torque_std, expected_moment(robot)
    places = [
        _moved(jacobian, k, points[:, k] + share * (points[:, k + 1] - points[:, k]) - points[:, -1])
        for k, share in product(range(1, robot.n_joints - WRIST), PLACES)
    ]
    at_tcp = np.logaddexp(_evidence(jacobian, *torques), _evidence(_pressed(jacobian), *torques) - np.log(SURE))
    return np.max([_evidence(J, *torques) for J in places], axis=0) - at_tcp


def _pressed(jacobian: np.ndarray) -> np.ndarray:
    """Jacobian (N, 6, n) of a force along the axis of the last joint, without a moment, as a tool presses: through the
    centre of a wrist it loads none of its joints, as a force at the forearm does. It is as rare as SURE is sure: else
    weak pushes on a link would be taken for it.
    """
    pressed, axis = np.zeros_like(jacobian), jacobian[:, 3:, -1:]
    pressed[:, :3] = axis * (axis * jacobian[:, :3]).sum(axis=1, keepdims=True)
    return pressed


def _moved(jacobian: np.ndarray, link: int, offset: np.ndarray) -> np.ndarray:
    """Jacobian (N, 6, n) of a point of a link, offset (N, 3) from the TCP."""
    moved = jacobian.copy()
    moved[:, :3] += np.cross(moved[:, 3:], offset[:, :, None], axis=1)
    moved[:, :, link + 1 :] = 0.0
    return moved


def _evidence(jacobian: np.ndarray, tau: np.ndarray, std: np.ndarray, moment: float) -> np.ndarray:
    """Log of the likelihood of torques (N, n) under the priors of a force and moment at a point (wrench.hpp) (N,)."""
    found, shares = [], (1.0, EXPECTED["small_contact"])
    for force, turn in product(shares, shares):
        prior = np.repeat([force * EXPECTED["expected_force"], turn * moment], 3)
        scaled = jacobian * prior[:, None]
        spread = np.swapaxes(scaled, 1, 2) @ scaled + std[:, :, None] ** 2 * np.eye(tau.shape[1])
        fit = (tau * np.linalg.solve(spread, tau[:, :, None])[:, :, 0]).sum(axis=1)
        found.append(-0.5 * (fit + np.linalg.slogdet(spread)[1]))
    return np.logaddexp.reduce(found)
