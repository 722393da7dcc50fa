"""Direction of gravity from recordings: tilted bases, joints that stand, and arms whose friction does not show."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from synthetic import UR5E, carrying, excitation, torque, truth_of

from robot_dynamics_ros.effort.meaning import CURRENT, TORQUE
from robot_dynamics_ros.identification.arm.mounting import STANDARD, mounted
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.robot_file import load_robot

FR3 = load_robot("fr3")
X = (1.0, 0.0, 0.0)
WRONG = np.random.default_rng(0).normal(1.0, 0.1, (UR5E.n_joints, 1))  # factors on the masses of the file
TRUTH = replace(truth_of(UR5E), phi=(WRONG * UR5E.inertial_parameters.reshape(-1, 10)).ravel())

WRONGER = replace(TRUTH, phi=((3.0 * WRONG - 2.0) * UR5E.inertial_parameters.reshape(-1, 10)).ravel())


def motion(robot, truth, gravity, seed=3, still=0.0):
    """30 s of motion at 50 Hz; for a share `still` of every 2 s the arm stands, held by friction of any sign."""
    t, q, qd, qdd = excitation(robot.n_joints, 30.0, 50.0, seed)
    effort = torque(robot, truth, q, qd, qdd, np.asarray(gravity))
    stands = t % 2.0 < 2.0 * still
    held = truth.fc * np.random.default_rng(seed).uniform(-2.0, 2.0, (16, robot.n_joints))[(t / 2.0).astype(int)]
    qd, qdd = (np.where(stands[:, None], 0.0, x) for x in (qd, qdd))
    effort = np.where(stands[:, None], torque(robot, truth, q, 0 * q, 0 * q, np.asarray(gravity)) + held, effort)
    return Motion(t, q, qd, qdd, effort, t == 0, 50.0)


def gravity_at(tilt, axis=(0.8, 0.6, 0.0)):
    """Gravity (3,) in the frame of a base turned by so many degrees about an axis."""
    return Rotation.from_rotvec(np.deg2rad(tilt) * np.array(axis)).apply(UR5E.gravity)


def angle(a, b):
    return np.rad2deg(np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1.0, 1.0)))


@pytest.mark.parametrize("still", [0.0, 0.6])
@pytest.mark.parametrize("tilt", [0.0, 10.0, 40.0, 90.0, 180.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_tilted_base_is_found_with_masses_that_are_wrong_and_an_upright_one_is_left(tilt, still, seed):
    gravity = gravity_at(tilt)
    found, text = mounted(UR5E, motion(UR5E, TRUTH, gravity, seed, still), TORQUE)
    assert bool(text) == (tilt > 0) and angle(found.gravity, gravity) < 2.5


@pytest.mark.parametrize("meaning", [TORQUE, CURRENT])
@pytest.mark.parametrize("tilt", [0.0, 4.0, 20.0, 60.0])
@pytest.mark.parametrize("seed", range(2))
def test_a_tool_that_no_file_names_hides_no_tilt_and_is_none(tilt, seed, meaning):
    """2 kg, 0.1 m from the flange."""
    gravity = gravity_at(tilt)
    robot, gain = given_in(meaning)
    one = motion(UR5E, carrying(2.0, (0.0, 0.02, 0.1), TRUTH), gravity, seed)
    one.effort[:] /= gain
    found, text = mounted(robot, one, meaning)
    assert bool(text) == (tilt > 0)
    assert angle(found.gravity, gravity) < (1.5 if meaning == TORQUE else 5.0)  # effort per Nm is unknown, too


def given_in(meaning):
    """The robot, and its effort per Nm."""
    robot = UR5E.with_updates({"drives.effort.unit": meaning.unit, "drives.torque_constant": CONSTANTS})
    return robot, CONSTANTS if meaning == CURRENT else 1.0


def test_an_axis_of_the_base_is_taken_where_the_direction_may_be_one():
    found, _ = mounted(UR5E, motion(UR5E, TRUTH, [STANDARD, 0.0, 0.0]), TORQUE)
    np.testing.assert_allclose(found.gravity, [STANDARD, 0.0, 0.0])
    assert "the effort of the recordings shows" in found.sources[found.kinematics.source["gravity"]]


@pytest.mark.parametrize("joints", [slice(None), slice(1, 3)])
def test_an_effort_of_the_other_sign_is_no_ceiling(joints):
    """Shoulder and elbow alone have most of gravity, the other joints most of the signs."""
    one = motion(UR5E, TRUTH, [0.0, 0.0, -STANDARD])
    one.effort[:, joints] *= -1.0
    assert mounted(UR5E, one, TORQUE)[1] == ""


def test_a_sign_that_friction_does_not_show_turns_no_upright_arm_over():
    """Friction that seems to create energy, as it does in short recordings."""
    one = motion(UR5E, replace(TRUTH, fc=-0.3 * TRUTH.fc, fv=-0.3 * TRUTH.fv), [0.0, 0.0, -STANDARD])
    assert mounted(UR5E, one, TORQUE)[1] == ""


@pytest.mark.parametrize("seed", range(4))
def test_an_arm_whose_friction_does_not_show_is_not_turned_over(seed):
    """Its residual is noise, whose dissipation has any sign."""
    zero = np.zeros(FR3.n_joints)
    truth = replace(truth_of(FR3), fc=zero, fv=zero, offset=zero)
    one = motion(FR3, truth, FR3.gravity, seed)
    one.effort[:] += np.random.default_rng(seed).normal(0.0, 0.1, one.effort.shape) - 0.02 * one.qd
    assert mounted(FR3, one, TORQUE)[1] == ""


def test_a_tilt_that_few_joints_may_agree_on_by_chance_is_left():
    exact = replace(TRUTH, phi=UR5E.inertial_parameters.ravel())
    tilted = [gravity_at(x, X) for x in (1.5, 3.5)]
    assert [bool(mounted(UR5E, motion(UR5E, exact, g), TORQUE)[1]) for g in tilted] == [False, True]


@pytest.mark.parametrize("meaning", [TORQUE, CURRENT])
@pytest.mark.parametrize("way", [0.0, 2.0, 4.0])
def test_a_slight_tilt_shows_in_the_first_joint_and_a_hose_is_none(way, meaning):
    """Masses are wrong by 30 %; the torque of a hose that is pulled beyond an angle is an upright robot's."""
    gravity = gravity_at(4.0, (np.cos(way), np.sin(way), 0.0))
    robot, gain = given_in(meaning)
    tilted, hose = (motion(UR5E, WRONGER, g, int(way)) for g in (gravity, UR5E.gravity))
    hose.effort[:, 0] += 6.0 * np.maximum(hose.q[:, 0] - hose.q[:, 0].mean(), 0.0)
    for one in (tilted, hose):
        one.effort[:] /= gain
    found, text = mounted(robot, tilted, meaning)
    assert text and angle(found.gravity, gravity) < 1.5
    assert mounted(robot, hose, meaning)[1] == ""


