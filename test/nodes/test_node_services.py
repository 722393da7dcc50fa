"""Parameters and services of a node on a robot that the test steps: what is refused says why."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from rcl_interfaces.srv import DescribeParameters, SetParametersAtomically
from rclpy.parameter import Parameter
from stepped import NodeDouble
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.drivers.interface import Driver, RobotStatus
from robot_dynamics_ros.estimators.external_force import TARE_REFUSALS
from robot_dynamics_ros.nodes.robot.robot_settings import LOAD_INERTIA, RobotSettings, SetPayload
from robot_dynamics_ros.nodes.topics.encoding import carried, trajectory
from robot_dynamics_ros.robot_file import load_robot


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
    assert change(rig, collision_torque=0.0, collision_force=0.0, collision_moment=0.0)[0]
    assert change(rig, collision_force=0.0)[0]  # as `ros2 param load` of a dump: 0 leaves the robot's setting
    assert rig.driver.thresholds[1].tolist() == [60.0] * 3 + [20.0] * 3


def test_a_load_that_no_body_has_is_refused_and_the_robot_keeps_its_own(rig):
    assert change(rig, load_mass=0.6, load_com_z=0.05)[0]
    kept = rig.driver.load
    for values, text in (({"load_mass": -0.5}, "neither a mass"), ({"load_inertia_xx": -1.0}, "moment of -1 kg m2")):
        done, why = change(rig, **values)
        assert not done and text in why and rig.driver.load == kept
    done, why = change(rig, load_mass=0.7, collision_force=60.0)  # the load was sent before the rest was looked at
    assert not done and "together" in why and rig.driver.load == kept
    assert change(rig, load_mass=-1.0)[0] and rig.driver.load == kept


def test_a_mass_that_is_none_is_refused_also_before_the_node_is_active(rig, monkeypatch):
    """It was accepted, and the node could then not be activated."""
    monkeypatch.setattr(type(rig.robot_node), "active", False)
    done, why = change(rig, load_mass=-0.3)
    assert not done and "neither a mass" in why
    assert change(rig, load_mass=-1.0)[0]


def test_a_robot_that_has_forgotten_its_load_is_a_warning(rig, monkeypatch):
    """A controller that was restarted has the load of its installation, and a program on it may set another one."""
    assert change(rig, load_mass=0.6)[0]
    for payload, said in ((0.6, False), (float("nan"), False), (0.0, True)):
        monkeypatch.setattr(rig.driver, "status", replace(rig.driver.status, payload=payload))
        assert ("a payload of 0 kg, load_mass is 0.6" in rig.diagnosed("stream")[0]) == said
    assert change(rig, load_mass=-1.0)[0] and rig.diagnosed("stream")[0] == "stream ok"


def test_what_the_controller_contradicts_is_an_error(rig, monkeypatch):
    assert rig.diagnosed("stream")[0] == "stream ok"
    monkeypatch.setattr(type(rig.driver), "doubt", "another robot")
    assert rig.diagnosed("stream")[0] == "another robot"


TOOL, PART = (0.9, (0.0, 0.0, 0.05)), (2.9, (0.01, 0.0, 0.1))  # settings of a controller: kg, m


def test_a_setting_beyond_the_tool_is_named_once_the_setting_was_the_tool():
    """While it changes, and without a number, the one before counts."""
    bare = load_robot("ur5e")
    driver = SimpleNamespace(robot=bare)
    node = NodeDouble()
    settings = SetPayload(node, driver, RobotSettings(node, driver))

    def named(payload, com, samples=2):
        driver.status = RobotStatus(payload=payload, payload_com=com)
        for _ in range(samples):
            settings.on_sample(0)
        return [carried(message).tolist() for message in node.published["payload"]]

    assert named(0.0, (0.0,) * 3) == named(*TOOL) == []  # the file may have the tool in its last link
    driver.robot = bare.with_updates({"payload.mass": TOOL[0]})
    assert named(*PART) == named(*TOOL) == []
    assert named(1.9, PART[1], samples=1) == []
    part = [2.0, 0.0145, 0.0, 0.1225]
    np.testing.assert_allclose(named(*PART), [part])
    for other in ((float("nan"), PART[1]), (1.5, (np.nan,) * 3), (1.5, ())):
        assert len(named(*other)) == 1
    assert named(0.0, (0.0,) * 3)[1:] == [[0.0] * 4]  # a controller that was restarted
    assert named(*TOOL)[2:] == [[0.0] * 4] and len(named(*TOOL, samples=100)) == 3
    np.testing.assert_allclose(named(*PART)[3:], [part])
    node.table["load_mass"] = 0.5
    assert len(named(*TOOL)) == 4 and len(named(0.5, (0.0,) * 3)) == 5


def test_the_estimates_carry_what_a_program_sets(rig, monkeypatch):
    assert change(rig, load_mass=-1.0)[0]
    monkeypatch.setattr(rig.driver, "robot", rig.driver.robot.with_updates({"payload.mass": TOOL[0]}))
    for payload, com in (TOOL, PART):
        monkeypatch.setattr(rig.driver, "status", replace(rig.driver.status, payload=payload, payload_com=com))
        rig.seconds(0.1)
    rig.spin(lambda: rig.robot_node._estimates._payload[0] == PART[0] - TOOL[0])
    assert rig.diagnosed("estimates")[1]["payload"] == "2 kg"


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

    def publish(first, second, names=rig.driver.robot.joint_names):
        rig.heard["composed_node/motion"].clear()
        publisher.publish(trajectory(names, (0.0, 1.0), (first, second)))

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
    assert rig.trigger("recover") == (True, "recovered")
    assert rig.trigger("rearm") == (True, "latched faults cleared")
    assert not rig.trigger("zero_ft")[0] and "tare" in rig.trigger("zero_ft")[1]
    assert rig.trigger("reset")[0] and rig.trigger("refuse_payload")[0] and rig.trigger("reset_payload")[0]
    assert "move the arm" in rig.trigger("accept_payload")[1]
    rig.cycle()
    done, why = rig.trigger("tare")  # too soon after the reset
    assert not done and why in TARE_REFUSALS.values()
    rig.seconds(5.0)
    done, text = rig.trigger("tare")
    assert done and rig.diagnosed("estimates")[1]["tare"] == text  # what the viewer marks on its timeline
    rig.robot_node.diagnose()
    assert rig.diagnosed("estimates")[0] == "no samples"
    done, why = rig.trigger("tare")  # what the last samples showed is no zero of now
    assert not done and "no estimates now" in why
    rig.cycle()
    assert rig.trigger("tare")[0]
    names = {name for name, _ in rig.robot_node.get_service_names_and_types()}
    assert "/composed_node/stop" in names and "/composed_node/enable_guiding" not in names  # made without torque
