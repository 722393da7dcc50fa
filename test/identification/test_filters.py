"""Filters of recordings against scipy.signal, whose import takes half a second that identify does not need."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import signal

from robot_dynamics_ros import _core
from robot_dynamics_ros.identification.dataset.motion import (
    Motion,
    at_lower_rate,
    butterworth,
    kept_rate,
    low_pass,
    spectral_density,
)
from robot_dynamics_ros.identification.dataset.recording import median_of_five

X = np.cumsum(np.random.default_rng(0).standard_normal((3000, 6)), axis=0)


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("cutoff", [0.3, 4.0, 40.0])
def test_low_pass_is_forward_and_backward_butterworth(order, cutoff):
    sos, pad = signal.butter(order, 2 * cutoff / 500, output="sos"), min(len(X) - 1, int(3 * 500 / cutoff) + 1)
    expected = signal.sosfiltfilt(sos, X, axis=0, padlen=pad)
    np.testing.assert_allclose(low_pass(X, cutoff, 1 / 500, order), expected, atol=1e-7)
    np.testing.assert_allclose(low_pass(np.asfortranarray(X), cutoff, 1 / 500, order), expected, atol=1e-7)
    np.testing.assert_allclose(low_pass(X[:, 2], cutoff, 1 / 500, order), expected[:, 2], atol=1e-7)


def test_causal_sections_begin_as_if_the_first_sample_had_stood():
    sos, out = butterworth(4, 0.1), X.copy()
    _core.filter_sections(sos, out, zero_phase=False)
    state = signal.sosfilt_zi(sos)[:, :, None] * X[0]
    np.testing.assert_allclose(out, signal.sosfilt(sos, X, axis=0, zi=state)[0], atol=1e-9)
    with pytest.raises(ValueError, match="a0"):
        _core.filter_sections(2 * sos, out)


@pytest.mark.parametrize("samples", [256, 333])
def test_spectral_density_is_that_of_welch(samples):
    f, power = signal.welch(X, 500.0, nperseg=samples, axis=0)
    found = spectral_density(X, 500.0, samples)
    np.testing.assert_allclose(found[0], f)
    np.testing.assert_allclose(found[1], power, rtol=1e-9)


def test_median_of_five():
    np.testing.assert_array_equal(median_of_five(X), signal.medfilt(X, (5, 1)))


def test_identify_does_not_import_scipy_signal():
    code = "import sys, robot_dynamics_ros.identification.arm.identify as i; sys.exit('scipy.signal' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize(
    "minutes, rate, kept", [(1, 500.0, 250.0), (10, 500.0, 100.0), (4, 500.0, 250.0), (60, 125.0, 125.0)]
)
def test_a_long_recording_is_decimated_further(minutes, rate, kept):
    samples = int(60 * minutes * rate)
    t, x = np.arange(samples) / rate, np.zeros((samples, 1))
    motion = Motion(t, x, x, x, x, t == 0, rate)
    assert at_lower_rate(motion, kept_rate(samples, rate)).rate == kept
