"""The simulated UR controller against the unmodified ur_rtde clients, each in a process of its own."""

import numpy as np
import pytest

from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.simulation.server.launcher import SimulatedUR

pytestmark = pytest.mark.realtime


def test_receive_interface_gets_consistent_signals(ur, ur_rtde):
    result = ur_rtde(
        """
        receive = rtde_receive.RTDEReceiveInterface(host)
        stamps = []
        while len(stamps) < 250:
            now = receive.getTimestamp()
            if not stamps or now > stamps[-1]:
                stamps.append(now)
        for name in ("ActualQ", "ActualQd", "TargetQ", "TargetQd", "TargetQdd", "TargetMoment", "TargetCurrent",
                     "ActualCurrent", "JointControlOutput", "JointTemperatures", "ActualTCPPose", "TargetTCPPose",
                     "ActualTCPForce", "ActualToolAccelerometer", "ActualJointVoltage", "FtRawWrench", "JointMode",
                     "RobotMode", "SafetyMode", "SafetyStatusBits", "RuntimeState", "RobotStatus", "ActualRobotVoltage",
                     "ActualRobotCurrent", "ActualMainVoltage", "SpeedScaling", "Payload", "PayloadCog"):
            result[name] = getattr(receive, "get" + name)()
        result["steps"] = np.diff(stamps).tolist()
        result["connected"] = receive.isConnected()
        """,
        ur.host,
    )
    assert result["connected"]
    steps = np.array(result["steps"])
    assert np.allclose(steps / 0.002, np.round(steps / 0.002), atol=1e-6)
    assert steps.min() == pytest.approx(0.002)  # the client itself skips packages it is late for
    model = RobotModel.load("ur5e")
    q, constant = np.array(result["ActualQ"]), np.array([10.61] * 3 + [7.68] * 3)
    assert np.abs(q - result["TargetQ"]).max() < 2e-3
    assert np.array(result["TargetMoment"]) == pytest.approx(model.gravity(np.array(result["TargetQ"])), abs=1e-6)
    assert np.array(result["TargetCurrent"]) * constant == pytest.approx(np.array(result["TargetMoment"]), abs=1e-9)
    assert np.abs(np.array(result["ActualCurrent"]) - result["TargetCurrent"]).max() < 1.5
    assert np.array(result["ActualTCPPose"][:3]) == pytest.approx(model.fk(q)[-1][:3, 3], abs=1e-9)
    assert np.linalg.norm(result["ActualToolAccelerometer"]) == pytest.approx(9.8, abs=1.0)
    assert np.linalg.norm(result["ActualTCPForce"][:3]) < 6
    assert all(15 < t < 60 for t in result["JointTemperatures"])
    assert all(40 < v < 50 for v in result["ActualJointVoltage"])
    assert (result["RobotMode"], result["SafetyMode"], result["SafetyStatusBits"]) == (7, 1, 1)
    assert result["JointMode"] == [253] * 6


def test_moves(ur, ur_rtde):
    result = ur_rtde(
        """
        receive = rtde_receive.RTDEReceiveInterface(host)
        control = rtde_control.RTDEControlInterface(host)
        start = np.array(receive.getActualQ())
        def error(target):  # the two interfaces are two connections: let the other one catch up
            time.sleep(0.03)
            return float(np.abs(np.array(receive.getTargetQ()) - target).max())
        near = start + [0.3, 0.1, -0.1, 0, 0.2, 0.1]
        result["moveJ"] = [control.moveJ(near.tolist(), 1.5, 8.0), error(near)]
        result["asynchronous"] = [control.moveJ(start.tolist(), 1.0, 8.0, True), control.getAsyncOperationProgress()]
        while control.getAsyncOperationProgress() >= 0:
            pass
        result["asynchronous"] += [error(start), control.getAsyncOperationProgress()]
        path = [[*near, 1.5, 8.0, 0.05], [*start, 1.5, 8.0, 0.0]]
        result["path"] = [control.moveJ(path), error(start)]
        pose = np.array(control.getForwardKinematics())
        pose[2] += 0.05
        result["moveL"] = [control.moveL(pose.tolist(), 0.25, 2.0), error(near) and
                           float(np.abs(np.array(receive.getTargetTCPPose()) - pose).max())]
        control.moveJ((near).tolist(), 0.5, 8.0, True)
        while np.abs(receive.getTargetQd()).max() < 0.4:
            pass
        result["stopJ"] = [control.stopJ(8.0), error(near), float(np.abs(receive.getTargetQd()).max())]
        result["inverse"] = [control.getInverseKinematics(pose.tolist()), pose.tolist()]
        result["forward"] = control.getForwardKinematics(near.tolist(), [0, 0, 0.1, 0, 0, 0])
        result["near"] = near.tolist()
        """,
        ur.host,
    )
    assert result["moveJ"] == [True, pytest.approx(0, abs=1e-6)]
    assert result["asynchronous"][0] and result["asynchronous"][1] >= 0 > result["asynchronous"][3]
    assert result["asynchronous"][2] < 1e-6
    assert result["path"] == [True, pytest.approx(0, abs=1e-5)]  # the client writes six digits into the script
    assert result["moveL"] == [True, pytest.approx(0, abs=1e-6)]
    assert result["stopJ"][1] > 0.01 and result["stopJ"][2] == 0
    model = RobotModel.load("ur5e")
    q, pose = map(np.array, result["inverse"])
    assert model.fk(q)[-1][:3, 3] == pytest.approx(pose[:3], abs=1e-7)
    tip = model.fk(np.array(result["near"]))[-1] @ [0, 0, 0.1, 1]
    assert result["forward"][:3] == pytest.approx(tip[:3], abs=1e-7)


