"""Names, units and bounds of the parameters of every friction, hysteresis, thermal and stiffness model."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class ModelParameter:
    """One parameter of a joint model: unit, closed range, meaning; `row` parameters hold a list per joint."""

    unit: str
    text: str
    lower: float = -inf
    upper: float = inf
    required: bool = True
    row: bool = False


def _optional(unit: str, text: str, lower: float = -inf, upper: float = inf) -> ModelParameter:
    return ModelParameter(unit, text, lower, upper, required=False)


_FC = ModelParameter("Nm", "Coulomb friction", 0.0, 1e4)
_FV1 = ModelParameter("Nm s/rad", "viscous coefficient")
_FV2 = _optional("Nm s2/rad2", "quadratic viscous coefficient, odd form |v| v")
_FV3 = _optional("Nm s3/rad3", "cubic viscous coefficient")
_EPS = _optional("rad/s", "velocity below which the law is linear through zero", 0.0, 10.0)
_FS = ModelParameter("Nm", "static (break-away) friction", 0.0, 1e4)
_VS = ModelParameter("rad/s", "Stribeck velocity", 1e-9, 10.0)
_LUO = {"fc": _FC, "fv1": _FV1, "fv2": _FV2, "fv3": _FV3, "fb": _optional("Nm", "offset"), "eps": _EPS}

FRICTION: dict[str, dict[str, ModelParameter]] = {
    "viscous_coulomb": {
        "fc": _FC,
        "fv": ModelParameter("Nm s/rad", "viscous coefficient", 0.0, 1e5),
        "fo": _optional("Nm", "offset"),
        "eps": _EPS,
    },
    "liu": {  # [Liu2020 3-4]
        "fc1": ModelParameter("Nm", "Coulomb friction, v > 0", 0.0, 1e4),
        "fc2": ModelParameter("Nm", "Coulomb friction, v < 0 (magnitude)", 0.0, 1e4),
        "fv1": _FV1,
        "fv2": _FV2,
        "fv3": _FV3,
        "fo": _optional("Nm", "offset"),
        "eps": _EPS,
    },
    "luo": _LUO,  # [Luo2024 17]
    "luo_load": {  # [Luo2024 6-8, 18]
        **_LUO,
        "fc1": _optional("rad/s", "velocity scale of the Coulomb rise", 1e-9, 10.0),
        "fs": _optional("Nm", "Stribeck amplitude", 0.0, 1e4),
        "fs1": _optional("rad/s", "Stribeck velocity", 1e-9, 10.0),
        "ft": _optional("1", "load coefficient"),
        "ft1": _optional("Nm", "amplitude of the load-velocity term"),
        "ft2": _optional("rad/(s Nm)", "load-velocity decay"),
        "velocity_floor": _optional("rad/s", "floor of |v| in the load exponent", 1e-9, 10.0),
    },
    "clochiatti": {  # [Clochiatti2024 11-18]
        "kv": ModelParameter("Nm s/rad", "viscous coefficient", 0.0, 1e5),
        "tc_dir": ModelParameter("Nm", "Coulomb friction, direct power flow (v tau > 0)", 0.0, 1e4),
        "tc_rev": ModelParameter("Nm", "Coulomb friction, reverse power flow (v tau < 0)", 0.0, 1e4),
        "fo": _optional("Nm", "offset"),
        "eps": _EPS,
        "band": _optional("W", "half width of the blend around v tau = 0", 0.0, 1e3),
    },
    "simoni": {  # [Simoni2017 1-3, 11]
        "c0": ModelParameter("Nm", "constant"),
        "c1": ModelParameter("Nm s/rad", "linear"),
        "c2": ModelParameter("Nm s2/rad2", "quadratic"),
        "c3": ModelParameter("Nm s3/rad3", "cubic"),
        "c4": ModelParameter("Nm", "Stribeck amplitude"),
        "h": ModelParameter("s/rad", "Stribeck decay", 0.0, 1e6),
        "fo": _optional("Nm", "offset"),
        "v_th": ModelParameter("rad/s", "threshold of the linear part", 1e-9, 10.0),
    },
    "madsen": {  # [Madsen2020 ch4 25-28, ch6 11]
        "fc": _FC,
        "fs": _FS,
        "vs": _VS,
        "mu": _optional("1", "Stribeck exponent", 0.01, 10.0),
        "fv1": _FV1,
        "fv2": _FV2,
        "fv3": _FV3,
        "fl": _optional("1/Nm", "load coefficient of tau^2"),
        "ft2": _optional("Nm (s/rad)^0.5/degC", "temperature, linear about reference_temperature"),
        "ft3": _optional("Nm (s/rad)^0.5 degC^3", "temperature, inverse cube about reference_temperature"),
        "fo": _optional("Nm", "offset"),
        "eps": _EPS,
    },
}
_TEMPERATURE_FACTORS = {  # f = base (alpha (T - T0) + beta) + stribeck (gamma (T - T0) + delta) [Simoni2017 6]
    "alpha": _optional("1/degC", "temperature slope of the Coulomb and viscous part", -1.0, 1.0),
    "beta": _optional("1", "factor of the Coulomb and viscous part at T0", 0.0, 10.0),
    "gamma": _optional("1/degC", "temperature slope of the Stribeck part", -1.0, 1.0),
    "delta": _optional("1", "factor of the Stribeck part at T0", 0.0, 10.0),
    "t_min": _optional("deg C", "lower end of the identified temperatures", -60.0, 200.0),
    "t_max": _optional("deg C", "upper end of the identified temperatures", -60.0, 200.0),
}
for _law in FRICTION.values():
    _law.update(_TEMPERATURE_FACTORS)

HYSTERESIS: dict[str, dict[str, ModelParameter]] = {
    "egms": {  # [Madsen2020 ch4 35-39; ch6 3-5, 14-20]
        "k": ModelParameter(
            "1", "normalised stiffness of each element, sum k D = 1", 0.0, 1e9, required=False, row=True
        ),
        "d": ModelParameter("1", "normalised slip distance of each element", 0.0, 1e3, required=False, row=True),
        "m": _optional("1", "number of elements when k and d follow the spacing laws", 1.0, 64.0),
        "r_d": _optional("1", "spacing exponent of the slip distances", 1e-3, 20.0),
        "r_k": _optional("1", "spacing exponent of the stiffnesses", 1e-3, 20.0),
        "b": ModelParameter("rad", "pre-sliding distance B of the element laws", 1e-9, 1.0),
        "kinematic_error": ModelParameter("rad", "table over one output turn", -0.1, 0.1, required=False, row=True),
        "fc0": ModelParameter("Nm", "Coulomb friction without load; 0: the joint keeps its law", 0.0, 1e4),
        "fc1": ModelParameter("1/Nm", "load coefficient of tau^2", 0.0, 1e3),
    },
    "presliding": {  # [Madsen2020 ch4 35-37] with free spans, load per element and a Stribeck factor
        "span": ModelParameter("rad", "span of each element", 1e-9, 10.0, row=True),
        "level": ModelParameter("Nm", "breakaway level of each element; all 0: keeps its law", 0.0, 1e5, row=True),
        "load": ModelParameter("Nm^(1-p)", "level of each element per |tau|^load_power", 0.0, 1e3, row=True),
        "load_limit": ModelParameter("Nm", "largest |tau| that counts", 0.0, 1e5),
        "load_power": ModelParameter("1", "p, 1 or 2", 1.0, 2.0),
        "sliding_ratio": ModelParameter("1", "sliding level over breakaway level", 0.0, 1.0),
        "stribeck_velocity": ModelParameter("rad/s", "velocity at which half of the fall has happened", 1e-9, 10.0),
        "fv1": ModelParameter("Nm s/rad", "viscous coefficient", 0.0, 1e5),
        "fv2": ModelParameter("Nm s2/rad2", "quadratic viscous coefficient, odd form |v| v", 0.0, 1e5),
        "fv0": ModelParameter("Nm s/rad", "viscosity that falls with speed: fv0 v / (1 + |v| / v0)", 0.0, 1e5),
        "v0": ModelParameter("rad/s", "speed at which fv0 has halved", 1e-9, 100.0),
        "fo": _optional("Nm", "offset"),
        "fs": _optional("Nm", "Stribeck friction of speed alone, beside the elements", 0.0, 1e5),
        "eps": _optional("rad/s", "speed at which half of fs is reached; 0.002 without", 1e-9, 10.0),
        "widening": ModelParameter(
            "1", "a, b of spans that widen by 1 + a cos q + b sin q", -0.9, 0.9, required=False, row=True
        ),
        "dahl_step": _optional("rad", "motion that elements which give way gradually feel; 0: they slip", 0.0, 1.0),
        "rotor_time": _optional("s", "how long the integrated velocity drives the elements; 0: the position", 0.0, 1e6),
        "bearing": _optional("Nm", "friction of the output's bearing and seals, which the position drives", 0.0, 1e5),
        "bearing_span": _optional("rad", "span of that friction; 1e-4 without", 1e-9, 1.0),
        "viscous_slope": _optional("1/K", "of the viscous terms, beside the temperature factor of all", -1.0, 1.0),
    },
}

# The factors may stand here or with the friction parameters (which win); T0 is friction's reference_temperature.
_FACTORS = {k: _TEMPERATURE_FACTORS[k] for k in ("alpha", "beta", "gamma", "delta")}
_GAIN = _optional("degC/(Nm s)", "observer gain G", 0.0, 1e3)
THERMAL: dict[str, dict[str, ModelParameter]] = {
    "simoni": {  # [Simoni2017 4-9]
        "heat_capacity": ModelParameter("J/degC", "C", 1e-3, 1e9),
        "heat_transfer": ModelParameter("W/degC", "K", 1e-9, 1e6),
        **_FACTORS,
        "gain": _GAIN,
    },
    "two_node": {
        "heat_capacity": ModelParameter("J/degC", "lubricant", 1e-3, 1e9),
        "heat_transfer": ModelParameter("W/degC", "lubricant to housing", 1e-9, 1e6),
        "housing_capacity": ModelParameter("J/degC", "housing", 1e-3, 1e9),
        "housing_transfer": ModelParameter("W/degC", "housing to air", 1e-9, 1e6),
        **_FACTORS,
        "gain": _GAIN,
    },
}

STIFFNESS: dict[str, dict[str, ModelParameter]] = {
    "odd_polynomial": {  # tau_E = sum_p a_p phi^(2p-1) [Madsen2020 ch3 7-10]
        "a": ModelParameter("Nm/rad^(2p-1)", "coefficients a_1..a_P of each joint", row=True),
        "damping": _optional("Nm s/rad", "D", 0.0, 1e6),
    }
}

MODELS = {"friction": FRICTION, "hysteresis": HYSTERESIS, "thermal": THERMAL, "stiffness": STIFFNESS}
