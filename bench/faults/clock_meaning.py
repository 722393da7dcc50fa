"""Commands and states that would mean something else: refused, with the reason, before any torque leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from bench.faults.clock_bench import START, ClockBench
from bench.faults.table import Case, refused, require
from robot_dynamics_ros._core import TorqueMode
from robot_dynamics_ros.drivers.guard import guard_limits, refuse_semantics, refuse_torque
from robot_dynamics_ros.drivers.interface import DriverInfo, RobotStatus
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import joint_columns
from robot_dynamics_ros.simulation.robot import SimulatedRobot

NEW = DriverInfo("ur", "5.26.0", 500.0, False, frozenset({"torque"}))
GOOD = RobotStatus(safety_text="normal", safety_normal=True, payload=0.0, payload_com=(0.0, 0.0, 0.0))


def joints_reordered(seed: int) -> str:
    """Commands whose joints come in another order leave the same torque, bit for bit."""
    plain, mixed = (ClockBench(seed).running(TorqueMode.external, cycles=5) for _ in range(2))
    random, names = np.random.default_rng(seed), plain.robot.joint_names
    for _ in range(50):
        order, torque = random.permutation(6), random.uniform(-3, 3, 6)
        columns = joint_columns([names[i] for i in order], names)
        plain.command(torque)
        mixed.command(torque[order][columns])
        plain.cycle()
        mixed.cycle()
        require(np.array_equal(plain.record["torque"], mixed.record["torque"]), "another torque left")
    require(bool(plain.record["torque"].any()), "no torque left at all")
    return "the same torque, bit for bit"


def joints_by_name(seed: int) -> str:
    names = load_robot("ur5e").joint_names
    order = np.random.default_rng(seed).permutation(6)
    columns = joint_columns([names[i] for i in order] + ["extra"], names)
    require([order[c] for c in columns] == list(range(6)), "joints mixed up")
    for bad in ([*names, names[0]], names[1:]):
        refused(partial(joint_columns, bad, names), "missing or repeated joint accepted")
    return "missing and repeated refused, extra ignored"


def _semantics(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[int], str]:
    def run(seed: int) -> str:
        robot = load_robot("ur5e")
        plant = SimulatedRobot(robot, seed=seed, q=START + np.random.default_rng(seed).uniform(-0.3, 0.3, 6))
        hold = plant.record().q
        for _ in range(50):
            r = plant.step_position(hold)
        gravity = RobotModel(robot.chain(), robot.joint_names).gravity(r.q)
        friction = robot.array("friction.parameters.fc")
        effort = robot.array("drives.torque_constant") * r.current
        refuse_semantics(robot, effort, gravity, friction)
        wrong = partial(refuse_semantics, robot, change(effort), gravity, friction)
        return refused(wrong, "torque would have been enabled").split(":")[0] + ": refused"

    return run


def _flip_largest(effort: np.ndarray) -> np.ndarray:
    flipped = effort.copy()
    flipped[np.argmax(np.abs(effort))] *= -1
    return flipped


def _refused(text: str, attempt: Callable[[], object]) -> None:
    reason = refused(attempt, f"torque would have been enabled without {text}")
    require(text in reason, f"refused for another reason: {reason}")


def not_ready(_: int) -> str:
    """Old controllers, unset payloads, limits that the robot file lacks: each one line."""
    robot = load_robot("ur5e")
    refuse_torque(robot, NEW, GOOD)
    old = replace(NEW, version="5.11.0", capabilities=frozenset())
    _refused("5.26", lambda: refuse_torque(robot, old, GOOD))
    _refused("payload", lambda: refuse_torque(robot, NEW, replace(GOOD, payload=float("nan"))))
    _refused("payload is 2 kg on the controller", lambda: refuse_torque(robot, NEW, replace(GOOD, payload=2.0)))
    _refused("safety", lambda: refuse_torque(robot, NEW, replace(GOOD, safety_normal=False)))
    for name in ("torque", "velocity", "position_lower", "acceleration"):
        lacking = robot.model_copy(update={"limits": robot.limits.model_copy(update={name: None})})
        _refused(f"limits.{name}", partial(guard_limits, lacking))
    return "each refused in one line"


CASES: list[Case] = [
    Case(10, "joints reordered", "clock", "identical by name", joints_reordered),
    Case(11, "joints missing, repeated or extra", "clock", "refused; extra ignored", joints_by_name),
    Case(13, "effort in ampere instead of Nm", "clock", "refused before torque", _semantics(lambda e: e / 10.6)),
    Case(14, "gravity already removed from effort", "clock", "refused before torque", _semantics(lambda e: 0.02 * e)),
    Case(15, "sign of one joint reversed", "clock", "refused before torque", _semantics(_flip_largest)),
    Case(13, "version, payload or limits not as needed", "clock", "refused in one line", not_ready),
]
