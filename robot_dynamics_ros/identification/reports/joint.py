"""The report of identify --what: its verdict, one HTML file with a picture per joint, and robot file beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median_low
from typing import Any

import numpy as np

from robot_dynamics_ros.bags.storage import bag_files
from robot_dynamics_ros.identification.joint.fits import Curve, JointFit
from robot_dynamics_ros.identification.joint.identify import JointsFound
from robot_dynamics_ros.outputs import writing
from robot_dynamics_ros.pages import write_html
from robot_dynamics_ros.plots import MODEL, OTHER, figure, some, svg
from robot_dynamics_ros.robot_file import save_robot
from robot_dynamics_ros.robot_file.parameters import MODELS
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.verdict import DEVIATION, GRADES, cell, level_of, matrix, verdict, word, worst

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
FIT = (75.0, 60.0)  # % of a good and of a fair fit: R2 of 0.94 and 0.84
MISFIT = (25.0, 50.0)  # % of the largest measured value
LEFT = (0.9, 1.0)  # share of the difference of the encoders that the kinematic error leaves
EXPERIMENTS = {  # that shows a property again, where it is not velocity-steps
    "hysteresis": "reversals",
    "kinematic-error": "reversals",
    "thermal": "duty-cycles",
    "stiffness": "stiffness",
}
LONGEST = 16  # values of a parameter that are listed: tables over a turn are drawn


def head(number: str) -> str:
    """Name of a figure of merit with its unit, as heads of tables have it."""
    return f"{FITS.get(number, number).replace('_', ' ')} {UNITS.get(number, '')}".strip()


def picture(curve: Curve) -> str:
    """Measured points and model of one joint as SVG."""
    drawing, axes = figure(1, 1, 9.0, 4.0)
    axis = axes[0, 0]
    shown = some(len(curve.x))
    axis.plot(curve.x[shown], curve.y[shown], "o", ms=5, mfc="none", mec=OTHER, label="measured", rasterized=True)
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
        save_robot(found.robot, path, inputs=bag_files(bags), changed=[found.block])
        said = judged(found, str(path), robot)
        write_report(found, said, log, [b.name for b in bags], page)
    return said | {"files": {"robot_file": str(path), "report": str(page)}}


def parameters(fit: JointFit) -> list[dict[str, Any]]:
    """Rows of the page: name, values, their deviations where they are known, unit."""
    known = MODELS[fit.block][fit.model]
    return [
        {
            "name": name,
            "values": np.ravel(value).tolist(),
            "std": np.ravel(fit.std.get(name, [])).tolist(),
            "unit": known[name].unit,
        }
        for name, value in fit.parameters.items()
        if np.size(value) <= LONGEST
    ]


def judged(found: JointsFound, robot_file: str, robot: str) -> dict[str, Any]:
    """Verdict of what was found, and the matrix joint x (fit, largest misfit, parameters).

    robot: as the user has named it.
    """
    fits = {n: level_of(f.numbers.get("nrmse"), *FIT) for n, f in found.fits.items()}
    if found.what == "kinematic-error":
        fits = {n: level_of(_left(f), *LEFT) for n, f in found.fits.items()}
    shares = {n: f.numbers.get("misfit_share") for n, f in found.fits.items()}
    misfits = {n: level_of(share, *MISFIT) for n, share in shares.items()}
    joints = {n: worst((level, "fair")) if misfits[n] in ("fair", "bad") else level for n, level in fits.items()}
    level = _usual(list(joints.values()))
    below = [n for n, one in joints.items() if worst((one, level)) != level]
    again = f"robot-dynamics excite {EXPERIMENTS.get(found.what, 'velocity-steps')} --robot {word(robot)}"
    said = verdict(
        level,
        f"{found.what} of {len(fits)} of {found.robot.n_joints} joints, {_range(found)}.",
        *_largest(found),
        *(f"Not identified: {why}." for why in found.reasons()),
        exceptions=", ".join(f"{n} ({GRADES[joints[n]]})" for n in below),
        then=f"{again} --out motion.csv" if level == "bad" else f"robot-dynamics check {word(robot_file)}",
    )
    return said | {"matrix": _matrix(found, fits, misfits)}


def _usual(levels: list[str]) -> str:
    """Level of most joints; fair where it is good and one is not usable."""
    order = list(GRADES)
    usual = order[median_low(map(order.index, levels))]
    return worst((usual, "fair")) if "bad" in levels else usual


def _matrix(found: JointsFound, fits: dict[str, str], misfits: dict[str, str]) -> dict[str, Any]:
    numbers = {n: f.numbers for n, f in found.fits.items()}
    loose = {n: _deviation(f) for n, f in found.fits.items()}
    columns = {
        "fit %": [cell(numbers[n].get("nrmse"), level) for n, level in fits.items()],
        "largest misfit Nm": [cell(numbers[n].get("misfit"), level) for n, level in misfits.items()],
        "deviation of parameters %": [cell(x, level_of(x, *DEVIATION)) for x in loose.values()],
    }
    return matrix(list(found.fits), columns)


def _left(fit: JointFit) -> float:
    return fit.numbers["rms_after"] / max(fit.numbers["rms_before"], 1e-12)


def _deviation(fit: JointFit) -> float:
    """Median relative deviation [%] of the parameters that are not 0; NaN where none is known."""
    pairs = [(s, v) for p in parameters(fit) for s, v in zip(p["std"], p["values"], strict=False) if v]
    return 100 * float(np.median([s / abs(v) for s, v in pairs])) if pairs else float("nan")


def _range(found: JointsFound) -> str:
    """The fits from the worst to the best joint, in words."""
    if found.what == "kinematic-error":
        return f"{100 * max(map(_left, found.fits.values())):.0f} % of the difference of the encoders is left"
    fits = [f.numbers["nrmse"] for f in found.fits.values()]
    return f"fit {min(fits):.1f} %" if len(fits) == 1 else f"fit {min(fits):.1f} to {max(fits):.1f} %"


def _largest(found: JointsFound) -> list[str]:
    """The joint whose largest error is most of its largest measured value."""
    known = {n: f.numbers for n, f in found.fits.items() if "misfit" in f.numbers}
    if not known:
        return []
    name = max(known, key=lambda n: known[n]["misfit_share"])
    size, share = known[name]["misfit"], known[name]["misfit_share"]
    return [f"Largest misfit: {size:.3g} Nm of {name}, {share:.0f} % of the largest measured value."]
