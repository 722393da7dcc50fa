"""The protocols of the simulated UR controller, spoken by hand: RTDE, dashboard, script port, and nonsense on each."""

import random
import socket
import struct

import pytest

from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedUR
from robot_dynamics_ros.simulation.ur import rtde_wire as wire
from robot_dynamics_ros.simulation.ur.script import ScriptReceiver, parse_script


@pytest.fixture(scope="module")
def ur():
    with SimulatedUR(polyscope="5.26.1.2") as running:
        yield running


def talk(host: str, port: int, text: bytes, replies: int) -> list[str]:
    with socket.create_connection((host, port), 10) as connection:
        connection.sendall(text)
        stream = connection.makefile("r")
        return [stream.readline().rstrip("\n") for _ in range(replies)]


@pytest.mark.realtime
def test_handshake_and_versions(ur, raw_rtde):
    client = raw_rtde(ur.host)
    assert struct.unpack(">4I", client.ask("v")) == (5, 26, 1, 2)
    assert client.ask("V", struct.pack(">H", 3)) == b"\x00"
    assert client.outputs("timestamp,actual_q,") == b"\x01DOUBLE,VECTOR6D"
    assert client.outputs("actual_q,no_such_thing") == b"\x00VECTOR6D,NOT_FOUND"
    assert client.outputs("") == b"\x00"
    assert client.outputs("timestamp", 0.0)[0] == client.outputs("timestamp", 501.0)[0] == 0
    assert client.outputs("timestamp", float("nan"))[0] == 0
    assert client.ask("S") == b"\x01"
    assert client.ask("P") == b"\x01"


@pytest.mark.realtime
def test_every_sample_at_500_hz_and_every_fourth_at_125_hz(ur, raw_rtde):
    for frequency, step in ((500.0, 0.002), (125.0, 0.008)):
        client = raw_rtde(ur.host)
        client.start("timestamp,target_q,actual_q", frequency)
        stamps = [sample["timestamp"] for sample in client.samples(100)]
        assert [b - a for a, b in zip(stamps, stamps[1:], strict=False)] == pytest.approx([step] * 99)


@pytest.mark.realtime
def test_protocol_1_has_no_frequency_and_no_recipe_id(ur, raw_rtde):
    client = raw_rtde(ur.host, protocol=1)
    assert client.outputs("timestamp,robot_mode") == b"DOUBLE,INT32"
    assert client.ask("S") == b"\x01"
    kind, body = client.receive()
    assert kind == "U" and struct.unpack(">di", body)[1] == 7


@pytest.mark.realtime
def test_every_default_output_of_the_client_is_offered(ur, raw_rtde):
    names = [name for name in wire.OUTPUTS if not name.startswith(("input_", "output_"))]
    assert len(names) > 50
    client = raw_rtde(ur.host)
    types = client.outputs(",".join(names))[1:].decode().split(",")
    assert types == [wire.OUTPUTS[name] for name in names]


def until(client, expected: tuple, limit: int = 2000) -> None:
    """Read samples until their values are the expected ones."""
    assert any(tuple(client.sample().values()) == expected for _ in range(limit)), expected


@pytest.mark.realtime
def test_an_input_belongs_to_one_client_and_keeps_its_value(ur, raw_rtde):
    first, second = raw_rtde(ur.host), raw_rtde(ur.host)
    assert first.ask("I", b"input_int_register_30,input_double_register_30,") == b"\x01INT32,DOUBLE"
    assert first.ask("I", b"input_int_register_30") == b"\x02INT32"  # again by the same client
    assert second.ask("I", b"input_int_register_30") == b"\x00IN_USE"
    assert second.ask("I", b"nothing_of_the_kind") == b"\x00NOT_FOUND"
    second.start("input_int_register_30,input_double_register_30")
    body = struct.pack(">Bid", 1, -7, 2.5)
    longer = struct.pack(">Bid", 1, 5, 1.5) + b"surplus"
    for sent, expected in ((longer, (5, 1.5)), (body, (-7, 2.5)), (body[:5] + b"\xff", (-7, 2.5))):
        first.send("U", sent)
        until(second, expected)
    first.send("U", struct.pack(">Bi", 1, 9))  # under-length: sets what arrived whole
    until(second, (9, 2.5))
    first.close()
    while second.ask("I", b"input_int_register_30") != b"\x01INT32":
        second.samples(5)  # the server has not seen the other client go yet
    assert tuple(second.sample().values()) == (9, 2.5)


