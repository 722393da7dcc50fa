"""Presliding friction: of one joint with all parameters, of a robot of such joints, and blocks of a robot file."""

import numpy as np

from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import presliding_core
from robot_dynamics_ros.robot_file import load_robot

MS = 1_000_000
SPANS = [1e-4, 1e-3, 1e-2]
JOINT = {"span": SPANS, "level": [1.0, 2.0, 3.0], "load": [0.02, 0.0, 0.05], "load_limit": 60.0, "load_power": 1.0}
JOINT |= {"sliding_ratio": 0.7, "stribeck_velocity": 0.05, "fv1": 4.0, "fv2": 0.5, "fv0": 3.0, "v0": 0.3, "fo": -0.4}
JOINT |= {"fs": 1.5, "eps": 5e-3, "rotor_time": 0.0, "widening": [0.0, 0.0], "dahl_step": 0.0}
JOINT |= {"bearing": 0.0, "bearing_span": 2e-4}
NONE = JOINT | {"level": [0.0] * 3, "load": [0.0] * 3, "fv1": 0.0, "fv2": 0.0, "fv0": 0.0, "fo": 0.0, "fs": 0.0}
PLAIN = {"load": [0.0], "load_limit": 0.0, "load_power": 1.0, "sliding_ratio": 1.0, "stribeck_velocity": 0.1}
PLAIN |= {"fv1": 0.0, "fv2": 0.0, "fv0": 0.0, "v0": 0.3, "fo": 0.0}
LAW = {"fc": 6.0, "fs": 7.0, "vs": 0.05, "fv1": 9.0, "fv2": -1.0, "fv3": 0.1, "alpha": -0.008}


def law(n=1, **changes):
    return FrictionModel("madsen", LAW | changes, n, 25.0)


def model(*joints, max_gap=1e9, friction=None):
    """Presliding joints from parameters by name."""
    chosen = joints or (JOINT,)
    block = {name: [joint[name] for joint in chosen] for name in JOINT}
    return presliding_core(block, friction or law(len(chosen)), max_gap)


def robot(*joints, **changes):
    chosen = [JOINT] * 6 if not joints else [*joints, *[NONE] * (6 - len(joints))]
    block = {name: [joint[name] for joint in chosen] for name in JOINT} | changes
    friction = {"model": "madsen", "parameters": LAW, "source": "fit_test", "reference_temperature": 25.0}
    hysteresis = {"model": "presliding", "parameters": block, "source": "fit_test"}
    blocks = {"friction": friction, "hysteresis": hysteresis}
    return load_robot("ur5e").with_updates(blocks, {"fit_test": "numbers of this test"})


def elements(span, level, n=6, **more):
    """The block hysteresis of a robot file whose n joints have these elements: spans [rad] and levels [Nm], of all
    joints alike (K,) or of each (n, K). Of the other parameters, alike or of each, none has an effect unless given.
    """
    K, values = np.shape(span)[-1], PLAIN | {"span": span, "level": level} | more
    per_element = ("span", "level", "load")
    parameters = {k: np.broadcast_to(v, (n, K) if k in per_element else (n,)).tolist() for k, v in values.items()}
    return {"model": "presliding", "parameters": parameters, "source": "test"}
