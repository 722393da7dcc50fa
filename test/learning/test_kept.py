"""A study that was cut goes on from what it kept: the same numbers, and nothing is simulated twice."""

import numpy as np
import pytest

from bench.force import zoo
from bench.force.recordings import RATE
from bench.learning.study import kept, kept_log
from bench.learning.tasks import cycle, task_of
from robot_dynamics_ros.robot_file import load_robot


def test_a_kept_recording_is_the_same_whether_it_was_just_made_or_read(worker, tmp_path):
    log = worker.logs[0]
    path = tmp_path / "robot_0" / "day_0.npz"
    first = kept_log(path, lambda: log)
    again = kept_log(path, lambda: pytest.fail("it was made again"))
    assert np.array_equal(first.stamp_ns, log.stamp_ns) and again.joint_names == log.joint_names
    for name, values in first.signals.items():
        assert np.array_equal(values, again.signals[name])
        np.testing.assert_allclose(values, log.signals[name], rtol=1e-6, atol=1e-6)
    assert np.array_equal(first.signals["q"], log.signals["q"])  # presliding elements see encoder steps


def test_a_result_that_failed_is_not_kept(tmp_path):
    def fails():
        raise ValueError("cut")

    with pytest.raises(ValueError, match="cut"):
        kept(tmp_path / "result.pickle", fails)
    assert kept(tmp_path / "result.pickle", lambda: {"a": 1.0}) == {"a": 1.0}
    assert kept(tmp_path / "result.pickle", fails) == {"a": 1.0}


def test_a_day_of_work_has_the_length_that_was_asked():
    """Also where a rest is too short to be a part of the motion (robot 6, day 18)."""
    robot = load_robot("ur5e")
    who = zoo.individuals(robot, 7, 0, zoo.families("tuning"))[6]
    for day in range(20):
        assert len(cycle(robot, who, task_of(who, day), who.draw(1000 + day), 60.0)[0]) == 60 * RATE
