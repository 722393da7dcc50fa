"""RTDE on the wire: packet framing, field types, variables a controller publishes or accepts, its software version.

A packet is a big-endian uint16 size (its own three header bytes included), a uint8 type, and a payload. Field types
are named in setup replies and packed back to back, without padding [UR RTDE guide].
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from robot_dynamics_ros.errors import RobotDynamicsError

HEADER = struct.Struct(">HB")
MAX_PACKET = 65535  # bytes: the size field is a uint16

# packet types
PROTOCOL_VERSION = ord("V")
CONTROLLER_VERSION = ord("v")
TEXT_MESSAGE = ord("M")
DATA = ord("U")
SETUP_OUTPUTS = ord("O")
SETUP_INPUTS = ord("I")
START = ord("S")
PAUSE = ord("P")

# struct code of one field and how many Python values it holds
FIELD_TYPES: dict[str, tuple[str, int]] = {
    "BOOL": ("?", 1),
    "UINT8": ("B", 1),
    "UINT32": ("I", 1),
    "UINT64": ("Q", 1),
    "INT32": ("i", 1),
    "DOUBLE": ("d", 1),
    "VECTOR3D": ("3d", 3),
    "VECTOR6D": ("6d", 6),
    "VECTOR6INT32": ("6i", 6),
    "VECTOR6UINT32": ("6I", 6),
}

N_REGISTERS = 48  # integer and double registers in each direction


def _typed(**names_by_type: str) -> dict[str, str]:
    return {name: kind for kind, names in names_by_type.items() for name in names.split()}


def _registers(direction: str) -> dict[str, str]:
    table = {f"{direction}_bit_registers{first}_to_{first + 31}": "UINT32" for first in (0, 32)}
    table |= {f"{direction}_bit_register_{i}": "BOOL" for i in range(64, 128)}
    table |= {f"{direction}_int_register_{i}": "INT32" for i in range(N_REGISTERS)}
    return table | {f"{direction}_double_register_{i}": "DOUBLE" for i in range(N_REGISTERS)}


OUTPUTS: dict[str, str] = _typed(
    DOUBLE="timestamp actual_execution_time speed_scaling target_speed_fraction actual_momentum actual_main_voltage"
    " actual_robot_voltage actual_robot_current standard_analog_input0 standard_analog_input1 standard_analog_output0"
    " standard_analog_output1 io_current tool_analog_input0 tool_analog_input1 tool_output_current tool_temperature"
    " tcp_force_scalar joint_position_deviation_ratio collision_detection_ratio payload",
    VECTOR6D="target_q target_qd target_qdd target_current target_moment actual_q actual_qd actual_current"
    " actual_current_window actual_current_as_torque joint_control_output actual_TCP_pose actual_TCP_speed"
    " actual_TCP_force target_TCP_pose target_TCP_speed joint_temperatures actual_joint_voltage ft_raw_wrench"
    " payload_inertia tcp_offset",
    VECTOR3D="actual_tool_accelerometer elbow_position elbow_velocity payload_cog target_gravity",
    UINT64="actual_digital_input_bits actual_digital_output_bits",
    INT32="robot_mode safety_mode safety_status tool_output_voltage",
    UINT32="runtime_state robot_status_bits safety_status_bits analog_io_types tool_mode tool_analog_input_types"
    " script_control_line",
    VECTOR6INT32="joint_mode",
    UINT8="tool_output_mode tool_digital_output0_mode tool_digital_output1_mode",
)
OUTPUTS |= _registers("output") | _registers("input")

INPUTS: dict[str, str] = _typed(
    UINT32="speed_slider_mask",
    DOUBLE="speed_slider_fraction standard_analog_output_0 standard_analog_output_1",
    UINT8="standard_digital_output_mask standard_digital_output configurable_digital_output_mask"
    " configurable_digital_output tool_digital_output_mask tool_digital_output standard_analog_output_mask"
    " standard_analog_output_type",
    VECTOR6D="external_force_torque",
) | _registers("input")

# PolyScope 5 release in which an output appeared; earlier controllers answer NOT_FOUND
INTRODUCED: dict[str, tuple[int, ...]] = {
    "actual_current_as_torque": (5, 23),
    "ft_raw_wrench": (5, 9),
    "payload": (5, 5, 1),
    "payload_cog": (5, 5, 1),
    "payload_inertia": (5, 11),
    "tcp_offset": (5, 7),
}


class ProtocolError(Exception):
    """A client sent what the protocol cannot express; the connection is of no further use."""


def pack_packet(kind: int, payload: bytes = b"") -> bytes:
    """One packet of the given type; a payload too long for its size field is cut."""
    payload = payload[: MAX_PACKET - HEADER.size]
    return HEADER.pack(HEADER.size + len(payload), kind) + payload


def pack_text(message: str, level: int = 1) -> bytes:
    """A text message: level 0 exception, 1 error, 2 warning, 3 info."""
    text, origin = message.encode()[:255], b"controller"
    return pack_packet(TEXT_MESSAGE, bytes([len(text)]) + text + bytes([len(origin)]) + origin + bytes([level]))


def split_names(payload: bytes) -> list[str]:
    """Variable names of a setup request; clients end the list with a comma, so empty names are dropped."""
    return [name for name in payload.decode("ascii", "replace").split(",") if name]


class PacketReader:
    """Collects bytes of a stream and hands out complete packets as (type, payload)."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Append received bytes and yield every packet that is complete; ProtocolError when a size is impossible."""
        self._buffer += data
        while len(self._buffer) >= HEADER.size:
            size, kind = HEADER.unpack_from(self._buffer)
            if size < HEADER.size:
                raise ProtocolError(f"packet size {size} is below the {HEADER.size} bytes of a header")
            if len(self._buffer) < size:
                return
            payload = bytes(self._buffer[HEADER.size : size])
            del self._buffer[:size]
            yield kind, payload


