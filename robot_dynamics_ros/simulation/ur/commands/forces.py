"""Torque, force and hand guiding."""

from __future__ import annotations

from robot_dynamics_ros.simulation.ur.commands.table import CommandContext, command
from robot_dynamics_ros.simulation.ur.program import Waiting


@command(6, "FORCE_MODE", realtime=True)
def force_mode(context: CommandContext) -> None:
    """Acknowledged and shown in the state query; the robot does not become compliant."""
    context.controller.force_mode = {
        "type": context.integers(1, 1)[0],
        "selection": context.integers(2, 6),
        "frame": context.doubles(0, 6).tolist(),
        "wrench": context.doubles(6, 6).tolist(),
        "limits": context.doubles(12, 6).tolist(),
    }


@command(7, "FORCE_MODE_STOP")
def force_mode_stop(context: CommandContext) -> Waiting:
    """Leave force mode and stop."""
    context.controller.force_mode = None
    return context.controller.wait_for(context.controller.stop_tool(10.0))


@command(8, "ZERO_FT_SENSOR")
def zero_ft_sensor(context: CommandContext) -> None:
    """Subtract the present reading from the force sensor."""
    context.controller.arm.zero_force_sensor()


@command(18, "TEACH_MODE")
def teach_mode(context: CommandContext) -> None:
    """Let the robot be pushed by external wrenches: gravity compensated, damped."""
    context.controller.free_drive(True)


@command(19, "END_TEACH_MODE")
def end_teach_mode(context: CommandContext) -> None:
    """Hold the position reached."""
    context.controller.free_drive(False)


@command(52, "FREEDRIVE_MODE")
def freedrive_mode(context: CommandContext) -> None:
    """As teach mode; locked axes and the feature frame are ignored."""
    context.controller.free_drive(True)


@command(53, "END_FREEDRIVE_MODE")
def end_freedrive_mode(context: CommandContext) -> None:
    """Hold the position reached."""
    context.controller.free_drive(False)


@command(54, "GET_FREEDRIVE_STATUS")
def get_freedrive_status(context: CommandContext) -> None:
    """0 normal, 1 near a singularity: always 0."""
    context.answer_int(0)


@command(66, "DIRECT_TORQUE", realtime=True)
def direct_torque(context: CommandContext) -> None:
    """Torque per joint on top of gravity, with the friction scales the uploaded script passes; lasts one cycle."""
    call = context.script.torque
    if call is not None:
        context.controller.command_torque(
            context.source(call.torque), context.source(call.viscous_scale), context.source(call.coulomb_scale)
        )
