"""Deviations of friction across recordings of several days."""

import numpy as np
import pytest
from prepared import ROBOT, run, steps
from synthetic import truth_of

from robot_dynamics_ros.identification.arm.solvers.uncertainty import steady_friction


@pytest.mark.parametrize("scatter", [0.0, 0.6])
def test_deviations_of_friction_contain_the_scatter_between_recordings(scatter):
    """Four days whose Coulomb friction differs: what one fit states must cover a fifth day."""
    levels = scatter * np.array([-1.2, 0.3, 1.0, -0.1])
    days = []
    for seed, level in enumerate(levels):
        truth = truth_of(ROBOT)
        truth.fc = truth.fc + level * np.linspace(1, 0.2, 6)
        days.append(run(seed + 1, truth=truth, duration=8.0))
    found = steps(days, until="fit_together", coupled=False)
    std = steady_friction(found.fit, np.array([0.5]))[1][:, 0]
    expected = np.std(levels, ddof=1) * np.linspace(1, 0.2, 6) * np.sqrt(1 + 1 / 4)
    if scatter:
        assert np.all((std > 0.6 * expected) & (std < 1.6 * expected))
    else:
        assert std.max() < 0.06
    assert any("between the 4 recordings" in text for text in found.statements)
