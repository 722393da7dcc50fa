"""Which topics are recorded, and what ends a recording."""

import signal

import pytest

from robot_dynamics_ros.nodes.run import Ending
from robot_dynamics_ros.nodes.topics.recorder import wanted

FEEDBACK = "/left/node/follow_joint_trajectory/_action/feedback"


@pytest.mark.parametrize("patterns", [(), ("/left/*",), ("*",)])
def test_hidden_topics_of_actions_are_recorded_only_where_they_are_named(patterns):
    assert wanted("/left/joint_states", patterns) and not wanted(FEEDBACK, patterns)
    assert wanted(FEEDBACK, (FEEDBACK,)) and wanted(FEEDBACK, ("*/_action/*",))


def test_a_name_without_namespace_is_recorded_in_every_namespace():
    assert wanted("/left/joint_states", ("joint_states",)) and not wanted("/left/payload", ("joint_states",))
    assert not wanted("/rosout", ()) and not wanted("/left/node/transition_event", ())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_closed_terminal_ends_a_recording_and_a_node_in_order(number):
    """It killed them: the bag had no index, and what was learned was not saved."""
    before = {each: signal.signal(each, lambda *_: None) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        ending = Ending()
        signal.raise_signal(number)
        assert ending.requested
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
