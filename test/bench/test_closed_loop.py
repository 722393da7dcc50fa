"""The closed-loop protocols fail without what they are about, and repeat exactly.

One short run goes over the wire and must do what the one in one thread does.
"""

from itertools import pairwise

import numpy as np
import pytest

from bench.endurance.pieces import STALL, Lockstep
from bench.faults.bench import ask
from bench.papers import liu_hand_guiding, madsen_adaptive, madsen_egms_control
from bench.papers.labs.in_process import WARM, InProcessLoop, Run
from robot_dynamics_ros._core import EnableResult, TorqueMode
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.trajectories.smooth import through


@pytest.mark.long
def test_without_adaptation_nothing_improves(monkeypatch):
    monkeypatch.setattr(madsen_adaptive, "CONTROL", madsen_adaptive.CONTROL | {"law": "fixed"})
    rows = madsen_adaptive.run(True)
    assert not any(row.met for row in rows[:2])
    assert all(abs(row.ours) < 10.0 for row in rows[:2])


@pytest.mark.long
def test_without_memory_reversals_are_no_better(monkeypatch):
    taken, bare = madsen_egms_control._pass, {"memory": False}
    monkeypatch.setattr(madsen_egms_control, "_pass", lambda r, path, p, *rest: taken(r, path, p | bare, *rest))
    rows = madsen_egms_control.run(True)
    assert not any(row.met for row in rows[:2])
    assert rows[0].ours == pytest.approx(1.0) and rows[1].ours == pytest.approx(1.0)


@pytest.mark.long
def test_a_hand_feels_friction_that_is_not_compensated(monkeypatch):
    bare = liu_hand_guiding.MODELS["no compensation"]
    monkeypatch.setattr(liu_hand_guiding, "MODELS", {"no compensation": bare, "E-GMS": bare})
    rows = {row.figure: row for row in liu_hand_guiding.run(True)}
    assert not rows["torque to start with E-GMS / without compensation"].met
    assert not rows["torque to keep moving with E-GMS / without"].met


START = np.array([0.0, -1.5, 1.5, -1.5, -1.5, 0.0])
PATH = through(np.vstack([START, START + 0.2, START]), velocity=1.0, acceleration=4.0)


def in_one_thread():
    """One second of torque control up and down."""
    return InProcessLoop(load_robot("ur5e"), {"law": "fixed"}).follow(PATH, 1.0)


def test_one_thread_repeats_bit_for_bit():
    a, b = in_one_thread(), in_one_thread()
    assert np.array_equal(a.q, b.q) and np.array_equal(a.torque, b.torque)


class Swing(Lockstep):
    def made_arm(self):
        self.simulation.command("set_temperatures", lubricant=WARM)
        arm = super().made_arm()
        arm.move = lambda: None  # not by its own path
        return arm


@pytest.mark.long
@pytest.mark.realtime
def test_the_wire_does_what_one_thread_does():
    with Swing({"law": "fixed"}) as bench:
        arm = bench.arm
        arm.driver.start_torque()
        arm.driver.records.clear()
        ask(arm.loop, TorqueMode.track, PATH)
        arm.read(STALL, lambda: arm.loop.enabled != EnableResult.pending)
        arm.read(STALL, lambda: sum(r["run"] for r in arm.driver.records) > 600)
        records = [r for r in arm.driver.records if r["run"]]
    once = [b for a, b in pairwise(records) if a["stamp_ns"] != b["stamp_ns"]][:500]
    wire, thread = Run([records[0], *once][:500]), in_one_thread()
    assert (np.diff(wire.stamp_ns) == 2_000_000).all(), "a cycle was lost in lockstep"
    difference = np.abs(wire.q - thread.q).max()
    assert difference < 0.01, f"{difference} rad: more than what the robot's way to the start leaves in its joints"
    assert np.ptp(wire.q, axis=0).min() > 0.1
