"""Friction that the feedforward of torque mode leaves, in closed loop, beside what the live observer leaves.

Three robots of the tuning families of the zoo are identified from their recordings of 60 s. Each then follows a path
of moves, rests, creeping and Fourier motion in torque mode: first with the law of the file alone, then after 60 s of
adaptation. Left is the friction of the simulated joints, in the units of the drive's command, less the feedforward.
The observer reads the same run: its friction along the measured motion, from the same file.

Beside it: no friction at all. A stair of 1 mm shows what stiction leaves of the tool's position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.force.recordings import REACH, home, recorded, simulated
from bench.force.zoo import FAMILIES, Individual, half, individuals
from bench.papers.labs.in_process import RATE, InProcessLoop, Run, closed
from bench.papers.table import Row, at_most, beside
from robot_dynamics_ros._core import TorqueMode
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.identify import identify_recordings
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.trajectories import motions
from robot_dynamics_ros.trajectories.smooth import Trajectory

SOURCE = "torque mode"
SEED = 1
LEARNING = 60.0  # s
BEGIN = 2.0  # s that are not judged
SPEEDS = (0.3, 0.6, 1.0)  # rad/s
STEP, CREEP = 4e-3, 1e-3  # rad, rad/s
REST = 1.5  # s
NEAR, SLOW = 0.3, 0.01  # s after a joint's velocity changes its sign or begins; rad/s, slower is no sliding
STATES = ("moving", "at reversals", "at rest")
LATER, NONE = ", after 60 s", "no friction"
ALLOWED = 1.15  # of what the observer leaves
BARE = {
    "friction": {"model": "viscous_coulomb", "parameters": {"fc": 1e-3, "fv": 0.0}, "source": "spacing"},
    "hysteresis": None,
}
RISE, STEPS = 1e-3, 5  # m of a step of the stair; steps up, and down again


Left = dict[str, np.ndarray]  # root mean square by state, of each joint (n,)


@dataclass
class Pass:
    """One period of the path: records, the drives' friction (N, n) [Nm], and what the observer says of it."""

    run: Run
    friction: np.ndarray
    observed: np.ndarray

    def left(self, observer: bool = False) -> Left:
        """Friction [Nm] that the feedforward leaves, or the observer, and the position error [mrad] at reversals."""
        at = states(self.run.qd_d)
        error = self.friction - (self.observed if observer else self.run.friction)
        return {name: _rms(error, rows) for name, rows in at.items()} | {
            "position": _rms(1e3 * self.run.position_error, at["at reversals"])
        }


def run(quick: bool = False) -> list[Row]:
    """Friction left of three robots before and after adaptation; quick: one robot."""
    people = individuals(load_robot("ur5e"), 1 if quick else 3, SEED, half(FAMILIES, "tuning"))
    found = [judged(who) for who in people]
    return [row for figure in (*STATES, "position", "stair") for row in _rows(figure, found)]


TITLES = {  # and the share of what no friction feedforward leaves that is allowed
    "position": ("position error at reversals", "mrad", 0.1),
    "stair": ("tool's error on a stair of 1 mm", "mm", 1.0),
}


def _rows(figure: str, found: list[dict[str, Left]]) -> list[Row]:
    """Of one figure: the identified law against the observer or a share of no friction, then no friction."""
    known = [name for name in found[0] if figure in found[0][name]]
    total = {name: _rms_of([one[name] for one in found], figure) for name in known}
    each = {name: " ".join(f"{_rms_of([one[name]], figure):.2f}" for one in found) for name in known}
    title, unit, share = TITLES.get(figure, (f"friction left {figure}", "Nm", ALLOWED))
    rows = []
    for later in ("", LATER):
        name, other = f"identified law{later}", NONE if figure in TITLES else f"observer{later}"
        note = f"each robot: {each[name]}; bound: {share} of {other}"
        rows.append(at_most(SOURCE, f"{title}, {name}", share * total[other], total[name], unit, note))
    return [*rows, beside(SOURCE, f"{title}, {NONE}", None, total[NONE], unit, f"each robot: {each[NONE]}")]


def judged(who: Individual) -> dict[str, Left]:
    """What is left of the friction of one robot, by method."""
    base = load_robot("ur5e")
    robot, path = found(base, who), the_path(base, who)
    first = followed(robot, who, path, {"law": "fixed"})
    left = {"identified law": first.left(), "observer": first.left(observer=True)}
    later = followed(robot, who, path, {}, LEARNING)
    left |= {f"identified law{LATER}": later.left(), f"observer{LATER}": later.left(observer=True)}
    bare = robot.with_updates(BARE, {"spacing": "Madsen2020 ch6 17-18"})
    left[NONE] = followed(bare, who, path, {"law": "fixed"}).left() | on_stair(bare, who, {"law": "fixed"})
    left["identified law"] |= on_stair(robot, who, {"law": "fixed"})
    left[f"identified law{LATER}"] |= on_stair(robot, who, {}, LEARNING)
    return left


def found(base: RobotFile, who: Individual) -> RobotFile:
    """The robot file that identification of the individual's recordings gives."""
    taken = [recording(recorded(base, who, k)[0], f"recording_{k}") for k in range(who.bags)]
    return identified_robot(identify_recordings(base, taken, [], Options()))


