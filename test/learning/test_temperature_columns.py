"""Temperature: a column of the triangles, one slope per joint in the robot file, and back."""

import numpy as np
import pytest

from robot_dynamics_ros.identification.arm.written_file import file_effort
from robot_dynamics_ros.learning.columns import WARM
from robot_dynamics_ros.learning.intake import Work, triangles_of, warmer_than, working_motion
from robot_dynamics_ros.learning.running import posterior
from robot_dynamics_ros.learning.triangles import Triangle
from robot_dynamics_ros.learning.update import Information, rows_of, warm_slope
from robot_dynamics_ros.learning.written import STEEPEST, parameters_of, written
from robot_dynamics_ros.models.friction import FrictionModel, created_energy


def test_the_temperatures_of_a_recording_are_those_at_its_rows(worker):
    rec = worker.recordings[0]
    motion = working_motion(rec)
    warmer = warmer_than(rec, motion)
    assert warmer is not None and warmer.shape == motion.q.shape
    piece = rec.pieces[0]
    k = len(motion) // 2
    nearest = np.argmin(np.abs(piece.t - motion.t[k]))
    assert warmer[k] + WARM == pytest.approx(piece.extra["temperature"][nearest], abs=0.2)


def test_a_slope_in_the_data_is_found_and_written(worker):
    """Oracle: effort made with friction that falls by 1.2 % per K, seen at three temperatures."""
    c, prior = worker.prior.columns, worker.prior
    base = parameters_of(c, written(c, posterior(prior, worker.triangles), "test"))
    slope, state = -0.012, prior.information
    for day, warmer in enumerate((-8.0, 0.0, 8.0)):
        m = working_motion(worker.recordings[day])
        own = [F @ base[c.own(j)] for j, F in enumerate(c.friction(m, c.load(m)))]
        links = c.rigid.torque(c.rigid.base.to_standard(base[: c.base]), m.q, m.qd, m.qdd)
        inertia = np.column_stack([m.qdd[:, j] * base[c.place(j, "ia")] for j in range(c.n)])
        offset = np.array([base[c.place(j, "fo")] for j in range(c.n)])
        friction = np.column_stack(own) - inertia - offset
        m.effort = links + inertia + offset + (1 + slope * warmer) * friction
        ones = np.ones(m.q.shape)
        joints = triangles_of(prior, Work(m, warmer * ones), ones)
        count = ones.sum(axis=0)
        state = state.with_rows(rows_of(Triangle(joints, count, np.ones(c.n), count), c))
    found = written(c, state, "test")
    alpha = found.array("friction.parameters.alpha")
    assert alpha == pytest.approx(slope * np.ones(c.n), abs=0.003)
    assert created_energy(found) == {}


def test_a_written_slope_comes_back_as_parameters(worker):
    c = worker.prior.columns
    state = posterior(worker.prior, worker.triangles)
    x = parameters_of(c, written(c, state, "test"))
    again = parameters_of(c, written(c, Information.of(x, worker.prior.covariance), "test"))
    places = [c.place(j, t) for j in range(c.n) for t in ("tc", "tv")]
    assert again[places] == pytest.approx(x[places], rel=0.1, abs=1e-3)


def test_a_warm_joint_rubs_less_by_the_written_slope(worker):
    """The factor of the friction law in the nodes is 1 + alpha (T - T0), bounded so that friction stays positive."""
    c = worker.prior.columns
    robot = written(c, posterior(worker.prior, worker.triangles), "test")
    alpha = robot.array("friction.parameters.alpha")
    assert (np.abs(alpha) <= STEEPEST).all() and [warm_slope(robot, j) for j in range(c.n)] == pytest.approx(alpha)
    law, v = FrictionModel.from_robot(robot), np.full((1, c.n), 0.5)
    cold, warm = (law.torque(v, None, np.full((1, c.n), T)) for T in (WARM, WARM + 10.0))
    offset = robot.array_or("friction.parameters.fo", 0.0)
    assert (warm - offset) == pytest.approx((1 + 10 * alpha) * (cold - offset), rel=1e-6)


def test_without_temperatures_the_columns_are_empty_and_the_prior_stays(worker):
    c, m = worker.prior.columns, working_motion(worker.recordings[0])
    own = c.friction(m, c.load(m))
    for j, F in enumerate(own):
        assert not F[:, [c.terms[j].index(t) for t in ("tc", "tv")]].any()
    law = file_effort(worker.robot, c.rigid.gravity, (None,) * c.n)(m)
    assert np.isfinite(law).all()
