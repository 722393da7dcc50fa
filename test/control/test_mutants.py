"""The mutation check fits the guard: every rule is in the header once, and one that is removed is noticed."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import mutants


def test_every_rule_is_in_the_header_once():
    whole = (mutants.ROOT / "cpp_core/include" / mutants.HEADER).read_text(encoding="utf-8")
    assert all(mutants.mutant(rule) != whole for rule in mutants.MUTANTS)  # ValueError: not there once


@pytest.mark.long
@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_a_removed_rule_is_noticed(tmp_path):
    mutants.compile_into(tmp_path, mutants.mutant("a command is finite"))
    assert "test_guard.py::test_a_command_that_is_not_finite" in mutants.failing_test(tmp_path)
