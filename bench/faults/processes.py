"""Faults of processes and connections: killed, restarted, silent, short of processor time; over real sockets."""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from bench.faults.socket_bench import HEARTBEAT, SPEED, Arm, SocketBench, arm_apart, cpu_load
from bench.faults.table import Case, refused, require
from robot_dynamics_ros._core import GuardReason, GuardState

CABLE = 4.0  # s of wall time without a byte: the connection is given up after 2.5 s


def silent_server(_: int) -> str:
    with SocketBench() as bench:
        begin = bench.now
        bench.simulation.command("stall", seconds=0.3)
        return bench.off_within(0.0, begin=begin + 0.3) + " of the stall"


def emergency_stop(_: int) -> str:
    with SocketBench() as bench:
        begin = bench.now
        bench.simulation.command("emergency_stop")
        return bench.off_within(0.0, GuardReason.robot_stopped, begin)


def process_killed(_: int) -> str:
    with SocketBench(arm=False) as bench:
        with arm_apart(bench.ur.host):
            require(bench.simulation.state["torque_mode"], "not in torque mode")
            begin = bench.now
        text = bench.torque_ends(begin, HEARTBEAT)
        again = Arm(bench.ur.host)
        try:
            again.read(0.5)
            require(
                not bench.simulation.state["torque_mode"] and again.loop.state == GuardState.idle, "comes up active"
            )
        finally:
            again.close()
        return text


def _off(bench: SocketBench) -> bool:
    """True when the loop lets nothing out and is latched, after what is left of a ramp."""
    bench.arm.read(0.3)
    return bench.latched and not bench.records[-1]["run"]


def controller_killed(_: int) -> str:
    with SocketBench() as bench:
        begin = time.monotonic()
        bench.simulation.kill()
        latched = bench.arm.read(3.0, lambda: bench.latched)
        passed = time.monotonic() - begin
        require(latched and _off(bench), "torque goes on without a robot")
        require(bench.arm.driver.read(0.5) is None, "stale samples")
        return f"latched after {1e3 * passed:.0f} ms, no stale state"


def controller_restarted(_: int) -> str:
    """Killed and started again under the same address: connected again by itself, torque only after a re-arm."""
    with SocketBench() as bench:
        bench.simulation.kill()
        require(bench.arm.read(3.0, lambda: bench.latched), "torque goes on without a robot")
        before = bench.arm.driver.statistics().reconnects
        bench.restart()
        begin = time.monotonic()
        require(bench.arm.read(20.0, lambda: bench.arm.driver.statistics().reconnects > before), "not connected again")
        require(bench.arm.read(20.0, lambda: bench.arm.driver.read(0.1) is not None), "no states again")
        passed = time.monotonic() - begin
        require(not bench.resumes() and not bench.simulation.state["torque_mode"], "torque came back by itself")
        bench.arm.driver.rearm()
        bench.loop.rearm()
        bench.arm.move()
        require(bench.simulation.state["torque_mode"], "no torque after the re-arm")
        return f"connected after {passed:.1f} s, torque after a re-arm"


def cable_pulled(_: int) -> str:
    """Nothing to hear for longer than the connection lives: given up, taken up again, nothing stale in between."""
    with SocketBench() as bench:
        before = bench.arm.driver.statistics().reconnects
        bench.simulation.command("stall", seconds=CABLE * SPEED)
        require(bench.arm.read(CABLE, lambda: bench.latched), "torque goes on without states")
        bench.arm.read(0.2)
        silent = time.monotonic()
        while time.monotonic() - silent < 0.4 * CABLE:
            require(bench.arm.driver.read(0.05) is None, "a stale state was passed on")
        state = bench.simulation.state  # the first thing it says
        require(not state["torque_mode"], "torque mode is still on")
        require(bench.arm.read(20.0, lambda: bench.arm.driver.statistics().reconnects > before), "not connected again")
        require(bench.arm.read(5.0, lambda: bench.arm.driver.read(0.1) is not None), "no states after the cable")
        require(not bench.resumes(), "torque came back by itself")
        bench.comes_to_rest()
        return "off when states arrive again, connected again"


def busy(_: int) -> str:
    with SocketBench() as bench:
        bench.arm.driver.records.clear()
        with cpu_load(2.5):
            bench.arm.read(3.5)
        records = list(bench.arm.driver.records)
        step = np.abs(np.diff([r["torque"] for r in records], axis=0)).max()
        oldest = max((r["age"] for r in records if r["torque"].any() and r["state"] == GuardState.ok), default=0.0)
        require(step <= 150.0 and oldest <= 0.041, f"step {step:.1f} Nm, age {1e3 * oldest:.0f} ms")
        if bench.loop.state != GuardState.ok:
            bench.comes_to_rest()
        return f"{bench.loop.state.name}, oldest command {1e3 * oldest:.1f} ms, largest step {step:.1f} Nm"


def other_client_owns_registers(_: int) -> str:
    with SocketBench() as bench:
        reason = refused(partial(Arm, bench.ur.host), "two owners of the torque registers")
        require(bench.loop.state == GuardState.ok, "the first one was disturbed")
        return reason.partition(": ")[2][:60]


CASES: list[Case] = [
    Case(3, "controller silent for 0.3 s", "sockets", "off when it is back, latched", silent_server),
    Case(24, "second client on the torque registers", "sockets", "refused", other_client_owns_registers),
    Case(26, "our process killed -9", "sockets", f"off within {1e3 * HEARTBEAT:.0f} ms, at rest", process_killed),
    Case(27, "emergency stop in motion", "sockets", "off at once, latched", emergency_stop),
    Case(28, "four processes load the CPU", "sockets", "no late burst; ok, or off and at rest", busy),
    Case(29, "controller killed -9", "sockets", "latched, nothing stale", controller_killed),
    Case(29, "controller killed and restarted", "sockets", "connected again, torque by a re-arm", controller_restarted),
    Case(29, "cable pulled for 4 s", "sockets", "connected again, nothing stale, latched", cable_pulled),
]
