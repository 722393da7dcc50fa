"""The environment chooses the instruction set, and says so when it cannot."""

import os
import subprocess
import sys

import pytest

from robot_dynamics_ros import _core


def isa_with(value):
    code = "from robot_dynamics_ros import _core; print(_core.isa())"
    environment = {**os.environ, "ROBOT_DYNAMICS_ISA": value}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)


@pytest.mark.parametrize("name", _core.available_isas())
def test_environment_forces_an_instruction_set(name):
    run = isa_with(name)
    assert run.stdout.strip() == name
    assert run.stderr == ""


def test_an_unavailable_name_is_reported_and_the_widest_is_used():
    run = isa_with("avx1024")
    assert run.stdout.strip() == _core.available_isas()[-1]
    assert "ROBOT_DYNAMICS_ISA = 'avx1024' is not available" in run.stderr


def test_selecting_an_unknown_name_is_an_error():
    before = _core.isa()
    with pytest.raises(ValueError, match="isa = 'mmx'"):
        _core.select_isa("mmx")
    assert _core.isa() == before
