"""Packets of the Comau link: what is taken for a state, coupling of the wrist, one session only."""

import dataclasses
import math
import socket
import threading

import numpy as np
import pytest
from comau_rig import ROBOT, free_udp_port

from robot_dynamics_ros.drivers.comau import link, wire
from robot_dynamics_ros.drivers.comau.states import ComauStates, Coupling
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed, DataError
from robot_dynamics_ros.estimators.motion import effort_gain
from robot_dynamics_ros.simulation.comau.lpc import Settings, SimulatedLpc
from robot_dynamics_ros.waiting import wait_until

N = ROBOT.n_joints


def state(session, sequence=1):
    return wire.pack_state(wire.State(sequence, 1000 * sequence, (1.0,) * 10, n_axes=N, modality=4, session=session))


# -- UDP --------------------------------------------------------------------------------------------------------------
@pytest.fixture
def lpc():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.bind(("127.0.0.1", 0))
        end.settimeout(30.0)
        yield end


def test_states_of_another_session_are_counted_and_not_taken(lpc):
    udp = link.UdpLink(*lpc.getsockname(), N, 1)
    starter = threading.Thread(target=udp.start)
    starter.start()
    hello, client = lpc.recvfrom(2048)
    session = wire.unpack_command(hello, N).session
    for sequence in range(1, 4):
        lpc.sendto(state(session ^ 1, sequence), client)
    lpc.sendto(state(session, 4), client)
    starter.join()
    received = udp.get(30.0)
    assert received.state.sequence == 4 and (udp.malformed, udp.last_error) == (3, "")
    lpc.sendto(state(session ^ 1, 5), client)
    assert wait_until(lambda: "session" in udp.last_error, 30.0)
    udp.stop()


def test_an_lpc_that_answers_nobody_may_serve_another_client_and_the_error_says_so(lpc, monkeypatch):
    monkeypatch.setattr(link, "CONNECT_TIMEOUT", 0.0)
    with pytest.raises(ConnectionFailed, match="no state within .* serves another client"):
        link.UdpLink(*lpc.getsockname(), N, 1).start()


def test_two_drivers_have_two_sessions():
    sessions = {link.UdpLink("127.0.0.1", 9, N, 1)._session for _ in range(10)}
    assert len(sessions) > 8


@pytest.fixture
def simulated():
    port = free_udp_port()
    made = SimulatedLpc(Settings(udp_port=port))
    yield made, ("127.0.0.1", port)
    made._socket.close()
    made.arm_server.hub.close()


def test_an_lpc_serves_one_client_and_gives_its_session_back(simulated):
    made, address = simulated
    first, second = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    for end, session in ((first, 7), (second, 8), (second, 7), (first, 9), (first, 7)):
        end.sendto(wire.pack_command(wire.Command(1, modality=wire.LISTEN, session=session), N), address)
        while not made._socket.recv(1, socket.MSG_PEEK | socket.MSG_TRUNC):
            pass
        made._receive()
    made._send()
    first.settimeout(30.0)
    assert wire.unpack_state(first.recv(2048), N).session == 7
    second.setblocking(False)
    with pytest.raises(BlockingIOError):
        second.recv(2048)
    assert made.foreign == 3
    first.close()
    second.close()


# -- coupling ---------------------------------------------------------------------------------------------------------
def test_coupling_turns_motors_into_joints_with_signs_and_power_is_kept():
    matrix = np.eye(6)
    matrix[4, 3], matrix[5, 4], matrix[5, 3] = -0.02, 0.015, 0.03
    drives = ROBOT.drives.model_copy(update={"coupling": tuple(map(tuple, matrix.tolist()))})
    coupled = ROBOT.model_copy(update={"drives": drives})
    coupling, rng = Coupling(coupled), np.random.default_rng(5)
    motor, torque = rng.standard_normal(6), rng.standard_normal(6)
    joint = coupling.angle(motor)
    ratio = np.array(ROBOT.drives.gear_ratio)
    assert joint[0] == pytest.approx(motor[0] / -181.5873)
    assert np.allclose(joint, matrix @ (motor / ratio))
    assert joint @ coupling.torque(torque) == pytest.approx((motor / ratio) @ torque)  # power
    assert coupling.known and not Coupling(ROBOT).known


