"""What is written reads back equal, by us and by rosbags."""

import numpy as np
import pytest
from rosbags.highlevel import AnyReader

from robot_dynamics_ros.bags import load_bag, write_bag, writer
from robot_dynamics_ros.signals import Log, width
from robot_dynamics_ros.topics import ARRAY, BOOL, INPUT_TOPICS, TOPICS

NAMES = ("a", "b")
BAGGED = [s for t in TOPICS.values() if not t.per_joint for s in t.fields.values()]


def full_log(n=300):
    rng = np.random.default_rng(2)
    names = [*BAGGED, "temperature", "temperature_estimate", "temperature_variance"]
    signals = {s: rng.normal(size=(n, width(s, 2))) for s in names}
    return Log(NAMES, 10**18 + np.arange(n) * 2_000_000, signals)


def test_round_trip_is_exact(tmp_path):
    log = full_log()
    again, _ = load_bag(write_bag(log, tmp_path / "x"))
    np.testing.assert_array_equal(again.stamp_ns, log.stamp_ns)
    for name in BAGGED:
        np.testing.assert_array_equal(again.get(name), log.get(name), err_msg=name)


def test_a_clock_that_starts_again_reads_back_in_its_order(tmp_path):
    """The second run lay between the rows of the first one, and its messages counted in both."""
    log = full_log()
    log.stamp_ns[200:] -= 400_000_000
    again, report = load_bag(write_bag(log, tmp_path / "x"))
    np.testing.assert_array_equal(again.stamp_ns, log.stamp_ns)
    for name in set(BAGGED) - {"payload"}:
        np.testing.assert_array_equal(again.get(name), log.get(name), err_msg=name)
    assert any("went backwards 1 times" in note for note in report.notes)


def test_a_payload_is_written_at_its_changes_and_lasts(tmp_path):
    log = full_log()
    log.payload = np.full((len(log), 4), np.nan)
    log.payload[100:] = 1.5, 0.0, 0.01, 0.06
    log.payload[200:] = 0.0
    again, _ = load_bag(bag := write_bag(log, tmp_path / "x"))
    np.testing.assert_array_equal(again.payload, log.payload)
    with AnyReader([bag]) as reader:
        assert [c.msgcount for c in reader.connections if c.topic == "/payload"] == [2]


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_payload_arrives_by_the_clock_of_the_recorder_and_lasts_in_later_parts(tmp_path, hours, monkeypatch):
    """As live: one that is no number leaves the one before it."""
    log, filled, shift = full_log(), writer._filled, hours * 3600 * 10**9

    def of_robot(topic, log, *given):
        return filled(topic, Log(log.joint_names, log.stamp_ns + shift, log.signals), *given)

    monkeypatch.setattr(writer, "_filled", of_robot)
    log.payload = np.full((len(log), 4), np.nan)
    log.payload[100:] = 1.5, 0.0, 0.01, 0.06
    log.payload[150:, 2] = np.nan
    parts = [write_bag(log[:200], tmp_path / "x"), write_bag(log[200:], tmp_path / "y", topics=["joint_states"])]
    again, report = load_bag(parts)
    assert report.stamps == "header" and again.stamp_ns[0] == log.stamp_ns[0] + shift
    np.testing.assert_array_equal(again.payload, np.where(np.arange(300)[:, None] < 100, np.nan, log.payload[100]))


@pytest.mark.parametrize("names", [NAMES, ("Wrist 1", "joint-2")])
def test_temperatures_are_thinned_and_held(tmp_path, names):
    log = full_log()
    log = Log(names, log.stamp_ns, log.signals)
    again, _ = load_bag(write_bag(log, tmp_path / "x"))
    np.testing.assert_array_equal(again.temperature[:50], np.repeat(log.temperature[:1], 50, axis=0))
    np.testing.assert_array_equal(again.temperature[50], log.temperature[50])


@pytest.mark.parametrize("count", [40, 300])
def test_temperatures_that_only_some_rows_have_are_written(tmp_path, count):
    """The period of 0.1 s begins in rows that have none."""
    log = full_log(count)
    log.temperature[::2] = np.nan
    again, _ = load_bag(write_bag(log, tmp_path / "x"))
    np.testing.assert_array_equal(again.temperature[1], log.temperature[1])
    assert len(np.unique(again.temperature[1:], axis=0)) == -(-count // 50)


def test_absent_rows_are_not_written_and_other_readers_agree(tmp_path):
    log = full_log(20)
    log.external_wrench[3] = np.nan
    path = write_bag(log, tmp_path / "x", topics=["external_wrench_base"])
    with AnyReader([path]) as reader:
        forces = [reader.deserialize(raw, c.msgtype).wrench.force.x for c, _, raw in reader.messages()]
    np.testing.assert_array_equal(forces, np.delete(log.external_wrench[:, 0], 3))


def test_contact_of_the_whole_robot_is_there_as_live(tmp_path):
    """At every change and at 10 Hz; at any joint or the TCP; not where it is not known."""
    log = Log(NAMES, 10**18 + np.arange(200) * 10**7, {"q": np.zeros((200, 2)), "contact": np.zeros((200, 3))})
    log.contact[:10] = np.nan
    log.contact[33:55, 0] = 1.0
    log.contact[104:108, -1] = 1.0
    with AnyReader([write_bag(log, tmp_path / "x")]) as reader:
        found = [
            ((stamp - log.stamp_ns[0]) // 10**7, reader.deserialize(raw, c.msgtype).data)
            for c, stamp, raw in reader.messages()
            if c.topic == "/robot_dynamics/contact"
        ]
    rows = sorted({*range(10, 200, 10), 33, 55, 104, 108})
    assert found == [(k, 33 <= k < 55 or 104 <= k < 108) for k in rows]


def test_headers_name_the_frame_of_the_numbers(tmp_path):
    path = write_bag(full_log(3), tmp_path / "x", frame_id="root", wrench_frame_id="gripper")
    with AnyReader([path]) as reader:
        headed = [(c, raw) for c, _, raw in reader.messages() if c.msgtype not in (ARRAY, BOOL)]
        frames = {(c.topic.rsplit("/", 1)[1], reader.deserialize(raw, c.msgtype).header.frame_id) for c, raw in headed}
    framed = {"external_wrench", "external_wrench_std"}
    assert {name for name, frame in frames if frame == "gripper"} == framed
    assert {name for name, frame in frames if frame == "root"} >= {"external_wrench_base", "joint_states"}
    assert len(frames) == len({name for name, _ in frames})


@pytest.mark.parametrize("prefix", ["left/", "robot_dynamics/", ""])
@pytest.mark.parametrize("namespace", ["", "arm/"])
def test_topics_are_found_below_any_prefix(tmp_path, namespace, prefix, monkeypatch):
    log = full_log(20)
    monkeypatch.setattr(writer, "below", lambda _, name: namespace + prefix * (name not in INPUT_TOPICS) + name)
    again, report = load_bag(write_bag(log, tmp_path / "x"))
    assert report.topic == f"/{namespace}joint_states"
    np.testing.assert_array_equal(again.external_wrench, log.external_wrench)
    np.testing.assert_array_equal(again.mechanical_power, log.mechanical_power)
