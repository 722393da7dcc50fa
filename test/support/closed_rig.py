"""A simulated robot in closed loop with the torque loop, with a clock of its own and without sockets."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import EnableResult, TorqueMode
from robot_dynamics_ros.control.torque import torque_loop
from robot_dynamics_ros.drivers.guard import guard_limits
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories.smooth import through

ROBOT = load_robot("ur5e")
START = np.array([0.0, -1.5, 1.5, -1.5, -1.5, 0.0])
MS = 1_000_000


class Closed:
    """A simulated robot and the loop, without sockets."""

    def __init__(self, parameters=None, settings=None, robot=ROBOT, **plant):
        self.sim = SimulatedRobot(ROBOT, q=START, rate=500, **plant)
        self.sim.set_temperatures(30.0, 30.0)
        self.loop = torque_loop(robot, guard_limits(robot, settings), parameters)
        self.K = ROBOT.array("drives.torque_constant")
        points = START + np.array([0, 0.5, -0.5, 0])[:, None]
        self.path = through(points, velocity=1.0, acceleration=2.0)
        self.believed, self.blind = robot, False
        self.record, self.r, self.now = {"run": False}, self.sim.record(), 10**9

    def cycle(self, count=1, **measured):
        for _ in range(count):
            self.now += 2 * MS
            args = (self.now, self.now, self.r.q, self.r.qd, self.K * self.r.current, self.r.temperature)
            self.record = self.loop.cycle(*args, **measured, **self.beyond())
            if self.record["run"]:
                self.r = self.sim.step_torque(self.record["torque"])
            else:
                self.r = self.sim.step_position(self.r.q)
        return self.record

    def beyond(self):
        """What a robot with rotor encoders and joint torque sensors reports, as far as its file says so."""
        sensing, more = self.believed.sensing, {}
        if sensing.rotor_encoder and not self.blind:
            more = {"theta": self.r.theta, "omega": self.r.omega}
        if sensing.joint_torque_sensor and not self.blind:
            more["joint_torque"] = self.r.joint_torque
        return more

    def silence(self, ms):
        for _ in range(ms // 2):
            self.now += 2 * MS
            self.record = self.loop.idle(self.now)
        return self.record

    def enabled(self, mode=TorqueMode.track, periodic=True):
        self.cycle(5)
        p = self.path
        motion = _core.TorqueTrajectory(p.q, p.qd, p.qdd, 500.0, periodic, p.jerk, p.snap)
        self.loop.enable(mode, motion)
        self.cycle()
        assert self.loop.enabled == EnableResult.done
        return self

    def error(self):
        return np.abs(self.record["q"] - self.record["q_d"]).max()
