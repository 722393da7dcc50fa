"""Faults, environment and ground truth of the simulated UR controller, and the life of its process."""

import itertools
import os
import signal
import socket

import numpy as np
import pytest
from ur_rig import Rig, steps

from bench.faults.ur_controller import FaultyProcess
from robot_dynamics_ros.errors import ConnectionFailed, RobotDynamicsError
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file.problems import validated
from robot_dynamics_ros.simulation.server import launcher
from robot_dynamics_ros.simulation.server.client import SimulationClient
from robot_dynamics_ros.simulation.server.launcher import SimulatedController, loopback_address
from robot_dynamics_ros.simulation.server.scenario import Scenario
from robot_dynamics_ros.simulation.ur.arm import Arm
from robot_dynamics_ros.simulation.ur.process import ControllerProcess, Settings

SIGNALS = "timestamp,actual_q,actual_current,target_q,safety_mode,robot_mode,actual_TCP_force,runtime_state"


@pytest.fixture
def rig():
    made = Rig(FaultyProcess)
    yield made
    made.process.hub.close()


@pytest.fixture
def reader(rig):
    return rig.rtde(SIGNALS)


def test_dropped_and_silent(rig, reader):
    def after(name, count, **fields):  # steps from the last sample read before the command
        last = reader.samples(1)
        rig.command(name, **fields)
        return steps(last + reader.samples(count)).tolist()

    assert set(steps(reader.samples(20))) == {1}
    assert after("drop", 5, next=3) == [4, 1, 1, 1, 1]
    gaps = np.array(after("drop", 200, probability=0.5))
    assert 50 < (gaps > 1).sum() < 150
    assert after("drop", 5) == [1] * 5
    assert after("stall", 3, seconds=0.1) == [50, 1, 1]


def test_frozen_values_have_fresh_stamps(rig, reader):
    rig.command("freeze")
    frozen = reader.samples(20)
    assert set(steps(frozen)) == {1} and len({tuple(s["actual_current"]) for s in frozen}) == 1
    rig.command("freeze", on=False)
    live = reader.samples(20)
    assert set(steps(live)) == {1} and len({tuple(s["actual_current"]) for s in live}) == 20


def test_nan_and_clock_steps(rig, reader):
    rig.command("nan", field="actual_q", element=2)
    assert np.isnan(reader.sample()["actual_q"]).tolist() == [False, False, True, False, False, False]
    rig.command("nan")
    assert np.isfinite(reader.sample()["actual_q"]).all()
    for seconds, cycles in ((-1.5, -749), (1.5, 751)):
        last = reader.samples(1)
        rig.command("clock_step", seconds=seconds)
        assert steps(last + reader.samples(3)).tolist() == [cycles, 1, 1]


def test_stops_and_how_they_are_released(rig, reader):
    modes = lambda sample: (sample["safety_mode"], sample["robot_mode"])  # noqa: E731
    rig.command("protective_stop")
    assert modes(reader.sample()) == (3, 7)
    assert "protective stop" in rig.state["messages"][-1]
    assert "5s" in rig.talk("dashboard", "unlock protective stop\n")[1]
    rig.controller.tick += 2500  # five seconds later
    rig.talk("dashboard", "unlock protective stop\n")
    assert modes(reader.latest()) == (1, 7)
    rig.command("emergency_stop")
    assert modes(reader.sample()) == (7, 3)
    rig.command("emergency_stop", pressed=False)
    assert modes(reader.sample()) == (1, 3)  # still without power
    rig.talk("dashboard", "power on\nbrake release\n")
    assert modes(reader.sample()) == (1, 7)


