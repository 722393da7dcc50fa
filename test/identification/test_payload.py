"""Payload from an unloaded and a loaded run."""

import numpy as np
import pytest
from prepared import ROBOT, identified, run
from synthetic import log_at, torque, truth_of

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.identification.payload import identify_payload
from robot_dynamics_ros.robot_file.geometry import inertia_about_origin
from robot_dynamics_ros.trajectories import motions

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


def stations(body):
    """From pose to pose with rests of 3 s, in which stiction holds every joint with either sign."""
    truth, rng, rate = truth_of(ROBOT), np.random.default_rng(3), 125.0
    here, parts = np.array([0.0, -1.2, 1.5, -1.9, -1.57, 0.4]), []
    for _ in range(6):
        there = here + rng.uniform(-0.7, 0.7, 6)
        parts += [motions.quintic(here, there, rate, 1.0, 3.0), motions.hold(there, 3.0, rate)]
        here = there
    q, qd, qdd = motions.join(*parts)
    number = np.cumsum(np.diff(np.abs(qd).max(axis=1) > 1e-9, prepend=False))
    held = rng.choice([-1.0, 1.0], (number.max() + 1, 6))[number] * (np.abs(qd) < 1e-9)
    tau = torque(ROBOT, truth, q, qd, qdd, payload=body) + 0.9 * truth.fc * held
    return recording(log_at(np.arange(len(q)) / rate, {"q": q, "qd": qd, "effort": tau}, ROBOT.joint_names), "stations")


def test_stiction_in_long_rests_is_no_payload():
    payload = identify_payload(identified(), [stations(inertia_about_origin(MASS, COM, INERTIA))])
    assert payload.mass == pytest.approx(MASS, abs=0.05) and abs(payload.mass - MASS) < 3 * payload.mass_std
    assert np.all(np.abs(payload.com - COM) < 3 * payload.com_std)


def test_no_payload_is_reported():
    with pytest.raises(DataError, match="no payload to see"):
        identify_payload(identified(), [loaded(payload=False)])
