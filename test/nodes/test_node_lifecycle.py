"""Stream and lifecycle of a node on a robot that the test steps, and other nodes beside it."""

import gc
from dataclasses import replace
from itertools import count

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.parameter import Parameter

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.drivers.stream import Statistics
from robot_dynamics_ros.errors import ConfigError, ConnectionFailed
from robot_dynamics_ros.nodes.claims import claim
from robot_dynamics_ros.nodes.diagnostics import WARN
from robot_dynamics_ros.nodes.robot.robot_node import RobotNode
from robot_dynamics_ros.nodes.topics.encoding import to_ns
from robot_dynamics_ros.robot_file import load_robot, save_robot


def test_a_lost_robot_and_its_return_are_on_the_console_once(rig, monkeypatch, capfd):
    rig.robot_node.diagnose()
    capfd.readouterr()  # what another test has left
    with monkeypatch.context() as lost:
        lost.setattr(rig.driver, "condition", StreamState.fault)
        lost.setattr(rig.driver, "last_error", "connection reset")
        for _ in range(3):
            rig.robot_node.diagnose()
    for _ in range(3):
        rig.robot_node.diagnose()
    log = capfd.readouterr().err
    assert log.count("connection reset") == 1 and log.count("as it should be again") == 1


@pytest.mark.parametrize(
    ("counted", "cause"),
    [
        ({"non_finite": 9}, "numbers that are not finite, restart it"),
        ({"frozen": 9, "samples": 9}, "repeats its measurements while it moves"),
        ({"samples": 9}, "late, or none: check cable"),
    ],
)
def test_a_stream_that_fails_says_why(rig, monkeypatch, counted, cause):
    monkeypatch.setattr(rig.driver, "condition", StreamState.safe)
    looks = count(1)  # more of them at every look, also at those of the node's own timer
    monkeypatch.setattr(
        rig.driver, "statistics", lambda: Statistics(**{k: n * next(looks) for k, n in counted.items()})
    )
    rig.robot_node._driver_interface._looked = Statistics()
    assert cause in rig.trigger("rearm")[1] and cause in rig.diagnosed("stream")[0]


def test_an_error_of_the_past_is_no_state_of_the_stream_and_the_first_sample_is_waited_for(rig, monkeypatch):
    monkeypatch.setattr(rig.driver, "last_error", "connection refused")
    assert rig.diagnosed("stream")[0] == "stream ok"
    monkeypatch.setattr(rig.driver, "last_error", "")
    monkeypatch.setattr(rig.driver, "condition", StreamState.fault)
    (entry,) = (s for s in rig.robot_node.diagnose() if s.name.endswith("stream"))
    assert (entry.level, entry.message) == (WARN, "no sample has arrived yet")
    counts = Statistics(malformed=400, duplicates=3)  # as of arms with another number of joints, and times of zero
    with monkeypatch.context() as counted:
        counted.setattr(rig.driver, "statistics", lambda: counts)
        assert "no sample can be used (400 malformed, 3 of a repeated time)" in rig.diagnosed("stream")[0]
    now = rig.driver.now + 6 * 10**9
    monkeypatch.setattr(rig.driver, "steady", lambda: 1e-9 * now)
    assert rig.diagnosed("stream")[0].startswith("no sample for 5 s")


# -- lifecycle ------------------------------------------------------------------------------------------------------
def test_deactivate_silences_and_activate_resumes(rig):
    def transition(number):
        request = ChangeState.Request()
        request.transition.id = number
        assert rig.call(ChangeState, "/composed_node/change_state", request).success

    assert len(rig.published(50, "joint_states")[0]) == 50
    transition(4)  # deactivate
    rig.driver.latched = StreamState.fault  # as of a stream that ends
    assert rig.call(GetState, "/composed_node/get_state").current_state.label == "inactive"
    (idle,) = rig.robot_node.diagnose()
    assert not rig.robot_node.work() and idle.message == "not active"
    assert rig.trigger("rearm") == (False, "the node is not active: activate it first, which connects the robot")
    for number in (2, 1, 3):  # clean up, configure, activate
        transition(number)
    rig.spin(lambda: rig.robot_node.count_subscribers("joint_states"))
    assert len(rig.published(50, "joint_states")[0]) == 50
    assert rig.diagnosed("stream")[1]["latched"] == "ok"
    assert idle.name in [entry.name for entry in rig.robot_node.diagnose()]  # it does not stay beside them


