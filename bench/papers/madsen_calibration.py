"""Calibrated against CAD model on three other trajectories [Madsen2020, ch5].

CAD model: the inertias of the robot file; the simulated robot is an individual whose masses, centres and inertias
differ from it. Friction and rotor inertia of both models are identified on the same run with the same laws, so that the
gap is that of the links alone. NMSE: mean squared error over mean torque, summed over the joints [eq. 22].
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bench.papers.labs import calibration as calibration_lab
from bench.papers.labs import lab
from bench.papers.table import Row, at_least, at_most, beside
from robot_dynamics_ros.identification.arm.identify import identify_recordings
from robot_dynamics_ros.identification.arm.model import IdentifiedModel, signals_of
from robot_dynamics_ros.identification.arm.solvers.consistency import initial_parameters
from robot_dynamics_ros.identification.arm.solvers.least_squares import JointRows, solve
from robot_dynamics_ros.identification.arm.state import Identification
from robot_dynamics_ros.identification.dataset.motion import at_lower_rate, low_pass
from robot_dynamics_ros.identification.dataset.recording import Recording

SOURCE = "Madsen2020 ch5"
PAPER = (28.5, 16.5, 24.9)  # %, Table 5
# How far the simulated individual is from CAD: what a drawing lacks (cables, covers, grease, screws). No source states
# it; on the estimation run it is smaller than the source's, where calibration lowered the NMSE by 81.4 %.
CAD_GAP = {"deviation.mass": 0.05, "deviation.com": 0.01, "deviation.inertia": 0.2}
GAP_NOTE = "individual off CAD by 5 % of mass, 1 cm, 20 % of inertia; friction identified alike for both"


def run(quick: bool = False) -> list[Row]:
    """Improvement of the NMSE on three trajectories, in the mean, and cond(W) of the excitation.

    The trajectories are not the source's, so one of them is not judged by one of the source's.
    """
    condition = calibration_lab.excitation().condition
    rows = [at_most(SOURCE, "condition number of the excitation, cond(W)", 66.0, condition)]
    *others, training = improvements()
    name = "NMSE below CAD model, mean of three trajectories"
    ours = float(np.mean([gain(*x) for x in others]))
    rows.append(at_least(SOURCE, name, round(sum(PAPER) / len(PAPER), 1), ours, "%", GAP_NOTE))
    for k, (before, after) in enumerate(others):
        note = f"no target: another trajectory than the source's; NMSE {before:.3f} -> {after:.3f} Nm"
        rows.append(
            beside(SOURCE, f"NMSE below CAD model, trajectory {k + 1}", PAPER[k], gain(before, after), "%", note)
        )
    note = "no target: the gap to CAD is an assumption; here it is smaller than the source's"
    rows.append(beside(SOURCE, "NMSE below CAD model, estimation run", 81.4, gain(*training), "%", note))
    return rows


def gain(before: float, after: float) -> float:
    """Relative improvement [%]."""
    return 100 * (1 - after / before)


def improvements() -> list[tuple[float, float]]:
    """NMSE [Nm] of the CAD and of the calibrated model on other trajectories, then on the estimation run."""
    robot = lab.ur5e()
    others = [calibration_lab.other_run(robot, k, CAD_GAP) for k in range(len(PAPER))]
    training = calibration_lab.excitation_run(robot, overrides=CAD_GAP)
    found = identify_recordings(robot, [training], others)
    cad = cad_model(found)
    return [(nmse(found, rec, cad), nmse(found, rec, found.consistent)) for rec in found.validation + found.training]


def cad_model(found: Identification) -> IdentifiedModel:
    """The identified model with the links of the robot file and friction fitted to what they leave."""
    motion = at_lower_rate(found.filtered(found.training[0]))
    phi, rigid, structure = np.asarray(initial_parameters(found.robot)), found.consistent.rigid, found.structure
    load = rigid.torque(phi, motion.q, motion.qd, motion.qdd)
    friction = []
    for j, s in enumerate(signals_of(motion, load)):
        A, rest = s.matrix(structure.laws[j]), load[:, j]
        chosen = structure.filters[j]
        if chosen is not None:
            A, rest = (chosen.apply(x, motion.rate, motion.start) for x in (A, rest))
        rows = JointRows(A, np.arange(A.shape[1]), motion.effort[:, j] - rest)
        own = np.array(structure.laws[j].non_negative)  # as of the identified model
        friction.append(solve([rows], A.shape[1], non_negative=own).x)
    return replace(found.consistent, phi=phi, friction=tuple(friction))


def nmse(found: Identification, rec: Recording, model: IdentifiedModel) -> float:
    """Sum over joints of mean squared error over mean torque [Nm] [eq. 22]; torque filtered as the state is [4.2]."""
    motion = found.filtered(rec)
    smooth = low_pass(motion.effort, found.structure.cutoff, 1 / motion.rate)
    squares = np.mean((smooth - model.predict(motion)) ** 2, axis=0)
    return float((squares / np.abs(smooth).mean(axis=0)).sum())
