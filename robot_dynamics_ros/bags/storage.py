"""Raw messages out of any bag: ROS 1, rosbag2 directories, and single .db3 or .mcap files without metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.bags.mcap_chunks import indexed_chunks, read_chunks
from robot_dynamics_ros.errors import DataError

MAX_MESSAGE = 1 << 20  # bytes; a joint state has a few hundred
Wrap = Callable[[Iterable[Any], str, int], Iterable[Any]]  # a progress bar: items, text, total -> items


@dataclass
class RawTopic:
    """One topic as stored: type, receive stamps [ns] and serialised messages."""

    type: str
    ros2: bool
    receive_ns: list[int] = field(default_factory=list)
    raws: list[bytes] = field(default_factory=list)
    too_long: int = 0
    no_time: int = 0

    def take(self, stamp: Any, raw: Any) -> None:
        """Keep a message, or count why it is not kept."""
        if len(raw) > MAX_MESSAGE:
            self.too_long += 1
        elif not (isinstance(stamp, int) and 0 <= stamp < 2**63):  # sqlite stores text in a column of numbers, too
            self.no_time += 1
        else:
            self.receive_ns.append(stamp)
            self.raws.append(bytes(raw))

    def take_all(self, stamps: list[int], raws: list[bytes]) -> None:
        """`take` of many messages whose stamps are integers of at least 0."""
        if raws and max(map(len, raws)) <= MAX_MESSAGE and max(stamps) < 2**63:
            self.receive_ns += stamps
            self.raws += raws
            return
        for stamp, raw in zip(stamps, raws, strict=True):
            self.take(stamp, raw)

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
        inside = sorted(p for p in path.iterdir() if p.suffix in (".db3", ".mcap", ".bag"))
        if not inside:
            raise DataError(f"{path}: no bag in this directory (looked for metadata.yaml, *.db3, *.mcap, *.bag)")
        return _regular(inside)
    _regular(path.iterdir() if path.is_dir() else [path])
    return [path]


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
        except Exception as error:  # storage back ends raise their own, sqlite's, struct's and zstd's errors
            raise DataError(f"{part}: cannot be read as a bag, truncated or not a bag ({_line(error)})") from error
    return topics


def _line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0] if text and text[0] else type(error).__name__


def _reader(path: Path) -> Any:
    from rosbags import rosbag1, rosbag2

    return rosbag1.Reader(path) if _is_ros1(path) else rosbag2.Reader(path)


def _read_file(path: Path, wanted: set[str], topics: dict[str, RawTopic], progress: Wrap | None) -> None:
    with _reader(path) as reader:
        connections = [c for c in reader.connections if c.msgtype in wanted]
        for c in reader.connections:
            topics.setdefault(c.topic, RawTopic(c.msgtype, not _is_ros1(path)))
        if not connections:
            return
        chunks = None if progress or _is_ros1(path) else indexed_chunks(reader)
        if chunks is not None:
            for storage in chunks:
                read_chunks(storage, wanted, lambda name, stamps, raws: topics[name].take_all(stamps, raws))
            return
        messages = reader.messages(connections=connections)
        if progress:
            messages = progress(messages, f"reading {path.name}", sum(c.msgcount for c in connections))
        for connection, stamp, raw in messages:
            topics[connection.topic].take(stamp, raw)