def test_an_effort_in_newton_metres_without_the_coupling_is_refused():
    """It was absent without a word."""
    with pytest.raises(CapabilityError, match=r"effort in Nm needs drives\.coupling"):
        ComauStates(ROBOT.with_updates({"drives.effort.unit": "Nm", "drives.torque_constant": [20.0] * N}), 500.0)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_sign_of_a_current_is_applied_once(sign):
    """The driver turned the effort of a file of sign -1 round, and then the stages: identify's sign had no effect."""
    found = {"drives.effort.sign": sign, "drives.torque_constant": [20.0] * N, "drives.coupling": np.eye(N).tolist()}
    state = wire.State(1, 1000, link=(0.0,) * 10, current=(0.5,) * 10, current_model=(0.4,) * 10, n_axes=N)
    for unit, torque in (("A", 0.5), ("Nm", 10.0)):
        robot = ROBOT.with_updates(found | {"drives.effort.unit": unit})
        states = ComauStates(robot, 500.0)
        states.take(state)
        assert np.allclose(states.sample.effort, torque)
        assert unit == "A" or np.allclose(states.sample.tau_d, 8.0 * sign)
        assert np.allclose(effort_gain(robot, "effort", "robot_file") * states.sample.effort, 10.0 * sign)


def test_the_coupling_holds_a_current_that_counts_against_its_joint_alone():
    """-1 in its place and the other sign of its ratio: speeds stay."""
    ratio, turned = np.array(ROBOT.drives.gear_ratio), np.array([1, 1, -1, 1, 1, 1])
    found = {"drives.torque_constant": [20.0] * N, "drives.effort.unit": "Nm"}
    state = wire.State(1, 1000, link=(0.0,) * 10, rpm=(60.0,) * 10, current=(0.5,) * 10, n_axes=N)
    for signs in (np.ones(N), turned):
        states = ComauStates(
            ROBOT.with_updates(found | {"drives.coupling": np.diag(signs), "drives.gear_ratio": signs * ratio}), 500.0
        )
        states.take(state)
        np.testing.assert_allclose(states.sample.qd, 2 * np.pi / ratio)
        np.testing.assert_allclose(states.sample.effort, 10.0 * signs)


# -- wire formats -----------------------------------------------------------------------------------------------------
def test_state_and_command_survive_the_wire():
    rng = np.random.default_rng(1)
    state = wire.State(7, 123456, link=tuple(rng.standard_normal(10)), n_axes=6, modality=4, status=4, session=9)
    back = wire.unpack_state(wire.pack_state(state), 6)
    assert back.link == state.link and (back.sequence, back.time_us, back.modality) == (7, 123456, 4)
    assert math.isnan(back.current[0]) and wire.STATE.size == 392 and wire.COMMAND.size == 196
    command = wire.Command(3, 2, 1, 4, 63, tuple(rng.standard_normal(10)))
    assert dataclasses.asdict(wire.unpack_command(wire.pack_command(command, 6), 6)) == dataclasses.asdict(command)


def test_random_bytes_never_become_a_state():
    rng = np.random.default_rng(2)
    good = wire.pack_state(wire.State(1, 1, n_axes=6))
    for length in rng.integers(0, 800, 300):
        with pytest.raises(DataError):
            wire.unpack_state(rng.bytes(length), 6)
    for start, value in ((0, 1), (4, 1), (6, 7)):  # magic, version, axes
        with pytest.raises(DataError):
            wire.unpack_state(good[:start] + value.to_bytes(2, "little") + good[start + 2 :], 6)
