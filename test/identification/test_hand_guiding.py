"""Hand guiding in recordings to identify from is refused where friction comes late; what only looks like it is not."""

import numpy as np
import pytest
from synthetic import MODEL, TRUTH, UR5E, Truth, synthetic_log

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.hand_guiding import LATE, friction_lag, guided_joints
from robot_dynamics_ros.identification.arm.identify import recognise_effort
from robot_dynamics_ros.identification.arm.state import Identification, Options
from robot_dynamics_ros.identification.dataset.motion import Motion, slow_motion
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log


def guided(share=0.2, late=0.035, seconds=30.0, seed=1):
    """What a controller in freedrive reports: weight, and a share of the friction that comes late."""
    log = synthetic_log(UR5E, TRUTH, seed, seconds, noise=0.0)
    before = np.column_stack([np.interp(log.time - late, log.time, v) for v in log.qd.T])
    log.effort = MODEL.gravity(log.q) + share * (TRUTH.fc * np.tanh(before / 0.02) + TRUTH.fv * before)
    return log


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_hand_guiding_is_refused(share):
    with pytest.raises(DataError, match=r"run: the arm was guided by hand: .*identify --contact ignore"):
        recognise_effort(Identification(UR5E, Options(), [recording(guided(share), "run")], [], ""))
    assert guided_joints(UR5E, slow_motion(recording(synthetic_log(UR5E, TRUTH, 1, 30.0), "driven"))) == []


def test_a_recording_of_which_a_part_is_guided_is_refused_with_that_reason():
    driven, hand = synthetic_log(UR5E, TRUTH, 2, 20.0), guided(seconds=20.0)
    q, qd, effort = (np.concatenate([driven.get(name), hand.get(name)]) for name in ("q", "qd", "effort"))
    stamps = np.concatenate([driven.stamp_ns, hand.stamp_ns + 30_000_000_000])
    half = recording(Log(UR5E.joint_names, stamps, {"q": q, "qd": qd, "effort": effort}), "half")
    assert guided_joints(UR5E, slow_motion(half)) == []
    with pytest.raises(DataError, match="half: the arm was guided by hand in 4 of 8 parts of 5 s, about 19 to 39 s "):
        recognise_effort(Identification(UR5E, Options(), [half], [], ""))


def test_joint_torque_sensors_show_no_rotors_and_no_hand():
    panda = load_robot("panda")
    sensors = Truth(panda.inertial_parameters, *np.zeros((4, 7)))
    driven = [slow_motion(recording(synthetic_log(panda, sensors, seed, 30.0), "driven")) for seed in (1, 2, 3)]
    assert not any(guided_joints(panda, motion) for motion in driven)


def test_links_that_other_joints_accelerate_against_their_own_joint_show_no_hand():
    """The wrist turns against what the shoulder does to its links, and its rotors, in no robot file, outweigh these."""
    robot, t = UR5E.with_updates({"drives.rotor_inertia": None}), np.arange(0.0, 20.0, 0.01)
    wave = sum(a * np.sin(w * t + p) for a, w, p in ((0.5, 1.0, 0.0), (0.25, 2.1, 1.0), (0.12, 3.9, 2.0)))
    q = np.array([0.3, -1.2, 1.5, -1.0, -1.4, 0.4]) + np.outer(wave, [0.0, 0.8, 0.9, -0.3, 0.1, -0.4])
    qd = np.gradient(q, 0.01, axis=0)
    qdd = np.gradient(qd, 0.01, axis=0)
    inertial = MODEL.rnea(q, qd, qdd) - MODEL.gravity(q)
    along = (inertial * qdd).sum(axis=0)
    assert np.flatnonzero(along < 0).tolist() == [3, 4]
    driven = MODEL.rnea(q, qd, qdd) + np.array([0.0, 0.1, 0.1, 0.75, 0.13, 0.0]) * qdd
    driven += np.array([0.0, 60.0, 60.0, 0.0, 0.0, 0.0]) * np.tanh(qd / 0.02)
    assert guided_joints(robot, Motion(t, q, qd, qdd, driven, t == 0.0, 100.0)) == []


def test_travel_before_breakaway_is_no_lag_of_friction():
    t = np.arange(0.0, 40.0, 0.01)
    q = 0.2 * np.sin(0.5 * t)
    v, a = (np.gradient(x, 0.01) for x in (q, np.gradient(q, 0.01)))
    start = t == 0.0
    effort = 8.0 * _core.presliding_elements(q, np.array([2e-3]), start)[:, 0] + 10.0 * v
    motion = Motion(t, *(x[:, None] for x in (q, v, a, effort)), start, 100.0)
    assert abs(friction_lag(motion, np.cos(q), np.sin(3 * t), 0)) < LATE


def test_the_lag_of_friction_is_the_same_in_every_kth_sample():
    motion = slow_motion(recording(guided(0.2, late=0.06), "late"))
    found = []
    for part in (motion, motion.every(3)):
        q, qd, qdd = (np.ascontiguousarray(x) for x in (part.q, part.qd, part.qdd))
        gravity = MODEL.gravity(q)
        inertial = MODEL.rnea(q, qd, qdd) - gravity
        found.append(friction_lag(part, gravity[:, 1], inertial[:, 1], 1))
        assert part.start.sum() == 1 and part.rate == pytest.approx(1 / np.median(np.diff(part.t)))
    assert found[0] == found[1] == pytest.approx(0.06, abs=0.02)


def test_what_one_noisy_recording_does_not_show_of_a_hand_several_do():
    seeds = (1, 2, 3, 5, 7, 8, 9, 10, 11, 12)
    hand = [guided(seconds=4.0, seed=seed) for seed in seeds]
    driven = [synthetic_log(UR5E, TRUTH, seed, 4.0, noise=0.0) for seed in seeds]
    for seed, *logs in zip(seeds, hand, driven, strict=True):
        for log in logs:
            log.effort += 2.0 * np.random.default_rng(seed).normal(size=log.effort.shape)
    recordings = [[recording(x, f"run {k}") for k, x in enumerate(logs)] for logs in (hand, driven)]
    states = [Identification(UR5E, Options(), several, [], "") for several in recordings]
    assert all(guided_joints(UR5E, slow_motion(rec)) == [] for rec in states[0].training)
    with pytest.raises(DataError, match="run 0, .*guided by hand"):
        recognise_effort(states[0])
    recognise_effort(states[1])


def test_friction_in_phase_with_the_motion_is_not_taken_for_contact():
    """Effort that leaves out all inertia, with friction that does not come late: a meaning of effort, not a hand."""
    assert guided_joints(UR5E, slow_motion(recording(guided(0.2), "late")))
    assert guided_joints(UR5E, slow_motion(recording(guided(0.2, late=0.0), "in step"))) == []
