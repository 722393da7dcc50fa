"""Trajectory generators of the simulated controller, without sockets."""

import numpy as np
import pytest

from robot_dynamics_ros.simulation.ur import motion

DT = 0.002
HOME = np.array([0.0, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0.0])


def follow(moving, limit=20_000):
    """All targets of a motion until it has finished: q, qd, qdd (N, n)."""
    targets = []
    while not (targets and moving.finished):
        targets.append(moving.step(DT))
        assert len(targets) < limit
    return [np.array(rows) for rows in zip(*targets, strict=True)]


@pytest.mark.parametrize("velocity, acceleration", [(1.0, 2.0), (0.2, 8.0), (3.0, 1.0)])
def test_movej_is_a_trapezoid_of_its_leading_axis(velocity, acceleration):
    goal = HOME + [0.8, -0.2, 0.1, 0, 0.4, -0.05]
    moving = motion.MoveJ(HOME, goal, velocity, acceleration)
    q, qd, qdd = follow(moving)
    assert q[-1] == pytest.approx(goal, abs=1e-12) and not qd[-1].any()
    assert np.abs(qd).max() <= velocity * (1 + 1e-9) and np.abs(qdd).max() <= acceleration * (1 + 1e-9)
    ramp = min(velocity / acceleration, np.sqrt(0.8 / acceleration))
    assert len(q) * DT == pytest.approx(ramp + 0.8 / (acceleration * ramp), abs=2 * DT)  # as fast as allowed
    assert np.allclose((q - HOME) * 0.8, np.outer(q[:, 0] - HOME[0], goal - HOME))  # synchronous: a straight line
    # positions are the integral of velocities, velocities of accelerations, up to one cycle of each ramp
    assert np.abs(np.diff(q, axis=0, prepend=HOME[None]) / DT - qd).max() <= np.abs(qdd).max() * DT + 1e-9
    assert np.abs(np.diff(qd, axis=0)).max() <= np.abs(qdd).max() * DT * (1 + 1e-6) + 1e-12


def test_movej_refuses_what_makes_no_motion():
    with pytest.raises(motion.MotionError, match="must be positive"):
        motion.MoveJ(HOME, HOME + 0.1, 0.0, 1.0)
    with pytest.raises(motion.MotionError, match="non-finite"):
        motion.MoveJ(HOME, HOME * np.nan, 1.0, 1.0)


@pytest.mark.parametrize("lookahead, gain", [(0.03, 2000), (0.05, 1500), (0.1, 300), (0.2, 300)])
def test_servoj_lags_a_ramp_by_the_lookahead_time(lookahead, gain):
    servo = motion.Servo(HOME, np.zeros(6), np.full(6, 3.0), 40.0)
    servo.lookahead, servo.gain = lookahead, gain
    for k in range(3000):
        servo.target = HOME + 0.1 * k * DT
        q, qd, _ = servo.step(DT)
    assert (servo.target - q) / 0.1 == pytest.approx([lookahead] * 6, abs=2 * DT)
    assert qd == pytest.approx([0.1] * 6, rel=1e-3)


def test_a_small_lookahead_overshoots_and_a_large_one_does_not():
    peaks = []
    for lookahead in (0.03, 0.2):
        servo = motion.Servo(np.zeros(6), np.zeros(6), np.full(6, 3.0), 40.0)
        servo.target, servo.lookahead, servo.gain = np.full(6, 0.05), lookahead, 300.0
        peaks.append(max(servo.step(DT)[0][0] for _ in range(1500)))
    assert peaks[0] > 0.055 and peaks[1] <= 0.05 + 1e-9


def test_servo_keeps_its_limits():
    servo = motion.Servo(np.zeros(6), np.zeros(6), np.full(6, 2.0), 10.0)
    servo.target, servo.gain = np.full(6, 3.0), 2000.0
    rows = [servo.step(DT) for _ in range(500)]
    assert max(np.abs(qd).max() for _, qd, _ in rows) <= 2.0
    assert max(np.abs(qdd).max() for _, _, qdd in rows) <= 10.0 * (1 + 1e-9)


def test_stop_decelerates_along_the_direction_of_motion():
    qd0 = np.array([1.0, -0.5, 0.2, 0, 0, 0])
    q, qd, qdd = follow(motion.Stop(HOME, qd0, 4.0))
    assert len(q) * DT == pytest.approx(0.25, abs=2 * DT)
    assert np.allclose(np.outer(qd[:, 0], qd0), qd, atol=1e-12)
    assert np.abs(qdd).max() <= 4.0 * (1 + 1e-9)
