"""Direct torque on the simulated UR controller by an unmodified client."""

import pytest

pytestmark = pytest.mark.realtime


def test_direct_torque_moves_a_joint_and_the_watchdog_ends_it(ur, ur_rtde):
    result = ur_rtde(
        """
        receive = rtde_receive.RTDEReceiveInterface(host)
        control = rtde_control.RTDEControlInterface(host)
        start, begin = np.array(receive.getActualQ()), receive.getTimestamp()
        def stream(torque, seconds):
            begin = receive.getTimestamp()
            while receive.getTimestamp() < begin + seconds:
                assert control.directTorque(torque)
                time.sleep(0.001)
        stream([0.0] * 6, 0.3)
        result["held"] = float(np.abs(np.array(receive.getActualQ()) - start).max())
        stream([0, 0, 0, 0, 0, 2.5], 0.2)
        result["moved"] = receive.getActualQ()[5] - start[5]
        result["target_qdd"] = receive.getTargetQdd()
        result["program"] = control.isProgramRunning()
        result["watchdog"] = control.setWatchdog(20.0)
        stream([0, 0, 0, 0, 0, 2.5], 0.2)
        result["armed"] = control.isProgramRunning()
        gone = receive.getTimestamp()
        while control.isProgramRunning() and receive.getTimestamp() < gone + 1.0:
            pass
        result["stopped after"] = receive.getTimestamp() - gone
        while np.abs(receive.getTargetQd()).max() > 0:
            pass
        result["again"] = control.reuploadScript()
        while not control.isProgramRunning():
            pass
        result["moves"] = control.moveJ(start.tolist(), 1.5, 8.0)
        """,
        ur.host,
    )
    assert result["held"] < 0.02  # gravity is compensated inside, friction holds the rest
    assert result["moved"] > 0.02
    assert result["target_qdd"] == [0.0] * 6
    assert result["program"] and result["watchdog"] and result["armed"]
    assert 0.02 < result["stopped after"] < 0.2
    assert result["again"] and result["moves"]


def test_direct_torque_takes_the_scales_the_uploaded_script_passes(ur, ur_rtde):
    ur_rtde(
        """
        control = rtde_control.RTDEControlInterface(host)
        control.directTorque([0.0] * 6, [0.9] * 6, [0.8] * 6)
        time.sleep(0.05)
        """,
        ur.host,
    )
    with ur.client() as simulation:
        call = simulation.state["direct_torque"]
    # ur_rtde 1.6.5 fills one pair of variables and passes another: zero friction compensation
    zeros = "Source(constants=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0), register=None)"
    assert f"viscous_scale={zeros}" in call and f"coulomb_scale={zeros}" in call
    assert "torque=Source(constants=(), register=0)" in call
