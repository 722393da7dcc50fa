"""Forces at rest: which rows are a stop, figures of an estimate whose truth is zero, growth between visits."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.at_rest import at_rest, stops
from robot_dynamics_ros.signals import Log

RATE, STAND, MOVE = 50, 3.0, 1.0
POSES = (0.0, 0.5, 1.0, 0.0, 0.5, 1.0)  # rad, visited in turn
REST = 40.0  # s of a stop in the test of growth: two visits are more than a minute apart


def visits(stand=STAND):
    """A joint that stands at each pose and moves to the next one; the row in the middle of each stop."""
    q, qd, middle = [], [], []
    for k, pose in enumerate(POSES):
        middle.append(len(q) + int(stand * RATE / 2))
        q += [pose] * int(stand * RATE)
        qd += [0.0] * int(stand * RATE)
        there = POSES[min(k + 1, len(POSES) - 1)]
        q += np.linspace(pose, there, int(MOVE * RATE)).tolist()
        qd += [(there - pose) / MOVE] * int(MOVE * RATE)
    stamps = 10**18 + np.arange(len(q)) * (10**9 // RATE)
    return Log(["a"], stamps, {"q": np.array(q)[:, None], "qd": np.array(qd)[:, None]}), middle


def test_a_stop_is_calm_and_knows_its_pose():
    log, middle = visits()
    found = stops(log)
    assert [s.pose for s in found] == [0, 1, 2, 0, 1, 2]
    for stop, row in zip(found, middle, strict=True):
        assert stop.rows.start <= row < stop.rows.stop
        assert (log.qd[stop.rows] == 0).all() and log.time[stop.rows.start] >= stop.time + 0.5


def test_moves_and_short_stops_are_none():
    log, _ = visits(stand=0.6)
    log.qd[-int(MOVE * RATE) :] = 0.2
    with pytest.raises(DataError, match="does not stand still for 1 s"):
        stops(log)


def test_figures_are_of_the_means_of_the_stops():
    log, _ = visits()
    found = stops(log)
    wrench, std = np.full((len(log), 6), 1e3), np.full((len(log), 6), 1e3)
    forces = np.random.default_rng(0).uniform(-4, 4, (len(found), 3))
    for stop, force in zip(found, forces, strict=True):
        noise = np.where(np.arange(stop.rows.stop - stop.rows.start) % 2, 1.0, -1.0)[:, None]
        wrench[stop.rows, :3], std[stop.rows] = force + noise * (len(noise) % 2 == 0), 2.0
    got = at_rest("x", wrench, std, found, found)
    size = np.linalg.norm(forces, axis=1)
    assert got.rms == pytest.approx(np.sqrt((size**2).mean()), abs=0.1)
    assert got.largest == pytest.approx(size.max(), abs=0.1) and got.std == pytest.approx(2.0)
    assert got.within_2 == 1.0 and np.isnan(at_rest("x", wrench, None, found, found).within_2)


def test_growth_is_between_visits_of_one_pose_and_neither_bias_of_a_pose_nor_scatter_of_visits():
    log, _ = visits(stand=REST)
    found, wrench = stops(log), np.zeros((len(log), 6))
    for stop, force in zip(found, (5.0, -9.0, 4.0, 8.0, -6.0, -4.0), strict=True):  # +3, -3, 0 N from visit to visit
        wrench[stop.rows, 1] = force
    assert at_rest("x", wrench, None, found, found).growth == pytest.approx(0.0, abs=1e-9)
    wrench = 0.1 * log.time[:, None] * np.eye(6)[2]
    between = found[3].time - found[0].time
    assert at_rest("x", wrench, None, found, found).growth == pytest.approx(0.1 * between, rel=1e-2)
    soon = stops(visits()[0])
    assert np.isnan(at_rest("x", np.zeros((len(visits()[0]), 6)), None, soon, soon).growth)


def test_an_estimate_that_is_nowhere_is_an_error():
    log, _ = visits()
    with pytest.raises(DataError, match="x: no value while the robot stands"):
        at_rest("x", np.full((len(log), 6), np.nan), None, stops(log), stops(log))