def test_servoj_tracks_and_speedj_moves(ur, ur_rtde):
    result = ur_rtde(
        """
        receive = rtde_receive.RTDEReceiveInterface(host)
        control = rtde_control.RTDEControlInterface(host)
        start = np.array(receive.getTargetQ())
        lag, begin = [], receive.getTimestamp()
        while (t := receive.getTimestamp() - begin) < 1.5:
            ramp = 0.2 * min(t, 1.0)  # 0.2 rad/s, then rest
            control.servoJ((start + [ramp, 0, 0, 0, 0, 0]).tolist(), 0, 0, 0.002, 0.05, 1500)
            if 0.6 < t < 0.9:
                lag.append(ramp - (receive.getTargetQ()[0] - start[0]))
            time.sleep(0.002)
        result["lag"] = float(np.median(lag)) / 0.2
        result["end"] = receive.getActualQ()[0] - start[0] - 0.2
        result["servoStop"] = control.servoStop()
        control.speedJ([0.3, 0, 0, 0, 0, -0.2], 2.0)
        begin = receive.getTimestamp()
        while receive.getTimestamp() < begin + 0.5:
            pass
        result["speed"] = [receive.getTargetQd(), receive.getActualQd()]
        result["speedStop"] = control.speedStop()
        time.sleep(0.03)
        result["rest"] = float(np.abs(receive.getTargetQd()).max())
        """,
        ur.host,
    )
    assert result["lag"] == pytest.approx(0.05, abs=0.02)  # the lookahead time
    assert abs(result["end"]) < 3e-3
    assert result["servoStop"] and result["speedStop"] and result["rest"] == 0
    assert result["speed"][0] == pytest.approx([0.3, 0, 0, 0, 0, -0.2])
    assert result["speed"][1] == pytest.approx([0.3, 0, 0, 0, 0, -0.2], abs=0.03)


