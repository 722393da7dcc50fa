"""Faults, environment, ground truth and the life of the process of the simulated UR controller."""

import itertools
import json
import os
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest

from robot_dynamics_ros.errors import ConnectionFailed, RobotDynamicsError
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.simulation.server.launcher import SimulatedUR, loopback_address
from robot_dynamics_ros.simulation.server.scenario import Scenario
from robot_dynamics_ros.simulation.ur import faults
from robot_dynamics_ros.simulation.ur.arm import Arm
from robot_dynamics_ros.simulation.ur.controller import Controller
from robot_dynamics_ros.simulation.ur.process import ControllerProcess, Settings
from robot_dynamics_ros.simulation.ur.programs import load_program

SIGNALS = "timestamp,actual_q,actual_current,target_q,safety_mode,robot_mode,actual_TCP_force,runtime_state"


@pytest.fixture(scope="module")
def running():
    with SimulatedUR() as ur, ur.client() as simulation:
        yield ur, simulation


@pytest.fixture
def reader(running, raw_rtde):
    client = raw_rtde(running[0].host)
    client.start(SIGNALS)
    client.samples(2)
    return client


def steps(samples: list[dict]) -> np.ndarray:
    """Timestamp differences in cycles."""
    return np.round(np.diff([sample["timestamp"] for sample in samples]) / 0.002, 3)


def until(reader, condition, limit=2000) -> dict:
    """First sample that meets a condition."""
    for sample in (reader.sample() for _ in range(limit)):
        if condition(sample):
            return sample
    raise AssertionError("no such sample")


@pytest.mark.realtime
def test_dropped_duplicated_and_silent(running, reader):
    _, simulation = running

    def after(name, count, **fields):  # steps from the last sample read before the command
        last = reader.samples(1)
        simulation.command(name, **fields)
        return steps(last + reader.samples(count))

    assert set(steps(reader.samples(50))) == {1}
    assert 4 in after("drop", 100, next=3)
    gaps = after("drop", 200, probability=0.5)
    assert 50 < (gaps > 1).sum() < 150
    assert set(after("drop", 200)[-50:]) == {1}
    assert (after("duplicate", 100, next=2) == 0).sum() == 2
    assert after("stall", 200, seconds=0.1).max() >= 50
    assert set(steps(reader.samples(50))) == {1}


@pytest.mark.realtime
def test_frozen_values_have_fresh_stamps(running, reader):
    _, simulation = running
    simulation.command("freeze")
    simulation.wait(0.1)
    frozen = [sample["actual_current"] for sample in reader.samples(300)[-50:]]
    simulation.command("freeze", on=False)
    assert all(current == frozen[0] for current in frozen)
    simulation.wait(0.1)
    live = reader.samples(300)[-50:]
    assert set(steps(live)) == {1}
    assert len({tuple(sample["actual_current"]) for sample in live}) == 50


@pytest.mark.realtime
def test_nan_and_clock_steps(running, reader):
    _, simulation = running
    simulation.command("nan", field="actual_q", element=2)
    sample = until(reader, lambda s: np.isnan(s["actual_q"]).any())
    assert np.isnan(sample["actual_q"]).tolist() == [False, False, True, False, False, False]
    simulation.command("nan")
    until(reader, lambda s: not np.isnan(s["actual_q"]).any())
    for seconds, cycles in ((-1.5, -749), (1.5, 751)):
        last = reader.samples(1)
        simulation.command("clock_step", seconds=seconds)
        assert cycles in steps(last + reader.samples(300))


@pytest.mark.realtime
def test_stops_and_how_they_are_released(running, reader):
    ur, simulation = running
    simulation.command("protective_stop")
    assert until(reader, lambda s: s["safety_mode"] == 3)["robot_mode"] == 7
    assert any("protective stop" in message for message in simulation.state["messages"])
    simulation.command("emergency_stop")
    assert until(reader, lambda s: s["safety_mode"] == 7)["robot_mode"] == 3
    simulation.command("emergency_stop", pressed=False)
    until(reader, lambda s: (s["safety_mode"], s["robot_mode"]) == (1, 3))  # still without power
    with socket.create_connection((ur.host, ur.ports["dashboard"]), 10) as dashboard:
        dashboard.sendall(b"power on\nbrake release\n")
        until(reader, lambda s: s["robot_mode"] == 7)


