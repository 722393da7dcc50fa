"""The long run, shortened: faults latch and nothing piles up; what would be wrong with one is found."""

from dataclasses import replace

from robot_dynamics_ros.validation import endurance_clock
from robot_dynamics_ros.validation.endurance import Held, Look, endure, faults_of
from robot_dynamics_ros.validation.endurance_clock import FAULTS, endure_by_clock

CALM = Held(100.0, 5, 20)


def test_pieces_of_torque_control_end_in_a_latched_fault_each():
    rows = list(endure(2, piece=2.0))
    assert [row.piece for row in rows] == [1, 2]
    assert faults_of(rows) == []
    assert all(0.0 < row.largest_error < 0.2 for row in rows)


def test_whatever_grows_or_does_not_latch_is_told():
    good = Look(1, True, 0.01, CALM, CALM, 0, 0, [1.0] * 6)
    last = replace(good, piece=30)
    assert faults_of([good, last]) == []
    wrong = {
        "did not latch": replace(last, latched=False),
        "memory, ours": replace(last, ours=replace(CALM, memory=110.0)),
        "memory, controller": replace(last, controller=replace(CALM, memory=float("nan"))),
        "threads, ours": replace(last, ours=replace(CALM, threads=6)),
        "files, controller": replace(last, controller=replace(CALM, files=21)),
        "records": replace(last, records_lost=1),
        "samples lost": replace(last, samples_lost=1),
    }
    for text, row in wrong.items():
        (line,) = faults_of([good, row])
        assert text in line


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


def test_a_fault_that_does_not_latch_is_told(monkeypatch):
    monkeypatch.setattr(endurance_clock, "FAULTS", (lambda rig: rig.cycle(),))
    (row,) = endure_by_clock(1, seconds=0.1)
    assert not row.latched and faults_of([row]) == ["the fault after piece 1 did not latch"]
