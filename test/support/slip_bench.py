"""Maxwell slip as printed in its source, in plain numpy, and angles to try it on."""

import numpy as np

MS = 1_000_000
B = 1e-3


def stamps(N):
    return np.arange(N) * MS


def recursion(theta, D, k, backlash):
    """[Madsen2020 ch6 14-15] as printed, in plain numpy; backlash is a function of theta."""
    d, H = np.zeros(len(D)), np.zeros(len(theta))
    for j in range(1, len(theta)):
        x = theta[j] - theta[j - 1] + d
        d = np.sign(x) * np.minimum(np.abs(x), backlash(theta[j]) * D)
        H[j] = k @ d / backlash(theta[j])
    return H


def wander(seed):
    return np.cumsum(np.random.default_rng(seed).normal(0, 1e-4, 4000))
