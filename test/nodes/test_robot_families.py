"""One suite for all robot families: the same topics, names, units, stamps and lifecycle from UR, Franka and Comau.

Each runs the whole composed node against its simulated controller over the vendor's protocol.
"""

import os
import signal
import time
from contextlib import ExitStack

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_graph import Listener, Process  # isort: skip  (sets the domain before rclpy is initialised)
from robot_family import EXTRA, FAMILIES, LATCHED, NEEDS, OWN, Family, change_parameters, play, trajectory  # isort: skip

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.srv import ChangeState, GetState
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from robot_dynamics_ros.nodes.topics.encoding import to_ns
from robot_dynamics_ros.simulation.server.launcher import SimulatedController

pytestmark = pytest.mark.realtime

ABSENT = {"fr3": "motor_currents", "comau_ns16": "motor_states", "ur5e": "motor_states"}


@pytest.fixture(scope="module", params=FAMILIES)
def family(request, tmp_path_factory):
    for module in NEEDS.get(request.param, ()):
        pytest.importorskip(module, reason=f"{module} is not installed")
    parameters = tmp_path_factory.mktemp("family") / "nodes.yaml"
    enable = OWN.get(request.param, "")
    gaps = (
        "    degraded_gap: 0.5\n    safe_gap: 1.0\n    frozen_repeats: 200\n"  # a test machine is no real-time system
    )
    parameters.write_text(f"composed_node:\n  ros__parameters:\n{gaps}{enable}")
    with ExitStack() as stack:
        sim = stack.enter_context(SimulatedController(request.param))
        arguments = ["up", "--robot", request.param, "--ip", sim.host, "--params", str(parameters)]
        node = Process("robot_dynamics_ros.cli.main", *arguments)
        listener = Listener()
        for topic in ("joint_states", "desired_state_unused", EXTRA[request.param], ABSENT[request.param]):
            listener.hear(JointState, topic)
        listener.hear(WrenchStamped, "robot_dynamics/external_wrench")
        listener.hear(WrenchStamped, "robot_dynamics/external_wrench_base")
        listener.hear(WrenchStamped, "robot_dynamics/vendor_external_wrench")
        listener.hear(DiagnosticArray, "/diagnostics")
        listener.hear(String, "composed_node/motion", LATCHED)
        try:
            listener.spin(lambda: len(listener.heard["joint_states"]) > 50)
        except AssertionError as error:
            raise AssertionError(f"nothing heard: {node.end()}") from error
        yield Family(request.param, stack, sim, listener, node)
        listener.close()
        status, output = node.end()
        assert status == 0 and "Traceback" not in output, output


def test_state_has_the_robots_names_and_source_stamps_at_its_rate(family):
    messages = family.recent("joint_states", 300)
    stamps = np.array([to_ns(m.header.stamp) for m in messages])
    assert tuple(messages[0].name) == tuple(family.robot.joint_names)
    assert all(len(m.position) == len(m.velocity) == len(m.effort) == family.robot.n_joints for m in messages)
    assert (np.diff(stamps) > 0).all()
    period = 1e9 / family.robot.sensing.sample_rate
    assert np.median(np.diff(stamps)) == pytest.approx(period, rel=0.02)


def test_units_are_si_and_effort_is_what_the_file_says(family):
    message = family.recent("joint_states", 100)[-1]
    assert np.isfinite(message.effort).all() and np.abs(message.position).max() < 6.4
    family.robot.drives.effort.unit  # noqa: B018  (declared)
    if family.robot.links is not None:
        from robot_dynamics_ros.models import RobotModel

        gravity = RobotModel(family.robot.chain(), family.robot.joint_names).gravity(np.array(message.position))
        loaded = np.abs(gravity) > 5.0
        assert np.all(np.sign(np.array(message.effort)[loaded]) == np.sign(gravity[loaded]))


def test_topics_are_those_the_robot_can_fill(family):
    message = family.recent(EXTRA[family.name], 20)[-1]
    assert np.isfinite(message.position if len(message.position) else message.effort).all()
    published = dict(family.listener.node.get_topic_names_and_types())
    heard = {name for name in family.listener.heard if family.listener.heard[name]}
    assert ABSENT[family.name] not in heard
    assert ("robot_dynamics/vendor_external_wrench" in heard) == (family.name == "fr3"), published


