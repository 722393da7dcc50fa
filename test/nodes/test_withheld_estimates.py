"""While estimates are withheld, torque is watched, a motion is reported and measurements are published as ever."""

from types import SimpleNamespace

import pytest

from robot_dynamics_ros.nodes.robot.robot_node import RobotNode
from robot_dynamics_ros.signals import Sample


@pytest.mark.parametrize("published", [False, True])
def test_torque_motion_and_topics_see_samples_whose_estimates_are_withheld(published):
    sample, seen, topics = Sample(["joint"], 1), [], []
    parts = SimpleNamespace(
        _estimates=SimpleNamespace(add_to=lambda sample: published),
        _collector=None,
        _driver_interface=SimpleNamespace(on_sample=seen.append, lateness=SimpleNamespace(of=lambda sample: False)),
        _outputs=SimpleNamespace(publish=topics.append),
    )
    assert RobotNode._process(parts, sample) == published
    assert seen == [sample] and topics == [sample]
