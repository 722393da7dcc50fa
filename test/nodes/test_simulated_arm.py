"""The simulated arm as a driver: stamps are those of its cycles, however late the machine publishes them."""

from types import SimpleNamespace

import numpy as np

from robot_dynamics_ros.nodes import simulated_arm

PERIOD, WALL = 0.002, 10**18


class Busy:
    """A clock of the test: every twentieth publication takes 30 ms, one 300 ms."""

    def __init__(self):
        self.now, self.count = 5.0, 0

    def monotonic(self):
        return self.now

    def monotonic_ns(self):
        return round(1e9 * self.now)

    def time_ns(self):
        return WALL + self.monotonic_ns()

    def sleep(self, seconds):
        self.now += seconds

    def publish(self, message):
        self.count += 1
        self.now += 0.3 if self.count == 210 else 0.03 if self.count % 20 == 0 else 5e-5


def test_stamps_are_a_period_apart_while_the_machine_is_busy(monkeypatch):
    clock, sent = Busy(), []
    node = SimpleNamespace(
        create_publisher=lambda *_: SimpleNamespace(publish=lambda m: (sent.append(m), clock.publish(m))),
        destroy_node=lambda: None,
    )
    ros = SimpleNamespace(Context=lambda: SimpleNamespace(ok=lambda: True), create_node=lambda *_, **__: node)
    ros.init = ros.shutdown = lambda **_: None
    monkeypatch.setattr(simulated_arm, "rclpy", ros)
    monkeypatch.setattr(simulated_arm, "time", clock)
    arm = SimpleNamespace(robot=SimpleNamespace(joint_names=["a"]), rate=1 / PERIOD, effort_of=lambda _: [0.0])
    late = simulated_arm.publish(arm, [SimpleNamespace(q=[0.0], qd=[0.0])] * 400)
    stamps = np.array([m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in sent])
    steps = np.diff(stamps)
    assert late == 1 and (np.abs(steps - 1e9 * PERIOD) < 100).sum() == 398
    assert steps.max() > 0.25e9 and stamps[0] == WALL + 5 * 10**9
