"""`check` and `up` judge a robot file alike: what one accepts the other starts, whatever number stands in it."""

import copy
import itertools
import json

import numpy as np
import pytest

from robot_dynamics_ros.bringup import describe
from robot_dynamics_ros.control.torque import torque_loop
from robot_dynamics_ros.drivers.factory import driver_of, make_driver
from robot_dynamics_ros.drivers.guard import guard_limits
from robot_dynamics_ros.effort.rest import EffortRecognition
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.estimators.core_file import core_text
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.live import LiveForce
from robot_dynamics_ros.models.robot_report import report
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.robot_file.store import dump, examine_robot
from robot_dynamics_ros.signals import Sample

EXTREME = (0.0, 1e-300, 1e-3, 1e5, 1e300, -1.0)
PARTS = ("kinematics", "links", "drives", "limits", "friction", "hysteresis", "thermal", "stiffness", "sensing")


def numbers(node, path=()):
    """Paths of the numbers of a nested structure, of equal entries of a list the first only."""
    items = node.items() if isinstance(node, dict) else enumerate(node[:1]) if isinstance(node, list) else ()
    for key, value in items:
        yield from numbers(value, (*path, key))
    if isinstance(node, (int, float)) and not isinstance(node, bool):
        yield path


def cases(name):
    raw = load_robot(name).raw()
    return [path for part in PARTS if part in raw for path in numbers(raw[part], (part,))]


def accepted(file):
    """Whether `check` ends with status 0."""
    problems, robot = examine_robot(str(file))
    return not problems and report(robot).ok


def starts(file):
    """Whether the graph is described and the parts of its node take a sample; CapabilityError says what is left out."""
    try:
        robot = load_robot(file)
        describe(str(file))
    except ConfigError:
        return False
    pipeline, sample = Pipeline(robot), Sample(robot.joint_names)
    try:
        make_driver(driver_of(robot), robot, "127.0.0.1")
    except ConfigError:
        if robot.drives.effort.sign == 1:  # else the file is for another driver, beside which the estimator starts
            raise
    EffortRecognition(robot)
    for k in range(2):
        sample.buffer.fill(np.nan)
        sample.q[:], sample.qd[:], sample.effort[:] = 1e-3 * k, 0.1, 1.0
        sample.stamp_ns = 10**9 + 2_000_000 * k
        pipeline.step(sample)
    try:
        torque_loop(robot, guard_limits(robot))
    except CapabilityError:
        pass
    return True


@pytest.mark.parametrize(
    ("name", "every"),
    [("ur5e", 16), pytest.param("ur5e", 1, marks=pytest.mark.long), pytest.param("fr3", 1, marks=pytest.mark.long)],
)
def test_both_accept_or_both_refuse_every_number(name, every, tmp_path, tried):
    changes = list(itertools.product(cases(name), EXTREME))[::every]
    tried("robot files", len(changes))
    original, differ = load_robot(name).raw(), []
    file = tmp_path / "robot.yaml"
    file.write_text(dump(load_robot(name)))
    assert accepted(file) and starts(file)
    for path, value in changes:
        raw = copy.deepcopy(original)
        node = raw
        for part in path[:-1]:
            node = node[part]
        node[path[-1]] = value
        file.write_text(json.dumps(raw))  # JSON is YAML, and written much faster
        try:
            if accepted(file) != starts(file):
                differ.append((path, value))
        except Exception as error:  # every kind of end is a finding
            differ.append((path, value, type(error).__name__, str(error)))
    assert differ == []


BOUNDS = {"drives.gear_ratio": (0.0, ">= 0.001"), "sensing.sample_rate": (1e5, "<= 8000")}
BOUNDS |= dict.fromkeys(("limits.torque", "limits.velocity"), (1e-300, ">= 0.001"))
BOUNDS |= {"drives.back_emf_ratio": (1e-3, ">= 0.1")}


@pytest.mark.parametrize("field", BOUNDS)
def test_what_no_part_can_use_is_refused_by_its_bound(field):
    value, bound = BOUNDS[field]
    with pytest.raises(ConfigError, match=bound):
        load_robot("ur5e").with_updates({field: value})


def test_what_check_refuses_is_not_started(tmp_path):
    robot = load_robot("ur5e").with_updates({"limits.torque": [1.0] * 6})
    (tmp_path / "weak.yaml").write_text(dump(robot))
    file = str(tmp_path / "weak.yaml")
    for start in (describe, LiveForce, lambda file: core_text(load_robot(file))):
        with pytest.raises(ConfigError, match="cannot hold the arm"):
            start(file)


def test_a_driver_needs_an_address():
    with pytest.raises(ConfigError, match="driver: ip: is empty: it must be the address of the controller"):
        make_driver("ur", load_robot("ur5e"), " ")
