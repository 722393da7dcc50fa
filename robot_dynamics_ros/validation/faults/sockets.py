"""Faults end to end: the unmodified wire between a simulated controller and our driver, over real sockets."""

from __future__ import annotations

import os
import signal
import time

import numpy as np

from robot_dynamics_ros._core import GuardReason, GuardState
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.validation.faults.rig import within_rate
from robot_dynamics_ros.validation.faults.stand import SPEED, Arm, Stand, Worker, cpu_load
from robot_dynamics_ros.validation.faults.table import Case, require

SILENCE = 0.06  # s from our last heartbeat until the torque program has ended: 25 cycles and what the wire takes
WATCHDOG = 0.08  # s the same through the vendor client, whose watchdog is 50 ms
GUARD = 0.16  # s from the last state until the guard has ramped out: 40 ms and 100 ms, and what the wire takes
CABLE = 4.0  # s of wall time without a byte: the connection is given up after 2.5 s
STATE = 0.03  # s from a stop of the robot until no torque is sent


def packets_lost(_: int) -> str:
    with Stand() as stand:
        for lost in (1, 2, 3):
            stand.simulation.command("drop", next=lost)
            stand.arm.read(0.4)
        require(stand.arm.loop.state == GuardState.ok, f"state {stand.arm.loop.state.name}")
        missed = stand.arm.driver.statistics().missed
        require(missed >= 6, f"only {missed} missing samples seen")
        return f"{missed} missing, ok"


def packets_lost_at_random(_: int) -> str:
    with Stand() as stand:
        stand.simulation.command("drop", probability=0.2)
        stand.arm.read(2.0)
        stand.simulation.command("drop", probability=0.0)
        records = list(stand.arm.driver.records)[-400:]
        return f"20 % lost: {stand.arm.loop.state.name}, {within_rate(records, stand.arm.robot)} per output"


def gap(_: int) -> str:
    with Stand() as stand:
        stand.simulation.command("drop", next=13)
        stand.arm.read(0.5)
        noticed = stand.arm.loop.count(GuardReason.state_gap) + stand.arm.driver.statistics().stalls
        require(noticed > 0, "the gap was not noticed")
        require(stand.arm.loop.state == GuardState.ok, f"state {stand.arm.loop.state.name}")
        return "degraded, then ok"


def stall(_: int) -> str:
    with Stand() as stand:
        begin = stand.now
        stand.simulation.command("drop", next=50)
        text = stand.torque_ends(begin, GUARD)
        require(stand.arm.off and not stand.arm.resumes(), "not latched")
        return text


def silent_server(_: int) -> str:
    with Stand() as stand:
        begin = stand.now
        stand.simulation.command("stall", seconds=0.3)
        text = stand.torque_ends(begin + 0.3, 0.02)
        require(stand.arm.off and not stand.arm.resumes(), "not latched")
        return text + " of the stall"


def frozen(_: int) -> str:
    with Stand() as stand:
        begin = stand.now
        stand.simulation.command("freeze")
        text = stand.torque_ends(begin, GUARD)
        require(stand.arm.loop.reason == GuardReason.state_frozen, stand.arm.loop.reason.name)
        return text


def state_not_finite(_: int) -> str:
    with Stand() as stand:
        begin = stand.now
        stand.simulation.command("nan", field="actual_q", element=2)
        text = stand.torque_ends(begin, GUARD + 0.02)
        require(stand.arm.off and not stand.arm.resumes(), "not latched")
        return text


def protective_stop(_: int) -> str:
    return _stopped("protective_stop")


def emergency_stop(_: int) -> str:
    return _stopped("emergency_stop")


def _stopped(command: str) -> str:
    with Stand() as stand:
        begin = stand.now
        stand.simulation.command(command)
        text = stand.torque_ends(begin, STATE)
        require(stand.arm.read(1.0, lambda: stand.arm.loop.state == GuardState.fault), "the guard did not latch")
        require(not stand.arm.resumes(), "torque came back")
        return text


def client_stopped(_: int) -> str:
    with Stand("client") as stand:
        begin = stand.now
        stand.simulation.command("protective_stop")
        text = stand.torque_ends(begin, STATE)
        require(not stand.arm.resumes(), "torque came back")
        return text


def process_killed(_: int) -> str:
    return _killed("script", SILENCE)


def client_process_killed(_: int) -> str:
    """The parent dies: its child hears the end of the pipe, ramps out and stops."""
    return _killed("client", 0.3)


def _killed(transport: str, budget: float) -> str:
    with Stand(arm=False) as stand:
        worker = Worker(stand.ur.host, transport)
        try:
            require(stand.simulation.state["torque_mode"], "not in torque mode")
        finally:
            begin = stand.now
            worker.kill()
        text = stand.torque_ends(begin, budget)
        again = Arm(stand.ur.host, transport)
        try:
            again.read(0.5)
            require(
                not stand.simulation.state["torque_mode"] and again.loop.state == GuardState.idle, "comes up active"
            )
        finally:
            again.close()
        return text


def vendor_client_killed(_: int) -> str:
    with Stand("client") as stand:
        pid = stand.arm.driver.control_pid
        require(pid is not None, "no client process")
        begin = stand.now
        os.kill(pid, signal.SIGKILL)
        text = stand.torque_ends(begin, WATCHDOG)
        require(stand.arm.read(2.0, lambda: stand.arm.loop.state in (GuardState.safe, GuardState.fault)), "not latched")
        return text


