"""Desired motions from velocity profiles: (q, qd, qdd), each (N, n), sample k at time (k + 1)/rate unless stated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

JointMotion = tuple[np.ndarray, np.ndarray, np.ndarray]
TimedMotion = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def times(duration: float, rate: float = 500.0) -> np.ndarray:
    """Sample times (N,) [s]: 1/rate .. duration. Raises ValueError out of range."""
    if not 0 < duration < 1e6 or not 0 < rate <= 1e5:
        raise ValueError(f"duration = {duration} s or rate = {rate} Hz is out of range")
    return np.arange(1, round(duration * rate) + 1) / rate


def hold(q: Any, duration: float, rate: float = 500.0) -> JointMotion:
    """Stand at q (n,)."""
    q = np.asarray(q, dtype=float)
    still = np.zeros((len(times(duration, rate)), len(q)))
    return still + q, still.copy(), still.copy()


def join(*motions: JointMotion) -> JointMotion:
    """One motion after another."""
    q, qd, qdd = (np.concatenate(parts) for parts in zip(*motions, strict=True))
    return q, qd, qdd


def part(motion: JointMotion, samples: slice) -> JointMotion:
    """Some samples of a motion."""
    q, qd, qdd = motion
    return q[samples], qd[samples], qdd[samples]


def minimum_jerk(x: Any) -> Any:
    """Path parameter 0 to 1 over x in 0..1, at rest at both ends with the least jerk: 10 x^3 - 15 x^4 + 6 x^5."""
    return x**3 * (10 - 15 * x + 6 * x**2)


def minimum_jerk_rates(x: Any) -> tuple[Any, Any]:
    """First and second derivative of `minimum_jerk` by x."""
    return 30 * x**2 * (1 - x) ** 2, 60 * x * (1 - 3 * x + 2 * x**2)


def quintic(start: Any, end: Any, rate: float = 500.0, velocity: float = 1.0, acceleration: float = 2.0) -> JointMotion:
    """Rest to rest, all joints together, as fast as the limits allow: s = 10 x^3 - 15 x^4 + 6 x^5.

    Peaks: velocity 15/8 D/T, acceleration 10/sqrt(3) D/T^2, D the longest joint path [rad].
    """
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    longest = np.abs(end - start).max()
    if longest == 0.0:
        return hold(start, 1.0 / rate, rate)
    T = max(15 / 8 * longest / velocity, np.sqrt(10 / np.sqrt(3) * longest / acceleration))
    T = np.ceil(T * rate) / rate
    x = times(T, rate)[:, None] / T
    s, ds, dds = minimum_jerk(x), *minimum_jerk_rates(x)
    return start + s * (end - start), ds * (end - start) / T, dds * (end - start) / T**2


def trapezoid(
    start: Any, end: Any, rate: float = 500.0, velocity: float = 1.0, acceleration: float = 2.0
) -> JointMotion:
    """Rest to rest with trapezoidal velocity, all joints together [Clochiatti2024 2.2: 3 rad/s, 6 rad/s2]."""
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    longest = np.abs(end - start).max()
    if longest == 0.0:
        return hold(start, 1.0 / rate, rate)
    peak = min(velocity, np.sqrt(longest * acceleration))
    T = np.ceil((longest / peak + peak / acceleration) * rate) / rate
    a = 0.5 * acceleration  # the peak v of the rounded-up duration: longest = v (T - v/acceleration)
    peak = a * (T - np.sqrt(max(T**2 - 2 * longest / a, 0.0)))
    ramp = peak / acceleration
    t = times(T, rate)[:, None]
    up, down = np.minimum(t, ramp), np.maximum(t - (T - ramp), 0.0)
    s = (
        0.5 * acceleration * up**2
        + peak * np.clip(t - ramp, 0, T - 2 * ramp)
        + peak * down
        - 0.5 * acceleration * down**2
    )
    ds = acceleration * up - acceleration * down
    dds = acceleration * ((t <= ramp).astype(float) - (t > T - ramp))
    path = (end - start) / longest
    return start + s * path, ds * path, dds * path


PAUSE = 0.25  # s at each point


def trapezoids(points: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray, rate: float) -> TimedMotion:
    """Straight joint moves through points (m, n), joints in step, at rest in between: time (N,) from 0, q, qd, qdd.

    velocity and acceleration (n,) limits; the slowest joint of a move sets its time [Clochiatti2024 2.2].
    """
    parts = []
    for a, b in zip(points[:-1], points[1:], strict=True):
        d = b - a
        reach = np.maximum(np.abs(d), 1e-9)
        v, acc = float((velocity / reach).min()), float((acceleration / reach).min())
        parts.append((a, d, *_unit_trapezoid(v, acc, rate)))
        parts.append((b, np.zeros_like(d), *(np.zeros(max(int(PAUSE * rate), 1)) for _ in range(3))))
    q, qd, qdd = (
        np.concatenate([(a if k == 0 else 0.0) + profile[k][:, None] * d for a, d, *profile in parts]) for k in range(3)
    )
    return np.arange(len(q)) / rate, q, qd, qdd


def _unit_trapezoid(v: float, a: float, rate: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Path parameter 0..1, its speed and acceleration, with speed v and acceleration a.

    Steps of the acceleration are at samples, ramps and way between rounded up: cubics through the samples meet it.
    """
    v = min(v, np.sqrt(a))
    ramp, way = max(np.ceil(rate * v / a), 1.0), np.ceil(rate * max(1 / v - v / a, 0.0))  # samples
    v, ramp, total = rate / (ramp + way), ramp / rate, (2 * ramp + way) / rate
    a = v / ramp
    t = np.arange(round(total * rate)) / rate
    up, down = t < ramp - 0.5 / rate, t > total - ramp - 0.5 / rate
    acc = np.where(up, a, np.where(down, -a, 0.0))
    speed = np.where(up, a * t, np.where(down, a * (total - t), v))
    s = np.where(up, 0.5 * a * t**2, np.where(down, 1 - 0.5 * a * (total - t) ** 2, v * (t - 0.5 * ramp)))
    return s, speed, acc


