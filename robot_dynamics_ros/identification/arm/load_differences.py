"""Recordings with different loads at the flange, which no file names: what is said of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.identification.arm.beside import solved_beside
from robot_dynamics_ros.identification.arm.contact import LEAST, arm_mass
from robot_dynamics_ros.identification.arm.model import motion_of
from robot_dynamics_ros.identification.arm.mounting import SURE
from robot_dynamics_ros.identification.arm.solvers.fitting import ROUGH_ROWS, prior_of
from robot_dynamics_ros.identification.arm.state import Identification
from robot_dynamics_ros.identification.dataset.motion import stack
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.dataset.stretches import thinned_rows
from robot_dynamics_ros.signals.speeds import MOVING
from robot_dynamics_ros.verdict import short_names


def load_differences(state: Identification) -> str:
    """A sentence about recordings, also to validate with, that carry another mass than the first: SURE deviations, and
    as much of the arm's weight as a force of contact differs by. "" without any.

    The mass is found beside all bodies and friction, by the columns of m, mX, mY, mZ of the last link in the rows of
    each further recording: one of another load is the same robot with other parameters of its last link.
    """
    trained = [rec.name for rec in state.training]
    held_out = [rec for rec in state.validation if rec.name not in trained]
    if len(trained) + len(held_out) < 2 or not state.rigid.gravity.any():
        return ""
    mass, std = _masses(state, held_out)
    least = LEAST * arm_mass(state.rigid.robot, state.consistent.phi)
    names = short_names([*trained, *(rec.name for rec in held_out)])
    said = ", ".join(
        f"{names[1 + r]} {abs(mass[r]):.2g} +- {std[r]:.1g} kg {'more' if mass[r] > 0 else 'less'} than {names[0]}"
        for r in np.flatnonzero(np.abs(mass) > np.maximum(SURE * std, least)).tolist()
    )
    return said and (
        f"loads differ, or one recording was pushed all the time: {said}; the file is of none of them, or judged with "
        "another: identify and validate with one load (--payload-from adds the other)"
    )


def _masses(state: Identification, held_out: list[Recording]) -> tuple[np.ndarray, np.ndarray]:
    """Mass (R - 1,) [kg] that each further recording carries beyond the first, and its deviation, by the joints that
    move: friction of one that stands bears any weight.
    """
    motions = [state.motion, *(motion_of([rec], state.structure) for rec in held_out)]
    edges = [*state.edges[:-1], *np.cumsum([len(m) for m in motions])]
    whole, further = stack(motions), range(1, len(edges) - 1)
    rows = thinned_rows(len(whole), ROUGH_ROWS)
    motion, which = whole.take(rows), np.searchsorted(edges, rows, side="right") - 1
    last = 10 * motion.n + np.arange(-4, 0)
    body = state.rigid.regressor(motion.q, motion.qd, motion.qdd, last)
    columns = np.concatenate([body * (which == r)[:, None] for r in further], axis=2)
    prior = prior_of(state.robot, state.rigid, state.fit.structure, state.options.prior, state.motion)
    motion = replace(motion, weight=motion.weights * (np.abs(motion.qd) > MOVING))
    found, std = solved_beside(state.fit, motion, columns, prior)
    return found[3::4], std[3::4]
