"""Process around the unmodified libfranka client: its calls block and hold the interpreter, so they live here alone.

One robot state per cycle goes into the ring; requests come through the pipe. Torque (torque.py) passes a guard
here once more, the last thing before the client: without fresh commands it ramps to zero and torque control ends.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from robot_dynamics_ros.drivers.child_process import Served, receive, send
from robot_dynamics_ros.drivers.franka.ring import SampleRing
from robot_dynamics_ros.drivers.franka.rows import STOPPED_MODES, VECTORS
from robot_dynamics_ros.drivers.franka.torque import ORDERLY, Linked, TorqueCycle, last_guard
from robot_dynamics_ros.drivers.stream import Rate
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.trajectories.playback import Playback

RATE = 1000.0  # Hz
REPORT_CYCLES = 100
SETTINGS = ("recover", "load", "collision")  # requests with an answer


class Child(Served):
    """One connection to a robot; run() ends with the pipe (EOFError) or with what the client raises on the network."""

    def __init__(self, pipe: Connection, sockets: list[socket.socket], ring: SampleRing, robot: RobotFile) -> None:
        """sockets: of a torque loop where one is attached."""
        super().__init__(pipe)
        self._ring, self._file = ring, robot
        self._source = Linked(sockets[0], robot) if sockets else None
        self._acting: np.ndarray | None = None  # torque that acts, in torque control
        self._busy = Rate(time.process_time())
        self._cycle, self._share = 0, 0.0

    def connect(self, host: str, realtime: bool) -> None:
        """Open the connection; says so on the pipe. Raises what the vendor raises."""
        import pylibfranka

        self._vendor = pylibfranka
        config = pylibfranka.RealtimeConfig.kEnforce if realtime else pylibfranka.RealtimeConfig.kIgnore
        self._robot = pylibfranka.Robot(host, config)
        send(self._pipe, {"event": "connected", "version": getattr(pylibfranka, "__version__", "")})

    def run(self) -> None:
        """States and requests until the pipe ends."""
        while True:
            self._publish(self._robot.read_once())
            request = self._request()
            if request is not None:
                self._execute(*request)

    # -- states -------------------------------------------------------------------------------------------------------
    def _publish(self, state: Any) -> int:
        """The state into the ring and to the torque loop; its robot time [ns]."""
        times = round(1e3 * state.time.to_sec()) * 1_000_000, time.time_ns(), time.monotonic_ns()
        row: list[float] = []
        for name in VECTORS:
            row += getattr(state, name)
        mode = int(state.robot_mode.value) if hasattr(state.robot_mode, "value") else int(state.robot_mode)
        row += (state.control_command_success_rate, state.m_load, mode, self._share)
        self._ring.push(times, row)
        if self._source is not None:
            self._source.on_state(state, times, mode in STOPPED_MODES, self._acting)
        self._cycle += 1
        if self._cycle % 1000 == 0:
            self._share = self._busy.of(time.process_time())
        return times[0]

    # -- requests -----------------------------------------------------------------------------------------------------
    def _request(self) -> tuple[dict[str, Any], np.ndarray] | None:
        """A waiting request; EOFError when the driver ended."""
        return receive(self._pipe) if self._pipe.poll(0) else None

    def _execute(self, request: dict[str, Any], array: np.ndarray) -> None:
        """Carry out one request; what the robot refuses is reported, a lost connection is raised."""
        what, self.number, refused = request.pop("do"), request.pop("number", 0), ""
        try:
            getattr(self, "do_" + what)(array, **request)
        except (
            self._vendor.ControlException,
            self._vendor.CommandException,
            self._vendor.InvalidOperationException,
            CapabilityError,
        ) as error:
            refused = _line(error)
        if refused:  # before the answer: a motion that begins after it is not reported as failed
            self.report("failed", refused)
        if what in SETTINGS:
            self.answer(refused)

    def do_recover(self, _: np.ndarray) -> None:
        """Automatic error recovery."""
        self._robot.automatic_error_recovery()

    def do_stop(self, _: np.ndarray) -> None:
        """No motion of this process is running."""
        self.report("stopped", "stop was requested")

    def do_load(self, _: np.ndarray, mass: float, com: list[float], inertia: list[float]) -> None:
        """Load on the flange; libfranka takes the inertia as a matrix (9,)."""
        xx, xy, xz, yy, yz, zz = inertia
        self._robot.set_load(mass, com, [xx, xy, xz, xy, yy, yz, xz, yz, zz])

    def do_collision(self, _: np.ndarray, torque: list[float], force: list[float]) -> None:
        """Thresholds of contact (half) and collision: torque (7,) [Nm], force (6,) [N, Nm]."""
        self._robot.set_collision_behavior([0.5 * x for x in torque], torque, [0.5 * x for x in force], force)

    # -- motion -------------------------------------------------------------------------------------------------------
    def do_play(self, rows: np.ndarray, split: int, speed: float, acceleration: float) -> None:
        """Waypoints rows[:split], then the stream rows[split:] at 1 kHz, by the vendor's joint impedance control.

        rows (N, 7) [rad].

        Raises CapabilityError with the reason the vendor's client gives.
        """
        control = self._robot.start_joint_position_control(self._vendor.ControllerMode.JointImpedance)
        state, _ = control.readOnce()
        self._publish(state)
        q = np.array(state.q_d)
        failure = ""
        try:
            playback = Playback(q, rows[:split], rows[split:], RATE, speed, acceleration)
        except CapabilityError as error:
            failure, playback = str(error), Playback(q, rows[:0], rows[:0], RATE)
        self.report("moving")
        self._play(control, playback, q)
        if failure:
            raise CapabilityError(failure)
        self.report("stopped" if playback.stopped else "done", "stop was requested" if playback.stopped else "", 1.0)

    def _play(self, control: Any, playback: Playback, q: np.ndarray) -> None:
        positions = self._vendor.JointPositions
        while True:
            following = playback.next()
            q = q if following is None else following
            command = positions(q.tolist())
            command.motion_finished = following is None
            control.writeOnce(command)
            if following is None:
                return
            state, _ = control.readOnce()
            self._publish(state)
            if self._stop_requested():
                playback.stop()
            if self._cycle % REPORT_CYCLES == 0:
                self.report("moving", progress=playback.progress)

    # -- torque -------------------------------------------------------------------------------------------------------
    def do_torque(self, _: np.ndarray) -> None:
        """Torque control on top of the robot's own gravity and friction compensation, until stop or no fresh torque.

        Raises CapabilityError without a torque loop.
        """
        if self._source is None:
            raise CapabilityError("no torque loop is attached")
        cycle = TorqueCycle(last_guard(self._file), self._source)
        control = self._robot.start_torque_control()
        self.report("moving", "torque")
        try:
            self._torque(control, cycle)
        finally:
            self._acting = None
        self.report("stopped" if cycle.ending in ORDERLY else "failed", cycle.ending)

    def _torque(self, control: Any, cycle: TorqueCycle) -> None:
        while True:
            self._acting = cycle.out
            state, _ = control.readOnce()
            now = self._publish(state)
            last = cycle.step(now, np.array(state.q), np.array(state.dq), self._stop_requested())
            command = self._vendor.Torques(cycle.out.tolist())
            command.motion_finished = last
            control.writeOnce(command)
            if last:
                return

    def _stop_requested(self) -> bool:
        """Also where the driver ended: rest first, run() then meets the same end of the pipe."""
        try:
            request = self._request()
        except (EOFError, ConnectionResetError):
            return True
        return request is not None and request[0]["do"] == "stop"


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def main() -> None:
    """argv: pipe, host, robot file, ring memory, ring event, realtime, socket of torque."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe, host, robot, memory, event, realtime, *sockets = sys.argv[1:]
    channel = Connection(int(pipe))
    ring = SampleRing(int(memory), int(event))
    try:
        child = Child(channel, [socket.socket(fileno=int(s)) for s in sockets], ring, load_robot(robot))
        child.connect(host, realtime == "1")
        child.run()
    except (EOFError, ConnectionResetError, BrokenPipeError):
        return  # the driver ended or closed us
    except ImportError:
        _fatal(channel, "pylibfranka is not installed: pip install 'robot_dynamics_ros[franka]', Python 3.10 to 3.12")
    except Exception as error:  # reported in one line; the driver starts a new process
        _fatal(channel, _line(error))


def _fatal(pipe: Connection, reason: str) -> None:
    try:
        send(pipe, {"event": "fatal", "reason": reason})
    except OSError:
        pass
    sys.stdout.flush()
    os._exit(1)  # the vendor's threads may hang


if __name__ == "__main__":
    main()
