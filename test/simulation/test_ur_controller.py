"""What the simulated UR controller publishes, and the unmodified ur_rtde clients, each in a process of its own."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from ur_rig import Rig

from bench.faults.ur_controller import FaultyController
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot, save_robot
from robot_dynamics_ros.simulation.ur.signals import rotation_vector

PRELUDE = """
import json, sys, time
import numpy as np
import rtde_control, rtde_receive
host = sys.argv[1]
receive = rtde_receive.RTDEReceiveInterface(host)
control = rtde_control.RTDEControlInterface(host)
"""


def ur_rtde(code: str, host: str) -> dict:
    """Run code with the unmodified ur_rtde interfaces; it leaves its findings in `result`."""
    code = PRELUDE + "result = {}\n" + textwrap.dedent(code) + "\nprint(json.dumps(result), flush=True)\n"
    done = subprocess.run([sys.executable, "-c", code, host], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="module")
def ur():
    with FaultyController(lockstep=True) as running:
        yield running


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, np.pi / 2, 2.0, np.pi - 1e-9, np.pi])
def test_rotation_vectors_are_those_of_scipy(angle):
    for axis in np.random.default_rng(0).normal(size=(20, 3)):
        R = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()
        np.testing.assert_allclose(Rotation.from_rotvec(rotation_vector(R)).as_matrix(), R, atol=1e-14)
        assert np.linalg.norm(rotation_vector(R)) == pytest.approx(angle, abs=1e-14)


def test_the_tcp_is_where_the_tool_of_the_robot_file_has_it(tmp_path):
    tool = {"xyz": [0.1, 0.0, 0.2], "rpy": [0.0, 0.5, 0.0]}
    path = tmp_path / "with_tool.yaml"
    save_robot(load_robot("ur5e").with_updates({"kinematics.tool": tool}), path)
    values = Rig(robot=str(path)).process.signals.values
    assert values["tcp_offset"] == pytest.approx([0.1, 0.0, 0.2, 0.0, 0.5, 0.0], abs=1e-12)


def test_moments_of_the_force_sensor_are_about_the_flange(tmp_path):
    """With a tool in the robot file they were about the TCP, and a payload's centre counted in the axes of the tool."""
    path = tmp_path / "with_tool.yaml"
    tool = {"xyz": [0.1, 0.0, 0.2], "rpy": [0.0, 0.5, 0.0]}
    save_robot(load_robot("ur5e").with_updates({"kinematics.tool": tool}), path)
    rig = Rig(robot=str(path))
    arm = rig.controller.arm
    arm.zero_force_sensor()
    rig.command("set_wrench", wrench=[10.0, 20.0, 0, 0, 0, 1.0])
    rig.cycles(1)
    *_, flange, tcp = arm.model.fk(arm.q)
    force, lever, center = np.array([10.0, 20.0, 0.0]), tcp[:3, 3] - flange[:3, 3], np.array([0.0, 0.05, 0.1])
    expected = [*force, *(np.cross(lever, force) + [0, 0, 1.0])]
    np.testing.assert_allclose(arm._reading(*arm.payload[:2]) - arm._zero, expected, atol=1e-3)
    arm.mount(2.0, center)
    weight = np.array([0, 0, -2.0 * 9.81])
    expected = [*(force + weight), *(expected[3:] + np.cross(flange[:3, :3] @ center, weight))]
    np.testing.assert_allclose(arm._reading(*arm.payload[:2]) - arm._zero, expected, atol=0.02)


def test_signals_of_one_cycle_agree_with_each_other():
    rig = Rig()
    rig.cycles(250)
    rig.process.signals.update()  # of the tool's pose and speed only what a client has asked for is up to date
    values = {name: np.array(value) for name, value in rig.process.signals.values.items()}
    model, q, constant = RobotModel.load("ur5e"), values["actual_q"], np.array([10.61] * 3 + [7.68] * 3)
    assert np.abs(q - values["target_q"]).max() < 2e-3
    assert values["target_moment"] == pytest.approx(model.gravity(values["target_q"]), abs=1e-6)
    assert values["target_current"] * constant == pytest.approx(values["target_moment"], abs=1e-9)
    assert np.abs(values["actual_current"] - values["target_current"]).max() < 1.5
    assert values["actual_TCP_pose"][:3] == pytest.approx(model.fk(q)[-1][:3, 3], abs=1e-9)
    assert np.linalg.norm(values["actual_TCP_force"][:3]) < 6
    assert all(15 < t < 60 for t in values["joint_temperatures"])
    assert (values["robot_mode"], values["safety_mode"], values["safety_status_bits"]) == (7, 1, 1)
    assert values["joint_mode"].tolist() == [253] * 6


