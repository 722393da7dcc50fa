"""The unmodified libfranka client against franka-sim's server, with our plants behind it.

Limits are in robot time and cycle counts: the machine may be slow.
"""

import os
import signal
import socket
import threading

import numpy as np
import pytest

pytest.importorskip("pylibfranka", reason="pylibfranka is not installed")
pytest.importorskip("franka_sim", reason="franka-sim is not installed")

from driver_waits import collect, settled, until

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.errors import ConnectionFailed
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedController, loopback_address

ROBOT = load_robot("fr3")


def test_an_absent_controller_is_one_clear_error():
    with pytest.raises(ConnectionFailed, match="refused|timed out|Connection|no answer"):
        make_driver("franka", ROBOT, loopback_address((1337,))).connect()


@pytest.mark.long
@pytest.mark.realtime
def test_another_server_version_is_named():
    host = loopback_address((1337,))
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, 1337))
        listener.listen(1)

        def answer():
            connection, _ = listener.accept()
            connection.recv(64)  # connect request: answered "incompatible library version", server version 99
            connection.sendall(b"\x00\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00" + b"\x01\x00\x63\x00")
            connection.recv(64)
            connection.close()

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(ConnectionFailed, match=r"(?i)version|incompatible"):
            make_driver("franka", ROBOT, host).connect()


@pytest.mark.long
@pytest.mark.realtime
def test_the_driver_connects_again_after_a_restart_and_its_process_dying():
    host = loopback_address((1337,))
    with SimulatedController("fr3", host=host):
        driver = make_driver("franka", ROBOT, host)
        driver.connect()
        collect(driver, 50)
        os.kill(driver._mover.pid, signal.SIGKILL)  # of the client
        until(driver, lambda: driver.statistics().reconnects == 1)
        collect(driver, 50)
    until(driver, lambda: driver.condition == StreamState.fault)
    assert driver.read(0.05) is None and driver.last_error
    with SimulatedController("fr3", host=host):
        until(driver, lambda: driver.statistics().reconnects == 2)
        collect(driver, 50)
        assert driver.latched >= StreamState.safe
        driver.disconnect()
    driver.disconnect()


@pytest.mark.long
@pytest.mark.realtime
def test_mujoco_behind_the_server_speaks_the_same_protocol():
    pytest.importorskip("mujoco", minversion="3.7")
    with SimulatedController("fr3", plant="bench.mujoco_plant:MujocoPlant") as server:
        driver = make_driver("franka", ROBOT, server.host)
        driver.connect()
        sample = collect(driver, 500)[-1]
        assert np.allclose(sample.theta, sample.q, rtol=0, atol=5e-6)  # rigid but for encoder steps
        start = sample.q_d.copy()
        driver.play([start + 0.05], speed=0.5)
        assert settled(driver) == "done", driver.motion
        assert np.allclose(collect(driver, 200)[-1].q, start + 0.05, atol=0.02)
        driver.disconnect()
