"""A glitch of an encoder at rest is no motion to learn friction from; a slow motion is."""

import numpy as np
import pytest

from robot_dynamics_ros.control.torque import coulomb_level, friction_feedforward
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot

ROBOT, MODEL, CYCLE = load_robot("ur5e"), RobotModel.load("ur5e"), 2_000_000
Q = np.array([0.3, -1.5, 1.2, -1.1, -1.5, 0.2])
NOISE = 5e-6  # rad
LAWS = pytest.mark.parametrize("law", ["scales", "rls"])


def learned(path, law):
    """Largest change of what is learned from positions (samples, 6); friction holds 60 % of its Coulomb level."""
    friction, random = friction_feedforward(ROBOT, {"law": law}), np.random.default_rng(0)
    tau = MODEL.gravity(Q) + 0.6 * coulomb_level(ROBOT)
    for k, q in enumerate(path + NOISE * random.normal(size=path.shape)):
        friction.learn(10**9 + k * CYCLE, q, tau)
        if k == 200:
            begin = friction.coulomb.copy()
    return np.abs(friction.coulomb - begin).max()


@LAWS
@pytest.mark.parametrize("size", [2e-4, 6e-4, -6e-4, 5e-3])
@pytest.mark.parametrize("shape", ["step", "spike", "both ways"])
def test_a_glitch_at_rest_teaches_nothing(size, shape, law):
    path = np.tile(Q, (600, 1))
    end = {"step": 600, "spike": 301, "both ways": 330}[shape]
    path[300:end, 2] += size
    assert learned(path, law) == 0.0


@LAWS
@pytest.mark.parametrize("speed", [0.015, 0.1])
def test_a_slow_motion_still_teaches(speed, law):
    path = np.tile(Q, (600, 1))
    path[300:, 2] += speed * 0.002 * np.arange(300)
    assert learned(path, law) > 0.01
