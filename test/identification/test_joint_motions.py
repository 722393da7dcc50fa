"""Planned motions keep every limit of the robot file, and their points give them again."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic import UR5E

from robot_dynamics_ros.cli.demo_robots import working_pose
from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.dataset.segments import JointRecord
from robot_dynamics_ros.identification.excitation import joint_motions
from robot_dynamics_ros.identification.excitation import plan as plans
from robot_dynamics_ros.identification.excitation.joint_motions import (
    JOINT_MOTIONS,
    enough_velocity_steps,
    joined,
    reversals,
    stiffness,
    velocity_steps,
)
from robot_dynamics_ros.identification.excitation.limits import Box, Limits
from robot_dynamics_ros.identification.excitation.plan import check_space, checked, with_limits_of
from robot_dynamics_ros.identification.joint.friction import LAW, least_samples
from robot_dynamics_ros.identification.joint.sliding import measured_sliding
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.friction import law_named
from robot_dynamics_ros.robot_file import load_robot, shipped_robots
from robot_dynamics_ros.simulation.rehearsal import through
from robot_dynamics_ros.trajectories import files, motions
from robot_dynamics_ros.trajectories.files import MOST_POINTS, Points, few_points
from robot_dynamics_ros.trajectories.limits import joint_limits

START = np.array([0.0, -1.2, 1.5, -1.9, -1.57, 0.4])
SHORT = {"velocity-steps": {"count": 4}, "reversals": {"count": 6, "turn": 0.5}}
SHORT |= {"duty-cycles": {"minutes": 0.5}, "stiffness": {"duration": 5.0}}


@pytest.mark.parametrize("name", JOINT_MOTIONS)
def test_a_travel_that_shows_nothing_is_named(name):
    argument = {"reversals": "turn", "duty-cycles": "amplitude"}.get(name, "travel")
    with pytest.raises(CapabilityError, match=r"a travel of 0\.001\S* rad must be above 0\.05 rad"):
        JOINT_MOTIONS[name](UR5E, 1, START, **{argument: 0.001})


def test_joints_that_turn_without_end_have_motions_of_a_joint():
    endless = UR5E.with_updates({"limits.position_lower": -np.inf, "limits.position_upper": np.inf})
    plan = joined(endless, [velocity_steps(endless, 2, START, count=4)])
    check_space(endless, with_limits_of(endless, Limits.of(endless)), plan)


@pytest.mark.parametrize("name", JOINT_MOTIONS)
@pytest.mark.parametrize("joint", [1, 5])
def test_motions_keep_the_limits_and_move_one_joint(name, joint):
    plan = JOINT_MOTIONS[name](UR5E, joint, START, **SHORT[name])
    limits, (q, qd, qdd) = joint_limits(UR5E), plan.motion
    assert np.abs(qd).max() <= limits.velocity[joint] and np.abs(qdd).max() <= limits.acceleration[joint] + 1e-9
    assert np.all(np.ptp(np.delete(q, joint, 1), axis=0) == 0) and np.ptp(q[:, joint]) > 0.05
    assert np.all(plan.torque <= limits.torque)
    assert np.abs(np.diff(q[:, joint]) * plan.rate - qd[1:, joint]).max() < 0.05


@pytest.mark.parametrize("name", JOINT_MOTIONS)
def test_unknown_limits_are_those_of_the_motion_of_the_arm(name):
    unknown = UR5E.with_updates({f"limits.{what}": None for what in ("velocity", "position_lower", "position_upper")})
    speed = np.abs(JOINT_MOTIONS[name](unknown, 1, START, **SHORT[name]).motion[1]).max()
    assert speed <= Limits.of(unknown).velocity[1] == 1.5


@pytest.mark.parametrize("joint", [0, 2])
def test_travel_turns_away_from_a_position_limit(joint):
    start = START.copy()
    start[joint] = UR5E.array("limits.position_upper")[joint] - 0.1
    q = velocity_steps(UR5E, joint, start, count=3).motion[0]
    assert q[:, joint].max() <= start[joint] + 1e-9 and q[:, joint].min() < start[joint] - 0.3


def to(turn, velocity, acceleration):
    return motions.trapezoid(START, START + [turn, 0, 0, 0, 0, 0], 500.0, velocity, acceleration)


JUMP = [np.vstack([x, x + 0.5 * (k == 0)]) for k, x in enumerate(motions.hold(START, 0.1))]
BEYOND = {"position 7.000 rad of shoulder_pan_joint is outside": to(7.0, 1.0, 1.0), "velocity": to(3.0, 4.0, 5.9)}
BEYOND |= {"acceleration": to(1.0, 1.0, 9.0), "velocity 250.000 rad/s": JUMP}
BEYOND |= {"not finite": np.full((3, 10, 6), np.nan)}


@pytest.mark.parametrize(("text", "motion"), BEYOND.items(), ids=list(BEYOND))
def test_each_limit_is_named_when_left(motion, text):
    with pytest.raises(CapabilityError, match=text):
        checked(UR5E, "x", [0], tuple(motion), 500.0)


def test_a_load_beyond_the_torque_limit_is_named():
    heavy = UR5E.with_updates({"payload.mass": 30.0})
    with pytest.raises(CapabilityError, match="torque"):
        velocity_steps(heavy, 1, np.array([0, -0.3, 0.3, 0, 0, 0.0]), count=2)


def test_a_turn_has_the_papers_reversals():
    plan = reversals(UR5E, 0, START - [np.pi, 0, 0, 0, 0, 0], count=12)
    q = plan.motion[0][:, 0]
    assert np.sum(np.diff(np.sign(np.diff(q[np.abs(np.diff(q, prepend=q[0])) > 0]))) != 0) >= 23
    assert np.ptp(q) == pytest.approx(2 * np.pi, rel=0.1)


def test_random_motion_is_seeded():
    a, b, c = (stiffness(UR5E, 0, START, duration=4.0, seed=s).motion[0] for s in (1, 1, 2))
    assert np.array_equal(a, b) and (len(a) != len(c) or not np.array_equal(a, c))


def test_several_joints_one_after_another_without_a_jump():
    plan = joined(UR5E, [velocity_steps(UR5E, j, START, count=2, slowest=0.3) for j in (0, 1)])
    assert np.abs(np.diff(plan.motion[0], axis=0)).max() * plan.rate < 3.2 and len(plan.joints) == 2


@pytest.mark.parametrize("name", ["velocity-steps", "duty-cycles", "stiffness"])
def test_the_tcp_keeps_its_speed(name):
    """By differences of forward kinematics; the arm stretched out, where the joint's own limit is 2.7 m/s."""
    start = np.array([0.0, -0.5, 0.3, 0.0, 1.57, 0.0])
    size = {"travel": 3.0} if name != "duty-cycles" else {"amplitude": 6.0, "period": 1.0}
    plan = JOINT_MOTIONS[name](UR5E, 0, start, **SHORT[name], **size)
    tip = RobotModel(UR5E.kinematic_chain(), UR5E.joint_names).fk(plan.motion[0])[:, -1, :3, 3]
    speed = np.linalg.norm(np.diff(tip, axis=0), axis=1).max() * plan.rate
    assert 0.4 < speed <= UR5E.limits.tcp_speed
    check_space(UR5E, with_limits_of(UR5E, Limits.of(UR5E)), plan)
    slow = UR5E.with_updates({"limits.tcp_speed": 0.8 * speed})
    with pytest.raises(DataError, match="TCP speed is exceeded by 25 %"):
        check_space(slow, with_limits_of(slow, Limits.of(slow)), plan)


