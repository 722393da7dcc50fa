"""Contact force judged on many simulated robots, each of another friction: `python -m bench force`."""

from robot_dynamics_ros.simulation.plant.interface import ELASTIC

MUJOCO = "mujoco"
PLANTS = {ELASTIC: ELASTIC, MUJOCO: "bench.mujoco_plant:MujocoPlant"}  # name in tables -> see load_plant
DRAWN = ("fourier", "moves", "slow")  # kinds of recordings, in an order that turns with the robot
EXCITE = "excite"  # a further kind, by name
