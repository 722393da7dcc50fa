"""Equal-delay state estimation and the adaptive friction law [Madsen2020 ch6]."""

import math

import numpy as np
import pytest
from scipy.signal import savgol_coeffs

from robot_dynamics_ros._core import AdaptiveFriction, AdaptiveParameters, SavitzkyGolay, Status, savitzky_golay_weights

DT = 1e-3


@pytest.mark.parametrize(("window", "order"), [(5, 2), (11, 3), (101, 2), (101, 4)])
def test_weights_are_those_of_scipy(window, order):
    np.testing.assert_allclose(savitzky_golay_weights(window, order), savgol_coeffs(window, order), atol=1e-12)


@pytest.mark.parametrize("arguments", [(4, 2), (1, 0), (5, 5), (5, -1)])
def test_weights_name_the_wrong_argument(arguments):
    with pytest.raises(ValueError, match="window|order"):
        savitzky_golay_weights(*arguments)


def test_a_quadratic_and_its_derivatives_come_out_exactly_51_samples_late():
    estimate = SavitzkyGolay(2, 101, 2)
    assert estimate.delay == 51
    t = DT * np.arange(300)
    x = np.column_stack([0.3 + 2 * t - 5 * t**2, 7 * t])
    ready = [estimate.push(row) for row in x]
    assert ready.index(True) == 102
    late = 299 - 51
    np.testing.assert_allclose(estimate.value(), x[late], atol=1e-12)
    np.testing.assert_allclose(estimate.first(DT), [2 - 10 * t[late], 7], atol=1e-9)
    np.testing.assert_allclose(estimate.second(DT), [-10, 0], atol=1e-6)


def law(n=1, **changes):
    gains = {"gamma_coulomb": np.full(n, 0.05), "gamma_viscous": np.full(n, 0.02)}
    return AdaptiveFriction(AdaptiveParameters(**{**gains, **changes}))


def excitation(seconds, seed=1):
    """Y1 = F H and omega of a joint that reverses, as after the hysteresis model."""
    t = np.arange(0, seconds, DT)
    omega = 0.8 * np.sin(2 * math.pi * 0.5 * t) + 0.3 * np.sin(2 * math.pi * 0.17 * t + seed)
    return 8.0 * np.tanh(omega / 0.05), omega


def drive(a, seconds, truth=(0.7, 0.03), noise=0.0, frozen=False, **changes):
    rng = np.random.default_rng(4)
    statuses = []
    for y1, w in zip(*excitation(seconds), strict=True):
        f = truth[0] * y1 + truth[1] * w + noise * rng.standard_normal()
        statuses.append(a.step(changes.get("dt", DT), np.array([y1]), np.array([w]), np.array([f]), frozen))
    return statuses


def test_it_converges_to_the_true_friction_and_its_error_never_grows():
    a = law()
    errors = []
    for y1, w in zip(*excitation(50), strict=True):
        truth = 0.7 * y1 + 0.03 * w
        a.step(DT, np.array([y1]), np.array([w]), np.array([truth]))
        errors.append((a.coulomb[0] - 0.7) ** 2 / 0.05 + (a.viscous[0] - 0.03) ** 2 / 0.02)
    assert a.coulomb[0] == pytest.approx(0.7, abs=0.01)
    assert (np.diff(errors) <= 1e-9).all()  # Lyapunov function of the implicit gradient step


@pytest.mark.parametrize("dt", [1e-5, 1e-3, 0.05])
def test_the_implicit_step_is_stable_for_any_dt_and_gain(dt):
    a = law(gamma_coulomb=np.array([1e6]), gamma_viscous=np.array([1e6]))
    for y1, w in zip(*excitation(2), strict=True):
        f = np.array([0.7 * y1])
        a.step(dt, np.array([y1]), np.array([w]), f)
        assert abs(f[0] - a.friction(np.array([y1]), np.array([w]))[0]) <= abs(0.9 * y1) + 0.06 * abs(w) + 1e-6


def test_projection_keeps_the_parameters_in_bounds_and_says_so():
    a = law()
    assert Status.saturated in drive(a, 60, truth=(3.0, 0.5))
    assert a.coulomb[0] <= 1.5 and a.viscous[0] <= 0.05


def test_nothing_moves_at_rest_frozen_with_bad_samples_or_over_a_gap():
    a = law()
    drive(a, 5, truth=(1.2, 0.0))
    before = (a.coulomb[0], a.viscous[0])
    one = np.ones(1)
    for _ in range(100):
        a.step(DT, one, 0.001 * one, 9 * one)  # still moving for 0.05 s [ch6 28]
    settled = (a.coulomb[0], a.viscous[0])
    for _ in range(3600):
        assert a.step(DT, one, 0.001 * one, 9 * one) == Status.ok
    assert (a.coulomb[0], a.viscous[0]) == settled
    assert a.step(DT, one, one, 9 * one, frozen=True) == Status.degraded
    assert a.step(DT, one, one, math.nan * one) == Status.dropped
    assert a.step(0.0, one, one, 9 * one) == Status.dropped
    assert a.step(1.0, one, one, 9 * one) == Status.degraded
    assert (a.coulomb[0], a.viscous[0]) == settled
    assert before != (1.0, 0.0)


def test_restore_discards_what_was_learned_in_contact():
    a = law()
    drive(a, 40, truth=(0.7, 0.0))
    good = a.coulomb[0]
    for _ in range(100):  # 0.1 s of contact before it is detected
        a.step(DT, np.array([8.0]), np.array([0.5]), np.array([8 * 0.7 + 30.0]))
    assert abs(a.coulomb[0] - good) > 0.02
    a.restore()
    assert a.coulomb[0] == pytest.approx(good, abs=5e-3)


def test_persisted_values_are_projected_or_refused():
    a = law(2)
    assert a.set(np.array([0.8, 9.0]), np.array([0.01, -1.0]))
    assert list(a.coulomb) == [0.8, 1.5] and list(a.viscous) == [0.01, -0.05]
    assert not a.set(np.array([math.nan, 1.0]), np.zeros(2))
    assert list(a.coulomb) == [0.8, 1.5]


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
@pytest.mark.parametrize("field", ["gamma_coulomb", "gamma_viscous"])
def test_parameters_name_the_argument(field, bad):
    with pytest.raises(ValueError, match=field):
        law(**{field: np.array([bad])})
