"""Contact force in a loop without ROS, and a collision alarm of your own from it.

    python examples/live_force.py

`samples` stands for any source of positions, velocities and efforts: replace it by the reading of your arm.
"""

from collections.abc import Iterator

import numpy as np

from robot_dynamics_ros import LiveForce
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories.motions import fourier


def samples() -> Iterator[tuple[float, np.ndarray, np.ndarray, np.ndarray]]:
    """Four seconds of the simulated UR5e, time [s], q, qd and effort; a collision of 80 N after 3 s."""
    arm = SimulatedRobot("ur5e")
    q, qd, qdd = fourier([0.0, -1.2, 1.5, -1.9, -1.57, 0.4], duration=4.0)
    arm.reset(q[0])
    for cycle in range(len(q)):
        if cycle == 1500:
            arm.set_wrench([0.0, 80.0, 0.0, 0.0, 0.0, 0.0])
        record = arm.step_position(q[cycle], qd[cycle], qdd[cycle])
        yield 1e-9 * record.stamp_ns, record.q, record.qd, arm.effort_of(record)


def main(ratio: float = 4.0) -> float | None:
    """Time [s] of the first joint torque beyond `ratio` standard deviations."""
    force = LiveForce("ur5e")
    for time, q, qd, effort in samples():
        e = force.update(q, qd, effort, stamp=time)
        if time > 0.5 and (np.abs(e.torque) > ratio * e.torque_std).any():  # the observer settles first
            print(f"collision after {time:.3f} s, force {e.wrench[:3].round(1)} +- {e.wrench_std[:3].round(1)} N")
            return time
    return None


if __name__ == "__main__":
    main()
