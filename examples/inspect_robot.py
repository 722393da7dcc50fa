"""Load a robot file, print what it contains and supports, and compute dynamics with it.

python examples/inspect_robot.py ur5e
"""

import sys

import numpy as np

from robot_dynamics_ros import RobotFile, RobotModel, load_robot
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.robot_file import capabilities


def main(name: str = "ur5e") -> None:
    try:
        show(load_robot(name))  # a shipped name or a path
    except RobotDynamicsError as error:  # no such robot, or one whose masses are not known
        sys.exit(str(error))


def show(robot: RobotFile) -> None:
    print(robot)
    for what, capability in capabilities(robot).items():
        print(f"{what:>20}: {capability}")

    model = RobotModel(robot.chain(), robot.joint_names)
    q = np.full(robot.n_joints, 0.5)  # rad
    print("gravity torque [Nm]", np.round(model.gravity(q), 2))
    print("smallest eigenvalue of the mass matrix [kg m2]", round(np.linalg.eigvalsh(model.mass_matrix(q))[0], 4))
    print("TCP position [m]", np.round(model.fk(q)[-1, :3, 3], 3))


if __name__ == "__main__":
    main(*sys.argv[1:])
