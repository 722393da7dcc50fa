"""Refusals and warnings about what the data cannot support: units, rest, weak excitation, extrapolation."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.model import IdentifiedModel, joint_rows
from robot_dynamics_ros.identification.arm.parameters import other_masses
from robot_dynamics_ros.identification.arm.rigid import standard_names
from robot_dynamics_ros.identification.arm.solvers.consistency import initial_links, link_scales
from robot_dynamics_ros.identification.arm.state import Identification, note
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.recording import TRAVEL, folded
from robot_dynamics_ros.identification.dataset.stretches import thinned
from robot_dynamics_ros.identification.metrics import mean_r2, metrics
from robot_dynamics_ros.robot_file.capabilities import missing_samples, unseen_rotors
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.speeds import MOVING

CONDITION = 500.0  # of the column-scaled regressor: above it some combinations of parameters are dominated by noise
POOR = 2700.0  # extrapolation was seen to fail above it (reference datasets)
LOOSE = 0.3  # standard deviation over the typical size of such a parameter above which the data do not support it
NOTHING = 0.2  # mean R2 on the identification data below which the effort is not that of these joints
ROWS = 12_000
MAX_OUTSIDE = 0.2  # share of validation samples beyond the identified speeds above which there is a warning


class NoMotion(DataError):
    """A recording in which the robot does not move."""


def check_moves(log: Log, name: str) -> None:
    """Raises NoMotion for a robot that does not move."""
    span = np.nanmax(np.ptp(log.q, axis=0))
    if not span > TRAVEL:
        raise NoMotion(
            f"{name}: the robot does not move (largest travel {1e3 * span:.2g} mrad); record motion of every joint"
        )


def check_data(state: Identification) -> None:
    """Add the notes of the recordings, and warnings about what the data do not support."""
    pairs = [(r.name, note) for r in (*state.training, *state.validation) for note in r.notes]
    notes = folded([note for _, note in pairs], [name for name, _ in pairs])
    note(state.statements, *notes, state.mounting)
    note(state.warnings, state.mounting, *(n for n in notes if "please check" in n))
    state.warnings += check_fit(state.fit, state.motion) + check_excitation(state.fit, state.motion)
    note(state.statements, of_initial_model(state.fit))
    state.warnings += check_stream(state) + check_extrapolation(state)
    note(state.warnings, "" if state.other_robot else other_masses(state.robot, state.effort))


def check_excitation(model: IdentifiedModel, motion: Motion) -> list[str]:
    """Warnings about joints that hardly move and a bad condition number."""
    names, s = model.rigid.robot.joint_names, model.solution
    found = []
    speed, span = np.abs(motion.qd).max(0), np.ptp(motion.q, axis=0)
    for j, name in enumerate(names):
        if speed[j] < 0.05 or span[j] < 0.1:
            found.append(
                f"{name} is not excited (travel {span[j]:.2g} rad, speed {speed[j]:.2g} rad/s): its parameters are "
                f"not identified"
            )
    if not s.condition < CONDITION:
        use = "do not use it" if not s.condition < POOR else "use it with care"
        found.append(f"weak excitation: condition number {s.condition:.0f} (good below 100): {use} for other motions")
    return found


def check_fit(model: IdentifiedModel, motion: Motion) -> list[str]:
    """A warning where even the identification data are not explained, by ROWS of them; R2 of a joint that hardly moves
    can be far below 0, and counts as 0.
    """
    motion = thinned(motion, ROWS)
    r2 = mean_r2(np.maximum(metrics(motion.effort, model.predict(motion))["r2"], 0.0))
    if not r2 < NOTHING:
        return []
    return [
        f"the motion explains nothing of the effort (mean R2 {r2:.2f} on the identification data): another robot's or "
        "another topic's effort, a clock that does not match, or noise; do not use the result"
    ]


def of_initial_model(model: IdentifiedModel) -> str:
    """The base parameters that the motion hardly shows, in a sentence, empty without any: their deviation exceeds a
    third of what a link of that mass and size could have.
    """
    own, s, names = model.rigid.base.independent, model.solution, standard_names(model.rigid.n)
    scale = link_scales(initial_links(model.rigid.robot))[own]
    rows = zip(own, s.std, scale, s.separable, strict=False)
    loose = [names[k] for k, std, size, sole in rows if sole and std > LOOSE * size]
    some = ", ".join(loose[:4]) + (" and others" if len(loose) > 4 else "")
    return f"{len(loose)} base parameters ({some}) hardly show and are near those of the initial model" if loose else ""


def check_stream(found: Identification) -> list[str]:
    """Warnings where samples of the controller, or velocities before the gears, are missing."""
    text = missing_samples(found.robot, min(r.rate for r in found.training))
    blind = [r for r in found.training if r.blind]
    if not blind or found.robot.drives.torque_side == "link":
        return [text] * bool(text)
    which = f"{', '.join(r.name for r in blind)}: " if len(blind) < len(found.training) else ""
    unseen = unseen_rotors(found.robot.joint_names, blind[0].qd_steps)
    return [text] * bool(text) + [f"{which}{unseen}{', or leave it out' * bool(which)}"]


def check_extrapolation(found: Identification) -> list[str]:
    """Warnings where validation leaves the identified region, or where parameter errors dominate the prediction."""
    words = []
    names = found.robot.joint_names
    fast = np.quantile(np.abs(found.motion.qd), 0.999, axis=0)
    for rec, m in zip(found.validation, found.judged, strict=True):
        outside = (np.abs(m.qd) > 1.1 * fast + MOVING).mean(0)
        which = [names[j] for j in range(len(names)) if outside[j] > MAX_OUTSIDE]
        if which:
            words.append(
                f"{rec.name}: {', '.join(which)} move faster than what was identified, {MAX_OUTSIDE:.0%} of "
                f"the time or more"
            )
        ratio = uncertainty(found.fit, m) / np.maximum(m.effort.std(0), 1e-9)
        which = [f"{names[j]} {min(ratio[j], 1):.0%}" for j in range(len(names)) if ratio[j] > 0.2]
        if which:
            words.append(f"{rec.name}: parameter uncertainty alone is a large part of the effort: {', '.join(which)}")
    return words


def uncertainty(model: IdentifiedModel, motion: Motion) -> np.ndarray:
    """RMS standard deviation of the prediction (n,) [Nm] that comes from the parameters alone: sqrt(mean a' cov a)."""
    part = motion.every(max(1, len(motion) // 2000))
    W = model.rigid.base_regressor(part.q, part.qd, part.qdd)
    out = np.empty(motion.n)
    for j, row in enumerate(joint_rows(part, W, model.load(part), model.structure)):
        own = model.covariance[np.ix_(row.index, row.index)]
        out[j] = np.sqrt(((row.A @ own) * row.A).sum(axis=1).mean())
    return out
