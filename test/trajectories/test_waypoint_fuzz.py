"""Waypoints and trajectories of strangers: finite positions by joint, or one line that says what is wrong."""

import random

import numpy as np
import pytest
from fuzz import SEED, mutated, tries

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.trajectories.files import load_trajectory, load_waypoints, resample

TRIES = tries(20)
ROBOT = load_robot("ur5e")
NAMES = list(ROBOT.joint_names)
WAYPOINTS = f"unit: deg\njoint_names: [{', '.join(NAMES)}]\nwaypoints:\n" + 3 * "- [1, 2.5, -3, 4e0, 5, 6]\n"
TRAJECTORY = f"time,{','.join(NAMES)}\n" + "".join(f"{k},1,2,3,4,5,{k}\n" for k in range(5))
ODD = [" ", "&a [1]", "{a: 1}", "- ", "\0", *'0 7 # *a !!python/object:os.system .nan 1e400 [[[[ ? é " 0x1f'.split()]


def read(path, kind):
    return load_waypoints(path, NAMES) if kind == "waypoints" else resample(*load_trajectory(path, ROBOT))


@pytest.mark.parametrize("kind", ["waypoints", "trajectory"])
def test_damaged_files_are_read_or_refused(tmp_path, kind, tried):
    tried("waypoints and trajectories", TRIES)
    path, rng = tmp_path / "a.yaml", random.Random(SEED)
    good = WAYPOINTS if kind == "waypoints" else TRAJECTORY
    path.write_text(good)
    assert len(read(path, kind)) > 2
    for _ in range(TRIES):
        at = rng.randrange(len(good))
        text = good[:at] + rng.choice(ODD) + good[at + rng.choice([0, 0, 1, 8]) :]
        path.write_bytes(text.encode() if rng.random() < 0.6 else mutated(good.encode(), rng))
        try:
            q = read(path, kind)
        except RobotDynamicsError as error:
            assert "\n" not in str(error) and ("a.yaml" in str(error) or "trajectory" in str(error))
            continue
        assert q.shape[1] == len(NAMES) and np.isfinite(q).all()
