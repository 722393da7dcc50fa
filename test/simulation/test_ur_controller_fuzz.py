"""Nothing a client sends may raise inside the simulated controller or leave it with numbers that are not numbers."""

import json
import random
import struct
import tracemalloc

import numpy as np
import pytest
from fuzz import SEED, tries
from ur_rig import Pipe, Rig

from bench.faults.ur_controller import FaultyProcess
from robot_dynamics_ros.simulation.ur import rtde_wire as wire
from robot_dynamics_ros.simulation.ur.commands import COMMANDS
from robot_dynamics_ros.simulation.ur.dashboard import REPLIES, Dashboard
from robot_dynamics_ros.simulation.ur.script import ScriptReceiver
from robot_dynamics_ros.simulation.ur.urscript import MAX_DEPTH

TRIES = tries(100)
ODD = [0.0, -1.0, 1.0, 0.3, -2.7, 1e-300, 1e300, -1e308, float("nan"), float("inf"), 5e-324, 1e9]
LOOP = "def rtde_control():\n def process_cmd(cmd):\n  elif cmd == 66:\n   direct_torque({})\n end\nend\n"


@pytest.fixture
def process():
    running = Rig(FaultyProcess).process
    yield running
    running.hub.close()


@pytest.fixture
def client(process):
    pipe = Pipe(process.rtde)
    process.rtde.received(pipe, wire.pack_packet(ord("V"), b"\x00\x02"))
    return pipe


def cycles(process, count: int) -> None:
    for _ in range(count):
        process.cycle()
    controller = process.controller
    assert np.all(np.isfinite(controller.arm.q)) and np.all(np.isfinite(controller.target))
    wire.Recipe(1, wire.OUTPUTS, wire.OUTPUTS).pack(process.signals.values)


def test_packets(process, tried):
    tried("packets, scripts and lines to the simulated UR", 5 * TRIES)
    rng = random.Random(SEED + 11)
    names = [*wire.OUTPUTS, *wire.INPUTS, "", "nonsense"]
    for _ in range(5 * TRIES):
        pipe = Pipe(process.rtde)
        for _ in range(rng.randrange(1, 8)):
            if not pipe.open:
                break
            chosen = ",".join(rng.choices(names, k=rng.randrange(6))).encode()
            frequency = struct.pack(">d", rng.choice([*ODD, 125.0, 500.0]))
            body = rng.choice([chosen, frequency + chosen, rng.randbytes(rng.randrange(30)), b"\x00\x02", b"\x00\x01"])
            packet = struct.pack(">HB", len(body) + 3, rng.choice(b"VvOISPUMa\x00")) + body
            process.rtde.received(pipe, packet if rng.random() < 0.95 else rng.randbytes(20))
        process.rtde.closed(pipe)
    cycles(process, 2)


@pytest.mark.parametrize("name", ["actual_q", "a", "payload_inertia", "input_int_register_0"])
@pytest.mark.parametrize("kind", ["O", "I"])
def test_name_lists_as_long_as_a_packet(process, client, kind, name):
    body = (b"\x40\x5f\x40\x00\x00\x00\x00\x00" if kind == "O" else b"") + (name + ",").encode() * 65536
    process.rtde.received(client, struct.pack(">HB", 65535, ord(kind)) + body[:65532])
    process.rtde.received(client, wire.pack_packet(ord("S")))
    cycles(process, 2)


def test_commands_with_any_number(process, client, tried):
    tried("packets, scripts and lines to the simulated UR", TRIES)
    rng = random.Random(SEED + 12)
    doubles = [f"input_double_register_{i}" for i in range(18)]
    integers = [f"input_int_register_{i}" for i in range(8)]
    process.rtde.received(client, wire.pack_packet(ord("I"), ",".join(integers + doubles).encode()))
    for _ in range(TRIES):
        if process.controller.program is None:
            process.controller.safety.__init__()
            process.controller.upload(LOOP.format("[0,0,0,0,0,0]" if rng.random() < 0.1 else "torque"))
            process.controller.upload(LOOP.format("q_from_input_float_registers(0)"))
            cycles(process, 12)
        numbers = [rng.choice([rng.choice(ODD), rng.uniform(-1, 1)]) for _ in doubles]
        if rng.random() < 0.5:
            numbers = [rng.uniform(0, 1) for _ in doubles]
        flags = [rng.choice([0, 1, 2, -1, 2**31 - 1, -(2**31)]) for _ in integers[1:]]
        body = struct.pack(">B8i18d", 1, rng.choice([*COMMANDS, 99, 255]), *flags, *numbers)
        process.rtde.received(client, wire.pack_packet(ord("U"), body))
        cycles(process, rng.randrange(1, 25))
        process.rtde.received(client, wire.pack_packet(ord("U"), struct.pack(">Bi", 1, 0)))
        cycles(process, 1)


