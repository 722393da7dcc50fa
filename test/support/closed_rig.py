"""The clock bench of the fault cases with the motion and the views that the tests of the torque loop use."""

import numpy as np

from bench.faults.clock_bench import START, ClockBench
from robot_dynamics_ros._core import TorqueMode
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.trajectories.smooth import through

ROBOT = load_robot("ur5e")
MS = 1_000_000


class Closed(ClockBench):
    """A path of +-0.5 rad at every joint; blind: what rotor encoders and torque sensors measure is left out."""

    def __init__(self, parameters=None, enable_timeout=0.0, robot=ROBOT, **plant):
        super().__init__(0, parameters, enable_timeout, robot, plant)
        self.path = through(START + np.array([0, 0.5, -0.5, 0])[:, None], velocity=1.0, acceleration=2.0)
        self.blind = False

    def rotor_side(self):
        return {} if self.blind else super().rotor_side()

    def enabled(self, mode=TorqueMode.track):
        return self.running(mode, cycles=0)

    def error(self):
        return np.abs(self.record["q"] - self.record["q_d"]).max()
