"""The long run, shortened: faults latch and nothing piles up; what would be wrong with one is found."""

from dataclasses import replace

import numpy as np
import pytest

from bench.endurance import clock as endurance_clock
from bench.endurance.clock import FAULTS, endure_by_clock
from bench.endurance.pieces import Held, Look, endure, faults_of, growth_of

CALM = Held(100.0, 5, 20)


@pytest.mark.long
@pytest.mark.realtime  # the guard latches early where the controller's process gets no time
def test_pieces_of_torque_control_end_in_a_latched_fault_each():
    rows = list(endure(2, piece=2.0))
    assert [row.piece for row in rows] == [1, 2]
    assert faults_of(rows) == []
    assert all(0.0 < row.largest_error < 0.2 for row in rows)


def test_whatever_grows_or_does_not_latch_is_reported():
    good = Look(1, True, 0.01, CALM, CALM, 0, 0)
    last = replace(good, piece=30)
    assert faults_of([good, last]) == []
    wrong = {"did not latch": {"latched": False}, "records": {"records_lost": 1}, "samples lost": {"samples_lost": 1}}
    held = {"memory, ours": {"memory": 110.0}, "memory, controller": {"memory": float("nan")}}
    held |= {"threads, ours": {"threads": 6}, "files, controller": {"files": 21}}
    wrong |= {text: {text.split(", ")[1]: replace(CALM, **change)} for text, change in held.items()}
    for text, change in wrong.items():
        (line,) = faults_of([good, replace(last, **change)])
        assert text in line


def test_memory_is_flat_after_the_first_ten_pieces_and_not_before():
    filling = [replace(CALM, memory=100.0 + 3.0 * k) for k in range(10)]
    flat = [*filling, *[replace(CALM, memory=127.0 + 4.9)] * 30]
    assert growth_of("ours", flat) == []
    (line,) = growth_of("ours", [*flat[:20], replace(CALM, memory=132.1), *flat[21:]])  # also when it goes back
    assert line == "memory, ours: 127.0 -> 132.1 MB"


def test_this_process_is_measured():
    import os
    import threading

    before, stop = Held.of(os.getpid()), threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    with open("/dev/null", "rb"):
        during = Held.of(os.getpid())
    stop.set()
    thread.join()
    assert during.threads == before.threads + 1 and during.files == before.files + 1
    assert before.memory > 1.0


def test_every_kind_of_fault_latches_by_clock_and_garbage_changes_nothing():
    rows = list(endure_by_clock(len(FAULTS), seconds=0.5))
    assert all(row.latched for row in rows) and len(rows) == len(FAULTS)
    assert all(row.largest_error < 0.2 and row.records_lost == 0 for row in rows)
    assert rows[-1].ours.threads == rows[0].ours.threads and rows[-1].ours.files == rows[0].ours.files


def test_a_fault_that_does_not_latch_is_reported(monkeypatch):
    monkeypatch.setattr(endurance_clock, "FAULTS", (lambda rig: rig.cycle(),))
    (row,) = endure_by_clock(1, seconds=0.1)
    assert not row.latched and faults_of([row]) == ["the fault after piece 1 did not latch"]


def test_garbage_fills_every_field_of_its_type():
    pytest.importorskip("rclpy")
    from bench.endurance.topics import Garbage, message_type

    garbage = Garbage(["a", "b"])
    for name in ("sensor_msgs/msg/JointState", "trajectory_msgs/JointTrajectory", "diagnostic_msgs/DiagnosticArray"):
        kind = message_type(name)
        made = [garbage.message(kind) for _ in range(40)]  # each assignment is checked by the message's own setters
        assert len({m.header.stamp.sec for m in made}) > 2 and all(isinstance(m, kind) for m in made)
    states = [garbage.message(message_type("sensor_msgs/msg/JointState")) for _ in range(50)]
    velocities = [v for m in states for v in m.velocity]
    assert not np.isfinite(velocities).all() and 1e300 in velocities
    assert any(m.name == ["a", "b"] for m in states) and any(len(m.name) > 1000 for m in states)