def test_everything_of_a_sample_has_its_stamp(family):
    family.recent("joint_states", 300)
    states = {to_ns(m.header.stamp) for m in family.listener.heard["joint_states"]}
    extra = {to_ns(m.header.stamp) for m in family.listener.heard[EXTRA[family.name]]}
    assert len(states & extra) > 50


def test_diagnostics_say_rate_losses_and_modes(family):
    values = family.diagnostics()
    assert {"missed", "duplicates", "frozen", "samples received [Hz]", "condition", "robot mode", "version"} <= set(
        values
    )
    assert 0 < float(values["this process [% of a core]"]) < 400
    assert values["safety mode"] == "normal" and values["non_finite"] == "0"


def test_what_a_robot_lacks_is_reported_with_the_reason(family):
    family.listener.heard["/diagnostics"].clear()
    listener = family.listener

    def notes():
        entries = [s for m in listener.heard["/diagnostics"] for s in m.status if "estimates" in s.name]
        return [v.value for s in entries for v in s.values if v.key.startswith("note")] if entries else None

    listener.spin(lambda: notes() is not None)
    found = " ".join(notes())
    if family.name == "comau_ns16":
        assert "no estimates" in found and "links is unknown" in found
        assert not listener.heard["robot_dynamics/external_wrench"]
    else:
        assert len(family.recent("robot_dynamics/external_wrench", 50)) == 50


@pytest.mark.long
def test_a_trajectory_is_played_whatever_the_joint_order(family):
    names = family.robot.joint_names
    start = np.array(family.recent("joint_states", 1)[0].position)
    goal = start + 0.05
    order = list(reversed(range(len(names))))
    play(family.listener, trajectory([names[i] for i in order], start[order], goal[order]), "done")
    assert np.allclose(family.recent("joint_states", 200)[-1].position, goal, atol=0.01)


def test_a_trajectory_outside_the_limits_is_refused_with_the_reason(family):
    n = family.robot.n_joints
    play(
        family.listener,
        trajectory(family.robot.joint_names, [0.0] * n, [9.0] + [0.0] * (n - 1)),
        "refused: trajectory: position",
    )


def test_an_external_force_moves_the_estimate_where_there_is_one(family):
    if family.robot.links is None:
        pytest.skip("masses are unknown")
    before = np.mean([m.wrench.force.z for m in family.recent("robot_dynamics/external_wrench_base", 100)])
    with family.sim.client() as client:
        client.command("set_wrench", wrench=[0, 0, -40, 0, 0, 0])
        client.wait(1.5)
        after = np.mean([m.wrench.force.z for m in family.recent("robot_dynamics/external_wrench_base", 100)])
        if family.name == "fr3":  # the vendor's own estimate has our sign
            vendor = np.mean([m.wrench.force.z for m in family.recent("robot_dynamics/vendor_external_wrench", 100)])
            assert vendor == pytest.approx(-40, abs=8)
        client.command("set_wrench", wrench=[0] * 6)
    assert after - before < -15


def test_services_answer_with_a_reason(family):
    for service in ("stop", "rearm", "reset") if family.robot.links is not None else ("stop", "rearm"):
        answer = family.listener.call(Trigger, f"/composed_node/{service}")
        assert answer.success and answer.message, (service, answer.message)
    if family.name == "fr3":
        assert family.listener.call(Trigger, "/composed_node/recover").message == "recovered"
    if family.name != "ur5e":
        assert "tare" in family.listener.call(Trigger, "/composed_node/zero_ft").message


def test_the_load_is_sent_to_the_robot_or_refused_with_the_reason(family):
    result = change_parameters(family, load_mass=0.5, load_com_z=0.05)
    if family.name == "comau_ns16":
        assert not result.successful and "cannot set this" in result.reason
        return
    assert result.successful, result.reason
    family.listener.spin(lambda: float(family.diagnostics()["payload [kg]"]) == pytest.approx(0.5, abs=1e-3))
    if family.name == "fr3":
        heavy = change_parameters(family, load_mass=9.0)
        assert not heavy.successful and "outside 0..3" in heavy.reason
        guiding = family.listener.call(Trigger, "/composed_node/enable_guiding")  # a load the robot file does not know
        assert not guiding.success and "0.5 kg on the controller" in guiding.message
    assert change_parameters(family, load_mass=0.0, load_com_z=0.0).successful


