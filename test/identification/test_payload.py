"""Payload from an unloaded and a loaded run."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic import synthetic_log, truth_of

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.friction_columns import JointFriction
from robot_dynamics_ros.identification.arm.identify import Options, UserChoices, identify_recordings
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.identification.payload import identify_payload
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.robot_file.geometry import inertia_about_origin

ROBOT = load_robot("ur5e")
LAWS = (JointFriction(0.02, ("fv1", "fo", "ia", "fc")),) * 6
SIMPLE = Options(choices=UserChoices(cutoff=8.0, delay=0.0, laws=LAWS, effort_filter=False))
MASS, COM, INERTIA = 2.0, (0.03, -0.01, 0.08), (0.01, 0.0, 0.0, 0.012, 0.0, 0.006)


@pytest.fixture(scope="module")
def found():
    logs = [synthetic_log(ROBOT, truth_of(ROBOT), seed, duration=20.0) for seed in (1, 2)]
    runs = [recording(log, name) for log, name in zip(logs, "ab", strict=True)]
    return identify_recordings(ROBOT, runs[:1], runs[1:], SIMPLE)


def loaded(friction: float = 1.0, payload=True):
    truth = truth_of(ROBOT)
    truth.fc, truth.fv = friction * truth.fc, friction * truth.fv
    body = inertia_about_origin(MASS, COM, INERTIA) if payload else None
    return recording(synthetic_log(ROBOT, truth, 3, duration=20.0, payload=body), "loaded")


@pytest.mark.parametrize("friction", [1.0, 0.9])
def test_payload_within_three_standard_deviations(found, friction):
    payload = identify_payload(found, [loaded(friction)])
    assert abs(payload.mass - MASS) < max(3 * payload.mass_std, 0.01)
    assert np.all(np.abs(payload.com - COM) < np.maximum(3 * payload.com_std, 0.002))
    assert payload.mass_std < 0.05 and {"mass", "com"} <= set(payload.observable)
    assert payload.r2_after > 0.99 > payload.r2_before
    assert payload.block().mass == pytest.approx(MASS, abs=0.1)


def test_no_payload_is_reported(found):
    with pytest.raises(DataError, match="no payload to see"):
        identify_payload(found, [loaded(payload=False)])
