"""Contact in a recording that is learned from."""

from dataclasses import replace

import numpy as np
import pytest

from robot_dynamics_ros.learning.intake import touched
from robot_dynamics_ros.learning.running import Running
from robot_dynamics_ros.learning.written import with_residuals, written
from robot_dynamics_ros.models import RobotModel


@pytest.mark.parametrize(("joints", "found"), [((1,), False), ((1, 2), True), ((0,), True)])
def test_contact_beside_known_friction_loads_several_joints(joints, found):
    """An error of friction of one joint is none; an arm of one joint has no second one."""
    n = 1 if joints == (0,) else 4
    residual = np.random.default_rng(0).normal(0.0, 0.01, (3000, n))
    residual[1000:1100, list(joints)] += np.array([2.0, 1.5])[: len(joints)]
    rows = touched(residual, np.ones_like(residual), np.full(n, 4.0), 50.0)
    assert rows[1015:1085].all() == found and rows.any() == found and rows.sum() < 200


def test_pushes_that_a_first_look_has_left_do_not_widen_what_the_written_file_states(worker):
    """100 N along z for 0.5 s, every 4 s."""
    columns = worker.prior.columns
    file, free = written(columns, Running.of(worker.prior, worker.triangles).state, "test"), worker.recordings[:2]
    stated = [with_residuals(file, recordings).residuals for recordings in (free, [pushed(rec, file) for rec in free])]
    for name in ("moving", "rest"):
        before, after = (np.array(getattr(found, name)) for found in stated)
        assert (after < 1.5 * before).all()


def pushed(recording, robot):
    """The recording with the pushes in its effort."""
    model = RobotModel(robot.chain(), robot.joint_names)
    pieces = []
    for piece in recording.pieces:
        force = 100.0 * (piece.t % 4.0 > 3.5)
        pieces.append(replace(piece, effort=piece.effort - model.jacobian(piece.q)[:, 2] * force[:, None]))
    return replace(recording, pieces=pieces)
