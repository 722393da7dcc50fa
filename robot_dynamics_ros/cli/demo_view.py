"""The terminal picture of a running demo: rates, force with its standard deviation, truth, contact, health."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from robot_dynamics_ros.signals import WRENCH_AXES, WRENCH_UNITS

if TYPE_CHECKING:
    from robot_dynamics_ros.nodes.topics.monitor import View

LEVELS = {0: ("ok", "green"), 1: ("warn", "yellow"), 2: ("error", "red"), 3: ("no data yet", "dim")}


def _force(view: View, truth: NDArray[np.float64]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("", "estimate", "± std", "truth", ""):
        table.add_column(heading, justify="right" if heading else "left")
    for k, (name, unit) in enumerate(zip(WRENCH_AXES, WRENCH_UNITS, strict=True)):
        numbers = [f"{x:7.1f}" if np.isfinite(x) else "      -" for x in (view.wrench[k], view.std[k], truth[k])]
        table.add_row(f"{name} [{unit}]", *numbers, _bar(view.wrench[k]) if k < 3 else "")
    return table


def _bar(force: float) -> Text:
    """A line with zero in the middle, 40 N to either side."""
    scale, width = 40.0, 31
    if not np.isfinite(force):
        return Text("·" * width, style="dim")
    middle = width // 2
    end = int(np.clip(round(middle + force / scale * middle), 0, width - 1))
    low, high = min(middle, end), max(middle, end)
    return Text("".join("█" if low <= i <= high and i != middle else "│" if i == middle else "·" for i in range(width)))


def _contact(view: View) -> Text:
    if view.contact is None:
        return Text("contact: no data yet", style="dim")
    return Text("CONTACT", style="bold white on red") if view.contact else Text("free", style="bold green")


def _health(view: View) -> Text:
    name, style = LEVELS[view.level]
    text = Text.assemble(("health: ", ""), (name, style))
    for values in view.diagnostics.values():
        known = [f"{key} {value}" for key, value in values.items() if "p99" in key or key in ("missed", "rate [Hz]")]
        if known:
            text.append("\n" + "   ".join(known), style="dim")
    return text


def picture(view: View, truth: NDArray[np.float64], elapsed: float, total: float, robot: str) -> RenderableType:
    """One frame."""
    motion = f"   motion: {view.motion}" if view.motion else ""
    head = Text.assemble(_contact(view), f"   {elapsed:4.0f} of {total:.0f} s", (motion, "dim"))
    return Panel(Group(head, "", _force(view, truth), "", _health(view)), title=f"{robot}: contact force", width=84)
