"""Torque, force and hand guiding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robot_dynamics_ros.simulation.ur.commands.table import command
from robot_dynamics_ros.simulation.ur.program import Waiting

if TYPE_CHECKING:
    from robot_dynamics_ros.simulation.ur.command_loop import CommandLoop


@command(6, "FORCE_MODE", realtime=True)
def force_mode(loop: CommandLoop) -> None:
    """Acknowledged and shown in the state query; the robot does not become compliant."""
    loop.controller.force_mode = {
        "type": loop.integers(1, 1)[0],
        "selection": loop.integers(2, 6),
        "frame": loop.doubles(0, 6).tolist(),
        "wrench": loop.doubles(6, 6).tolist(),
        "limits": loop.doubles(12, 6).tolist(),
    }


@command(7, "FORCE_MODE_STOP")
def force_mode_stop(loop: CommandLoop) -> Waiting:
    """Leave force mode and stop."""
    loop.controller.force_mode = None
    return loop.controller.wait_for(loop.controller.stop_tool(10.0))


@command(8, "ZERO_FT_SENSOR")
def zero_ft_sensor(loop: CommandLoop) -> None:
    """Subtract the present reading from the force sensor."""
    loop.controller.arm.zero_force_sensor()


@command(18, "TEACH_MODE")
def teach_mode(loop: CommandLoop) -> None:
    """Let the robot be pushed by external wrenches: gravity compensated, damped."""
    loop.controller.free_drive(True)


@command(19, "END_TEACH_MODE")
def end_teach_mode(loop: CommandLoop) -> None:
    """Hold the position reached."""
    loop.controller.free_drive(False)


@command(52, "FREEDRIVE_MODE")
def freedrive_mode(loop: CommandLoop) -> None:
    """As teach mode; locked axes and the feature frame are ignored."""
    loop.controller.free_drive(True)


@command(53, "END_FREEDRIVE_MODE")
def end_freedrive_mode(loop: CommandLoop) -> None:
    """Hold the position reached."""
    loop.controller.free_drive(False)


@command(54, "GET_FREEDRIVE_STATUS")
def get_freedrive_status(loop: CommandLoop) -> None:
    """0 normal, 1 near a singularity: always 0."""
    loop.answer_int(0)


@command(66, "DIRECT_TORQUE", realtime=True)
def direct_torque(loop: CommandLoop) -> None:
    """Torque per joint on top of gravity, with the friction scales the uploaded script passes; lasts one cycle."""
    call = loop.script.torque
    if call is not None:
        loop.controller.command_torque(
            loop.source(call.torque), loop.source(call.viscous_scale), loop.source(call.coulomb_scale)
        )
