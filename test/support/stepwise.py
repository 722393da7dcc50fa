"""A stage step by step against its batch."""

import numpy as np

from robot_dynamics_ros.estimators.stage import run_stepwise


def assert_steps_are_run(make, log):
    """Statuses and what is written, bit for bit, of stages that make() gives."""
    whole, single, stage = log[:], log[:], make()
    np.testing.assert_array_equal(make().run(whole), run_stepwise(stage, single))
    for name in stage.writes:
        np.testing.assert_array_equal(getattr(single, name), getattr(whole, name), err_msg=name)
