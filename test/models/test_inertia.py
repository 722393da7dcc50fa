"""Inertial parameters: conversions are inverse to each other and impossible bodies are recognised."""

import numpy as np
import pytest
from chains import random_rotation

from robot_dynamics_ros.models.inertia import (
    about_com,
    consistency_margin,
    from_pseudo_inertia,
    inertia_matrix,
    is_consistent,
    moved,
    nearest_body,
    pseudo_inertia,
)
from robot_dynamics_ros.robot_file.geometry import inertia_about_origin


def point_cloud(rng, n=20):
    """Ten parameters of n random point masses, from the definition of the moments."""
    masses, points = rng.uniform(0.1, 1.0, n), rng.normal(0.1, 0.3, (n, 3))
    L = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
    six = L[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    return np.concatenate([six, masses @ points, [masses.sum()]]), masses, points


@pytest.mark.parametrize("seed", range(5))
def test_pseudo_inertia_is_the_second_moment_of_the_points(seed):
    ten, masses, points = point_cloud(np.random.default_rng(seed))
    homogeneous = np.c_[points, np.ones(len(points))]
    np.testing.assert_allclose(pseudo_inertia(ten), homogeneous.T @ (masses[:, None] * homogeneous), atol=1e-12)
    np.testing.assert_allclose(from_pseudo_inertia(pseudo_inertia(ten)), ten, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_centre_of_mass_and_back(seed):
    # [Madsen2020 2.49]
    ten, masses, points = point_cloud(np.random.default_rng(seed))
    body = about_com(ten)
    np.testing.assert_allclose(body.com, masses @ points / masses.sum(), atol=1e-12)
    np.testing.assert_allclose(inertia_about_origin(body.mass, body.com, body.inertia), ten, atol=1e-12)


def test_moving_the_frame_moves_the_points():
    rng = np.random.default_rng(3)
    ten, masses, points = point_cloud(rng)
    R, p = random_rotation(rng), rng.normal(size=3)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    body = about_com(moved(ten, T))
    np.testing.assert_allclose(body.com, R @ about_com(ten).com + p, atol=1e-12)
    turned = R @ inertia_matrix(about_com(ten).inertia) @ R.T
    np.testing.assert_allclose(inertia_matrix(body.inertia), turned, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_real_bodies_are_consistent_and_their_own_nearest(seed):
    ten, _, _ = point_cloud(np.random.default_rng(seed))
    assert is_consistent(ten) and consistency_margin(ten) > 0
    np.testing.assert_allclose(nearest_body(ten), ten, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_body_is_one_with_the_same_mass_and_centre(seed):
    rng = np.random.default_rng(seed)
    ten, _, _ = point_cloud(rng)
    ten[:3] += rng.uniform(5.0, 9.0) * rng.permutation([1.0, 0.0, 0.0])
    found = nearest_body(ten)
    assert not is_consistent(ten) and is_consistent(found)
    np.testing.assert_allclose(found[6:], ten[6:], atol=1e-12)


def test_a_single_point_mass_is_just_possible():
    ten = inertia_about_origin(2.0, [0.1, 0.2, 0.3], np.zeros(6))
    assert is_consistent(ten) and abs(consistency_margin(ten)) < 1e-9


@pytest.mark.parametrize(
    ("com", "inertia"),
    [
        ([0, 0, 0], [1, 0, 0, 1, 0, 2.1]),  # triangle inequality, yet a positive definite inertia
        ([0.5, 0, 0], [0.1, 0, 0, -0.01, 0, 0.1]),
        ([0, 0, 0], [1, 0.9, 0.9, 1, 0.9, 1]),
    ],
)
def test_impossible_bodies_are_refused(com, inertia):
    assert not is_consistent(inertia_about_origin(1.0, com, inertia))


def test_negative_mass_is_refused():
    ten, _, _ = point_cloud(np.random.default_rng(0))
    assert not is_consistent(-ten)


@pytest.mark.parametrize("bad", [np.zeros(9), np.full(10, np.nan), np.r_[np.ones(9), np.inf]])
def test_wrong_parameters_are_named(bad):
    with pytest.raises(ValueError, match="parameters"):
        pseudo_inertia(bad)


def test_massless_body_has_no_centre_of_mass():
    with pytest.raises(ValueError, match="mass 0.0 must be > 0"):
        about_com(np.zeros(10))
