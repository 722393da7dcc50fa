"""No call waits for a vendor client that hangs: messages and stops go on or are refused."""

import os
import signal
import socket
import subprocess
import sys
import threading
from multiprocessing.connection import Connection

import numpy as np
import pytest
from driver_waits import happens

from robot_dynamics_ros.drivers import client
from robot_dynamics_ros.drivers.child_process import Outbox, receive
from robot_dynamics_ros.drivers.franka import process as franka_process
from robot_dynamics_ros.drivers.interface import MotionState
from robot_dynamics_ros.drivers.stream import Stream
from robot_dynamics_ros.drivers.ur import control
from robot_dynamics_ros.drivers.ur.control import SILENCE_TIMEOUT, UrControl
from robot_dynamics_ros.errors import ConnectionFailed
from robot_dynamics_ros.robot_file import load_robot


def within(seconds, work):
    """Result of `work` in a thread of its own; fails when it does not end."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, "blocked"
    return found[0]


@pytest.fixture
def pipes():
    ends = [Connection(s.detach()) for s in socket.socketpair()]
    yield ends
    for end in ends:
        end.close()


def test_a_sender_never_waits_for_a_reader_that_hangs(pipes):
    outbox, torque = Outbox(pipes[0]), np.zeros((1, 6))

    def flood():
        for k in range(10000):
            try:
                outbox.send({"do": "torque_value", "run": True}, torque)
            except BlockingIOError:
                return k

    assert 10 < within(30, flood) < 2000


def test_long_and_short_messages_arrive_in_order(pipes):
    outbox, path = Outbox(pipes[0]), np.arange(600_000.0).reshape(-1, 6)
    within(30, lambda: [outbox.send({"k": 0}, path), *(outbox.send({"k": k}) for k in range(1, 40))])
    for k in range(40):
        message, array = receive(pipes[1])
        assert message == {"k": k} and (k > 0 or np.array_equal(array, path))


def test_a_child_that_is_gone_is_an_error(pipes):
    pipes[1].close()
    with pytest.raises(OSError, match="."):
        for _ in range(3):
            Outbox(pipes[0]).send({"do": "stop"})


@pytest.fixture
def hung(monkeypatch):
    """A control whose child has begun a motion, and was then stopped by SIGSTOP."""
    code = "import sys, time; sys.path[:0] = sys.argv[2:]; from multiprocessing.connection import Connection as C\n"
    code += "from robot_dynamics_ros.drivers.child_process import receive, send\n"
    code += "pipe = C(int(sys.argv[1])); receive(pipe)\n"
    code += "send(pipe, {'event': 'motion', 'number': 1, 'state': 'moving', 'reason': '', 'progress': 0.0})\n"
    code += "receive(pipe)\n"

    def spawn(module, arguments, descriptors=()):
        ours, theirs = socket.socketpair()
        words = [sys.executable, "-c", code, str(theirs.fileno()), *sys.path]
        process = subprocess.Popen(words, pass_fds=[theirs.fileno()])
        theirs.close()
        return process, Connection(ours.detach())

    monkeypatch.setattr(control, "spawn", spawn)
    ur = UrControl("nowhere")
    ur.play(np.zeros((1, 6)), np.zeros((0, 6)), np.zeros(6), 500.0, 1.0, 1.0)
    happens(lambda: ur.motion.state == "moving")
    os.kill(ur.pid, signal.SIGSTOP)
    yield ur
    ur.close()


def test_a_client_that_reads_nothing_is_ended_with_a_message(hung):
    process = hung._process

    def push():
        for _ in range(5000):
            try:
                hung._send({"do": "zero_ft"})
            except ConnectionFailed as error:
                return str(error)

    assert "hangs" in within(60, push)
    assert hung.motion.state == "failed" and "watchdog" in hung.motion.reason
    assert process.wait(30) == -signal.SIGKILL


def test_the_pipe_of_an_ended_client_stays_open_for_its_last_writer(hung):
    """A closed descriptor is given to the next file that is opened: a late write would go there."""
    pipe = hung._pipe
    os.kill(hung.pid, signal.SIGKILL)
    hung._process.wait(30)
    happens(lambda: hung.motion.state == "failed")
    assert not pipe.closed
    with pytest.raises(BrokenPipeError):
        pipe.send_bytes(b"late")


def test_a_client_that_answers_no_stop_is_ended(hung, monkeypatch):
    process = hung._process
    within(30, lambda: hung.stop() or True)
    hung.supervise(0.0)
    assert hung.motion.state == "moving"  # it is given time
    monkeypatch.setattr(client, "STOP_TIMEOUT", -1.0)
    hung.supervise(0.0)
    assert hung.motion.state == "failed" and "stop" in hung.motion.reason
    assert process.wait(30) == -signal.SIGKILL


def test_a_silent_controller_ends_the_client_before_it_crashes(hung):
    hung.supervise(SILENCE_TIMEOUT - 0.1)
    assert hung.motion.state == "moving"
    process = hung._process
    hung.supervise(SILENCE_TIMEOUT + 0.1)
    assert hung.motion.state == "failed" and "silent" in hung.motion.reason
    assert process.wait(30) == -signal.SIGKILL and SILENCE_TIMEOUT < 2.5  # s, at which it crashes


def test_a_stop_of_nothing_that_moves_is_not_sent(hung):
    """The client of a UR, which has to run its program for any request, started it on a robot that stood still."""
    hung.motion, sent = MotionState("done"), []
    hung._send = sent.append
    hung.stop()
    assert sent == [] and hung._stop_asked is None
    hung.motion = MotionState("moving")
    hung.stop()
    assert sent == [{"do": "stop", "number": 1}]
    hung._process.kill()  # or the end of the fixture waits for it


def test_a_stop_that_meets_a_client_that_has_just_ended_is_no_error(hung):
    hung._pipe.close()
    hung.stop()
    hung._process.kill()


def test_a_client_that_connects_again_while_the_driver_disconnects_is_ended(monkeypatch):
    """It stayed connected to the robot, states and torques included, or was followed beside the next one."""
    made = []
    code = "import sys; sys.path[:0] = sys.argv[3:]; from multiprocessing.connection import Connection as C\n"
    code += "from robot_dynamics_ros.drivers.child_process import send\n"
    code += "pipe = C(int(sys.argv[1])); sys.argv[2] == '0' and send(pipe, {'event': 'connected', 'version': ''})\n"
    code += "pipe.poll(None)"

    def spawn(module, arguments, descriptors=()):
        ours, theirs = socket.socketpair()
        words = [sys.executable, "-c", code, str(theirs.fileno()), str(len(made)), *sys.path]
        made.append(subprocess.Popen(words, pass_fds=[theirs.fileno()]))
        theirs.close()
        return made[-1], Connection(ours.detach())

    monkeypatch.setattr(franka_process, "spawn", spawn)
    monkeypatch.setattr(franka_process, "BACKOFF", (0.0, 0.1))
    franka = franka_process.FrankaProcess(load_robot("fr3"), "nowhere", Stream(1000.0), 0)
    franka.connect()
    follower = franka._supervisor
    made[0].kill()
    happens(lambda: len(made) == 2)  # which does not connect
    franka.disconnect()
    try:
        assert not follower.is_alive() and made[1].poll() is not None and len(made) == 2
    finally:
        made[1].kill()
