"""The process of a simulated controller: sockets, clock and controller in one loop."""

from __future__ import annotations

import time
from collections import deque
from typing import Any, ClassVar

from pydantic import Field

from robot_dynamics_ros.simulation.server import arm_server as server
from robot_dynamics_ros.simulation.server.control_channel import Handler, by_name
from robot_dynamics_ros.simulation.ur.arm import DT, Arm
from robot_dynamics_ros.simulation.ur.commands import load_program
from robot_dynamics_ros.simulation.ur.controller import Controller
from robot_dynamics_ros.simulation.ur.dashboard import Dashboard
from robot_dynamics_ros.simulation.ur.rtde_server import RtdeServer
from robot_dynamics_ros.simulation.ur.rtde_wire import Version
from robot_dynamics_ros.simulation.ur.script import ScriptServer
from robot_dynamics_ros.simulation.ur.signals import Signals

Values = dict[str, tuple[Any, ...]]


class Settings(server.Settings):
    """What a simulated UR controller is started with."""

    robot: str = "ur5e"
    speed: float = 1.0
    rtde_port: server.Port = 30004
    dashboard_port: server.Port = 29999
    script_port: server.Port = 30003
    polyscope: str = "5.26.0.0"  # version to announce
    gravity_in_current_torque: bool = True
    truth_period: int = Field(1, ge=1)  # cycles between ground truth lines


class ControllerProcess(server.ArmServer):
    """A controller with its ports open; run() serves until it is stopped."""

    settings_type = Settings
    commands: ClassVar[dict[str, Handler]]  # of the control channel
    silent = False  # neither reads nor writes
    lockstep = False  # cycles wait for their client

    def __init__(self, settings: Settings) -> None:
        s, version = settings, Version.parse(settings.polyscope)
        self.ready = f"{s.robot} {s.polyscope} scenario {s.scenario} speed {s.speed:g}"
        arm = Arm(settings.robot, settings.seed, plant=settings.plant)
        self.controller = Controller(arm, load_program)
        self.signals = Signals(self.controller, settings.gravity_in_current_torque)
        self._written: dict[str, float] = {}  # input -> wall time of its last write
        self._waiting: deque[Values] | None = None  # inputs for the cycles to come; None: they are taken at once
        self.rtde = RtdeServer(version, self.write_inputs)
        servers: dict[str, tuple[int, server.Server]] = {
            "rtde": (settings.rtde_port, self.rtde),
            "dashboard": (settings.dashboard_port, Dashboard(self.controller, version, settings.robot.upper()).server),
            "script": (settings.script_port, ScriptServer(self.controller.upload)),
        }
        super().__init__(settings, arm, settings.speed, servers, self.commands)

    @property
    def time(self) -> float:
        """Controller time [s]."""
        return self.controller.time

    @property
    def stamp(self) -> float:
        """Time that is published [s]."""
        return self.controller.time + self.controller.clock_offset

    def write_inputs(self, values: Values) -> None:
        """Inputs of an RTDE package."""
        self._written.update(dict.fromkeys(values, time.perf_counter()))
        if self._waiting is None:
            self.controller.write_inputs(values)
        else:
            self._waiting.append(values)

    def _take_inputs(self, late: bool) -> None:
        """Those that wait; while late one package of a register, as a cycle in time would have found."""
        taken: set[str] = set()
        while self._waiting and not (late and taken & self._waiting[0].keys()):
            values = self._waiting.popleft()
            taken |= values.keys()
            self.controller.write_inputs(values)

    def await_watched_input(self) -> None:
        """A watchdog fires when its client was silent for the period of wall time, too.

        Cycles that make up a delay of this process are shorter than the client's.
        """
        while not self.stopping and (due := self.controller.watchdogs.overdue(self.time, ahead=DT)) is not None:
            left = self._written.get(due[0], 0.0) + due[1] / self.pace.speed - time.perf_counter()
            if left <= 0:
                return
            self.hub_poll(left)
            self._take_inputs(late=True)

    def run(self) -> None:
        """Serve until stopped or until the duration has passed in controller time."""
        self.signals.update()
        self._waiting = None if self.lockstep else deque()
        while not self.stopping:
            if (left := self.pace.left()) <= 0:
                self.hub_poll(0.0)
                self._take_inputs(late=left < -self.pace.period)
                self.turn()
                self.pace.advance()
            else:
                self.hub_poll(left)
        self.hub.close()

    def turn(self) -> None:
        """A cycle that is due."""
        self.await_watched_input()
        self.cycle()

    def hub_poll(self, timeout: float) -> None:
        """Serve the sockets, or none of them while it is silent."""
        if self.silent:
            time.sleep(timeout)
        else:
            self.hub.poll(timeout)

    def outgoing(self, values: Values) -> Values | None:
        """Outputs as they leave; None: no package is sent."""
        return values

    def cycle(self) -> bool:  # type: ignore[override]
        """One cycle of 2 ms: environment, controller, packages; returns whether its package left."""
        controller = self.controller
        self.scenario.apply(controller.arm, controller.time)
        begin = time.perf_counter()
        controller.step()
        self.signals.values["actual_execution_time"] = (1e3 * (time.perf_counter() - begin),)
        self.signals.update(self.rtde.wanted)
        values = self.outgoing(self.signals.values)
        if values is not None:
            self.rtde.publish(controller.tick, values)
        self.report()
        return values is not None


def protective_stop(process: ControllerProcess) -> None:
    """Stop as after a collision."""
    process.controller.protective_stop("control channel")


def emergency_stop(process: ControllerProcess, pressed: bool = True) -> None:
    """Press (or with pressed false release) the emergency stop button."""
    process.controller.emergency_stop(bool(pressed))


def state(process: ControllerProcess) -> dict[str, Any]:
    """Controller time, modes, program, target and measured position, messages, clients."""
    controller = process.controller
    return {
        "timestamp": controller.time,
        "tick": controller.tick,
        "robot_mode": int(controller.safety.robot_mode),
        "safety_mode": int(controller.safety.mode),
        "runtime_state": controller.runtime_state,
        "program": controller.program.script.name if controller.program else None,
        "torque_mode": controller.torque_mode,
        "q": controller.arm.q.tolist(),
        "target_q": controller.target[0].tolist(),
        "messages": list(controller.messages),
        "scenario": process.scenario.name,
        "clients": len(process.rtde.clients),
        "skipped": sum(client.skipped for client in process.rtde.clients.values()),
        "late": process.pace.late,
    }


ControllerProcess.commands = by_name(protective_stop, emergency_stop, state)