def test_a_steep_tilt_that_the_first_joint_alone_shows_is_none():
    upright, tilted = (motion(UR5E, TRUTH, g) for g in (UR5E.gravity, gravity_at(25.0, X)))
    upright.effort[:, 0] = tilted.effort[:, 0]
    assert mounted(UR5E, upright, TORQUE)[1] == ""


def slow_error(n, seed):
    """Torque (n,) [Nm] that lasts for 2 s, of 0.2 Nm."""
    return 0.2 * np.convolve(np.random.default_rng(seed).normal(size=n + 99), np.full(100, 0.1), "valid")


@pytest.mark.parametrize("seed", range(4))
def test_a_tilt_shows_although_the_first_joint_hardly_turns(seed):
    """Masses are wrong by 30 %, errors of its torque last for 2 s."""
    t, *state = excitation(UR5E.n_joints, 30.0, 50.0, seed)
    q, qd, qdd = (x * [0.1, 1.0, 1.0, 1.0, 1.0, 1.0] for x in state)
    gravity = gravity_at(6.0, X)
    effort = torque(UR5E, WRONGER, q, qd, qdd, gravity)
    effort[:, 0] += slow_error(len(t), seed)
    found, _ = mounted(UR5E, Motion(t, q, qd, qdd, effort, t == 0, 50.0), TORQUE)
    assert angle(found.gravity, gravity) < 1.5


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tilt", [0.0, 2.0, 5.0])
def test_presliding_and_stribeck_friction_of_the_first_joint_hide_no_tilt(seed, tilt):
    gravity = gravity_at(tilt, X)
    one = motion(UR5E, TRUTH, gravity, seed)
    one.effort[:, 0] += dahl_and_stribeck(one.q[:, 0], one.qd[:, 0])
    found, text = mounted(UR5E, one, TORQUE)
    assert bool(text) == (tilt > 0) and angle(found.gravity, gravity) < 0.3


