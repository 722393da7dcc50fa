"""Every family of the plant's friction: dissipation, bounds, rate independence, sticking, drift, its stated laws."""

import math

import numpy as np
import pytest
from vertical_joint import BOUNDARY, ETA, FC, FS, PRESLIDING, RATE, SHARE, SHEAR, SPAN, VS, follow, joint

FLAT = {"friction.stribeck": FC, "friction.viscous": 0.0}  # no speed dependence beside the family's own
FAMILIES = {
    "maxwell": {},
    "lugre": {"friction.family": 1, "friction.micro_damping": 40.0},
    "dahl, blunt": {"friction.family": 2, "friction.dahl_exponent": 0.6},
    "dahl": {"friction.family": 2},
    "dahl, sharp": {"friction.family": 2, "friction.dahl_exponent": 2.0},
    "drift": {"friction.family": 3, "friction.creep_velocity": 2e-5},
    "bouc-wen": {"friction.family": 4},
    "elasto-plastic": {"friction.family": 5, "friction.elastic_share": 0.6},
}
VARIANTS = {
    "additive Stribeck": {"friction.additive_stribeck": 1.0},
    "thinning": {"friction.viscous_exponent": 0.5, "friction.shear_velocity": 1e6},
    "no load on stiffness": {"friction.load_on_stiffness": 0.0, "friction.load": 0.1, "friction.load_torque": 1e-3},
}
families = pytest.mark.parametrize("name", FAMILIES)


def pulled(plant, torque, seconds):
    """Rotor angle and friction under a torque of the drive [Nm] that rises over one second and then stays."""
    found = []
    for share in np.minimum(np.arange(round(seconds * 500)) / 500, 1.0):
        plant.cycle_torque(np.array([torque * share]), np.zeros(1), np.zeros(1), 1 / 500)
        found.append([plant.get(name)[0] for name in ("true_theta", "true_rotor_friction_torque")])
    return np.array(found).T


@families
@pytest.mark.parametrize("variant", ["plain", *VARIANTS])
def test_no_cycle_creates_energy(name, variant):
    rng, plant = np.random.default_rng(7), joint(**FAMILIES[name], **VARIANTS.get(variant, {}))
    for amplitude in (1e-5, 1e-4, 1e-3, 1e-2, 1e-1):  # rad
        period = rng.uniform(0.5, 2.0)
        t = np.arange(0, 3 * period, 1 / 500)
        power = follow(plant, amplitude * np.sin(2 * np.pi * t / period))[3]
        last = t >= t[-1] - period
        assert power[last].sum() / 500 > -1e-6, (amplitude, period)


@families
def test_presliding_stays_below_breakaway(name):
    plant = joint(**FAMILIES[name] | {"friction.viscous": 0.0, "friction.micro_damping": 0.0})
    rng = np.random.default_rng(3)
    path = np.interp(np.arange(20_000), np.linspace(0, 20_000, 40), rng.uniform(-1, 1, 40)) * 1e-3
    friction = follow(plant, path - path[0])[0]
    assert np.abs(friction).max() <= FS * (1 + 1e-9)
    assert np.abs(friction).max() > 0.5 * FS


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "drift"])
def test_a_path_is_the_same_at_any_speed(name):
    friction = []
    for seconds in (4.0, 40.0):
        t = np.linspace(0, 1, round(500 * seconds))
        path = 6e-4 * np.sin(2 * np.pi * t) * (1 - 0.5 * t)
        plant = joint(**FAMILIES[name] | FLAT | {"friction.micro_damping": 0.0, "friction.attraction": 1e6})
        f, theta, *_ = follow(plant, path)
        friction.append(f[:: round(seconds / 4)])
    np.testing.assert_allclose(friction[0][20:], friction[1][20:], 0, 0.03 * FC)  # before, the controller lags


