"""Hand guiding with each friction model [Liu2020, section 4 and 5.4]: what a hand needs to start and keep moving.

The base joint is pulled at the tool by a spring whose other end moves at a steady speed, as a hand does; then it is let
go. Friction is identified by one tracked run. Compared: no compensation, sgn(w) F(tau) and E-GMS, both below 100 %.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.papers.labs.in_process import RATE, InProcessLoop, Run
from bench.papers.labs.loop_friction import identified
from bench.papers.madsen_adaptive import CONTROL, identify_here, six_waypoints
from bench.papers.table import Row, beside
from robot_dynamics_ros._core import TorqueMode, TorqueRecord
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile, load_robot

SOURCE = "Liu2020"
JOINT, START = 0, np.deg2rad([0.0, -60.0, 80.0, -110.0, -90.0, 0.0])
HAND_SPEED, HAND_STIFFNESS, HAND_DAMPING = 0.25, 60.0, 3.0  # rad/s, Nm/rad, Nm s/rad seen at the joint
PULL, LET_GO = 4.0, 2.0  # s
SHARE = 0.8
MODELS: dict[str, dict[str, Any]] = {
    "no compensation": {"guide_share": 1e-6},
    "sgn(w) F": {"memory": False},
    "E-GMS": {},
}
EVERY = 10  # cycles between two forces of the hand


class Hand:
    """Pulls at the tool so that the joint feels a spring and a damper to a target that moves."""

    def __init__(self, loop: InProcessLoop, robot: RobotFile) -> None:
        self._loop, self._model = loop, RobotModel(robot.chain(), robot.joint_names)
        self.torques: list[tuple[float, float]] = []  # time, torque at the joint
        self._cycle, self._torque, self.pulling = 0, 0.0, True

    def on_sample(self, record: TorqueRecord) -> None:
        """The hand's force for the next cycles."""
        t, self._cycle = self._cycle / RATE, self._cycle + 1
        if self._cycle % EVERY == 1:
            stretch = START[JOINT] + HAND_SPEED * t - record["q"][JOINT]
            wanted = HAND_STIFFNESS * stretch + HAND_DAMPING * (HAND_SPEED - record["qd"][JOINT])
            self._torque = max(0.0, wanted) if self.pulling else 0.0
            column = self._model.jacobian(record["q"])[:3, JOINT]
            force = self._torque * column / float(column @ column)
            self._loop.push(np.concatenate([force, np.zeros(3)]))
        self.torques.append((t, self._torque))


def run(quick: bool = False) -> list[Row]:
    """External joint torque to start and to keep moving, drift, energy."""
    robot = load_robot("ur5e")
    path = six_waypoints(robot, 2.0, 8.0)
    known = identified(robot, identify_here(robot, path))
    found = {name: _guided(known, parameters) for name, parameters in MODELS.items()}
    bare, best = found["no compensation"], found["E-GMS"]
    rows = [
        _ours("torque to start with E-GMS / without compensation", best["start"] / bare["start"], 0.8),
        _ours("torque to keep moving with E-GMS / without", best["keep"] / bare["keep"], 0.5),
        _ours("drift after letting go with E-GMS", best["drift"], 1e-3, "rad"),
        _ours("energy the hand got back with E-GMS, share of what it gave", best["returned"], 0.05),
    ]
    note = "the paper prints curves only"
    for name, values in found.items():
        rows += [
            beside(SOURCE, f"torque to start, {name}", None, values["start"], "Nm", note),
            beside(SOURCE, f"torque to keep moving, {name}", None, values["keep"], "Nm", note),
        ]
    return rows


def _ours(figure: str, value: float, bound: float, unit: str = "") -> Row:
    """A figure with a bound of our own: the paper prints curves."""
    note = f"bound {bound:g} {unit}".strip() + " is ours; the paper prints curves"
    return Row(SOURCE, figure, None, float(value), unit, bool(value <= bound), note)


def _guided(robot: RobotFile, parameters: dict[str, Any]) -> dict[str, float]:
    given = CONTROL | {"law": "fixed", "guide_share": SHARE, "guide_damping": 0.3} | parameters
    loop = InProcessLoop(robot, given)
    loop.move_to(START)
    hand = Hand(loop, robot)
    loop.enable(TorqueMode.guide)
    pulled = loop.run(PULL, hand.on_sample)
    hand.pulling = False
    released = loop.run(LET_GO, hand.on_sample)
    return _figures(pulled, released, np.array(hand.torques)[:, 1])


def _figures(pulled: Run, released: Run, torque: np.ndarray) -> dict[str, float]:
    speed, hand = pulled.qd[:, JOINT], torque[: len(pulled)]
    moving = np.flatnonzero(speed > 0.2 * HAND_SPEED)
    first = int(moving[0]) if len(moving) else len(speed) - 1
    steady = slice(int(0.6 * len(speed)), len(speed))
    power = hand * speed
    given, returned = float(power[power > 0].sum()), float(-power[power < 0].sum())
    rest = released.q[len(released) // 2 :, JOINT]
    return {
        "start": float(hand[: first + 1].max()),
        "keep": float(hand[steady].mean()),
        "drift": float(np.abs(rest - rest[0]).max()),
        "returned": returned / max(given, 1e-9),
    }
