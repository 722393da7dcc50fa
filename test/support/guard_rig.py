"""A guard on a fake clock, and its limits."""

import numpy as np

from robot_dynamics_ros._core import Guard, GuardLimits

MS = 1_000_000
CYCLE = 2 * MS
TORQUE, RATE, SPEED, REACH, BRAKE = 20.0, 2000.0, 2.0, 3.0, 5.0  # limits of each joint


def limits(n=2, **changes):
    base = {"torque": TORQUE, "torque_rate": RATE, "velocity": SPEED, "deceleration": BRAKE}
    base |= {"position_lower": -REACH, "position_upper": REACH}
    return GuardLimits(**{name: np.full(n, value) for name, value in base.items()} | changes)


class Rig:
    """A guard on a fake clock with a robot that moves a little, so that a repeated state is a frozen one."""

    def __init__(self, n=2, **changes):
        self.n, self.guard, self.now, self.out = n, Guard(limits(n, **changes)), 0, np.zeros(n)
        self.q, self.qd = np.zeros(n), np.full(n, 0.1)

    def state(self, q=None, qd=None):
        self.q = self.q + 2e-4 if q is None else np.asarray(q, float)
        self.guard.observe(self.now, self.q, self.qd if qd is None else np.asarray(qd, float))

    def command(self, value, gravity=False, link=False):
        self.guard.command(self.now, np.full(self.n, float(value)), gravity, link)

    def step(self, dt=CYCLE):
        self.now += dt
        self.guard.step(self.now, self.out)
        return self.out.copy()

    def cycle(self, value=None, dt=CYCLE, **state):
        """A state, a command if there is one, and the torque that leaves."""
        self.state(**state)
        if value is not None:
            self.command(value)
        return self.step(dt)

    def run(self, value=None, cycles=20):
        for _ in range(cycles):
            self.cycle(value)
        return self

    def enabled(self, value=None, **state):
        self.state(**state)
        self.guard.refresh(self.now)
        assert self.guard.enable(self.now)
        return self if value is None else self.run(value)

    def ends_at_zero(self):
        """The contribution is zero at most 100 ms later, and stays there whatever is asked."""
        for _ in range(50):
            self.step()
        assert not self.out.any()
        assert not self.run(5.0, 1).out.any()
        assert not self.guard.enable(self.now)
        return True
