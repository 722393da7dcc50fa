"""A robot that a test steps: a driver around the simulated plant.

The robot's time goes on only where a sample is read: the driver's clocks are the robot's. So the result is the same on
any machine, as fast as that computes.
"""

from collections import deque
from dataclasses import replace

import numpy as np

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.drivers.interface import DriverInfo, MotionState, RobotStatus, TorqueDriver
from robot_dynamics_ros.drivers.stream import Statistics
from robot_dynamics_ros.drivers.ur.driver import UrDriver
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.simulation.plant.assumed import assumed_file
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.topics import DRIVER_TOPICS, TOPICS

GOOD = RobotStatus(True, 0.0, (0.0, 0.0, 0.0), "normal", "running", True)
BEGIN = 1_700_000_000_000_000_000  # ns
STOPPING = 25  # samples from a stop to standstill
START = {6: [0.0, -1.5, 1.5, -1.5, -1.5, 0.0], 7: [0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8]}
UR = UrDriver.capabilities


class SteppedDriver(TorqueDriver):
    """Every read is a cycle of the robot.

    late: samples that wait between the robot and the reader; silent: none come; deaf: a stop is not followed; stopped:
    the robot's safety stops it; during: called while torque mode starts; failure: a motion fails with this reason.
    streams: positions of all motions; ending: samples until a stop has ended the motion.
    """

    proven = True

    def __init__(self, robot="ur5e", capabilities=UR):
        self.robot = load_robot(robot) if isinstance(robot, str) else robot
        self.capabilities = frozenset(capabilities)
        plant = self.robot if self.robot.links is not None else assumed_file(self.robot.name)
        self.sim = SimulatedRobot(plant, q=START[self.robot.n_joints])
        self.info = DriverInfo("stepped", "5.26", self.sim.rate, capabilities=self.capabilities | {"torque"})
        self.state, self.held, self.records = self.sim.record(), np.array(START[self.robot.n_joints]), deque()
        self.now, self.clock, self.loop, self.run = BEGIN, self, None, False
        self.late, self.silent, self.deaf, self.stopped, self.failure, self.during = 0, *[False] * 3, "", lambda: None
        self.condition = self.latched = StreamState.ok
        self.status, self.last_error, self._motion = GOOD, "", MotionState()
        topics = [name for name, need in DRIVER_TOPICS.items() if need in self.capabilities]
        signals = {signal for name in ("joint_states", *topics) for signal in TOPICS[name].fields.values()}
        self._signals = [name for name in signals - {"effort"} if name in self.state.MEASURED]
        self._waiting, self._path, self.ending, self.streams = deque(), deque(), 0, []

    def steady(self):
        return 1e-9 * self.now

    def system_ns(self):
        return self.now

    # -- samples ------------------------------------------------------------------------------------------------------
    def read(self, timeout):
        if len(self._waiting) > self.late:
            return self._waiting.popleft()
        self.now += round(1e9 / self.sim.rate)
        if self.silent:
            if self.loop is not None:
                self.loop.idle(self.now)
            return None
        self._waiting.append(self._cycle())
        return self._waiting.popleft() if len(self._waiting) > self.late else None

    def _cycle(self):
        """What the robot measures, and its next cycle: under torque, along its path, or at rest."""
        r, sample = self.state, Sample(self.robot.joint_names, self.now)
        sample.receive_ns, sample.effort = self.now, self.sim.effort_of(r)
        for name in self._signals:
            setattr(sample, name, getattr(r, name))
        if self.loop is not None:
            args = (r.q, r.qd, sample.effort, r.temperature)
            record = self.loop.cycle(self.now, self.now, *args, stopped=self.stopped)
            self.run = record["run"]
        if self.run:
            self.state = self.sim.step_torque(record["torque"])
            self.held = self.state.q
        else:
            self._move()
            self.state = self.sim.step_position(self.held)
        return sample

    def _move(self):
        if self._path and self.failure:
            self._motion, self.failure = MotionState("failed", self.failure), ""
            self._path.clear()
        elif self._path:
            self.held = self._path.popleft()
            self._motion = MotionState("moving") if self._path else MotionState("done")
        elif self.ending > 0:
            self.ending -= 1
            if not self.ending:
                self._motion = MotionState("stopped", "stop was requested")

    # -- motion and torque --------------------------------------------------------------------------------------------
    def begin(self, path, stream, rate, speed, acceleration):
        self.refuse_busy("motion")
        here, moves = self.held, []
        for q in path:
            moves += [*np.linspace(here, q, int(np.abs(q - here).max() / speed * self.sim.rate) + 1)]
            here = q
        self._motion, self._path, self.ending = MotionState("starting"), deque([*moves, *stream]), 0
        self.streams.append(np.array(self._path))

    def stop(self):
        if self._motion.active and not self.deaf:
            self._path.clear()
            self.ending = STOPPING

    @property
    def motion(self):
        return self._motion

    def attach(self, loop):
        self.loop = loop

    def start_torque(self):
        self.refuse_busy("torque")
        self.during()

    def rearm(self):
        self.latched = self.condition

    def recover(self):
        return "recovered"

    def set_payload(self, mass, com, inertia=(0.0,) * 6):
        self.load = (mass, tuple(com), tuple(inertia))
        self.status = replace(self.status, payload=mass)

    def set_collision_thresholds(self, torque, force):
        self.thresholds = (np.array(torque), np.array(force))

    def statistics(self):
        return Statistics()

    connect = disconnect = lambda self: None
    info = status = condition = latched = last_error = None  # set in __init__
