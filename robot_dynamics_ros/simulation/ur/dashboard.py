"""The dashboard server: one line in, one line out."""

from __future__ import annotations

from collections.abc import Callable

from robot_dynamics_ros.simulation.server.sockets import Connection, LineServer
from robot_dynamics_ros.simulation.ur.controller import Controller, RuntimeState
from robot_dynamics_ros.simulation.ur.rtde_wire import Version
from robot_dynamics_ros.simulation.ur.safety import RobotMode, SafetyMode

GREETING = "Connected: Universal Robots Dashboard Server\n"
SERIAL_NUMBER = "20235500001"
STATES = ("STOPPED", "PLAYING")


class Dashboard:
    """Replies to dashboard commands on behalf of a controller; REPLIES below is the table."""

    def __init__(self, controller: Controller, version: Version, model: str) -> None:
        self.controller: Controller = controller
        self.version, self.model = version, model
        self.server = LineServer(self._line, GREETING)

    def reply(self, line: str) -> str:
        """Answer to one command line."""
        text = " ".join(line.split())
        name = next((n for n in LONGEST_FIRST if text.lower() == n or text.lower().startswith(n + " ")), None)
        if name is None:
            return f"could not understand: '{text}'"
        return REPLIES[name](self, text[len(name) :].strip())

    def stop(self) -> str:
        """Answer to `stop`."""
        self.controller.stop_program()
        return "Stopped"

    def power(self, text: str, on: bool) -> str:
        """Switch the arm on or off; the answer is the given text."""
        if not on:
            self.controller.stop_program()
        self.controller.safety.power(on)
        return text

    def release_brakes(self) -> str:
        """Answer to `brake release`."""
        self.controller.safety.release_brakes()
        return "Brake releasing"

    def _line(self, connection: Connection, line: str) -> None:
        if line.strip().lower() in ("quit", "shutdown"):
            connection.send(b"Disconnected\n" if line.strip().lower() == "quit" else b"Shutting down\n")
            connection.close()
        else:
            connection.send((self.reply(line) + "\n").encode())


Reply = Callable[["Dashboard", str], str]
REPLIES: dict[str, Reply] = {
    "polyscopeversion": lambda d, rest: f"URSoftware {d.version} (Jan 01 2026)",
    "version": lambda d, rest: f"URSoftware {d.version}",
    "get serial number": lambda d, rest: SERIAL_NUMBER,
    "get robot model": lambda d, rest: d.model,
    "is in remote control": lambda d, rest: "true",
    "running": lambda d, rest: f"Program running: {str(d.controller.program is not None).lower()}",
    "robotmode": lambda d, rest: f"Robotmode: {RobotMode(d.controller.safety.robot_mode).name}",
    "safetymode": lambda d, rest: f"Safetymode: {SafetyMode(d.controller.safety.mode).name}",
    "safetystatus": lambda d, rest: f"Safetystatus: {SafetyMode(d.controller.safety.mode).name}",
    "programstate": lambda d, rest: f"{STATES[d.controller.runtime_state == RuntimeState.PLAYING]} <unnamed>",
    "stop": lambda d, rest: d.stop(),
    "power on": lambda d, rest: d.power("Powering on", on=True),
    "power off": lambda d, rest: d.power("Powering off", on=False),
    "brake release": lambda d, rest: d.release_brakes(),
    "unlock protective stop": lambda d, rest: d.controller.safety.unlock(d.controller.time),
    "close safety popup": lambda d, rest: "closing safety popup",
    "restart safety": lambda d, rest: "Restarting safety",
}
LONGEST_FIRST = sorted(REPLIES, key=len, reverse=True)
