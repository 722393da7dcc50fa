"""The C reference of the LPC side, compiled against a stub of the callback and met by the driver over real sockets."""

import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

import numpy as np
import pytest
from comau_rig import ROBOT, free_udp_port
from driver_waits import collect, until

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.drivers.comau import wire as wire
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "robot_dynamics_ros" / "data" / "c5gopen_lpc"
PERIOD = 8000  # us: the ring of the LPC (64 packets) holds half a second in which this machine does something else
SLOW = ROBOT.model_copy(update={"sensing": ROBOT.sensing.model_copy(update={"sample_rate": 1e6 / PERIOD})})
FULL = (1 << 6) - 1


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    compiler = os.environ.get("CC", "gcc").split()[-1]
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler ({compiler})")
    out = tmp_path_factory.mktemp("lpc") / "lpc_stub"
    flags = "-std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -pthread".split()
    files = [str(SOURCES / "c5gopen_bridge.c"), str(Path(__file__).with_name("lpc_stub.c"))]
    subprocess.run([compiler, *flags, f"-I{SOURCES}", *files, "-lm", "-o", str(out)], check=True)
    return out


class Lpc:
    """A running stub; end() gives its counters."""

    def __init__(self, program, modality=wire.POS_ABSOLUTE):
        self.port = free_udp_port()
        arguments = [str(program), "127.0.0.1", str(self.port), str(PERIOD), str(modality)]
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def driver(self, **options):
        limits = {"safe_gap": 10.0, "degraded_gap": 10.0}
        return make_driver("comau", SLOW, "127.0.0.1", port=self.port, **(limits | options))

    def end(self):
        output, _ = self.process.communicate("", timeout=20)
        return json.loads(output)


@pytest.mark.realtime
def test_the_driver_moves_the_stub_and_every_state_is_there(program):
    lpc = Lpc(program)
    driver = lpc.driver(enable_commands=True)
    driver.connect()
    start = collect(driver, 50)[-1].q_d.copy()
    assert np.allclose(np.degrees(start), [0, 20, -70, 0, 85, 0])
    driver.play([start + 0.02], speed=0.02)  # less than the largest step: accepted whatever is lost in between
    samples = []
    while driver.motion.active:
        samples += collect(driver, 1)
    samples += collect(driver, 50)
    assert driver.motion.state == "done", driver.motion
    assert np.allclose(samples[-1].q, start + 0.02, atol=1e-6)
    counts = driver.statistics()
    driver.disconnect()
    final = lpc.end()
    assert counts.malformed == 0 and counts.missed <= final["dropped"]
    assert final["accepted"] > 20 and final["watchdog"] >= 1
    assert final["step"] == final["value"] == final["axes"] == 0


WRONG = {  # counter of the LPC -> a command that it must reject
    "step": {"mask": FULL, "position": (5.0, 20, -70, 0, 85, 0, 0, 0, 0, 0)},
    "value": {"mask": FULL, "position": (float("nan"), 20, -70, 0, 85, 0, 0, 0, 0, 0)},
    "axes": {"mask": 7, "position": (0.0, 20, -70, 0, 85, 0, 0, 0, 0, 0)},
    "mode": {"mask": FULL, "modality": wire.ADDITIVE_SB},
}


@pytest.mark.realtime
def test_commands_out_of_bounds_and_noise_are_counted_and_move_nothing(program):
    lpc = Lpc(program)
    driver = lpc.driver()
    driver.connect()
    here = collect(driver, 20)[-1].q.copy()
    outside = {"mask": FULL, "position": (0.0, 2000, -70, 0, 85, 0, 0, 0, 0, 0)}
    for command in (*WRONG.values(), outside):
        driver._link.send(wire.Command(0, **({"modality": wire.POS_ABSOLUTE} | command)))
        collect(driver, 20)
    rng = np.random.default_rng(4)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as noise:
        for size in (0, 1, 195, 196, 197, 1400):
            noise.sendto(rng.bytes(size), ("127.0.0.1", lpc.port))
            collect(driver, 10)
    assert np.array_equal(collect(driver, 10)[-1].q, here)
    driver.disconnect()
    final = lpc.end()
    assert {name: final[name] for name in WRONG} == {"step": 1, "value": 2, "axes": 1, "mode": 1}
    assert final["accepted"] == 0 and final["malformed"] == 6


@pytest.mark.long
@pytest.mark.realtime
def test_listening_moves_nothing(program):
    lpc = Lpc(program, modality=wire.LISTEN)
    driver = lpc.driver(enable_commands=True)
    driver.connect()
    here = collect(driver, 50)[-1].q_d.copy()
    with pytest.raises(CapabilityError, match="modality is listen"):
        driver.play([here + 0.1])
    step = tuple(np.degrees(here) + 0.1) + (0.0,) * 4
    driver._link.send(wire.Command(0, modality=wire.POS_ABSOLUTE, mask=FULL, position=step))  # past the driver's gate
    assert np.allclose(collect(driver, 100)[-1].q, here)
    driver.disconnect()
    assert lpc.end()["mode"] == 1


@pytest.mark.long
@pytest.mark.realtime
def test_an_lpc_that_dies_is_seen(program):
    lpc = Lpc(program)
    driver = lpc.driver(safe_gap=0.1, degraded_gap=0.05)
    driver.connect()
    collect(driver, 50)
    lpc.process.kill()
    lpc.process.wait()
    until(driver, lambda: driver.condition >= StreamState.safe)
    driver.disconnect()
    with pytest.raises(ConnectionFailed):
        lpc.driver().connect()