def test_of_a_robot_that_is_gone_no_safety_mode_is_shown(rig, monkeypatch):
    """After an emergency stop and the end of the controller the mode of before stood beside the lost connection."""
    stopped = replace(rig.driver.status, safety_normal=False, safety_text="robot emergency stop")
    monkeypatch.setattr(rig.driver, "status", stopped)
    assert rig.diagnosed("stream")[0] == "safety mode robot emergency stop"
    monkeypatch.setattr(rig.driver, "condition", StreamState.fault)
    monkeypatch.setattr(rig.driver, "last_error", "connection refused")
    text, values = rig.diagnosed("stream")
    assert text == "connection refused" and values["safety mode"] == values["robot mode"] == "unknown"


def test_a_robot_that_falls_silent_and_returns_is_found_again_and_nothing_old_is_published(rig):
    driver, last = rig.driver, rig.driver.now
    driver.silent, driver.condition, driver.last_error = True, StreamState.fault, "the connection was lost"
    driver.latched = StreamState.fault
    rig.cycle(100)
    assert rig.diagnosed("stream")[0] == "the connection was lost"
    done, why = rig.trigger("rearm")
    assert not done and why == "the fault is still there: the connection was lost"
    driver.silent, driver.condition, driver.last_error = False, StreamState.ok, ""
    silent_ns = driver.now
    assert len(rig.published(50, "joint_states")[0]) == 50
    stamps = [to_ns(m.header.stamp) for m in rig.heard["joint_states"]]
    assert not [stamp for stamp in stamps if last < stamp <= silent_ns]
    assert rig.trigger("rearm")[0] and rig.diagnosed("stream")[1]["latched"] == "ok"


@pytest.mark.parametrize("seen", [True, False], ids=["seen", "between two reports"])
def test_a_connection_that_was_lost_is_no_gap_of_the_network(rig, monkeypatch, seen):
    """It returns by itself; the stream's own line has said what was lost."""
    rig.seconds(0.5)
    rig.robot_node.diagnose()
    rig.driver.silent = True
    rig.seconds(1.5)
    if seen:
        assert rig.diagnosed("estimates")[0] == "no samples"
    else:
        monkeypatch.setattr(rig.driver, "statistics", lambda: Statistics(reconnects=1))
    rig.driver.silent = False
    rig.seconds(0.5)
    assert "gaps" not in rig.diagnosed("estimates")[0]
    rig.driver.now += 10**8
    rig.seconds(0.5)
    assert "gaps" in rig.diagnosed("estimates")[0]  # this one is


@pytest.fixture
def looked_at(rig):
    """The rig without the node's own timer: each report is one that the test asks for."""
    for timer in rig.robot_node.timers:
        timer.cancel()
    rig.robot_node.diagnose()
    yield rig
    for timer in rig.robot_node.timers:
        timer.reset()


def test_a_time_without_activation_is_no_gap_of_the_network(looked_at):
    rig = looked_at
    rig.seconds(0.5)
    rig.robot_node.diagnose()
    rig.robot_node.trigger_deactivate()
    rig.driver.now += 3 * 10**9
    rig.robot_node.trigger_activate()
    rig.seconds(0.5)
    assert "gaps" not in rig.diagnosed("estimates")[0]
    rig.driver.now += 10**8
    rig.seconds(0.5)
    assert "gaps" in rig.diagnosed("estimates")[0]  # this one is


def test_a_node_that_falls_behind_leaves_out_what_is_old_and_counts_it(looked_at):
    rig, driver = looked_at, looked_at.driver
    driver.late = round(0.3 * driver.sim.rate)
    rig.seconds(0.5)
    driver.late = 0  # the rest is worked off without the robot's time
    rig.cycle(1 + round(0.3 * driver.sim.rate))
    text, values = rig.diagnosed("stream")
    left_out = int(values["not published"])
    assert left_out > 0.3 * driver.sim.rate and "machine is too slow" in text
    ((*_, last),) = rig.published(50, "joint_states")
    assert to_ns(last.header.stamp) == driver.now
    text, values = rig.diagnosed("stream")
    assert int(values["not published"]) == left_out and text == "stream ok"  # it has caught up


