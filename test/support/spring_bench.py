"""A joint spring, and a motion that starts, coasts and stops."""

import numpy as np

A = np.array([1.8e4, 4e9])  # Nm/rad, Nm/rad^3


def spring(phi, a=A):
    return a[0] * phi + a[1] * phi**3


def bang_coast_bang(seconds, dt=1e-3, seed=0):
    """Random accelerations, coasting and pauses as in [Madsen2020 ch3 Fig. 7]: deflection follows inertia torque."""
    rng, t = np.random.default_rng(seed), 0.0
    pieces = []
    while t < seconds:
        v, a, coast, wait = (rng.uniform(*span) for span in ((0.93, 3.1), (3.0, 10.0), (0.1, 0.5), (0.0, 1.0)))
        sign = rng.choice([-1, 1])
        for length, acceleration in ((v / a, sign * a), (coast, 0.0), (v / a, -sign * a), (wait, 0.0)):
            pieces.append(np.full(max(int(length / dt), 1), acceleration))
            t += length
    qdd = np.concatenate(pieces)[: int(seconds / dt)]
    qd = np.cumsum(qdd) * dt
    tau = 4.0 * np.convolve(qdd, np.ones(20) / 20, mode="same")  # of 4 kg m2; jerk is finite on real robots
    return qd, tau


def deflection(tau, a=A):
    """phi with spring(phi) = tau by Newton."""
    phi = tau / a[0]
    for _ in range(30):
        phi = phi - (spring(phi, a) - tau) / (a[0] + 3 * a[1] * phi**2)
    return phi
