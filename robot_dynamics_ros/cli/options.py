"""Options, progress bars and result files that every command shares, so that flags mean the same everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np
from click.shell_completion import CompletionItem
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

T = TypeVar("T")

json_option = click.option(
    "--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write the same numbers to FILE."
)


def complete_robot(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Shell completion of --robot: shipped names, then files."""
    from robot_dynamics_ros.config import shipped_robots

    names = [CompletionItem(name) for name in shipped_robots() if name.startswith(incomplete)]
    return names or [CompletionItem(incomplete, type="file")]


robot_option = click.option(
    "--robot",
    "-r",
    required=True,
    shell_complete=complete_robot,
    help="Name of a shipped robot, or path of a robot file.",
)
out_option = click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Directory for the results."
)

view_option = click.option(
    "--view", is_flag=True, help="Serve the viewer to a browser on this machine; prints the URL."
)
view_file_option = click.option(
    "--view-file", default="", type=click.Path(dir_okay=False), help="Write what the viewer shows as an .rrd FILE."
)

console = Console()
stderr = Console(stderr=True)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not JSON")


def write_json(path: Path | None, result: dict[str, Any]) -> None:
    """Write a command's numbers atomically (temporary file, then rename); None writes nothing."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(json.dumps(result, default=_plain, indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)


def progress(items: Iterable[T], text: str, total: int | None = None) -> Iterator[T]:
    """Iterate with a progress bar on stderr; silent where stderr is no terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as bar:
        yield from bar.track(items, total=total, description=text)