def test_a_box_between_the_samples_of_a_long_motion_is_seen(monkeypatch):
    """A period of 4 s, of which every 0.5 s would be the same poses in each."""
    plan = joint_motions.duty_cycles(UR5E, 0, START, duties=(1.0,), minutes=4.0, rate=100.0)
    monkeypatch.setattr(plans, "DRAWN", len(plan.motion[0]) // 50)
    model = RobotModel(UR5E.kinematic_chain(), UR5E.joint_names)
    tip = model.fk(plan.motion[0][75])[-1, :3, 3]
    limits = replace(with_limits_of(UR5E, Limits.of(UR5E)), outside=(Box(tuple(tip - 0.03), tuple(tip + 0.03)),))
    with pytest.raises(DataError, match="box to stay out of"):
        check_space(UR5E, limits, plan)


def test_the_way_between_the_motions_of_two_joints_keeps_the_limits():
    slow = UR5E.with_updates({"limits.velocity": 0.2, "limits.acceleration": 0.5})
    _, qd, qdd = joined(slow, [reversals(slow, j, START, count=3, turn=0.5) for j in (0, 1)]).motion
    assert np.abs(qd).max() <= 0.2 and np.abs(qdd).max() <= 0.5


def test_points_of_more_samples_than_a_robot_is_given_are_refused(monkeypatch):
    monkeypatch.setattr(files, "MAX_SAMPLES", 1000)
    with pytest.raises(CapabilityError, match=r"1000 samples at 500 Hz.* --duration"):
        few_points(motions.hold(START, 2.0), 500.0)


@pytest.mark.parametrize("name", ["duty-cycles", "stiffness"])
def test_a_motion_that_is_too_long_is_refused_before_it_is_made(name, monkeypatch):
    """Ten hours at 1 kHz do not fit into memory."""
    monkeypatch.setattr(motions, "duty_cycle", None)
    monkeypatch.setattr(motions, "trapezoid", None)
    sizes = {"minutes": 600.0} if name == "duty-cycles" else {"duration": 36000.0}
    with pytest.raises(CapabilityError, match=r"samples at 1000 Hz.* --duration"):
        JOINT_MOTIONS[name](UR5E, 1, START, rate=1000.0, **sizes)


def test_a_motion_of_hours_is_not_made_at_1_khz():
    """That of an FR3 took 2.9 GB."""
    plan = joint_motions.duty_cycles(UR5E, 0, START, duties=(1.0,), minutes=1.0, rate=1000.0)
    assert plan.rate == 500.0 and plan.duration == pytest.approx(60.0)


@pytest.mark.parametrize("name", JOINT_MOTIONS)
def test_the_points_of_a_motion_are_few_and_give_it_again(name):
    plan = JOINT_MOTIONS[name](UR5E, 1, START, **SHORT[name])
    points = few_points(plan.motion, plan.rate)
    again = through(Points(points.times, points.q, points.qd), plan.rate)
    assert len(points.times) < min(0.1 * len(plan.motion[0]), MOST_POINTS)
    assert np.abs(again[0] - plan.motion[0][1:]).max() < 2e-3
    assert np.abs(again[1] - plan.motion[1][1:]).max() < 0.02


def test_a_motion_of_too_many_points_is_refused():
    t = np.arange(0, 2000, 0.01)[:, None]
    with pytest.raises(CapabilityError, match="--duration"):
        few_points((np.sin(9 * t), 9 * np.cos(9 * t), -81 * np.sin(9 * t)), 100.0)


@pytest.mark.parametrize("name", shipped_robots())
def test_the_simulated_robot_has_a_pose_to_start_from(name):
    robot = load_robot(name)
    pose = working_pose(robot)
    lower, upper = robot.array("limits.position_lower"), robot.array("limits.position_upper")
    assert pose.shape == (robot.n_joints,) and np.all((pose > lower) & (pose < upper))


@pytest.mark.parametrize(("name", "joint", "rate"), [("ur3", 1, 125.0), ("ur5e", 0, 100.0)])
def test_without_a_count_velocity_steps_have_as_many_speeds_as_a_fit_needs(name, joint, rate):
    """What is recorded at a low rate has fewer samples in each bin of position: 14 speeds do not do."""
    robot = load_robot(name)
    start, need = working_pose(robot), least_samples(law_named(LAW))
    plan = enough_velocity_steps(robot, joint, start, rate=rate)
    q, qd, _ = (x[:, joint] for x in plan.motion)
    stamps, nothing = (np.arange(len(q)) * 1e9 / rate).astype(np.int64), np.zeros(len(q))
    assert len(measured_sliding(JointRecord("x", stamps, q, qd, nothing, nothing)).data) >= need
    assert plan.duration < 300
    with pytest.raises(CapabilityError, match="--count"):
        enough_velocity_steps(robot, joint, start, rate=rate, count=6)
