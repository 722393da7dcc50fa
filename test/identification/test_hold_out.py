"""A periodic recording is judged on another motion, or not at all."""

import numpy as np
from scipy.interpolate import CubicSpline
from synthetic import excitation, torque, truth_of

from robot_dynamics_ros.identification.arm.identify import identify_recordings
from robot_dynamics_ros.identification.dataset.hold_out import other_motion
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.identification.reports.result import summarise
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

ROBOT = load_robot("ur5e")
RATE = 125.0


def runs(*motions):
    """A recording of periodic motions (seed, period [s], count) one after another, a smooth passage of 2 s between."""
    parts = [
        excitation(6, count * period, RATE, seed, amplitude=0.6, period=period)[1] for seed, period, count in motions
    ]
    t = np.cumsum([0, *(250 + len(p) for p in parts)]) / RATE
    times = np.concatenate([a + np.arange(len(p)) / RATE for a, p in zip(t, parts, strict=False)])
    curve = CubicSpline(times, np.vstack(parts))
    t = np.arange(0, times[-1], 1 / RATE)
    q, qd, qdd = (np.ascontiguousarray(curve(t, k)) for k in range(3))
    rng = np.random.default_rng(9)
    tau = torque(ROBOT, truth_of(ROBOT), q, qd, qdd) + 0.2 * rng.standard_normal(q.shape)
    stamp = 10**18 + np.round(np.arange(len(q)) / RATE * 1e9).astype(np.int64)
    return recording(Log(ROBOT.joint_names, stamp, {"q": q, "effort": tau}), "run")


def test_a_second_periodic_motion_is_held_out_whole():
    rec = runs((1, 5.0, 6), (2, 4.0, 3))
    training, validation, text = other_motion([rec])
    (held,) = validation[0].pieces
    assert abs(held.t[0] - 32.0) < 0.1 and abs(held.t[-1] - 44.0) < 0.1
    assert all(p.t[-1] <= held.t[0] or p.t[0] >= held.t[-1] for p in training[0].pieces)
    assert "period 4 s" in text


def test_motions_of_one_period_and_other_content_are_distinguished():
    assert other_motion([runs((1, 5.0, 4), (2, 5.0, 3))]) is not None
    assert abs(other_motion([runs((1, 5.0, 4)), runs((2, 5.0, 3))])[1][0].samples - 15 * RATE) <= 1


def test_one_motion_however_often_is_not_held_out():
    assert other_motion([runs((1, 5.0, 6))]) is None
    assert other_motion([runs((1, 5.0, 3), (1, 5.0, 3))]) is None
    assert other_motion([runs((1, 5.0, 3)), runs((1, 5.0, 3))]) is None


def test_the_verdict_says_that_a_repeat_judges_nothing(given_structure):
    result = summarise(identify_recordings(ROBOT, [runs((1, 5.0, 3))], []), "ur5e")
    assert any("periodic" in text for text in result["warnings"])
    assert "cannot be judged" in " ".join(result["verdict"]) and "--validate" in " ".join(result["verdict"])
    assert result["grade"] == "fair"
    apart = identify_recordings(ROBOT, [runs((1, 5.0, 3), (2, 4.0, 3))], [])
    assert summarise(apart, "ur5e")["grade"] == "good" and "held out" in apart.split
