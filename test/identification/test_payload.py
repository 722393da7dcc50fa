"""Payload from an unloaded and a loaded run."""

import numpy as np
import pytest
from prepared import ROBOT, identified, run
from synthetic import truth_of

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.payload import identify_payload
from robot_dynamics_ros.robot_file.geometry import inertia_about_origin

MASS, COM, INERTIA = 2.0, (0.03, -0.01, 0.08), (0.01, 0.0, 0.0, 0.012, 0.0, 0.006)


def loaded(friction: float = 1.0, payload=True):
    truth = truth_of(ROBOT)
    truth.fc, truth.fv = friction * truth.fc, friction * truth.fv
    body = inertia_about_origin(MASS, COM, INERTIA) if payload else None
    return run(3, truth=truth, payload=body)


@pytest.mark.parametrize("friction", [1.0, 0.9])
def test_payload_within_three_standard_deviations(friction):
    payload = identify_payload(identified(), [loaded(friction)])
    assert abs(payload.mass - MASS) < max(3 * payload.mass_std, 0.01)
    assert np.all(np.abs(payload.com - COM) < np.maximum(3 * payload.com_std, 0.002))
    assert payload.mass_std < 0.05 and {"mass", "com"} <= set(payload.observable)
    assert payload.r2_after > 0.99 > payload.r2_before
    assert payload.block().mass == pytest.approx(MASS, abs=0.1)


def test_no_payload_is_reported():
    with pytest.raises(DataError, match="no payload to see"):
        identify_payload(identified(), [loaded(payload=False)])
