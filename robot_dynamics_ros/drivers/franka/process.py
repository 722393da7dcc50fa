"""The process around the Franka client, seen from the driver: started, listened to, and started again while wanted."""

from __future__ import annotations

import socket
import subprocess
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from robot_dynamics_ros._core import TorqueLink, TorqueLoop
from robot_dynamics_ros.drivers.child_process import connected, hang_up, send, spawn
from robot_dynamics_ros.drivers.client import Client
from robot_dynamics_ros.drivers.franka.ring import SampleRing
from robot_dynamics_ros.drivers.interface import MotionState
from robot_dynamics_ros.drivers.stream import Stream
from robot_dynamics_ros.errors import ConnectionFailed
from robot_dynamics_ros.robot_file import RobotFile

CONNECT_TIMEOUT = 20.0  # s
BACKOFF = (0.5, 4.0)  # s between attempts to connect again, first and longest
MODULE = "robot_dynamics_ros.drivers.franka.child"


class FrankaProcess(Client):
    """States come through a ring in shared memory, requests and reports through a pipe, torques through a socket.

    stream: is notified of every new and lost connection. priority: of the torque loop's thread; above 0 the client
    requires a real-time kernel. kept: settings by name, which are sent with every new connection.
    """

    def __init__(self, robot: RobotFile, host: str, stream: Stream, priority: int) -> None:
        super().__init__(host)
        self._robot, self._stream, self._priority = robot, stream, priority
        self._loop: TorqueLoop | None = None
        self._ring: SampleRing | None = None
        self._sockets: list[socket.socket] = []
        self._link: TorqueLink | None = None
        self._supervisor: threading.Thread | None = None
        self._newest: Connection | None = None  # pipe of the process that was started last
        self.kept: dict[str, dict[str, Any]] = {}
        self._wanted = False
        self._lost_rows = self._unsent = 0
        self.version = self.error = ""

    # -- life ---------------------------------------------------------------------------------------------------------
    def attach(self, loop: TorqueLoop) -> None:
        """The torque loop that answers every state from the next connection on."""
        self._loop = loop

    def connect(self) -> None:
        """Start the process and keep it. Raises ConnectionFailed with the reason."""
        if self._wanted:
            return
        self._wanted = True
        try:
            self._open()
        except BaseException:
            self._wanted = False
            raise
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)
        self._supervisor.start()

    def disconnect(self) -> None:
        """The process, also one being opened, stops the robot when its pipe ends, then leaves; may be repeated."""
        self._wanted = False
        if self._newest is not None:
            hang_up(self._newest)
        if self._supervisor is not None:
            self._supervisor.join()
            self._supervisor = None

    def _open(self) -> None:
        ring = SampleRing()
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)] if self._loop is not None else []
        ours, theirs = [p[0] for p in pairs], [p[1] for p in pairs]
        files = [s.fileno() for s in theirs]
        arguments = [self.host, self._robot.file, ring.memory, ring.event, int(self._priority > 0), *files]
        process, pipe = spawn(MODULE, [str(a) for a in arguments], [ring.memory, ring.event, *files])
        for s in theirs:
            s.close()
        self._newest = pipe
        if not self._wanted:  # disconnected meanwhile
            hang_up(pipe)
        try:
            version = connected(pipe, process, self.host, CONNECT_TIMEOUT)
            for request in self.kept.values():
                send(pipe, request)
        except (ConnectionFailed, OSError) as error:
            process.kill()
            process.wait()
            for close in (pipe.close, ring.close, *(s.close for s in ours)):
                close()
            if isinstance(error, ConnectionFailed):
                raise
            raise ConnectionFailed(f"{self.host}: the driver process ended") from error
        for s in ours:
            s.setblocking(False)
        with self._lock:
            self._stream.restart()
            self._use(process, pipe)
            self._ring, self._sockets, self._stop_asked = ring, ours, None
            self.version, self.error = version, ""
            if self._loop is not None:
                follow = self._stream.follow_host_clock
                self._link = TorqueLink(
                    self._loop, ours[0].fileno(), follow_host_clock=follow, realtime_priority=self._priority
                )

    def _forget(self) -> None:
        with self._lock:
            ring, pipe, sockets, link = self._ring, self._pipe, self._sockets, self._link
            self._use(None, None)
            self._ring = self._link = None
            self._sockets = []
            if link is not None:
                link.stop()
                self._unsent += link.unsent
            if ring is not None:
                self._lost_rows += ring.dropped
                ring.close()
            for end_point in (pipe, *sockets):
                if end_point is not None:
                    end_point.close()
        self._stream.set_connected(False)

    def _supervise(self) -> None:
        """Read from the process until it ends; connect again while wanted."""
        pause = BACKOFF[0]
        while True:
            if self._process is not None and self._pipe is not None:
                self._follow(self._process, self._pipe)
                self._forget()
                pause = BACKOFF[0]
            if not self._wanted:
                return
            time.sleep(pause)
            pause = min(2 * pause, BACKOFF[1])
            try:
                if self._wanted:
                    self._open()
                    self._stream.reconnects += 1
            except ConnectionFailed as error:
                self.error = str(error)

    def _follow(self, process: subprocess.Popen[bytes], pipe: Connection) -> None:
        why = self._listen(process, pipe)
        if self._wanted:
            self.error = f"{self.host}: {why}"
        if self.motion.active:
            lost = MotionState("failed", self.error)
            self.motion = lost if self._wanted else MotionState("stopped", "disconnected")

    # -- states -------------------------------------------------------------------------------------------------------
    def take(self, row: np.ndarray, until: float) -> tuple[int, int, int] | None:
        """The oldest state into row (m,), m = WIDTH; its robot, system and steady time [ns]. None after `until`."""
        self._judge_stop()
        while True:
            with self._lock:
                ring = self._ring
                if ring is not None and ring.wait(0.0):
                    return ring.pop(row)
            left = until - time.monotonic()
            if left <= 0:
                return None
            self._wait(ring, left)

    def _wait(self, ring: SampleRing | None, left: float) -> None:
        """Without the lock, in short turns: the connection may go meanwhile."""
        if ring is None or ring.event < 0:
            time.sleep(min(left, 0.01))
            return
        try:
            ring.wait(min(left, 0.05))
        except (OSError, ValueError):
            time.sleep(min(left, 0.01))

    def counts(self) -> dict[str, int]:
        """Counts: states lost because they were read too late, states waiting, torques the socket did not take."""
        with self._lock:
            ring, link = self._ring, self._link
            return {
                "overruns": self._lost_rows + (ring.dropped if ring else 0),
                "pending": ring.pending if ring else 0,
                "unsent": self._unsent + (link.unsent if link else 0),
            }

    @property
    def realtime(self) -> bool:
        """Whether a priority is asked for and, with a torque loop, was granted to its thread."""
        link = self._link
        return self._priority > 0 and (link is None or link.realtime)

    def received_ns(self) -> int:
        """Steady time of the newest state [ns], 0 without one."""
        with self._lock:
            return self._ring.newest_ns if self._ring is not None else 0
