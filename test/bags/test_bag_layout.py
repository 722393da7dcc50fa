"""The byte decoder against rosbags' own deserialiser, and against garbage."""

import numpy as np
import pytest
from bag_factory import JOINT_STATE, joint_state
from hypothesis import given, settings
from hypothesis import strategies as st
from rosbags.typesys import Stores, get_typestore

from robot_dynamics_ros.bags.layout import decode

STORES = {True: get_typestore(Stores.ROS2_JAZZY), False: get_typestore(Stores.ROS1_NOETIC)}


def serialised(ros2, *args):
    store = STORES[ros2]
    message = joint_state(store, *args, ros1=not ros2)
    return bytes((store.serialize_cdr if ros2 else store.serialize_ros1)(message, JOINT_STATE))


@settings(max_examples=60)
@given(
    ros2=st.booleans(),
    names=st.lists(st.text(st.characters(codec="ascii", exclude_characters="\0"), max_size=9), max_size=5),
    has=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    count=st.integers(1, 4),
    seed=st.integers(0, 9),
)
def test_decodes_what_was_written(ros2, names, has, count, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(count, 3, len(names)))
    fields = [[v if h else [] for v, h in zip(row, has, strict=True)] for row in values]
    raws = [serialised(ros2, 5 * 10**9 + k, names, *row) for k, row in enumerate(fields)]
    (group,), unreadable = decode(raws, JOINT_STATE, ros2)
    assert unreadable == 0 and group.names == tuple(names)
    np.testing.assert_array_equal(group.stamp_ns, 5 * 10**9 + np.arange(count))
    for k, field in enumerate(("position", "velocity", "effort")):
        np.testing.assert_array_equal(group.fields[field], values[:, k] if has[k] else values[:, k, :0])


@settings(max_examples=200)
@given(ros2=st.booleans(), cut=st.integers(0, 200), flips=st.lists(st.tuples(st.integers(0, 199), st.integers(0, 255))))
def test_garbage_never_raises_and_never_reads_beyond_the_message(ros2, cut, flips):
    raw = bytearray(serialised(ros2, 10**9, ["a", "bc"], [1, 2], [3, 4], [5, 6])[:cut])
    for at, value in flips:
        if at < len(raw):
            raw[at] = value
    groups, unreadable = decode([bytes(raw)], JOINT_STATE, ros2)
    assert sum(len(g.rows) for g in groups) + unreadable == 1


@pytest.mark.parametrize("ros2", [True, False])
def test_mixed_shapes_keep_their_rows(ros2):
    raws = [serialised(ros2, k + 1, ["a"] * (1 + k % 3), *([[float(k)] * (1 + k % 3)] * 3)) for k in range(9)]
    groups, _ = decode(raws, JOINT_STATE, ros2)
    for g in groups:
        np.testing.assert_array_equal(g.fields["position"][:, 0], g.rows)
        np.testing.assert_array_equal(g.stamp_ns, g.rows + 1)
