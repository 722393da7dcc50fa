"""Coupling of the wrist, and what of packets and JSON of the Comau is taken for a state."""

import dataclasses
import math

import numpy as np
import pytest

from robot_dynamics_ros.drivers.comau import wire as wire
from robot_dynamics_ros.drivers.comau.states import Coupling
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.robot_file import load_robot

ROBOT = load_robot("comau_ns16")


# -- coupling ---------------------------------------------------------------------------------------------------------
def test_coupling_turns_motors_into_joints_with_signs_and_power_is_kept():
    matrix = np.eye(6)
    matrix[4, 3], matrix[5, 4], matrix[5, 3] = -0.02, 0.015, 0.03
    drives = ROBOT.drives.model_copy(update={"coupling": tuple(map(tuple, matrix.tolist()))})
    coupled = ROBOT.model_copy(update={"drives": drives})
    coupling, rng = Coupling(coupled), np.random.default_rng(5)
    motor, torque = rng.standard_normal(6), rng.standard_normal(6)
    joint = coupling.angle(motor)
    ratio = np.array(ROBOT.drives.gear_ratio)
    assert joint[0] == pytest.approx(motor[0] / -181.5873)
    assert np.allclose(joint, matrix @ (motor / ratio))
    assert joint @ coupling.torque(torque) == pytest.approx((motor / ratio) @ torque)  # power
    assert coupling.known and not Coupling(ROBOT).known


# -- wire formats -----------------------------------------------------------------------------------------------------
def test_state_and_command_survive_the_wire():
    rng = np.random.default_rng(1)
    state = wire.State(7, 123456, link=tuple(rng.standard_normal(10)), n_axes=6, modality=4, status=4, session=9)
    back = wire.unpack_state(wire.pack_state(state), 6)
    assert back.link == state.link and (back.sequence, back.time_us, back.modality) == (7, 123456, 4)
    assert math.isnan(back.current[0]) and wire.STATE.size == 392 and wire.COMMAND.size == 196
    command = wire.Command(3, 2, 1, 4, 63, tuple(rng.standard_normal(10)))
    assert dataclasses.asdict(wire.unpack_command(wire.pack_command(command, 6), 6)) == dataclasses.asdict(command)


def test_random_bytes_never_become_a_state():
    rng = np.random.default_rng(2)
    good = wire.pack_state(wire.State(1, 1, n_axes=6))
    for length in rng.integers(0, 800, 300):
        with pytest.raises(DataError):
            wire.unpack_state(rng.bytes(length), 6)
    for start, value in ((0, 1), (4, 1), (6, 7)):  # magic, version, axes
        with pytest.raises(DataError):
            wire.unpack_state(good[:start] + value.to_bytes(2, "little") + good[start + 2 :], 6)
