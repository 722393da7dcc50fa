"""A plant for a robot that nobody described: sizes follow the torques, and it moves like a machine."""

from pathlib import Path

import numpy as np
import pytest

from robot_dynamics_ros.errors import ConfigError, DataError
from robot_dynamics_ros.models.urdf_import import robot_from_urdf
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.plant.any_plant import MAX_STRENGTH, MIN_STRENGTH, assumed_plant, plant_of, strength
from robot_dynamics_ros.simulation.plant.plant_file import load_plant_file
from robot_dynamics_ros.simulation.rehearsal import Push, cycles, rehearse, through
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories.files import Points

URDF = Path(__file__).parents[1] / "docs" / "own_arm.urdf"


@pytest.fixture(scope="module")
def robot():
    return robot_from_urdf(URDF, torque_side="motor", effort_unit="Nm", tip="tool0")


@pytest.fixture(scope="module")
def motion(robot):
    draw = np.random.default_rng(0)
    return through(Points(np.arange(7) * 0.5, draw.uniform(-0.4, 0.4, (7, robot.n_joints)), None), 500.0)


def test_a_shipped_robot_keeps_its_plant(robot):
    assert plant_of(load_robot("ur5e")) == load_plant_file("ur5e")
    assert plant_of(robot).robot == robot.name and len(plant_of(robot).joints) == 7


def test_a_size_between_two_sizes_lies_between_them():
    """On the UR5e itself the sizes of its data sheet come back where the limit is a likely one."""
    robot, sizes = load_robot("ur5e"), load_plant_file("ur5e").types
    plant, T = assumed_plant(robot), strength(robot)
    for j, (name, torque) in enumerate(zip(plant.joints, T, strict=True)):
        assert plant.types[name].drive.torque_limit == pytest.approx(torque), j
    small, large = sizes["size1"], sizes["size3"]
    between = [plant.types[n] for n, torque in zip(plant.joints, T, strict=True) if 28 < torque < 150]
    assert between and all(small.friction.coulomb < b.friction.coulomb < large.friction.coulomb for b in between)
    equal = [plant.types[n] for n, torque in zip(plant.joints, T, strict=True) if torque == 150.0]
    assert equal and all(b.drive.rotor_inertia == pytest.approx(large.drive.rotor_inertia) for b in equal)


def test_placeholder_limits_do_not_make_giant_drives(robot):
    giant = robot.with_updates({"limits.torque": np.full(7, 1e4)})
    none = robot.with_updates({"limits.torque": None})
    assert np.allclose(strength(giant), MAX_STRENGTH / MIN_STRENGTH * strength(none))


def test_it_follows_a_motion_and_feels_a_push(robot, motion):
    pushes = None, Push((20.0, 0.0, 0.0), start=1.0, duration=1.0)
    free, pushed = (rehearse(SimulatedRobot(robot), motion, push) for push in pushes)
    assert np.abs(free.q - motion[0]).max() < 0.03
    assert np.abs(free.q[-1] - motion[0][-1]).max() < 0.01
    change = np.abs(pushed.effort - free.effort).max(axis=1)
    assert change[:499].max() == 0 and change[600:900].mean() > 1.0


def test_live_cycles_go_forth_and_back_without_a_jump(robot, motion):
    machine, N = SimulatedRobot(robot), len(motion[0])
    records = cycles(machine, motion)
    q = np.array([next(records).q for _ in range(2 * N + 50)])
    assert np.abs(np.diff(q, axis=0)).max() < 0.02
    assert np.abs(q[N - 1] - motion[0][-1]).max() < 0.02 and np.abs(q[2 * N - 1] - motion[0][0]).max() < 0.02


def test_effort_is_what_the_robot_file_declares(robot, motion):
    sensed = robot.with_updates({"drives.torque_side": "link", "drives.effort.sign": 1})
    record = SimulatedRobot(sensed)
    assert np.array_equal(record.effort_of(record.record()), record.record().joint_torque)


def test_what_cannot_be_simulated_is_reported(robot):
    with pytest.raises(ConfigError, match="without masses"):
        SimulatedRobot(robot.with_updates({"links": None}))
    for times, word in (([0.0, 0.0], "increase"), ([0.0, 1e9], "samples")):
        with pytest.raises(DataError, match=word):
            through(Points(np.array(times), np.zeros((2, 7)), None), 500.0)
