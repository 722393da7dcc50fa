"""Inverse dynamics and regressor against Pinocchio (C++ and Python), CasADi's generated C, and figaroh."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.validation.benchmarks.setup import Arm, Setup, figaroh
from robot_dynamics_ros.validation.benchmarks.timing import Case

SECTION = "rigid body"
CACHED = 2048  # samples whose states and torques stay in the second-level cache


def cases(setup: Setup) -> Iterator[Case]:
    """Cases of rigid-body dynamics."""
    arm = Arm("ur5e")
    if setup.cpp_peers:
        yield from _cpp(arm, {"avx512": 40, "avx2": 20, "sse2": 4})
        yield from _cpp_panda()
    yield from _python(arm, setup)


def _cpp(arm: Arm, floors: dict[str, float]) -> Iterator[Case]:
    from robot_dynamics_ros.validation.benchmarks.cpp_peers import CasadiC, PinocchioCpp

    pin, casadi, model = PinocchioCpp(arm), CasadiC(arm), arm.model
    general = _general(arm)
    x = arm.motion(CACHED)
    tau, theirs = np.empty_like(x[0]), np.empty_like(x[0])

    def case(name, ours, peer, peer_name, floors, count=CACHED):
        return Case(SECTION, name, ours, peer, peer_name, count, floors, budget=0.6)

    def peer():
        pin.rnea(*x, theirs)

    def generated():
        casadi.rnea(*x, theirs)

    def batch():
        model.rnea(*x, out=tau)

    def single():
        _core.repeat_rnea(model.chain, *x, tau)

    yield case(
        "RNEA, batched, any placements",
        lambda: general.rnea(*x, out=tau),
        peer,
        "pin::rnea",
        {"avx512": 20, "avx2": 12, "sse2": 4},
    )
    yield case(f"RNEA, batched, {arm.name} (right-angled)", batch, peer, "pin::rnea", floors)
    yield case("RNEA, batched", batch, generated, "CasADi C", {"avx512": 4, "avx2": 2, "sse2": 1})
    floors = {"avx512": 0.6, "avx2": 0.5}
    for name, body in (("RNEA, share of peak arithmetic, any placements", general), (f"the same, {arm.name}", model)):
        ours, peak = _share(body, x, tau)
        yield case(name, ours, peak, "multiply-adds", floors)
    yield case("RNEA, one sample per call", single, peer, "pin::rnea", {"avx512": 6, "avx2": 3.5, "sse2": 2})
    yield case("RNEA, one sample per call", single, generated, "CasADi C", {"avx512": 1.2})
    q, qd, qdd = (np.ascontiguousarray(a[:128]) for a in x)
    Y = np.empty((128, arm.n, 10 * arm.n))
    yield case(
        "regressor, into cache",
        lambda: model.regressor(q, qd, qdd, out=Y),
        lambda: pin.regressor(q, qd, qdd, None),
        "pin regressor C++",
        {"avx512": 14, "avx2": 8, "sse2": 3},
        128,
    )
    many = arm.motion(20000)
    W = np.zeros((20000 * arm.n, 10 * arm.n), order="F")
    yield case(
        "stacked W, reused",
        lambda: model.stacked_regressor(*many, out=W, keep_zeros=True),
        lambda: pin.regressor(*many, W),
        "pin regressor C++",
        {"avx512": 11, "avx2": 8},
        20000,
    )


def _share(body: Any, x: Any, tau: np.ndarray) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Batched RNEA, and as many operations as it counts in the best order the machine can have them."""
    operations = float(len(tau) * _core.rnea_operations(body.chain))
    return lambda: body.rnea(*x, out=tau), lambda: _core.multiply_add(operations)


def _cpp_panda() -> Iterator[Case]:
    from robot_dynamics_ros.validation.benchmarks.cpp_peers import PinocchioCpp

    arm = Arm("panda")
    pin, x = PinocchioCpp(arm), arm.motion(CACHED)
    tau, theirs = np.empty_like(x[0]), np.empty_like(x[0])
    yield Case(
        SECTION,
        "RNEA, batched, panda (right-angled)",
        lambda: arm.model.rnea(*x, out=tau),
        lambda: pin.rnea(*x, theirs),
        "pin::rnea",
        CACHED,
        {"avx512": 28},
        budget=0.6,
    )


def _general(arm: Arm) -> _core.RigidBody:
    """The arm with its placements turned a little, so that no right angle is left to exploit."""
    chain, angle = arm.model.chain, 0.1
    c, s = np.cos(angle), np.sin(angle)
    placements = chain.placements
    placements[:, :3, :3] = placements[:, :3, :3] @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    return _core.RigidBody(_core.Chain(placements, chain.inertia, chain.tool, np.array(chain.gravity)))


def _python(arm: Arm, setup: Setup) -> Iterator[Case]:
    import pinocchio as pin

    model, data = arm.pinocchio
    samples = 2000 if setup.quick else 20000
    x = arm.motion(samples)
    tau = np.empty_like(x[0])
    q0, qd0, qdd0 = (a[0] for a in x)

    def loop():
        for q, v, a in zip(*x, strict=True):
            pin.rnea(model, data, q, v, a)

    def regressor_loop():
        for q, v, a in zip(*x, strict=True):
            pin.computeJointTorqueRegressor(model, data, q, v, a)

    def case(name, ours, peer, peer_name, floors, count=samples):
        return Case(SECTION, name, ours, peer, peer_name, count, floors)

    yield case(
        f"Python, RNEA of {samples} samples in one call",
        lambda: arm.model.rnea(*x, out=tau),
        loop,
        "pin.rnea loop",
        {"avx512": 40, "avx2": 25, "sse2": 10},
    )
    yield case(
        "Python, RNEA of one sample",
        lambda: [arm.model.rnea(q0, qd0, qdd0, out=tau[0]) for _ in range(1000)],
        lambda: [pin.rnea(model, data, q0, qd0, qdd0) for _ in range(1000)],
        "pin.rnea",
        {},
        1000,
    )
    Y = np.empty((samples, arm.n, 10 * arm.n))
    floors = {"avx512": 12, "avx2": 10}
    yield case("Python, regressor, out=", lambda: arm.model.regressor(*x, out=Y), regressor_loop, "pin loop", floors)
    builder = figaroh(arm)
    if builder is not None:
        yield case(
            "Python, new stacked W",
            lambda: arm.model.stacked_regressor(*x),
            lambda: builder.build_basic_regressor(*x, {"act_idxv": []}),
            "figaroh",
            {"avx512": 20, "avx2": 18},
        )
