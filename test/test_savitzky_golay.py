"""Equal-delay state estimation [Madsen2020 ch6]."""

import numpy as np
import pytest
from scipy.signal import savgol_coeffs

from robot_dynamics_ros._core import SavitzkyGolay

DT = 1e-3


@pytest.mark.parametrize(("window", "order"), [(5, 2), (11, 3), (101, 2), (101, 4)])
def test_weights_are_those_of_scipy(window, order):
    estimate, answer = SavitzkyGolay(1, window, order), []
    for x in [0.0] * (window + 2) + [1.0] + [0.0] * (window + 2):
        if estimate.push(np.array([x])):
            answer.append(estimate.value()[0])
    zeros = len(answer) - window
    begin = next(k for k in range(zeros + 1) if answer[k] != 0.0)
    np.testing.assert_allclose(answer[begin : begin + window], savgol_coeffs(window, order), atol=1e-12)
    assert not any(answer[:begin]) and not any(answer[begin + window :])


@pytest.mark.parametrize("arguments", [(4, 2), (1, 0), (5, 5), (5, -1)])
def test_weights_name_the_wrong_argument(arguments):
    with pytest.raises(ValueError, match="window|order"):
        SavitzkyGolay(1, *arguments)


def test_a_quadratic_and_its_derivatives_come_out_exactly_51_samples_late():
    estimate = SavitzkyGolay(2, 101, 2)
    assert estimate.delay == 51
    t = DT * np.arange(300)
    x = np.column_stack([0.3 + 2 * t - 5 * t**2, 7 * t])
    ready = [estimate.push(row) for row in x]
    assert ready.index(True) == 102
    late = 299 - 51
    np.testing.assert_allclose(estimate.value(), x[late], atol=1e-12)
    np.testing.assert_allclose(estimate.first(DT), [2 - 10 * t[late], 7], atol=1e-9)
    np.testing.assert_allclose(estimate.second(DT), [-10, 0], atol=1e-6)