@pytest.mark.realtime
def test_the_unmodified_clients_receive_move_and_set_the_payload(ur):
    result = ur_rtde(
        """
        start = np.array(receive.getActualQ())
        result["watchdog"] = control.setWatchdog(1.0)
        result["moved"] = control.moveJ((start + 0.1).tolist(), 1.5, 8.0)
        for k in range(50):
            period = control.initPeriod()
            result["streamed"] = control.servoJ((start + 0.1 - 0.001 * k).tolist(), 0, 0, 0.002, 0.05, 1500)
            control.waitPeriod(period)
        result["stopped"] = control.servoStop()
        control.setPayload(0.7, [0.0, 0.0, 0.05])
        while receive.getPayload() != 0.7:
            time.sleep(0.01)
        result["payload"] = control.setTargetPayload(1.5, [0.01, 0.02, 0.07], [0.011, 0.012, 0.013, 1e-3, 2e-3, 3e-3])
        while receive.getPayload() != 1.5:
            time.sleep(0.01)
        result["received"] = [receive.getPayloadCog(), receive.getPayloadInertia()]
        result["q"], result["start"] = receive.getActualQ(), start.tolist()
        result["modes"] = [receive.getRobotMode(), receive.getSafetyMode(), receive.getJointMode()]
        result["stamps"] = [receive.getTimestamp(), receive.isConnected()]
        """,
        ur.host,
    )
    assert result["watchdog"] and result["moved"] and result["streamed"] and result["stopped"] and result["payload"]
    assert result["received"] == [[0.01, 0.02, 0.07], [0.011, 0.012, 0.013, 1e-3, 2e-3, 3e-3]]
    assert 0.03 < np.abs(np.subtract(result["q"], result["start"])).max() < 0.101
    assert result["modes"] == [7, 1, [253] * 6]
    assert result["stamps"] == [pytest.approx(round(result["stamps"][0] / 0.002) * 0.002), True]


@pytest.mark.long
@pytest.mark.realtime
def test_moves(ur):
    result = ur_rtde(
        """
        start = np.array(receive.getActualQ())
        def error(target):  # the two interfaces are two connections: let the other one catch up
            time.sleep(0.03)
            return float(np.abs(np.array(receive.getTargetQ()) - target).max())
        near = start + [0.3, 0.1, -0.1, 0, 0.2, 0.1]
        result["moveJ"] = [control.moveJ(near.tolist(), 1.5, 8.0), error(near)]
        result["asynchronous"] = [control.moveJ(start.tolist(), 1.0, 8.0, True), control.getAsyncOperationProgress()]
        while control.getAsyncOperationProgress() >= 0:
            time.sleep(0.002)
        result["asynchronous"] += [error(start), control.getAsyncOperationProgress()]
        control.moveJ((near).tolist(), 0.5, 8.0, True)
        while np.abs(receive.getTargetQd()).max() < 0.4:
            time.sleep(0.002)
        result["stopJ"] = [control.stopJ(8.0), error(near), float(np.abs(receive.getTargetQd()).max())]
        """,
        ur.host,
    )
    assert result["moveJ"] == [True, pytest.approx(0, abs=1e-6)]
    assert result["asynchronous"][0] and result["asynchronous"][1] >= 0 > result["asynchronous"][3]
    assert result["asynchronous"][2] < 1e-6
    assert result["stopJ"][1] > 0.01 and result["stopJ"][2] == 0


@pytest.mark.long
@pytest.mark.realtime
def test_protective_and_emergency_stop(ur):
    with ur.client() as simulation:
        simulation.command("speed", factor=8)  # the stop may only be unlocked after five seconds
    result = ur_rtde(
        """
        import dashboard_client, socket
        dashboard = dashboard_client.DashboardClient(host)
        dashboard.connect()
        socket.create_connection((host, CONTROL)).sendall(b'{"command": "protective_stop"}\\n')
        while receive.getSafetyMode() != 3:
            time.sleep(0.002)
        stopped = receive.getTimestamp()
        result["bits"] = receive.getSafetyStatusBits()
        result["refused"] = control.moveJ(receive.getActualQ(), 1.0, 1.0)
        try:
            dashboard.unlockProtectiveStop()
        except Exception as error:
            result["too early"] = str(error)
        while receive.getTimestamp() < stopped + 5.0:
            time.sleep(0.01)
        dashboard.unlockProtectiveStop()
        while receive.getSafetyMode() != 1:
            time.sleep(0.002)
        result["again"] = control.reuploadScript()
        while not control.isProgramRunning():
            time.sleep(0.002)
        result["moves"] = control.moveJ(receive.getActualQ(), 1.0, 1.0)
        result["dashboard"] = [dashboard.robotmode(), dashboard.safetymode(), dashboard.running(),
                               dashboard.polyscopeVersion(), dashboard.isInRemoteControl()]
        """.replace("CONTROL", str(ur.ports["control"])),
        ur.host,
    )
    with ur.client() as simulation:
        simulation.command("speed", factor=1)
    assert result["bits"] == 1 << 2 | 1 << 10
    assert not result["refused"]
    assert "5s" in result["too early"]
    assert result["again"] and result["moves"]
    assert result["dashboard"][:3] == ["Robotmode: RUNNING", "Safetymode: NORMAL", True]
    assert result["dashboard"][3:] == ["5.26.0.0", True]


def test_the_pose_of_the_tool_is_that_of_the_same_package_as_the_positions():
    rig, model = Rig(scenario="push"), RobotModel.load("ur5e")
    rig.cycles(2300)  # into the push, which deflects the gears
    reader = rig.rtde("actual_q,actual_TCP_pose,actual_qd,actual_TCP_speed")
    packages = [reader.sample() for _ in range(20)]
    for values in packages:
        q, qd = np.array(values["actual_q"]), np.array(values["actual_qd"])
        assert values["actual_TCP_pose"][:3] == pytest.approx(model.fk(q)[-1][:3, 3], abs=1e-9)
        assert values["actual_TCP_speed"] == pytest.approx(model.jacobian(q) @ qd, abs=1e-9)
    assert packages[0]["actual_TCP_pose"] != packages[-1]["actual_TCP_pose"]
