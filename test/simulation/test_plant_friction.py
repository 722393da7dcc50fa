"""Friction of the simulated plant on one vertical joint, against the closed forms of its parts."""

import numpy as np
import pytest
from scipy.integrate import trapezoid
from vertical_joint import FC, FS, PRESLIDING, SHARE, SPAN, VS, C, follow, joint


def virgin(x):
    """Maxwell-slip curve from rest: sum of nu_i Fs min(|x|/span_i, 1)."""
    return np.sign(x) * FS * (SHARE * np.minimum(np.abs(x)[:, None] / (SPAN * PRESLIDING), 1.0)).sum(1)


def test_virgin_curve_is_the_sum_of_its_elements():
    slow = np.linspace(0, 8e-4, 8000)  # 16 s: viscosity and the Stribeck slope stay below 0.1 %
    friction, theta, *_ = follow(joint(), slow)
    assert friction[200:] == pytest.approx(virgin(theta[200:]), rel=0.02, abs=0.02)


def test_presliding_loop_closes_and_doubles_the_virgin_curve():
    """Masing: from a reversal at (x0, F0) the branch is F0 - 2 virgin((x0 - x)/2)."""
    x0 = 3e-4
    up, down = np.linspace(0, x0, 4000), np.linspace(x0, -x0, 8000)
    friction, theta, *_ = follow(joint(), np.concatenate([up, down, down[::-1]]))
    at = slice(4100, 11950)
    expected = friction[4000] - 2 * virgin((theta[4000] - theta[at]) / 2)
    assert friction[at] == pytest.approx(expected, abs=0.15)
    assert friction[-1] == pytest.approx(friction[3999], rel=0.03)
    area = trapezoid(friction[12000:], theta[12000:]) + trapezoid(friction[4000:12000], theta[4000:12000])
    assert area > 1e-4


def test_frictional_lag_is_the_exact_exponential():
    """After a step of speed the Maxwell torque decays to its new strength with rate C/s."""
    plant = joint(**{"friction.viscous": 0.0})
    slow, fast, rate = 0.02, 0.4, 8000.0
    q = np.concatenate([np.arange(1, 1600) * slow / rate, slow * 0.2 + np.arange(1, 800) * fast / rate])
    friction, _, omega, *_ = follow(plant, q, rate)
    strength = lambda v: FC + (FS - FC) * np.exp(-((v / VS) ** 2))  # noqa: E731
    begin = 1680  # 10 ms after the step: the drive has settled
    t = np.arange(400) / rate
    lag = strength(fast) + (friction[begin] - strength(fast)) * np.exp(-C / strength(fast) * t)
    assert friction[begin] - strength(fast) > 0.5
    assert omega[begin : begin + 400] == pytest.approx(fast, rel=0.03)
    assert friction[begin : begin + 400] == pytest.approx(lag, abs=0.03)


def test_backlash_widens_the_presliding_curve_where_it_is_wide():
    slopes = []
    for phase in (0.0, np.pi):  # widest, narrowest at q = 0
        backlash = {"backlash": 1e-9, "backlash_variation": 0.4, "backlash_phase": phase}
        plant = joint(**{f"transmission.{name}": value for name, value in backlash.items()})
        friction, theta, *_ = follow(plant, np.linspace(0, 2e-4, 4000))
        slopes.append(friction[3000] / theta[3000])
    assert slopes[0] < 0.85 * slopes[1]


def test_backlash_and_bearing_friction_make_the_deformation_hysteretic():
    """Slow run to and fro without load: phi+ - phi- follows the local backlash [Madsen2020 ch4 30, 32]."""
    half = 5e-4
    gear = {"stiffness": 2.5e4, "damping": 10.0, "backlash": half, "soft_windup": 0.05, "bearing_friction": 1.0}
    gains = {"control.stiffness_gain": 8000.0, "control.damping_gain": 250.0}
    plant = joint(**{f"transmission.{name}": value for name, value in gear.items()}, **gains)
    x = 0.02 * np.concatenate([np.linspace(0, 1, 3000), np.linspace(1, 0, 3000)])
    *_, phi = follow(plant, x)
    width = phi[2000] - phi[5000]
    assert half < width < 2 * half
