"""Verdict and page of a run of `learn`: what is proposed, what was left out, what the recordings determine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.estimators.external_force import least_push
from robot_dynamics_ros.learning.proposal import Proposal
from robot_dynamics_ros.learning.session import Session
from robot_dynamics_ros.learning.update import Information, Prior
from robot_dynamics_ros.pages import write_html
from robot_dynamics_ros.plots import MODEL, OTHER, figure, svg
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.verdict import cell, level_of, matrix, verdict, word

TEMPLATE = "learn_report.html.j2"
LEFT_OUT = ("held", "refused")  # beginnings of a session's lines about recordings that were not learned
OPEN, PARTLY = 0.7, 0.3  # of the prior deviation that is left


@dataclass(frozen=True)
class Knowledge:
    """One base parameter: name, value, deviation now and of the prior."""

    name: str
    value: float
    std: float
    prior_std: float

    @property
    def left(self) -> float:
        """Share of the prior deviation that is left."""
        return self.std / self.prior_std


def knowledge(prior: Prior, state: Information) -> list[Knowledge]:
    """Every base parameter under a posterior."""
    names, b = prior.columns.names, prior.columns.base
    values, std, before = state.mean, state.std, np.sqrt(np.diag(prior.covariance))
    return [Knowledge(names[k], float(values[k]), float(std[k]), float(before[k])) for k in range(b)]


def judged(
    session: Session, proposal: Proposal, known: Sequence[Knowledge], robot: str, applied: bool
) -> dict[str, Any]:
    """Verdict and the matrix joint x (errors, what is left of the prior); robot: as the user has named it."""
    left_out = [line for line in session.lines if line.startswith(LEFT_OUT)]
    again = [line for line in session.lines if line.startswith(("left out", "changed"))]
    seen = sum(k.left <= OPEN for k in known)
    state = session.store.directory
    waits = proposal.robot is not None and not proposal.better  # proposed before, and not judged again
    if proposal.robot is None:
        why = next((text for text in proposal.reasons if not text.startswith("error on")), "nothing is new")
        headline = f"the present robot file stays: {why}."
        motion = f"robot-dynamics excite --robot {word(robot)} --out motion.csv"
        then = motion if seen < len(known) else "robot-dynamics record --out another_day"
    else:
        done = "is the next version" if applied else "is proposed"
        joints = session.prior.columns.robot.joint_names
        where = "the other half of a recording; another one says more" if proposal.halves else "held-out recordings"
        found = f"{improvement(proposal, joints)} on {where}" if not waits else "as found with its recordings at hand"
        headline = f"a better robot file {done}: {found}."
        take = f"robot-dynamics learn {word(robot)} --state {word(state)} --apply"
        then = f"robot-dynamics up --robot {word(state / 'robot.yaml')}" if applied else take
    masses = f"{seen} of {len(known)} base parameters of the masses are determined by the recordings"
    friction = "; what improves is friction" if proposal.robot is not None and not seen else ""
    shown = [] if proposal.robot is None else [shown_at_rest(proposal.robot)]
    said = verdict(
        "fair" if left_out or proposal.worse or proposal.halves or waits else "good",
        headline,
        *shown,
        *left_out,
        *again,
        f"{masses}{friction}.",
        exceptions=f"{len(left_out)} of the recordings, which are left out" if left_out else "",
        then=then,
    )
    return said | {"matrix": _matrix(session, proposal)}


def shown_at_rest(robot: RobotFile) -> str:
    """A sentence about the pushes that a robot file shows while the arm stands."""
    least = least_push(robot)
    if not np.isfinite(least):
        return "While the arm stands it shows no push: its residuals.rest are too large."
    return f"While the arm stands it shows pushes from {least:.2g} N on, in nine of ten poses and directions."


def improvement(proposal: Proposal, joints: Sequence[str]) -> str:
    """Mean held-out error of the joints that are better: that of all joints may be the same."""
    which = np.isin(joints, proposal.better)
    before, after = (float(np.mean(x[which])) for x in (proposal.present, proposal.new))
    return f"error {after:.3g} instead of {before:.3g} Nm in {', '.join(proposal.better)}"


def _matrix(session: Session, proposal: Proposal) -> dict[str, Any]:
    columns, state = session.prior.columns, proposal.state
    joints, prior = columns.robot.joint_names, np.sqrt(np.diag(session.prior.covariance))
    share = 100 * state.std / np.where(prior > 0, prior, np.inf)
    link = columns.rigid.base.independent // 10
    friction = [float(np.median(share[columns.own(j)])) for j in range(columns.n)]
    masses = [float(np.median(of)) if (of := share[: columns.base][link == j]).size else None for j in range(columns.n)]
    words = ["good" if n in proposal.better else "bad" if n in proposal.worse else "fair" for n in joints]
    return matrix(
        joints,
        {
            "error, present file Nm": [cell(x, "unknown") for x in proposal.present],
            "error, learned Nm": [cell(x, word) for x, word in zip(proposal.new, words, strict=True)],
            "friction: deviation, % of the prior's": [_left(x) for x in friction],
            "masses: deviation, % of the prior's": [_left(x) for x in masses],
        },
    )


def _left(percent: float | None) -> tuple[str, str]:
    """What is left of a deviation; grey where the recordings say nothing."""
    level = level_of(percent, 100 * PARTLY, 100 * OPEN)
    return cell(percent, "unknown" if level == "bad" else level)


def write_report(
    session: Session, proposal: Proposal, known: Sequence[Knowledge], result: dict[str, Any], path: Path
) -> Path:
    """One HTML file. Raises CapabilityError without jinja2 or matplotlib, DataError when it cannot be written."""
    return write_html(
        TEMPLATE,
        path,
        result=result,
        robot=session.store.columns.robot.name,
        lines=[*session.lines, *proposal.reasons],
        known=known,
        picture=_picture(known),
    )


def _picture(known: Sequence[Knowledge]) -> str:
    """What is left of the prior deviation of each base parameter."""
    drawing, axes = figure(1, 1, 9.0, 3.0)
    axis, places = axes[0, 0], np.arange(len(known))
    axis.bar(places, [100 * k.left for k in known], color=MODEL)
    axis.axhline(100 * OPEN, color=OTHER, lw=1, ls="--")
    axis.set_xticks(places, [k.name.split(" ")[0] for k in known], rotation=90, fontsize=7)
    axis.set_ylabel("deviation [% of the prior's]")
    axis.grid(axis="y", alpha=0.25)
    return svg(drawing)
