"""Faults with a clock of our own: a simulated robot and the torque loop in one thread, cycle by cycle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import GuardReason, GuardState, TorqueMode
from robot_dynamics_ros.config import load_robot
from robot_dynamics_ros.controllers.torque import CONTROL
from robot_dynamics_ros.errors import CapabilityError, ConfigError, DataError
from robot_dynamics_ros.faults.rig import CYCLE, RAMP, START, Rig, largest_step
from robot_dynamics_ros.faults.table import Case, demand
from robot_dynamics_ros.hardware.guard import GuardSettings, refuse_semantics
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.parameters import resolve
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.types import joint_columns


# -- the cases ---------------------------------------------------------------------------------------------------------
def missing_samples(seed: int) -> str:
    rig = Rig(seed).running()
    rig.applied.clear()
    for lost in (1, 2, 3):
        rig.silence(2 * lost)
        rig.cycle(100)
    demand(rig.loop.state == GuardState.ok, f"state {rig.loop.state.name}")
    demand(largest_step(rig.applied) < 8.0, f"torque step {largest_step(rig.applied):.1f} Nm")
    return f"ok, largest step {largest_step(rig.applied):.1f} Nm"


def gap(seed: int) -> str:
    rig = Rig(seed).running()
    demand(rig.silence(26)["state"] == GuardState.degraded, "not degraded after 26 ms")
    rig.cycle(1, gap=True)
    rig.cycle(200)
    demand(rig.loop.state == GuardState.ok, f"state {rig.loop.state.name} after the gap")
    return "degraded, then ok"


def long_gap(seed: int) -> str:
    rig = Rig(seed).running()
    rig.silence(42)
    demand(rig.loop.state == GuardState.safe, f"state {rig.loop.state.name} after 42 ms")
    return rig.off_within(RAMP, silent=True)


def frozen(seed: int) -> str:
    rig = Rig(seed).running(cycles=400)
    held = {"q": rig.state.q.copy(), "qd": rig.state.qd.copy()}
    rig.cycle(12, **held)
    demand(rig.loop.state == GuardState.safe, f"state {rig.loop.state.name} after 12 repeats")
    return rig.off_within(RAMP, GuardReason.state_frozen)


def state_not_finite(seed: int) -> str:
    rig = Rig(seed).running()
    bad = rig.state.q.copy()
    bad[seed % 6] = (np.nan, np.inf)[seed % 2]
    rig.cycle(1, q=bad)
    rig.cycle(50)
    demand(rig.loop.state == GuardState.ok, f"state {rig.loop.state.name} after one bad sample")
    demand(np.isfinite(rig.record["coulomb"]).all() and np.isfinite(rig.record["torque"]).all(), "state not finite")
    rig.cycle(6, q=bad)
    demand(rig.loop.state == GuardState.safe, f"state {rig.loop.state.name} after six bad samples")
    return "one dropped, " + rig.off_within(RAMP, GuardReason.state_not_finite)


def command_not_finite(seed: int) -> str:
    rig = Rig(seed).running(TorqueMode.external, cycles=5)
    for _ in range(20):
        rig.command(3.0)
        rig.cycle()
    demand(rig.record["torque"].any(), "no torque to begin with")
    bad = np.zeros(6)
    bad[seed % 6] = (np.nan, np.inf, -np.inf)[seed % 3]
    rig.command(bad)
    rig.cycle()
    demand(rig.loop.state == GuardState.fault and not rig.record["torque"].any(), "torque left in the same cycle")
    return rig.off_within(2, GuardReason.command_not_finite)


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
        try:
            refuse_semantics(robot, change(effort), gravity, friction)
        except CapabilityError as error:
            return str(error).split(":")[0] + ": refused"
        demand(False, "torque would have been enabled")
        return ""

    return run


def _flip_largest(effort: np.ndarray) -> np.ndarray:
    flipped = effort.copy()
    flipped[np.argmax(np.abs(effort))] *= -1
    return flipped


def limits(seed: int) -> str:
    rig = Rig(seed).running(TorqueMode.external, cycles=5)
    bound, largest = rig.robot.array("limits.torque"), 0.0
    for _ in range(49):
        rig.now += CYCLE
        rig.command(1e6 * (-1) ** seed)
        rig.see(qd=np.zeros(6), q=rig.state.q + 1e-6 * _)
        largest = max(largest, float((np.abs(rig.record["torque"]) / bound).max()))
    demand(largest <= 1.0, f"{largest:.2f} of the torque limit left")
    for _ in range(60):
        rig.now += CYCLE
        rig.command(1e6)
        rig.see(qd=np.zeros(6), q=rig.state.q + 1e-5 * _)
    demand(rig.loop.state == GuardState.safe, f"state {rig.loop.state.name} after sustained excess")
    text = rig.off_within(RAMP)
    fast = Rig(seed).running(TorqueMode.external, cycles=5)
    fast.command(5.0)
    fast.cycle(1, qd=np.full(6, 3.1))
    demand(not (fast.record["torque"] > 0).any(), "torque along a joint over its speed limit")
    end = Rig(seed).running(TorqueMode.external, cycles=5)
    end.command(5.0)
    end.cycle(1, q=end.robot.array("limits.position_upper") - 0.001, qd=np.full(6, 0.5))
    demand(not (end.record["torque"] > 0).any(), "torque into a position limit")
    return "clamped; " + text


def no_excitation(seed: int) -> str:
    rig = Rig(seed).running(cycles=1500)
    random = np.random.default_rng(seed)
    rig.loop.disable()
    rig.cycle(200)
    still = rig.state.q.copy()
    learned = rig.record["coulomb"].copy(), rig.record["viscous"].copy()
    for _ in range(5000):  # an hour in steps of 2 ms would only repeat this: nothing accumulates at rest
        rig.now += CYCLE
        rig.see(q=still + 1e-6 * random.standard_normal(6), qd=np.zeros(6))
    drift = max(np.abs(rig.record["coulomb"] - learned[0]).max(), np.abs(rig.record["viscous"] - learned[1]).max())
    demand(drift < 1e-3, f"parameters moved by {drift:.4f} at rest")
    return f"moved by {drift:.1e}"


def contact(seed: int) -> str:
    rig = Rig(seed).running(cycles=3000)
    learned = rig.record["coulomb"].copy()
    rig.plant.set_wrench(np.array([0, 0, -150.0, 0, 0, 0]))
    frozen_at = None
    for k in range(250):
        rig.cycle()
        if rig.record["frozen"] & int(_core.FreezeReason.contact):
            frozen_at = frozen_at or k
    demand(frozen_at is not None, "adaptation was not frozen")
    change = float(np.abs(rig.record["coulomb"] - learned).max())
    demand(change < 0.05, f"Coulomb scale moved by {change:.3f}")
    return f"frozen after {2 * (frozen_at or 0)} ms, scale kept to {change:.3f}"


def bad_parameters(seed: int) -> str:
    for name, value in (("bandwidth", float("nan")), ("torque_share", 2.0), ("law", "magic"), ("nothing", 1.0)):
        try:
            resolve(CONTROL, {"damping_ratio": 0.7, name: value}, "control")
        except ConfigError:
            continue
        demand(False, f"{name} = {value} was accepted")
    return "refused as a whole"


def second_publisher(seed: int) -> str:
    rig = Rig(seed).running()
    rig.loop.trip(GuardReason.publisher)
    rig.cycle()
    demand(rig.loop.state == GuardState.safe, f"state {rig.loop.state.name}")
    return rig.off_within(RAMP, GuardReason.publisher)


def dead_man(seed: int) -> str:
    rig = Rig(seed, settings=GuardSettings(enable_timeout=0.1)).running(TorqueMode.guide, cycles=40)
    rig.loop.refresh()
    rig.cycle(50)
    demand(rig.loop.state == GuardState.ok, "lost although it was held")
    rig.cycle(2)
    demand(rig.loop.state == GuardState.safe, "not lost 4 ms after the timeout")
    return rig.off_within(RAMP, GuardReason.enable_lost)


def connection_lost(seed: int) -> str:
    rig = Rig(seed).running()
    rig.loop.lost()
    rig.silence(2)
    return rig.off_within(2, silent=True)


def robot_stopped(seed: int) -> str:
    rig = Rig(seed).running()
    rig.cycle(1, stopped=True)
    return rig.off_within(2, GuardReason.robot_stopped)


def overload(seed: int) -> str:
    rig, random = Rig(seed).running(TorqueMode.external, cycles=5), np.random.default_rng(seed)
    worst = 0.0
    for _ in range(300):
        late = int(random.choice([0, 2, 4, 12, 30]))
        rig.command(1.0, age_ms=late)
        rig.cycle()
        share = float(rig.record["torque"].max())
        allowed = 1.0 if late <= 4 else 1.0 - (late + 2 - 7) / 100
        worst = max(worst, share - allowed)
    demand(worst <= 1e-9, f"late command passed at {worst:.2f} over its share")
    rig.command(1.0, age_ms=60)
    rig.cycle(2)
    demand(rig.loop.state == GuardState.safe, f"state {rig.loop.state.name} after a command 60 ms old")
    return "fades; " + rig.off_within(RAMP, GuardReason.command_age)


def clock_back(seed: int) -> str:
    rig = Rig(seed).running()
    rig.now -= 500_000_000
    rig.cycle(1, backwards=True)
    demand(rig.loop.state == GuardState.safe, f"state {rig.loop.state.name}")
    return rig.off_within(RAMP, GuardReason.state_clock)


def joints_by_name(seed: int) -> str:
    names = load_robot("ur5e").joint_names
    order = np.random.default_rng(seed).permutation(6)
    columns = joint_columns([names[i] for i in order] + ["extra"], names)
    demand([order[c] for c in columns] == list(range(6)), "joints mixed up")
    for bad in ([*names, names[0]], names[1:]):
        try:
            joint_columns(list(bad), names)
        except DataError:
            continue
        demand(False, "missing or repeated joint accepted")
    return "mapped by name; missing and repeated refused"


def _reset_semantics() -> list[Case]:
    required = "refused before torque"
    return [
        Case(13, "effort in ampere instead of Nm", "clock", required, _semantics(lambda e: e / 10.6)),
        Case(14, "gravity already taken out of effort", "clock", required, _semantics(lambda e: 0.02 * e)),
        Case(15, "sign of one joint flipped", "clock", required, _semantics(_flip_largest)),
    ]


CASES: list[Case] = [
    Case(1, "1-3 missing samples", "clock", "ok, no torque step", missing_samples),
    Case(2, "gap of 26 ms", "clock", "degraded, observers restart", gap),
    Case(3, "gap over 40 ms", "clock", "zero within 100 ms, latched", long_gap),
    Case(4, "frozen values with fresh stamps", "clock", "safe within 12 cycles, zero within 100 ms", frozen),
    Case(6, "clock backwards", "clock", "safe, zero within 100 ms", clock_back),
    Case(8, "NaN or Inf in the state", "clock", "dropped; persistent: zero within 100 ms", state_not_finite),
    Case(9, "NaN or Inf in a command", "clock", "zero in the same cycle, latched", command_not_finite),
    Case(11, "joints missing, repeated or reordered", "clock", "by name, or refused", joints_by_name),
    *_reset_semantics(),
    Case(20, "torque, speed, position limits", "clock", "clamped; sustained: zero within 100 ms", limits),
    Case(21, "no excitation", "clock", "parameters do not move", no_excitation),
    Case(22, "contact while adapting", "clock", "frozen, last good values", contact),
    Case(23, "parameters out of range", "clock", "refused as a whole", bad_parameters),
    Case(24, "second publisher", "clock", "zero within 100 ms, latched", second_publisher),
    Case(25, "dead-man switch let go", "clock", "zero within 100 ms of the timeout, no resume", dead_man),
    Case(26, "connection lost", "clock", "zero at once, latched", connection_lost),
    Case(27, "robot stopped", "clock", "zero in the same cycle, latched", robot_stopped),
    Case(28, "late commands", "clock", "fade, never a burst; over 40 ms: zero within 100 ms", overload),
]
