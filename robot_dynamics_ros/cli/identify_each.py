"""`robot-dynamics identify --what compare`: bags identified side by side, what differs between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table

from robot_dynamics_ros.cli.printed import console, end_with, show_verdict, stderr, write_json
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.outputs import refuse_existing
from robot_dynamics_ros.verdict import times

REPORT = "comparison.html"


def compare(bags: tuple[Path, ...], robot: str, effort: str, topic: str, jobs: int, out: Path) -> None:
    """Identify each bag separately and compare the results: robots of a fleet, or one robot over months."""
    from robot_dynamics_ros.identification.arm.state import Options
    from robot_dynamics_ros.identification.compare import compared, identify_each, write_comparison

    refuse_existing("--out", out / "comparison.json", out / REPORT)
    options = Options(effort=effort, topic=topic)
    with stderr.status(f"identifying {len(bags)} bags") as status:

        def on_done(count: int, total: int) -> None:
            status.update(f"{count} of {total} bags identified")

        results = identify_each(robot, bags, options, jobs, on_done)
    result = compared(results, robot)
    write_json(out / "comparison.json", result | {"results": results})
    _show(result)
    try:
        console.print(f"report: {write_comparison(result, out / REPORT)}")
    except CapabilityError as error:  # the numbers do not depend on drawing
        console.print(f"no report: {error}")
    end_with(result)


def _show(result: dict[str, Any]) -> None:
    show_verdict(result)
    table = Table("bag", "mean R2", box=None)
    for name in result["joint_names"]:
        table.add_column(name, overflow="fold", justify="right")
    keys = ("bags", "mean_r2", "friction", "friction_std", "friction_change")
    for bag, r2, friction, std, change in zip(*(result[key] for key in keys), strict=True):
        cells = [f"{f:.2f}\n±{s:.2f}\n{times(1 + c)}" for f, s, c in zip(friction, std, change, strict=True)]
        table.add_row(Path(bag).name, f"{r2:.4f}", *cells)
    console.print(table)
    console.print(f"friction [Nm] at {result['friction_speed']} rad/s without load, deviation, off the median")
    for bag, error in result["failed"].items():
        console.print(f"not identified: {bag}: {error}", style="yellow")
