"""Estimate the contact force over a recording and plot it with its standard deviation.

python examples/replay_force.py force.png                     # a simulated push of 40 N
python examples/replay_force.py force.png BAG ROBOT           # a bag of your robot
"""

import sys
from pathlib import Path

import numpy as np

from robot_dynamics_ros import Log, Pipeline, load_bag, load_robot
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.plots import plot_force
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories.motions import fourier

PUSH = 40.0  # N, environment on robot, along the base x axis


def simulated_push() -> Log:
    """Ten seconds of motion at 500 Hz with a push from 5 s to 8 s."""
    simulated = SimulatedRobot("ur5e")
    simulated.set_temperatures(35.0)
    q, qd, qdd = fourier([0.0, -1.2, 1.5, -1.9, -1.57, 0.4], duration=10.0)
    wrench = np.zeros((len(q), 6))
    wrench[2500:4000, 0] = PUSH
    simulated.reset(q[0])
    return simulated.run(q, qd, qdd, wrench=wrench)[0]


def main(picture: str = "force.png", bag: str = "", robot: str = "ur5e") -> Log:
    robot_file = load_robot(robot)
    log = load_bag(bag, robot_file)[0] if bag else simulated_push()
    pipeline = Pipeline(robot_file, {"force": {"bandwidth": 40.0}})
    pipeline.run(log)
    in_contact = log.contact[:, -1] == 1.0
    print(log)
    print(f"contact in {100 * in_contact.mean():.0f} % of the samples")
    print("wrote", plot_force(log, Path(picture), robot_file.name))
    return log


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except RobotDynamicsError as error:  # a bag that cannot be read, or that is of another robot
        sys.exit(str(error))
