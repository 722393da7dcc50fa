"""Torque control in the process of the Franka client: the torque loop's answers, through a guard, in every cycle."""

from __future__ import annotations

import select
import socket
import struct
from typing import Any

import numpy as np

from robot_dynamics_ros._core import Guard, GuardState, LinkFlag, RigidBody
from robot_dynamics_ros.drivers.franka.rows import ANSWER, JOINTS, LINK_STATE
from robot_dynamics_ros.drivers.guard import guard_limits
from robot_dynamics_ros.robot_file import RobotFile

MAX_PERIOD = 0.004  # s between two torque commands; three and a half of it are the longest hold
ANSWER_TIMEOUT = 0.0003  # s of the cycle in which the loop's answer to its state is waited for
GAP_NS = 20_000_000  # of robot time, after which derivatives start again
ENABLE_TIMEOUT = 5000  # cycles in which a loop may leave torque control unused
STOP = "stop was requested"
SWITCHED_OFF = "torque was switched off"
NOT_ENABLED = "torque was not enabled"
ORDERLY = (STOP, SWITCHED_OFF, NOT_ENABLED)
SEMANTICS = {"includes_gravity": False, "link_side": True}


def last_guard(robot: RobotFile) -> Guard:
    """Guard of the process: limits of the robot itself; commands at least every MAX_PERIOD. Raises CapabilityError."""
    return Guard(guard_limits(robot, velocity_share=1.0, rate=1.0 / MAX_PERIOD))


class Linked:
    """Torques of a torque loop: every state goes to it, with the torque that acted; its answers come back."""

    def __init__(self, link: socket.socket, robot: RobotFile) -> None:
        self._link, self._body = link, RigidBody(robot.chain())
        link.setblocking(False)
        self._last_ns = 0
        self.begin()

    def begin(self) -> None:
        """Torque control starts: nothing has been enabled in it yet."""
        self._was_on, self._on, self._cycles = False, False, 0

    def on_state(self, row: Any, times: tuple[int, int, int], stopped: bool, torque: np.ndarray | None) -> None:
        """A state (q, dq) to the loop; torque (7,) [Nm] commanded since the last one, None outside torque control.

        The loop adapts from the torque that drives the arm: command plus the gravity torque that the robot adds.
        """
        q = np.array(row.q)
        flags = int(LinkFlag.stopped) if stopped else 0
        if not 0 < times[0] - self._last_ns <= GAP_NS:
            flags |= int(LinkFlag.gap) | (int(LinkFlag.backwards) if times[0] < self._last_ns else 0)
        self._last_ns = times[0]
        drive = np.zeros(JOINTS)
        if torque is not None:
            flags |= int(LinkFlag.effort)
            drive = torque + self._body.gravity(q)
        data = struct.pack(LINK_STATE, *times, flags, JOINTS, float(row.m_load), *row.q, *row.dq, *drive.tolist())
        try:
            self._link.send(data)
            if torque is None:
                self._link.recv(512)  # the answer to an earlier state
        except OSError:
            return  # the loop ended or is late: it sees the gap in robot time

    def newest(self, controller_ns: int, torque: np.ndarray) -> bool:
        """Wait within the cycle for the answer to the state of `controller_ns` and write it, or the newest one before
        it, into torque (7,) [Nm]; False when there is none to apply.
        """
        found, self._cycles = False, self._cycles + 1
        while True:
            data = self._receive()
            if data is None:
                break
            stamp, run, _, *values = struct.unpack(ANSWER, data)
            self._on = bool(run)
            self._was_on |= self._on
            if self._on:
                torque[:], found = values, True
            if stamp >= controller_ns:
                break
        return found

    def _receive(self) -> bytes | None:
        try:
            if not select.select([self._link], [], [], ANSWER_TIMEOUT)[0]:
                return None
            data = self._link.recv(512)
        except OSError:
            return None
        return data if len(data) == struct.calcsize(ANSWER) else None

    def ended(self) -> str:
        """Why torque control should end, empty while it should not."""
        if self._was_on and not self._on:
            return SWITCHED_OFF
        return NOT_ENABLED if not self._was_on and self._cycles > ENABLE_TIMEOUT else ""


class TorqueCycle:
    """What is commanded in one cycle, and when it is over."""

    def __init__(self, guard: Guard, source: Linked) -> None:
        self._guard, self._source = guard, source
        self._wanted, self.out, self.ending = np.zeros(JOINTS), np.zeros(JOINTS), ""
        source.begin()

    def step(self, now_ns: int, q: np.ndarray, dq: np.ndarray, stop: bool) -> bool:
        """A state and whether to stop: torque that may leave into `out` (7,) [Nm]; True in the last cycle."""
        guard = self._guard
        guard.observe(now_ns, q, dq)
        if guard.state == GuardState.idle and not self.ending:
            guard.enable(now_ns)
        if self._source.newest(now_ns, self._wanted):
            guard.command(now_ns, self._wanted, **SEMANTICS)
        why = STOP if stop else self._source.ended()
        if why and not self.ending:
            self.ending = why
            guard.disable()
        guard.step(now_ns, self.out)
        if not self.ending and guard.state in (GuardState.safe, GuardState.fault):
            self.ending = f"torque ended: {guard.reason.name}"
        return bool(self.ending) and not self.out.any()