@pytest.mark.realtime
def test_older_controllers_lack_newer_outputs_and_torque(raw_rtde, ur_rtde):
    with SimulatedUR(polyscope="5.11") as old:
        driver = make_driver("ur", load_robot("ur5e"), old.host)
        driver.connect()
        assert driver.info.version == "5.11.0" and "torque" not in driver.info.capabilities
        driver.disconnect()
        client = raw_rtde(old.host)
        assert struct.unpack(">4I", client.ask("v"))[:2] == (5, 11)
        assert client.outputs("actual_current_as_torque,actual_q")[1:] == b"NOT_FOUND,VECTOR6D"
        silent = ur_rtde(
            """
            control = rtde_control.RTDEControlInterface(host)
            result["accepted"] = control.directTorque([0, 0, 0, 0, 0, 20.0])
            time.sleep(0.1)
            """,
            old.host,
        )
        with old.client() as simulation:
            assert silent["accepted"] and not any("torque" in m for m in simulation.state["messages"])
            assert abs(simulation.state["q"][5]) < 1e-3  # the client says yes, the robot does nothing
        assert "5.11" in talk(old.host, old.ports["dashboard"], b"PolyscopeVersion\n", 2)[1]


@pytest.mark.realtime
def test_dashboard_replies(ur):
    lines = talk(
        ur.host,
        ur.ports["dashboard"],
        b"PolyscopeVersion\nget serial number\nis in remote control\nrobotmode\nprogramState\nget robot model\n"
        b"running\nload x.urp\npopup hello\nno such command\nquit\n",
        12,
    )
    assert lines[0].startswith("Connected")
    assert lines[1] == "URSoftware 5.26.1.2 (Jan 01 2026)"
    assert lines[2].isdigit()
    assert lines[3:8] == ["true", "Robotmode: RUNNING", "STOPPED <unnamed>", "UR5E", "Program running: false"]
    assert lines[8:] == [
        "Loading program: x.urp",
        "showing popup",
        "could not understand: 'no such command'",
        "Disconnected",
    ]


@pytest.mark.realtime
def test_a_short_script_runs_line_by_line(ur, raw_rtde):
    write = "\twrite_output_integer_register(0 +0, {})\n"
    script = f"def custom():\n{write.format(1)}\tsleep(0.02)\n{write.format(2)}end\n".encode()
    client = raw_rtde(ur.host)
    client.start("output_int_register_0,runtime_state")
    with socket.create_connection((ur.host, ur.ports["script"]), 10) as port:
        port.sendall(script)
        seen = []
        while not seen or seen[-1] != (2, 1):
            now = tuple(client.sample().values())
            seen += [now] if now not in seen[-1:] else []
    assert (1, 2) in seen  # running, then done and stopped


@pytest.mark.realtime
def test_an_unknown_statement_stops_the_program(ur):
    with socket.create_connection((ur.host, ur.ports["script"]), 10) as port, ur.client() as simulation:
        port.sendall(b"def mystery():\n\tpour_coffee(1)\nend\n")
        while not any("pour_coffee" in line for line in simulation.state["messages"]):
            simulation.wait(0.01)
        assert simulation.state["program"] is None


