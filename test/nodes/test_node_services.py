"""Parameters, services and lifecycle of a node on a robot that the test steps: what is refused says why."""

import gc

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from stepped import UR, Stepped, SteppedDriver  # isort: skip  (sets the middleware before rclpy is initialised)

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import DescribeParameters, SetParametersAtomically
from rclpy.duration import Duration
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.drivers.franka.driver import FrankaDriver
from robot_dynamics_ros.drivers.interface import Driver
from robot_dynamics_ros.drivers.stream import Statistics
from robot_dynamics_ros.errors import ConfigError, ConnectionFailed
from robot_dynamics_ros.estimators.external_force import TARE_REFUSALS
from robot_dynamics_ros.nodes.claims import claim
from robot_dynamics_ros.nodes.diagnostics import WARN
from robot_dynamics_ros.nodes.robot.driver_interface import LOAD_INERTIA
from robot_dynamics_ros.nodes.robot.robot_node import RobotNode
from robot_dynamics_ros.nodes.topics.encoding import to_ns
from robot_dynamics_ros.robot_file import load_robot, save_robot

ABLE = UR | (FrankaDriver.capabilities - {"vendor_force", "rotor"})


@pytest.fixture(scope="module")
def rig():
    made = Stepped(SteppedDriver("ur5e", ABLE))
    made.hear(String, "composed_node/motion", 100)
    made.hear(JointState, "joint_states", 500)
    made.seconds(0.2)
    yield made
    made.close()


def trigger(rig, name):
    answer = rig.call(Trigger, f"/composed_node/{name}")
    return answer.success, answer.message


def change(rig, **values):
    """Whether the node takes the parameters all at once, and why not; __ for a dot."""
    given = [Parameter(name.replace("__", "."), value=value).to_parameter_msg() for name, value in values.items()]
    request = SetParametersAtomically.Request(parameters=given)
    result = rig.call(SetParametersAtomically, "/composed_node/set_parameters_atomically", request).result
    return result.successful, result.reason


# -- parameters -----------------------------------------------------------------------------------------------------
def test_parameters_change_together_or_not_at_all(rig):
    done, why = change(rig, force__bandwidth=30.0, marker_scale=-1.0)
    assert not done and "marker_scale" in why and rig.robot_node.value("force.bandwidth") == 25.0
    assert change(rig, force__bandwidth=30.0, marker_scale=0.02)[0]
    assert rig.robot_node.value("force.bandwidth") == 30.0
    assert not change(rig, force__bandwidth=float("nan"))[0]
    assert not change(rig, robot="ur10e")[0]  # read-only
    assert change(rig, force__bandwidth=40)[0] and rig.robot_node.value("force.bandwidth") == 40.0
    assert "motion.effort_unit: 'volt' is none of" in change(rig, motion__effort_unit="volt")[1]
    assert change(rig, force__bandwidth=25.0)[0]


def test_parameters_are_described_with_unit_and_range(rig):
    request = DescribeParameters.Request(names=["force.bandwidth"])
    (found,) = rig.call(DescribeParameters, "/composed_node/describe_parameters", request).descriptors
    assert "[rad/s]" in found.description and found.floating_point_range[0].to_value == 1000.0


def test_load_and_collision_thresholds_reach_the_robot(rig):
    assert change(rig, load_mass=0.5, load_com_z=0.05)[0]
    assert rig.driver.load == (0.5, (0.0, 0.0, 0.05), (0.0,) * 6)
    assert change(rig, collision_torque=0.5, collision_force=60.0, collision_moment=20.0)[0]
    torque, force = rig.driver.thresholds
    np.testing.assert_allclose(torque, 0.5 * rig.driver.robot.array("limits.torque"))
    assert force.tolist() == [60.0] * 3 + [20.0] * 3
    done, why = change(rig, collision_force=0.0)
    assert not done and "together" in why


def test_a_load_that_no_body_has_is_refused_and_the_robot_keeps_its_own(rig):
    assert change(rig, load_mass=0.6, load_com_z=0.05)[0]
    kept = rig.driver.load
    for values, text in (({"load_mass": -0.5}, "neither a mass"), ({"load_inertia_xx": -1.0}, "moment of -1 kg m2")):
        done, why = change(rig, **values)
        assert not done and text in why and rig.driver.load == kept
    assert change(rig, load_mass=-1.0)[0] and rig.driver.load == kept


def test_the_inertia_of_a_rod_is_accepted_although_its_smallest_moment_is_rounded_below_zero(rig):
    rod = dict(zip(LOAD_INERTIA, (0.08, -0.02, -0.02, 0.05, -0.04, 0.05), strict=True))
    assert change(rig, load_mass=1.0, **rod) == (True, "")
    assert rig.driver.load[2] == tuple(rod.values())
    assert change(rig, **dict.fromkeys(LOAD_INERTIA, 0.0))[0]


