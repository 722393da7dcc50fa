"""`robot-dynamics record`: topics into an mcap bag."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import click
from rich.live import Live
from rich.text import Text

from robot_dynamics_ros.bags.live_writer import LiveWriter, recover, recovery
from robot_dynamics_ros.bringup import environment
from robot_dynamics_ros.cli.options import NewPath, refuse_options
from robot_dynamics_ros.cli.printed import print_identify, stderr
from robot_dynamics_ros.errors import DataError, printable
from robot_dynamics_ros.nodes.executables import require_ros


@click.command()
@click.option("--out", type=NewPath(directory=True, fresh=True), required=True, help="Bag directory to write.")
@click.option("--topics", default="", help="Names or patterns separated by commas; default: all.")
@click.option("--duration", type=click.FloatRange(0.0, min_open=True), help="Stop after this time [s].")
@click.option("--recover", "broken", type=click.Path(path_type=Path), help="Bag of a killed recording.")
def command(out: Path, topics: str, duration: float | None, broken: Path | None) -> None:
    """Record topics until Ctrl-C. A killed recording loses at most one second; `--recover BAG --out NEW`
    writes a whole bag of it.

    The exit status is 1 and no bag is written where no message arrives.

    Example: robot-dynamics record --out run1 --duration 60
    """
    if broken:
        refuse_options(("topics", "duration"), "--recover")
    counts = recover(broken, out) if broken else _record(out, topics, duration)
    total = sum(counts.values())
    if not total:
        shutil.rmtree(out)
        raise DataError(f"nothing was recorded: {_reason(counts, topics)}; no bag is written")
    click.echo(f"{out}: {total} messages on {len(counts)} topics")
    print_identify(out, None)


def _reason(counts: dict[str, int], topics: str) -> str:
    if counts:
        return f"no message on {', '.join(sorted(counts))}"
    return f"no topic matches --topics {topics}" if topics else "there are no topics"


def _record(out: Path, topics: str, duration: float | None) -> dict[str, int]:
    require_ros()
    os.environ.update(environment())
    from robot_dynamics_ros.nodes.topics.recorder import record

    patterns = [name.strip() for name in topics.split(",") if name.strip()]
    start = time.monotonic()
    try:
        with LiveWriter(out) as writer, Live(console=stderr, transient=True, refresh_per_second=2) as live:

            def report(counts: dict[str, int]) -> None:
                elapsed, messages = time.monotonic() - start, sum(counts.values())
                text = f"{elapsed:6.1f} s  {messages} messages  {len(counts)} topics  Ctrl-C ends"
                live.update(Text(text if stderr.is_terminal else ""))

            skipped = record(writer, patterns, duration, report)
    except DataError as error:
        raise DataError(f"{error}{recovery(out)}") from error
    for topic, reason in skipped.items():
        click.echo(printable(f"not recorded: {topic}: {reason}"), err=True)
    return writer.counts
