"""Contact in a recording that is learned from."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from synthetic import with_signals

from bench.force.recordings import RATE, reported, simulated
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.learning.changes import change_of
from robot_dynamics_ros.learning.intake import _after_motion, _in_stands, touched, working_motion
from robot_dynamics_ros.learning.written import with_residuals
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.trajectories import motions

ARM = np.array([15.0, 25.0, 15.0, 4.0, 3.0, 1.0])  # Nm of a collision


@pytest.mark.parametrize(("joints", "found"), [((1,), False), ((1, 2), True), ((0,), True)])
def test_contact_beside_known_friction_loads_several_joints(joints, found):
    """An error of friction of one joint is none; an arm of one joint has no second one."""
    n = 1 if joints == (0,) else 4
    residual = np.random.default_rng(0).normal(0.0, 0.01, (3000, n))
    residual[1000:1100, list(joints)] += np.array([2.0, 1.5])[: len(joints)]
    rows = touched([(residual, np.ones_like(residual), 0.25)], np.full(n, 4.0), 50.0)
    assert rows[1015:1085].all() == found and rows.any() == found and rows.sum() < 200


def test_contact_in_a_recording_is_left_out_and_not_learned(worker, monkeypatch):
    """A push for a fifth of the time: what it adds to the residual variances is a third without the contact found."""
    log = worker.log()
    free, kept = worker.learned(log)
    rows = (log.time > 8) & (log.time < 13)
    arm = np.array([5.0, 9.0, 7.0, 2.0, 1.5, 0.5])
    touching = with_signals(log, effort=log.effort + rows[:, None] * arm)
    pushed, left = worker.learned(touching)
    assert 2.0 < kept.duration - left.duration < 7.0
    monkeypatch.setattr("robot_dynamics_ros.learning.intake.FAR", np.inf)
    with_contact, _ = worker.learned(touching)
    more, less = ((t.sigma**2 - free.sigma**2).sum() for t in (with_contact, pushed))
    assert less < more / 3


def test_a_collision_is_left_out_and_the_rest_of_the_recording_agrees(worker):
    log = worker.log()
    hit = (log.time > 12.0) & (log.time < 12.6)
    triangle, kept = worker.learned(with_signals(log, effort=log.effort + hit[:, None] * ARM))
    assert not any(p.t[0] < 12.3 < p.t[-1] for p in kept.pieces)
    assert change_of(worker.state, triangle, worker.prior.columns) is None


def test_a_long_stand_is_judged_by_its_own_scatter():
    """What is larger than in motion is no contact there; a push beyond six deviations is."""
    residual = np.random.default_rng(0).normal(0.0, 0.01, (6000, 4))
    stands = np.repeat(np.arange(6000) >= 3000, 4).reshape(-1, 4)
    residual[3000:] += np.repeat(np.random.default_rng(1).normal(0.0, 0.5, (200, 4)), 15, axis=0)
    residual[5000:5100] += 5.0
    rows = touched([(residual, ~stands, 0.25), (residual, stands, 0.5)], np.full(4, 4.0), 50.0)
    assert rows[5015:5085].all() and rows.sum() < 200


def left_of(worker, motion, force, begin, end, ramp):
    """What learning leaves of a motion under a force (3,) [N] from `begin` to `end` [s], which takes `ramp` [s]."""
    machine, t = simulated(worker.robot, worker.who, 20), np.arange(len(motion[0])) / RATE
    machine.reset(motion[0][0])
    share = np.clip(np.minimum(t - begin, end - t) / ramp, 0.0, 1.0)
    wrench = np.outer(share, [*force, 0.0, 0.0, 0.0])
    return worker.learned(reported(machine.run(*motion, wrench=wrench)[0]))[1]


def test_a_push_in_a_long_stand_is_left_out(worker):
    """30 N, within a second so that no joint seems to move, while the arm has stood for 10 s."""
    parts = worker.moves(20)
    motion = motions.join(parts, motions.hold(parts[0][-1], 20.0, RATE))
    left = left_of(worker, motion, np.full(3, 30.0 / np.sqrt(3.0)), 34.5, 37.5, 1.0)
    assert not has(left, 36.0) and has(left, 32.0) and has(left, 40.0)


def test_a_push_is_less_than_what_stands_differ_by():
    """20 stands of 6 s that friction moves by up to 3 Nm, in all joints; one has a push of 4 Nm for 2 s."""
    push, fast = slice(5600, 5700), np.arange(6000) % 300 == 0
    residual = np.repeat(np.random.default_rng(0).uniform(-3.0, 3.0, (20, 4)), 300, axis=0)
    residual += np.random.default_rng(1).normal(0.0, 0.01, residual.shape)
    residual[push] += 4.0
    motion = SimpleNamespace(qd=np.repeat(1.0 * fast, 4).reshape(-1, 4), start=np.arange(6000) == 0)
    looks = [[(r, np.ones_like(r), 0.7)] for r in (residual, _in_stands(residual, motion))]
    whole, changes = (touched(look, np.full(4, 4.0), 50.0) for look in looks)
    assert not whole.any() and changes[push].all() and changes.sum() < 200


def test_a_push_in_a_stand_before_any_motion_is_left_out(worker):
    """30 N down: what friction bears is not known, but it does not change."""
    parts = worker.moves(20, 15.0)
    motion = motions.join(motions.hold(parts[0][0], 12.0, RATE), parts)
    left = left_of(worker, motion, [0.0, 0.0, -30.0], 5.0, 7.0, 0.2)
    assert not has(left, 6.0) and has(left, 3.0) and has(left, 10.0)


def test_contact_is_left_out_of_a_recording_in_pieces_too(worker):
    """Rows with a named payload make pieces of it."""
    log = worker.log()
    hit, payload = (log.time > 14.0) & (log.time < 15.0), np.zeros((len(log), 4))
    payload[(log.time > 6.0) & (log.time < 8.0), 0] = 1.0
    log = with_signals(log, effort=log.effort + hit[:, None] * ARM, payload=payload)
    _, left = worker.learned(log)
    assert has(left, 5.0) and not has(left, 7.0) and has(left, 12.0) and not has(left, 14.5)


def test_most_pushes_of_a_first_recording_are_left_out(worker):
    """30 N down for 1.5 s, every 5 s: what the first look takes for mass and friction, the second one does not."""
    log, model = worker.log(1), RobotModel(worker.robot.chain(), worker.robot.joint_names)
    force = -30.0 * ((log.time % 5.0 > 3.0) & (log.time % 5.0 < 4.5))
    log = with_signals(log, effort=log.effort - model.jacobian(log.q)[:, 2] * force[:, None])
    _, left = worker.learned(log, 1, alone=True)
    times = left.stacked("time")
    assert ((times % 5.0 > 3.2) & (times % 5.0 < 4.3)).sum() < 0.5 * 5 * 1.1 * RATE and left.duration > 18.0


def test_a_stand_after_a_gap_is_no_motion(worker):
    """The clock of a recording goes on over its pieces: of a stand one second is learned."""
    log = worker.logs[0]
    log = with_signals(log, q=log.q.copy(), effort=log.effort.copy(), qd=None)
    log.q[5500:], log.effort[5500:] = log.q[5500], log.effort[5500]
    motion = working_motion(recording(log[np.r_[:5000, 5500 : len(log)]], "gap"))
    moved = _after_motion(motion)
    assert moved.any() and not moved[motion.t > 13.0].any() and motion.t[-1] > 24.0


def has(recording, t):
    """Whether a recording has the time t [s] after its first sample."""
    return any(p.time[0] < t < p.time[-1] for p in recording.pieces)


def test_pushes_that_a_first_look_has_left_do_not_widen_what_the_written_file_states(worker, learned):
    """100 N along z for 0.5 s, every 4 s."""
    free = worker.recordings[:2]
    both = free, [pushed(rec, learned) for rec in free]
    stated = [with_residuals(learned, recordings).residuals for recordings in both]
    for name in ("moving", "rest"):
        before, after = (np.array(getattr(found, name)) for found in stated)
        assert (after < 1.5 * before).all()


def pushed(recording, robot):
    """The recording with the pushes in its effort."""
    model = RobotModel(robot.chain(), robot.joint_names)
    pieces = []
    for piece in recording.pieces:
        force = 100.0 * (piece.t % 4.0 > 3.5)
        pieces.append(replace(piece, effort=piece.effort - model.jacobian(piece.q)[:, 2] * force[:, None]))
    return replace(recording, pieces=pieces)
