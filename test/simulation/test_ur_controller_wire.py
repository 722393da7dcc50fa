"""The protocols of the simulated UR controller, spoken by hand: RTDE, dashboard, script port, and nonsense on each."""

import socket
import struct

import pytest
from ur_rig import Rig, steps

from robot_dynamics_ros.simulation.server.sockets import Hub, LineServer
from robot_dynamics_ros.simulation.ur import rtde_wire as wire
from robot_dynamics_ros.simulation.ur.script import ScriptReceiver, parse_script


@pytest.fixture
def rig():
    made = Rig(polyscope="5.26.1.2")
    yield made
    made.process.hub.close()


def test_handshake_and_versions(rig):
    client = rig.rtde()
    assert struct.unpack(">4I", client.ask("v")) == (5, 26, 1, 2)
    assert client.ask("V", struct.pack(">H", 3)) == b"\x00"
    assert client.outputs("timestamp,actual_q,") == b"\x01DOUBLE,VECTOR6D"
    assert client.outputs("actual_q,no_such_thing") == b"\x00VECTOR6D,NOT_FOUND"
    assert client.outputs("") == b"\x00"
    assert client.outputs("timestamp", 0.0)[0] == client.outputs("timestamp", 501.0)[0] == 0
    assert client.outputs("timestamp", float("nan"))[0] == 0
    assert client.ask("S") == b"\x01"
    assert client.ask("P") == b"\x01"


@pytest.mark.parametrize("frequency, period", [(500.0, 1), (125.0, 4)])
def test_every_sample_at_500_hz_and_every_fourth_at_125_hz(rig, frequency, period):
    client = rig.rtde("timestamp,target_q,actual_q", frequency)
    assert set(steps(client.samples(50))) == {period}


def test_every_default_output_of_the_client_is_offered(rig):
    names = [name for name in wire.OUTPUTS if not name.startswith(("input_", "output_"))]
    assert len(names) > 50
    types = rig.rtde().outputs(",".join(names))[1:].decode().split(",")
    assert types == [wire.OUTPUTS[name] for name in names]


def test_older_controllers_lack_newer_outputs():
    old = Rig(polyscope="5.11").rtde()
    assert struct.unpack(">4I", old.ask("v"))[:2] == (5, 11)
    assert old.outputs("actual_current_as_torque,actual_q")[1:] == b"NOT_FOUND,VECTOR6D"
    for version, answer in (("5.5.0", b"NOT_FOUND,NOT_FOUND"), ("5.5.1", b"DOUBLE,VECTOR3D")):  # [UR RTDE guide]
        assert Rig(polyscope=version).rtde().outputs("payload,payload_cog")[1:] == answer


def test_an_input_belongs_to_one_client_and_keeps_its_value(rig):
    first, second = rig.rtde(), rig.rtde()
    assert first.ask("I", b"input_int_register_30,input_double_register_30,") == b"\x01INT32,DOUBLE"
    assert first.ask("I", b"input_int_register_30") == b"\x02INT32"  # again by the same client
    assert second.ask("I", b"input_int_register_30") == b"\x00IN_USE"
    assert second.ask("I", b"nothing_of_the_kind") == b"\x00NOT_FOUND"
    second.start("input_int_register_30,input_double_register_30")
    body = struct.pack(">Bid", 1, -7, 2.5)
    longer = struct.pack(">Bid", 1, 5, 1.5) + b"surplus"
    under_length = struct.pack(">Bi", 1, 9)  # sets what arrived whole
    values = ((longer, [5, 1.5]), (body, [-7, 2.5]), (body[:5] + b"\xff", [-7, 2.5]), (under_length, [9, 2.5]))
    for sent, expected in values:
        first.send("U", sent)
        assert list(second.sample().values()) == expected
    first.pipe.close()
    assert second.ask("I", b"input_int_register_30") == b"\x01INT32"
    assert list(second.sample().values()) == [9, 2.5]


def test_dashboard_replies(rig):
    lines = rig.talk(
        "dashboard",
        "PolyscopeVersion\nget serial number\nis in remote control\nrobotmode\nprogramState\nget robot model\n"
        "running\nno such command\nquit\n",
    )
    assert lines[0].startswith("Connected")
    assert lines[1] == "URSoftware 5.26.1.2 (Jan 01 2026)"
    assert lines[2].isdigit()
    assert lines[3:8] == ["true", "Robotmode: RUNNING", "STOPPED <unnamed>", "UR5E", "Program running: false"]
    assert lines[8:] == ["could not understand: 'no such command'", "Disconnected"]


def test_a_short_script_runs_line_by_line(rig):
    write = "\twrite_output_integer_register(0 +0, {})\n"
    client = rig.rtde("output_int_register_0,runtime_state")
    rig.talk("script", f"def custom():\n{write.format(1)}\tsleep(0.02)\n{write.format(2)}end\n")
    client.until(lambda s: list(s.values()) == [1, 2])  # running
    client.until(lambda s: list(s.values()) == [2, 1])  # done and stopped


def test_an_unknown_statement_stops_the_program(rig):
    rig.talk("script", "def mystery():\n\tpour_coffee(1)\nend\n")
    rig.until(lambda: any("pour_coffee" in line for line in rig.state["messages"]))
    assert rig.state["program"] is None


def test_script_text_is_cut_at_its_end_and_read_for_what_matters():
    text = (
        "def rtde_control():\n    global reg_offset_int = # int register offset\n24    global x = 1\n"
        "    def process_cmd(cmd):\n        elif cmd == 1:\n            movej([1,2,3,4,5,6])\n"
        "        end\n    end\nend\n"
    )
    receiver = ScriptReceiver()
    data = (text + "textmsg(1)\n").encode()
    found = [script for i in range(0, len(data), 7) for script in receiver.feed(data[i : i + 7])]
    assert found == [text, "textmsg(1)\n"]
    script = parse_script(text)
    assert script.is_command_loop and script.register_offset == 24 and script.name == "rtde_control"


def test_packages_for_a_client_that_does_not_read_are_skipped(rig):
    idle, reader = rig.rtde("timestamp"), rig.rtde("timestamp")
    idle.pipe.backlog = 10**6
    assert set(steps(reader.samples(50))) == {1} and not idle.pipe.data
    assert rig.state["skipped"] == 50
    idle.pipe.backlog = 0
    assert idle.sample()["timestamp"] == pytest.approx(51 * 0.002)


def test_a_connection_never_waits_for_its_peer_and_loses_nothing():
    """Real sockets: what the peer does not read waits, and one that leaves too much of it is cut off."""
    hub, server = Hub(), LineServer(lambda connection, line: None)
    port = hub.listen("127.0.0.1", 0, "test", server)
    with socket.create_connection(("127.0.0.1", port), 10) as peer:
        while not server.connections:
            hub.poll(1.0)
        connection = next(iter(server.connections))
        lines = [b"%d " % k + b"x" * 1000 + b"\n" for k in range(10_000)]
        for line in lines:
            connection.send(line)
        assert connection.backlog > 0
        received = b""
        while len(received) < sum(map(len, lines)):
            hub.poll(0.0)
            received += peer.recv(1 << 20)
        assert received == b"".join(lines) and connection.backlog == 0
        while connection.open:
            connection.send(b"x" * (1 << 20))
    assert not server.connections
    hub.close()
