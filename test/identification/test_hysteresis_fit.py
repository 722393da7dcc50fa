"""Hysteresis identification: methods rank as in the source, parameters and tables come back, poor runs are refused."""

import numpy as np
import pytest
from slip_bench import recursion
from synthetic import UR5E

from bench.papers.hysteresis_methods import compare_hysteresis, evenly, nonlinear, spaced
from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.segments import JointRecord
from robot_dynamics_ros.identification.joint.fits import hysteresis_fit
from robot_dynamics_ros.identification.joint.hysteresis import (
    HysteresisData,
    fit_hysteresis,
    kinematic_error_and_backlash,
)
from robot_dynamics_ros.trajectories import motions

B, FC = 1.2e-3, 7.0
D_TRUE, K_TRUE = np.array([0.03, 0.15, 0.5, 1.0]), np.array([8.0, 1.6, 0.5, 0.27])
K_TRUE = K_TRUE / (K_TRUE @ D_TRUE)


def reciprocating(cycles=40, net=0.052, peak=0.009):
    """Slow strokes forward and somewhat less back, like the source's 240 reversals (fewer, thinner)."""
    phase = np.linspace(0, 1, 250, endpoint=False)
    up, down = peak * (1 - np.cos(np.pi * phase)) / 2, peak * (1 + np.cos(np.pi * phase)) / 2
    return np.concatenate([c * 0.1 * net + np.concatenate([up, down]) for c in range(cycles)])


def data(sigma=0.05, backlash=B, D=D_TRUE, k=K_TRUE):
    theta = reciprocating()
    torque = FC * recursion(theta, D, k, lambda _: B) + np.random.default_rng(0).normal(0, sigma, len(theta))
    return HysteresisData(theta, torque, backlash, "base")


def test_nonlinear_method_finds_the_elements():
    fit = fit_hysteresis(4, data(sigma=0.0), solve=nonlinear)
    assert fit.nrmse_validation > 98.5
    assert fit.fc0 == pytest.approx(FC, rel=0.01)
    assert fit.k @ fit.d == pytest.approx(1.0)


def test_linear_method_is_exact_when_the_spans_are_right():
    spans = (np.arange(1, 5) / 4) ** 4.0
    k = K_TRUE * (D_TRUE / spans)
    k /= k @ spans
    fit = fit_hysteresis(4, data(sigma=0.0, D=spans, k=k))
    np.testing.assert_allclose(fit.k, k, rtol=1e-3)
    assert fit.nrmse_validation > 99.9


def test_methods_rank_as_in_the_source():
    """[Madsen2020 ch4 Fig. 16]: static < LR linear < LR polynomial <= NLR for few elements; memory always helps."""
    table = compare_hysteresis(data(), [2, 4], slice(0, 10000), slice(10000, None))
    at = {m: {M: f.nrmse_validation for M, f in row.items()} for m, row in table.items()}
    assert at["static"][4] < at["lr_linear"][4] < at["lr_polynomial"][4] <= at["nlr"][4] + 0.1
    assert at["gms"][4] > at["static"][4]
    assert at["nlr"][2] <= at["nlr"][4] + 0.1


@pytest.mark.parametrize("M", [1, 10])
def test_every_element_count_works(M):
    for solve in (spaced, evenly, None):
        fit = fit_hysteresis(M, data(), solve=solve)
        assert len(fit.d) == len(fit.k) == M and fit.nrmse_validation > 40.0


def test_backlash_scale_is_found_when_it_is_not_given():
    spans = (np.arange(1, 5) / 4) ** 4.0
    k = (5 - np.arange(1, 5)) ** 2 / 30 / spans
    fit = fit_hysteresis(4, data(backlash=None, D=spans, k=k))
    assert fit.backlash[0, 0] == pytest.approx(B, rel=0.1)


def test_fit_makes_a_model_of_the_core():
    fit = fit_hysteresis(4, data())
    u = fit.updates()
    core = _core.Gms(np.array([u["d"]]), np.array([u["k"]]), np.array([[u["b"]]]), 1e9)
    theta = data().theta
    H, _ = core.run(np.arange(len(theta)) * 1_000_000, theta[:, None].copy())
    np.testing.assert_allclose(u["fc0"] * H[:, 0], fit.torque(theta), atol=1e-9)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: HysteresisData(np.linspace(0, 1, 1000), np.ones(1000)), "0 velocity reversals.*reciprocating"),
        (lambda: HysteresisData(np.zeros(10), np.zeros(9)), "differ"),
        (lambda: HysteresisData(np.full(10, np.nan), np.zeros(10)), "not finite"),
    ],
)
def test_runs_that_cannot_show_hysteresis_are_refused(make, reason):
    with pytest.raises(DataError, match=reason):
        fit_hysteresis(4, make())


def test_kinematic_error_and_backlash_come_back():
    error = lambda th: 3e-4 * np.sin(th) + 1e-4 * np.cos(3 * th)  # noqa: E731
    half = lambda th: 2e-4 * (1 + 0.3 * np.sin(2 * th))  # noqa: E731
    theta = np.concatenate([reciprocating(240, np.radians(30), np.radians(4.5)), [2 * np.pi]])
    sign = np.sign(np.diff(theta, prepend=-1e-9))
    phi = error(theta) + sign * half(theta) + np.random.default_rng(1).normal(0, 1e-6, len(theta))
    th, width = kinematic_error_and_backlash(theta, phi)
    grid = 2 * np.pi * np.arange(240) / 240
    np.testing.assert_allclose(th, error(grid), atol=1.5e-5)
    np.testing.assert_allclose(width, 2 * half(grid), atol=1.5e-5)


def test_half_a_turn_is_refused():
    theta = reciprocating(60, np.radians(15), np.radians(3))
    with pytest.raises(DataError, match="one slow output turn"):
        kinematic_error_and_backlash(theta, np.zeros_like(theta))


def test_a_maxwell_slip_of_other_spans_comes_back_from_two_steps_forward_and_one_back():
    """Elements of 2 to 30 mrad by their own recursion; forward lasts longer than back, so the mean is no offset."""
    level, spans = 8.0, np.array([0.002, 0.005, 0.012, 0.03])
    stiffness = np.array([0.4, 0.3, 0.2, 0.1]) * level / spans

    def slip(path):
        z, out = np.zeros(4), []
        for step in np.diff(path, prepend=0.0):
            z = np.clip(z + step, -spans, spans)
            out.append(stiffness @ z)
        return np.array(out)

    theta = motions.reversals(np.zeros(1), 0, 20, 0.05, rate=100.0)[0][:, 0]
    friction = slip(theta) + 3.0 + 0.2 * np.random.default_rng(0).standard_normal(len(theta))
    stamps, v = np.arange(len(theta)) * 10_000_000, np.gradient(theta, 0.01)
    record = JointRecord("x", stamps, theta, v, friction, np.zeros(len(theta)))
    fit = hysteresis_fit(record, UR5E, 0)
    assert fit.numbers["nrmse"] > 90 and fit.parameters["fc0"] == pytest.approx(level, rel=0.05)
