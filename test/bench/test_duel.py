"""The duel: columns of the regression, shares within the stated deviations, halves of a recording."""

from types import SimpleNamespace

import numpy as np

from bench.duel import entries
from bench.duel.entries import columns, score, smooth
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording
from robot_dynamics_ros.models import RobotModel


def test_the_columns_give_the_torque_of_the_true_parameters():
    model, rng = RobotModel.load("ur5e"), np.random.default_rng(0)
    m = SimpleNamespace(**{name: rng.normal(size=(40, 6)) for name in ("q", "qd", "qdd")})
    joints = rng.uniform(1, 9, (6, 4))
    own = np.stack([smooth(m.qd), m.qd, np.ones_like(m.qd), m.qdd], axis=2)
    friction = np.einsum("kjc,jc->kj", own, joints)
    for masses, bodies in ((True, model.inertial_parameters), (False, [])):
        expected = friction + (model.rnea(m.q, m.qd, m.qdd) if masses else 0.0)
        got = columns(model, m, smooth, masses) @ np.r_[bodies, joints.ravel()]
        np.testing.assert_allclose(got.reshape(6, -1).T, expected, atol=1e-9)


def test_right_deviations_cover_what_a_normal_error_lies_within():
    rng, std = np.random.default_rng(0), np.array([0.1, 3.0])
    effort = rng.normal(size=(50_000, 2))
    _, rmse, one, two = score(effort, effort + std * rng.normal(size=effort.shape), std)
    np.testing.assert_allclose(rmse, std, rtol=0.02)
    np.testing.assert_allclose([one, two], [0.683, 0.954], atol=0.01)


def test_halves_follow_each_other_and_hold_the_longest_piece(monkeypatch):
    pieces = [Piece(t, np.outer(t, [1.0, 2.0]), None, np.zeros((len(t), 2))) for t in (np.arange(40), np.arange(101))]
    monkeypatch.setattr(entries, "read", lambda *given: Recording("bag", ("a", "b"), pieces))
    first, second = (half.pieces[0].t for half in entries.halves(None, None))
    np.testing.assert_array_equal(np.r_[first, second], pieces[1].t)
    assert abs(len(first) - len(second)) <= 1