def dahl_and_stribeck(q, v, dahl=10.0, travel=0.02, stribeck=6.0, speed=0.1):
    """Torque (N,) [Nm] of Dahl friction with a travel [rad] before it slides, and of friction that falls with speed."""
    z = np.zeros_like(q)
    for k, (step, way) in enumerate(zip(np.diff(q), np.sign(np.diff(q)), strict=True)):
        z[k + 1] = way + (z[k] - way) * np.exp(-np.abs(step) / travel)
    return dahl * z + stribeck * np.tanh(v / 0.01) * np.exp(-np.abs(v) / speed)


@pytest.mark.parametrize("others", [0.0, 0.15])
@pytest.mark.parametrize("hose", [True, False])
def test_a_tilt_that_only_the_angle_of_the_first_joint_shows_may_be_a_hose(hose, others):
    """The reach hardly changes; where the other joints stand, too, nothing is changed, and a sentence says so."""
    t, *state = excitation(UR5E.n_joints, 30.0, 50.0, 1)
    q, qd, qdd = (x * np.append(1.0, 5 * [others]) + y for x, y in zip(state, (POSE, 0.0, 0.0), strict=True))
    gravity = UR5E.gravity if hose else gravity_at(5.0, X)
    effort = torque(UR5E, TRUTH, q, qd, qdd, gravity)
    effort[:, 0] += 3.0 * np.sin(q[:, 0]) * hose + slow_error(len(t), 0)
    found, text = mounted(UR5E, Motion(t, q, qd, qdd, effort, t == 0, 50.0), TORQUE)
    if others and not hose:
        assert angle(found.gravity, gravity) < 1.0
    else:
        assert "shoulder_pan_joint changes with its angle, as of a hose or of a base that leans by" in text
        np.testing.assert_array_equal(found.gravity, UR5E.gravity)


POSE = np.array([0.0, -1.0, 1.5, -1.5, -1.5, 0.0])  # rad
CONSTANTS = np.array([21.0, 18.0, 16.0, 9.5, 9.0, 7.0])  # Nm/A


@pytest.mark.parametrize("known", [None, CONSTANTS, CONSTANTS * [0.7, 1.3, 0.7, 1.3, 0.7, 1.3]])
@pytest.mark.parametrize("tilt", [0.0, 90.0, 180.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_wall_shows_in_currents_without_torque_constants_and_with_wrong_ones(known, tilt, seed):
    gravity = gravity_at(tilt)
    robot = UR5E.with_updates({"drives.effort.unit": "A", "drives.torque_constant": known})
    one = motion(UR5E, TRUTH, gravity, seed)
    one.effort[:] /= CONSTANTS
    found, text = mounted(robot, one, CURRENT)
    assert bool(text) == (tilt > 0) and angle(found.gravity, gravity) < 2.5


@pytest.mark.parametrize("seed", [4, 11, 21])
@pytest.mark.parametrize("wall", [True, False])
def test_a_robot_that_declares_a_current_shows_a_wall_in_torques_and_none_without_gravity(seed, wall):
    gravity = [STANDARD if wall else 0.0, 0.0, 0.0]
    one = motion(UR5E, TRUTH, gravity, seed)
    one.effort[:] += 0.2 * one.effort.std(0) * np.random.default_rng(seed).normal(size=one.effort.shape)
    found, text = mounted(UR5E.with_updates({"drives.effort.unit": "A"}), one, CURRENT)
    assert bool(text) == wall and angle(found.gravity, gravity if text else UR5E.gravity) < 2.5
