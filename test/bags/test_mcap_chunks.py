"""Chunks of an mcap file taken apart here: the messages and the order that rosbags gives."""

import numpy as np
import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from robot_dynamics_ros.bags import storage
from robot_dynamics_ros.bags.live_writer import LiveWriter, recover
from robot_dynamics_ros.errors import DataError

TYPES = get_typestore(Stores.ROS2_HUMBLE)
STRING, BOOL = "std_msgs/msg/String", "std_msgs/msg/Bool"


def written(path, compression, stamps, length=20_000, mode=CompressionMode.STORAGE, plugin=StoragePlugin.MCAP):
    """A bag of two topics whose messages are written in the order of `stamps` [ns]; long ones fill several chunks."""
    writer = Writer(path, version=9, storage_plugin=plugin)
    if compression:
        writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        text = writer.add_connection("/text", STRING, typestore=TYPES)
        flag = writer.add_connection("/flag", BOOL, typestore=TYPES)
        for k, stamp in enumerate(stamps):
            message = TYPES.types[STRING](data=f"{k} " + "x" * length)
            writer.write(text, int(stamp), TYPES.serialize_cdr(message, STRING))
            writer.write(flag, int(stamp), TYPES.serialize_cdr(TYPES.types[BOOL](data=k % 3 == 0), BOOL))
    return path


@pytest.mark.parametrize("compression", [False, True])
@pytest.mark.parametrize("order", ["rising", "shuffled", "equal"])
def test_messages_and_order_are_those_of_rosbags(tmp_path, monkeypatch, compression, order):
    stamps = {"rising": np.arange(200), "shuffled": np.random.default_rng(0).permutation(200), "equal": np.zeros(200)}
    bag = written(tmp_path / "bag", compression, stamps[order])
    with Reader(bag) as reader:
        (inside,) = storage.indexed_chunks(reader)
        assert len(inside.chunks) > 1
    ours = storage.read_topics(bag, [STRING, BOOL])
    monkeypatch.setattr(storage, "indexed_chunks", lambda reader: None)
    theirs = storage.read_topics(bag, [STRING, BOOL])
    assert list(ours) == list(theirs) and len(ours["/text"].raws) == 200
    for name, topic in theirs.items():
        assert ours[name].receive_ns == topic.receive_ns
        assert ours[name].raws == topic.raws


def test_other_types_are_not_read(tmp_path):
    topics = storage.read_topics(written(tmp_path / "bag", False, np.arange(10)), [BOOL])
    assert len(topics["/flag"].raws) == 10 and not topics["/text"].raws


def test_a_record_beyond_its_chunk_is_refused(tmp_path):
    bag = written(tmp_path / "bag", False, np.arange(3), length=40)
    (file,) = bag.glob("*.mcap")
    data = bytearray(file.read_bytes())
    place = data.index(b"0 xxxx") - 4 - 4 - 22 - 8  # length of the text, of the record: before its channel
    data[place : place + 8] = (2**40).to_bytes(8, "little")
    file.write_bytes(bytes(data))
    with pytest.raises(DataError, match="truncated or not a bag"):
        storage.read_topics(bag, [STRING])


def test_a_library_that_does_not_load_is_no_truncated_bag(tmp_path, monkeypatch):
    def broken(*_):
        raise ImportError("libzstd.so.1: cannot open shared object file")

    bag = written(tmp_path / "bag", False, np.arange(3))
    monkeypatch.setattr(storage, "_read_file", broken)
    with pytest.raises(DataError, match="cannot be loaded .libzstd") as caught:
        storage.read_topics(bag, [STRING])
    assert "truncated" not in str(caught.value)