class Recipe:
    """An agreed list of variables: packs them for output, unpacks them from input."""

    def __init__(self, identifier: int, names: Iterable[str], table: dict[str, str]) -> None:
        self.identifier = identifier
        self.names = tuple(names)
        self._codes = [FIELD_TYPES[table[name]] for name in self.names]
        self._fields = struct.Struct(">" + "".join(code for code, _ in self._codes))
        if self._fields.size > MAX_PACKET - HEADER.size - 1:
            raise ProtocolError(f"{len(self.names)} variables do not fit into one package")
        self._header = HEADER.pack(HEADER.size + 1 + self._fields.size, DATA) + bytes([identifier])

    @property
    def size(self) -> int:
        """Bytes of the packed fields, without header and recipe id."""
        return self._fields.size

    def pack(self, values: dict[str, tuple[Any, ...]]) -> bytes:
        """A data packet holding values[name] (a tuple) of every variable."""
        return self._header + self._fields.pack(*chain.from_iterable([values[name] for name in self.names]))

    def unpack(self, body: bytes) -> dict[str, tuple[Any, ...]]:
        """Values of the fields that arrived whole; a short body sets fewer variables, surplus bytes are ignored."""
        if len(body) >= self.size:
            flat: tuple[Any, ...] = self._fields.unpack_from(body)
            return dict(self._split(flat, len(self.names)))
        count, end = 0, 0
        for code, _ in self._codes:
            width = struct.calcsize(">" + code)
            if end + width > len(body):
                break
            count, end = count + 1, end + width
        partial = struct.Struct(">" + "".join(code for code, _ in self._codes[:count]))
        return dict(self._split(partial.unpack_from(body), count))

    def _split(self, flat: tuple[Any, ...], count: int) -> Iterator[tuple[str, tuple[Any, ...]]]:
        start = 0
        for name, (_, width) in zip(self.names[:count], self._codes, strict=False):
            yield name, flat[start : start + width]
            start += width


class Version(NamedTuple):
    """PolyScope version; compares with plain tuples."""

    major: int = 5
    minor: int = 26
    bugfix: int = 0
    build: int = 0

    @classmethod
    def parse(cls, text: str) -> Version:
        """Version from '5.26' or '5.26.0.1'; anything else is an error. Raises RobotDynamicsError."""
        parts = text.split(".")
        if not 2 <= len(parts) <= 4 or not all(part.isdigit() for part in parts):
            raise RobotDynamicsError(f"PolyScope version {text!r} is not major.minor[.bugfix[.build]]")
        return cls(*(int(part) for part in parts))

    def __str__(self) -> str:
        return ".".join(str(part) for part in self)