def test_collision_thresholds_are_set_together_or_refused_with_the_reason(family):
    values = {"collision_torque": 0.5, "collision_force": 60.0, "collision_moment": 20.0}
    result = change_parameters(family, **values)
    if family.name != "fr3":
        assert not result.successful and "cannot set this" in result.reason
        return
    assert result.successful, result.reason
    alone = change_parameters(family, collision_force=0.0)
    assert not alone.successful and "together" in alone.reason
    beyond = change_parameters(family, collision_torque=1.5)
    assert not beyond.successful


def test_torque_is_enabled_and_ended_by_services_where_the_robot_takes_it(family):
    listener = family.listener
    if family.name != "fr3":
        names = [name for name, _ in listener.node.get_service_names_and_types()]
        assert "/composed_node/enable_guiding" not in names
        return

    def guard():
        listener.heard["/diagnostics"].clear()
        listener.spin(lambda: any("guard" in s.name for m in listener.heard["/diagnostics"] for s in m.status))
        entries = [s for m in listener.heard["/diagnostics"] for s in m.status if "guard" in s.name]
        return {v.key: v.value for v in entries[-1].values}

    for _ in range(4):  # a busy machine may be too late for the guard, which then has to be re-armed
        answer = listener.call(Trigger, "/composed_node/enable_guiding")
        if answer.success and guard()["state"] == "ok":
            break
        listener.spin(lambda: family.diagnostics()["motion"] not in ("starting", "moving"))
        listener.call(Trigger, "/composed_node/rearm")
    else:
        raise AssertionError(f"{answer.message}; guard {guard()}; motion {family.diagnostics()['motion']}")
    again = listener.call(Trigger, "/composed_node/enable_guiding")
    assert not again.success and "enabled already" in again.message
    assert listener.call(Trigger, "/composed_node/disable_torque").success
    listener.spin(lambda: guard()["state"] == "idle" and family.diagnostics()["motion"] == "stopped")
    assert listener.call(Trigger, "/composed_node/rearm").success


def test_a_node_that_fell_behind_publishes_what_is_new_and_counts_what_it_left_out(family):
    if family.name != "fr3":
        pytest.skip("its samples do not wait outside of the node")

    def age():
        message = family.listener.fresh("joint_states")
        return 1e-9 * (time.time_ns() - to_ns(message.header.stamp))

    before = int(family.diagnostics()["not published"])
    os.kill(family.node.process.pid, signal.SIGSTOP)
    with family.sim.client() as client:
        client.wait(1.5)
    os.kill(family.node.process.pid, signal.SIGCONT)
    family.listener.spin(lambda: int(family.diagnostics()["not published"]) > before + 100)
    family.listener.spin(lambda: age() < 0.5)
    family.listener.spin(lambda: family.diagnostics()["condition"] == "ok")


def test_lifecycle_deactivate_silences_and_activate_resumes(family):
    listener = family.listener

    def change(number):
        request = ChangeState.Request()
        request.transition.id = number
        assert listener.call(ChangeState, "/composed_node/change_state", request).success

    change(4)  # deactivate
    assert listener.call(GetState, "/composed_node/get_state").current_state.label == "inactive"
    for _ in range(20):
        listener.executor.spin_once(timeout_sec=0.02)
    listener.heard["joint_states"].clear()
    for _ in range(10):
        listener.executor.spin_once(timeout_sec=0.02)
    assert not listener.heard["joint_states"]
    for number in (2, 1, 3):  # clean up, configure, activate
        change(number)
    assert len(family.recent("joint_states", 100)) == 100


def test_a_controller_that_dies_and_returns_is_found_again_without_old_data(family):
    family.sim.stop()
    listener = family.listener
    listener.spin(lambda: family.diagnostics()["condition"] in ("fault", "safe"))
    listener.heard["joint_states"].clear()
    for _ in range(10):
        listener.executor.spin_once(timeout_sec=0.05)
    assert not listener.heard["joint_states"]
    refused = listener.call(Trigger, "/composed_node/rearm")
    assert not refused.success and refused.message
    family.restart()
    assert len(family.recent("joint_states", 100)) == 100
    listener.spin(lambda: listener.call(Trigger, "/composed_node/rearm").success)