def the_path(robot: RobotFile, who: Individual) -> Trajectory:
    """Closed: moves at three speeds with rests, a creep each, and a Fourier series, from the individual's home."""
    draw = who.draw(40)
    centre = here = home(robot, draw)
    parts = [motions.hold(centre, REST, RATE)]
    for speed in SPEEDS:
        there = centre + draw.uniform(-REACH, REACH, len(centre))
        near = there + STEP * draw.choice([-1.0, 1.0], len(centre))
        for goal, v, a in ((there, speed, 3.0), (near, CREEP, 0.1), (centre, speed, 3.0)):
            parts += [motions.trapezoid(here, goal, RATE, v, a), motions.hold(goal, REST, RATE)]
            here = goal
    wave = motions.fourier(centre, 20.0, RATE, amplitude=0.3, velocity=0.6, seed=int(draw.integers(2**31)))
    first, last = wave[0][0], wave[0][-1]
    parts += [motions.quintic(centre, first, RATE, 0.5), wave, motions.quintic(last, centre, RATE, 0.5)]
    return closed(*motions.join(*parts))


def on_stair(robot: RobotFile, who: Individual, parameters: dict[str, Any], before: float = 0.0) -> Left:
    """Error of the tool's position [mm] on a closed stair of 1 mm, upwards and down again, a rest on every step."""
    here = start = home(robot, who.draw(40))
    J = RobotModel(robot.chain()).jacobian(start[None])[0, :3]
    rise = np.linalg.lstsq(J, np.array([0.0, 0.0, RISE]), rcond=None)[0]
    parts = [motions.hold(start, 0.5, RATE)]
    for k in (*range(1, STEPS + 1), *range(STEPS - 1, -1, -1)):
        there = start + k * rise
        parts += [motions.trapezoid(here, there, RATE, 0.05, 1.0), motions.hold(there, 0.5, RATE)]
        here = there
    error = followed(robot, who, closed(*motions.join(*parts)), parameters, before).run.position_error @ J.T
    return {"stair": 1e3 * np.sqrt(np.mean(np.sum(error**2, axis=1)))[None]}


def followed(
    robot: RobotFile, who: Individual, path: Trajectory, parameters: dict[str, Any], before: float = 0.0
) -> Pass:
    """One period of the path, from `before` seconds on to the end of a period."""
    machine = {"overrides": who.overrides, "seed": SEED}
    loop = InProcessLoop(robot, parameters, plant=machine)
    rig, true = loop.rig, simulated(load_robot("ur5e"), who, SEED).machine.true
    rig.plant.set_temperatures(who.temperature, who.temperature - 3.0)
    loop.move_to(path.q[0])
    loop.enable(TorqueMode.track, path)
    period = len(path.q)
    loop.run(np.ceil((before * RATE + 1) / period) * period / RATE - 1 / RATE if before else BEGIN)
    seen: dict[str, list[np.ndarray]] = {name: [] for name in ("q", "qd", "effort", "temperature", "friction")}

    def look(_: Any) -> None:
        r = rig.state
        for name, value in (("q", r.q), ("qd", r.qd), ("effort", r.effort), ("temperature", r.temperature)):
            seen[name].append(np.array(value))
        seen["friction"].append(rig.plant.core.get("true_friction_torque"))

    taken = loop.run(period / RATE, look)
    gain = true["control.torque_constant"] / true["drive.torque_constant"]
    friction = gain * np.array(seen.pop("friction"))
    log = Log(robot.joint_names, np.arange(1, period + 1) * int(1e9 / RATE), {k: np.array(v) for k, v in seen.items()})
    Pipeline(robot).run(log)
    return Pass(taken, friction, log.friction_torque)


def states(qd: np.ndarray) -> dict[str, np.ndarray]:
    """Which samples (N, n) of a desired velocity slide, begin to (after a reversal, a start, creeping), and rest."""
    still = np.abs(qd) < 1e-9
    sign = np.sign(np.where(still, 0.0, qd))
    turned = np.zeros(qd.shape, dtype=bool)
    turned[1:] = (sign[1:] != sign[:-1]) & ~still[1:]
    window = np.ones(int(NEAR * RATE))
    near = np.array([np.convolve(column, window)[: len(qd)] > 0 for column in turned.T]).T
    near = (near | (np.abs(qd) < SLOW)) & ~still
    resting = np.broadcast_to(still.all(axis=1)[:, None], qd.shape)
    return dict(zip(STATES, (~still & ~near, near, resting), strict=True))


def _rms(error: np.ndarray, at: np.ndarray) -> np.ndarray:
    late = np.arange(len(error))[:, None] >= BEGIN * RATE
    return np.array(
        [np.sqrt(np.mean(e[a] ** 2)) if a.any() else np.nan for e, a in zip(error.T, (at & late).T, strict=True)]
    )


def _rms_of(found: list[dict[str, np.ndarray]], state: str) -> float:
    return float(np.sqrt(np.mean([one[state] ** 2 for one in found])))