def path(points: Sequence[Any], rate: float = 500.0, velocity: float = 1.0, acceleration: float = 2.0) -> JointMotion:
    """Quintic from point to point."""
    pairs = zip(points[:-1], points[1:], strict=True)
    return join(*(quintic(a, b, rate, velocity, acceleration) for a, b in pairs))


def fourier(
    centre: Any,
    duration: float = 20.0,
    rate: float = 500.0,
    base: float = 0.1 * np.pi,
    amplitude: float = 0.6,
    velocity: float = 1.5,
    seed: int = 0,
) -> JointMotion:
    """Finite Fourier series [Liu2020 24-25] of seeded coefficients, scaled to amplitude [rad] and velocity [rad/s].

    Starts and ends at rest: its clock, which starts and stops within half a second, runs for `duration` - 0.5 s. It
    ends at its own first point where that is a whole number of periods 2 pi/base.
    """
    centre = np.asarray(centre, dtype=float)
    draw = np.random.default_rng(seed)
    k = np.arange(1, 6)  # harmonics
    a, b = draw.normal(size=(2, len(k), len(centre))) / k[None, :, None]
    t = times(duration, rate)
    warp, dwarp, ddwarp = _soft_ends(t, duration, 0.5)
    phase = np.outer(warp, base * k)
    s, c, w = np.sin(phase), np.cos(phase), (base * k)[:, None]
    q, dq, ddq = s @ a + c @ b, c @ (w * a) - s @ (w * b), -s @ (w**2 * a) - c @ (w**2 * b)
    qd, qdd = dq * dwarp[:, None], ddq * dwarp[:, None] ** 2 + dq * ddwarp[:, None]
    q = q - 0.5 * (q.max(0) + q.min(0))
    scale = np.minimum(amplitude / np.abs(q).max(0), velocity / np.abs(qd).max(0))
    return centre + scale * q, scale * qd, scale * qdd


def _soft_ends(t: np.ndarray, duration: float, ramp: float) -> JointMotion:
    """A clock that starts and stops smoothly: rate 0 -> 1 over `ramp` seconds and back at the end."""

    def rise(x: np.ndarray) -> JointMotion:  # integral, value and slope of 3x^2 - 2x^3
        x = np.clip(x, 0, 1)
        return x**3 - x**4 / 2, 3 * x**2 - 2 * x**3, 6 * x * (1 - x)

    i0, v0, s0 = rise(t / ramp)
    i1, v1, s1 = rise((t - (duration - ramp)) / ramp)
    run = np.clip(t - ramp, 0, None)
    return ramp * i0 + run - ramp * i1, v0 - v1, (s0 - s1) / ramp


def reversals(
    q: Any, joint: int, count: int = 240, advance: float = np.deg2rad(3.0), a: float = 0.05, rate: float = 500.0
) -> JointMotion:
    """Slow reciprocating run: +a for t1, -a for t2 < t1 .. with net motion `advance` per cycle [Madsen2020 ch6 21].

    Each cycle goes forward by 2 advance and back by advance, rest to rest.
    """
    q = np.asarray(q, dtype=float)
    step = np.zeros_like(q)
    step[joint] = advance
    parts, here = [], q
    for _ in range(count):
        parts += [
            trapezoid(here, here + 2 * step, rate, 10.0, a),
            trapezoid(here + 2 * step, here + step, rate, 10.0, a),
        ]
        here = here + step
    return join(*parts)


def duty_cycle(q: Any, amplitude: Any, period: float, duty: float, duration: float, rate: float = 500.0) -> JointMotion:
    """Oscillation by `amplitude` (n,) [rad] for the share `duty` of every minute, else rest [Simoni2017 IV]; of minutes
    where no whole number of periods is that share of one.

    q(t) = q + amplitude (1 - cos(2 pi t/period))/2: every period starts and ends at rest.
    Raises ValueError for a duty outside 0..1.
    """
    if not 0 <= duty <= 1:
        raise ValueError(f"duty = {duty} is outside 0..1")
    q, amplitude = np.asarray(q, dtype=float), np.asarray(amplitude, dtype=float)
    t = times(duration, rate)
    count = max(1, round(60.0 / period))
    minute, place = np.divmod(np.floor((t - 1e-9) / period), count)
    moving = place < np.ceil((minute + 1) * duty * count - 1e-9) - np.ceil(minute * duty * count - 1e-9)
    w = 2 * np.pi / period
    x, on = w * t, moving[:, None] * 0.5 * amplitude
    return q + on * (1 - np.cos(x))[:, None], on * (w * np.sin(x))[:, None], on * (w**2 * np.cos(x))[:, None]
