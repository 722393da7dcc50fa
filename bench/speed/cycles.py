"""The whole estimator cycle in C++ against one pin::rnea, and the simulated robot against real time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import bench.speed.native as native
from bench.speed.setup import Arm, Setup
from bench.speed.timing import Case, Floors
from robot_dynamics_ros.models.hysteresis import maxwell_slip
from robot_dynamics_ros.simulation.plant.build import FAST
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions

N, STEP_NS = 2000, 2_000_000
START = np.array([0.0, -1.5, 1.5, -1.5, -1.5, 0.0])
MIDDLE = np.array([0.0, -1.2, 1.5, -1.9, -1.57, 0.4])  # rad, of the simulated robot's motion
ESTIMATORS: Floors = {"avx512": 1 / 0.8, "avx2": 1 / 1.2, "sse2": 1 / 2}
WITH_COVARIANCE: Floors = dict.fromkeys(("avx512", "avx2"), 1.0)
PLANT: Floors = {"avx512": 20.0, "avx2": 20.0, "sse2": 20.0}


def cases(setup: Setup) -> Iterator[Case]:
    """One cycle of all estimators; the plant."""
    if setup.cpp_peers:
        from bench.speed.cpp_peers import PinocchioCpp

        arm = Arm("ur5e")
        pin, x, tau = PinocchioCpp(arm), arm.motion(N), np.empty((N, arm.n))

        def case(name: str, ours: Callable[[], object], floors: Floors | None = None) -> Case:
            return Case(name, ours, lambda: pin.rnea(*x, tau), "pin::rnea", N, floors or {}, budget=0.8)

        yield case("estimator cycle: 18 signals to wrench", estimators(arm), ESTIMATORS)
        yield case("the same with prior and covariance", estimators(arm, covariance=True), WITH_COVARIANCE)
    for name, overrides in (("8 kHz", None), ("fast", FAST)):
        yield Case(f"simulated ur5e, {name}, 1 s", plant(overrides), floors=PLANT, constant=1e9)


def estimators(arm: Arm, covariance: bool = False) -> Callable[[], np.ndarray]:
    """Savitzky-Golay of 18 signals, inverse dynamics, hysteresis, stiffness learning, Jacobian, wrench."""
    t = STEP_NS * 1e-9 * np.arange(N)[:, None]
    q = START + 0.3 * np.sin(t * np.linspace(0.7, 2.0, arm.n))
    tau = arm.model.gravity(q)
    theta = q + tau / 2e4
    cycle = native.EstimatorCycle(arm.model.chain, maxwell_slip(arm.n, 4), 51, covariance)
    F = np.empty((N, 6))
    return lambda: cycle.run(STEP_NS, q, tau, theta, F)


def plant(overrides: dict[str, Any] | None) -> Callable[[], object]:
    """One second of robot time of the simulated robot, in motion."""
    machine = SimulatedRobot("ur5e", overrides=overrides)
    motion = motions.fourier(MIDDLE, 1.0, machine.rate, base=6.283, amplitude=0.3)

    def run() -> object:
        machine.reset(motion[0][0])
        return machine.run(*motion)

    return run
