"""Static friction maps against a second derivation in numpy, straight from the papers, and their properties."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.models.friction import LAWS, FrictionModel

T0 = 25.0
PARAMETERS = {
    "viscous_coulomb": {"fc": 5.0, "fv": 8.0, "fo": 0.3, "eps": 0.02},
    "liu": {"fc1": 5.0, "fc2": 6.0, "fv1": 9.0, "fv2": -2.0, "fv3": 0.5, "eps": 0.01},
    "luo": {"fv1": 9.0, "fv2": -2.0, "fv3": 0.5, "fc": 5.0, "fb": 0.2, "eps": 0.0},
    "luo_load": {
        **{"fv1": 3.0, "fv2": -1.0, "fv3": 0.3, "fc": 2.0, "fc1": 0.04, "fs": 1.5, "fs1": 0.03},
        **{"ft": 0.05, "ft1": 0.4, "ft2": 0.02, "velocity_floor": 0.01, "fb": 0.1, "eps": 0.0},
    },
    "clochiatti": {"kv": 7.0, "tc_dir": 6.0, "tc_rev": 3.0, "band": 0.5, "eps": 1e-3},
    "simoni": {
        **{"c0": 5.0, "c1": 9.0, "c2": -2.0, "c3": 0.5, "c4": 2.0, "h": 20.0, "v_th": 0.005},
        **{"alpha": -0.01, "beta": 0.98, "gamma": 0.006, "delta": 1.02},
    },
    "madsen": {
        **{"fc": 5.0, "fs": 7.0, "vs": 0.08, "mu": 0.9, "fv1": 12.0, "fv2": -3.0, "fv3": 0.6},
        **{"fl": 2e-3, "ft2": -0.2, "ft3": 4e3, "eps": 0.0},
    },
}


def by_the_paper(law, p, v, tau, T):
    """One sample of each law as the source prints it (scalars, plain numpy).

    [Liu2020 2-4] [Luo2024 6-8, 11, 17, 18] [Clochiatti2024 11-18] [Simoni2017 1-6, 11] [Madsen2020 ch4 25, 27, 28]
    """
    s, a = np.sign(v), abs(v)
    if law == "viscous_coulomb":
        return p["fo"] + p["fv"] * v + p["fc"] * np.clip(v / p["eps"], -1, 1)
    if law == "liu":
        fc = p["fc1"] if v > 0 else p["fc2"]
        x = np.clip(v, -p["eps"], p["eps"]) / p["eps"]
        a = max(a, p["eps"])
        return (fc + p["fv1"] * a + p["fv2"] * a**2 + p["fv3"] * a**3) * x
    if law == "luo":
        return p["fv1"] * v + p["fv2"] * a * v + p["fv3"] * v**3 + p["fc"] * s + p["fb"]
    if law == "luo_load":
        f = p["fv1"] * v + p["fv2"] * s * v**2 + p["fv3"] * v**3
        f += p["fc"] * s * (1 - np.exp(-((v / p["fc1"]) ** 2))) + p["fs"] * s * np.exp(-((v / p["fs1"]) ** 2))
        load = p["ft"] * abs(tau) + p["ft1"] * np.exp(-p["ft2"] * abs(tau) / max(a, p["velocity_floor"]))
        return f + load * s + p["fb"]
    if law == "clochiatti":
        tc = np.interp(v * tau, [-p["band"], p["band"]], [p["tc_rev"], p["tc_dir"]])
        return p["kv"] * v + np.tanh(v / p["eps"]) * tc
    if law == "simoni":
        x = np.clip(v / p["v_th"], -1, 1)
        a = max(a, p["v_th"])
        pol = p["c0"] + p["c1"] * a + p["c2"] * a**2 + p["c3"] * a**3
        factor = p["alpha"] * (T - T0) + p["beta"], p["gamma"] * (T - T0) + p["delta"]
        return x * (pol * factor[0] + p["c4"] * np.exp(-p["h"] * a) * factor[1])
    f = s * (p["fc"] + (p["fs"] - p["fc"]) * np.exp(-((a / p["vs"]) ** p["mu"])))
    f += p["fv1"] * v + p["fv2"] * a * v + p["fv3"] * v**3 + p["fl"] * s * tau**2
    ft1 = -(p["ft2"] * T0 + p["ft3"] * T0**-3)  # re-centred: zero at T0
    return f + s * np.sqrt(a) * (ft1 + p["ft2"] * T + p["ft3"] * T**-3)


def model(law, n=1, **changes):
    return FrictionModel(law, PARAMETERS[law] | changes, n, T0)


@pytest.fixture
def samples():
    rng = np.random.default_rng(1)
    v = np.concatenate([rng.uniform(-2, 2, 300), rng.normal(0, 0.02, 300)])
    return v, rng.uniform(-60, 60, 600), rng.uniform(10, 60, 600)


@pytest.mark.parametrize("law", LAWS)
def test_each_law_is_what_its_paper_prints(law, samples):
    v, tau, T = samples
    ours = model(law).torque(v[:, None], tau[:, None], T[:, None])[:, 0]
    paper = [by_the_paper(law, PARAMETERS[law], *x) for x in zip(v, tau, T, strict=True)]
    np.testing.assert_allclose(ours, paper, rtol=1e-12, atol=1e-12)


def test_temperature_term_of_madsen_vanishes_at_the_reference_and_is_clamped_outside_the_range():
    v = np.array([[0.8]])
    at = lambda m, T: m.torque(v, None, np.array([[T]]))[0, 0]  # noqa: E731
    cold = model("madsen", ft2=0.0, ft3=0.0)
    assert at(model("madsen"), T0) == at(cold, T0)
    bounded = model("madsen", t_min=15.0, t_max=45.0)
    assert at(bounded, 80.0) == at(bounded, 45.0) != at(model("madsen"), 80.0)
    assert at(bounded, np.nan) == at(bounded, T0)
    assert np.isfinite(at(model("madsen"), -273.0))


@pytest.mark.parametrize("law", LAWS)
def test_power_is_dissipated_and_nan_stays_nan(law, samples):
    v, tau, T = (x[:, None] for x in samples)
    offsets = {k: 0.0 for k in ("fo", "fb") if k in PARAMETERS[law]}
    assert (v * model(law, **offsets).torque(v, tau, T) >= 0).all()
    assert np.isnan(model(law).torque(np.array([[np.nan]]))).all()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("T", [T0, 50.0])
def test_coulomb_level_and_the_rest_add_up(law, T):
    """[Madsen2020 ch6 3]: what memory replaces, and F_v, are the law at no load."""
    smooth = {} if law in ("simoni", "clochiatti") else {"eps": 0.01}
    for v in (0.4, -0.4, 0.02, *[-0.004] * len(smooth)):
        core, share = model(law, **smooth).core, np.clip(v / smooth.get("eps", 1e-6), -1.0, 1.0)
        total = model(law, **smooth).torque(np.array([[v]]), None, np.array([[T]]))[0, 0]
        assert share * core.coulomb(0, v, T) + core.viscous(0, v, T) == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("law", LAWS)
def test_joints_are_independent(law, samples):
    v, tau, T = (x.reshape(-1, 3) for x in samples)
    whole = model(law, 3).torque(v, tau, T)
    for i in range(3):
        one = model(law).torque(v[:, i : i + 1], tau[:, i : i + 1], T[:, i : i + 1])
        np.testing.assert_array_equal(whole[:, i], one[:, 0])


@pytest.mark.parametrize(
    ("name", "value"), [("fc", np.nan), ("fc", -1.0), ("fc", [1.0, 2.0]), ("fx", 1.0), ("vs", 0.0)]
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ConfigError, match=name):
        model("madsen", **{name: value})


def test_unknown_law_and_wrong_arrays_are_named():
    with pytest.raises(ConfigError, match="stribeck"):
        FrictionModel("stribeck", {}, 1)
    with pytest.raises(ValueError, match="v has shape"):
        model("luo").core.torque(np.zeros((3, 2)))
