"""Simulated LPC of a Comau controller with C5G Open: the plant behind UDP version 2."""

from __future__ import annotations

import math
import select
import socket
import time
from typing import Any

import numpy as np
from pydantic import Field

from robot_dynamics_ros.drivers.comau import wire
from robot_dynamics_ros.drivers.comau.wire import DEGREE
from robot_dynamics_ros.errors import ConnectionFailed, DataError
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.robot import Record
from robot_dynamics_ros.simulation.server import arm_server as server
from robot_dynamics_ros.simulation.server.arm import Arm, Reference

START = {"comau_ns16": (0.0, 0.3, -1.2, 0.0, 1.5, 0.0)}  # rad
STEP_LIMIT = 150.0  # deg/s times the period: larger steps are rejected [comau_c5gopen]
BANDWIDTH = 60.0  # rad/s of the drives' interpolation between positions
FORGET = 1.0  # s without any packet until a client is forgotten
MAX_BATCH = 64  # packets of one cycle
COMMAND_TIMEOUT = 0.02  # s that a command after a motion is waited for


class Settings(server.Settings):
    """What a simulated LPC is started with."""

    robot: str = "comau_ns16"
    speed: float = 1.0
    udp_port: server.Port = 5005
    rate: float | None = Field(None, ge=10.0, le=10_000.0)  # Hz; None: of the robot file


