"""The command of the laboratory that runs: its words, its place among ROS nodes, and the processor time it took."""

from __future__ import annotations

import os
import shlex
import socket
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from robot_dynamics_ros.bringup import environment
from robot_dynamics_ros.errors import ConnectionFailed
from robot_dynamics_ros.nodes.claims import claim

ELSEWHERE = ("json_file", "save", "picture", "work", "out", "jobs")  # where results go, how fast they come
HELD: list[socket.socket] = []  # names that this process has claimed


def given_options() -> dict[str, Any]:
    """Options of the running command that decide its result, by name; absent ones and flags that are off: left out."""
    context = click.get_current_context()
    options = [option for option in context.command.params if option.name not in ELSEWHERE]
    chosen = {option.opts[0].removeprefix("--"): context.params[option.name or ""] for option in options}
    return {name: value for name, value in chosen.items() if value not in (None, ()) and value is not False}


def command_line() -> str:
    """The running command with these options, files by their names, as a page names its origin."""
    context = click.get_current_context()
    words = context.command_path.split()
    arguments = {x.name for x in context.command.params if isinstance(x, click.Argument)}
    for name, given in given_options().items():
        for value in given if isinstance(given, tuple) else (given,):
            words += [] if name in arguments else [f"--{name}"]
            for part in value if isinstance(value, tuple) else (value,):
                text = f"{part:g}" if isinstance(part, float) else getattr(part, "name", str(part))
                words += [] if part is True else [shlex.quote(text)]
    return " ".join(words)


def measure_apart() -> None:
    """Give this process the environment of the nodes and, unless one is set, a ROS domain of its own."""
    os.environ.update(environment())
    if "ROS_DOMAIN_ID" not in os.environ:
        own_domain()


def own_domain() -> None:
    """Set a ROS domain that no other process of this machine holds, until this one ends. Raises ConnectionFailed."""
    for domain in ((os.getpid() + k) % 100 + 1 for k in range(100)):
        with suppress(ConnectionFailed):
            HELD.append(claim(f"domain {domain}", "it is held"))
            os.environ["ROS_DOMAIN_ID"] = str(domain)
            return
    raise ConnectionFailed("other processes hold the ROS domains 1 to 100")


def cpu_seconds(pids: Iterable[int]) -> float:
    """Processor time of processes so far [s]; one that has ended counts 0 (Linux; 0 elsewhere)."""
    ticks = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
