"""The rate at which recordings are identified."""

import numpy as np
import pytest

from robot_dynamics_ros.identification.dataset.motion import Motion, at_lower_rate, kept_rate


@pytest.mark.parametrize(
    "minutes, rate, kept", [(1, 500.0, 250.0), (10, 500.0, 100.0), (4, 500.0, 250.0), (60, 125.0, 125.0)]
)
def test_a_long_recording_is_decimated_further(minutes, rate, kept):
    samples = int(60 * minutes * rate)
    t, x = np.arange(samples) / rate, np.zeros((samples, 1))
    motion = Motion(t, x, x, x, x, t == 0, rate)
    assert at_lower_rate(motion, kept_rate(samples, rate)).rate == kept
