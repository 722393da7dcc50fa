"""Waiting for a condition: until it holds or the time is over, with something to do meanwhile; and for Ctrl-C."""

import itertools
import signal

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


def test_ctrl_c_sets_an_event_and_raises_nothing_until_the_end():
    before = signal.getsignal(signal.SIGINT)
    with interrupted() as stop:
        assert not stop.is_set()
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set()
    assert signal.getsignal(signal.SIGINT) is before
