"""Friction of a simulated joint in one picture: its loops at reversals, and what temperature leaves of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bench.papers.labs import lab
from bench.papers.madsen_joint import FIT_ROWS, hysteresis_data, temperature_data
from robot_dynamics_ros.identification.excitation.plan import checked
from robot_dynamics_ros.identification.joint.friction import fit_friction
from robot_dynamics_ros.identification.joint.hysteresis import fit_hysteresis
from robot_dynamics_ros.plots import BLUE, OTHER, RED, figure, save

RATE = 500.0  # Hz
SECONDS, PERIOD, LARGEST, SMALLEST = 48.0, 6.0, 12e-3, 1e-3  # of the oscillation that fades: s, s, rad, rad
FITTED = slice(0, 4000)  # rows of the slow turn
MINUTES = 20.0  # of warming up
BINS = np.arange(10.0, 50.0, 2.0)  # deg C


def friction_picture(path: Path) -> None:
    """Draw both. Raises CapabilityError without matplotlib, DataError when it cannot be written."""
    drawing, axes = figure(1, 2, 11.0, 4.2)
    _loops(axes[0, 0])
    _temperature(axes[0, 1])
    for axis, scale in zip(axes.flat, (3, 1), strict=True):
        axis.legend(loc="upper right", fontsize=8, markerscale=scale)
    save(drawing, path)


def _loops(axis: Any) -> None:
    """Reversals of less and less amplitude; the elements were identified on a slow turn with large ones."""
    fit = fit_hysteresis(4, hysteresis_data(60), estimation=FITTED, validation=slice(FITTED.stop, None))
    t = np.arange(round(SECONDS * RATE)) / RATE
    size = LARGEST * (SMALLEST / LARGEST) ** (t / SECONDS)
    q = lab.START + np.outer(size * np.sin(2 * np.pi * t / PERIOD), np.eye(6)[0])
    qd = np.gradient(q, 1 / RATE, axis=0)
    robot = lab.ur5e()
    plan = checked(robot, "fading", [0], (q, qd, np.gradient(qd, 1 / RATE, axis=0)), RATE)
    record = lab.measured(plan, lab.warm_robot(robot, 1), robot, 0, keep=5)
    theta = np.asarray(record.theta) - np.asarray(record.theta)[0]
    shown = slice(round(0.75 * PERIOD * RATE / 5), None)  # after the first reversal
    axis.plot(1e3 * theta[shown], record.friction[shown], ".", ms=2, color=OTHER, label="measured")
    axis.plot(1e3 * theta[shown], fit.torque(theta)[shown], color=BLUE, lw=1.2, label="identified elements")
    axis.set_xlabel("angle of the rotor, reflected [mrad]")
    axis.set_ylabel("friction of the base joint [Nm]")
    axis.set_ylim(-12, 16)


def _temperature(axis: Any) -> None:
    """What a law without and one with temperature leaves while the joint warms up by its own motion."""
    data = temperature_data(MINUTES)
    warm, order = np.asarray(data.temperature), np.random.default_rng(0).permutation(len(data))
    for known, colour, label in ((False, RED, "without temperature"), (True, BLUE, "with temperature")):
        fit = fit_friction(
            "madsen", data.take(order[:FIT_ROWS]), temperature=known, fixed={"fl": 0.0}, reference_temperature=30.0
        )
        left = (data.torque - fit.torque(data)) * np.sign(data.v)
        axis.plot(warm, left, ".", color=colour, ms=1.5, alpha=0.15)
        rows = [(T + 1.0, left[(warm >= T) & (warm < T + 2.0)]) for T in BINS]
        middle = [(T, float(np.median(part))) for T, part in rows if len(part) > 20]
        rms = float(np.sqrt(np.mean(left**2)))
        axis.plot(*np.transpose(middle), "o-", ms=4, color=colour, label=f"{label}: RMS {rms:.2f} Nm")
    axis.axhline(0.0, color="black", lw=0.5)
    axis.set_xlabel("temperature of the housing [deg C]")
    axis.set_ylabel("measured friction less the law's [Nm]")
