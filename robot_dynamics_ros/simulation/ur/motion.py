"""Trajectory generators of the controller: each step returns the target position, velocity and acceleration.

What a UR does inside is not published; the shapes here follow the URScript manual: movej moves its leading axis on
a trapezoidal velocity profile, servoj follows with a lag equal to its lookahead time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

Vector = np.ndarray
Target = tuple[Vector, Vector, Vector]  # q [rad], qd [rad/s], qdd [rad/s2]

STILL = 1e-6  # rad/s: slower than this counts as standing


class MotionError(Exception):
    """A motion cannot be continued (non-finite, out of range); the controller stops protectively."""


class ControllerMotion(Protocol):
    """A running motion; `finished` turns True when the target state will not change any more."""

    finished: bool

    def step(self, dt: float) -> Target:
        """Advance by dt seconds of controller time."""
        ...


class Profile:
    """Trapezoidal velocity profile over a distance: ramps of `acceleration`, plateau of at most `velocity`."""

    def __init__(self, distance: float, velocity: float, acceleration: float) -> None:
        if not (velocity > 0 and acceleration > 0):
            raise MotionError(f"velocity {velocity} and acceleration {acceleration} must be positive")
        self.distance = distance
        self.acceleration = acceleration
        self.ramp = min(velocity / acceleration, float(np.sqrt(distance / acceleration)))  # s
        self.velocity = acceleration * self.ramp
        self.duration = self.ramp + (distance / self.velocity if self.velocity > 0 else 0.0)

    def at(self, t: float) -> tuple[float, float, float]:
        """Distance, speed and acceleration at time t > 0; after the profile it rests at its end."""
        if t >= self.duration:
            return self.distance, 0.0, 0.0
        if t < self.ramp:
            return 0.5 * self.acceleration * t * t, self.acceleration * t, self.acceleration
        if t <= self.duration - self.ramp:
            return self.velocity * (t - 0.5 * self.ramp), self.velocity, 0.0
        left = self.duration - t
        return self.distance - 0.5 * self.acceleration * left * left, self.acceleration * left, -self.acceleration


class Hold:
    """Stay at a position."""

    finished = True

    def __init__(self, q: Vector) -> None:
        self._target = (np.array(q, float), np.zeros(len(q)), np.zeros(len(q)))

    def step(self, dt: float) -> Target:
        return self._target


class MoveJ:
    """A joint move: the leading axis runs a trapezoid, the others are synchronous."""

    def __init__(self, q: Vector, target: Vector, velocity: float, acceleration: float) -> None:
        self._start, step = np.array(q, float), np.asarray(target, float) - q
        length = float(np.max(np.abs(step)))
        if not np.isfinite(length):
            raise MotionError("movej to a non-finite position")
        self._profile = Profile(length, velocity, acceleration)
        self._direction = step / length if length > 0 else step
        self._t, self.finished = 0.0, False

    def step(self, dt: float) -> Target:
        self._t += dt
        self.finished = self._t >= self._profile.duration
        s, sd, sdd = self._profile.at(self._t)
        return self._start + s * self._direction, sd * self._direction, sdd * self._direction


class Chained:
    """A motion, then one that is built from the position where the first has ended."""

    def __init__(self, first: ControllerMotion, build: Callable[[Vector], ControllerMotion]) -> None:
        self._motion, self._build, self._q = first, build, np.zeros(0)
        self._second = self.finished = False

    def step(self, dt: float) -> Target:
        if self._motion.finished and not self._second:
            self._motion, self._second = self._build(self._q), True
        target = self._motion.step(dt)
        self._q = target[0]
        self.finished = self._second and self._motion.finished
        return target


class Stop:
    """Decelerate along the present direction; `deceleration` [rad/s2] applies to the fastest joint."""

    def __init__(self, q: Vector, qd: Vector, deceleration: float) -> None:
        if not deceleration > 0:
            raise MotionError(f"deceleration {deceleration} must be positive")
        self._q, self._qd, self._deceleration = np.array(q, float), np.array(qd, float), deceleration
        self.finished = float(np.max(np.abs(self._qd))) <= STILL

    def step(self, dt: float) -> Target:
        fastest = float(np.max(np.abs(self._qd)))
        keep = max(0.0, 1 - self._deceleration * dt / fastest) if fastest > STILL else 0.0
        qd = keep * self._qd
        qdd = (qd - self._qd) / dt
        self._q = self._q + 0.5 * dt * (qd + self._qd)
        self._qd = qd
        self.finished = keep == 0.0
        return self._q, qd, qdd


class Servo:
    """servoj: second-order following of a streamed target,

        qdd = gain (target - q) - gain lookahead qd,

    so a ramp is followed with a lag of `lookahead` [s], `gain` [1/s2] sets how fast (natural frequency sqrt(gain)),
    and a small lookahead overshoots, as the URScript manual says of both arguments. Velocity and acceleration are
    limited per joint.
    """

    finished = False

    def __init__(self, q: Vector, qd: Vector, velocity_limit: Vector, acceleration_limit: float) -> None:
        self._q, self._qd = np.array(q, float), np.array(qd, float)
        self._velocity_limit, self._acceleration_limit = velocity_limit, acceleration_limit
        self.target, self.lookahead, self.gain = self._q.copy(), 0.1, 300.0

    def step(self, dt: float) -> Target:
        qdd = self.gain * (self.target - self._q - self.lookahead * self._qd)
        qdd = np.clip(qdd, -self._acceleration_limit, self._acceleration_limit)
        qd = np.clip(self._qd + dt * qdd, -self._velocity_limit, self._velocity_limit)
        qdd = (qd - self._qd) / dt
        self._q = self._q + 0.5 * dt * (qd + self._qd)
        self._qd = qd
        return self._q, qd, qdd