class SimulatedLpc:
    """Modality and drive status are as the control channel sets them; at the start ready for absolute positions.

    Raises ConnectionFailed for a port that is taken.
    """

    settings_type = Settings

    def __init__(self, settings: Settings) -> None:
        robot = load_robot(settings.robot)
        arm = Arm(robot, START.get(robot.name, (0.0,) * robot.n_joints), settings.seed, settings.rate, settings.plant)
        arm_server = server.ArmServer(settings, arm, settings.speed, commands={"lpc": self._command_lpc})
        self.arm_server, self.n = arm_server, robot.n_joints
        self.rate = arm_server.arm.simulated.rate
        self._ratio, self._sign = robot.array("drives.gear_ratio"), robot.drives.effort.sign
        self.modality, self.status, self.powerlink = wire.POS_ABSOLUTE, wire.DRIVES_ON, True
        self.sequence = self.missed = 0
        self.rejected = self.malformed = self.foreign = 0
        self._held = arm_server.arm.q / DEGREE
        self._lower, self._upper = (
            robot.array_or(f"limits.position_{side}", end) / DEGREE
            for side, end in (("lower", -np.inf), ("upper", np.inf))
        )
        self._reference = Reference(arm_server.arm.q, BANDWIDTH)
        self._commanded = self._following = False
        self._client: tuple[Any, int, float] | None = None  # address, session, time of its last packet
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        try:
            self._socket.bind((settings.host, settings.udp_port))
        except OSError as error:
            arm_server.hub.close()
            raise ConnectionFailed(f"UDP port {settings.host}:{settings.udp_port} cannot be used: {error}") from error
        port = self._socket.getsockname()[1]
        self.ready = f"{settings.robot} scenario {settings.scenario} rate {self.rate:g}"
        self.host, self.ports, self.stop = settings.host, {"udp": port, **arm_server.ports}, arm_server.stop

    # -- control channel ----------------------------------------------------------------------------------------------
    def _command_lpc(
        self, _: Any, modality: int = wire.POS_ABSOLUTE, status: int = wire.DRIVES_ON, powerlink: bool = True
    ) -> dict[str, int]:
        """Set modality, drive status and POWERLINK; answers with the counts of the LPC."""
        if modality not in wire.MODALITIES or status not in wire.DRIVE_STATUS:
            raise ValueError(f"modality {modality} or drive status {status} is unknown")
        self.modality, self.status, self.powerlink = modality, status, bool(powerlink)
        return {"rejected": self.rejected, "malformed": self.malformed, "missed": self.missed, "foreign": self.foreign}

    # -- the loop -----------------------------------------------------------------------------------------------------
    def run(self) -> None:
        """Serve until stopped."""
        arm_server = self.arm_server
        try:
            while not arm_server.stopping:
                self.cycle()
                arm_server.wait()
        finally:
            self.close()

    def cycle(self) -> None:
        """One cycle: the newest command in, the plant, its state out."""
        self._receive()
        if not self.arm_server.cycle(self._step):
            self._held = self.arm_server.arm.q / DEGREE
            self._reference = Reference(self.arm_server.arm.q, BANDWIDTH)
        self._send()

    def close(self) -> None:
        """Close every socket."""
        self._socket.close()
        self.arm_server.hub.close()

    def _step(self) -> Record:
        """The last accepted position, through the interpolation of the drives."""
        self.missed = 0 if self._commanded else self.missed + 1
        self._commanded = False
        smooth = self._reference
        smooth.step(self._held * DEGREE, 1.0 / self.rate)
        return self.arm_server.arm.simulated.step_position(smooth.q, smooth.qd, smooth.qdd)

    def _receive(self) -> None:
        """The newest command. One that follows a motion is waited for: on a busy machine the arm is late, not jerky."""
        newest = self._drained()
        if newest is None and self._following:
            select.select([self._socket], [], [], COMMAND_TIMEOUT)
            newest = self._drained()
        self._following = newest is not None
        if newest is not None:
            self._take(newest.modality, newest.mask, newest.position)

    def _drained(self) -> wire.Command | None:
        newest: wire.Command | None = None
        for _ in range(MAX_BATCH):
            try:
                data, sender = self._socket.recvfrom(2048)
            except (BlockingIOError, ConnectionError):
                break
            try:
                command = wire.unpack_command(data, self.n)
            except DataError:
                self.malformed += 1
                continue
            if self._client is not None and self._client[:2] != (sender, command.session):
                self.foreign += 1  # one client at a time, until it is forgotten
                continue
            self._client = sender, command.session, time.monotonic()
            newest = command if command.modality != wire.LISTEN else newest
        return newest

    def _take(self, modality: int, mask: int, position: tuple[float, ...]) -> None:
        """Accept positions [deg], or reject and count them: modality, drives, axes, beyond a limit, step too large."""
        wanted = np.array(position[: self.n])
        ready = self.powerlink and self.status == wire.DRIVES_ON and modality == self.modality == wire.POS_ABSOLUTE
        good = ready and mask == (1 << self.n) - 1 and bool(((self._lower <= wanted) & (wanted <= self._upper)).all())
        if not (good and np.abs(wanted - self._held).max() <= STEP_LIMIT / self.rate):
            self.rejected += 1
            return
        self._held, self._commanded = wanted, True

    def _send(self) -> None:
        self.sequence += 1
        state = self._state()
        if self._client is not None and time.monotonic() - self._client[2] > FORGET:
            self._client = None
        if self._client is not None:
            state.session = self._client[1]
            for data in self.outgoing(wire.pack_state(state)):
                try:
                    self._socket.sendto(data, self._client[0])
                except OSError:
                    continue

    def _state(self) -> wire.State:
        record, ratio = self.arm_server.arm.record, self._ratio
        q = record.q
        return wire.State(
            self.sequence,
            round(self.arm_server.arm.simulated.stamp_ns / 1000),
            rounds=_ten(q * ratio / (2 * math.pi)),
            link=_ten(q / DEGREE),
            target=_ten(self._held),
            rpm=_ten(record.omega * ratio * 60 / (2 * math.pi)),
            current=_ten(self._sign * record.current),
            current_model=_ten(self._sign * record.target_current),
            n_axes=self.n,
            modality=self.modality,
            status=self.status,
            powerlink=self.powerlink,
        )

    def outgoing(self, data: bytes) -> list[bytes]:
        """The datagrams of this cycle."""
        return [data]


def _ten(values: np.ndarray) -> tuple[float, ...]:
    return tuple(values.tolist()) + (0.0,) * (wire.AXES - len(values))
