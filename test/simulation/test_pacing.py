"""Pacing of simulated controllers against a clock that the test sets."""

import struct

import numpy as np
import pytest
from ur_rig import Rig

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.simulation.server import pacing
from robot_dynamics_ros.simulation.server.pacing import MAX_LATE, Pace
from robot_dynamics_ros.simulation.ur import process
from robot_dynamics_ros.simulation.ur.arm import DT
from robot_dynamics_ros.simulation.ur.controller import Registers, Watchdogs


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(pacing.time, "perf_counter", lambda: now[0])
    return now


def finished_cycles(pace, clock, until, overshoot, pauses=()):
    """Cycles done by the wall time `until`: every wait takes `overshoot` [s] too long; pauses {cycle: s} on top."""
    pauses, count = dict(pauses), 0
    while clock[0] < until:
        left = pace.left()
        if left > 0:
            clock[0] += left + overshoot
        else:
            clock[0] += pauses.get(count, 0.0)
            pace.advance()
            count += 1
    return count


@pytest.mark.parametrize("overshoot", [0.0, 1e-4, 3e-4])
def test_waits_that_take_too_long_lose_no_time(clock, overshoot):
    assert finished_cycles(Pace(1000.0), clock, 102.0, overshoot) == pytest.approx(2000, abs=1)


def test_a_delay_is_made_up_and_a_longer_one_given_up(clock):
    pace = Pace(1000.0)
    assert finished_cycles(pace, clock, 102.0, 1e-4, {500: 0.9 * MAX_LATE}) == pytest.approx(2000, abs=1)
    assert pace.late == 0
    lost = 3 * MAX_LATE
    assert finished_cycles(pace, clock, 104.0, 1e-4, {500: lost}) == pytest.approx(2000 - 1000 * lost, abs=2)
    assert pace.late == 1


def test_speed_scales_the_period_and_is_bounded(clock):
    assert finished_cycles(Pace(500.0, speed=4.0), clock, 101.0, 0.0) == pytest.approx(2000, abs=1)
    for factor in (0.0, float("nan"), 1e7):
        with pytest.raises(RobotDynamicsError, match="speed"):
            Pace(500.0, factor)


@pytest.mark.parametrize("answers", [True, False])
def test_a_watchdog_gives_its_client_the_period_in_wall_time_also_while_a_delay_is_made_up(clock, monkeypatch, answers):
    """400 cycles in no time: a client that answers within the 0.2 s keeps its program, one that is silent does not."""
    rig = Rig()
    client = rig.rtde()
    client.ask("I", b"input_int_register_0")
    rig.talk("script", "def p():\n  while True:\n    direct_torque([0,0,0,0,0,0])\n    sync()\n  end\nend\n")
    rig.until(lambda: rig.controller.program is not None)
    write = lambda: client.send("U", struct.pack(">Bi", 1, 7))  # noqa: E731
    write()
    rig.controller.watchdogs.arm("input_int_register_0", 5.0, rig.controller.time)

    def poll(timeout):
        clock[0] += min(timeout, 0.15)
        if answers:
            write()

    monkeypatch.setattr(rig.process, "hub_poll", poll)
    assert process.time is pacing.time  # one clock
    for _ in range(400):
        rig.process.await_watched_input()
        rig.process.cycle()
    assert (rig.controller.program is not None) == answers
    assert clock[0] - 100.0 == pytest.approx(0.6 if answers else 0.2, abs=0.16)


@pytest.mark.parametrize("delay", [0.0, 0.06])
def test_cycles_that_make_up_a_delay_take_one_input_each_as_those_in_time(clock, monkeypatch, delay):
    """A stream of positions would jump otherwise: the packages of the delay come all at once."""
    rig = Rig()
    client, seen = rig.rtde(), []
    client.ask("I", b"input_double_register_0")
    cycle, sent = rig.process.cycle, iter(range(1, 1000))

    def poll(timeout):
        """A client that sends every 2 ms; the process stands still once."""
        begin = clock[0]
        clock[0] += timeout + (delay if len(seen) == 10 and timeout > 0.0 else 0.0)
        for _ in range(round((clock[0] - begin) / DT)):
            client.send("U", struct.pack(">Bd", 1, next(sent)))

    def step():
        seen.append(rig.controller.registers.doubles_in(0, 1)[0])
        rig.process.stopping = len(seen) == 100
        cycle()

    monkeypatch.setattr(rig.process, "hub_poll", poll)
    monkeypatch.setattr(rig.process, "cycle", step)
    rig.process.run()
    assert set(np.diff(seen[1:])) <= {0.0, 1.0} and seen[-1] > 95


def test_a_watchdog_that_will_not_fire_in_the_next_cycle_does_not():
    """Its client is waited for in the cycle before."""
    watchdogs = Watchdogs(Registers())
    for armed in range(1000, 3000):
        watchdogs.arm("input_int_register_0", 5.0, armed * DT)
        for k in range(armed + 98, armed + 102):
            assert watchdogs.overdue(k * DT, ahead=DT) == watchdogs.overdue((k + 1) * DT)
