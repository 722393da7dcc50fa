"""ROS parameter files: checked against the graph before anything starts, as ROS takes them."""

import os
from contextlib import nullcontext

import pytest

from robot_dynamics_ros.bringup import check_parameter_file, describe, stage_parameters
from robot_dynamics_ros.errors import ConfigError

GOOD = (
    "composed_node:\n  ros__parameters:\n    ip: 10.0.0.2\n    force:\n      bandwidth: 30.0\n    use_sim_time: true\n"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("bandwidth", "bandwith"), "did you mean force.bandwidth"),
        (GOOD.replace("bandwidth: 30.0", "frame_id: base"), "force.frame_id: .*did you mean frame_id"),
        (GOOD.replace("30.0", "-1.0"), "outside"),
        (GOOD.replace("30.0", "30"), r"must be written 30\.0"),
        (GOOD.replace("30.0", ".nan"), "outside"),
        (GOOD.replace("composed_node", "other_node"), "no node of this graph"),
        (GOOD.replace("ros__parameters", "parameters"), "ros__parameters"),
        (GOOD.replace("10.0.0.2", "10.0.0.3"), "ip: '10.0.0.3' has no effect: the command sets '10.0.0.2'"),
        (GOOD.replace("ip: 10.0.0.2", "robot: ur3"), "robot: 'ur3' has no effect"),
        (GOOD.replace("time: true", "time: 1"), "use_sim_time: 1 must be true or false"),
        ("[1, 2]", "expected|mapping"),
    ],
)
def test_parameter_files_are_checked_before_anything_starts(tmp_path, text, message):
    file = tmp_path / "p.yaml"
    file.write_text(GOOD)
    graph = describe("ur5e", ip="10.0.0.2", params_file=str(file))
    file.write_text(GOOD.replace("composed_node", "/**"))
    check_parameter_file(file, graph)
    file.write_text(text)
    with pytest.raises(ConfigError, match=message) as error:
        check_parameter_file(file, graph)
    assert "p.yaml" in str(error.value)


def test_a_replay_has_the_frame_of_the_live_node(tmp_path):
    """frame_id is a node's own parameter: replay with the same file gave the wrench in the tool frame."""
    file = tmp_path / "p.yaml"
    file.write_text("composed_node: {ros__parameters: {frame_id: base, max_age: 1.0, force: {bandwidth: 30.0}}}")
    assert stage_parameters(file) == {"force": {"frame_id": "base", "bandwidth": 30.0}}


def test_a_parameter_of_a_stage_is_for_the_node_that_has_it(tmp_path):
    """The others do not declare it, so that ROS ignores it without a word."""
    file = tmp_path / "p.yaml"
    for node, taken in {"force_node": True, "friction_node": False, "/**": True}.items():
        file.write_text(f"{node}: {{ros__parameters: {{force: {{bandwidth: 30.0}}}}}}")
        with nullcontext() if taken else pytest.raises(ConfigError, match="force.bandwidth: unknown parameter"):
            describe("ur5e", "none", composed=False, params_file=str(file))


PATTERNS = (
    "composed_node",
    "/left/composed_node",
    "left/composed_node",
    "/**",
    "/left/*",
    "/*/composed_node",
    "/left/**",
)
PATTERNS += ("/left/**", "/**/composed_node", "**", "/*", "*")


@pytest.mark.parametrize("namespace", ["left", "", "a/b"])
def test_a_block_is_for_the_nodes_for_which_ros_takes_it(tmp_path, namespace):
    """`composed_node:` is not for /left/composed_node: accepted, it would have no effect."""
    rclpy = pytest.importorskip("rclpy", reason="rclpy is not installed")
    graph, file = describe("ur5e", driver="none", namespace=namespace), tmp_path / "p.yaml"
    for pattern in PATTERNS:
        file.write_text(f'"{pattern}":\n  ros__parameters:\n    force.bandwidth: 30.0\n')
        context, arguments = rclpy.Context(), ["--ros-args", "-r", f"__ns:=/{namespace}", "--params-file", str(file)]
        rclpy.init(args=arguments, context=context)
        node = rclpy.create_node("composed_node", context=context, automatically_declare_parameters_from_overrides=True)
        taken = node.has_parameter("force.bandwidth")
        node.destroy_node()
        rclpy.shutdown(context=context)
        try:
            check_parameter_file(file, graph)
            accepted = True
        except ConfigError as error:
            accepted = "no node of this graph" not in str(error) and "no block is for" not in str(error)
        assert accepted == taken, pattern


def test_one_parameter_file_serves_two_robots(tmp_path):
    file, one = tmp_path / "p.yaml", "{composed_node: {ros__parameters: {force.bandwidth: %s}}}\n"
    file.write_text(f"left: {one % 30.0}/right: {one % -1.0}")
    describe("ur5e", driver="none", namespace="left", params_file=str(file))
    with pytest.raises(ConfigError, match="outside"):
        describe("ur5e", driver="none", namespace="right", params_file=str(file))
    with pytest.raises(ConfigError, match="no block is for a node of this graph; there are /front/composed_node"):
        describe("ur5e", driver="none", namespace="front", params_file=str(file))


def test_a_parameter_file_decides_what_effort_means_beside_another_driver(tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text("composed_node:\n  ros__parameters:\n    effort_semantics: robot_file\n")
    graph = describe("ur5e", driver="none", params_file=str(file))
    words = graph.arguments(graph.nodes[0])
    ours, theirs = (words.index(word) for word in ('effort_semantics:="recognise"', str(file)))
    assert ours < theirs < words.index('robot:="ur5e"')  # the later one holds


def test_a_pipe_is_no_parameter_file_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "p.yaml")
    with pytest.raises(ConfigError, match="is no file"):
        check_parameter_file(tmp_path / "p.yaml", describe("ur5e"))
