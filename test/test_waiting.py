"""Waiting for a condition: until it holds or the time is over, with something to do meanwhile; and for Ctrl-C."""

import itertools
import signal

import pytest

from robot_dynamics_ros.waiting import interrupted, wait_until


def test_a_condition_that_holds_is_not_waited_for_and_one_that_never_does_ends_with_the_clock():
    def nothing():
        raise AssertionError("done although the condition holds")

    assert wait_until(lambda: True, 0.0, meanwhile=nothing)
    looks, clock = [], itertools.count()  # a second passes with every look at the clock
    assert not wait_until(lambda: looks.append(1), 3.0, meanwhile=lambda: None, now=lambda: next(clock))
    assert len(looks) == 4


def test_what_is_done_meanwhile_can_make_the_condition_hold():
    done = []
    assert wait_until(lambda: len(done) == 3, 60.0, meanwhile=lambda: done.append(1)) and len(done) == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_sigterm_and_a_closed_terminal_set_an_event_and_raise_nothing_until_the_end(number):
    """Also where the tests run under nohup, which ignores SIGHUP."""
    before = signal.signal(number, signal.default_int_handler)
    try:
        with interrupted() as stop:
            assert not stop.is_set()
            signal.raise_signal(number)
            assert stop.is_set()
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)


def test_a_closed_terminal_that_is_ignored_stays_ignored():
    """Under nohup the motion goes on."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interrupted() as stop:
            signal.raise_signal(signal.SIGHUP)
        assert not stop.is_set()
    finally:
        signal.signal(signal.SIGHUP, before)
