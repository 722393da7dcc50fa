"""Identification computes in one thread and gives the others back."""

from __future__ import annotations

from robot_dynamics_ros.identification.blas import _libraries, one_thread


def counts() -> list[int]:
    return [get() for get, _ in _libraries()]


def test_one_thread_inside_and_as_before_outside():
    before = counts()
    with one_thread():
        assert all(n == 1 for n in counts())
    assert counts() == before
