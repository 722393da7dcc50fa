"""One cycle of the torque loop of six joints (friction, computed torque, guard) against one pin::rnea call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bench.speed.setup import Arm, Setup
from bench.speed.timing import Case
from robot_dynamics_ros import _core
from robot_dynamics_ros._core import EnableResult, TorqueMode
from robot_dynamics_ros.control.torque import torque_loop
from robot_dynamics_ros.drivers.guard import guard_limits
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.robot_file import load_robot

CYCLES = 2000
FLOORS = {"avx512": 1.25, "avx2": 1.0, "sse2": 1.0}  # 0.8 of a call, and one call


def cases(setup: Setup) -> Iterator[Case]:
    """Cases of the torque loop."""
    peer, name = None, ""
    if setup.cpp_peers:
        from bench.speed.cpp_peers import PinocchioCpp

        arm = Arm("ur5e")
        pin, x = PinocchioCpp(arm), arm.motion(CYCLES)
        tau = np.empty_like(x[0])
        peer, name = lambda: pin.rnea(*x, tau), "pin::rnea"
    yield Case("torque loop: state to torque", _tracking(), peer, name, CYCLES, FLOORS if peer else {})


def _tracking() -> Callable[[], Any]:
    """CYCLES states of a tracked motion through an enabled loop, with the clock going on from call to call."""
    robot = load_robot("ur5e")
    loop = torque_loop(robot, guard_limits(robot))
    t = np.arange(CYCLES)[:, None] * 2 * np.pi / CYCLES
    q = np.array([0.0, -1.2, 1.5, -1.9, -1.57, 0.4]) + 0.2 * (1 - np.cos(t))
    w = 2 * np.pi / (CYCLES * 0.002)
    qd, qdd = 0.2 * w * np.sin(t) * np.ones(6), 0.2 * w * w * np.cos(t) * np.ones(6)
    stamps = np.arange(CYCLES, dtype=np.int64) * 2_000_000 + 1_000_000_000
    tau = np.zeros_like(q)
    loop.run(stamps[:1], q[:1], qd[:1], tau[:1])
    loop.enable(TorqueMode.track, _core.TorqueTrajectory(q, qd, qdd, 500.0, True))

    def cycles() -> None:
        stamps.__iadd__(CYCLES * 2_000_000)
        loop.run(stamps, q, qd, tau)

    stamps -= (CYCLES - 1) * 2_000_000
    cycles()
    if loop.enabled != EnableResult.done:
        raise CapabilityError(f"benchmark: the torque loop was not enabled ({loop.enabled.name})")
    return cycles
