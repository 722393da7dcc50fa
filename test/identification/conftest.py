"""Identifications of synthetic logs, made once for the tests of a file."""

import pytest
from prepared import TRUTH, UR5E, given, identified, reported, structure
from synthetic import synthetic_log

from robot_dynamics_ros.identification.arm import identify as procedure
from robot_dynamics_ros.identification.blas import one_thread


@pytest.fixture(scope="module")
def log():
    """12 s of a known robot, which no test changes."""
    return synthetic_log(UR5E, TRUTH, 1, duration=12.0)


@pytest.fixture(scope="module")
def found():
    """An identification of two synthetic logs, which no test changes."""
    return identified()


@pytest.fixture(scope="module")
def result():
    """Its result as reports take it, which no test changes."""
    return reported()


@pytest.fixture
def given_structure(monkeypatch):
    """`identify` with the filters and laws of prepared.structure instead of a choice from the data."""
    monkeypatch.setattr(procedure, "STEPS", given(structure()))


@pytest.fixture(scope="module")
def calm():
    """Small matrices on a busy machine: a second thread of the algebra library only waits."""
    with one_thread():
        yield
