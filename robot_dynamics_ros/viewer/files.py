"""Recordings of the viewer by task: a log with estimates, a designed motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log, Sample
from robot_dynamics_ros.viewer.scene import COLOURS, TEXT_EVERY, Scene
from robot_dynamics_ros.viewer.stream import open_stream
from robot_dynamics_ros.viewer.views import force_views, motion_views

RATE = 30.0  # pictures per second of the recording's time
OPEN = 10.0  # m at which a box without a wall on a side is drawn


def _end(stream: Any, file: Path) -> Path:
    stream.flush()
    stream.disconnect()
    return file


def write_rrd(log: Log, robot: RobotFile, file: Path) -> Path:
    """A log with its estimates as an .rrd file, RATE pictures per second of the log's time."""
    stream = open_stream(file)
    scene, sample = Scene(stream, robot), Sample(log.joint_names)
    stream.send_blueprint(force_views(robot.name, scene.reach, (int(log.stamp_ns.min()), int(log.stamp_ns.max()))))
    seconds = np.cumsum(np.maximum(np.diff(log.time, prepend=0.0), 0.0))  # also where a clock was set back
    rows = np.unique(np.searchsorted(seconds, np.arange(0.0, seconds[-1], 1.0 / RATE)))
    for k, row in enumerate(rows):
        sample.clear()
        log.read(int(row), sample)
        scene.show(sample)
        if k % TEXT_EVERY == 0:
            scene.log_status(sample, ())
    return _end(stream, file)


def write_motion_rrd(motion: Any, robot: RobotFile, limits: Any, file: Path) -> Path:
    """A designed motion (time (N,), q, qd, qdd (N, n)) with limits, floor and keep-out boxes as an .rrd file."""
    import rerun as rr

    stream = open_stream(file)
    scene, names = Scene(stream, robot), list(robot.joint_names)
    stream.send_blueprint(motion_views(robot.name, scene.reach, (0, round(1e9 * motion.time[-1]))))
    bounds = {"q": (limits.lower, limits.upper), "qd": (-limits.velocity, limits.velocity)}
    bounds["qdd"] = (-limits.acceleration, limits.acceleration)
    for plot in bounds:
        labels = [*names, *(f"{name} {end}" for end in ("lower", "upper") for name in names)]
        colours = [COLOURS[k % len(names) % len(COLOURS)] for k in range(len(labels))]
        widths = [1.5] * len(names) + [0.5] * 2 * len(names)
        stream.log(f"plot/{plot}", rr.SeriesLines(names=labels, colors=colours, widths=widths), static=True)
    _draw_space(stream, limits)
    rows = np.unique(np.searchsorted(motion.time, np.arange(0.0, motion.time[-1], 1.0 / RATE)))
    for row in rows:
        scene.set_time(round(1e9 * motion.time[row]))
        scene.place(motion.q[row])
        for plot, ends in bounds.items():
            scene.plot(plot, np.concatenate([getattr(motion, plot)[row], *ends]))
    return _end(stream, file)


def _draw_space(stream: Any, limits: Any) -> None:
    import rerun as rr

    boxes = {"inside": limits.inside} | {f"outside_{k + 1}": box for k, box in enumerate(limits.outside)}
    for name, box in boxes.items():
        if box is not None:
            low, high = (np.clip(np.asarray(end, float), -OPEN, OPEN) for end in (box.low, box.high))
            colour = COLOURS[2] if name == "inside" else COLOURS[3]
            shape = rr.Boxes3D(centers=[0.5 * (low + high)], half_sizes=[0.5 * (high - low)], colors=[colour])
            stream.log(f"space/{name}", shape, static=True)
    if np.isfinite(limits.floor):
        floor = rr.Boxes3D(centers=[[0, 0, limits.floor]], half_sizes=[[1.0, 1.0, 0.001]], colors=[COLOURS[3]])
        stream.log("space/floor", floor, static=True)
