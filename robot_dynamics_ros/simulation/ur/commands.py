"""The commands of the control script that are simulated: moves, a stream of positions, torque, stops and settings."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.simulation.ur import motion
from robot_dynamics_ros.simulation.ur.command_table import COMMANDS, Command, CommandContext, command
from robot_dynamics_ros.simulation.ur.program import Waiting

__all__ = ["COMMANDS", "Command"]


def _run(context: CommandContext, waiting: Waiting) -> Waiting:
    """A motion beside the command loop when the client asks for that, else one that the loop waits for."""
    context.stop_asynchronous()
    if context.integers(1, 1)[0] != 1:
        return waiting
    context.start_asynchronous(waiting)
    return iter(())


def _stop(context: CommandContext, tool: bool) -> Waiting:
    controller, deceleration = context.controller, context.double(0)
    yield from controller.wait_for((controller.stop_tool if tool else controller.stop_joints)(deceleration))


@command(1, "MOVEJ")
def movej(context: CommandContext) -> Waiting:
    """Joint move on a trapezoidal profile, blocking or asynchronous."""
    controller, target, (velocity, acceleration) = context.controller, context.doubles(0, 6), context.doubles(6, 2)

    def move() -> Waiting:
        yield from controller.wait_for(
            controller.start(lambda q: motion.MoveJ(q, [(target, velocity, acceleration, 0.0)]))
        )

    return _run(context, move())


@command(45, "MOVE_PATH")
def move_path(context: CommandContext) -> Waiting:
    """The joint waypoints injected into the uploaded script, blended where they ask for it."""
    return _run(context, context.path(context.script.path))


@command(11, "SERVOJ", realtime=True)
def servoj(context: CommandContext) -> None:
    """Follow a streamed joint position with lookahead and gain; holds the last one until SERVO_STOP."""
    lookahead, gain = context.doubles(9, 2)
    context.controller.servo(context.doubles(0, 6), lookahead, gain)


@command(16, "SERVO_STOP")
def servo_stop(context: CommandContext) -> Waiting:
    """Decelerate along the tool path and hold."""
    return _stop(context, tool=True)


@command(34, "STOPJ")
def stopj(context: CommandContext) -> Waiting:
    """Decelerate with a joint deceleration, blocking or asynchronous; ends an asynchronous move."""
    return _run(context, _stop(context, tool=False))


@command(31, "PROTECTIVE_STOP")
def protective_stop(context: CommandContext) -> None:
    """Stop protectively, as a collision would."""
    context.controller.protective_stop("requested by the program")


@command(66, "DIRECT_TORQUE", realtime=True)
def direct_torque(context: CommandContext) -> None:
    """Torque per joint on top of gravity, with the friction scales the uploaded script passes; lasts one cycle."""
    call = context.script.torque
    if call is not None:
        context.controller.command_torque(
            context.source(call.torque), context.source(call.viscous_scale), context.source(call.coulomb_scale)
        )


@command(35, "SET_WATCHDOG")
def set_watchdog(context: CommandContext) -> None:
    """Stop the program when the command register is not written at this rate; ends with the program."""
    register = f"input_int_register_{context.script.register_offset}"
    context.controller.watchdogs.arm(register, context.double(0), context.controller.time)


@command(8, "ZERO_FT_SENSOR")
def zero_ft_sensor(context: CommandContext) -> None:
    """Subtract the present reading from the force sensor."""
    context.controller.arm.zero_force_sensor()


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