def test_what_a_robot_cannot_set_is_refused(rig, monkeypatch):
    for name in ("set_payload", "set_collision_thresholds"):  # as of a driver that has none
        monkeypatch.setattr(rig.driver, name, getattr(Driver, name).__get__(rig.driver))
    for values in ({"load_mass": 0.7}, {"collision_torque": 0.5, "collision_force": 60.0, "collision_moment": 20.0}):
        done, why = change(rig, **values)
        assert not done and "on the robot itself" in why


# -- motion by topic and services -----------------------------------------------------------------------------------
@pytest.fixture
def play(rig):
    publisher = rig.node.create_publisher(JointTrajectory, "composed_node/play_trajectory", 5)
    rig.spin(publisher.get_subscription_count)

    def publish(first, second, seconds=1.0, names=rig.driver.robot.joint_names):
        points = [JointTrajectoryPoint(positions=list(map(float, q))) for q in (first, second)]
        points[1].time_from_start = Duration(seconds=seconds).to_msg()
        rig.heard["composed_node/motion"].clear()
        publisher.publish(JointTrajectory(joint_names=list(names), points=points))

    yield publish
    rig.driver.stop()
    rig.settled()
    rig.node.destroy_publisher(publisher)


def words(rig):
    return [m.data for m in rig.heard["composed_node/motion"]]


def test_a_trajectory_is_played_whatever_the_joint_order_after_its_approach(rig, play):
    names, start = rig.driver.robot.joint_names, rig.driver.held.copy()
    play((start + 0.05)[::-1], (start + 0.1)[::-1], names=names[::-1])
    rig.spin(lambda: rig.driver.motion.active)
    assert rig.settled() == "done"
    np.testing.assert_allclose(rig.driver.state.q, start + 0.1, atol=0.005)
    rig.spin(lambda: words(rig)[-1:] == ["done"])


def test_a_trajectory_that_cannot_be_played_is_refused_with_the_reason(rig, play):
    start = rig.driver.held
    for first, second, text in (
        (start, start + [3.0, 0, 0, 0, 0, 0], "refused: trajectory: velocity"),
        (start, start + 9.0, "refused: trajectory: position"),
        (start + [4.0, 0, 0, 0, 0, 0], start + [4.1, 0, 0, 0, 0, 0], "refused: shoulder_pan_joint starts 4.0"),
    ):
        play(first, second)
        rig.spin(lambda text=text: any(word.startswith(text) for word in words(rig)))
    assert not rig.driver.motion.active


def test_services_answer_with_a_reason(rig):
    assert trigger(rig, "recover") == (True, "recovered")
    assert trigger(rig, "rearm") == (True, "latched faults cleared")
    assert not trigger(rig, "zero_ft")[0] and "tare" in trigger(rig, "zero_ft")[1]
    assert trigger(rig, "reset")[0] and trigger(rig, "refuse_payload")[0] and trigger(rig, "reset_payload")[0]
    assert "move the arm" in trigger(rig, "accept_payload")[1]
    rig.cycle()
    done, why = trigger(rig, "tare")  # too soon after the reset
    assert not done and why in TARE_REFUSALS.values()
    rig.seconds(5.0)
    done, text = trigger(rig, "tare")
    assert done and rig.diagnosed("estimates")[1]["tare"] == text  # what the viewer marks on its timeline
    rig.robot_node.diagnose()
    assert rig.diagnosed("estimates")[0] == "no samples"
    done, why = trigger(rig, "tare")  # what the last samples showed is no zero of now
    assert not done and "no estimates now" in why
    rig.cycle()
    assert trigger(rig, "tare")[0]
    names = {name for name, _ in rig.robot_node.get_service_names_and_types()}
    assert "/composed_node/stop" in names and "/composed_node/enable_guiding" not in names  # made without torque


def test_a_lost_robot_and_its_return_are_on_the_console_once(rig, monkeypatch, capfd):
    rig.robot_node.diagnose()
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
    monkeypatch.setattr(rig.driver, "statistics", lambda: Statistics(**counted))
    rig.robot_node._driver_interface._looked = Statistics()
    assert cause in trigger(rig, "rearm")[1] and cause in rig.diagnosed("stream")[0]


def test_an_error_of_the_past_is_no_state_of_the_stream_and_the_first_sample_is_waited_for(rig, monkeypatch):
    monkeypatch.setattr(rig.driver, "last_error", "connection refused")
    assert rig.diagnosed("stream")[0] == "stream ok"
    monkeypatch.setattr(rig.driver, "last_error", "")
    monkeypatch.setattr(rig.driver, "condition", StreamState.fault)
    (entry,) = (s for s in rig.robot_node.diagnose() if s.name.endswith("stream"))
    assert (entry.level, entry.message) == (WARN, "no sample has arrived yet")


# -- lifecycle ------------------------------------------------------------------------------------------------------
def heard(rig, count):
    (messages,) = rig.published(count, "joint_states")
    return len(messages)