def test_dynamics_answers_are_those_of_the_robot_model(ur, ur_rtde):
    result = ur_rtde(
        """
        receive = rtde_receive.RTDEReceiveInterface(host)
        control = rtde_control.RTDEControlInterface(host)
        def settled(ask):  # real-time answers come from registers; the first ones are stale
            ask(); time.sleep(0.02); return ask()
        result["mass"] = settled(control.getMassMatrix)
        result["jacobian"] = settled(control.getJacobian)
        result["coriolis"] = settled(control.getCoriolisAndCentrifugalTorques)
        result["torques"] = settled(control.getJointTorques)
        before = np.array(receive.getTargetMoment())
        result["payload"] = control.setPayload(2.0, [0.0, 0.0, 0.1])
        result["q"] = receive.getActualQ()
        time.sleep(0.02)
        result["target_q"] = receive.getTargetQ()
        result["change"] = (np.array(receive.getTargetMoment()) - before).tolist()
        result["payload"] = [receive.getPayload(), receive.getPayloadCog()]
        result["target payload"] = control.setTargetPayload(0.0, [0, 0, 0.01], [0, 0, 0, 0, 0, 0])
        result["zero"] = control.zeroFtSensor()
        time.sleep(0.02)
        result["force"] = receive.getActualTCPForce()
        result["forceMode"] = control.forceMode([0] * 6, [0, 0, 1, 0, 0, 0], [0, 0, -5, 0, 0, 0], 2, [0.1] * 6)
        result["forceModeStop"] = control.forceModeStop()
        result["teach"] = [control.teachMode(), control.endTeachMode()]
        """,
        ur.host,
    )
    model, q = RobotModel.load("ur5e"), np.array(result["q"])
    assert np.array(result["mass"]).reshape(6, 6) == pytest.approx(model.mass_matrix(q), abs=1e-3)
    # 36 values arrive by columns
    assert np.array(result["jacobian"]).reshape(6, 6).T == pytest.approx(model.jacobian(q), abs=1e-3)
    assert np.abs(result["coriolis"]).max() < 0.05
    assert np.abs(result["torques"]).max() < 15
    loaded = RobotModel.load("ur5e", payload=(2.0, [0, 0, 0.1], [0] * 6))
    target_q = np.array(result["target_q"])
    assert np.abs(result["change"]).max() > 5
    assert np.array(result["change"]) == pytest.approx(loaded.gravity(target_q) - model.gravity(target_q), abs=1e-4)
    assert result["payload"] == [2.0, [0.0, 0.0, 0.1]]
    assert np.linalg.norm(result["force"][:3]) < 2.5
    assert result["payload"] and result["target payload"] and result["zero"]
    assert result["forceMode"] and result["forceModeStop"] and result["teach"] == [True, True]


def test_outputs_speed_slider_and_restart_of_the_script(ur, ur_rtde):
    result = ur_rtde(
        """
        import rtde_io
        receive = rtde_receive.RTDEReceiveInterface(host)
        control = rtde_control.RTDEControlInterface(host)
        outputs = rtde_io.RTDEIOInterface(host)
        outputs.setStandardDigitalOut(3, True)
        outputs.setToolDigitalOut(1, True)
        outputs.setSpeedSlider(0.5)
        outputs.setAnalogOutputVoltage(0, 0.25)
        while receive.getTargetSpeedFraction() != 0.5 or receive.getStandardAnalogOutput0() != 0.25:
            pass
        result["bits"] = receive.getActualDigitalOutputBits()
        outputs.setSpeedSlider(1.0)
        control.stopScript()
        result["stopped"] = control.isProgramRunning()
        result["again"] = control.reuploadScript()
        while not control.isProgramRunning():
            pass
        result["custom"] = control.sendCustomScriptFunction("wait_a_bit", "sleep(0.02)")
        result["running"] = control.isProgramRunning()
        """,
        ur.host,
    )
    assert result == {"bits": 1 << 3 | 1 << 17, "stopped": False, "again": True, "custom": True, "running": True}


def test_protective_and_emergency_stop(ur, ur_rtde):
    with ur.client() as simulation:
        simulation.command("speed", factor=8)  # the stop may only be unlocked after five seconds
    result = ur_rtde(
        """
        import dashboard_client, socket
        receive = rtde_receive.RTDEReceiveInterface(host)
        control = rtde_control.RTDEControlInterface(host)
        dashboard = dashboard_client.DashboardClient(host)
        dashboard.connect()
        control.triggerProtectiveStop()
        while receive.getSafetyMode() != 3:
            pass
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
            pass
        result["again"] = control.reuploadScript()
        while not control.isProgramRunning():
            pass
        result["moves"] = control.moveJ(receive.getActualQ(), 1.0, 1.0)
        result["dashboard"] = [dashboard.robotmode(), dashboard.safetymode(), dashboard.running(),
                               dashboard.polyscopeVersion(), dashboard.isInRemoteControl()]
        """,
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


def test_controllers_run_side_by_side_on_loopback_addresses(ur, raw_rtde):
    with SimulatedUR(scenario="push", seed=7) as other:
        assert other.host != ur.host and other.ports["rtde"] == ur.ports["rtde"] == 30004
        with other.client() as simulation:
            simulation.command("set_payload", mass=3.0)
            simulation.wait(0.2)
        currents = []
        for running in (ur, other):
            client = raw_rtde(running.host)
            client.start("actual_current")
            currents.append(client.sample()["actual_current"])
    assert np.abs(np.subtract(*currents)).max() > 0.1
