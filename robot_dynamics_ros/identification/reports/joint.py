"""The report of identify --what: one HTML file with a picture per joint, and robot file beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from robot_dynamics_ros.identification.joint.fits import Curve
from robot_dynamics_ros.identification.joint.identify import JointsFound
from robot_dynamics_ros.identification.reports.joint_verdict import judged, parameters
from robot_dynamics_ros.outputs import writing
from robot_dynamics_ros.pages import write_html
from robot_dynamics_ros.plots import MODEL, OTHER, POINTS, figure, svg
from robot_dynamics_ros.robot_file import save_robot
from robot_dynamics_ros.signals import Log

TEMPLATE = "joint_report.html.j2"
FITS = {"nrmse": "fit", "nrmse_fit": "fit to the training data", "nrmse_without": "fit without temperature"}
UNITS = {  # of the figures of merit
    "nrmse": "%",
    "nrmse_fit": "%",
    "nrmse_without": "%",
    "rmse": "Nm",
    "misfit": "Nm",
    "misfit_share": "%",
    "error_peak_to_peak": "rad",
    "backlash_mean": "rad",
    "rms_before": "rad",
    "rms_after": "rad",
    "temperature_span": "deg C",
    "skew": "s",
    "stiffness": "Nm/rad",
}


def head(number: str) -> str:
    """Name of a figure of merit with its unit, as heads of tables have it."""
    return f"{FITS.get(number, number).replace('_', ' ')} {UNITS.get(number, '')}".strip()


def picture(curve: Curve) -> str:
    """Measured points and model of one joint as SVG."""
    drawing, axes = figure(1, 1, 9.0, 4.0)
    axis = axes[0, 0]
    step = max(len(curve.x) // POINTS, 1)
    axis.plot(curve.x[::step], curve.y[::step], "o", ms=5, mfc="none", mec=OTHER, label="measured", rasterized=True)
    line = "." if len(curve.model) == len(curve.y) else "-"  # at the data, or along a line
    axis.plot(curve.model_x, curve.model, line, ms=3, color=MODEL, label="model")
    axis.set_xlabel(curve.x_label)
    axis.set_ylabel(curve.y_label)
    axis.grid(alpha=0.25)
    axis.legend()
    return svg(drawing)


def write_report(found: JointsFound, said: dict[str, Any], log: Log, inputs: Sequence[str], path: Path) -> Path:
    """Write the report atomically. Raises CapabilityError without jinja2 or matplotlib, DataError when it cannot be
    written.
    """
    return write_html(
        TEMPLATE,
        path,
        what=found.what,
        robot=found.robot.name,
        inputs=list(inputs),
        samples=len(log),
        duration=float(log.time[-1]),
        result=said,
        heads={key: head(key) for fit in found.fits.values() for key in fit.numbers},
        fits=found.fits,
        parameters={name: parameters(fit) for name, fit in found.fits.items()},
        pictures={name: picture(fit.curve) for name, fit in found.fits.items()},
    )


def write_joint_outputs(found: JointsFound, log: Log, bags: Sequence[Path], out: Path, robot: str) -> dict[str, Any]:
    """Robot file with provenance and report in `out`; returns verdict and files. robot: as the user has named it.

    Raises DataError, ConfigError.
    """
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        path, page = out / f"{found.robot.name}_{found.what}.yaml", out / f"{found.what}.html"
        save_robot(found.robot, path, inputs=[b for b in bags if b.is_file()], changed=[found.block])
        said = judged(found, str(path), robot)
        write_report(found, said, log, [b.name for b in bags], page)
    return said | {"files": {"robot_file": str(path), "report": str(page)}}