def test_external_wrench_is_known_exactly_and_felt(rig, reader):
    def mean(name):
        return np.mean([sample[name] for sample in reader.samples(100)], axis=0)

    rig.cycles(100)
    reader.latest()
    wrench = [3.0, -4.0, 25.0, 0.5, 0.0, -0.2]
    before, current = mean("actual_TCP_force"), mean("actual_current")
    rig.command("set_wrench", wrench=wrench)
    record = rig.truth(300)[-1]
    assert record["external_wrench"] == wrench
    for name, length in (("external_joint_torque", 6), ("friction_torque", 6), ("lubricant_temperature", 6)):
        assert len(record[name]) == length
    assert {"timestamp", "deflection", "q", "qd", "housing_temperature"} <= set(record)
    tau = RobotModel.load("ur5e").jacobian(np.array(record["q"])).T @ wrench
    assert np.array(record["external_joint_torque"]) == pytest.approx(tau, abs=1e-3)
    reader.latest()
    assert mean("actual_TCP_force") - before == pytest.approx(wrench, abs=0.3)
    # a force on the robot unloads the drives by J' F, give or take the friction that holds the joint
    assert (mean("actual_current") - current)[1] * 10.61 == pytest.approx(-tau[1], abs=8.2)


def test_environment_commands_change_the_plant(rig):
    rig.command("set_temperatures", lubricant=45.0, housing=40.0)
    rig.command("set_ambient", celsius=30.0)
    before = rig.truth(200)[-1]
    assert before["lubricant_temperature"] == pytest.approx([45.0] * 6, abs=1.0)
    rig.command("set_payload", mass=1.0, center=[0, 0, 0.05])
    assert np.abs(np.subtract(rig.truth(200)[-1]["deflection"], before["deflection"])).max() > 1e-6
    tool = RobotModel.load("ur5e").fk(np.array(rig.state["q"]))[-1][:3, 3]
    rig.command("set_wall", point=(tool + [0, 0, 0.001]).tolist(), normal=[0, 0, 1])
    assert rig.truth(1)[-1]["external_wrench"][2] > 5.0
    rig.command("clear_wall")
    assert rig.truth(1)[-1]["external_wrench"][2] == 0.0


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
def test_wrong_control_commands_are_refused(rig, name, fields, text):
    with pytest.raises(RobotDynamicsError, match=text):
        rig.command(name, **fields)


def test_polishing_presses_along_the_tool_axis_as_scheduled():
    arm, scenario, times, normal = Arm("ur5e"), Scenario("polishing"), np.arange(0.0, 23.0, 0.01), []
    for time in times:
        scenario.apply(arm, time)
        normal.append(arm.wrench[2])
    normal = np.array(normal)
    assert np.abs(normal[times < 5.9]).max() == 0  # free
    assert normal[(times > 7) & (times < 11)] == pytest.approx(30.0, abs=0.2)  # the tool points down
    assert np.abs(normal[(times > 12.1) & (times < 14.9)]).max() == 0
    assert normal[(times > 16.2) & (times < 18.8)] == pytest.approx(20.0, abs=0.2)
    assert np.abs(np.diff(normal)).max() < 3  # ramps, no steps


def test_same_seed_same_run():
    def packages(seed):
        rig = Rig(scenario="push", seed=seed)
        reader = rig.rtde(SIGNALS)
        return reader.samples(300)

    first, again, other = (packages(seed) for seed in (1, 1, 2))
    assert first == again
    assert any(a["actual_current"] != b["actual_current"] for a, b in zip(first, other, strict=True))


def test_wall_pushes_back():
    rig = Rig(scenario="wall")
    model, q = RobotModel.load("ur5e"), np.array(rig.state["q"])
    for _ in range(100):  # straight down by 50.5 mm
        q += np.linalg.solve(model.jacobian(q), [0, 0, -0.000505, 0, 0, 0])
    rig.talk("script", f"def press():\n\tmovej({q.round(6).tolist()}, a=0.5, v=0.1)\nend\n")
    rig.until(lambda: rig.state["program"] is not None)
    rig.until(lambda: rig.state["program"] is None)
    force = np.median([r["external_wrench"][2] for r in rig.truth(50)])
    assert rig.state["messages"] == [] and 2 < force < 20  # 0.5 mm into 20 kN/m
    rig.command("scenario", name="idle")
    assert rig.truth(1)[-1]["external_wrench"] == [0.0] * 6  # nothing touches the robot


