"""Real logs beside the repository, and synthetic ones written by the tests themselves."""

import os
from pathlib import Path

import pytest
from prepared import given, identified, reported, structure

from robot_dynamics_ros.identification.arm import identify as procedure
from robot_dynamics_ros.identification.blas import one_thread


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Directory of the public UR3 and UR10 logs; skips with the reason where it is absent."""
    places = [os.environ.get("ROBOT_DYNAMICS_DATA"), Path(__file__).resolve().parents[3] / "shared" / "data"]
    for place in places:
        if place and (Path(place) / "ur3" / "id1.bag").is_file():
            return Path(place)
    pytest.skip("real logs are absent: neither ../shared/data nor ROBOT_DYNAMICS_DATA holds ur3/id1.bag")


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
