"""What real logs contain, one by one, as corrupted copies of a good log: repaired and reported, or refused."""

from __future__ import annotations

import numpy as np
import pytest
from bag_factory import write
from prepared import ROBOT, TRUTH, r2, run, steps
from synthetic import synthetic_log

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.identify import identify
from robot_dynamics_ros.identification.arm.read import read
from robot_dynamics_ros.identification.arm.state import DEFAULTS
from robot_dynamics_ros.identification.reports.result import summarise
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions


@pytest.fixture(scope="module")
def good():
    return synthetic_log(ROBOT, TRUTH, 1, duration=12.0)


def changed(log: Log, **signals) -> Log:
    return Log(log.joint_names, signals.pop("stamp", log.stamp_ns), {**log.signals, **signals}, log.receive_ns)


def identified(log: Log, folder, until="fit_parameters"):
    """From the log as a bag; judged on another run."""
    bag = write_bag(log, folder / "a", topics=["joint_states"])
    return steps([read(ROBOT, bag, DEFAULTS)], [run(2)], until=until)


def test_six_percent_of_a_1_khz_log_is_there_twice(tmp_path):
    log = synthetic_log(ROBOT, TRUTH, 1, duration=10.0, rate=1000.0)
    twice = np.random.default_rng(0).choice(len(log), len(log) * 6 // 100, replace=False)
    found = identified(log[np.sort(np.r_[np.arange(len(log)), twice])], tmp_path)
    assert sum(found.training[0].counts.values()) >= len(twice)
    assert r2(found).min() > 0.98


@pytest.mark.parametrize("jitter", [0.7e-3, 3e-3, 8.8e-3])
def test_stamps_that_jitter(good, tmp_path, jitter):
    draw = np.random.default_rng(1)
    stamp = good.stamp_ns + (jitter * 1e9 * draw.uniform(-0.5, 0.5, len(good))).astype(np.int64)
    assert r2(identified(changed(good, stamp=np.sort(stamp)), tmp_path)).min() > 0.98


@pytest.mark.parametrize("constant", [0, 1])
def test_header_stamps_that_stand_still(good, tmp_path, constant):
    columns = (good.q, good.qd, good.effort)
    items = [(constant, good.joint_names, *row) for row in zip(*columns, strict=True)]
    bag = write(tmp_path / "a", "mcap", {"/joint_states": items}, receive=good.receive_ns)
    rec = read(ROBOT, bag, DEFAULTS)
    found = steps([rec], [run(2)], until="fit_parameters")
    assert any("constant" in text for text in rec.notes)
    assert r2(found).min() > 0.98


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
    report = summarise(found)["validation"]
    assert all(count > 2000 for count in report["at_rest"]["samples"])
    assert all(count > 1500 for count in report["moving"]["samples"])
    assert min(report["moving"]["r2"]) > 0.95 and min(report["r2"]) > 0.7
    assert report["moving"]["rmse"] != report["at_rest"]["rmse"]


def test_excitation_too_weak_to_extrapolate(tmp_path):
    """One joint at a time and hardly: the condition number is reported, and that the result will not extrapolate."""
    log = synthetic_log(ROBOT, TRUTH, 1, duration=12.0, amplitude=0.05)
    found = identified(log, tmp_path, "check_data")
    assert found.solution.condition > 2700
    assert any("will not extrapolate" in text for text in found.warnings)


def test_effort_of_another_robot_is_not_sold_as_a_model(good, tmp_path):
    noise = 20 * np.random.default_rng(3).standard_normal(good.effort.shape)
    found = identified(changed(good, effort=noise), tmp_path, "check_data")
    assert any("explains nothing of the effort" in text for text in found.warnings)


@pytest.mark.parametrize("level", [0.0, 3.3])
def test_a_constant_effort_is_refused(good, tmp_path, level):
    bag = write_bag(changed(good, effort=np.full_like(good.effort, level)), tmp_path / "a", topics=["joint_states"])
    with pytest.raises(DataError, match="the effort never changes") as caught:
        identify(ROBOT, [bag])
    assert "\n" not in str(caught.value)
