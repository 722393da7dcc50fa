"""Contact in a recording that is learned from."""

import numpy as np
import pytest

from robot_dynamics_ros.learning.intake import touched


@pytest.mark.parametrize(("joints", "found"), [((1,), False), ((1, 2), True), ((0,), True)])
def test_contact_beside_known_friction_loads_several_joints(joints, found):
    """An error of friction of one joint is none; an arm of one joint has no second one."""
    n = 1 if joints == (0,) else 4
    residual = np.random.default_rng(0).normal(0.0, 0.01, (3000, n))
    residual[1000:1100, list(joints)] += np.array([2.0, 1.5])[: len(joints)]
    rows = touched(residual, np.ones_like(residual), np.full(n, 4.0), 50.0)
    assert rows[1015:1085].all() == found and rows.any() == found and rows.sum() < 200
