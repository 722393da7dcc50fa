"""Who is heard on the Comau link: one session over UDP; over MQTT who the broker lets in, by login and TLS."""

import shutil
import socket
import ssl
import subprocess
import threading

import pytest

from robot_dynamics_ros.drivers.comau import link, wire
from robot_dynamics_ros.drivers.comau.login import Login
from robot_dynamics_ros.drivers.comau.login import enter as enter_broker
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.errors import CapabilityError, ConfigError, ConnectionFailed
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
    received = udp.queue.get(30.0)
    udp.stop()
    assert received.state.sequence == 4 and udp.malformed == 3
    assert "session" in udp.last_error


def test_two_drivers_have_two_sessions():
    sessions = {link.UdpLink("127.0.0.1", 9, N, 1)._session for _ in range(10)}
    assert len(sessions) > 8


@pytest.fixture
def simulated():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
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


# -- MQTT -------------------------------------------------------------------------------------------------------------
def packet(kind, body):
    return bytes([kind, len(body)]) + body


class TlsBroker:
    """As much of an MQTT 3.1.1 broker as a login and subscriptions need, behind TLS."""

    def __init__(self, certificate, key, user, password):
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._wanted = (user, password)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                peer, _ = self._server.accept()
            except OSError:
                return
            try:
                with self._context.wrap_socket(peer, server_side=True) as secure:
                    self._serve(secure)
            except OSError:
                peer.close()

    def _serve(self, peer):
        while (head := peer.recv(2)) and len(head) == 2:
            kind, body = head[0], b""
            while len(body) < head[1]:
                body += peer.recv(head[1] - len(body))
            if kind == 0x10:
                texts, at = [], 10
                while at < len(body):
                    size = int.from_bytes(body[at : at + 2], "big")
                    texts.append(body[at + 2 : at + 2 + size].decode())
                    at += 2 + size
                peer.sendall(packet(0x20, bytes([0, 0 if tuple(texts[1:]) == self._wanted else 5])))
            elif kind == 0x82:
                peer.sendall(packet(0x90, body[:2] + b"\0"))

    def stop(self):
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: no certificates to test TLS with")
    place = tmp_path_factory.mktemp("tls")
    for name in ("broker", "stranger"):
        command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout {name}.key -out {name}.pem"
        words = [*command.split(), "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
        subprocess.run(words, cwd=place, check=True, capture_output=True)
    (place / "password").write_text("open sesame\n")
    (place / "wrong").write_text("let me in\n")
    for name in ("password", "wrong"):
        (place / name).chmod(0o600)
    return place


@pytest.fixture
def broker(certificates):
    pytest.importorskip("paho.mqtt", reason="paho-mqtt is not installed")
    made = TlsBroker(certificates / "broker.pem", certificates / "broker.key", "arm", "open sesame")
    yield made
    made.stop()


def enter(broker, **login):
    mqtt = link.MqttLink("127.0.0.1", broker.port, N, 1, Login(**{k: str(v) for k, v in login.items()}))
    mqtt.start()
    mqtt.stop()


def test_login_and_tls_let_us_in(broker, certificates):
    enter(broker, user="arm", password_file=certificates / "password", ca_file=certificates / "broker.pem")


@pytest.mark.parametrize(
    ("login", "reason"),
    [
        ({"user": "arm", "password_file": "wrong", "ca_file": "broker.pem"}, "[Nn]ot authorized"),
        ({"user": "arm", "password_file": "password", "ca_file": "stranger.pem"}, "certificate verify failed"),
    ],
)
def test_a_wrong_password_and_an_unknown_broker_are_refused(broker, certificates, login, reason, monkeypatch):
    monkeypatch.setattr(link, "CONNECT_TIMEOUT", 1000.0)  # longer than a test may take: a refusal is not waited for
    files = {k: v if k == "user" else certificates / v for k, v in login.items()}
    with pytest.raises(ConnectionFailed, match=reason):
        enter(broker, **files)


def test_what_contradicts_itself_is_refused(certificates, tmp_path):
    mqtt = pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is not installed")
    (tmp_path / "open").write_text("x")
    (tmp_path / "open").chmod(0o644)
    for login, text in (
        (Login(password_file=str(certificates / "password")), "without mqtt_user"),
        (Login("arm", str(tmp_path / "open")), "chmod 600"),
        (Login("arm", str(tmp_path / "none")), "cannot be read"),
        (Login(ca_file=str(tmp_path / "open")), "TLS cannot be set up"),
        (Login(certificate="x.pem"), "without mqtt_ca_file"),
    ):
        with pytest.raises(ConfigError, match=text):
            enter_broker(mqtt.Client(mqtt.CallbackAPIVersion.VERSION2), login)
    with pytest.raises(CapabilityError, match="backend to mqtt"):
        make_driver("comau", ROBOT, "127.0.0.1", mqtt_user="arm")


def test_tls_has_the_port_of_tls(certificates):
    driver = make_driver("comau", ROBOT, "127.0.0.1", backend="mqtt", mqtt_ca_file=str(certificates / "broker.pem"))
    assert driver._link._address[1] == link.TLS_PORT
