"""Friction fits: parameters come back within three standard deviations, laws compare, poor data is refused."""

import numpy as np
import pytest
from synthetic import UR5E

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.segments import JointRecord
from robot_dynamics_ros.identification.excitation.joint_motions import velocity_steps
from robot_dynamics_ros.identification.joint.fits import friction_fit
from robot_dynamics_ros.identification.joint.friction import FrictionData, dissipative_fit, fit_friction
from robot_dynamics_ros.identification.metrics import nrmse
from robot_dynamics_ros.models.friction import LAWS, FrictionModel

START = np.array([0.0, -1.2, 1.5, -1.9, -1.57, 0.4])
T0, SIGMA = 30.0, 0.1
TRUE = {
    "viscous_coulomb": {"fc": 5.0, "fv": 8.0, "fo": 0.3, "alpha": -0.008},
    "liu": {"fc1": 5.0, "fc2": 6.0, "fv1": 9.0, "fv2": -2.0, "fv3": 0.5},
    "luo": {"fv1": 9.0, "fv2": -2.0, "fv3": 0.5, "fc": 5.0, "fb": 0.2},
    "luo_load": {
        **{"fv1": 3.0, "fv2": -1.0, "fv3": 0.3, "fc": 2.0, "fc1": 0.2, "fs": 1.5, "fs1": 0.05},
        **{"ft": 0.05, "ft1": 0.8, "ft2": 0.02, "fb": 0.1},
    },
    "clochiatti": {"kv": 7.0, "tc_dir": 6.0, "tc_rev": 3.0},
    "simoni": {"c0": 5.0, "c1": 9.0, "c2": -2.0, "c3": 0.5, "c4": 2.0, "h": 15.0, "alpha": -0.01, "gamma": 0.006},
    "madsen": {
        **{"fc": 5.0, "fs": 7.0, "vs": 0.08, "mu": 1.2, "fv1": 12.0, "fv2": -3.0, "fv3": 0.6},
        **{"fl": 2e-3, "ft2": -0.2, "ft3": 4e3},
    },
}


def data(law, seed=0, N=2000, sigma=SIGMA, outliers=0.01):
    """Velocities of both signs down to a crawl, loads, temperatures, white noise and a few outliers."""
    rng = np.random.default_rng(seed)
    v = np.exp(rng.uniform(np.log(0.011), np.log(2.5), N)) * rng.choice([-1, 1], N)
    load, T = rng.uniform(-60, 60, N), rng.uniform(20, 55, N)
    f = FrictionModel(law, TRUE[law], 1, T0).torque(v[:, None], load[:, None], T[:, None])[:, 0]
    noise = rng.normal(0, sigma, N) + rng.normal(0, 20 * sigma, N) * (rng.random(N) < outliers)
    return FrictionData(v, f + noise, load, T, "elbow")


@pytest.mark.parametrize("law", LAWS)
def test_parameters_come_back_within_three_standard_deviations(law):
    fit = fit_friction(law, data(law), reference_temperature=T0)
    assert set(TRUE[law]) <= set(fit.std)
    for name, true in TRUE[law].items():
        assert abs(fit.parameters[name] - true) < 3 * fit.std[name] + 1e-9, name
    clean = data(law, seed=5, sigma=0.0)
    assert nrmse(clean.torque, fit.torque(clean)) > 98.0
    assert fit.rmse_moving < 4 * SIGMA
    assert fit_friction(law, clean, reference_temperature=T0).nrmse > 99.999


def test_a_term_that_would_create_energy_beyond_the_data_is_left_at_zero():
    """Viscous friction that falls off up to 1.5 rad/s: a cubic through it is negative at 3.1 rad/s."""
    rng = np.random.default_rng(0)
    v = rng.uniform(0.02, 1.5, 400) * rng.choice([-1, 1], 400)
    thin = FrictionData(v, np.sign(v) + 3.0 * v - 0.9 * v**3 + rng.normal(0, 0.05, 400), joint="wrist")
    assert fit_friction("luo", thin).model().least_dissipation(np.array([3.1]))[0] < 0
    fit = dissipative_fit("luo", thin, 3.1)
    assert fit.model().least_dissipation(np.array([3.1]))[0] >= 0 and fit.nrmse > 80
    assert fit.parameters["fv3"] == 0.0 and any("fv3" in note and "left at 0" in note for note in fit.notes)
    within = dissipative_fit("luo", thin, 1.5)
    assert within.parameters == fit_friction("luo", thin).parameters and within.parameters["fv3"] < 0


@pytest.mark.parametrize("law", ["simoni", "madsen", "luo_load"])
def test_below_the_slowest_sample_the_fit_does_not_run_away(law):
    """Stribeck terms that the data cannot resolve would reach hundreds of Nm between rest and the slowest sample."""
    d = data("luo", sigma=0.5)
    lag = np.where(np.abs(d.v) < 0.03, 0.3, 1.0)  # friction lags at reversals
    lagging = FrictionData(d.v, lag * d.torque, d.load, d.temperature)
    fit = fit_friction(law, lagging)
    v = np.geomspace(1e-3, 0.011, 200)
    crawl = FrictionData(np.concatenate([v, -v]), np.zeros(400), np.full(400, 10.0), np.full(400, 35.0))
    assert abs(fit.torque(crawl)).max() < 2 * abs(d.torque).max()


def test_without_a_span_of_load_the_load_term_stays_zero():
    fit = fit_friction("madsen", changed(data("luo"), load=np.full(2000, 20.0)))
    assert fit.parameters["fl"] == 0.0 and "fl" not in fit.std and fit.nrmse > 90


