"""Pictures of the force pages: frames and signs, from the torque to the wrench, friction of a joint that stops."""

from __future__ import annotations

import io
from xml.sax.saxutils import escape

import numpy as np
from architecture import FILE, LIVE, OFFLINE, OUTSIDE, Arrow, Box, drawn

from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.plots import ERROR, MODEL, figure
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

RATE = 500.0  # Hz


def observer() -> str:
    """What the force stage takes from the measured torque, and what the rest becomes."""
    boxes: list[Box] = [
        (20, 10, 150, 45, OUTSIDE, ("drive torque", "effort, or K_tau i")),
        (20, 100, 150, 45, OUTSIDE, ("motion", "q, qd of the joints")),
        (230, 70, 180, 45, FILE, ("model torque", "of M, C and g at q, qd")),
        (230, 130, 180, 60, FILE, ("friction torque", "of the friction law, at the", "load that a contact adds")),
        (480, 20, 180, 70, LIVE, ("momentum observer", "drive less model less friction,", "without acceleration")),
        (730, 10, 210, 45, OFFLINE, ("external joint torque", "environment on robot, ± std")),
        (730, 95, 210, 60, OFFLINE, ("wrench at the TCP", "posterior of torque = J'F", "under a prior on F")),
        (730, 195, 210, 60, OFFLINE, ("contact", "log likelihood ratio of a", "wrench to none > ratio")),
        (480, 195, 180, 60, LIVE, ("taken off", "error at rest, changed friction,", "payload that is sure")),
    ]
    arrows: list[Arrow] = [
        (((170, 32), (480, 32)), "", (0, 0)),
        (((170, 115), (200, 115), (200, 92), (230, 92)), "", (0, 0)),
        (((170, 130), (200, 130), (200, 160), (230, 160)), "", (0, 0)),
        (((410, 92), (445, 92), (445, 55), (480, 55)), "", (0, 0)),
        (((410, 160), (460, 160), (460, 75), (480, 75)), "", (0, 0)),
        (((660, 37), (730, 37)), "", (0, 0)),
        (((835, 55), (835, 95)), "", (0, 0)),
        (((835, 155), (835, 195)), "", (0, 0)),
        (((570, 195), (570, 90)), "learned while free", (625, 150)),
        (((730, 225), (660, 225)), "", (0, 0)),
        (((835, 255), (835, 280), (320, 280), (320, 190)), "load of the contact", (640, 275)),
    ]
    return drawn((960, 290), boxes, arrows)


def frames() -> str:
    """Axes of base and tool, and the sign of the force, on an arm seen from the side."""
    bones = "120,250 120,190 270,80 430,130 470,185"
    joints = "".join(f'<circle cx="{x}" cy="{y}" r="9" fill="#888"/>' for x, y in ((120, 190), (270, 80), (430, 130)))
    arm = f'<polyline points="{bones}" fill="none" stroke="#bbb" stroke-width="16" stroke-linejoin="round"/>{joints}'
    texts = (
        (190, 246, "base frame: external_wrench_base"),
        (500, 150, "tool frame, origin at the TCP:"),
        (500, 167, "external_wrench"),
        (500, 262, "force of the environment on the robot, here +z of the base"),
        (330, 40, "joint torque tau = J'F, positive in the direction of the joint angle"),
    )
    arrows: list[Arrow] = [
        (((120, 250), (180, 250)), "x", (188, 262)),
        (((120, 250), (120, 196)), "z", (108, 205)),
        (((470, 185), (503, 229)), "z", (512, 225)),
        (((470, 185), (426, 218)), "x", (422, 212)),
        (((470, 285), (470, 193)), "F", (458, 262)),
    ]
    words = "".join(f'<text x="{x}" y="{y}">{escape(text)}</text>' for x, y, text in texts)
    return drawn((960, 300), (), arrows).replace("\n<polyline", f"\n{arm}{words}<polyline", 1)


def standstill() -> str:
    """Friction of one joint that moves, stops and is pushed by 1 mrad: the law with memory, and sgn v alone."""
    t = np.arange(0.0, 4.0, 1 / RATE)
    qd = np.where(t < 1.5, 0.4 * np.sin(np.pi * t / 1.5), 0.0) - np.where((t > 2.5) & (t < 2.6), 0.01, 0.0)
    drawing, axes = figure(1, 1, 9.0, 3.2)
    axis, robot = axes[0, 0], load_robot("ur5e")
    for text, model, colour in (("sgn v: no memory", "static", ERROR), ("law with memory", "hysteresis", MODEL)):
        log = Log(robot.joint_names, np.round(t * 1e9).astype(np.int64))
        log.qd = np.tile(qd[:, None], (1, robot.n_joints))
        log.q = np.cumsum(log.qd, axis=0) / RATE
        log.model_torque = np.zeros_like(log.q)
        Pipeline(robot, {"friction": {"model": model}}, stages=["friction"]).run(log)
        axis.plot(t, log.friction_torque[:, 0], color=colour, label=text)
    axis.axvspan(1.5, t[-1], color="0.5", alpha=0.12, lw=0, label="the joint stands; at 2.5 s it gives way by 1 mrad")
    axis.set_xlabel("time [s]")
    axis.set_ylabel("friction torque [Nm]")
    axis.legend(fontsize=8)
    buffer = io.StringIO()
    drawing.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
