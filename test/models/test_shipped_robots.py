"""RobotModel of every shipped robot file."""

import numpy as np
import pytest
from chains import random_motion

from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import shipped_robots


@pytest.mark.parametrize("name", shipped_robots())
def test_shipped_robots_load_and_are_consistent(name):
    try:
        model = RobotModel.load(name)
    except Exception as error:
        if type(error).__name__ == "CapabilityError":
            pytest.skip(str(error))
        raise
    q, qd, qdd = random_motion(model.n_joints, 33, seed=1)
    tau = model.rnea(q, qd, qdd)
    np.testing.assert_allclose(model.regressor(q, qd, qdd) @ model.inertial_parameters, tau, rtol=1e-9, atol=1e-9)
    assert np.linalg.eigvalsh(model.mass_matrix(q)).min() > 0
