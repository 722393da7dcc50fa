"""Force feedback to a leader arm: the torque of the environment on the follower, on the leader's motors; simulated.

    python examples/force_feedback.py

An operator moves the leader 8 cm down, the follower (an FR3, its own torque sensors) meets a wall after 3 cm. With
feedback the leader pushes the hand back, and the wall is loaded less. Nothing is fed back below two deviations of the
estimate. A larger gain, a softer hand or a stiffer wall makes the loop oscillate: the estimate is 40 ms late.
"""

import numpy as np

from robot_dynamics_ros import LiveForce
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.live import Contact
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.simulation.robot import SimulatedRobot

START = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.7, 0.7])  # rad
DOWN, UNTIL_WALL = 0.08, 0.03  # m
WALL = 3000.0  # N/m
HAND, YIELDING = 60.0, 0.3  # Nm/rad and s, of the operator's hand in the joints of the leader
FEEDBACK_RATE, DURATION = 100, 4.0  # Hz, s


class Feedback:
    """Torque on the leader [Nm]: gain tau_ext beyond `deviations` of it, at most `limit`, through a lag of `fade` s."""

    def __init__(self, gain: float = 0.3, deviations: float = 2.0, limit: float = 8.0, fade: float = 0.05) -> None:
        self.gain, self.deviations, self.limit, self.fade = gain, deviations, limit, fade
        self.torque: np.ndarray | float = 0.0

    def step(self, e: Contact, period: float) -> np.ndarray:
        """One cycle; an estimate that is absent or warming up feeds nothing back, and the torque fades."""
        band = self.deviations * e.torque_std
        beyond = np.sign(e.torque) * np.maximum(np.abs(e.torque) - band, 0.0)
        wanted = np.clip(self.gain * np.nan_to_num(beyond), -self.limit, self.limit) if e.status == Status.ok else 0.0
        self.torque = self.torque + min(period / self.fade, 1.0) * (wanted - self.torque)
        return np.broadcast_to(self.torque, e.torque.shape)


def teleoperate(gain: float) -> tuple[float, float]:
    """Largest force on the wall [N], and largest feedback [Nm] before the wall is met."""
    follower, force, feedback = SimulatedRobot("fr3"), LiveForce("fr3"), Feedback(gain)
    model = RobotModel(follower.robot.chain(), follower.robot.joint_names)
    follower.reset(START)
    tcp, down = model.fk(START[None])[0, -1, :3, 3], np.linalg.pinv(model.jacobian(START[None])[0])[:, 2]
    follower.set_wall(tcp - [0, 0, UNTIL_WALL], [0.0, 0.0, 1.0], stiffness=WALL)
    every, largest, before = round(follower.rate / FEEDBACK_RATE), 0.0, 0.0
    yielded, torque, q_d = np.zeros(7), np.zeros(7), START
    for cycle in range(int(DURATION * follower.rate)):
        hand = START - down * DOWN * 0.5 * (1 - np.cos(np.pi * min(cycle / (0.7 * DURATION * follower.rate), 1.0)))
        yielded = yielded + (torque / HAND - yielded) / (YIELDING * follower.rate)
        leader = hand + yielded
        record = follower.step_position(leader, (leader - q_d) * follower.rate)
        q_d = leader
        if cycle % every == 0:
            e = force.update(record.q, record.qd, follower.effort_of(record), stamp=1e-9 * record.stamp_ns)
            torque = feedback.step(e, 1.0 / FEEDBACK_RATE)
            wall = float(np.linalg.norm(follower.truth()["external_wrench"][:3]))
            largest = max(largest, wall)
            before = max(before, float(np.abs(torque).max())) if largest == 0.0 else before
    return largest, before


def main() -> tuple[float, float, float]:
    """Forces on the wall without and with feedback [N], feedback in free motion [Nm]."""
    without, (with_feedback, free) = teleoperate(0.0)[0], teleoperate(0.3)
    print(f"largest force on the wall: {without:.0f} N without feedback, {with_feedback:.0f} N with it")
    print(f"largest feedback in free motion: {free:.2f} Nm")
    return without, with_feedback, free


if __name__ == "__main__":
    main()
