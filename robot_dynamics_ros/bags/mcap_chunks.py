"""Messages of the chunks of an mcap file: what rosbags' reader gives, without an object and a merge per message.

rosbags opens the file, checks it and reads its index; here only the records of its chunks are taken apart.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Mapping
from typing import Any

from robot_dynamics_ros.errors import DataError

RECORD = struct.Struct("<BQ")  # operation, length
MESSAGE = struct.Struct("<BQHIQQ")  # the same, channel, number, log and publish time
OF_MESSAGE = 0x05

Take = Callable[[str, list[int], list[bytes]], None]  # topic, receive stamps [ns], serialised messages


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


def read_chunks(storage: Any, wanted: set[str], take: Take) -> None:
    """Hand all messages of every topic of the wanted types to `take`, in the order of the receive stamps.

    Raises DataError for a record that ends outside of its chunk, rosbags' errors for a chunk that is damaged.
    """
    topics = {c.id: c.topic for c in storage.connections if c.msgtype in wanted}
    found: dict[str, tuple[list[int], list[bytes]]] = {name: ([], []) for name in topics.values()}
    places = {channel: found[name] for channel, name in topics.items()}
    for chunk in sorted(storage.chunks, key=lambda c: c.chunk_start_offset):
        if any(chunk.channel_count.get(channel, 0) for channel in topics):
            _collect(_content(storage.bio, chunk), places)
    for name, (stamps, raws) in found.items():
        if any(later < earlier for earlier, later in itertools.pairwise(stamps)):
            order = sorted(range(len(stamps)), key=stamps.__getitem__)
            stamps, raws = [stamps[k] for k in order], [raws[k] for k in order]
        take(name, stamps, raws)


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