def test_samples_lost_once_are_no_state_of_the_stream_and_later_failures_are_on_the_console(
    looked_at, monkeypatch, capfd
):
    rig = looked_at
    monkeypatch.setattr(rig.driver, "statistics", lambda: Statistics(overruns=300))
    assert "300 samples lost" in rig.diagnosed("stream")[0]
    text, values = rig.diagnosed("stream")
    assert text == "stream ok" and values["overruns"] == "300"
    monkeypatch.setattr(rig.driver, "condition", StreamState.fault)
    for why in ("UDP receive: timeout", "connection refused", "UDP receive: timeout"):
        monkeypatch.setattr(rig.driver, "last_error", why)
        rig.robot_node.diagnose()
    log = capfd.readouterr().err
    assert log.count("timeout") == log.count("connection refused") == log.count("as it should be again") == 1


# -- a second node of the name --------------------------------------------------------------------
@pytest.fixture(scope="module")
def elsewhere(rig):
    """Another process's context; its own node outlives others: Fast DDS can hang if it ends while it discovers."""
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    node = rclpy.create_node("elsewhere", context=context)
    yield context
    node.destroy_node()
    rclpy.shutdown(context=context)
    gc.collect()  # its nodes would stay in the graph


@pytest.fixture
def another(elsewhere):
    """another(namespace, **parameters): a node of another process's context, __ for a dot; removed at the end."""
    made = []

    def make(space="", **given):
        overrides = [Parameter(name.replace("__", "."), value=value) for name, value in given.items()]
        options = {"context": elsewhere, "use_global_arguments": False, "parameter_overrides": overrides}
        made.append(RobotNode("composed_node", namespace=space, **options))
        return made[-1]

    yield make
    for node in made:
        node.drop()
        node.destroy_node()


def test_a_second_node_of_this_machine_is_refused_and_the_first_goes_on(rig, another):
    second = another()
    assert not second.bring_up() and "runs on this machine already" in second.failure
    assert len(rig.published(50, "joint_states")[0]) == 50


def test_a_whole_number_for_a_float_at_the_start_says_how_it_is_written(another):
    with pytest.raises(ConfigError, match=r"force\.bandwidth.*with a point, as 40\.0"):
        another(force__bandwidth=40)


def test_a_robot_file_that_check_refuses_is_refused_by_a_node_without_a_launch(another, tmp_path):
    save_robot(load_robot("ur5e").with_updates({"limits.torque": [1.0] * 6}), tmp_path / "weak.yaml")
    node = another("weak", robot=str(tmp_path / "weak.yaml"))
    assert not node.bring_up() and "cannot hold the arm" in node.failure


@pytest.mark.parametrize("spelling", ["127.250.1.2", "127.250.258"])
def test_two_nodes_of_any_namespace_do_not_command_torques_to_one_robot(another, spelling):
    left, right = another("left", torque=True, ip=spelling), another("right", torque=True, ip="127.250.1.2")
    held = [claim(name, why) for name, why in left.claims().items()]
    own, torque = right.claims().items()
    held.append(claim(*own))
    with pytest.raises(ConnectionFailed, match="commands torques to 127.250.1.2"):
        claim(*torque)
    for socket in held:
        socket.close()


@pytest.mark.parametrize("parameter", ["learn_state", "adaptation_file"])
def test_two_nodes_do_not_keep_what_they_learn_in_one_place(another, tmp_path, monkeypatch, parameter):
    monkeypatch.chdir(tmp_path)
    places = {"left": tmp_path / "left", "right": "right/../left", "third": tmp_path / "third"}
    left, right, third = (
        list(another(space, torque=False, **{parameter: str(place)}).claims().items())
        for space, place in places.items()
    )
    held = [claim(*each) for each in (*left, *third, right[0])]
    with pytest.raises(ConnectionFailed, match=f"another node .* has {parameter} right/../left"):
        claim(*right[1])
    for socket in held:
        socket.close()


def test_what_a_node_learns_is_kept_where_it_is_claimed(another, tmp_path, monkeypatch):
    """~ in a parameter file was expanded for the claim alone: the state went into a directory ~ where the node ran, and
    was not found again.
    """
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    node = another("learns", driver="none", learn_state="~/learned")
    node.trigger_configure()
    assert node._collector.state == tmp_path / "learned", node.failure


def test_a_node_of_the_same_name_on_another_machine_is_reported(rig, elsewhere):
    """For the graph a node of another machine is one that does not hold the name on this machine."""
    rig.hear(DiagnosticArray, "/diagnostics")
    other = rclpy.create_node("composed_node", context=elsewhere)
    rig.spin(lambda: any("other node of this name" in s.message for m in rig.heard["/diagnostics"] for s in m.status))
    other.destroy_node()
