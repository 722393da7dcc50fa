"""A returned motion keeps every limit it was given between the samples of its search too, else it is refused.

What is kept is measured here from forward kinematics and inverse dynamics alone, at 20 samples for each of the search.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import robot_dynamics
from synthetic import UR5E
from test_excitation_slopes import free

from bench.papers.labs.race import condition_alone, hybrid_until
from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.excitation import (
    Box,
    Criteria,
    FourierSearch,
    Limits,
    design_fourier,
    design_points,
)
from robot_dynamics_ros.identification.excitation.check import breaches, broken, mend
from robot_dynamics_ros.identification.excitation.limits import TOLERANCE
from robot_dynamics_ros.identification.excitation.space import _deepest
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.trajectories.files import few_points

pytestmark = pytest.mark.usefixtures("calm")

PILLAR = Box((0.3, 0.15, -0.5), (0.34, 0.19, 0.9))  # thinner than what a link moves between samples
RATE = 200.0  # of the search: 10
# the two ends of one short link of the wrist, and the link before it: (link, point) as fk counts, the base before it
NEIGHBOURS = {"ur5e": {(3, 5)}, "comau_ns16": {(4, 6)}, "panda": {(4, 7)}}


@pytest.fixture(params=[None, *(pytest.param(name, marks=pytest.mark.long) for name in _core.available_isas())])
def seeds(request):
    """With the kernels of this machine one search, in the long tier more and with every set of kernels."""
    before = _core.isa()
    _core.select_isa(request.param or before)
    yield range(2 if request.param else 1)
    _core.select_isa(before)


def limits_of(robot):
    return Limits.of(robot, floor=0.05, clearance=0.1, outside=(PILLAR,))


def distance(p, a, b):
    """Of points p from lines a b, all (N, 3)."""
    d = b - a
    s = np.clip(((p - a) * d).sum(1) / np.maximum((d * d).sum(1), 1e-12), 0, 1)
    return np.linalg.norm(p - a - s[:, None] * d, axis=1)


def closest(points, neighbours=frozenset()):
    """Least distance of joints and TCP from links before their own, of pairs whose distance changes."""
    last, gaps = points.shape[1], []
    pairs = {(link, k) for link in range(last - 2) for k in range(link + 2, last)} - neighbours
    for i, k in pairs:
        gap = distance(points[:, k], points[:, i], points[:, i + 1])
        gaps += [gap.min()] if np.ptp(gap) > 1e-6 else []
    return min(gaps)


def depths(points, box, steps=41):
    """Of the deepest point (N,) of the links (from the second joint on) in a box; negative outside."""
    low, high, found = np.array(box.low), np.array(box.high), np.full(len(points), -np.inf)
    for s in np.linspace(0, 1, steps):
        p = (1 - s) * points[:, 1:-1] + s * points[:, 2:]
        found = np.maximum(found, np.minimum(p - low, high - p).min(axis=-1).max(axis=-1))
    return found


def assert_kept(robot, name, limits, e):
    model = RobotModel(robot.kinematic_chain(), robot.joint_names)
    q, qd, qdd = (np.ascontiguousarray(x) for x in (e.q, e.qd, e.qdd))
    assert np.all(q >= limits.lower - TOLERANCE) and np.all(q <= limits.upper + TOLERANCE)
    bounded = [(qd, limits.velocity), (qdd, limits.acceleration)]
    if name != "comau_ns16":  # whose masses are unknown
        bounded.append((RobotModel(robot.chain(), robot.joint_names).rnea(q, qd, qdd), limits.torque))
    for found, limit in bounded:
        assert np.all(np.abs(found) <= (1 + TOLERANCE) * limit)
    points = np.concatenate([np.zeros((len(q), 1, 3)), model.fk(q)[:, :, :3, 3]], axis=1)
    if np.isfinite(limits.tcp_speed):
        speed = np.linalg.norm(np.diff(points[:, -1], axis=0), axis=1) * RATE
        assert speed.max() <= (1 + TOLERANCE) * limits.tcp_speed
    assert points[:, 2:, 2].min() >= limits.floor - TOLERANCE
    assert closest(points, NEIGHBOURS[name]) >= limits.clearance - TOLERANCE
    assert max(depths(points, box).max() for box in limits.outside) <= TOLERANCE


@pytest.mark.parametrize("name", ["ur5e", "comau_ns16", "panda"])
def test_fourier_motions_keep_all_limits(seeds, name):
    robot = load_robot(name)
    limits = limits_of(robot)
    for seed in seeds:
        e = design_fourier(robot, limits, rate=RATE, starts=1, effort=3, seed=seed)
        assert_kept(robot, name, limits, e)


@pytest.mark.parametrize("name", sorted(NEIGHBOURS))
def test_tours_keep_all_limits(seeds, name):
    robot = load_robot(name)
    limits = limits_of(robot)
    for seed in seeds:
        assert_kept(robot, name, limits, design_points(robot, limits, points=4, rate=RATE, tries=60, seed=seed))


def test_searches_of_the_race_count_a_motion_as_kept_only_then():
    search = FourierSearch(Criteria(UR5E, limits_of(UR5E)), 5, 0.1 * np.pi, 20.0)
    rng = np.random.default_rng(3)
    start = search.start(rng)
    alone = condition_alone(search, start, effort=10, rounds=2)
    assert alone.kept
    through = free(search, 2, 1.5)
    assert broken(search, through)
    search.run = lambda x, plan, watch: watch(x)  # ends where it begins
    search.problem.excess = lambda x: {"torque": -1.0}  # as if no sample of the search showed it
    search.start = lambda rng: through
    assert hybrid_until(search, through, [replace(alone, condition=1e9, logdet=1e9)], rng) == [None]


@pytest.mark.long
def test_broken_motions_are_mended_or_reported():
    limits = limits_of(UR5E)
    search, mended = FourierSearch(Criteria(UR5E, limits), 5, 0.1 * np.pi, 20.0), 0
    for seed in range(2):
        x = free(search, seed, 1.2)
        assert broken(search, x)
        x, left = mend(search, x)
        if left:
            assert left[0].excess > TOLERANCE
            continue
        mended += 1
        q, qd, qdd = search.at(x, np.arange(0, 20, 1 / RATE))
        assert_kept(UR5E, "ur5e", limits, SimpleNamespace(q=q, qd=qd, qdd=qdd))
    assert mended >= 1


@pytest.mark.parametrize("at", [0.4213, 3.0071, 7.77777])
def test_a_peak_between_grid_points_is_found(at):
    """A joint faster than its limit by 1 % for less than the step of the grid."""
    criteria = Criteria(UR5E, Limits.of(UR5E))
    top, width, n = 1.01 * criteria.limits.velocity[0], 0.01, len(criteria.limits.lower)

    def path(t):
        q, qd = np.zeros((len(t), n)), np.zeros((len(t), n))
        qd[:, 0] = top * np.exp(-(((t - at) / width) ** 2))
        return q, qd, np.zeros_like(q)

    step = 10.0 / 500
    grid = path(np.linspace(0, 10, 501))[1][:, 0]
    assert grid.max() < criteria.limits.velocity[0] and step > width
    (found,) = [b for b in breaches(criteria, path, 10.0, 50) if b.limit == "velocity"]
    assert found.excess == pytest.approx(0.01, abs=1e-4) and found.time == pytest.approx(at, abs=1e-3)


def test_joint_torque_is_kept_with_friction_and_rotors():
    """A UR3e with its rated payload: without friction in the search a wrist of 12 Nm needs 13.4 Nm."""
    robot = load_robot("ur3e").with_updates({"payload.mass": 3.0, "payload.com": [0.05, 0.0, 0.1]})
    limits = Limits.of(robot, clearance=0.05)
    model, friction = RobotModel(robot.chain(), robot.joint_names), FrictionModel.from_robot(robot)
    for e in (design_fourier(robot, limits, starts=1), design_points(robot, limits, tries=60)):
        rigid = model.rnea(*(np.ascontiguousarray(x) for x in (e.q, e.qd, e.qdd)))
        torque = rigid + robot.array("drives.rotor_inertia") * e.qdd + friction.torque(e.qd)
        assert (np.abs(torque) <= (1 + TOLERANCE) * limits.torque).all()


@pytest.mark.parametrize("share", [0.95, 1.05])
def test_a_tour_that_needs_more_than_the_search_may_use_of_a_torque_is_judged_by_the_limit(share):
    """Every try took 0.9 to 1.0 of it: nothing was broken, and the refusal of nothing was an IndexError."""
    free = design_points(UR5E, replace(Limits.of(UR5E), torque=np.full(6, 1e4)), rate=50.0, tries=1)
    torque = Criteria(UR5E, Limits.of(UR5E)).load.torque(free.q, free.qd, free.qdd)
    limits = replace(Limits.of(UR5E), torque=np.abs(torque).max(axis=0) / share)
    if share < 1.0:
        np.testing.assert_array_equal(design_points(UR5E, limits, rate=50.0, tries=1).q, free.q)
    else:
        with pytest.raises(DataError, match="joint torque is exceeded by 5 %"):
            design_points(UR5E, limits, rate=50.0, tries=1)


@pytest.mark.parametrize("rate", [125.0, 50.0])
def test_points_are_met_at_any_rate(rate):
    """Written with its velocities, a tour of trapezoids keeps its acceleration between the points, too."""
    limits = Limits.of(UR5E)
    e = design_points(UR5E, limits, rate=rate, tries=20)
    spline, _ = few_points((e.q, e.qd, e.qdd), rate).spline(1000.0)
    t = np.arange(0, e.time[-1], 1e-3)
    assert (np.abs(spline.derivative(2)(t)) <= limits.acceleration).all()
    assert (np.abs(spline.derivative()(t)) <= limits.velocity).all()
    assert np.abs(spline(e.time) - e.q).max() < 1e-3


def test_depth_of_links_in_boxes():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-1, 1, (2, 300, 2, 3))
    points = np.stack([a[:, 0], b[:, 0]], axis=1)
    for box in (Box((-0.2, -0.1, -0.3), (0.1, 0.3, 0.2)), Box((-0.5, -np.inf, 0.2), (0.1, 0.3, np.inf))):
        found = _deepest(a, b, box)[0][:, 0]
        wanted = depths(points[:, [0, 0, 1]], box, 2001)
        assert np.all(found >= wanted - 1e-12) and np.abs(found - wanted).max() < 2e-3


@pytest.mark.parametrize("clearance", [0.15, 0.5])
def test_a_clearance_that_the_arm_cannot_keep_is_refused(clearance):
    reach = np.hypot(0.0997, 0.0996)  # m, of wrist 3 from wrist 1, where the forearm ends
    for design in (design_fourier, design_points):
        with pytest.raises(DataError) as caught:
            design(UR5E, Limits.of(UR5E, clearance=clearance))
        text = str(caught.value)
        assert "\n" not in text and f"clearance = {clearance} m" in text and "wrist_3_joint" in text
        asked = float(text.split("ask for ")[1].split(" m")[0])
        assert 0.75 * reach < asked < reach
        Criteria(UR5E, Limits.of(UR5E, clearance=asked))


def test_limits_that_contradict_each_other_are_refused_by_name_and_amount():
    low = Limits.of(UR5E, floor=0.05, clearance=0.1, inside=Box((-2, -2, 0.0), (2, 2, 0.06)))
    for design, brief in ((design_fourier, {"starts": 1, "effort": 2}), (design_points, {"points": 3, "tries": 5})):
        with pytest.raises(DataError, match=r"keeps the limits: .* is exceeded by .* m at .* s; .*try another seed"):
            design(UR5E, low, **brief)


def test_the_command_refuses_in_one_line_and_writes_nothing(tmp_path):
    out = tmp_path / "excitation.csv"
    result = robot_dynamics("excite", "-r", "ur5e", "--out", out, "--clearance", "0.3")
    assert result.exit_code != 0 and isinstance(result.exception, DataError) and not out.exists()
