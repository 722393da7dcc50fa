"""The page of a comparison: one self-contained HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.pages import write_html
from robot_dynamics_ros.plots import MODEL, OTHER, figure, grid, svg

TEMPLATE = "compare_report.html.j2"
NAMED = 20  # bags whose names have room below a picture; of more, every k-th is named
WIDEST = 20.0  # inches of a picture
LARGEST = 8.0  # standard deviations at the end of the colours


def write_comparison(result: dict[str, Any], path: Path) -> Path:
    """Write what `compared` found. Raises CapabilityError without jinja2 or matplotlib, DataError when it cannot
    be written.
    """
    short = result | {"bags": [Path(bag).name for bag in result["bags"]]}
    return write_html(TEMPLATE, path, result=short, pictures={"friction": _friction(short), "base": _base(short)})


def _friction(result: dict[str, Any]) -> str:
    """Friction of every joint over the recordings, with its deviation and the median."""
    value, std = np.array(result["friction"]), np.array(result["friction_std"], dtype=float)

    def draw(axis: Any, j: int) -> None:
        axis.errorbar(np.arange(len(value)), value[:, j], std[:, j], fmt="o", color=MODEL, capsize=3)
        axis.axhline(np.median(value[:, j]), color=OTHER, lw=1)
        _name_bags(axis, result["bags"])
        axis.set_ylim(0, 1.15 * float(np.nanmax(value[:, j])))

    return grid(value.shape[1], draw, result["joint_names"], "", "friction [Nm]")


def _base(result: dict[str, Any]) -> str:
    """Base parameters by recordings, coloured by their difference in standard deviations."""
    if not result["base"]:
        return ""
    z = np.array(result["base"]["off"], dtype=float)
    names = [name if len(name) < 40 else name[:37] + ".." for name in result["base"]["names"]]
    drawing, axes = figure(1, 1, min(3.5 + 0.9 * len(z), WIDEST), 1.5 + 0.2 * len(names))
    shown = axes[0, 0].imshow(z.T, cmap="RdBu_r", vmin=-LARGEST, vmax=LARGEST, aspect="auto")
    axes[0, 0].set_yticks(np.arange(len(names)), names, fontsize=7)
    _name_bags(axes[0, 0], result["bags"])
    drawing.colorbar(shown, label="standard deviations off the median (of two, the other)", shrink=0.5)
    return svg(drawing)


def _name_bags(axis: Any, bags: list[str]) -> None:
    """Names of the recordings below an axis."""
    places = np.arange(0, len(bags), -(-len(bags) // NAMED))
    axis.set_xticks(places, [bags[k] for k in places], rotation=30, ha="right", fontsize=8, parse_math=False)
