"""The wire format between a ROS PC and the Comau LPC: UDP version 2.

Little-endian, fixed size; SI is left to the driver: the wire carries motor rounds, degrees, rpm and ampere. The
same layout is in data/c5gopen_lpc/c5gopen_bridge.h, for the LPC's side. A client draws a session number at random and
puts it into its commands; the LPC serves one session at a time and puts its number into the states.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from robot_dynamics_ros.errors import DataError

DEGREE, RPM = math.pi / 180.0, 2.0 * math.pi / 60.0  # rad, rad/s: units of the wire
AXES = 10  # of every message, whatever the robot has
MAGIC_STATE, MAGIC_COMMAND, VERSION = 0x53473543, 0x43473543, 2  # "C5GS", "C5GC"
STATE = struct.Struct("<IHHIIQ4BI10d10d10d10f10f10f")
COMMAND = struct.Struct("<IHHIIIQB3xI10d10f10f")
LISTEN, POS_ABSOLUTE, POS_RELATIVE, POS_ADDITIVE, ADDITIVE_SB, ADDITIVE_SBE = 0, 4, 5, 7, 17, 170
MODALITIES = {
    LISTEN: "listen",
    POS_ABSOLUTE: "absolute position",
    POS_RELATIVE: "relative position",
    POS_ADDITIVE: "additive position",
    ADDITIVE_SB: "additive, stand-by",
    ADDITIVE_SBE: "additive, stand-by extended",
}
DRIVES_ON = 4
DRIVE_STATUS = {1: "off", 2: "driving on", 3: "driving off", DRIVES_ON: "on"}
NAN10 = (math.nan,) * AXES
NOTHING_ADDED = (0.0,) * (2 * AXES)  # speeds [motor rpm] and currents [A], of the additive modalities


@dataclass
class State:
    """One state of the LPC; blocks it does not give are NaN."""

    sequence: int
    time_us: int
    rounds: tuple[float, ...] = NAN10  # motor, revolutions
    link: tuple[float, ...] = NAN10  # deg
    target: tuple[float, ...] = NAN10  # deg
    rpm: tuple[float, ...] = NAN10  # motor
    current: tuple[float, ...] = NAN10  # A
    current_model: tuple[float, ...] = NAN10  # A, the controller's own dynamic model
    n_axes: int = AXES
    arm: int = 1
    modality: int = LISTEN
    status: int = 0
    powerlink: bool = True
    session: int = 0  # of the client it is for


MAX_TIME_US = 4_294_967_296_000_000  # as largest_time of the core's stream monitor


@dataclass
class Command:
    """One command to the LPC: desired positions [deg] of the axes in `mask`; LISTEN requests states only."""

    sequence: int
    echo: int = 0
    time_us: int = 0
    modality: int = LISTEN
    mask: int = 0
    position: tuple[float, ...] = (0.0,) * AXES  # deg
    session: int = 0  # of the client that sends it


def pack_state(s: State) -> bytes:
    """UDP datagram of a state."""
    blocks = (s.rounds, s.link, s.target, s.rpm, s.current, s.current_model)
    mask = sum(1 << bit for bit, block in enumerate(blocks) if not math.isnan(block[0]))
    head = (MAGIC_STATE, VERSION, s.n_axes, s.session, s.sequence & 0xFFFFFFFF, s.time_us)
    flags = (s.arm, s.modality, s.status, int(s.powerlink))
    return STATE.pack(*head, *flags, mask, *(x for block in blocks for x in block))


def unpack_state(data: bytes, n_axes: int) -> State:
    """State of a datagram. Raises DataError: size, magic, version, number of axes, impossible time."""
    if len(data) != STATE.size:
        raise DataError(f"a state of {len(data)} bytes, expected {STATE.size}")
    v = STATE.unpack(data)
    _head(v[0], MAGIC_STATE, v[1], v[2], n_axes)
    session, sequence, time_us, arm, modality, status, powerlink, mask = v[3:11]
    if time_us > MAX_TIME_US:
        raise DataError(f"time {time_us} us is no time of a controller")
    rounds, link, target, rpm, current, model = (
        v[11 + AXES * i : 11 + AXES * (i + 1)] if mask >> i & 1 else NAN10 for i in range(6)
    )
    flags = (v[2], arm, modality, status, bool(powerlink), session)
    return State(sequence, time_us, rounds, link, target, rpm, current, model, *flags)


def pack_command(c: Command, n_axes: int) -> bytes:
    """UDP datagram of a command."""
    head = (MAGIC_COMMAND, VERSION, n_axes, c.session, c.sequence & 0xFFFFFFFF, c.echo & 0xFFFFFFFF, c.time_us)
    return COMMAND.pack(*head, c.modality, c.mask, *c.position, *NOTHING_ADDED)


def unpack_command(data: bytes, n_axes: int) -> Command:
    """Command of a datagram. Raises DataError as unpack_state, and for numbers that are not finite."""
    if len(data) != COMMAND.size:
        raise DataError(f"a command of {len(data)} bytes, expected {COMMAND.size}")
    v = COMMAND.unpack(data)
    _head(v[0], MAGIC_COMMAND, v[1], v[2], n_axes)
    if not all(map(math.isfinite, v[9:])):
        raise DataError("a command with numbers that are not finite")
    return Command(v[4], v[5], v[6], v[7], v[8], v[9:19], v[3])


def _head(magic: int, expected: int, version: int, axes: int, n_axes: int) -> None:
    if magic != expected:
        raise DataError(f"magic {magic:#x}, expected {expected:#x}")
    if version != VERSION:
        raise DataError(f"wire version {version}, expected {VERSION}")
    if axes != n_axes:
        raise DataError(f"{axes} axes, the robot file has {n_axes}")
