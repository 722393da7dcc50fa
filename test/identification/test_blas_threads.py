"""Identification computes in one thread and gives the others back."""

import sys

from threadpoolctl import threadpool_info

from robot_dynamics_ros.identification.blas import one_thread


def counts():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_one_thread_inside_and_as_before_outside():
    before = counts()
    with one_thread():
        assert counts() and set(counts()) == {1}
    assert counts() == before


def test_without_threadpoolctl_nothing_is_limited(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    before = counts()
    with one_thread():
        assert counts() == before
