"""A UR5e whose friction depends on temperature: stage, recordings of constant speed, true friction."""

import numpy as np
from synthetic import log_at

from robot_dynamics_ros.estimators.temperature import TemperatureStage
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.robot_file import load_robot

AIR, C, K = 22.0, 400.0, 0.8  # one node: time constant 500 s
FRICTION = {"c0": 6.0, "c1": 9.0, "c2": 0.0, "c3": 0.0, "c4": 1.0, "h": 20.0, "alpha": -0.012, "gamma": 0.004}


def robot(n=6, thermal=True, **parameters):
    blocks = {"friction": {"source": "estimate_test", "model": "simoni", "parameters": FRICTION | {"v_th": 0.005}}}
    blocks["friction"]["reference_temperature"] = 30.0
    two = "housing_capacity" in parameters
    numbers = {"heat_capacity": C, "heat_transfer": K} | parameters
    block = {"source": "estimate_test", "model": "two_node" if two else "simoni", "parameters": numbers}
    blocks["thermal"] = block if thermal else None
    return load_robot("ur5e").with_updates(blocks, {"estimate_test": "numbers of this test"})


def stage(thermal=True, heat=None, **parameters):
    return TemperatureStage.of(robot(thermal=thermal, **(heat or {})), {"ambient": AIR} | parameters)


def begin(stage, T, variance=100.0):
    """All joints begin at T [deg C], also their housings."""
    for joint in range(6):
        stage.core.set_initial(joint, T, T, variance)


def friction(v, T):
    return FrictionModel.from_robot(robot()).torque(v, None, T)


def log(seconds, dt=0.01, v=1.0, **signals):
    """Constant speed back and forth (sign turns every 2 s), no contact, given signals as scalars or (N, 6)."""
    N = int(seconds / dt)
    names = load_robot("ur5e").joint_names
    t = np.arange(N) * dt
    velocity = np.tile((v * np.sign(np.sin(np.pi * t / 2 + 0.01)))[:, None], 6)
    record = log_at(t, {"qd": velocity}, names)
    for name, value in ({"contact": 0.0, "model_torque": 0.0} | signals).items():
        setattr(record, name, np.array(np.broadcast_to(value, record.shape(name))))
    return record


def hot(seconds, T, dt=0.01, **signals):
    """A log whose measured friction is that of lubricant at temperature T (N,) or scalar."""
    record = log(seconds, dt, **signals)
    temperature = np.broadcast_to(np.reshape(T, (-1, 1)), record.qd.shape)
    record.drive_torque = record.model_torque + friction(record.qd, temperature)
    return record


HOUSING = {"heat_capacity": 300.0, "heat_transfer": 0.9, "housing_capacity": 2000.0, "housing_transfer": 0.5}