def test_deactivate_silences_and_activate_resumes(rig):
    def transition(number):
        request = ChangeState.Request()
        request.transition.id = number
        assert rig.call(ChangeState, "/composed_node/change_state", request).success

    assert heard(rig, 50) == 50
    transition(4)  # deactivate
    assert rig.call(GetState, "/composed_node/get_state").current_state.label == "inactive"
    assert not rig.robot_node.work() and "not active" in rig.robot_node.diagnose()[0].message
    for number in (2, 1, 3):  # clean up, configure, activate
        transition(number)
    rig.spin(lambda: rig.robot_node.count_subscribers("joint_states"))
    assert heard(rig, 50) == 50


def test_a_robot_that_falls_silent_and_returns_is_found_again_and_nothing_old_is_published(rig):
    driver, last = rig.driver, rig.driver.now
    driver.silent, driver.condition, driver.last_error = True, StreamState.fault, "the connection was lost"
    driver.latched = StreamState.fault
    rig.cycle(100)
    assert rig.diagnosed("stream")[0] == "the connection was lost"
    done, why = trigger(rig, "rearm")
    assert not done and why == "the fault is still there: the connection was lost"
    driver.silent, driver.condition, driver.last_error = False, StreamState.ok, ""
    silent_ns = driver.now
    assert heard(rig, 50) == 50
    stamps = [to_ns(m.header.stamp) for m in rig.heard["joint_states"]]
    assert not [stamp for stamp in stamps if last < stamp <= silent_ns]
    assert trigger(rig, "rearm")[0] and rig.diagnosed("stream")[1]["latched"] == "ok"


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


def test_a_node_that_falls_behind_leaves_out_what_is_old_and_counts_it(rig):
    driver = rig.driver
    driver.late = round(0.3 * driver.sim.rate)
    rig.seconds(0.5)
    driver.late = 0  # the rest is worked off without the robot's time
    rig.cycle(1 + round(0.3 * driver.sim.rate))
    left_out = int(rig.diagnosed("stream")[1]["not published"])
    assert left_out > 0.3 * driver.sim.rate and "machine is too slow" in rig.diagnosed("stream")[0]
    ((*_, last),) = rig.published(50, "joint_states")
    assert to_ns(last.header.stamp) == driver.now
    assert int(rig.diagnosed("stream")[1]["not published"]) == left_out


# -- a second node of the name --------------------------------------------------------------------
@pytest.fixture
def elsewhere():
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    yield context
    rclpy.shutdown(context=context)
    gc.collect()  # its nodes would stay in the graph


def test_a_second_node_of_this_machine_is_refused_and_the_first_goes_on(rig, elsewhere):
    second = RobotNode("composed_node", context=elsewhere, use_global_arguments=False)
    assert not second.bring_up() and "runs on this machine already" in second.failure
    second.drop()
    second.destroy_node()
    assert len(rig.published(50, "joint_states")[0]) == 50


def test_a_whole_number_for_a_float_at_the_start_says_how_it_is_written(elsewhere):
    given = [Parameter("force.bandwidth", value=40)]
    with pytest.raises(ConfigError, match=r"force\.bandwidth.*with a point, as 40\.0"):
        RobotNode("composed_node", context=elsewhere, use_global_arguments=False, parameter_overrides=given)


def test_a_robot_file_that_check_refuses_is_refused_by_a_node_without_a_launch(elsewhere, tmp_path):
    save_robot(load_robot("ur5e").with_updates({"limits.torque": [1.0] * 6}), tmp_path / "weak.yaml")
    given = [Parameter("robot", value=str(tmp_path / "weak.yaml"))]
    options = {"context": elsewhere, "use_global_arguments": False, "parameter_overrides": given}
    node = RobotNode("composed_node", namespace="weak", **options)
    assert not node.bring_up() and "cannot hold the arm" in node.failure
    node.drop()
    node.destroy_node()


def test_two_nodes_of_any_namespace_do_not_command_torques_to_one_robot(elsewhere):
    given = [Parameter("torque", value=True), Parameter("ip", value="127.250.1.2")]
    options = {"context": elsewhere, "use_global_arguments": False, "parameter_overrides": given}
    left, right = (RobotNode("composed_node", namespace=space, **options) for space in ("left", "right"))
    held = [claim(name, why) for name, why in left.claims().items()]
    own, torque = right.claims().items()
    held.append(claim(*own))
    with pytest.raises(ConnectionFailed, match="commands torques to 127.250.1.2"):
        claim(*torque)
    for socket in held:
        socket.close()
    for node in (left, right):
        node.drop()
        node.destroy_node()


def test_a_node_of_the_same_name_on_another_machine_is_reported(rig, elsewhere):
    """For the graph a node of another machine is one that does not hold the name on this machine."""
    rig.hear(DiagnosticArray, "/diagnostics")
    other = rclpy.create_node("composed_node", context=elsewhere)
    rig.spin(lambda: any("other node of this name" in s.message for m in rig.heard["/diagnostics"] for s in m.status))
    other.destroy_node()