@pytest.mark.parametrize("compression", [False, True])
def test_a_file_that_was_cut_names_what_brings_it_back(tmp_path, compression):
    bag = written(tmp_path / "bag", compression, np.arange(200))
    (whole,) = bag.glob("*.mcap")
    cut, text = tmp_path / "cut.mcap", tmp_path / "text.mcap"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    text.write_text("no bag")
    with pytest.raises(DataError, match=r"record --recover .*cut\.mcap --out"):
        storage.read_topics(cut, [STRING])
    with pytest.raises(DataError) as error:
        storage.read_topics(text, [STRING])
    assert "--recover" not in str(error.value)
    assert recover(cut, tmp_path / "new")["/flag"] > 10
    cut.write_bytes(whole.read_bytes()[:100])
    with pytest.raises(DataError, match="no complete message"):
        recover(cut, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_chunk_that_is_not_compressed_gives_its_messages_whatever_its_checksum(tmp_path):
    """Of a damaged file one record is lost, not the seconds of its chunk."""
    (file,) = written(tmp_path / "bag", False, np.arange(3), length=40).glob("*.mcap")
    data = bytearray(file.read_bytes())
    chunk = 8 + 9 + int.from_bytes(data[9:17], "little")  # behind the header
    data[chunk + 9 + 24 : chunk + 9 + 28] = b"oops"
    file.write_bytes(bytes(data))
    assert data[chunk] == 6 and recover(file, tmp_path / "new") == {"/text": 3, "/flag": 3}


def test_what_cannot_be_opened_names_no_way_back(tmp_path):
    (tmp_path / "bag" / "bag.mcap").mkdir(parents=True)
    (tmp_path / "bag" / "metadata.yaml").touch()
    with pytest.raises(DataError, match=r"not a bag \([^;]*$"):
        storage.read_topics(tmp_path / "bag", [STRING])


@pytest.mark.parametrize("plugin", [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_messages_that_are_compressed_alone_are_unpacked(tmp_path, plugin):
    """Compression mode `message` of `ros2 bag record`, with metadata.yaml and without."""
    plain = storage.read_topics(written(tmp_path / "plain", False, np.arange(20), plugin=plugin), [STRING, BOOL])
    bag = written(tmp_path / "bag", True, np.arange(20), mode=CompressionMode.MESSAGE, plugin=plugin)
    read = storage.read_topics(bag, [STRING, BOOL])
    (bag / "metadata.yaml").unlink()
    for found in (read, storage.read_topics(bag, [STRING, BOOL])):
        assert {name: topic.raws for name, topic in found.items()} == {n: topic.raws for n, topic in plain.items()}
    if plugin == StoragePlugin.MCAP:
        recover(bag, tmp_path / "new")
        assert storage.read_topics(tmp_path / "new", [STRING])["/text"].raws == plain["/text"].raws


def test_a_message_that_is_long_when_unpacked_is_counted(tmp_path):
    bag = written(tmp_path / "bag", True, np.arange(2), length=2 * storage.MAX_MESSAGE, mode=CompressionMode.MESSAGE)
    topic = storage.read_topics(bag, [STRING])["/text"]
    assert topic.too_long == 2 and not topic.raws


def test_a_file_that_is_compressed_as_a_whole_is_named_where_it_cannot_be_read(tmp_path):
    bag = written(tmp_path / "bag", True, np.arange(3), mode=CompressionMode.FILE)
    assert len(storage.read_topics(bag, [STRING])["/text"].raws) == 3
    (bag / "metadata.yaml").unlink()
    (file,) = written(tmp_path / "last", False, np.arange(3)).glob("*.mcap")
    for beside in (False, True):  # a killed recording leaves its last part as it is
        if beside:
            file.rename(bag / "bag_1.mcap")
        with pytest.raises(DataError, match=r"bag\.mcap\.zstd is compressed: unpack it"):
            storage.read_topics(bag, [STRING])
        with pytest.raises(DataError, match=r"bag\.mcap\.zstd is compressed: unpack it"):
            recover(bag, tmp_path / "new")


def test_parts_without_metadata_are_read_in_the_order_of_their_numbers(tmp_path):
    """A killed `ros2 bag record` with split files leaves no metadata.yaml: part 10 is not read behind part 1."""
    parts = tmp_path / "parts"
    parts.mkdir()
    for k in range(11):
        (file,) = written(tmp_path / f"{k}", False, [k], length=40).glob("*.mcap")
        file.rename(parts / f"run_{k}.mcap")
    assert storage.read_topics(parts, [STRING])["/text"].receive_ns == list(range(11))


def test_topics_of_types_that_only_the_file_describes_are_recovered(tmp_path):
    """A driver's own messages; a definition that describes nothing costs its topic alone."""
    store, name = get_typestore(Stores.ROS2_JAZZY), "ur_msgs/msg/IOStates"
    for text, kind in (("uint8 pin\nbool on", "ur_msgs/msg/Digital"), ("Digital[] pins\nfloat64 x", name)):
        store.register(get_types_from_msg(text, kind))
    message = store.types[name]([store.types["ur_msgs/msg/Digital"](3, True)], 2.5)
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        io = writer.add_connection("/io", name, typestore=store)
        flag = writer.add_connection("/flag", BOOL, typestore=store)
        for k in range(5):
            writer.write(io, k, store.serialize_cdr(message, name))
            writer.write(flag, k, store.serialize_cdr(store.types[BOOL](True), BOOL))
    assert recover(tmp_path / "bag", tmp_path / "new") == {"/io": 5, "/flag": 5}
    with Reader(tmp_path / "new") as reader:
        (found,) = (c for c in reader.connections if c.topic == "/io")
        known = get_typestore(Stores.ROS2_JAZZY)
        known.register(get_types_from_msg(found.msgdef.data, found.msgtype))
        raws = [known.deserialize_cdr(raw, name) for _, _, raw in reader.messages([found])]
    assert [m.x for m in raws] == [2.5] * 5 and raws[0].pins[0].pin == 3
    (file,) = (tmp_path / "bag").glob("*.mcap")
    (tmp_path / "bad.mcap").write_bytes(file.read_bytes().replace(b"Digital[] pins", b"IOStates[] pin"))
    assert recover(tmp_path / "bad.mcap", tmp_path / "rest") == {"/flag": 5}


@pytest.mark.parametrize("text", ["", "][", "foo/Bar x", "T[] x"])
def test_a_type_that_is_not_described_is_not_recorded(tmp_path, text):
    with LiveWriter(tmp_path / "bag") as writer:
        assert not writer.add("/t", "a/msg/T", text) and writer.add("/text", STRING)
