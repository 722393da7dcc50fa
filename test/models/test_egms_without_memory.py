"""A joint of an E-GMS model with fc0 = 0 follows the static law, and never claims to know its past."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import maxwell_slip

LAW = {"fv1": 2.0, "fc": 3.0, "fs": 1.0, "fs1": 0.1, "fc1": 2e-3, "ft": 0.05, "eps": 0.01, "velocity_floor": 0.01}


def test_joint_without_memory_is_the_law():
    law = FrictionModel("luo_load", LAW, 2)
    model = _core.Friction.egms(law.core, maxwell_slip(2), np.array([0.0, 3.0]), np.zeros(2), np.zeros((2, 1)))
    t = np.arange(2000) * 2e-3
    q = 0.1 * np.sin(3 * t)[:, None] * np.ones(2)
    v, load = np.gradient(q, 2e-3, axis=0), 10 * np.cos(q)
    friction, _ = model.run((t * 1e9).astype(np.int64), q, v, load)
    expected = law.torque(v, load)
    assert np.allclose(friction[:, 0], expected[:, 0], atol=1e-12)
    assert not np.allclose(friction[:, 1], expected[:, 1], atol=0.1)
    assert model.valid == [False, True]