def test_drift_depends_on_time():
    """At a held angle every element relaxes by exp(-v_c t/span), where LuGre keeps its torque."""
    held = np.concatenate([np.linspace(0, 4e-4, 500), np.full(10_000, 4e-4)])
    stiff = {"control.stiffness_gain": 4e7, "control.damping_gain": 3e4} | FLAT
    creep, span = 4e-6, SPAN * PRESLIDING
    values = {"friction.creep_velocity": creep, "friction.presliding": PRESLIDING}
    friction, theta, *_ = follow(joint(**FAMILIES["drift"] | stiff | values), held)
    kept = follow(joint(**FAMILIES["lugre"] | stiff), held)[0]
    reached = FC * SHARE * np.minimum(theta[500] / span, 1.0)
    for row in (3000, 10_000):
        left = np.exp(-creep * (row - 500) / 500 / span)
        assert friction[row] == pytest.approx((reached * left).sum(), rel=0.05)
    assert friction[10_000] < 0.7 * friction[500]
    assert kept[10_000] == pytest.approx(kept[600], rel=1e-3)


@families
def test_below_breakaway_only_drift_moves(name):
    theta, friction = pulled(joint(**FAMILIES[name]), 0.6 * FC, 20.0)
    moved = theta[-1] - theta[5000]
    assert friction[-1] == pytest.approx(0.6 * FC, rel=0.02)
    assert (moved > 1e-5) if name == "drift" else (abs(moved) < 1e-9), moved


@pytest.mark.parametrize("exponent", [0.6, 1.0, 1.5, 2.0])
def test_virgin_curve_of_a_bristle_is_its_closed_form(exponent):
    """u = 1 - F/s: du/dx = -(1/z) u^delta, u = (1 + (delta - 1) x/z)^(1/(1 - delta)), exp(-x/z) for delta = 1."""
    family = {"friction.family": 2, "friction.dahl_exponent": exponent}
    friction, theta, *_ = follow(joint(**family | FLAT), np.linspace(0, 4e-3, 8000))
    x = np.maximum(theta, 0) / PRESLIDING
    rest = np.maximum(1 + (exponent - 1) * x, 0)
    u = np.exp(-x) if exponent == 1.0 else np.where(rest > 0, rest, 0.0) ** (1 / (1 - exponent))
    np.testing.assert_allclose(friction[100:], FC * (1 - u)[100:], 0, 0.01 * FC)


def test_bouc_wen_is_its_closed_form_there_and_straight_on_the_way_back():
    """tanh(x/z) from rest; after the reversal at F the slope is s/z until zero, then -tanh."""
    there = np.linspace(0, 8e-4, 4000)
    friction, theta, *_ = follow(joint(**FAMILIES["bouc-wen"] | FLAT), np.r_[there, there[::-1], -there])
    x = theta / PRESLIDING
    top = int(np.argmax(x))
    np.testing.assert_allclose(friction[100:top], FC * np.tanh(x)[100:top], 0, 0.01 * FC)
    straight = np.tanh(x[top]) - (x[top] - x[top:])
    back = np.where(straight > 0, straight, np.tanh(straight))
    assert back.min() < -0.5 < 0.5 < back.max()
    np.testing.assert_allclose(friction[top:], FC * back, 0, 0.01 * FC)


@pytest.mark.parametrize("share", [0.2, 0.6, 0.9])
def test_elasto_plastic_is_straight_to_its_share_and_then_solves_its_equation(share):
    """f' = 1 - alpha f, alpha = (1 + sin(pi (f - (1 + b)/2)/(1 - b)))/2 beyond b, 0 below and on the way back."""
    there = np.linspace(0, 2.5e-3, 4000)
    family = {"friction.family": 5, "friction.elastic_share": share}
    friction, theta, *_ = follow(joint(**family | FLAT), np.r_[there, there[::-1], -there])
    x, fine = theta / PRESLIDING, 10
    steps = np.diff(np.interp(np.arange(fine * len(x)) / fine, np.arange(len(x)), x), prepend=0.0)
    expected, f = np.empty(len(steps)), 0.0
    for row, step in enumerate(steps.tolist()):
        along = f if step > 0 else -f
        phase = math.pi * (min(along, 1.0) - (1 + share) / 2) / (1 - share)
        f += step * (1 - (0.5 + 0.5 * math.sin(phase)) * along) if along > share else step
        expected[row] = f
    assert expected.min() < -0.9 < 0.9 < expected.max()
    np.testing.assert_allclose(friction[100:], FC * expected[::fine][100:], 0, 0.01 * FC)