WRONG = {"fr3": {"robot": "fr3"}, "polishing": {"scenario": "sunshine"}, "five": {"polyscope": "five"}}
WRONG |= {"speed": {"speed": float("nan")}, "300.0.0.1": {"host": "300.0.0.1"}, "99999": {"rtde_port": 99999}}


@pytest.mark.parametrize(("text", "wrong"), WRONG.items())
def test_wrong_settings_name_what_is_wrong(wrong, text):
    free = {"rtde_port": 0, "dashboard_port": 0, "script_port": 0}
    with pytest.raises(RobotDynamicsError, match=text):
        ControllerProcess(validated(Settings, free | wrong, "simulate"))


@pytest.mark.parametrize("left", [b"", b'{"ok": tr'])
def test_a_controller_that_goes_in_the_middle_of_a_line_is_one_error(left):
    with socket.create_server(("127.0.0.1", 0)) as server:
        with SimulationClient("127.0.0.1", server.getsockname()[1], 0) as client:
            peer, _ = server.accept()
            peer.sendall(left)
            peer.close()
            for _ in range(3):
                with pytest.raises(ConnectionFailed, match="the simulated controller has"):
                    client.command("state")


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_an_address_whose_port_is_taken_is_passed_over(kind, monkeypatch):
    def address():
        monkeypatch.setattr(launcher, "_candidates", itertools.count(os.getpid()))
        return loopback_address((5005,))

    with socket.socket(socket.AF_INET, kind) as taken:
        taken.bind((first := address(), 5005))
        if kind == socket.SOCK_STREAM:
            taken.listen()
        assert address() != first


# -- the process ------------------------------------------------------------------------------------------------------
def test_its_ports_answer_a_second_one_is_refused_them_and_a_kill_leaves_nothing_behind():
    host = loopback_address()
    with SimulatedController(host=host) as ur, ur.client() as simulation:
        assert ur.ports["rtde"] == 30004 and len(set(ur.ports.values())) == 5
        assert os.getpgid(ur.process.pid) != os.getpgid(0)  # Ctrl-C in the terminal is not for it
        assert simulation.wait(0.02) > 0.0 and next(simulation.truth())["q"]
        with pytest.raises(ConnectionFailed, match="rtde port"), SimulatedController(host=host):
            pass
        simulation.kill()
        with pytest.raises((ConnectionError, RobotDynamicsError)):
            simulation.command("state")
        assert ur.process.wait(60) == 137


def interrupt(process):
    os.kill(process.pid, signal.SIGINT)


def orphan(process):
    process.stdin.close()  # what a dying parent does
    process.stdin = None


@pytest.mark.parametrize("end", [interrupt, orphan])
def test_a_signal_and_the_end_of_its_parent_end_the_process_cleanly(end):
    with SimulatedController(host="127.0.0.1", rtde_port=0, dashboard_port=0, script_port=0) as ur:
        end(ur.process)
        ur.process.communicate(timeout=60)
        assert (ur.process.returncode, ur.errors) == (0, "")


LOUD = """
import sys
from robot_dynamics_ros import _core
class Loud(_core.Plant):
    def __init__(self, robot, chain, nominal, true, seed):
        super().__init__(chain, nominal, true, seed=seed)
    def cycle_position(self, *command):
        print("x" * 100_000)
        print("y" * 100_000, file=sys.stderr)
        return super().cycle_position(*command)
"""


def test_what_a_plant_prints_does_not_stop_the_robot(tmp_path, monkeypatch):
    """More than a pipe holds."""
    (tmp_path / "loud.py").write_text(LOUD)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    ports = {"rtde_port": 0, "dashboard_port": 0, "script_port": 0}
    with SimulatedController(host="127.0.0.1", plant="loud:Loud", **ports) as ur, ur.client() as simulation:
        assert simulation.wait(0.004) > 0.0
        assert "x" * 100_000 in ur.errors and "y" * 100_000 in ur.errors
