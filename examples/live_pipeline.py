"""Run the estimators live without ROS, with a stage of your own behind them.

    python examples/live_pipeline.py

`samples` stands for any source: replace it by the `read` of a driver (`robot_dynamics_ros.drivers`) or by your loop.
The stage detects a collision by the external joint torque over its standard deviation.
"""

from collections.abc import Iterator

import numpy as np

from robot_dynamics_ros import Pipeline, Sample, load_robot
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.estimators.stage import run_stepwise
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories.motions import fourier


class CollisionStage:
    """Collision when |tau_ext| exceeds `ratio` standard deviations in any joint."""

    name = "collision"
    reads, optional, writes = ("external_joint_torque", "external_joint_torque_std"), (), ()
    parameters = ()

    def __init__(self, ratio: float = 4.0) -> None:
        self.ratio, self.collision = ratio, False

    def configure(self, robot, parameters=None):
        self.reset()

    def reset(self):
        self.collision = False

    def step(self, sample):
        with np.errstate(invalid="ignore"):
            ratio = np.abs(sample.external_joint_torque) / sample.external_joint_torque_std
        self.collision = bool(np.nanmax(ratio, initial=0.0) > self.ratio)
        return Status.ok

    def run(self, log):
        return run_stepwise(self, log)


def samples(robot) -> Iterator[Sample]:
    """Four seconds of the simulated UR5e; a collision of 80 N after 3 s."""
    simulated, sample = SimulatedRobot("ur5e"), Sample(robot.joint_names)
    q, qd, qdd = fourier([0.0, -1.2, 1.5, -1.9, -1.57, 0.4], duration=4.0)
    simulated.reset(q[0])
    for cycle in range(len(q)):
        if cycle == 1500:
            simulated.set_wrench([0.0, 80.0, 0.0, 0.0, 0.0, 0.0])
        record = simulated.step_position(q[cycle], qd[cycle], qdd[cycle])
        sample.stamp_ns = record.stamp_ns
        sample.q, sample.qd, sample.effort = record.q, record.qd, simulated.effort_of(record)
        yield sample


def main() -> float | None:
    """Time [s] of the first detected collision."""
    robot = load_robot("ur5e")
    pipeline, collision = Pipeline(robot, stages=["motion", "friction", "force"]), CollisionStage()
    collision.configure(robot)
    first = None
    for sample in samples(robot):
        pipeline.step(sample)
        collision.step(sample)
        if collision.collision and sample.stamp_ns > 500_000_000:  # the observer settles first
            first = 1e-9 * sample.stamp_ns
            break
    print("collision after", first, "s")
    return first


if __name__ == "__main__":
    main()
