"""A bag that is written while messages arrive: on disk every second, complete on Ctrl-C, recoverable after a crash."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from robot_dynamics_ros.bags.table_columns import natural
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.outputs import BAG_MARK, new_bag
from robot_dynamics_ros.verdict import word

FLUSH_PERIOD = 1.0  # s of messages a crash may cost
MAGIC = b"\x89MCAP0\r\n"
SCHEMA, CHANNEL, MESSAGE, CHUNK = 0x03, 0x04, 0x05, 0x06
ZSTD = b"\x28\xb5\x2f\xfd"  # begins a compressed message; a plain one begins with 0


class LiveWriter:
    """Raw messages into an mcap bag directory (metadata version 9). Raises DataError naming the path, or `final`, to
    which a complete bag is moved.
    """

    def __init__(self, path: str | Path, final: str | Path | None = None) -> None:
        from rosbags.rosbag2 import StoragePlugin, Writer, WriterError
        from rosbags.typesys import Stores, get_typestore

        self._named = path if final is None else final
        self.counts: dict[str, int] = {}  # messages per topic
        self._store = get_typestore(Stores.ROS2_JAZZY)
        self._connections: dict[str, Any] = {}
        self._flushed = time.monotonic()
        try:
            self._writer = Writer(Path(path), version=9, storage_plugin=StoragePlugin.MCAP)
            self._writer.open()
            self._writer.set_custom_data(BAG_MARK, "record")
        except (WriterError, OSError) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> DataError:
        return DataError(f"{self._named}: cannot be written ({error})")

    def add(self, topic: str, type_name: str, definition: str = "") -> bool:
        """Announce a topic; False for a message type that cannot be described in a bag: neither a common one nor one
        with a `definition` (text of a .msg file, then those of its parts).
        """
        from rosbags.typesys import TypesysError, get_types_from_msg

        if topic in self._connections:
            return True
        try:
            if type_name not in self._store.types:
                if not definition:
                    return False
                found = get_types_from_msg(definition, type_name)
                self._store.register({name: fields for name, fields in found.items() if name not in self._store.types})
            self._connections[topic] = self._writer.add_connection(topic, type_name, typestore=self._store)
        except (TypesysError, RecursionError):
            return False
        self.counts[topic] = 0
        return True

    def write(self, topic: str, receive_ns: int, raw: bytes) -> None:
        """One serialised message. Raises DataError when the disk is full."""
        try:
            self._writer.write(self._connections[topic], receive_ns, raw)
            self.counts[topic] += 1
            if time.monotonic() - self._flushed > FLUSH_PERIOD:
                self.flush()
        except OSError as error:
            raise self._failed(error) from error

    def flush(self) -> None:
        """Everything so far onto the disk, as complete chunks."""
        storage: Any = self._writer.storage  # the mcap writer; chunks are not part of the storage protocol
        self._flushed = time.monotonic()
        if storage is not None and storage.chunk.msgs:
            storage.close_chunk()
            storage.bio.flush()

    def close(self) -> None:
        """Index and metadata; the bag is complete after this. Raises DataError."""
        try:
            if self._writer.storage is not None:
                self._writer.close()
        except OSError as error:
            raise self._failed(error) from error

    def __enter__(self) -> LiveWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def in_turn(files: Iterable[Path]) -> list[Path]:
    """Files of a recording in the order of the numbers in their names: part 10 behind part 9."""
    return sorted(files, key=lambda file: natural(file.name))


def plain(raw: bytes, most: int = -1) -> bytes:
    """A serialised message of ROS 2, unpacked where it was compressed alone (compression mode `message` of rosbag2).

    most: bytes to unpack, -1: all. A damaged one stays as it is.
    """
    if not raw.startswith(ZSTD):
        return raw
    from rosbags.rosbag2.storage_mcap import zstd

    try:
        return bytes(zstd.ZstdDecompressor().decompress(raw, max_length=most))
    except zstd.ZstdError:
        return raw


def refuse_packed(path: Path) -> None:
    """Raise DataError naming a part of a bag that is compressed as a whole and would be missed."""
    if packed := next(iter(in_turn(path.glob("*.zstd"))), None):
        raise DataError(f"{path}: {packed.name} is compressed: unpack it (zstd -d) first")


def mcap_files(path: Path) -> list[Path]:
    """The mcap files of a bag: those in its directory, or itself."""
    return in_turn(path.glob("*.mcap")) if path.is_dir() else [path]


def recovery(path: Path) -> str:
    """What may bring back a bag that was cut: of an mcap file or a directory of such files, else nothing."""
    files = mcap_files(path)
    try:
        if not files or not all(_begins_as_mcap(file) for file in files):
            return ""
    except OSError:  # unreadable, which the error says
        return ""
    return f"; what is left of it: robot-dynamics record --recover {word(path)} --out NEW"


def _begins_as_mcap(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def recover(path: str | Path, out: str | Path) -> dict[str, int]:
    """Complete bag at `out` from one whose recording was killed; returns messages per topic. Raises DataError."""
    refuse_packed(Path(path))
    files = mcap_files(Path(path))
    if not files or not all(file.is_file() for file in files):
        raise DataError(f"{path}: {'no mcap file to recover' if Path(path).exists() else 'does not exist'}")
    data = [file.read_bytes() for file in files]
    for file, content in zip(files, data, strict=True):
        if not content.startswith(MAGIC):
            raise DataError(f"{file}: not an mcap file")
    with new_bag(out) as place:
        with LiveWriter(place, out) as writer:
            for content in data:
                _copy(content, writer)
        if not sum(writer.counts.values()):
            raise DataError(f"{path}: no complete message of a known type is left in it")
    return dict(writer.counts)


def _copy(data: bytes, writer: LiveWriter) -> None:
    """Messages of one file into the writer, damaged records left out."""
    schemas: dict[int, tuple[str, str]] = {}  # name and definition of a message type
    channels: dict[int, str] = {}
    for op, body in _inner(data):
        try:
            if op == SCHEMA:
                name = _string(body, 2)
                encoding = 6 + len(name.encode())
                text = encoding + 4 + len(_string(body, encoding).encode())
                schemas[struct.unpack_from("<H", body)[0]] = name, _string(body, text)
            elif op == CHANNEL:
                number, schema = struct.unpack_from("<HH", body)
                topic = _string(body, 4)
                if schema in schemas and writer.add(topic, *schemas[schema]):
                    channels[number] = topic
            elif op == MESSAGE:
                number, _, stamp, _ = struct.unpack_from("<HIQQ", body)
                if number in channels and stamp < 2**63:
                    writer.write(channels[number], stamp, plain(body[22:]))
        except struct.error:
            continue


def _string(body: bytes, at: int) -> str:
    size = struct.unpack_from("<I", body, at)[0]
    return body[at + 4 : at + 4 + size].decode("utf-8", "replace")


def _records(data: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """Complete records from `at` on; a truncated one ends it."""
    while at + 9 <= len(data):
        op, size = struct.unpack_from("<BQ", data, at)
        if at + 9 + size > len(data):
            return
        yield op, data[at + 9 : at + 9 + size]
        at += 9 + size


def _inner(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Records, those inside chunks in place of their chunk."""
    for op, body in _records(data, len(MAGIC)):
        if op == CHUNK:
            yield from _records(_unpacked(body), 0)
        else:
            yield op, body


def _unpacked(chunk: bytes) -> bytes:
    """Records of a chunk; none where it is compressed and damaged."""
    from rosbags.rosbag2.storage_mcap import decompress

    try:
        size, checksum = struct.unpack_from("<QI", chunk, 16)
        kind = _string(chunk, 28)
        records = chunk[28 + 4 + len(kind) + 8 :]
        return bytes(decompress(records, kind, size, checksum)) if kind else records
    except Exception:  # of struct, of rosbags, of each compression
        return b""
