"""The torque loop of an FR3 whose friction is taken too low."""

from robot_dynamics_ros.control.torque import torque_loop
from robot_dynamics_ros.drivers.guard import guard_limits
from robot_dynamics_ros.robot_file import load_robot

SHIPPED = load_robot("fr3")
# friction behind the joint-torque loop of the simulated arm, taken too low: what is missing must be learned
FRICTION = {"fc": [1.0] * 4 + [0.2] * 3, "fv": [0.5] * 4 + [0.1] * 3}
LAW = {"source": "estimate_mount", "model": "viscous_coulomb", "parameters": FRICTION}
ROBOT = SHIPPED.with_updates({"friction": LAW})
SLOW = {"time_scale": 0.05, "adaptation_time": 1.0}


def make_loop(robot=ROBOT, **parameters):
    return torque_loop(robot, guard_limits(robot), SLOW | parameters)
