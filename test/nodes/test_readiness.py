"""What a node without a driver says: what it observes and what is disabled; why nothing arrives."""

from types import SimpleNamespace

import pytest

from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.nodes.robot import readiness
from robot_dynamics_ros.nodes.robot.readiness import Readiness, estimated
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Sample

PIPELINE = Pipeline(load_robot("ur5e"))


@pytest.fixture
def made(monkeypatch):
    clock, lines = SimpleNamespace(now=100.0), []
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(readiness, "time", clock)
    log = SimpleNamespace(info=lines.append, error=lines.append)
    node = SimpleNamespace(get_logger=lambda: log, publishers=0)
    node.count_publishers = lambda _: node.publishers
    inputs = SimpleNamespace(main="/arm/joint_states", last_refusal="")
    return Readiness(node, inputs, PIPELINE), clock, lines, node, inputs


def test_the_ready_line_names_topic_rate_signals_and_what_is_disabled(made):
    ready, clock, lines, *_ = made
    sample = Sample(PIPELINE.robot.joint_names)
    sample.q, sample.effort = 0.0, 1.0
    for judged in 300 * [False] + 300 * [True]:
        ready.on_sample(sample, judged)
        clock.now += 0.01
        assert judged or not lines  # however long it takes until samples are judged
    (line,) = lines
    assert line.startswith("ready: observing /arm/joint_states at 100 Hz (position, effort); estimating ")
    assert "contact force" in line and line.endswith("; stiffness estimator disabled: no motor encoder")


def test_a_node_without_a_stage_to_name_ends_its_ready_line_with_the_signals(made):
    ready, clock, lines, *_ = made
    ready._pipeline, sample = Pipeline(PIPELINE.robot, stages=["motion"]), Sample(PIPELINE.robot.joint_names)
    sample.q = 0.0
    for _ in range(300):
        ready.on_sample(sample)
        clock.now += 0.01
    assert lines == ["ready: observing /arm/joint_states at 100 Hz (position)"]


def test_a_temperature_is_called_estimated_only_with_a_thermal_block():
    text = estimated(Pipeline(load_robot("ur5e")))
    assert load_robot("ur5e").thermal is None and text.startswith("estimating friction, contact force")


def test_what_is_disabled_is_reported_without_names_of_files_or_fields_of_the_program():
    text = estimated(Pipeline(load_robot("fr3")))
    assert "power and energy disabled: torque is measured behind the gear" in text and "stiffness estimator" in text
    assert "/" not in text and "fr3" not in text


@pytest.mark.parametrize(
    ("publishers", "refusal", "text"),
    [
        (0, "", "no publisher on /arm/joint_states for 5 s"),
        (1, "", "nothing arrives on /arm/joint_states for 5 s"),
        (1, "no stamp", "no usable message on /arm/joint_states for 5 s: no stamp"),
    ],
)
def test_silence_is_an_error_on_the_console_and_not_repeated_every_second(made, publishers, refusal, text):
    ready, clock, lines, node, inputs = made
    node.publishers, inputs.last_refusal = publishers, refusal
    assert not ready.check()
    for _ in range(30):
        clock.now += 1.0
        found = ready.check()
    assert text in found and len(lines) == 1 and text in lines[0]
    ready.on_sample(Sample(PIPELINE.robot.joint_names))
    assert not ready.check()


def test_a_message_that_was_refused_long_ago_does_not_explain_a_silence(made):
    """One message without a stamp at the start was the reason given when the driver fell silent an hour later."""
    ready, clock, _, node, inputs = made
    node.publishers, inputs.last_refusal = 1, "no stamp"
    ready.on_sample(Sample(PIPELINE.robot.joint_names))
    clock.now += 10.0
    assert ready.check().startswith("nothing arrives on /arm/joint_states for 5 s")
