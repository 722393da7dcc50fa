"""What real logs contain, one by one, as corrupted copies of a good log: repaired and reported, or refused."""

import numpy as np
import pytest
from prepared import ROBOT, TRUTH, run, steps
from synthetic import synthetic_log

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.identification.arm.identify import identify
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.identification.reports.result import summarise
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions


@pytest.fixture(scope="module")
def good():
    return synthetic_log(ROBOT, TRUTH, 1, duration=12.0)


def halting(seed, folder):
    """A run of the simulated robot that stands for half of its time, where stiction leaves it."""
    start = np.array([0.0, -1.2, 1.5, -1.9, -1.57, 0.4])
    q, qd, qdd = motions.fourier(start, 20.0, 500.0, base=0.1 * np.pi, amplitude=0.9, velocity=1.5, seed=seed)
    still = motions.hold(q[-1], 20.0)
    machine = SimulatedRobot("ur5e", seed=seed)
    machine.set_temperatures(40.0)
    machine.reset(q[0])
    log = machine.run(*motions.join((q, qd, qdd), still), keep=4)[0]
    return write_bag(log, folder / str(seed), topics=["joint_states"])


@pytest.mark.long
def test_at_rest_for_half_of_the_run(tmp_path):
    """Figures of rest and motion are separate; with hysteretic laws samples at rest do not bias the model of motion."""
    found = identify(ROBOT, [halting(0, tmp_path)], [halting(1, tmp_path)])
    report = summarise(found, "")["validation"]
    assert all(count > 2000 for count in report["at_rest"]["samples"])
    assert all(count > 1500 for count in report["moving"]["samples"])
    assert min(report["moving"]["r2"]) > 0.95 and min(report["r2"]) > 0.7
    assert report["moving"]["rmse"] != report["at_rest"]["rmse"]


def test_effort_of_another_robot_is_not_sold_as_a_model(good):
    noise = 20 * np.random.default_rng(3).standard_normal(good.effort.shape)
    log = Log(good.joint_names, good.stamp_ns, {**good.signals, "effort": noise})
    found = steps([recording(log, "noise")], [run(2)])
    assert any("explains nothing of the effort" in text for text in found.warnings)
