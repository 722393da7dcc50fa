"""Record a bag of the simulated robot, identify masses, rotor inertia and friction from it, write a robot file.

    python examples/identify_simulated.py OUTPUT_DIRECTORY

The simulated robot differs from its robot file, as a real one does. For a real robot replace `record` by a bag.
"""

import sys
from pathlib import Path

from robot_dynamics_ros import identify, load_robot, write_bag
from robot_dynamics_ros.identification.arm.export import write_outputs
from robot_dynamics_ros.identification.reports.result import summarise
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories.motions import fourier


def record(path: Path, seed: int, duration: float) -> Path:
    """Bag of the simulated UR5e along a Fourier motion."""
    simulated = SimulatedRobot("ur5e", seed=seed)
    simulated.set_temperatures(35.0)
    q, qd, qdd = fourier([0.0, -1.2, 1.5, -1.9, -1.57, 0.4], duration=duration, seed=seed)
    simulated.reset(q[0])
    log, _ = simulated.run(q, qd, qdd, keep=2)  # every second cycle: 250 Hz
    write_bag(log, path)
    return path


def main(out: str = "identified", duration: float = 20.0) -> float:
    """Mean R2 on a bag that was not used to identify."""
    directory = Path(out)
    bag, validation = (record(directory / f"run{seed}", seed, duration) for seed in (1, 2))
    found = identify(load_robot("ur5e"), [bag], [validation])
    result = summarise(found, "ur5e")
    for joint, r2 in zip(result["joint_names"], result["validation"]["r2"], strict=True):
        print(f"{joint:>22}: R2 {r2:.4f}")
    files = write_outputs(found, directory, [bag, validation])
    print(load_robot(files["robot_file"]))
    return result["validation"]["mean_r2"]


if __name__ == "__main__":
    main(*sys.argv[1:2])
