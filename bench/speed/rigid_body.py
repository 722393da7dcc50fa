"""Inverse dynamics and regressor against Pinocchio (C++ and Python), CasADi's generated C, and figaroh."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import bench.speed.native as native
from bench.speed.setup import Arm, Setup, figaroh
from bench.speed.timing import Case, Floors
from robot_dynamics_ros import _core

CACHED = 2048  # samples whose states and torques stay in the second-level cache
RNEA_BATCHED: Floors = {"avx512": 20, "avx2": 12, "sse2": 4}


def cases(setup: Setup) -> Iterator[Case]:
    """Cases of rigid-body dynamics."""
    arm = Arm("ur5e")
    if setup.cpp_peers:
        from bench.speed.cpp_peers import PinocchioCpp

        yield from _cpp(arm)
        panda = Arm("panda")
        yield _batched(panda, panda.model, PinocchioCpp(panda), "panda (right-angled)")
    yield from _python(arm, setup)


def _cpp(arm: Arm) -> Iterator[Case]:
    from bench.speed.cpp_peers import CasadiC, PinocchioCpp

    pin, casadi, model = PinocchioCpp(arm), CasadiC(arm), arm.model
    x = arm.motion(CACHED)
    tau, theirs = np.empty_like(x[0]), np.empty_like(x[0])

    case = partial(Case, count=CACHED, budget=0.6)
    peer, generated = partial(pin.rnea, *x, theirs), partial(casadi.rnea, *x, theirs)

    for name, body in (("any placements", _general(arm)), (f"{arm.name} (right-angled)", model)):
        yield _batched(arm, body, pin, name)
    floors: Floors = {"avx512": 4, "avx2": 2, "sse2": 1}
    yield case("RNEA, batched", lambda: model.rnea(*x, out=tau), generated, "CasADi C", floors=floors)
    single, floors = partial(native.repeat_rnea, model.chain, *x, tau), {"avx512": 6, "avx2": 3.5, "sse2": 2}
    yield case("RNEA, one sample per call", single, peer, "pin::rnea", floors=floors)
    yield case("RNEA, one sample per call", single, generated, "CasADi C", floors={"avx512": 1.2})
    yield from _regressors(arm, pin, case)


def _batched(arm: Arm, body: _core.RigidBody, pin: Any, name: str) -> Case:
    """Inverse dynamics of states in the cache by a model of the arm."""
    x = arm.motion(CACHED)
    tau, theirs = np.empty_like(x[0]), np.empty_like(x[0])
    ours, peer = partial(body.rnea, *x, out=tau), partial(pin.rnea, *x, theirs)
    limit = multiply_adds(CACHED * native.rnea_operations(body.chain))
    text, floors = f"RNEA, batched, {name}", RNEA_BATCHED
    return Case(text, ours, peer, "pin::rnea", CACHED, floors, 0.6, machine=limit, least_share=0.7)


def _regressors(arm: Arm, pin: Any, case: Callable[..., Case]) -> Iterator[Case]:
    model = arm.model
    q, qd, qdd = arm.motion(128)
    Y = np.empty((128, arm.n, 10 * arm.n))
    yield case(
        "regressor, into cache",
        lambda: model.regressor(q, qd, qdd, out=Y),
        lambda: pin.regressor(q, qd, qdd, None),
        "pin regressor C++",
        floors={"avx512": 14, "avx2": 8, "sse2": 3},
        count=128,
        machine=lambda: Y.fill(0.0),
    )
    many = arm.motion(20000)
    W = np.zeros((20000 * arm.n, 10 * arm.n), order="F")
    written = np.zeros(20000 * 10 * sum(range(1, arm.n + 1)))  # what is not zero by structure
    yield case(
        "stacked W, reused",
        lambda: model.stacked_regressor(*many, out=W, keep_zeros=True),
        lambda: pin.regressor(*many, W),
        "pin regressor C++",
        floors={"avx512": 11, "avx2": 8},
        count=20000,
        machine=lambda: written.fill(0.0),
        least_share=0.5,
    )


def multiply_adds(operations: float) -> Callable[[], Any]:
    """As many additions and multiplications in the best order the machine can have them."""
    return lambda: native.multiply_add(float(operations))


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

    def loop() -> None:
        for q, v, a in zip(*x, strict=True):
            pin.rnea(model, data, q, v, a)

    def regressor_loop() -> None:
        for q, v, a in zip(*x, strict=True):
            pin.computeJointTorqueRegressor(model, data, q, v, a)

    case = partial(Case, count=samples)
    yield case(
        f"Python, RNEA of {samples} samples in one call", lambda: arm.model.rnea(*x, out=tau), loop, "pin.rnea loop"
    )
    yield case(
        "Python, RNEA of one sample",
        lambda: [arm.model.rnea(q0, qd0, qdd0, out=tau[0]) for _ in range(1000)],
        lambda: [pin.rnea(model, data, q0, qd0, qdd0) for _ in range(1000)],
        "pin.rnea",
        count=1000,
    )
    Y = np.empty((samples, arm.n, 10 * arm.n))
    yield case("Python, regressor, out=", lambda: arm.model.regressor(*x, out=Y), regressor_loop, "pin loop")
    builder = figaroh(arm)
    if builder is not None:
        yield case(
            "Python, new stacked W",
            lambda: arm.model.stacked_regressor(*x),
            lambda: builder.build_basic_regressor(*x, {"act_idxv": []}),
            "figaroh",
        )
