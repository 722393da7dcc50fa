"""`robot-dynamics learn`: improve a robot file from recordings of ordinary work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from robot_dynamics_ros.cli.options import (
    NewPath,
    complete_robot,
    console,
    effort_option,
    print_files,
    print_notes,
    stderr,
    topic_option,
    write_json,
)


@click.command("learn")
@click.argument("robot", shell_complete=complete_robot)
@click.argument("bags", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--state",
    type=NewPath(directory=True),
    required=True,
    help="Directory of what is learned; one per robot.",
)
@click.option("--apply", "apply", is_flag=True, help="Make the proposed file the next version, STATE/robot.yaml.")
@click.option("--prior", type=click.Path(path_type=Path, exists=True), help="Fleet prior, written by learn-fleet.")
@click.option("--forget", multiple=True, metavar="NAME", help="Remove a learned recording.")
@click.option("--accept", multiple=True, metavar="NAME", help="Learn from a recording that was held back.")
@click.option("--excite", type=NewPath(), help="Write the shortest motion for the open parameters (trajectory CSV).")
@click.option("--floor", type=float, help="Motion of --excite: lowest height of any joint or the TCP [m].")
@topic_option
@effort_option
def command(
    robot: str,
    bags: tuple[Path, ...],
    state: Path,
    apply: bool,
    prior: Path | None,
    forget: tuple[str, ...],
    accept: tuple[str, ...],
    excite: Path | None,
    floor: float | None,
    topic: str,
    effort: str,
) -> None:
    """Learn masses and friction of ROBOT from BAGS of its ordinary work.

    A new robot file is proposed only where it predicts held-out recordings better, joint by joint, and its force at
    rest is not larger. Recordings with a payload, a new tool or a re-calibrated sensor are held back.

    Example: robot-dynamics learn ur5e monday tuesday --state state --apply
    """
    from robot_dynamics_ros.identification.arm.state import Options
    from robot_dynamics_ros.identification.dataset.initial_model import any_robot
    from robot_dynamics_ros.learning.fleet import prior_of_file
    from robot_dynamics_ros.learning.observability import advice, knowledge
    from robot_dynamics_ros.learning.session import Session
    from robot_dynamics_ros.learning.store import Store

    store = Store(state, any_robot(robot))
    given = prior_of_file(store, prior)
    session = Session.of(store, given, Options(effort=effort, topic=topic))
    for name in forget:
        store.move(name, "recordings", None)
        store.note("forgotten", name)
        session.lines.append(f"forgotten: {name}")
    for name in accept:
        store.move(name, "held", "recordings")
        store.note("accepted", name)
        session.lines.append(f"accepted: {name}")
    with stderr.status("learning") as status:
        session.learn(bags, status.update)
    for line in session.lines:
        console.print(line)
    with stderr.status("judging"):
        proposal = session.propose()
    known = knowledge(session.prior, proposal.state)
    open_words = advice(session.prior, proposal.state, known)
    _table(store.columns.robot.joint_names, proposal)
    print_notes(proposal.reasons)
    console.print(f"{sum(k.left <= 0.7 for k in known)} of {len(known)} base parameters are seen in the recordings")
    print_notes(open_words)
    files: dict[str, str] = {}
    if proposal.robot is None:
        console.print("nothing is proposed")
    elif apply:
        files["version"] = str(session.apply(proposal))
        files["robot_file"] = str(store.directory / "robot.yaml")
    else:
        console.print("a better robot file is proposed; --apply makes it the next version")
    if excite is not None:
        files |= _excite(session.prior, proposal.state, excite, floor)
    print_files(files)
    write_json(state / "learn.json", _result(store, session, proposal, known, files))


def _table(joints: list[str], proposal: Any) -> None:
    from rich.table import Table

    table = Table("joint", "present file [Nm]", "learned, held out [Nm]", "verdict")
    for name, before, after in zip(joints, proposal.present, proposal.new, strict=True):
        word = "better" if name in proposal.better else "worse" if name in proposal.worse else "alike"
        table.add_row(name, f"{before:.3g}", f"{after:.3g}", word)
    console.print(table)


def _excite(prior: Any, state: Any, path: Path, floor: float | None) -> dict[str, str]:
    from robot_dynamics_ros.cli.excite import write_motion
    from robot_dynamics_ros.identification.excitation import Limits
    from robot_dynamics_ros.learning.observability import shortest_motion

    robot = prior.columns.robot
    limits = Limits.of(robot, floor=-np.inf if floor is None else floor)
    motion, shown = shortest_motion(prior, state, limits)
    console.print(
        f"a motion of {motion.time[-1]:.0f} s would show {len(shown)} of the open parameters: {', '.join(shown)}"
    )
    return write_motion(path, robot, motion, limits)


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
