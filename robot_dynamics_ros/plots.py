"""Drawing without a display, and pictures of estimates; matplotlib is imported only when it is needed."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.outputs import replacing, writing
from robot_dynamics_ros.signals import WRENCH_AXES, Log
from robot_dynamics_ros.signals.runs import runs

TOUCH = 1.0  # N of true force from which on the robot is in contact
GAP = 0.1  # s without a sample from which on a line is interrupted
POINTS = 2000  # per curve: as many as pixels; more are not visible and enlarge the file
DPI = 160
POINTS_DPI = 110  # of points that are an image inside an SVG
# colours that are distinguishable with colour blindness [Okabe and Ito 2008]
BLUE, RED, GREEN, PINK, ORANGE, SKY, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555"
INK = (BLUE, RED, GREEN, PINK, ORANGE, SKY, GREY)
OF_A_FILE = r'<metadata>.*?</metadata>| xmlns(:\w+)?="[^"]*"| id="[a-zA-Z.0-9]+_[\d_]+"'  # not needed in a page
# of the axes of a page, known before they are made: a later change makes their ticks anew
PAGE: Any = {"axes.labelsize": 9, "xtick.labelsize": 8, "ytick.labelsize": 8}
MEASURED, MODEL, ERROR, OTHER = "#222222", BLUE, RED, "#999999"


def plotting_available() -> str:
    """Empty when matplotlib can be imported, else one line saying what to install."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return "no plot: matplotlib is missing (pip install 'robot_dynamics_ros[reports]')"
    return ""