@pytest.mark.parametrize(("name", "stays"), [("lugre", False), ("bouc-wen", False), ("elasto-plastic", True)])
def test_vibration_below_the_elastic_share_does_not_drift(name, stays):
    """What the model was made for [Dupont2002]: 0.15 to 0.35 of the level again and again (0.5 at the start)."""
    plant, found = joint(**FAMILIES[name] | FLAT), []
    for t in np.arange(10_000) / 500:
        plant.cycle_torque(np.array([FC * (0.25 - 0.1 * np.cos(6 * t))]), np.zeros(1), np.zeros(1), 1 / 500)
        found.append(plant.get("true_theta")[0])
    drifted = np.max(found[-1000:]) - np.max(found[1000:2000])
    assert (abs(drifted) < 1e-5) if stays else (drifted > 1e-4), drifted


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "dahl, sharp"])  # which needs a longer way
@pytest.mark.parametrize(
    ("speed", "temperature"), [(-2.0, 35.0), (-0.05, 55.0), (0.01, 15.0), (0.3, 55.0), (3.0, 15.0)]
)
def test_steady_sliding_follows_stribeck_and_viscosity_whatever_the_presliding(name, speed, temperature):
    """s(v, T) + eta(T) v/(1 + |v|/v_shear)."""
    plant = joint(**FAMILIES[name], **{"thermal.lubricant_capacity": 1e9, "thermal.housing_capacity": 1e9})
    plant.set_temperatures(np.array([temperature]), np.array([temperature]))
    v, warmer = abs(speed), temperature - 35.0
    friction, _, omega, power, _ = follow(plant, speed * np.arange(1, round(500 * max(0.5, 0.02 / v))) / 500)
    level = FC + (FS - FC) * np.exp(BOUNDARY * warmer - (v / VS) ** 2)
    expected = level + ETA * np.exp(-RATE * warmer) * v / (1 + v / SHEAR)
    assert omega[-1] == pytest.approx(speed, rel=0.01)
    assert friction[-1] == pytest.approx(np.sign(speed) * expected, rel=0.01)
    assert power[-1] == pytest.approx(expected * v, rel=0.02)


@pytest.mark.parametrize("speed", [0.03, 0.3, 3.0])
@pytest.mark.parametrize("alpha", [0.4, 0.7, 1.0])
def test_viscous_torque_is_a_power_of_speed(speed, alpha):
    values = {"friction.viscous_exponent": alpha, "friction.shear_velocity": 1e9, "friction.stribeck": FC}
    plant = joint(**values, **{"thermal.lubricant_capacity": 1e9})
    friction = follow(plant, speed * np.arange(1, round(500 * max(0.5, 0.02 / speed))) / 500)[0]
    expected = FC + ETA * speed * (speed**2 + 1e-4) ** ((alpha - 1) / 2)
    assert friction[-1] == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("speed", [0.01, 0.05, 0.2])
def test_additive_stribeck_leaves_the_breakaway_level_at_coulomb(speed):
    plant = joint(**FAMILIES["lugre"], **{"friction.additive_stribeck": 1.0, "friction.viscous": 0.0})
    assert pulled(joint(**FAMILIES["dahl"], **{"friction.additive_stribeck": 1.0}), 1.05 * FC, 2.0)[0][-1] > 1e-3
    friction = follow(plant, speed * np.arange(1, round(0.03 / speed * 500)) / 500)[0]
    bump = (FS - FC) * np.exp(-((speed / VS) ** 2)) * speed / (speed + 0.02 * VS)
    assert friction[-1] == pytest.approx(FC + bump, rel=0.01)


