"""The Comau link accepts packets of one session only."""

import socket
import threading

import pytest
from comau_rig import free_udp_port

from robot_dynamics_ros.drivers.comau import link, wire
from robot_dynamics_ros.errors import ConnectionFailed
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.comau.lpc import Settings, SimulatedLpc

ROBOT = load_robot("comau_ns16")
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
    udp.stop()
    assert received.state.sequence == 4 and udp.malformed == 3
    assert "session" in udp.last_error


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
