"""Commands of the control script, carried out in process: the register handshake, every command, torque and contact."""

import numpy as np
import pytest
from ur_session import SCRIPT, Session

from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.simulation.server.scenario import SCENARIOS
from robot_dynamics_ros.simulation.ur.arm import START
from robot_dynamics_ros.simulation.ur.commands import COMMANDS
from robot_dynamics_ros.simulation.ur.process import ControllerProcess

HOME = np.array(START)
# id -> doubles and integers (from register 1 on) that make sense; everything else runs with zeros
DOUBLES = {1: [*HOME, 1.0, 4.0], 11: [*HOME, 0, 0, 0.002, 0.1, 300], 16: [4.0], 34: [4.0], 35: [2.0]}
DOUBLES[65] = [1.0, 0.0, 0.0, 0.05, 0.01, 0.01, 0.01, 0, 0, 0]


@pytest.fixture
def session():
    return Session()


@pytest.mark.parametrize("identifier", sorted(COMMANDS))
def test_every_command_runs_and_the_loop_is_ready_again(session, identifier):
    session.do(identifier, DOUBLES.get(identifier, [0.0] * 18), [] if identifier in DOUBLES else [0] * 7)
    assert not session.controller.messages
    assert session.controller.program is not None
    session.until(lambda: session.out(0) == 1)
    assert session.controller.safety.may_move


@pytest.mark.parametrize("robot", ["ur3", "ur5", "ur10", "ur3e", "ur5e", "ur10e", "ur16e"])
def test_every_ur_arm_holds_and_moves(robot):
    session = Session(robot)
    session.do(1, [*(HOME + 0.1), 1.0, 4.0], [0])
    session.step(250)
    assert session.controller.arm.q == pytest.approx(HOME + 0.1, abs=5e-3)
    assert not session.controller.messages


def test_a_command_runs_once_and_waits_to_be_cleared(session):
    session.write(1, [*(HOME + 0.1), 2.0, 8.0], [0])
    session.until(lambda: session.out(0) == 2)
    reached = session.controller.target[0]
    session.write(1, [*HOME, 2.0, 8.0], [0])  # still executing: ignored
    session.step(50)
    assert session.out(0) == 2 and np.array_equal(session.controller.target[0], reached)
    session.write(0)
    session.step()
    assert session.out(0) == 1


def test_stop_script_and_unknown_commands(session):
    session.write(98)
    session.step(3)
    assert session.out(0) == 2 and "98 is not simulated" in session.controller.messages[-1]
    session.write(0)
    session.step()
    session.write(255)
    session.step(3)
    assert session.controller.program is None and session.controller.runtime_state == 1


def test_asynchronous_progress_follows_the_client_s_bits(session):
    session.do(1, [*(HOME + 0.1), 2.0, 8.0], [1])
    running = session.out(2)
    assert running >> 15 & 1 and running & 0x7FFF == 0
    session.until(lambda: not session.out(2) >> 15 & 1)
    assert session.out(2) >> 24 == running >> 24  # the same operation, finished
    assert session.controller.target[0] == pytest.approx(HOME + 0.1)


def test_direct_torque_holds_against_gravity_and_a_missed_cycle_ends_it(session):
    session.torque([0.0] * 6, 200)
    controller = session.controller
    assert controller.torque_mode and np.abs(controller.arm.q - HOME).max() < 0.02
    model = RobotModel.load("ur5e")
    assert controller.arm.target_moment == pytest.approx(model.gravity(controller.arm.q), abs=0.1)
    session.torque([0, 0, 0, 0, 0, 6.0], 100)
    assert controller.arm.qd[5] > 0.2
    session.step()
    assert not controller.torque_mode
    session.step(200)
    assert np.abs(controller.target[1]).max() == 0 and controller.safety.may_move


def test_a_move_straight_out_of_torque_mode_reaches_its_target(session):
    session.torque([0, 0, 0, 0, 0, 6.0], 60)
    session.do(1, [*HOME, 1.5, 8.0], [0])
    assert session.controller.target[0] == pytest.approx(HOME, abs=1e-9)


def test_a_joint_driven_too_fast_stops_protectively(session):
    while session.controller.safety.may_move:
        session.torque([0, 0, 0, 0, 0, 28.0], 1)
    assert "speed limit" in session.controller.messages[-1]
    session.step(500)
    assert np.abs(session.controller.arm.qd).max() < 0.05


@pytest.mark.parametrize("acceleration", [40.0, 1e5])
def test_a_move_beyond_a_speed_limit_stops_protectively(session, acceleration):
    """It brakes from the last target within the limit; from the first one beyond it brakes for minutes."""
    session.write(1, [*(HOME + [2.0, 0, 0, 0, 0, 0]), 10.0, acceleration], [0])
    session.until(lambda: not session.controller.safety.may_move)
    assert "target speed exceeds" in session.controller.messages[-1]
    session.step(500)
    assert np.abs(session.controller.arm.qd).max() < 0.05


def test_watchdog_lets_go_with_its_program(session):
    session.do(35, [10.0])
    for _ in range(20):
        session.write(0)
        session.step(40)
    assert session.controller.program is not None
    session.step(51)
    assert session.controller.program is None
    assert "watchdog" in session.controller.messages[-1]
    session.write(0)
    session.controller.upload(SCRIPT)
    session.step(500)
    assert session.controller.program is not None  # removed with the program it belonged to


def test_a_hard_collision_stops_protectively(session):
    arm = session.controller.arm
    start = arm.flange(arm.q)[:3, 3]
    arm.simulated.set_wall(start - [0, 0, 0.005], (0, 0, 1), 1e5, 100.0, 0.0)
    session.write(1, [*(HOME + [0, 0.2, 0, 0, 0, 0]), 1.0, 4.0], [0])
    session.until(lambda: not session.controller.safety.may_move)
    assert "tool force" in session.controller.messages[-1]


@pytest.mark.parametrize("identifier", [17, 65])
def test_configured_and_mounted_payload_are_two_things(session, identifier):
    arm = session.controller.arm
    arm.mount(2.0, np.array([0, 0, 0.05]))
    session.step(500)
    felt = arm.tcp_force()[2]
    session.do(identifier, [2.0, 0, 0, 0.05, 0, 0, 0, 0, 0, 0])
    session.step(500)
    assert arm.tcp_force()[2] - felt == pytest.approx(2 * 9.80665, abs=1.5)
    assert arm.target_moment == pytest.approx(arm.model.gravity(session.controller.target[0]), abs=1e-6)


def test_every_command_and_scenario_says_what_it_does():
    """The reference of the documentation is made of these texts."""
    assert all(entry.action.__doc__ for entry in COMMANDS.values())
    assert all(schedule.help for schedule in SCENARIOS.values())
    assert all(handler.__doc__ for handler in ControllerProcess.commands.values())