@pytest.mark.realtime
def test_external_wrench_is_known_exactly_and_felt(running, reader):
    ur, simulation = running
    wrench = [3.0, -4.0, 25.0, 0.5, 0.0, -0.2]
    until(reader, lambda s: s["safety_mode"] == 1)
    before = np.mean([s["actual_TCP_force"] for s in reader.samples(200)[-100:]], axis=0)
    current = np.mean([s["actual_current"] for s in reader.samples(100)], axis=0)
    simulation.command("set_wrench", wrench=wrench)
    with ur.client() as observer:
        record = next(r for r in observer.truth() if r["external_wrench"] == wrench)
        late = next(itertools.islice(observer.truth(), 300, None))
    samples = reader.samples(400)[-100:]
    simulation.command("set_wrench", wrench=[0] * 6)
    for name, length in (("external_joint_torque", 6), ("friction_torque", 6), ("lubricant_temperature", 6)):
        assert len(record[name]) == length
    assert {"timestamp", "deflection", "q", "qd", "housing_temperature"} <= set(record)
    tau = RobotModel.load("ur5e").jacobian(np.array(late["q"])).T @ wrench
    assert np.array(late["external_joint_torque"]) == pytest.approx(tau, abs=1e-3)
    force = np.mean([s["actual_TCP_force"] for s in samples], axis=0)
    assert force - before == pytest.approx(wrench, abs=0.3)
    # a force on the robot unloads the drives by J' F, give or take the friction that holds the joint
    change = np.mean([s["actual_current"] for s in samples], axis=0) - current
    assert change[1] * 10.61 == pytest.approx(-tau[1], abs=8.2)


@pytest.mark.realtime
def test_environment_commands_change_the_plant(running):
    _, simulation = running
    simulation.command("set_temperatures", lubricant=45.0, housing=40.0)
    simulation.command("set_ambient", celsius=30.0)
    simulation.command("set_payload", mass=1.0, center=[0, 0, 0.05])
    point = [0.0, 0.0, -2.0]
    simulation.command("set_wall", point=point, normal=[0, 0, 1])
    simulation.command("clear_wall")
    simulation.wait(0.05)
    record = next(itertools.islice(simulation.truth(), 200, None))
    assert record["lubricant_temperature"] == pytest.approx([45.0] * 6, abs=1.0)
    simulation.command("set_payload", mass=0.0)


@pytest.mark.realtime
@pytest.mark.parametrize(
    "name, fields, text",
    [
        ("nothing", {}, "unknown command"),
        ("set_wrench", {"wrench": [1, 2]}, "6 finite numbers"),
        ("set_wrench", {"wrench": [float("nan")] * 6}, "6 finite numbers"),
        ("drop", {"probability": 2.0}, "outside 0..1"),
        ("nan", {"field": "robot_mode"}, "cannot hold NaN"),
        ("nan", {"field": "no_such_field"}, "no_such_field"),
        ("set_wall", {"point": [0, 0, 0], "normal": [0, 0, 0]}, "normal"),
        ("scenario", {"name": "sunshine"}, "polishing"),
        ("stall", {"minutes": 3}, "minutes"),
        ("speed", {"factor": 0}, "0.01"),
        ("wait", {"seconds": float("nan")}, "seconds"),
    ],
)
def test_wrong_control_commands_are_refused(running, name, fields, text):
    with pytest.raises(RobotDynamicsError, match=text):
        running[1].command(name, **fields)


def simulated(scenario: str, seconds: float, seed: int = 0) -> list[dict]:
    """Ground truth of every 10th cycle, without sockets."""
    controller, environment, records = Controller(Arm("ur5e", seed), load_program), Scenario(scenario), []
    for cycle in range(round(seconds / 0.002)):
        environment.apply(controller.arm, controller.time)
        controller.step()
        if cycle % 10 == 0:
            records.append(
                {"timestamp": controller.time} | controller.arm.truth() | {"current": controller.arm.current}
            )
    return records


def test_polishing_presses_along_the_tool_axis_as_scheduled():
    records = simulated("polishing", 23.0)
    times = np.array([r["timestamp"] for r in records])
    normal = np.array([r["external_wrench"][2] for r in records])
    assert np.abs(normal[times < 5.9]).max() == 0  # free
    assert normal[(times > 7) & (times < 11)] == pytest.approx(30.0, abs=0.2)  # the tool points down
    assert np.abs(normal[(times > 12.1) & (times < 14.9)]).max() == 0
    assert normal[(times > 16.2) & (times < 18.8)] == pytest.approx(20.0, abs=0.2)
    assert np.abs(np.diff(normal)).max() < 3  # ramps, no steps


