"""Placeholder-free smoke test: the core imports and validates its arguments."""

import numpy as np
import pytest

from robot_dynamics_ros import _core


def test_chain_names_the_wrong_argument():
    eye = np.eye(4)
    with pytest.raises(ValueError, match="inertia"):
        _core.Chain(eye[None], np.zeros((1, 9)), eye, np.zeros(3))
