"""Excitation motions: limits, boundary conditions, criteria, and the gain of the search."""

import itertools

import numpy as np
import pytest
from command_line import printed, robot_dynamics
from synthetic import MODEL, UR5E

from bench.papers.labs.race import condition_alone, hybrid_until, quality
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.excitation import Box, Criteria, FourierSearch, Limits, design_fourier
from robot_dynamics_ros.identification.excitation.criteria import hadamard, logdet
from robot_dynamics_ros.identification.excitation.limits import TOLERANCE, USE
from robot_dynamics_ros.identification.excitation.motion import PARTS, PLACES, REVERSALS, FourierMotion, slow_part
from robot_dynamics_ros.identification.excitation.space import Pose, tcp_speed
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.trajectories.files import load_trajectory, resample
from robot_dynamics_ros.trajectories.limits import refuse_outside_limits

pytestmark = pytest.mark.usefixtures("calm")

LIMITS = Limits.of(UR5E, floor=0.05, clearance=0.1)


@pytest.fixture(scope="module")
def designed():
    return design_fourier(UR5E, LIMITS, starts=1, effort=30, seed=1)


OTHERS = [("panda", 1), *itertools.product(["ur5e", "ur10e", "comau_ns16"], [0, 1])]


@pytest.mark.parametrize(("name", "seed"), [("panda", 0), *(pytest.param(*x, marks=pytest.mark.long) for x in OTHERS)])
def test_condition_below_100_on_every_arm_and_start(name, seed):
    robot = load_robot(name)
    limits = Limits.of(robot, floor=0.05, clearance=0.1)
    e = design_fourier(robot, limits, starts=1, effort=15, seed=seed)
    criteria = Criteria(robot, limits)
    assert e.condition < 100 and e.time[-1] == pytest.approx(100.0, abs=0.01)
    assert criteria.violation(e.q, e.qd, e.qdd) <= 0.03  # of 90 % of the limits
    assert np.all(np.abs(e.qd) <= limits.velocity) and np.all(np.abs(e.qdd) <= limits.acceleration)
    if np.isfinite(limits.tcp_speed):
        assert tcp_speed(Pose.of(criteria.rigid.model, e.q), limits, e.qd).largest < 1 / USE - 1


def test_boxes_are_kept(designed):
    box, obstacle = Box((-0.6, -0.6, 0.1), (0.6, 0.6, 1.0)), Box((0.25, -2, -1), (2, 2, 0.5))
    kept = design_fourier(UR5E, Limits.of(UR5E, inside=box, outside=(obstacle,)), starts=1, effort=15)
    a, b = (MODEL.fk(e.q)[:, 1:, :3, 3] for e in (designed, kept))
    slack = TOLERANCE
    assert not np.all((a > box.low) & (a < box.high))
    assert np.all((b > np.array(box.low) - slack) & (b < np.array(box.high) + slack))
    assert not np.any(np.all((b > np.array(obstacle.low) + slack) & (b < np.array(obstacle.high) - slack), axis=-1))
    assert kept.condition < 100
    with pytest.raises(DataError, match="lower corner"):
        Box((0, 0, 0), (1, 1, 0))


def test_hybrid_reaches_both_figures_of_the_condition_alone():
    search = FourierSearch(Criteria(UR5E, Limits.of(UR5E, floor=0.05, clearance=0.1)), 5, 0.1 * np.pi, 20.0)
    rng = np.random.default_rng(3)
    start = search.start(rng)
    alone = condition_alone(search, start, effort=10, rounds=4)
    (reached,) = hybrid_until(search, start, [alone], rng)
    assert quality(search, start).condition > 2 * alone.condition and alone.kept
    assert reached is not None and reached.reaches(alone) and not alone.reaches(reached)


def test_velocity_is_the_derivative(designed):
    slope = np.gradient(designed.q, designed.time, axis=0)
    assert np.allclose(slope[2:-2], designed.qd[2:-2], atol=2e-3)


