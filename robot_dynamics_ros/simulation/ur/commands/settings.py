"""Payload, TCP, watchdog and what is merely acknowledged."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.simulation.ur.commands.table import CommandContext, command


@command(17, "SET_PAYLOAD")
def set_payload(context: CommandContext) -> None:
    """Payload mass and centre of gravity the controller assumes; a zero centre keeps the present one."""
    center = context.doubles(1, 3)
    context.controller.set_payload(context.double(0), center if np.any(center) else None)


@command(65, "SET_TARGET_PAYLOAD")
def set_target_payload(context: CommandContext) -> None:
    """As SET_PAYLOAD, with the inertia about the centre of gravity (Ixx Iyy Izz Ixy Ixz Iyz)."""
    center = context.doubles(1, 3)
    context.controller.set_payload(context.double(0), center if np.any(center) else None, context.doubles(4, 6))


@command(29, "SET_TCP")
def set_tcp(context: CommandContext) -> None:
    """TCP pose relative to the flange."""
    context.controller.kinematics.set_tcp(context.doubles(0, 6))


@command(59, "SET_GRAVITY")
def set_gravity(context: CommandContext) -> None:
    """Acknowledged; the plant's gravity does not change."""


@command(20, "FORCE_MODE_SET_DAMPING")
def force_mode_set_damping(context: CommandContext) -> None:
    """Acknowledged."""


@command(21, "FORCE_MODE_SET_GAIN_SCALING")
def force_mode_set_gain_scaling(context: CommandContext) -> None:
    """Acknowledged."""


@command(35, "SET_WATCHDOG")
def set_watchdog(context: CommandContext) -> None:
    """Stop the program when the command register is not written at this rate; ends with the program."""
    register = f"input_int_register_{context.script.register_offset}"
    context.controller.watchdogs.arm(register, context.double(0), context.controller.time)


@command(31, "PROTECTIVE_STOP")
def protective_stop(context: CommandContext) -> None:
    """Stop protectively, as a collision would."""
    context.controller.protective_stop("requested by the program")


@command(56, "FT_RTDE_INPUT_ENABLE")
def ft_rtde_input_enable(context: CommandContext) -> None:
    """Acknowledged; an external force sensor is not used."""


@command(57, "ENABLE_EXTERNAL_FT_SENSOR")
def enable_external_ft_sensor(context: CommandContext) -> None:
    """Acknowledged; an external force sensor is not used."""