def test_script_text_is_cut_at_its_end_and_read_for_what_matters():
    text = (
        "def rtde_control():\n    global reg_offset_int = # int register offset\n24    global x = 1\n"
        "    def exec_move_path():\n        # inject move path\n"
        "\tsignal_async_progress(0)\n\tmovej([1,-2e-1,3,4,5,6],a=1.5,v=0.5,r=0.02)\n"
        "\tmovel(p[0.1,0.2,0.3,0,0,0],a=2,v=0.1,r=0)\n    end\n"
        "    def process_cmd(cmd):\n        elif cmd == 66:\n            viscous = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]\n"
        "            torque = q_from_input_float_registers(3)\n"
        "            direct_torque(torque, viscous_scale=viscous)\n        elif cmd == 67:\n        end\n    end\nend\n"
    )
    receiver = ScriptReceiver()
    data = (text + "textmsg(1)\n").encode()
    found = [script for i in range(0, len(data), 7) for script in receiver.feed(data[i : i + 7])]
    assert found == [text, "textmsg(1)\n"]
    script = parse_script(text)
    assert script.is_command_loop and script.register_offset == 24 and script.name == "rtde_control"
    assert script.torque.torque.register == 3
    assert script.torque.viscous_scale.constants == (0.5,) * 6
    assert script.torque.coulomb_scale.constants == (0.8, 0.8, 0.7, 0.8, 0.8, 0.8)  # left out: URScript's default
    joint, tool = script.path
    assert joint.target == (1, -0.2, 3, 4, 5, 6) and (joint.velocity, joint.acceleration, joint.blend) == (
        0.5,
        1.5,
        0.02,
    )
    assert tool.is_pose and tool.target[:3] == (0.1, 0.2, 0.3)


def nonsense(rng: random.Random) -> bytes:
    """Random bytes, or packets that are almost right."""
    kind = rng.choice(b"VvOISPUMxyz\x00\xff")
    body = rng.choice(
        [
            rng.randbytes(rng.randrange(40)),
            rng.choice([b"", b",", b"actual_q", b"input_int_register_0,", b"\xff\xfe", b"timestamp," * 400]),
            struct.pack(">d", rng.choice([float("nan"), float("inf"), -1.0, 1e-300, 125.0])) + b"actual_q",
        ]
    )
    size = rng.choice([len(body) + 3] * 4 + [0, 2, 65535, rng.randrange(65536)])
    return rng.choice([rng.randbytes(rng.randrange(1, 200)), struct.pack(">HB", size, kind) + body])


@pytest.mark.realtime
def test_nonsense_from_clients_kills_nothing(ur, raw_rtde):
    rng = random.Random(5)
    for port in ("rtde", "dashboard", "script", "truth", "control"):
        for _ in range(40):
            with socket.create_connection((ur.host, ur.ports[port]), 10) as connection:
                try:
                    for _ in range(rng.randrange(1, 6)):
                        connection.sendall(nonsense(rng))
                    if rng.random() < 0.3:
                        connection.sendall(b'\n[]\n{}\n5\n{"command": []}\n{"command": "drop", "next": {}}\n')
                except OSError:
                    pass  # the server may hang up on us
    client = raw_rtde(ur.host)
    client.start("timestamp,robot_mode")
    assert client.samples(20)[-1]["robot_mode"] == 7
    with ur.client() as simulation:
        assert simulation.state["safety_mode"] == 1


@pytest.mark.realtime
def test_commands_with_nonsense_arguments_stop_the_program_not_the_controller(ur, raw_rtde, ur_rtde):
    result = ur_rtde(
        """
        control = rtde_control.RTDEControlInterface(host)
        result["servo"] = control.servoJ([float("nan")] * 6, 0, 0, 0.002, 0.1, 300)
        while control.isProgramRunning():
            pass
        control.kickWatchdog()  # clears the command register, which still holds the NaN command
        control.reuploadScript()
        while not control.isProgramRunning():
            pass
        result["unreachable"] = control.moveL([9, 9, 9, 0, 0, 0], 0.1, 0.1)
        """,
        ur.host,
    )
    assert result["unreachable"] is False
    client = raw_rtde(ur.host)
    client.start("actual_q,safety_mode")
    assert all(abs(value) < 7 for value in client.sample()["actual_q"])


@pytest.mark.realtime
def test_a_client_that_does_not_read_has_packages_skipped(ur, raw_rtde):
    idle, reader = raw_rtde(ur.host), raw_rtde(ur.host)
    idle.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    names = ",".join(f"output_double_register_{i}" for i in range(48))
    with ur.client() as simulation:
        for _ in range(20):  # many recipes: 20 x 400 bytes per cycle
            assert idle.outputs("timestamp," + names)[0] > 0
        assert idle.ask("S") == b"\x01"
        reader.start("timestamp")
        while simulation.state["skipped"] == 0:
            reader.samples(25)
        stamps = [sample["timestamp"] for sample in reader.samples(50)]
    assert stamps[-1] - stamps[0] == pytest.approx(49 * 0.002)
