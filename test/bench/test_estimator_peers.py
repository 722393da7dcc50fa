"""Both sides of the estimator benchmarks compute the same thing."""

import numpy as np

from bench.speed import estimators
from bench.speed.setup import Arm
from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.robot_file import load_robot


def test_pinocchio_observer_gives_our_wrench():
    robot, arm = load_robot("ur5e"), Arm("ur5e")
    log = estimators._motion(robot, arm, 1000)
    push = np.array([20.0, -10, 30, 1, 0, 0])
    log.effort = log.effort - np.einsum("kij,i->kj", arm.model.jacobian(log.q), push)
    theirs = estimators._pinocchio_observer(robot, arm, log)()
    any_force = {"force": {"expected_force": 1e4}}  # the peer's inverse has no prior
    Pipeline(robot, any_force, stages=estimators.CHAIN).run(log)
    posed = log.singular_value[:, 0] > 0.1
    assert posed[300:].sum() > 100
    np.testing.assert_allclose(log.external_wrench[300:][posed[300:]], theirs[300:][posed[300:]], atol=1.5)


def test_both_readers_return_the_same_numbers():
    log = estimators._motion(load_robot("ur5e"), Arm("ur5e"), 50)
    recording = estimators._Recording(log)
    np.testing.assert_array_equal(recording.by_rosbags()[:, 2], recording.load()[0].effort)
    np.testing.assert_array_equal(load_bag(recording._path)[0].q, log.q)
