"""Offline stiffness: skew between encoders (real data too), force-gauge fits, damping, refusals."""

import numpy as np
import pytest
import scipy.io
from public_data import DATA
from synthetic import UR5E

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.segments import JointRecord
from robot_dynamics_ros.identification.joint.fits import stiffness_fit
from robot_dynamics_ros.identification.joint.stiffness import estimate_skew, fit_stiffness, remove_skew

KR300 = DATA / "kr300"
AXES = range(3)  # the other axes of these logs stand still


def kr300(file):
    if not KR300.is_dir():
        pytest.skip(f"real data is not here: {KR300}")
    record = scipy.io.loadmat(KR300 / file, squeeze_me=True, struct_as_record=False)["rec"]
    theta, q = np.radians(record.act_pos_mot_deg).T, np.radians(record.act_pos_se_deg).T
    return np.arange(len(q)) / 250.0, theta, q, record.act_torque_abs_nm.T


@pytest.fixture(scope="module", params=["ff_A.mat", "ff_B.mat"])
def real(request):
    return kr300(request.param)


def skews(t, theta, q, torque=None):
    return [estimate_skew(t, theta[:, i], q[:, i], None if torque is None else torque[:, i]) for i in AXES]


@pytest.mark.parametrize("signals", [3, 4])
def test_real_encoders_are_three_milliseconds_apart_by_velocity_alone_and_with_torque(real, signals):
    assert skews(*real[:signals]) == pytest.approx([3.0e-3] * 3, abs=0.2e-3)


def test_removing_the_skew_shrinks_the_deflection_of_real_data(real):
    t, theta, q, torque = real
    skew = np.median(skews(t, theta, q, torque))
    for i in AXES:
        before, after = np.std(theta[:, i] - q[:, i]), np.std((remove_skew(t, theta, skew) - q)[50:-50, i])
        assert after < 0.3 * before


def test_one_load_in_both_directions_is_refused_in_one_line():
    """Stiffness and its cubic term are one number then: the matrix was singular."""
    phi = 1e-3 * np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    with pytest.raises(DataError, match="one size of deflection, 0.001 rad: apply several loads"):
        fit_stiffness(phi, 1e4 * phi)
    assert fit_stiffness(np.append(phi, [-5e-4, 5e-4]), 1e4 * np.append(phi, [-5e-4, 5e-4])).a[0] == pytest.approx(1e4)


def test_naive_stiffness_of_real_data_is_refused(real):
    """Without skew removal the fitted stiffness is negative or meaningless on the axis without gravity."""
    t, theta, q, torque = real
    phi = theta[:, 0] - q[:, 0]
    with pytest.raises(DataError, match="no real deflection|one-sided"):
        fit_stiffness(phi - phi.mean(), torque[:, 0] - torque[:, 0].mean())


def test_skew_and_deflection_are_distinguished():
    rng = np.random.default_rng(0)
    t = np.arange(5000) * 1e-3
    q = 0.5 * np.sin(1.3 * t) + 0.2 * np.sin(3.1 * t)
    torque = 60 * np.cos(1.1 * q) + 8 * np.gradient(np.gradient(q, t), t)
    skewed = np.interp(t + 2e-3, t, q + torque / 3e4) + rng.normal(0, 2e-6, t.size)
    skew = estimate_skew(t[:-5], skewed[:-5], q[:-5], torque[:-5])
    assert skew == pytest.approx(2e-3, abs=2e-5)
    assert abs(skew - 2e-3) < abs(estimate_skew(t[:-5], skewed[:-5], q[:-5]) - 2e-3)
    still = np.zeros_like(t)
    with pytest.raises(DataError, match="several speeds"):
        estimate_skew(t, still, still)


def gauge():
    """Loads in both directions by a force gauge and by current, as in [Madsen2020 ch4 4.1]."""
    rng = np.random.default_rng(0)
    phi = np.tile(np.linspace(-1.5e-3, 1.5e-3, 25), 2)
    return phi, 2e4 * phi + 4e9 * phi**3 + rng.normal(0, 0.5, phi.size)


