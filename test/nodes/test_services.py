"""Services of torque and motion answer what happened: the node's parts on a simulated robot, without ROS traffic."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from robot_dynamics_ros._core import GuardReason, GuardState
from robot_dynamics_ros.drivers.interface import MotionState
from robot_dynamics_ros.errors import ConnectionFailed
from robot_dynamics_ros.nodes.claims import claim


def test_another_node_of_this_name_ends_torque_and_refuses_it(stand):
    node, driver = stand
    assert node.call("enable_guiding")[0]
    node.others = 1
    node.parts._torque._check()
    node.cycle(5)
    assert (driver.loop.state, driver.loop.reason) == (GuardState.safe, GuardReason.publisher)
    assert node.parts.diagnose_torque()[0].message == "guard safe: publisher"
    assert node.call("rearm")[0]
    assert node.parts.diagnose_torque()[0].message.startswith("guard idle; ")  # it said why of before
    success, text = node.call("enable_guiding")
    assert not success and "another node named" in text


@pytest.mark.parametrize("length", [0, 200])
def test_a_name_is_held_by_one_process_and_free_when_that_is_killed(length):
    """A long one, as of a node in a long namespace, was always taken."""
    name = f"/test_{os.getpid()}{'x' * length}"
    code = f"import sys; from robot_dynamics_ros.nodes.claims import claim; c = claim({name!r}, '');"
    code += "print('ok', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1) as child:
        assert child.stdout.readline() == b"ok\n"
        with pytest.raises(ConnectionFailed, match="it is taken"):
            claim(name, "it is taken")
        claim(f"{name}_other", "").close()
        child.kill()
    claim(name, "").close()


ENDS = {"stop": ("torque ended", "nothing of this node was moving")}  # with torque, and without
ENDS |= {"disable_torque": ("torque is off", "torque was off")}


@pytest.mark.parametrize("service", ENDS)
def test_what_ends_torque_says_so(stand, service):
    (node, driver), (ended, was_off) = stand, ENDS[service]
    assert node.call("enable_guiding") == (True, "torque enabled: guide")
    assert driver.loop.state == GuardState.ok and driver.run
    assert node.call(service) == (True, ended)
    assert driver.loop.state == GuardState.idle and not driver.run
    assert node.call(service) == (True, was_off)


def test_stop_ends_a_motion_or_answers_false_with_the_reason(stand, monkeypatch):
    node, driver = stand
    driver._motion = MotionState("moving")
    assert node.call("stop") == (True, "motion ended")
    driver._motion, driver.deaf = MotionState("moving"), True
    monkeypatch.setattr("robot_dynamics_ros.nodes.robot.motion_interface.STOP_TIMEOUT", 0.0)
    success, text = node.call("stop")
    assert not success and "goes on" in text


def test_rearm_answers_false_while_the_guard_stays_latched(stand):
    node, driver = stand
    assert node.call("enable_guiding")[0]
    driver.loop.trip(GuardReason.publisher)
    node.cycle(5)
    assert node.call("rearm")[0] and driver.loop.state == GuardState.idle  # after the ramp to zero
    node.call("enable_guiding")
    driver.stopped = True
    node.work()
    assert driver.loop.state == GuardState.fault
    assert node.call("rearm")[0]
    success, text = node.call("enable_guiding")
    assert not success and "stopped" in text


def test_a_stop_while_torque_mode_starts_is_no_success(stand):
    node, driver = stand
    driver.during = lambda: [setattr(driver, "stopped", True), driver.read(0)]
    success, text = node.call("enable_guiding")
    assert not success and "stopped" in text and not driver.run
    driver.stopped = False
    node.cycle(50)
    assert not driver.run and driver.loop.state == GuardState.idle


def test_an_enable_that_is_not_served_is_not_served_later(stand, monkeypatch):
    node, driver = stand
    monkeypatch.setattr("robot_dynamics_ros.nodes.robot.torque_interface.END_TIMEOUT", 0.0)
    monkeypatch.setattr(driver, "wait_until", lambda condition, seconds: False)
    success, text = node.call("enable_guiding")
    assert not success and "does not answer" in text
    for _ in range(50):
        node.work()
        assert not driver.run


def test_enabling_right_after_disabling_says_what_it_waits_for(stand):
    node, driver = stand
    assert node.call("enable_guiding")[0]
    node.cycle(50)
    driver.loop.disable()
    node.cycle(3)
    success, text = node.call("enable_guiding")
    assert not success and ("ramped out" in text or "moves" in text)


def test_waypoints_far_outside_the_limits_are_refused_before_a_path_is_computed(stand, tmp_path):
    """The path through 1e300 rad ended the node with a LinAlgError, that through 1e7 rad with its memory."""
    node, driver = stand
    file = tmp_path / "path.yaml"
    rows = [[0.0, -1.5, 1.5, -1.5, -1.5, 0.0], [1e300, -1.5, 1.5, -1.5, -1.5, 0.0]]
    file.write_text(json.dumps({"unit": "rad", "joint_names": driver.robot.joint_names, "waypoints": rows}))
    node.table["waypoints"] = str(file)
    success, text = node.call("enable_tracking")
    assert not success and "trajectory: position 1000000" in text


def test_waypoints_are_no_samples_however_far_apart_they_are(stand, tmp_path):
    """Those of the documentation, 20 degrees apart, were refused as a motion at 175 rad/s."""
    node, driver = stand
    file, here = tmp_path / "path.yaml", driver.state.q
    rows = [here.tolist(), (here + np.deg2rad([20.0, 10.0, -10.0, 10.0, 0.0, 10.0])).tolist()]
    file.write_text(json.dumps({"unit": "rad", "joint_names": driver.robot.joint_names, "waypoints": rows}))
    node.table["waypoints"] = str(file)
    assert node.call("enable_tracking") == (True, "torque enabled: track")


ALLOWED = ("/cell/planner", "/cell_enclave")


@pytest.mark.parametrize(
    ("source", "commanding", "reason"),
    [
        ("", [("/anybody", "/")], ""),
        ("/cell/planner", [ALLOWED], ""),
        ("/cell_enclave", [ALLOWED], ""),
        ("/cell/planner", [ALLOWED, ("/other", "/")], "/other could too"),
        ("/cell/planner", [("/planner", "/cell/plan")], "/planner could too"),
        ("/cell/planner", [], "not in the graph"),
    ],
)
@pytest.mark.parametrize("service", ["enable_guiding", "enable_torque"])
def test_only_the_source_of_commands_may_enable(stand, source, commanding, reason, service):
    node, driver = stand
    node.table["command_source"], node.commanding = source, commanding
    done, text = node.call(service)
    assert done == (reason == "") and reason in text
    assert node.call("disable_torque")[0] and node.call("stop")[0]  # ending is everybody's


def test_an_unknown_node_that_appears_later_ends_torque(stand, monkeypatch):
    monkeypatch.setattr("robot_dynamics_ros.nodes.robot.torque_interface.CHECK_PERIOD", -1.0)
    node, driver = stand
    node.table["command_source"], node.commanding = "/cell/planner", [ALLOWED]
    assert node.call("enable_guiding")[0]
    node.work()
    assert driver.loop.state == GuardState.ok
    node.commanding = [ALLOWED, ("/other", "/")]
    node.cycle(3)
    assert driver.loop.state == GuardState.safe and driver.loop.reason == GuardReason.publisher
