"""Open benchmark of the contact force without a force sensor: `python -m bench wrench`, scored by score.py alone."""

from robot_dynamics_ros.simulation.plant.interface import ELASTIC

PLANTS = {ELASTIC: ELASTIC, "mujoco": "bench.mujoco_plant:MujocoPlant"}  # name in tables -> see load_plant
NAMES = (
    "ours",
    "ours_collision",
    "tanh_least_squares",
    "momentum_observer_coulomb",
    "joint_torque_formula",
    "zero",
)  # of the entries