def test_stiffness_within_three_standard_deviations():
    fit = fit_stiffness(*gauge())
    assert (abs(fit.a - [2e4, 4e9]) < 3 * fit.std).all()
    assert fit.nrmse > 96.9  # what the source reaches with two coefficients
    phi = np.array([-1e-3, 0.0, 1e-3])
    np.testing.assert_allclose(fit.stiffness(phi), fit.a[0] + 3 * fit.a[1] * phi**2)
    slope = (fit.torque(phi + 1e-8) - fit.torque(phi - 1e-8)) / 2e-8
    np.testing.assert_allclose(slope, fit.stiffness(phi), rtol=1e-6)


@pytest.mark.parametrize(
    ("phi", "torque", "reason"),
    [
        (np.abs(gauge()[0]), np.abs(gauge()[1]), "both directions"),
        (gauge()[0], -gauge()[1], "no real deflection"),
        (np.random.default_rng(1).normal(0, 1e-6, 50), np.random.default_rng(2).normal(0, 5, 50), "no real deflection"),
        (np.zeros(50), np.ones(50), "both directions"),
        (np.array([np.nan, 1e-3, -1e-3]), np.ones(3), "2 samples"),
    ],
)
def test_data_without_deflection_is_refused(phi, torque, reason):
    with pytest.raises(DataError, match=reason):
        fit_stiffness(phi, torque)


def test_columns_of_two_lengths_are_refused_and_lists_are_columns():
    phi, torque = [-1e-3, -5e-4, -1e-4, 1e-4, 5e-4, 1e-3], [-20.0, -10.0, -2.0, 2.0, 10.0, 20.0]
    assert fit_stiffness(phi, torque).a[0] == pytest.approx(20e3)
    with pytest.raises(DataError, match=r"phi \(6,\) and torque \(5,\) must have one shape"):
        fit_stiffness(phi, torque[:-1])


def rotor_record(k, cubic=0.0, offset=0.0, ratio=1.0):
    """A shoulder that swings through the vertical: 38 Nm to one side, 12 to the other; 0.2 Nm of noise."""
    t, rng = np.arange(0, 30, 2e-3), np.random.default_rng(0)
    q = 0.9 * np.sin(0.7 * t) + 0.3 * np.sin(1.9 * t)
    load = 13.0 + 27.0 * np.sin(q)
    phi = load / k
    for _ in range(30):
        phi -= (k * phi + cubic * phi**3 - load) / (k + 3 * cubic * phi**2)
    v, nothing = np.gradient(q, t), np.zeros(len(t))
    noisy = load + 0.2 * rng.standard_normal(len(t))
    stamps = (t * 1e9).astype(np.int64)
    return JointRecord(UR5E.joint_names[1], stamps, q, v, nothing, noisy, theta=ratio * (q + phi) + offset)


STILL_ROTOR = UR5E.with_updates({"drives.rotor_inertia": 1e-9})


@pytest.mark.parametrize("offset", [0.0, 0.3])
@pytest.mark.parametrize("cubic", [0.0, 5e9])
def test_stiffness_of_a_joint_that_carries_weight(offset, cubic):
    """Its mean load is not zero, nor is its mean deflection."""
    fit = stiffness_fit(rotor_record(2e4, cubic, offset), STILL_ROTOR, 1)
    assert fit.numbers["stiffness"] == pytest.approx(2e4, rel=0.03) and fit.numbers["nrmse"] > 95


def test_stiffness_goes_on_where_some_rotor_angles_are_missing():
    record = rotor_record(2e4)
    record.theta[::17] = np.nan
    assert stiffness_fit(record, STILL_ROTOR, 1).numbers["stiffness"] == pytest.approx(2e4, rel=0.03)
    record.theta[:] = np.nan
    with pytest.raises(DataError, match="no rotor angle .* force-gauge"):
        stiffness_fit(record, STILL_ROTOR, 1)


@pytest.mark.parametrize("ratio", [-1.0, 2.0, 101.0])
def test_a_rotor_angle_that_is_not_reflected_or_reversed_is_named(ratio):
    with pytest.raises(DataError, match=rf"changes by {ratio:.3g}\S* rad per rad .* gear ratio"):
        stiffness_fit(rotor_record(1e6, ratio=ratio), STILL_ROTOR, 1)
