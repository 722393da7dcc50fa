"""The process of a simulated controller: sockets, clock and controller in one loop."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from robot_dynamics_ros.simulation.plant.interface import ELASTIC
from robot_dynamics_ros.simulation.server.control_channel import ControlChannel
from robot_dynamics_ros.simulation.server.launcher import run_announced
from robot_dynamics_ros.simulation.server.pacing import Pace
from robot_dynamics_ros.simulation.server.scenario import Scenario
from robot_dynamics_ros.simulation.server.sockets import Hub, LineServer, Server
from robot_dynamics_ros.simulation.ur.arm import DT, Arm
from robot_dynamics_ros.simulation.ur.controller import Controller
from robot_dynamics_ros.simulation.ur.dashboard import Dashboard
from robot_dynamics_ros.simulation.ur.faults import COMMANDS, Faults
from robot_dynamics_ros.simulation.ur.programs import load_program
from robot_dynamics_ros.simulation.ur.rtde_server import RtdeServer
from robot_dynamics_ros.simulation.ur.rtde_wire import Version
from robot_dynamics_ros.simulation.ur.script import ScriptServer
from robot_dynamics_ros.simulation.ur.signals import Signals

ANSWER = 20.0  # s of wall time a cycle waits for its answer in lockstep
REPEAT = 0.5  # s after which its package is sent again: clients wait 2.5 s for data before they hang up
IN_STEP, QUIET = 250, 0.02  # every so many cycles an answer is the last one after so many s of silence: none is late


@dataclass
class Settings:
    """What a simulated controller is started with; port 0 asks for a free one, None for no such port."""

    robot: str = "ur5e"
    scenario: str = "idle"
    speed: float = 1.0
    host: str = "127.0.0.1"
    rtde_port: int = 30004
    dashboard_port: int = 29999
    script_port: int = 30003
    truth_port: int = 0
    control_port: int = 0
    seed: int = 0
    plant: str = ELASTIC
    duration: float | None = None
    polyscope: str = "5.26.0.0"  # version to announce
    gravity_in_current_torque: bool = True
    truth_period: int = 1  # cycles between ground truth lines
    lockstep: bool = False  # cycles of torque mode or a torque program, and of a watchdog that runs out, wait
    stop_with_stdin: bool = False  # end when standard input is closed, as it is when a parent process dies


class ControllerProcess:
    """A controller with its ports open; run() serves until it is stopped."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.host = settings, settings.host
        version = Version.parse(settings.polyscope)
        self.scenario = Scenario(settings.scenario)
        self.controller = Controller(Arm(settings.robot, settings.seed, plant=settings.plant), load_program)
        self.signals = Signals(self.controller, settings.gravity_in_current_torque)
        self.faults = Faults(self.controller, settings.seed)
        self.hub = Hub()
        self._answers, self._published = 0, self.signals.values
        self._heard: dict[str, float] = {}  # input -> wall time of its last write
        self.rtde = RtdeServer(version, self._write_inputs)
        self.truth = LineServer(lambda connection, line: None)
        self.control = ControlChannel(self, COMMANDS)
        self.servers: dict[str, Server] = {
            "rtde": self.rtde,
            "dashboard": Dashboard(self.controller, version, settings.robot.upper()).server,
            "script": ScriptServer(self.controller.upload),
            "truth": self.truth,
            "control": self.control.server,
        }
        try:
            self.ports = {
                name: self.hub.listen(settings.host, getattr(settings, f"{name}_port"), name, server)
                for name, server in self.servers.items()
            }
        except Exception:
            self.hub.close()
            raise
        self.pace = Pace(1 / DT, settings.speed)
        if settings.stop_with_stdin:
            self.hub.watch_end(sys.stdin, self.stop)
        self._stop = False

    @property
    def arm(self) -> Arm:
        """The simulated arm."""
        return self.controller.arm

    @property
    def time(self) -> float:
        """Controller time [s]."""
        return self.controller.time

    def _write_inputs(self, values: dict[str, tuple[Any, ...]]) -> None:
        self._answers += 1
        self._heard.update(dict.fromkeys(values, time.perf_counter()))
        self.controller.write_inputs(values)

    def _await(self, reached: Callable[[], bool]) -> None:
        """Serve the sockets until the client has answered; the present state is sent again and again."""
        until = time.perf_counter() + ANSWER
        while not reached() and self._answerable and (left := until - time.perf_counter()) > 0:
            again = time.perf_counter() + REPEAT
            while not reached() and self._answerable and (pause := again - time.perf_counter()) > 0:
                self.hub_poll(min(left, pause))
            if not reached() and self._answerable:
                self.rtde.publish(self.controller.tick, self._published)

    def hear(self) -> None:
        """A watchdog fires when its client was silent for the period of wall time, too.

        Cycles that make up a delay of this process are shorter than the client's.
        """
        while not self._stop and (due := self.controller.watchdogs.overdue(self.time, ahead=DT)) is not None:
            left = self._heard.get(due[0], 0.0) + due[1] / self.pace.speed - time.perf_counter()
            if left <= 0:
                return
            self.hub_poll(left)

    def _await_answer(self) -> None:
        """Serve the sockets until a client has written inputs; at times until it has nothing more to say."""
        self._await(lambda: self._answers > 0)
        program = self.controller.program
        vendor = program is not None and program.script.is_command_loop  # our own client repeats itself, never late
        heard, until = 0, time.perf_counter() + 5 * QUIET
        while vendor and self.controller.tick % IN_STEP == 0 and heard != self._answers and time.perf_counter() < until:
            heard = self._answers
            self.hub_poll(QUIET)

    @property
    def _answerable(self) -> bool:
        """True while a client that may write inputs is there and can hear us."""
        return not self._stop and not self.faults.stalled and self.rtde.has_writer

    def stop(self, *_: object) -> None:
        """End run() after the current cycle (also a signal handler)."""
        self._stop = True

    def run(self) -> None:
        """Serve until stopped or until the duration has passed in controller time."""
        self.signals.update()
        while not self._stop:
            if (left := self.pace.left()) <= 0:
                self.hub_poll(0.0)
                self._answers = 0
                if self.settings.lockstep:
                    self._await(lambda: not self.controller.watchdog_due)
                self.hear()
                sent = self.cycle()
                self.pace.advance()
                if self.settings.lockstep and sent and self.controller.expects_torque:
                    self._await_answer()
            else:
                self.hub_poll(left)
        self.hub.close()

    def hub_poll(self, timeout: float) -> None:
        """Serve the sockets, or none of them while a stall is injected."""
        if self.faults.stalled:
            time.sleep(timeout)
        else:
            self.hub.poll(timeout)

    def cycle(self) -> bool:
        """One cycle of 2 ms: environment, controller, packages; returns whether its package left."""
        controller = self.controller
        self.scenario.apply(controller.arm, controller.time)
        begin = time.perf_counter()
        controller.step()
        self.signals.values["actual_execution_time"] = (1e3 * (time.perf_counter() - begin),)
        self.signals.update()
        values, copies = self.faults.filter(self.signals.values)
        if copies:
            self._published = values
            self.rtde.publish(controller.tick, values, copies)
        if self.truth.connections and not self.faults.stalled and controller.tick % self.settings.truth_period == 0:
            self.truth.broadcast(truth_line(controller))
        self.control.release(controller.time)
        if self.settings.duration is not None and controller.time >= self.settings.duration:
            self.stop()
        return copies > 0


def truth_line(controller: Controller) -> bytes:
    """One line of ground truth: JSON, SI units, stamped with controller time."""
    fields = {name: value.tolist() for name, value in controller.arm.truth().items()}
    return json.dumps({"timestamp": controller.time + controller.clock_offset, **fields}).encode() + b"\n"


def serve(settings: Settings, announce: Callable[[str], None] = print) -> None:
    """Start a simulated controller, announce its ports, and serve until SIGINT, SIGTERM or the end of its duration."""
    description = f"{settings.robot} {settings.polyscope} scenario {settings.scenario} speed {settings.speed:g}"
    run_announced(ControllerProcess(settings), announce, description)