def test_the_slow_part_follows_the_path_of_the_fast_one_with_small_reversals(designed):
    """From rest to rest, at eight places 1.3 and 9 thousandths of the way between two of them to both sides."""
    length, t = designed.time[-1] / PARTS, np.linspace(20.0, 100.0, 80_001)
    s, ds, dds = slow_part(t, 20.0)
    turns = s[1:-1][(s[1:-1] > s[:-2]) & (s[1:-1] >= s[2:])]
    places = 20.0 / (PLACES + 1) * np.arange(1, PLACES + 1)
    ends = np.repeat(places, 2) + np.tile(places[0] * np.array(REVERSALS), PLACES)
    np.testing.assert_allclose(turns, ends, atol=1e-6)
    assert s[0] == 20.0 and s[1] < 1e-6 and s[-1] == pytest.approx(places[-1]) and np.abs(ds[1:]).max() < 1.0
    for rate, values in ((ds, s), (dds, ds)):
        np.testing.assert_allclose(np.gradient(values[1:], t[1:])[1:-1], rate[2:-1], atol=5e-3)
    fast = designed.time <= length
    assert np.abs(designed.qd[~fast]).max() < 0.7 * np.abs(designed.qd[fast]).max()
    apart = np.abs(designed.q[~fast][::50, None] - designed.q[fast]).max(axis=2).min(axis=1)
    assert apart.max() < 0.02


@pytest.mark.parametrize("slow", [False, True])
def test_a_motion_of_any_length_ends_still(slow):
    e = design_fourier(UR5E, LIMITS, duration=25.0, starts=1, effort=0, seed=1, slow=slow)
    assert e.time[-1] == pytest.approx(25.0, abs=0.01) and np.abs(e.qd[-1]).max() < 0.02


def test_search_improves_on_its_start(designed):
    start = design_fourier(UR5E, LIMITS, starts=1, effort=0, seed=1)
    assert designed.condition < min(40.0, 0.95 * start.condition)


def test_criteria_are_those_of_the_stacked_regressor(designed):
    criteria = Criteria(UR5E, Limits.of(UR5E))
    fast = (x[: len(designed.q) // PARTS] for x in (designed.q, designed.qd, designed.qdd))
    W = criteria.rigid.base_regressor(*fast).reshape(-1, criteria.rigid.base.size)
    assert designed.condition == pytest.approx(np.linalg.cond(W), rel=1e-8)
    G = W.T @ W / len(W)
    assert hadamard(G)[0] <= logdet(G)[0] + 1e-9


def test_motions_start_and_end_still():
    q, qd, qdd = FourierMotion(LIMITS, 5, 0.1 * np.pi, np.linspace(0, 20, 50)).basis(np.array([0.0, 20.0]))
    assert np.abs(qd).max() < 1e-12 and np.abs(qdd).max() < 1e-12 and np.abs(np.diff(q, axis=0)).max() < 1e-9


@pytest.mark.parametrize(("count", "poor"), [(6, False), (1, True)])
def test_command_writes_what_the_robot_plays_and_warns_where_it_shows_too_little(tmp_path, request, count, poor):
    """A small arm: the default clearance of 0.1 m is more than its wrist can keep."""
    out, robot = tmp_path / "x.csv", load_robot("ur3")
    if poor:  # its motion is not looked at
        request.getfixturevalue("no_pictures")
    result = printed("excite", "points", "-r", "ur3", "--out", out, "--count", count)
    assert f"next: robot-dynamics rehearse {out} --robot ur3" in result
    assert ("shows too little of the arm: a larger --count" in result) == poor, result
    times, q, qd = load_trajectory(out, robot)
    refuse_outside_limits(robot, resample(times, q, qd))
    assert np.all(np.diff(times) > 0)
    assert poor or out.with_suffix(".png").stat().st_size > 10_000


def test_the_next_command_is_one_that_the_robot_file_is_enough_for(tmp_path, no_pictures):
    result = robot_dynamics("excite", "points", "-r", "comau_ns16", "--out", tmp_path / "x.csv", "--count", "1")
    assert f"next: robot-dynamics play {tmp_path / 'x.csv'} --robot comau_ns16" in result.output
