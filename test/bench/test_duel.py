"""The regression of the duel's peers holds the true torque: bodies, friction, rotors."""

from types import SimpleNamespace

import numpy as np

from bench.duel.entries import columns, smooth
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
