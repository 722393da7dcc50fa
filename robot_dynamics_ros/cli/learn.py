"""`robot-dynamics learn`: improve a robot file from recordings of ordinary work."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Any

import click

from robot_dynamics_ros.cli.options import NewPath, complete_robot, effort_option, topic_option, verbose_option
from robot_dynamics_ros.cli.printed import (
    console,
    end_with,
    joint_table,
    print_files,
    print_notes,
    show_verdict,
    stderr,
    write_json,
)
from robot_dynamics_ros.errors import CapabilityError, DataError


@click.command("learn")
@click.argument("robot", shell_complete=complete_robot)
@click.argument("bags", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--state", type=NewPath(directory=True), required=True, help="Directory of what is learned; one per robot."
)
@click.option("--apply", "apply", is_flag=True, help="Make the proposed file the next version, STATE/robot.yaml.")
@click.option("--prior", type=click.Path(path_type=Path, exists=True), help="Fleet prior, written by learn-fleet.")
@click.option("--forget", multiple=True, metavar="NAME", help="Remove a learned recording.")
@click.option("--accept", multiple=True, metavar="NAME", help="Learn from a recording that was held back.")
@topic_option
@effort_option
@verbose_option
def command(
    robot: str,
    bags: tuple[Path, ...],
    state: Path,
    apply: bool,
    prior: Path | None,
    forget: tuple[str, ...],
    accept: tuple[str, ...],
    topic: str,
    effort: str,
    verbose: bool,
) -> None:
    """Learn masses and friction of ROBOT from BAGS of its ordinary work.

    A new robot file is proposed only where it predicts held-out recordings better, joint by joint, and its force at
    rest is not larger. Recordings with a payload, a new tool, a re-calibrated sensor or another gear are held
    back, and a first one that contradicts an identified ROBOT.

    Example: robot-dynamics learn ur5e monday tuesday --state state --apply
    """
    from robot_dynamics_ros.identification.arm.state import Options
    from robot_dynamics_ros.identification.dataset.initial_model import any_robot
    from robot_dynamics_ros.learning.report import judged, knowledge, write_report
    from robot_dynamics_ros.learning.session import Session
    from robot_dynamics_ros.learning.store import Store

    store = Store(state, any_robot(robot))
    session = Session.of(store, Options(effort=effort, topic=topic), prior)
    try:
        waits = bool((forget or accept) and bags) and not any(map(session.usable, bags))
        if not waits:  # else `learn` says why
            for name in forget:
                session.forget(name)
            for name in accept:
                session.accept(name)
        with stderr.status("learning") as status:
            refused = session.learn(bags, status.update)
        if bags and refused == len(bags):
            undone = ", forgotten or accepted: run it again without these recordings" if waits else ""
            raise DataError(f"no recording is usable, nothing is learned{undone}")
        with stderr.status("judging"):
            proposal = session.propose()
    except DataError:
        print_notes(session.lines)
        raise
    known = knowledge(session.prior, proposal.state)
    files: dict[str, str] = {}
    applied = apply and proposal.robot is not None
    if applied:
        files["version"] = str(session.apply(proposal))
        files["robot_file"] = str(store.directory / "robot.yaml")
    said = judged(session, proposal, known, robot, applied)
    show_verdict(said)
    _table(store.columns.robot.joint_names, proposal)
    if verbose:
        print_notes([*session.lines, *proposal.reasons])
    try:
        page = write_report(session, proposal, known, said, store.directory / "learn.html")
        files["report"] = str(page)
    except CapabilityError as error:  # what is learned does not depend on drawing
        console.print(f"no report: {error}")
    print_files(files)
    write_json(state / "learn.json", _result(store, session, proposal, known, files) | said)
    end_with(said)


def _table(joints: list[str], proposal: Any) -> None:
    table = joint_table(joints, "present file Nm", "learned, held out Nm", "")
    for name, before, after in zip(joints, proposal.present, proposal.new, strict=True):
        word = "better" if name in proposal.better else "worse" if name in proposal.worse else "alike"
        table.add_row(name, f"{before:.3g}", f"{after:.3g}", word)
    if any(map(isfinite, proposal.present)):  # else no recording is new
        console.print(table)


def _result(store: Any, session: Any, proposal: Any, known: Any, files: dict[str, str]) -> dict[str, Any]:
    return {
        "robot": store.columns.robot.name,
        "robot_id": store.columns.robot_id,
        "lines": session.lines,
        "proposed": proposal.robot is not None,
        "joint_names": store.columns.robot.joint_names,
        "present_rms": proposal.present,
        "new_rms": proposal.new,
        "better": proposal.better,
        "worse": proposal.worse,
        "force_at_rest": proposal.rest,
        "reasons": proposal.reasons,
        "parameters": [{"name": k.name, "value": k.value, "std": k.std, "prior_std": k.prior_std} for k in known],
        "bytes": session.bytes,
        "files": files,
    }