def test_scripts(process, tried):
    tried("packets, scripts and lines to the simulated UR", TRIES)
    rng = random.Random(SEED + 13)
    statements = ["movej", "movel", "stopj", "sleep", "set_payload", "write_output_integer_register", "set_tcp", "x"]
    pose = "[" + "1" * 5000 + "]"
    texts = [
        f"def a():\n movej({pose})\n movej([{'1' * 40}x\n direct_torque([{'1' * 3000}x)\nend\n",
        "def a():\n movej(p[9,9,9,0,0,0],a=1,v=1,r=0)\n movej(p[8,9,9,0,0,0])\nend\n",
        "def a():\n sleep(" + "e" * 100_000 + ")\nend\n",
        "def a():\n write_output_integer_register(0, 99999999999)\nend\n",
        "def a():\n write_output_integer_register(0, 1e999)\nend\n",
        "def a():\n write_output_float_register(999, 1)\nend\n",
        "def a():\n movej([1e300,0,0,0,0,0],a=1e300,v=1e300)\nend\n",
        "def a():\n direct_torque(a=[1,2],torque=,[,viscous_scale=1)\nend\n",
        LOOP.format("q_from_input_float_registers(99999999999999999999)"),
        LOOP.format("1,2,3,4,5,6,7"),
        "\xff\x00 end\nend\n" * 10,
    ]
    for _ in range(TRIES):
        arguments = ",".join(rng.choice([repr(rng.choice(ODD)), "[0,1", "p[1,2,3,4,5,6]", "a=2", ""]) for _ in range(3))
        texts.append(f"def b():\n {rng.choice(statements)}({arguments})\n {rng.choice(statements)}(0.1)\nend\n")
    for text in texts:
        process.controller.safety.__init__()
        for script in ScriptReceiver().feed(text.encode("utf-8", "replace")):
            process.controller.upload(script)
        cycles(process, 14)


def test_control_lines(process, tried):
    tried("packets, scripts and lines to the simulated UR", 10 * TRIES)
    rng = random.Random(SEED + 14)
    fields = ["seconds", "wrench", "mass", "center", "point", "normal", "stiffness", "celsius", "lubricant", "field",
              "next", "probability", "factor", "name", "on", "pressed", "element", "housing"]  # fmt: skip
    values = [*ODD, None, True, "x", [], [1] * 3, [1e9] * 6, [float("nan")] * 3, {}, "actual_q", 10**400]
    commands = [name for name in process.control.commands if name not in ("kill", "stall")]
    lines = ["[" * 100_000, '{"a":' * 50_000, "null", "[1]", '"x"', "{}", '{"command": null}', "\ud800"]
    for _ in range(10 * TRIES):
        chosen = {rng.choice(fields): rng.choice(values) for _ in range(rng.randrange(4))}
        lines.append(json.dumps({"command": rng.choice(commands)} | chosen))
    for k, line in enumerate(lines):
        json.dumps(process.control.execute(line))
        if k % 10 == 0:
            process.controller.safety.__init__()
            cycles(process, 2)


def test_dashboard_lines(process, tried):
    tried("packets, scripts and lines to the simulated UR", 10 * TRIES)
    rng, dashboard = random.Random(SEED + 15), Dashboard(process.controller, wire.Version(), "UR5E")
    for _ in range(10 * TRIES):
        line = rng.choice([*REPLIES, "", " ", "\x00"]) + rng.choice(["", " x", "\t", "  y z", "\x00"])
        assert "\n" not in dashboard.reply(line)
    cycles(process, 20)


@pytest.mark.parametrize(
    "expression", ['"x" * 10000000', "[1] * 10000000", '"x%10000000d" % 1', "[1, 2] + [3]", "[[1], [2]]", "1e15 * 1e15"]
)
def test_arithmetic_of_a_program_is_bounded_before_it_is_done(process, expression):
    """What would fill the memory: the program ends with a reason, and nothing of its size was made."""
    script = f"def a():\n x = {expression}\n while True:\n  direct_torque([0,0,0,0,0,0])\n end\nend\n"
    tracemalloc.start()
    for text in ScriptReceiver().feed(script.encode()):
        process.controller.upload(text)
    cycles(process, 14)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()
    assert process.controller.program is None


@pytest.mark.parametrize("chain", [False, True])
@pytest.mark.parametrize("head", ["while True:", "if True:"])
@pytest.mark.parametrize("deeper", [0, 1, 900])
def test_blocks_are_nested_as_deep_as_stated_and_no_deeper(process, head, chain, deeper):
    inner = MAX_DEPTH - 2 + deeper  # within the while and one head
    many = "if False:\n" + "elif False:\n" * (inner - 2) + "elif True:\n" if chain else f"{head}\n" * inner
    ends = "end\n" * (4 if chain else inner + 3)
    process.controller.upload(f"def a():\n while True:\n{head}\n{many}direct_torque([0,0,0,0,0,0])\n{ends}")
    cycles(process, 14)
    assert (process.controller.program is None) == bool(deeper)
    assert not deeper or f"nested more than {MAX_DEPTH} deep" in process.controller.messages[-1]
