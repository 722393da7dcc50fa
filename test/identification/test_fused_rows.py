"""The final solution block by block against the same rows as matrices in memory, solved by numpy."""

import tracemalloc

import numpy as np
import pytest
from synthetic import TRUTH, UR5E, excitation, torque

from robot_dynamics_ros.identification.arm.friction_columns import JointFriction, Shape
from robot_dynamics_ros.identification.arm.model import EffortFilter, Structure, joint_rows
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.solvers import fused_rows
from robot_dynamics_ros.identification.arm.solvers.fused_rows import FusedRows, Window, blocks
from robot_dynamics_ros.identification.arm.solvers.least_squares import JointRows, StoredRows, solve
from robot_dynamics_ros.identification.dataset.motion import Motion

RIGID = RigidModel(UR5E)
RATE = 200.0
EVERY = ("fv1", "fv2", "fv0", "fo", "fs", "h@3", "h@5", "hl@1", "hl@3")
SHAPE = Shape(1.0, 0.7, 0.1, load_limit=40.0)
LAWS = (  # no rotor inertia of joints 1 and 2: only its sum with the links' is in the rows
    JointFriction(EVERY, SHAPE),
    JointFriction(("fv1", "fo", "fc")),
    JointFriction((*EVERY, "ia"), SHAPE),
    JointFriction(("fv1", "fv2", "fo", "ia", "fc")),
    JointFriction(("fv1", "fo", "ia", "fc", "cv@5", "ca@5", "cc@5+")),
    JointFriction(("fv1", "fo", "ia", "fc")),
)
FILTERS = (None, EffortFilter(9.0, True), EffortFilter(14.0, False), None, None, EffortFilter(5.0, False))


def motion_of(samples, seed=1, pieces=(0,)):
    t, q, qd, qdd = excitation(6, samples / RATE + 1, RATE, seed)
    t, q, qd, qdd = (x[:samples] for x in (t, q, qd, qdd))
    effort = torque(UR5E, TRUTH, q, qd, qdd)
    effort += 0.05 * np.random.default_rng(seed).standard_normal(effort.shape)
    start = np.zeros(samples, bool)
    start[list(pieces)] = True
    return Motion(t, q, qd, qdd, effort, start, RATE)


def both(structure, motion, phi):
    """The rows block by block, and as matrices."""
    W = RIGID.base_regressor(motion.q, motion.qd, motion.qdd)
    load = RIGID.torque(phi, motion.q, motion.qd, motion.qdd)
    fused, stored = FusedRows(RIGID, structure, motion, phi), []
    for own, rows in zip(fused.index, joint_rows(motion, W, load, structure), strict=True):
        used = np.isin(rows.index, own)  # a joint does not feel the links before it
        assert not rows.A[:, ~used].any()
        stored.append(JointRows(rows.A[:, used], rows.index[used], rows.y))
    return fused, StoredRows(stored)


def size_of(structure):
    return int(structure.index(RIGID.base.size)[-1][-1]) + 1


@pytest.fixture(params=[(None,) * 6, FILTERS], ids=["unfiltered", "filtered"])
def structure(request, monkeypatch):
    monkeypatch.setattr(fused_rows.blocks, "__defaults__", (300,))  # many blocks, and windows longer than a block
    return Structure(8.0, 0.0, LAWS, request.param)


def test_triangles_hold_the_same_rows(structure):
    motion = motion_of(2500, pieces=(0, 700, 702, 1500))
    fused, stored = both(structure, motion, TRUTH.phi)
    weights = list(np.random.default_rng(3).uniform(0.1, 1, (6, len(motion))))
    for w in (None, weights):
        for R, S in zip(fused.triangles(w), stored.triangles(w), strict=True):
            gram = S.T @ S
            np.testing.assert_allclose(R.T @ R, gram, rtol=1e-9, atol=1e-11 * np.abs(gram).max())


def test_residuals_are_those_of_the_matrices(structure):
    motion = motion_of(2500, pieces=(0, 700, 1500))
    fused, stored = both(structure, motion, TRUTH.phi)
    x = np.random.default_rng(5).normal(size=size_of(structure))
    for a, b in zip(fused.residuals(x), stored.residuals(x), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9 * np.abs(b).max())


def test_weighted_solution_is_that_of_the_matrices(structure):
    motion = motion_of(2000, pieces=(0, 900))
    size = size_of(structure)
    found, same = (solve(rows, size) for rows in both(structure, motion, TRUTH.phi))
    np.testing.assert_allclose(found.x, same.x, rtol=0, atol=1e-9 * np.abs(same.x).max())
    np.testing.assert_allclose(found.std, same.std, rtol=1e-3)
    np.testing.assert_allclose(found.weights, same.weights, atol=1e-6)


def test_memory_beyond_the_data_does_not_grow_with_the_rows():
    """A long motion may cost what is kept per sample (residual, weight, its copy), never columns of W."""
    structure = Structure(8.0, 0.0, LAWS, FILTERS)
    small, large = motion_of(10_000), motion_of(40_000)
    extra = []
    for motion in (small, large):
        rows = FusedRows(RIGID, structure, motion, TRUTH.phi)
        tracemalloc.start()
        solve(rows, size_of(structure), iterations=1)
        extra.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    per_sample = (extra[1] - extra[0]) / 30_000 / 8  # numbers
    columns = RIGID.base.size * 6 + sum(len(law.terms) for law in LAWS)
    assert per_sample < 8 * 6 < columns / 4
    assert extra[0] - per_sample * 8 * 10_000 < 16e6


@pytest.mark.parametrize("chosen", [EffortFilter(3.0, True), EffortFilter(3.0, False), EffortFilter(60.0, False)])
def test_window_gives_what_the_filter_gives_of_the_whole(chosen):
    rng = np.random.default_rng(7)
    x = np.cumsum(rng.normal(size=(5000, 3)), axis=0)
    start = np.zeros(5000, bool)
    start[[0, 1, 3, 2000]] = True
    window, found = Window(chosen, RATE), np.full_like(x, np.nan)
    for first, last, ends in blocks(start, 170):
        for a, rows in window.push(x[first:last], ends):
            found[a : a + len(rows)] = rows
    np.testing.assert_allclose(found, chosen.apply(x, RATE, start), atol=1e-11 * np.abs(x).max())
