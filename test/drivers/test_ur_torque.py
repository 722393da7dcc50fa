"""Torque into the simulated controller, over sockets; what is refused and how it ends."""

import numpy as np
import pytest

from bench.faults.socket_bench import Arm
from bench.faults.ur_controller import FaultyController
from robot_dynamics_ros import _core
from robot_dynamics_ros._core import EnableResult, GuardState, TorqueMode, same_payload
from robot_dynamics_ros.drivers.guard import guard_limits, refuse_semantics, refuse_torque
from robot_dynamics_ros.drivers.ur.torque import PROGRAM
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.ur.arm import Arm as SimulatedArm
from robot_dynamics_ros.simulation.ur.commands import load_program
from robot_dynamics_ros.simulation.ur.controller import Controller
from robot_dynamics_ros.trajectories.smooth import through

ROBOT = load_robot("ur5e")


@pytest.mark.realtime
def test_a_trajectory_is_followed_and_torque_mode_ends_in_position_control():
    with FaultyController("ur5e", lockstep=True) as ur, ur.client() as simulation:
        arm = Arm(ur.host, ROBOT, {"time_scale": 0.01})
        driver, loop = arm.driver, arm.loop
        try:
            assert arm.read(120.0, arm.known)
            q = driver.sample.q.copy()
            path = through(np.vstack([q, q + 0.2, q]), velocity=1.0, acceleration=2.0)
            driver.start_torque()
            loop.enable(TorqueMode.track, _core.TorqueTrajectory(path.q, path.qd, path.qdd))
            stopped = (GuardState.safe, GuardState.fault)  # degraded: one late state, torque flows on
            arm.read(120.0, lambda: loop.enabled != EnableResult.pending and (loop.finished or loop.state in stopped))
            assert loop.finished and loop.state not in stopped, (loop.state, loop.reason)
            records = list(driver.records)
            moved = max(np.abs(r["q"] - q).max() for r in records)
            assert moved > 0.15 and max(np.abs(r["q"] - r["q_d"]).max() for r in records[-200:]) < 0.05
            loop.disable()
            assert arm.read(120.0, lambda: not (driver.status.program_running and simulation.state["torque_mode"]))
        finally:
            arm.close()


def controller_in_torque_mode():
    controller = Controller(SimulatedArm("ur5e"), load_program)
    controller.upload(PROGRAM)
    beat = 0
    for _ in range(100):
        beat += 1
        controller.write_inputs({"input_int_register_24": (beat,), "input_int_register_25": (1,)})
        controller.step()
    assert controller.torque_mode and controller.registers.values["output_int_register_24"] == (1,)
    return controller


def commanded_twenty():
    """The controller with 20 Nm for its first joint, and a list of what its program commands there from now on."""
    controller, torques = controller_in_torque_mode(), []
    controller.write_inputs({"input_double_register_24": (20.0,)})
    command = controller.command_torque
    controller.command_torque = lambda torque, *scales: (torques.append(torque[0]), command(torque, *scales))
    return controller, torques


def test_the_torque_program_ends_in_a_stop_when_the_heartbeat_is_missing():
    controller, torques = commanded_twenty()
    for _ in range(40):
        controller.step()
    assert torques[:3] == [20.0] * 3 and torques[-1] < 2.0 and len(torques) == 25
    for _ in range(500):
        controller.step()
    assert not controller.torque_mode and controller.program is None and np.abs(controller.arm.qd).max() < 0.05


def test_the_torque_program_ramps_in_again_when_heartbeats_come_back():
    """Heartbeats missing again and again: the torque changes by no more than a step of the ramp in a cycle."""
    controller, torques = commanded_twenty()
    beat, random = 1000, np.random.default_rng(0)
    for missing in [0, 24, *random.integers(0, 25, 40)]:
        for _ in range(missing):
            controller.step()
        for _ in range(random.integers(1, 30)):
            beat += 1
            controller.write_inputs({"input_int_register_24": (beat,)})
            controller.step()
    assert controller.torque_mode and min(torques[3:]) < 2.0 and max(torques) == 20.0
    assert 0.0 <= min(torques) and np.abs(np.diff(torques)).max() <= 20.0 / 22 + 1e-9


def test_the_torque_program_ends_on_command():
    controller = controller_in_torque_mode()
    controller.write_inputs({"input_int_register_25": (0,)})
    for _ in range(300):
        controller.step()
    assert not controller.torque_mode and controller.program is None


def test_a_program_without_a_wait_is_stopped_and_an_unknown_call_refused():
    controller = Controller(SimulatedArm("ur5e"), load_program)
    loops = (("x = 1\n  while True:\n  x = 2\n  end", "infinite loop"), ("while True:\n  foo()\n  end", "foo"))
    for body, message in loops:
        controller.upload(f"def p():\n  {body}\n  direct_torque([0,0,0,0,0,0])\nend\n")
        for _ in range(30):
            controller.step()
        assert controller.program is None and message in controller.messages[-1]


class Status:
    safety_normal, safety_text, payload, payload_com = True, "normal", 0.0, (0.0, 0.0, 0.0)
    drives_hold = True


class Info:
    capabilities, version = frozenset({"torque"}), "5.26.0"


def test_torque_is_refused_with_the_reason():
    refuse_torque(ROBOT, Info, Status)
    old = type("Old", (), {"capabilities": frozenset(), "version": "5.11.0"})
    with pytest.raises(CapabilityError, match="5.26"):
        refuse_torque(ROBOT, old, Status)
    with pytest.raises(CapabilityError, match="payload is unset"):
        refuse_torque(ROBOT, Info, type("S", (Status,), {"payload": float("nan")}))
    with pytest.raises(CapabilityError, match=r"payload is 2 kg on the controller"):
        refuse_torque(ROBOT, Info, type("S", (Status,), {"payload": 2.0}))
    assert [same_payload(10.0, kg) for kg in (9.74, 9.76, 10.24, 10.26)] == [False, True, True, False]
    with pytest.raises(CapabilityError, match=r"limits\.torque"):
        guard_limits(ROBOT.with_updates({"limits.torque": None}))
    with pytest.raises(CapabilityError, match="takes no torque"):
        refuse_torque(load_robot("comau_ns16"), Info, Status)


def test_effort_that_is_not_what_the_file_says_is_refused():
    gravity = np.array([0, -40.0, -12, 1, 0, 0])
    friction = np.full(6, 5.0)
    refuse_semantics(ROBOT, gravity + 3.0, gravity, friction)
    for wrong in (-gravity, gravity / 10.0, np.zeros(6)):
        with pytest.raises(CapabilityError, match="shoulder_lift_joint"):
            refuse_semantics(ROBOT, wrong, gravity, friction)
