"""Planned motions keep every limit of the robot file, and what a run records is what was planned."""

import numpy as np
import pytest
from click.testing import CliRunner
from stepped_driver import SteppedDriver

from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.cli.demo_robots import working_pose
from robot_dynamics_ros.cli.experiment import command
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.identification.experiments.plan import (
    EXPERIMENTS,
    checked,
    joined,
    reversals,
    stiffness,
    velocity_steps,
)
from robot_dynamics_ros.identification.experiments.preview import write_preview
from robot_dynamics_ros.identification.experiments.run import ExperimentFailed, run_driver, run_simulated
from robot_dynamics_ros.robot_file import load_robot, shipped_robots
from robot_dynamics_ros.simulation.plant.build import FAST
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions
from robot_dynamics_ros.trajectories.limits import joint_limits

UR5E = load_robot("ur5e")
START = np.array([0.0, -1.2, 1.5, -1.9, -1.57, 0.4])
SHORT = {
    "velocity-steps": {"count": 4},
    "reversals": {"count": 6, "turn": 0.5},
    "duty-cycles": {"minutes": 0.5},
    "stiffness": {"duration": 5.0},
}


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("joint", [1, 5])
def test_motions_keep_the_limits_and_move_one_joint(name, joint):
    plan = EXPERIMENTS[name](UR5E, joint, START, **SHORT[name])
    limits, (q, qd, qdd) = joint_limits(UR5E), plan.motion
    assert np.abs(qd).max() <= limits.velocity[joint] and np.abs(qdd).max() <= limits.acceleration[joint] + 1e-9
    assert np.all(np.ptp(np.delete(q, joint, 1), axis=0) == 0) and np.ptp(q[:, joint]) > 0.05
    assert np.all(plan.torque <= limits.torque)
    assert np.abs(np.diff(q[:, joint]) * plan.rate - qd[1:, joint]).max() < 0.05


@pytest.mark.parametrize("joint", [0, 2])
def test_travel_turns_away_from_a_position_limit(joint):
    start = START.copy()
    start[joint] = UR5E.array("limits.position_upper")[joint] - 0.1
    q = velocity_steps(UR5E, joint, start, count=3).motion[0]
    assert q[:, joint].max() <= start[joint] + 1e-9 and q[:, joint].min() < start[joint] - 0.3


def to(turn, velocity, acceleration):
    return motions.trapezoid(START, START + [turn, 0, 0, 0, 0, 0], 500.0, velocity, acceleration)


@pytest.mark.parametrize(
    ("motion", "text"),
    [
        (to(7.0, 1.0, 1.0), "position 7 rad of shoulder_pan_joint is outside"),
        (to(3.0, 4.0, 5.9), "velocity"),
        (to(1.0, 1.0, 9.0), "acceleration"),
        ([np.vstack([x, x + 0.5 * (k == 0)]) for k, x in enumerate(motions.hold(START, 0.1))], "velocity 250 rad/s"),
        ([np.full((10, 6), np.nan)] * 3, "not finite"),
    ],
)
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
    plan = joined([velocity_steps(UR5E, j, START, count=2, slowest=0.3) for j in (0, 1)])
    assert np.abs(np.diff(plan.motion[0], axis=0)).max() * plan.rate < 3.2 and len(plan.joints) == 2


def test_the_simulated_robot_follows_and_is_recorded():
    plan = velocity_steps(UR5E, 0, START, count=2, slowest=0.4, fastest=0.8)
    seen = []
    log = run_simulated(plan, SimulatedRobot(UR5E, overrides=FAST), seen.append)
    assert len(log) == len(plan.motion[0]) and seen[-1] == 1.0
    assert np.abs(log.q - plan.motion[0]).max() < 0.02


def test_interrupting_a_simulated_run_keeps_what_was_recorded():
    plan = velocity_steps(UR5E, 0, START, count=3, slowest=0.05)

    def interrupt(share):
        if share > 0.4:
            raise KeyboardInterrupt

    log = run_simulated(plan, SimulatedRobot(UR5E, overrides=FAST), interrupt)
    assert 0 < len(log) < len(plan.motion[0])


def driven(at=0, act=lambda driver: None):
    """A stepped driver, and act(driver) before the sample of this number of the streamed motion is read."""
    driver = SteppedDriver(UR5E)
    read, samples = driver.read, iter(range(1, 10**6))

    def counted(timeout):
        if len(driver.streams) == 2 and next(samples) == at:
            act(driver)
        return read(timeout)

    driver.read = counted
    return driver


PLAN = velocity_steps(UR5E, 0, START, count=2)


def test_a_driver_streams_the_plan_and_every_sample_is_kept():
    driver = driven()
    log = run_driver(PLAN, driver)
    np.testing.assert_array_equal(driver.streams[1], PLAN.motion[0])
    assert len(log) == len(PLAN.motion[0]) and driver.motion.state == "done"


def test_ctrl_c_stops_the_robot_and_keeps_the_samples():
    def interrupt(driver):
        raise KeyboardInterrupt

    driver = driven(9, interrupt)
    assert len(run_driver(PLAN, driver)) == 8 and driver.motion.state == "stopped"


def test_a_robot_that_stops_by_itself_is_an_error_that_holds_the_recording():
    with pytest.raises(ExperimentFailed, match="protective stop") as failed:
        run_driver(PLAN, driven(20, lambda driver: setattr(driver, "failure", "protective stop")))
    assert len(failed.value.log) == 20


def test_preview_is_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    write_preview(velocity_steps(UR5E, 0, START, count=2), UR5E, tmp_path / "a" / "p.png")
    assert (tmp_path / "a" / "p.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("name", shipped_robots())
def test_the_simulated_robot_has_a_pose_to_start_from(name):
    robot = load_robot(name)
    pose = working_pose(robot)
    lower, upper = robot.array("limits.position_lower"), robot.array("limits.position_upper")
    assert pose.shape == (robot.n_joints,) and np.all((pose > lower) & (pose < upper))


@pytest.mark.long
def test_the_example_of_the_help_runs_without_a_start(tmp_path):
    line = ["velocity-steps", "--robot", "ur5e", "--simulated", "--joint", "2"]
    done = CliRunner().invoke(command, [*line, "--out", str(tmp_path / "sweeps")], catch_exceptions=False)
    assert done.exit_code == 0 and "100 % of the motion" in done.output
    assert np.allclose(load_bag(tmp_path / "sweeps")[0].q[0], working_pose(UR5E), atol=0.01)
