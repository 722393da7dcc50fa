"""Deviations of friction across recordings of several days."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic import synthetic_log, truth_of

from robot_dynamics_ros.identification.arm.friction_columns import JointFriction
from robot_dynamics_ros.identification.arm.identify import Options, UserChoices, identify_recordings
from robot_dynamics_ros.identification.arm.solvers.uncertainty import steady_friction
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.robot_file import load_robot


@pytest.mark.parametrize("scatter", [0.0, 0.6])
def test_deviations_of_friction_contain_the_scatter_between_recordings(scatter):
    """Four days whose Coulomb friction differs: what one fit states must cover a fifth day."""
    robot = load_robot("ur5e")
    levels = scatter * np.array([-1.2, 0.3, 1.0, -0.1])
    days = []
    for seed, level in enumerate(levels):
        truth = truth_of(robot)
        truth.fc = truth.fc + level * np.linspace(1, 0.2, 6)
        days.append(recording(synthetic_log(robot, truth, seed + 1, duration=12.0), f"day{seed}"))
    laws = tuple(JointFriction(0.02, ("fv1", "fo", "ia", "fc")) for _ in range(6))
    choices = UserChoices(cutoff=8.0, delay=0.0, laws=laws, effort_filter=False)
    found = identify_recordings(robot, days, days[:1], Options(choices=choices, coupled=False))
    std = steady_friction(found.fit, np.array([0.5]))[1][:, 0]
    expected = np.std(levels, ddof=1) * np.linspace(1, 0.2, 6) * np.sqrt(1 + 1 / 4)
    if scatter:
        assert np.all((std > 0.6 * expected) & (std < 1.6 * expected))
    else:
        assert std.max() < 0.06
    assert any("between the 4 recordings" in text for text in found.statements)
