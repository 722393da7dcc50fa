"""Raw messages out of any bag: ROS 1, rosbag2 directories, and single .db3 or .mcap files without metadata.

rosbags opens a file, checks it and reads its index. The records of the chunks of an mcap file are taken apart here,
without an object and a merge per message.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.bags.layout import Group, decode
from robot_dynamics_ros.bags.live_writer import ZSTD, in_turn, plain, recovery, refuse_packed
from robot_dynamics_ros.bags.tables import READERS
from robot_dynamics_ros.errors import DataError, first_line
from robot_dynamics_ros.outputs import EFFORT_UNIT

BAGS = (".db3", ".mcap", ".bag")
FILES = (*BAGS, ".zstd", ".parquet")  # that hold the messages of a directory
MAX_MESSAGE = 1 << 20  # bytes; a joint state has a few hundred
Wrap = Callable[[Iterable[Any], str, int], Iterable[Any]]  # a progress bar: items, text, total -> items
RECORD = struct.Struct("<BQ")  # operation, length
MESSAGE = struct.Struct("<BQHIQQ")  # the same, channel, number, log and publish time
OF_MESSAGE = 0x05


@dataclass
class RawTopic:
    """One topic as stored: type, receive stamps [ns] and serialised messages; effort_unit: as the bag states it."""

    type: str
    ros2: bool
    effort_unit: str = ""
    receive_ns: list[int] = field(default_factory=list)
    raws: list[bytes] = field(default_factory=list)
    too_long: int = 0
    no_time: int = 0

    def take(self, stamp: Any, raw: Any) -> None:
        """Keep a message, or count why it is not kept."""
        raw = plain(raw, MAX_MESSAGE + 1) if self.ros2 else raw
        if len(raw) > MAX_MESSAGE:
            self.too_long += 1
        elif not (isinstance(stamp, int) and 0 <= stamp < 2**63):  # sqlite stores text in a column of numbers, too
            self.no_time += 1
        else:
            self.receive_ns.append(stamp)
            self.raws.append(bytes(raw))

    def take_all(self, stamps: list[int], raws: list[bytes]) -> None:
        """`take` of many messages whose stamps are integers of at least 0."""
        packed = any(raw.startswith(ZSTD) for raw in raws)
        if raws and not packed and max(map(len, raws)) <= MAX_MESSAGE and max(stamps) < 2**63:
            self.receive_ns += stamps
            self.raws += raws
            return
        for stamp, raw in zip(stamps, raws, strict=True):
            self.take(stamp, raw)

    def decoded(self) -> tuple[list[Group], int]:
        """All messages as groups of equal shape, and how many could not be read."""
        return decode(self.raws, self.type, self.ros2)

    def stamps(self) -> np.ndarray:
        """Receive stamps (N,) int64 [ns]."""
        return np.array(self.receive_ns, dtype=np.int64)


def _is_ros1(path: Path) -> bool:
    """A ROS 1 bag is a file; a directory of that name is a rosbag2, as `record --out first.bag` writes it."""
    return path.suffix == ".bag" and not path.is_dir()


def expand(path: Path) -> list[Path]:
    """The files to open for a path: itself, or what a rosbag2 directory without metadata.yaml holds.

    Raises DataError for a path without a bag.
    """
    if not path.exists():
        raise DataError(f"{path}: no such file or directory")
    if path.is_dir() and not (path / "metadata.yaml").exists():
        inside = in_turn(p for p in path.iterdir() if p.suffix in BAGS)
        refuse_packed(path)
        if not inside:
            raise DataError(f"{path}: no bag in this directory (looked for metadata.yaml, *.db3, *.mcap, *.bag)")
        return _regular(inside)
    _regular(path.iterdir() if path.is_dir() else [path])
    if path.is_file() and path.suffix not in BAGS:
        kinds = f"{', '.join(BAGS)} and tables are {', '.join(READERS)}"
        what = "unpack a .gz or .zstd, save a spreadsheet as .csv, name a text .txt"
        raise DataError(f"{path}: bags are {kinds}; {what}")
    return [path]


def bag_files(bags: Sequence[str | Path]) -> list[Path]:
    """The files of bags and data sets, directories opened: what provenance hashes."""
    found = [[p] if p.is_file() else sorted(f for f in p.rglob("*") if f.suffix in FILES) for p in map(Path, bags)]
    return [file for files in found for file in files]


def _regular(files: Iterable[Path]) -> list[Path]:
    """The files. Raises DataError for one that is no file on a disk: a pipe or a device would be read without end."""
    found = list(files)
    for file in found:
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise DataError(f"{file}: is neither a file nor a directory")
    return found


def read_topics(path: Path, types: Iterable[str], progress: Wrap | None = None) -> dict[str, RawTopic]:
    """All messages of the given types by topic. Raises DataError naming file and reason when it is no intact bag."""
    topics: dict[str, RawTopic] = {}
    wanted = set(types)
    for part in expand(Path(path)):
        try:
            _read_file(part, wanted, topics, progress)
        except ImportError as error:
            text = f"{part}: what reads bags cannot be loaded ({first_line(error)})"
            raise DataError(f"{text}; pip install --force-reinstall rosbags mends it") from error
        except Exception as error:  # storage back ends raise their own, sqlite's, struct's and zstd's errors
            text = f"{part}: cannot be read as a bag, truncated or not a bag ({first_line(error)})"
            raise DataError(f"{text}{recovery(part)}") from error
    return topics


def _reader(path: Path) -> Any:
    from rosbags import rosbag1, rosbag2

    return rosbag1.Reader(path) if _is_ros1(path) else rosbag2.Reader(path)


def _read_file(path: Path, wanted: set[str], topics: dict[str, RawTopic], progress: Wrap | None) -> None:
    with _reader(path) as reader:
        connections = [c for c in reader.connections if c.msgtype in wanted]
        unit = "" if _is_ros1(path) else _effort_unit(reader.storage.metadata.custom)
        for c in reader.connections:
            topics.setdefault(c.topic, RawTopic(c.msgtype, not _is_ros1(path), unit))
        if not connections:
            return
        chunks = None if progress or _is_ros1(path) else indexed_chunks(reader)
        if chunks is not None:
            for storage in chunks:
                read_chunks(storage, topics, wanted)
            return
        messages = reader.messages(connections=connections)
        if progress:
            messages = progress(messages, f"reading {path.name}", sum(c.msgcount for c in connections))
        for connection, stamp, raw in messages:
            topics[connection.topic].take(stamp, raw)


def _effort_unit(custom: Any) -> str:
    """A or %, where the custom data of a bag state it; "" elsewhere."""
    unit = custom.get(EFFORT_UNIT) if isinstance(custom, dict) else ""
    return unit if unit in ("A", "%") else ""


def indexed_chunks(reader: Any) -> list[Any] | None:
    """The storages of an open rosbag2 reader where all are mcap files with an index of chunks; None otherwise."""
    try:
        from rosbags.rosbag2.storage_mcap import McapReader
    except ImportError:
        return None
    inner = getattr(reader, "storage", None)
    storages = getattr(inner, "storages", [inner])
    known = all(isinstance(s, McapReader) and getattr(s, "chunks", None) and s.bio for s in storages)
    return list(storages) if storages and known else None


def read_chunks(storage: Any, topics: Mapping[str, RawTopic], wanted: set[str]) -> None:
    """All messages of the topics of the wanted types, in the order of the receive stamps.

    Raises DataError for a record that ends outside of its chunk, rosbags' errors for a chunk that is damaged.
    """
    channels = {c.id: c.topic for c in storage.connections if c.msgtype in wanted}
    found: dict[str, tuple[list[int], list[bytes]]] = {name: ([], []) for name in channels.values()}
    places = {channel: found[name] for channel, name in channels.items()}
    for chunk in sorted(storage.chunks, key=lambda c: c.chunk_start_offset):
        if any(chunk.channel_count.get(channel, 0) for channel in channels):
            _collect(_content(storage.bio, chunk), places)
    for name, (stamps, raws) in found.items():
        if any(later < earlier for earlier, later in itertools.pairwise(stamps)):
            order = sorted(range(len(stamps)), key=stamps.__getitem__)
            stamps, raws = [stamps[k] for k in order], [raws[k] for k in order]
        topics[name].take_all(stamps, raws)


def _content(file: Any, chunk: Any) -> bytes:
    """Records of a chunk; its header: start, end, size (8 bytes each), checksum (4), compression, length."""
    from rosbags.rosbag2.storage_mcap import decompress

    file.seek(chunk.chunk_start_offset + RECORD.size + 24)
    (checksum,) = struct.unpack("<I", file.read(4))
    file.seek(chunk.chunk_start_offset + RECORD.size + 40 + len(chunk.compression))
    packed = file.read(chunk.compressed_size)
    if len(packed) != chunk.compressed_size:
        raise DataError("a chunk ends beyond the file")
    return bytes(decompress(packed, chunk.compression, chunk.uncompressed_size, checksum))


def _collect(records: bytes, places: Mapping[int, tuple[list[int], list[bytes]]]) -> None:
    """Append stamp [ns] and message of the records of a chunk to the lists of their channel."""
    place, end = 0, len(records)
    padded = records + bytes(MESSAGE.size)  # so that a last record which is no message can be taken for one
    while place < end:
        operation, length, channel, _, stamp, _ = MESSAGE.unpack_from(padded, place)
        begin, place = place + MESSAGE.size, place + RECORD.size + length
        if place > end:
            raise DataError("a record ends beyond its chunk")
        if operation == OF_MESSAGE and channel in places:
            stamps, raws = places[channel]
            stamps.append(stamp)
            raws.append(records[begin:place])