@pytest.mark.parametrize(
    ("values", "law"),
    [
        ({"friction.load_torque": 1e-3, "friction.load": 0.1}, lambda m: 0.1 * m),
        ({"friction.load_torque": 1e6, "friction.load": 0.1 * 1e6 / 40}, lambda m: 0.1 * m**2 / 40),
        (
            {"friction.load_torque": 1e6, "friction.load": 0.1 * 1e6 / 40, "friction.load_saturation": 3.0},
            lambda m: 1 / (1 / (0.1 * m**2 / 40) + 1 / 3.0),
        ),
    ],
    ids=["linear", "quadratic", "saturating"],
)
@pytest.mark.parametrize("moment", [-60.0, 20.0, 60.0])
@pytest.mark.parametrize("name", ["maxwell", "lugre", "dahl", "bouc-wen", "elasto-plastic"])
def test_load_raises_the_level_by_its_law(values, law, moment, name):
    plant = joint(**FAMILIES[name] | FLAT | values)
    plant.set_wrench(np.array([0, 0, 0, 0, 0, moment]))
    friction = follow(plant, 0.05 * np.arange(1, 600) / 500)[0]
    assert friction[-1] == pytest.approx(FC + law(abs(moment)), rel=0.01)


@pytest.mark.parametrize("on_stiffness", [0.0, 1.0])
@pytest.mark.parametrize("name", ["maxwell", "lugre", "dahl", "bouc-wen", "elasto-plastic"])
def test_load_stiffens_presliding_or_widens_it(name, on_stiffness):
    slopes = []
    for load in (0.0, 0.2):
        given = {"friction.load": load, "friction.load_torque": 1e-3, "friction.load_on_stiffness": on_stiffness}
        plant = joint(**FAMILIES[name] | FLAT | given | {"friction.micro_damping": 0.0})
        plant.set_wrench(np.array([0, 0, 0, 0, 0, 60.0]))
        follow(plant, np.full(1000, 0.0))
        friction, theta, *_ = follow(plant, -np.linspace(0, 4e-6, 2000))
        slopes.append(np.polyfit(theta[500:], friction[500:], 1)[0])
    expected = (FC + 12.0) / FC if on_stiffness else 1.0
    assert slopes[1] / slopes[0] == pytest.approx(expected, rel=0.35 if on_stiffness else 0.2)


def test_a_stiff_bristle_does_not_limit_the_step():
    plant = joint(**FAMILIES["lugre"], **{"friction.presliding": 1e-8})
    t = np.arange(2000) / 500
    friction = follow(plant, 0.01 * np.sin(4 * t))[0]
    assert np.isfinite(friction).all() and np.abs(friction).max() < FS + ETA


@pytest.mark.parametrize("cycles", [1.0, 1.5, 3.0])
def test_reported_torque_is_of_an_earlier_instant(cycles):
    reported = []
    t = np.arange(1, 500) / 500
    for delay in (0.0, cycles / 500):
        plant = joint(**{"sensing.torque_delay": delay})
        q = (0.1 * (1 - np.cos(6 * t)))[:, None]
        out = {name: np.empty_like(q) for name in ("effort", "q")}
        plant.run(q, np.gradient(q, 1 / 500, axis=0), np.zeros_like(q), 1 / 500, out)
        reported.append(out["effort"][:, 0])
    now, late = reported
    whole, share = int(cycles), cycles % 1
    expected = (1 - share) * now[10 - whole : len(now) - whole] + share * now[10 - whole - 1 : len(now) - whole - 1]
    assert late[10:] == pytest.approx(expected, abs=1e-12)
    assert np.abs(late[10:] - now[10:]).max() > 0.1


WRONG = [("family", 6.0), ("family", 0.5), ("load_on_stiffness", 1.5), ("additive_stribeck", -0.1)]
WRONG += [("viscous_exponent", 1.2), ("dahl_exponent", 0.2), ("creep_velocity", -1.0), ("elastic_share", 1.0)]
WRONG = [(f"friction.{name}", value) for name, value in WRONG]


@pytest.mark.parametrize(("name", "value"), [*WRONG, ("sensing.torque_delay", 0.02)])
def test_numbers_out_of_range_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name.replace(".", r"\.")):
        joint(**{name: value})
