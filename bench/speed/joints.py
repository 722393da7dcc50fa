"""Joint observers against the same recursions written in numpy: one step of six joints, and how cost grows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import bench.speed.native as native
from bench.speed.setup import Setup
from bench.speed.timing import Case
from robot_dynamics_ros import _core
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import DEFAULT_BACKLASH, maxwell_slip, presliding_core, spacing
from robot_dynamics_ros.robot_file import load_robot

JOINTS, ELEMENTS, MU, DELTA = 6, 4, 0.99995, 0.1
NUMPY_STEPS = 100
POWERS = np.array([1.0, 3.0])


def cases(setup: Setup) -> Iterator[Case]:
    """GMS and RLS-DF per step against numpy; hysteresis over joints and elements, and both observers, alone."""
    N = 500 if setup.quick else 5000
    t = np.arange(N)[:, None] * np.ones(JOINTS)
    theta, stamps = 2e-3 * np.sin(0.01 * t) + 1e-4 * np.sin(0.3 * t), np.arange(N) * 2_000_000
    phi = 1e-3 * np.sin(0.02 * t)
    tau = 2e4 * phi + 4e9 * phi**3

    yield Case("GMS step, 6 joints x 4", _gms(theta, stamps, ELEMENTS), _Against(theta).gms, "numpy", N)
    rls = partial(native.repeat_rls, phi, tau, 1e-3, np.empty_like(phi))
    yield Case("RLS-DF step, 6 joints x 2", rls, _Against(phi, tau).rls, "numpy", N)
    for elements in (1, 8, 16):
        yield Case(f"GMS step, 6 joints x {elements}", _gms(theta, stamps, elements), count=N, budget=0.2)
    load, name = 20.0 * np.sin(0.013 * t), "GMS step, load on each element, 6 joints x 6 spans"
    yield Case(name, _presliding(stamps, theta, load), count=N, budget=0.2, limit=40)
    yield Case("stiffness estimator, 6 joints", _stiffness(stamps, theta, phi, tau), count=N, budget=0.4)


def _gms(theta: np.ndarray, stamps: np.ndarray, elements: int) -> Any:
    core, out = maxwell_slip(JOINTS, elements, max_gap=1e9), np.empty_like(theta)
    return lambda: core.run(stamps, theta, out)


def _presliding(stamps: np.ndarray, theta: np.ndarray, load: np.ndarray) -> Any:
    """All terms of the law but temperature."""
    values = {"load_limit": 100.0, "load_power": 1.0, "sliding_ratio": 0.8, "stribeck_velocity": 0.05, "fo": 0.1}
    speed = {"fv1": 5.0, "fv2": 0.1, "fv0": 2.0, "v0": 0.3, "fs": 0.5}
    span = np.tile(np.geomspace(1e-5, 3e-3, 6), (JOINTS, 1))
    elements = {"span": span, "level": np.ones_like(span), "load": np.full_like(span, 0.01)}
    core = presliding_core({**values, **speed, **elements}, FrictionModel.from_robot(load_robot("ur5e")), 1e9)
    v, out = np.gradient(theta, axis=0) / 2e-3, np.empty_like(theta)
    return lambda: core.run(stamps, theta, v, load, None, out)


def _stiffness(stamps: np.ndarray, theta: np.ndarray, phi: np.ndarray, tau: np.ndarray) -> Any:
    core = _core.StiffnessEstimator(np.zeros((JOINTS, 3)), np.zeros((JOINTS, 1)))
    omega, zero, k, std = np.ones_like(phi), np.zeros_like(phi), np.empty_like(phi), np.empty_like(phi)

    def run() -> None:
        core.reset()
        rows = core.rows(len(stamps), theta + phi, theta, omega, tau, zero, None, None, None, k, std)
        _core.run_in_turn(stamps, [rows])

    return run


class _Against:
    """The recursions in numpy as one writes them, over a part of the samples, repeated to the same count."""

    def __init__(self, x: np.ndarray, y: np.ndarray | None = None) -> None:
        self.x, self.rounds = x[:NUMPY_STEPS], len(x) // NUMPY_STEPS
        self.y = np.empty(0) if y is None else y[:NUMPY_STEPS]

    def gms(self) -> None:
        D, k = spacing(ELEMENTS)
        limit, gain, d = DEFAULT_BACKLASH * D, k / DEFAULT_BACKLASH, np.zeros((JOINTS, ELEMENTS))
        for _ in range(self.rounds):
            for j in range(NUMPY_STEPS):
                moved = (self.x[j] - self.x[j - 1])[:, None] + d
                d = np.sign(moved) * np.minimum(np.abs(moved), limit)
                _ = d @ gain

    def rls(self) -> None:
        a, P, added = np.zeros((JOINTS, 2)), np.tile(np.diag([1e9, 1e18]), (JOINTS, 1, 1)), DELTA * np.eye(2)
        for _ in range(self.rounds):
            for j in range(NUMPY_STEPS):
                x = self.x[j, :, None] ** POWERS
                Px = (P @ x[:, :, None])[:, :, 0]
                r = (x * Px).sum(1)
                e = self.y[j] - (x * a).sum(1)
                a = a + Px * (e / (1 + r))[:, None]
                beta = MU - (1 - MU) / np.maximum(r, 1e-12)
                Px_scaled = Px * (beta / (MU * (1 + r)))[:, None]
                P = P - Px_scaled[:, :, None] * Px[:, None, :] + added
