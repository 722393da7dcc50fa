"""Fixtures of the tests of models."""

import pytest

from robot_dynamics_ros import _core


@pytest.fixture(params=_core.available_isas())
def isa(request):
    """Every instruction set in turn; afterwards the one that was in use."""
    before = _core.isa()
    _core.select_isa(request.param)
    yield request.param
    _core.select_isa(before)
