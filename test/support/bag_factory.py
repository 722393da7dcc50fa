"""Bags of every kind, written by rosbags itself (not by our writer) from rows of numbers."""

from pathlib import Path

import numpy as np
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

JOINTS = ("shoulder", "elbow", "wrist")
JOINT_STATE = "sensor_msgs/msg/JointState"


def rows(n=50, joints=3, period_ns=2_000_000, seed=0):
    rng = np.random.default_rng(seed)
    stamp = 1_700_000_000_000_000_000 + np.arange(n) * period_ns
    return stamp, *(rng.normal(size=(n, joints)) for _ in range(3))


def joint_state(store, stamp, names, q, qd, effort, ros1=False, seq=0):
    types = store.types
    time = types["builtin_interfaces/msg/Time"](sec=int(stamp // 10**9), nanosec=int(stamp % 10**9))
    Header = types["std_msgs/msg/Header"]
    header = Header(seq, time, "base") if ros1 else Header(time, "base")
    arrays = (np.asarray(a, dtype=float) for a in (q, qd, effort))
    return types[JOINT_STATE](header, list(names), *arrays)


def write(path: Path, kind: str, messages: dict[str, list], receive=None):
    """messages: topic -> [(stamp, names, q, qd, effort)]; kind: ros1, sqlite3 or mcap. Returns the path to open."""
    ros1 = kind == "ros1"
    store = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.ROS2_JAZZY)
    if ros1:
        writer = Writer1(path)
    else:
        plugin = StoragePlugin.MCAP if kind == "mcap" else StoragePlugin.SQLITE3
        writer = Writer2(path, version=9, storage_plugin=plugin)
    with writer:
        for topic, items in messages.items():
            connection = writer.add_connection(topic, JOINT_STATE, typestore=store)
            for k, (stamp, names, q, qd, effort) in enumerate(items):
                message = joint_state(store, stamp, names, q, qd, effort, ros1, k)
                raw = (store.serialize_ros1 if ros1 else store.serialize_cdr)(message, JOINT_STATE)
                writer.write(connection, int(stamp if receive is None else receive[k]), raw)
    return path


def messages(stamp, q, qd, effort, names=JOINTS):
    """Messages of a topic of `write`."""
    return [(s, names, a, b, c) for s, a, b, c in zip(stamp, q, qd, effort, strict=True)]


def bag(path, *data, kind="mcap", names=JOINTS, receive=None):
    """A bag of one topic; data: stamps, q, qd, effort as `rows` gives them. Returns the path to open."""
    return write(path, kind, {"/joint_states": messages(*data, names)}, receive)


def simple(path, kind="mcap", names=JOINTS, **kwargs):
    data = rows(**kwargs)
    return bag(path, *data, kind=kind, names=names), data
