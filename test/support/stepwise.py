"""A stage step by step against its batch."""

import numpy as np

from robot_dynamics_ros.signals import Sample


def run_stepwise(stage, log):
    """The loop over step(); statuses (N,)."""
    status, sample = np.empty(len(log), dtype=np.int32), Sample(log.joint_names)
    for row in range(len(log)):
        log.read(row, sample)
        status[row] = int(stage.step(sample))
        log.write(row, sample, stage.writes)
    return status


def assert_steps_are_run(make, log):
    """Statuses and what is written, bit for bit, of stages that make() gives."""
    whole, single, stage = log[:], log[:], make()
    for name in stage.writes:
        single.allocate(name)
    np.testing.assert_array_equal(make().run(whole), run_stepwise(stage, single))
    for name in stage.writes:
        np.testing.assert_array_equal(getattr(single, name), getattr(whole, name), err_msg=name)
