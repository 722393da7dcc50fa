"""Pictures of an identification: SVG of its page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import signal

from robot_dynamics_ros.plots import ERROR, MEASURED, MODEL, OTHER, figure, fixed_margins, grid, some, svg


def tracks(t: np.ndarray, y: np.ndarray, p: np.ndarray, names: Sequence[str], unit: str) -> str:
    """Measured effort y (N, n), prediction p (N, n) and residual of every joint over time t (N,) [s]."""
    drawing, axes = figure(y.shape[1], 1, 12, 1.9 * y.shape[1], sharex=True)
    fixed_margins(drawing, 12, 1.9 * y.shape[1])
    shown = some(len(t))
    for j, axis in enumerate(axes[:, 0]):
        axis.plot(t[shown], y[shown, j], color=MEASURED, lw=0.8, label="measured")
        axis.plot(t[shown], p[shown, j], color=MODEL, lw=1.0, label="model")
        axis.plot(t[shown], (y - p)[shown, j], color=ERROR, lw=0.5, alpha=0.8, label="residual")
        axis.set_ylabel(f"{names[j]}\n[{unit}]", fontsize=8)
        axis.margins(x=0.005)
        axis.grid(alpha=0.3)
    axes[0, 0].legend(ncols=3, loc="upper right", fontsize=8)
    axes[-1, 0].set_xlabel("time [s]")
    return svg(drawing)


def residual_over(x: np.ndarray, r: np.ndarray, names: Sequence[str], label: str, unit: str) -> str:
    """Residual against a quantity (both (N, n)), with its mean in bins: a line that is not flat is missing physics."""

    def draw(axis: Any, j: int) -> None:
        ok = np.isfinite(x[:, j])
        value, rest = x[ok, j], r[ok, j]
        _points(axis, value, rest)
        _mean(axis, value, rest)
        reach = float(np.quantile(np.abs(r[some(len(r)), j]), 0.998)) * 1.1 + 1e-9
        axis.set_ylim(-reach, reach)

    return grid(r.shape[1], draw, names, label, f"residual [{unit}]")


def _points(axis: Any, x: np.ndarray, y: np.ndarray, **look: Any) -> None:
    """Some of the points (N,), as an image."""
    shown = some(len(x))
    axis.plot(x[shown], y[shown], ".", rasterized=True, **({"ms": 1.2, "color": OTHER, "alpha": 0.5} | look))


def _mean(axis: Any, x: np.ndarray, r: np.ndarray, **look: Any) -> None:
    """Mean of r (N,) in bins of x (N,) that hold as many samples."""
    edges = np.unique(np.quantile(x[some(len(x))], np.linspace(0, 1, 25))) if len(x) else np.zeros(0)
    if len(edges) > 3:
        place = np.clip(np.searchsorted(edges, x) - 1, 0, len(edges) - 2)
        count = np.bincount(place, minlength=len(edges) - 1)
        mean = np.bincount(place, r, len(edges) - 1) / np.maximum(count, 1)
        axis.plot(0.5 * (edges[1:] + edges[:-1])[count > 0], mean[count > 0], color=ERROR, lw=1.5, **look)


def spectrum(y: np.ndarray, r: np.ndarray, rate: float, names: Sequence[str], unit: str, cutoff: float) -> str:
    """Amplitude spectral density of effort y and residual r (N, n); above the cut-off [Hz] no model of the filtered
    state can follow the effort.
    """
    f, effort = signal.welch(y - y.mean(0), rate, nperseg=min(len(y), 1024), axis=0)
    _, rest = signal.welch(r - r.mean(0), rate, nperseg=min(len(r), 1024), axis=0)

    def draw(axis: Any, j: int) -> None:
        axis.loglog(f[1:], np.sqrt(effort[1:, j]), color=MEASURED, lw=1, label="effort")
        axis.loglog(f[1:], np.sqrt(rest[1:, j]), color=ERROR, lw=1, label="residual")
        axis.axvline(cutoff, color=OTHER, ls="--", lw=1, label="cut-off of the state")
        axis.minorticks_off()  # half of the time of the picture
        for one in (axis.xaxis, axis.yaxis):
            one.set_major_formatter("{x:g}")
        if j == 0:
            axis.legend(loc="upper right", fontsize=7)

    return grid(y.shape[1], draw, names, "frequency [Hz]", f"[{unit}/sqrt(Hz)]")


def friction_curves(v: np.ndarray, measured: np.ndarray, curve: np.ndarray, names: Sequence[str]) -> str:
    """Friction [Nm] over velocity v [rad/s]: effort minus rigid body (`measured`) and model (`curve`), all (N, n), and
    the mean of their difference.
    """

    def draw(axis: Any, j: int) -> None:
        _points(axis, v[:, j], measured[:, j], label="effort - rigid body")
        _points(axis, v[:, j], curve[:, j], label="model", ms=1.5, color=MODEL, alpha=1.0)
        _mean(axis, v[:, j], (measured - curve)[:, j], label="mean residual")
        axis.set_ylim(*np.quantile(measured[some(len(v)), j], [0.002, 0.998]) * 1.15)
        if j == 0:
            axis.legend(loc="upper left", fontsize=7, markerscale=5)

    return grid(v.shape[1], draw, names, "velocity [rad/s]", "friction [Nm]")