def test_outliers_have_little_effect():
    dirty = data("simoni", outliers=0.05)
    clean = data("simoni", outliers=0.0)
    a, b = (fit_friction("simoni", d, reference_temperature=T0).parameters["c0"] for d in (dirty, clean))
    plain = np.std(dirty.torque - clean.torque)
    assert abs(a - b) < 0.05 < plain


def test_rest_and_motion_are_judged_apart():
    moving = data("luo")
    rng = np.random.default_rng(9)
    v, torque = rng.normal(0, 1e-4, 500), rng.uniform(-5, 5, 500)
    still = FrictionData(np.append(moving.v, v), np.append(moving.torque, torque))
    fit, without = fit_friction("luo", still), fit_friction("luo", moving)
    assert fit.rmse > 1.0 > fit.rmse_moving
    assert fit.parameters["fc"] == pytest.approx(without.parameters["fc"], rel=1e-4)


def test_held_parameters_stay_and_are_not_fitted():
    fit = fit_friction("madsen", data("madsen"), reference_temperature=T0, fixed={"mu": 1.2, "fl": 2e-3})
    assert fit.parameters["mu"] == 1.2 and "mu" not in fit.std
    with pytest.raises(DataError, match="no parameter mux"):
        fit_friction("madsen", data("madsen"), fixed={"mux": 1.0})


def changed(d, **columns):
    return FrictionData(**({"v": d.v, "torque": d.torque, "load": d.load, "temperature": d.temperature} | columns))


@pytest.mark.parametrize(
    ("change", "reason", "advice", "options"),
    [
        (lambda d: changed(d, v=np.abs(d.v)), "one direction", "both directions", {}),
        (lambda d: changed(d.take(np.arange(40)), v=np.abs(d.v[:40]) + 0.1), "one direction", "both directions", {}),
        (lambda d: changed(d, v=np.sign(d.v) * 0.5), "constant velocity", "velocity-steps", {}),
        (lambda d: changed(d, v=d.v * 1e-4), "samples above", "record motion", {}),
        (lambda d: changed(d, load=None), "depends on load", "against gravity", {}),
        (lambda d: changed(d, load=np.full(len(d), 20.0)), "depends on load", "payload", {}),
        (lambda d: changed(d, temperature=None), "spans 0.0 K", "cold start", {"temperature": True}),
        (lambda d: changed(d, temperature=d.temperature * 0.02 + 30), "spans", "cold start", {"temperature": True}),
        (lambda d: changed(d, torque=d.torque * np.nan), "0 samples", "record motion", {}),
    ],
)
def test_data_that_cannot_support_the_fit_is_refused_with_advice(change, reason, advice, options):
    with pytest.raises(DataError, match=reason) as caught:
        fit_friction("luo_load", change(data("luo_load")), **options)
    assert advice in str(caught.value)


def test_without_a_temperature_span_the_temperature_terms_stay_zero():
    cool = changed(data("luo"), temperature=np.full(2000, 31.0))
    fit = fit_friction("simoni", cool)
    assert fit.parameters["alpha"] == 0.0 and fit.temperature_range is None
    assert fit.reference_temperature == 31.0


def test_columns_of_different_length_are_refused():
    with pytest.raises(DataError, match="differ in length"):
        FrictionData(np.zeros(3), np.zeros(4))


def test_fits_of_all_joints_go_into_the_robot_file():
    fits = [fit_friction("simoni", data("simoni", seed=i, N=800), reference_temperature=T0) for i in range(2)]
    parts = [fits[i % 2].written() for i in range(6)]
    law = {"model": "simoni", "reference_temperature": T0, "source": "estimate_test"}
    block = law | {"parameters": {k: [part[k] for part in parts] for k in parts[0]}}
    robot = UR5E.with_updates({"friction": block}, {"estimate_test": "numbers of this test"})
    model = FrictionModel.from_robot(robot)
    v = np.array([0.3, -0.3, 1.0, 0.02, 0.0, 2.0])
    one = fits[1].torque(FrictionData(v[1:2], np.zeros(1), temperature=np.array([40.0])))
    assert model.torque(v, None, np.full(6, 40.0))[1] == pytest.approx(one[0])


def sliding_record(sign=1.0, gravity=0.0):
    """Velocity steps with Coulomb 6 Nm, viscous 9 Nm s/rad, 0.2 Nm of noise, and an error of the masses [Nm]."""
    q, v, _ = (x[:, 1] for x in velocity_steps(UR5E, 1, START).motion)
    noise = 0.2 * np.random.default_rng(0).standard_normal(len(q))
    friction = sign * (6.0 * np.sign(v) + 9.0 * v) + gravity * np.cos(q) + noise
    stamps = np.arange(len(q), dtype=np.int64) * 2_000_000
    return JointRecord(UR5E.joint_names[1], stamps, q, v, friction, 30.0 * np.cos(q))


def test_wrong_masses_do_not_reach_friction_where_pairs_are_enough():
    """A stretch without a partner in the other direction holds all of their error."""
    fit = friction_fit(sliding_record(gravity=-15.0), UR5E, 1)
    assert any("left out" in note for note in fit.notes)
    v = fit.curve.x
    assert fit.numbers["rmse"] < 0.1 and np.abs(fit.curve.y - 6.0 * np.sign(v) - 9.0 * v).max() < 0.2


def test_friction_that_drives_the_joint_is_a_sign():
    with pytest.raises(DataError, match=r"friction drives the joint .* drives\.effort\.sign"):
        friction_fit(sliding_record(sign=-1.0), UR5E, 1)
