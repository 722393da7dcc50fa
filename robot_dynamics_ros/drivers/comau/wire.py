"""Both wire formats between a ROS PC and the Comau LPC: our UDP version 2, and the public MQTT JSON messages.

UDP, little-endian, fixed size; SI is left to the driver: the wire carries motor rounds, degrees, rpm and ampere. The
same layout is in data/c5gopen_lpc/c5gopen_bridge.h, for the LPC's side. A client draws a session number at random and
puts it into its commands; the LPC serves one session at a time and puts its number into the states.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass, field

from robot_dynamics_ros.errors import DataError

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
# bits of a state's mask: which blocks the LPC fills
HAS_ROUNDS, HAS_LINK, HAS_TARGET, HAS_SPEED, HAS_CURRENT, HAS_MODEL = (1 << bit for bit in range(6))
NAN10 = (math.nan,) * AXES


@dataclass
class State:
    """One state of the LPC; blocks it does not give are NaN. modality, status None: not reported."""

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
    modality: int | None = None
    status: int | None = None
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
    add_speed: tuple[float, ...] = field(default=(0.0,) * AXES)  # motor rpm
    add_current: tuple[float, ...] = field(default=(0.0,) * AXES)  # A
    session: int = 0  # of the client that sends it


def pack_state(s: State) -> bytes:
    """UDP datagram of a state."""
    blocks = (s.rounds, s.link, s.target, s.rpm, s.current, s.current_model)
    mask = sum(1 << bit for bit, block in enumerate(blocks) if not math.isnan(block[0]))
    head = (MAGIC_STATE, VERSION, s.n_axes, s.session, s.sequence & 0xFFFFFFFF, s.time_us)
    flags = (s.arm, s.modality or 0, s.status or 0, int(s.powerlink))
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
    return COMMAND.pack(*head, c.modality, c.mask, *c.position, *c.add_speed, *c.add_current)


def unpack_command(data: bytes, n_axes: int) -> Command:
    """Command of a datagram. Raises DataError as unpack_state, and for numbers that are not finite."""
    if len(data) != COMMAND.size:
        raise DataError(f"a command of {len(data)} bytes, expected {COMMAND.size}")
    v = COMMAND.unpack(data)
    _head(v[0], MAGIC_COMMAND, v[1], v[2], n_axes)
    if not all(map(math.isfinite, v[9:])):
        raise DataError("a command with numbers that are not finite")
    return Command(v[4], v[5], v[6], v[7], v[8], v[9:19], v[19:29], v[29:39], v[3])


def _head(magic: int, expected: int, version: int, axes: int, n_axes: int) -> None:
    if magic != expected:
        raise DataError(f"magic {magic:#x}, expected {expected:#x}")
    if version != VERSION:
        raise DataError(f"wire version {version}, expected {VERSION}")
    if axes != n_axes:
        raise DataError(f"{axes} axes, the robot file has {n_axes}")


# -- MQTT: the messages of the public LPC program ---------------------------------------------------------------------
MAX_PAYLOAD = 1024  # bytes
KEYS = tuple(f"J{i + 1}" for i in range(AXES))
TOPIC_BLOCKS = {  # last part of the topic -> block of the state; published velocities stay 0 and are not read
    "real_joints_positions": "link",
    "target_joints_positions": "target",
    "motor_currents": "current",
}
TRAJECTORY_TOPIC = "target_joints_trajectory"


def topic(arm: int, name: str) -> str:
    """robot/arm<N>/<name>."""
    return f"robot/arm{arm}/{name}"


def pack_json(values: tuple[float, ...], time_us: int) -> bytes:
    """Payload with the trailing NUL of the public program."""
    return json.dumps({**dict(zip(KEYS, values, strict=True)), "time": time_us}).encode() + b"\0"


def unpack_json(payload: bytes) -> tuple[tuple[float, ...], int]:
    """Values J1..J10 and time [us]. Raises DataError: size, JSON, missing axis, not a finite number, no time."""
    if len(payload) > MAX_PAYLOAD:
        raise DataError(f"a payload of {len(payload)} bytes, at most {MAX_PAYLOAD}")
    try:
        tree = json.loads(payload.rstrip(b"\0").decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON: {error}") from error
    if not isinstance(tree, dict):
        raise DataError("not a JSON object")
    time_us = tree.get("time")
    if isinstance(time_us, bool) or not isinstance(time_us, (int, float)) or not 0 <= time_us <= MAX_TIME_US:
        raise DataError(f"time {time_us!r} is not a number of microseconds")
    return tuple(_number(tree, key) for key in KEYS), int(time_us)


def _number(tree: dict[str, object], key: str) -> float:
    value = tree.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= 1e9:
        raise DataError(f"{key} = {value!r} is not a finite number")
    return float(value)
