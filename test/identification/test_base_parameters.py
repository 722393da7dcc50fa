"""Base parameters: numeric and closed form span the same space and carry the same groups."""

from __future__ import annotations

import numpy as np
import pytest

from robot_dynamics_ros.identification.arm.closed_form import closed_form
from robot_dynamics_ros.identification.arm.names import base_names
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.robot_file import load_robot

UP, TILTED = np.array([0.0, 0.0, -9.81]), np.array([0.0, 4.0, -8.9])


@pytest.mark.parametrize(
    ("name", "gravity", "count"),
    [("ur5e", UP, 36), ("ur5e", TILTED, 38), ("ur10", UP, 36), ("panda", UP, 43), ("panda", TILTED, 45)],
)
def test_numeric_and_closed_form_are_the_same_base(name, gravity, count):
    robot = load_robot(name)
    base = RigidModel(robot, gravity).base
    kept, P = closed_form(robot, gravity)
    assert base.size == len(kept) == count
    assert np.linalg.matrix_rank(np.vstack([base.matrix(), P]), tol=1e-8) == count
    assert list(base.independent) == list(kept)
    assert np.allclose(base.matrix(), P, atol=1e-8)


def test_base_parameters_give_the_same_torque_as_standard_ones():
    robot = load_robot("ur5e")
    rigid = RigidModel(robot)
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.normal(size=(3, 50, 6))
    phi = robot.inertial_parameters
    beta = rigid.base.from_standard(phi)
    W = rigid.base_rows(q, qd, qdd)
    assert np.allclose((W @ beta).T, rigid.torque(phi, q, qd, qdd), atol=1e-9)
    assert np.allclose(rigid.torque(rigid.base.to_standard(beta), q, qd, qdd), rigid.torque(phi, q, qd, qdd), atol=1e-9)


def test_names_say_what_is_grouped():
    names = base_names(RigidModel(load_robot("ur5e")).base)
    assert names[names.index(next(n for n in names if n.startswith("XX6")))] == "XX6 - YY6"
    assert next(n for n in names if n.startswith("mX2")).startswith("mX2 - 0.425 m3")