def test_same_seed_same_run():
    first, again, other = (simulated("push", 6.0, seed) for seed in (1, 1, 2))
    for name in first[0]:
        assert all(np.array_equal(a[name], b[name]) for a, b in zip(first, again, strict=True)), name
    assert any(not np.array_equal(a["current"], b["current"]) for a, b in zip(first, other, strict=True))


@pytest.mark.realtime
def test_wall_pushes_back():
    with SimulatedUR(scenario="wall", speed=5) as ur, ur.client() as simulation:
        start = simulation.state["q"]
        pose = RobotModel.load("ur5e").fk(np.array(start))[-1]
        down = [*(pose[:3, 3] - [0, 0, 0.0505]).round(6).tolist(), 2.221441, -2.221441, 0.0]
        with socket.create_connection((ur.host, ur.ports["script"]), 10) as port:
            port.sendall(f"def press():\n\tmovel(p{down}, a=0.5, v=0.05)\nend\n".encode())
            while simulation.state["program"] is None:
                simulation.wait(0.01)
            while simulation.state["program"] is not None:
                simulation.wait(0.05)
        forces = [r["external_wrench"][2] for r in itertools.islice(simulation.truth(), 50)]
        assert simulation.state["messages"] == []
    assert 2 < np.median(forces) < 20  # 0.5 mm into 20 kN/m


@pytest.mark.realtime
def test_kill_leaves_no_chance_to_say_goodbye(raw_rtde):
    with SimulatedUR() as ur:
        client = raw_rtde(ur.host)
        client.start(SIGNALS)
        with ur.client() as simulation:
            simulation.kill()
            with pytest.raises((ConnectionError, RobotDynamicsError)):
                simulation.command("state")
        with pytest.raises(ConnectionError):
            client.samples(10_000)
        assert ur.process.wait(10) == 137


@pytest.mark.realtime
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_process_cleanly(number):
    with SimulatedUR() as ur:
        os.kill(ur.process.pid, number)
        out, errors = ur.process.communicate(timeout=10)
        assert (ur.process.returncode, errors) == (0, "")


@pytest.mark.realtime
def test_it_ends_with_the_process_that_started_it():
    with SimulatedUR() as ur:
        ur.process.stdin.close()  # what a dying parent does
        ur.process.stdin = None
        assert ur.process.wait(10) == 0


def simulate(*arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "robot_dynamics_ros.cli.main", "simulate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=30)


@pytest.mark.realtime
def test_wrong_starts_are_one_line_and_status_1(running):
    for arguments, text in (
        (("ur5e", "--host", running[0].host), "RTDE port"),
        (("r2d2", "--host", loopback_address()), "r2d2"),
    ):
        wrong = simulate(*arguments)
        assert wrong.returncode == 1 and text in wrong.stderr
        assert len(wrong.stderr.strip().splitlines()) == 1, wrong.stderr
    with pytest.raises(ConnectionFailed, match="sunshine"), SimulatedUR(scenario="sunshine"):
        pass


@pytest.mark.parametrize(
    "wrong, text",
    [
        ({"robot": "fr3"}, "fr3"),
        ({"scenario": "sunshine"}, "polishing"),
        ({"version": "five"}, "five"),
        ({"speed": float("nan")}, "speed"),
        ({"host": "300.0.0.1"}, "300.0.0.1"),
        ({"rtde_port": 99999}, "99999"),
    ],
)
def test_wrong_settings_name_what_is_wrong(wrong, text):
    free = {"rtde_port": 0, "dashboard_port": 0, "script_port": 0}
    with pytest.raises(RobotDynamicsError, match=text):
        ControllerProcess(Settings(**(free | wrong)))


@pytest.mark.realtime
def test_free_ports_are_taken_and_printed():
    with SimulatedUR(host="127.0.0.1", rtde_port=0, dashboard_port=0, script_port=0) as ur:
        assert len(set(ur.ports.values())) == 5 and all(port > 1023 for port in ur.ports.values())


def test_every_control_command_has_its_documentation():
    assert all(handler.__doc__ for handler in faults.COMMANDS.values())
    json.dumps(list(faults.COMMANDS))