def canvas(width: float, height: float) -> Any:
    """A figure of so many inches that needs no display. Raises CapabilityError without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise CapabilityError('pictures need matplotlib: pip install "robot_dynamics_ros[reports]"') from None
    drawing = Figure(figsize=(width, height), layout="constrained", dpi=DPI)
    FigureCanvasAgg(drawing)
    return drawing


def figure(rows: int, columns: int, width: float, height: float, sharex: bool = False) -> tuple[Any, np.ndarray]:
    """A figure for a page, and its axes (rows, columns). Raises CapabilityError without matplotlib."""
    drawing = canvas(width, height)
    from matplotlib import rc_context

    with rc_context(PAGE):
        axes = drawing.subplots(rows, columns, squeeze=False, sharex=sharex)
    for axis in axes.ravel():
        axis.locator_params(nbins=4)  # ticks are half of the time of a small picture
    return drawing, axes


def fixed_margins(drawing: Any, width: float, height: float) -> None:
    """Margins in inches instead of a search for them, which takes half of the time of a picture."""
    drawing.set_layout_engine(None)
    drawing.subplots_adjust(
        left=0.8 / width, right=1 - 0.1 / width, bottom=0.55 / height, top=1 - 0.3 / height, wspace=0.2, hspace=0.4
    )


def png_bytes(drawing: Any) -> bytes:
    """A figure as PNG."""
    buffer = io.BytesIO()
    drawing.savefig(buffer, format="png")
    return buffer.getvalue()


def svg(drawing: Any) -> str:
    """A figure as SVG inside a page, in the page's colours: black is its ink, white its paper."""
    from matplotlib import rc_context

    buffer = io.StringIO()
    with rc_context({"svg.fonttype": "none"}):
        drawing.savefig(buffer, format="svg", dpi=POINTS_DPI, transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = re.sub(OF_A_FILE, "", text[text.index("<svg") :], flags=re.DOTALL)
    for own, page in (("#000000", "currentColor"), (MEASURED, "currentColor"), ("#ffffff", "var(--paper)")):
        text = text.replace(own, page)
    return text


def grid(n: int, draw: Callable[[Any, int], None], names: Sequence[str], x: str, y: str) -> str:
    """One small axis per joint, three in a row."""
    rows = -(-n // 3)
    drawing, axes = figure(rows, 3, 12, 2.7 * rows)
    fixed_margins(drawing, 12, 2.7 * rows)
    for j, axis in enumerate(axes.ravel()):
        if j >= n:
            axis.set_visible(False)
            continue
        draw(axis, j)
        axis.set_title(names[j], fontsize=9, y=1.0)  # a given place is not searched for
        axis.grid(alpha=0.3)
        if j >= n - 3:
            axis.set_xlabel(x)
        if j % 3 == 0:
            axis.set_ylabel(y)
    return svg(drawing)


def concise_dates(axis: Any) -> None:
    """Dates below an axis of matplotlib, each part once."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=2, maxticks=5)  # type: ignore[no-untyped-call]
    axis.xaxis.set_major_locator(locator)
    axis.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def plot_force(log: Log, path: Path, title: str) -> Path:
    """Force and moment, external torque of each joint, two deviations of no contact; a PNG, written atomically.

    Raises DataError when it cannot be written.
    """
    n = log.n_joints
    t, part = _thinned(log)
    drawing = canvas(12, 3.0 + 2.6 + 1.05 * n)
    axes = drawing.subplots(2 + n, 1, sharex=True, height_ratios=[3.0, 2.0] + [1.0] * n)
    _wrench(axes[0], t, part, 0, "force at the TCP [N]")
    _wrench(axes[1], t, part, 3, "moment [Nm]")
    _legend_above(axes[0], *axes[0].get_legend_handles_labels())
    for j, ax in enumerate(axes[2:]):
        torque, std = part.external_joint_torque[:, j], part.external_joint_torque_std[:, j]
        ax.fill_between(t, -2 * std, 2 * std, color="0.9", lw=0, label="±2 std")
        ax.plot(t, torque, lw=0.9, color=INK[0])
        _shade(ax, t, part.contact[:, j])
        ax.set_ylabel(log.joint_names[j].replace("_joint", "").replace("_", " "), rotation=0, ha="right", va="center")
        margin = 1.2 * np.nanmedian(2 * std) if np.isfinite(std).any() else 1.0
        ax.set_ylim(*_limits(torque, margin, part.contact[:, j] == 1))
    axes[2].set_title("external joint torque [Nm], grey: ±2 standard deviations of no contact", fontsize=9, loc="left")
    axes[-1].set_xlabel("time [s]")
    drawing.suptitle(f"{title}\nenvironment on robot, base orientation; shaded: contact", fontsize=11, parse_math=False)
    return _save(drawing, path)


def plot_against_truth(
    log: Log, truth: np.ndarray, path: Path, title: str, settle: float = 0.0, label: str = "ground truth"
) -> Path:
    """Force with two standard deviations and the true wrench (N, 6), and friction of the joints; a PNG.

    settle [s]: start of the recording that is marked as not evaluated. label: where `truth` comes from. Each force has
    its own scale, lines are interrupted where samples are missing. Raises DataError when it cannot be written.
    """
    t, part = _thinned(log)
    known = truth[some(len(log))]
    drawing = canvas(11, 9.6)
    axes = drawing.subplots(4, 1, sharex=True, height_ratios=[1, 1, 1.4, 1])
    touching = np.linalg.norm(known[:, :3], axis=1) > TOUCH
    gaps = _gaps(t)
    for k, name in enumerate(WRENCH_AXES[:3]):
        columns = (part.external_wrench[:, k], part.external_wrench_std[:, k], known[:, k])
        _axis_against_truth(axes[k], t > settle, gaps, t, *columns, label)
        axes[k].fill_between(t, 0, 1, where=touching, transform=axes[k].get_xaxis_transform(), color="0.9", zorder=0)
        axes[k].set_ylabel(f"${name[0]}_{name[1]}$ [N]")
    lines = axes[3].plot(np.insert(t, gaps, np.nan), np.insert(part.friction_torque, gaps, np.nan, axis=0), lw=0.8)
    axes[3].set_ylabel("friction [Nm]")
    axes[3].set_xlabel(f"time [s]      grey: in contact ({label})")
    for ax in axes:
        ax.axvspan(0, settle, facecolor="none", edgecolor="0.75", hatch="//", lw=0, label="settling, not evaluated")
    _legend_above(axes[0], *axes[0].get_legend_handles_labels())
    _legend_above(axes[3], lines, log.joint_names)
    drawing.suptitle(title, fontsize=11, parse_math=False)
    return _save(drawing, path)


def _legend_above(ax: Any, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """A legend between this axis and the one above, where it covers no data."""
    short = [label.removesuffix("_joint") for label in labels]
    ax.legend(handles, short, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(short), fontsize=8, frameon=False)


def _gaps(t: np.ndarray) -> np.ndarray:
    """Indices before which samples are missing: more than GAP, and than ten periods, after the sample before."""
    steps = np.diff(t)
    return np.flatnonzero(steps > max(GAP, 10 * float(np.median(steps)))) + 1 if len(steps) else np.empty(0, int)


def _axis_against_truth(
    ax: Any,
    used: np.ndarray,
    gaps: np.ndarray,
    t: np.ndarray,
    value: np.ndarray,
    std: np.ndarray,
    truth: np.ndarray,
    label: str,
) -> None:
    """One force on the scale of its own values after settling (`used`) and of the ground truth."""
    both = np.concatenate([value[used], truth])
    spread = std[used & np.isfinite(std)]
    ax.set_ylim(*_limits(both, max(2.0, 2 * float(np.median(spread)) if len(spread) else 0.0)))
    t, value, std, truth = (np.insert(x, gaps, np.nan) for x in (t, value, std, truth))
    ax.fill_between(t, value - 2 * std, value + 2 * std, color=INK[0], alpha=0.2, lw=0, label="estimate ± 2 std")
    ax.plot(t, value, color=INK[0], lw=1.0, label="estimate")
    ax.plot(t, truth, color=INK[1], lw=1.4, label=label)


def some(count: int) -> slice:
    """Every so many of `count` points that about POINTS are left."""
    return slice(None, None, max(count // POINTS, 1))


def _thinned(log: Log) -> tuple[np.ndarray, Log]:
    """Time and log reduced to the plotted number of points."""
    return log.time[some(len(log))], log[some(len(log))]


def _wrench(ax: Any, t: np.ndarray, log: Log, first: int, label: str) -> None:
    std = 2 * log.external_wrench_std[:, first : first + 3].max(axis=1)
    ax.fill_between(t, -std, std, color="0.9", lw=0, label="±2 std")
    for k, name in enumerate("xyz"):
        ax.plot(t, log.external_wrench[:, first + k], color=INK[k], lw=1.1, label=name)
    _shade(ax, t, log.contact[:, -1])
    margin = np.nanmedian(std) if np.isfinite(std).any() else 1.0
    values, deviation = (x[:, first : first + 3] for x in (log.external_wrench, log.external_wrench_std))
    ax.set_ylim(*_limits(values, 1.1 * margin, (log.contact[:, -1:] == 1) & (np.abs(values) > 2 * deviation)))
    ax.set_ylabel(label)


def _limits(values: np.ndarray, margin: float, whole: np.ndarray | bool = False) -> tuple[float, float]:
    """Axis limits that a few outliers near singularities cannot squash; values of the mask `whole` are inside."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return -1.0, 1.0
    low, high = np.percentile(finite, [0.2, 99.8])
    kept = values[np.isfinite(values) & whole]
    low, high = kept.min(initial=low), kept.max(initial=high)
    margin = margin or 1.0  # moments of an arm of few joints are 0, and so is their deviation
    return min(low, 0.0) - margin, max(high, 0.0) + margin


def _shade(ax: Any, t: np.ndarray, contact: np.ndarray) -> None:
    for start, stop in runs(contact == 1):
        ax.axvspan(t[start], t[min(stop, len(t) - 1)], color=RED, alpha=0.10, lw=0)


def _save(drawing: Any, path: Path) -> Path:
    for ax in drawing.axes:
        ax.grid(alpha=0.25)
        ax.margins(x=0)
    return save(drawing, path)


def save(drawing: Any, path: Path) -> Path:
    """Write a figure as PNG, atomically. Raises DataError when it cannot be written."""
    path = Path(path)
    with writing(path), replacing(path) as temporary:
        drawing.savefig(temporary, format="png")
    return path