def controller_killed(_: int) -> str:
    with Stand() as stand:
        begin = time.monotonic()
        stand.simulation.kill()
        latched = stand.arm.read(3.0, lambda: stand.arm.latched)
        passed = time.monotonic() - begin
        require(latched and stand.arm.off, "torque goes on without a robot")
        require(stand.arm.driver.read(0.5) is None, "stale samples")
        return f"latched after {1e3 * passed:.0f} ms, no stale state"


def controller_restarted(_: int) -> str:
    """Killed and started again under the same address: connected again by itself, torque only after a re-arm."""
    with Stand() as stand:
        stand.simulation.kill()
        require(stand.arm.read(3.0, lambda: stand.arm.latched), "torque goes on without a robot")
        before = stand.arm.driver.statistics().reconnects
        stand.restart()
        begin = time.monotonic()
        require(stand.arm.read(20.0, lambda: stand.arm.driver.statistics().reconnects > before), "not connected again")
        require(stand.arm.read(20.0, lambda: stand.arm.driver.read(0.1) is not None), "no states again")
        passed = time.monotonic() - begin
        require(not stand.arm.resumes() and not stand.simulation.state["torque_mode"], "torque came back by itself")
        stand.arm.driver.rearm()
        stand.arm.loop.rearm()
        stand.arm.move()
        require(stand.simulation.state["torque_mode"], "no torque after the re-arm")
        return f"connected after {passed:.1f} s, torque after a re-arm"


def cable_pulled(_: int) -> str:
    """Nothing to hear for longer than the connection lives: given up, taken up again, nothing stale in between."""
    with Stand() as stand:
        before = stand.arm.driver.statistics().reconnects
        stand.simulation.command("stall", seconds=CABLE * SPEED)
        require(stand.arm.read(CABLE, lambda: stand.arm.latched), "torque goes on without states")
        stand.arm.read(0.2)
        silent = time.monotonic()
        while time.monotonic() - silent < 0.4 * CABLE:
            require(stand.arm.driver.read(0.05) is None, "a stale state was passed on")
        state = stand.simulation.state  # the first thing it says
        require(not state["torque_mode"], "torque mode is still on")
        require(stand.arm.read(20.0, lambda: stand.arm.driver.statistics().reconnects > before), "not connected again")
        require(stand.arm.read(5.0, lambda: stand.arm.driver.read(0.1) is not None), "no states after the cable")
        require(not stand.arm.resumes(), "torque came back by itself")
        stand.comes_to_rest()
        return "off when states arrive again, connected again"


def busy(_: int) -> str:
    with Stand() as stand:
        stand.arm.driver.records.clear()
        with cpu_load(4, 2.5):
            stand.arm.read(3.5)
        records = list(stand.arm.driver.records)
        step = np.abs(np.diff([r["torque"] for r in records], axis=0)).max()
        oldest = max((r["age"] for r in records if r["torque"].any() and r["state"] == GuardState.ok), default=0.0)
        require(step <= 150.0 and oldest <= 0.041, f"step {step:.1f} Nm, age {1e3 * oldest:.0f} ms")
        if stand.arm.loop.state != GuardState.ok:
            stand.comes_to_rest()
        return f"{stand.arm.loop.state.name}, oldest command {1e3 * oldest:.1f} ms, largest step {step:.1f} Nm"


def other_client_owns_registers(_: int) -> str:
    with Stand() as stand:
        try:
            Arm(stand.ur.host)
        except RobotDynamicsError as error:
            require(stand.arm.loop.state == GuardState.ok, "the first one was disturbed")
            return str(error).partition(": ")[2][:60]
        require(False, "two owners of the torque registers")
        return ""


CASES: list[Case] = [
    Case(1, "1-3 packets lost", "sockets", "ok", packets_lost),
    Case(1, "20 % of the packets lost", "sockets", "no torque step beyond the rate limit", packets_lost_at_random),
    Case(2, "13 packets lost", "sockets", "degraded, then ok", gap),
    Case(3, "50 packets lost", "sockets", f"torque off within {1e3 * GUARD:.0f} ms, latched", stall),
    Case(3, "controller silent for 0.3 s", "sockets", "torque off when it is back, latched", silent_server),
    Case(4, "values frozen", "sockets", f"torque off within {1e3 * GUARD:.0f} ms, latched", frozen),
    Case(8, "NaN in the state", "sockets", f"torque off within {1e3 * GUARD + 20:.0f} ms, latched", state_not_finite),
    Case(24, "second client on the torque registers", "sockets", "refused", other_client_owns_registers),
    Case(26, "our process killed -9", "sockets", f"at rest; torque off within {1e3 * SILENCE:.0f} ms", process_killed),
    Case(
        26,
        "our process killed -9, vendor client",
        "sockets",
        "at rest; torque off within 300 ms",
        client_process_killed,
    ),
    Case(26, "vendor client killed -9", "sockets", f"torque off within {1e3 * WATCHDOG:.0f} ms", vendor_client_killed),
    Case(
        27, "protective stop in motion", "sockets", f"torque off within {1e3 * STATE:.0f} ms, latched", protective_stop
    ),
    Case(27, "emergency stop in motion", "sockets", f"torque off within {1e3 * STATE:.0f} ms, latched", emergency_stop),
    Case(27, "protective stop, vendor client", "sockets", f"torque off within {1e3 * STATE:.0f} ms", client_stopped),
    Case(28, "four processes load the CPU", "sockets", "no late burst; ok, or off and at rest", busy),
    Case(29, "controller killed -9", "sockets", "latched, nothing stale", controller_killed),
    Case(
        29, "controller killed and restarted", "sockets", "connected again, torque after a re-arm", controller_restarted
    ),
    Case(29, "cable pulled for 4 s", "sockets", "connected again, nothing stale, latched", cable_pulled),
]
