"""Any JointState bag becomes the same log; joints, stamps and faults of real recordings."""

from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from bag_factory import JOINTS, bag, messages, rows, simple, write

from robot_dynamics_ros.bags import load_bag, segments
from robot_dynamics_ros.bags.layout import MAX_SHAPES
from robot_dynamics_ros.bags.reader import PARTIAL
from robot_dynamics_ros.bags.storage import bag_files
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.learning.intake import bag_hash

LIMITS = SimpleNamespace(velocity=None)
ROBOT = SimpleNamespace(joint_names=JOINTS, joint_aliases={"Wrist 1": "wrist"}, limits=LIMITS)


def suffix(kind):
    return "x.bag" if kind == "ros1" else "x"


@pytest.mark.parametrize("kind", ["ros1", "sqlite3", "mcap"])
def test_every_format_gives_the_same_numbers(tmp_path, kind):
    path, (stamp, q, qd, effort) = simple(tmp_path / suffix(kind), kind)
    log, report = load_bag(path, ROBOT)
    np.testing.assert_array_equal(log.stamp_ns, stamp)
    for name, values in (("q", q), ("qd", qd), ("effort", effort)):
        np.testing.assert_array_equal(getattr(log, name), values)
    assert report.rows == 50 and report.stamps == "header" and not report.dropped
    assert report.rate == pytest.approx(500)


@pytest.mark.parametrize("kind", ["sqlite3", "mcap"])
def test_directory_without_metadata_and_single_file(tmp_path, kind):
    path, (_, q, _, _) = simple(tmp_path / "x", kind)
    (path / "metadata.yaml").unlink()
    np.testing.assert_array_equal(load_bag(path, ROBOT)[0].q, q)
    (inside,) = path.iterdir()
    np.testing.assert_array_equal(load_bag(inside, ROBOT)[0].q, q)


def test_parts_of_a_recording_are_joined_in_time(tmp_path):
    stamp, q, qd, effort = rows()
    items = messages(stamp, q, qd, effort)
    first = write(tmp_path / "1", "mcap", {"/js": items[:20]})
    second = write(tmp_path / "2", "mcap", {"/js": items[20:]})
    np.testing.assert_array_equal(load_bag([second, first], ROBOT)[0].q, q)


def test_the_duration_of_parts_is_that_of_the_data(tmp_path):
    """An hour between two parts does not count; parts whose clocks overlap count each."""
    stamp, q, qd, effort = rows(period_ns=20_000_000)
    paths = []
    for k, begin in enumerate((0, 3600 * 10**9)):
        paths.append(bag(tmp_path / f"{k}", stamp + begin, q, qd, effort))
    one = 1e-9 * float(np.ptp(stamp))
    for parts in (paths, [paths[0], paths[0]]):
        _, report = load_bag(parts, ROBOT)
        assert report.duration == pytest.approx(2 * one) and f"{2 * one:.1f} s in 2 parts" in report.lines()[0]
    assert f"{one:.1f} s at" in load_bag(paths[0], ROBOT)[1].lines()[0]


def test_the_duration_without_a_part_that_is_dropped_is_that_of_the_rest(tmp_path):
    stamp, q, qd, effort = rows(period_ns=20_000_000)
    paths = [
        bag(tmp_path / f"{k}", stamp + k * 3600 * 10**9, q, qd, effort * np.nan if k == 0 else effort) for k in range(2)
    ]
    _, report = load_bag(paths, ROBOT)
    assert report.duration == pytest.approx(1e-9 * np.ptp(stamp))


def test_joints_reordered_aliased_and_extra_give_identical_columns(tmp_path):
    stamp, q, qd, effort = rows(joints=4)
    names = ("Wrist 1", "gripper", "shoulder", "elbow")
    log, _ = load_bag(bag(tmp_path / "x", stamp, q, qd, effort, names=names), ROBOT)
    np.testing.assert_array_equal(log.effort, effort[:, [2, 3, 0]])


def test_order_may_change_from_message_to_message(tmp_path):
    stamp, q, qd, effort = rows()
    items = []
    for k in range(len(stamp)):
        order = [0, 1, 2] if k % 2 else [2, 0, 1]
        names = [JOINTS[i] for i in order]
        items.append((stamp[k], names, q[k][order], qd[k][order], effort[k][order]))
    np.testing.assert_array_equal(load_bag(write(tmp_path / "x", "mcap", {"/js": items}), ROBOT)[0].q, q)


@pytest.mark.parametrize(("travel", "named"), [(2.0, True), (0.05, False)])
def test_a_joint_that_moves_beside_those_of_the_arm_is_named(tmp_path, travel, named):
    """A rail carries the arm; fingers that move by centimetres do not."""
    stamp, q, qd, effort = rows(joints=4)
    q[:, 3] = np.linspace(0.0, travel, len(q))
    _, report = load_bag(bag(tmp_path / "x", stamp, q, qd, effort, names=(*JOINTS, "rail")), ROBOT)
    assert any("moved: rail (by 2 rad or m); accelerations" in note for note in report.notes) == named
    assert bool(report.notes) == named


def test_messages_of_a_gripper_alone_are_ignored_and_counted(tmp_path):
    stamp, q, qd, effort = rows()
    arm = messages(stamp, q, qd, effort)
    both = [item for k in range(50) for item in (arm[k], (stamp[k], ["finger"], [0.1], [0.0], []))]
    log, report = load_bag(write(tmp_path / "x", "mcap", {"/js": both}), ROBOT)
    np.testing.assert_array_equal(log.q, q)
    assert report.dropped == {"message of other joints": 50}


WRONG = {("shoulder", "elbow", "other"): "'wrist' is missing.* aliases$", ("wrist", "elbow", "wrist"): "shoulder"}
WRONG |= {(*JOINTS, "Wrist 1"): "'wrist' is present 2 times"}


@pytest.mark.parametrize(("names", "text"), WRONG.items())
def test_missing_or_duplicate_joint_is_named(tmp_path, names, text):
    path, _ = simple(tmp_path / "x", names=names, joints=len(names))
    with pytest.raises(DataError, match=text):
        load_bag(path, ROBOT)


def test_messages_that_lack_a_joint_are_dropped_and_counted(tmp_path):
    stamp, q, qd, effort = rows()
    items = messages(stamp, q, qd, effort)
    for k in (7, 20):
        items[k] = (stamp[k], JOINTS[:2], q[k, :2], qd[k, :2], effort[k, :2])
    log, report = load_bag(write(tmp_path / "x", "mcap", {"/js": items}), ROBOT)
    assert len(log) == 48 and report.dropped == {PARTIAL: 2} and report.lost == 2


def test_an_arm_in_parts_is_refused_with_what_to_do(tmp_path):
    stamp, q, qd, effort = rows()
    parts = [slice(0, 2), slice(2, 3)]
    items = [(stamp[k], JOINTS[p], q[k, p], qd[k, p], effort[k, p]) for k in range(50) for p in parts]
    with pytest.raises(DataError, match="no message holds every joint: .* record all in one message"):
        load_bag(write(tmp_path / "x", "mcap", {"/js": items}), ROBOT)


def test_a_joint_that_never_has_an_effort_is_named(tmp_path):
    stamp, q, qd, effort = rows()
    effort[:, 2] = np.nan
    path = write(tmp_path / "x", "mcap", {"/js": messages(stamp, q, qd, effort)})
    with pytest.raises(DataError, match="0 usable messages.*50 effort NaN, infinite or absent, always of wrist$"):
        load_bag(path, ROBOT)


def test_more_orders_of_joints_than_are_read_are_named(tmp_path):
    names = [f"j{k}" for k in range(6)]
    orders = list(permutations(range(6)))[: MAX_SHAPES + 5]
    items = [(10**9 + k, [names[i] for i in order], np.arange(6.0), [], []) for k, order in enumerate(orders)]
    log, report = load_bag(write(tmp_path / "x", "mcap", {"/js": items}), require=("q",))
    assert len(log) == MAX_SHAPES
    assert report.dropped == {"message cannot be decoded, or is in one of more than 200 orders of joints": 5}


def test_empty_effort_is_a_clear_error_and_can_be_allowed(tmp_path):
    stamp, q, qd, _ = rows()
    items = [(s, JOINTS, a, b, []) for s, a, b in zip(stamp, q, qd, strict=True)]
    path = write(tmp_path / "x", "mcap", {"/js": items})
    with pytest.raises(DataError, match="has no effort"):
        load_bag(path, ROBOT)
    assert not load_bag(path, ROBOT, require=("q",))[0].has("effort")


def test_bad_rows_are_dropped_and_counted_by_reason(tmp_path):
    stamp, q, qd, effort = rows()
    q[3, 1], qd[5, 0], effort[7, 2], qd[9, 0] = np.nan, np.inf, np.nan, 1e300
    stamp[20] = stamp[19]
    items = messages(stamp, q, qd, effort)
    items[11] = (*items[11][:4], [])
    path = write(tmp_path / "x", "mcap", {"/js": items})
    log, report = load_bag(path, ROBOT)
    assert len(log) == 44 and sum(report.dropped.values()) == 6
    assert np.isfinite(log.effort).all() and (np.diff(log.stamp_ns) > 0).all()
    assert len(load_bag(path, ROBOT, repair=False)[0]) == 50


def test_one_impossible_velocity_costs_its_row_and_a_wrong_unit_keeps_all(tmp_path):
    stamp, q, qd, effort = rows()
    for name, factor, left in (("rad", 1.0, 49), ("deg", 57.3, 50)):
        v = factor * qd
        v[9, 0] = 500.0
        log, report = load_bag(bag(tmp_path / name, stamp, q, v, effort), ROBOT)
        assert len(log) == left and report.lost == 50 - left, report.dropped
    limits = SimpleNamespace(velocity=[None] * (len(JOINTS) - 1) + [300.0])
    fast = SimpleNamespace(**vars(ROBOT) | {"limits": limits})
    assert len(load_bag(tmp_path / "rad", fast)[0]) == 50


@pytest.mark.parametrize("constant", [0, 1])
def test_constant_header_stamps_are_recognised_and_reported(tmp_path, constant):
    stamp, *values = rows()
    log, report = load_bag(bag(tmp_path / "x", np.full_like(stamp, constant), *values, receive=stamp), ROBOT)
    np.testing.assert_array_equal(log.stamp_ns, stamp)
    assert report.stamps == "receive" and f"header stamps are constant ({constant} ns)" in report.notes[0]
    with pytest.raises(DataError, match="needs 2"):
        load_bag(bag(tmp_path / "y", *(x[:1] for x in rows())), ROBOT)


def test_other_topics_that_are_not_stamped_are_placed_by_arrival(tmp_path):
    """Currents and temperatures of a publisher that stamps nothing were lost without a word."""
    stamp, q, qd, effort = rows()
    topics = {"/joint_states": messages(stamp, q, qd, effort), "/motor_currents": messages(0 * stamp, q, qd, effort)}
    log, _ = load_bag(write(tmp_path / "bag", "mcap", topics, receive=stamp))
    np.testing.assert_array_equal(log.current, effort)


def test_of_other_topics_whose_joints_change_order_each_row_has_the_latest(tmp_path):
    """What the messages of one order said last was kept over the first ones of the next order."""
    stamp, q, qd, effort = rows()
    items = messages(stamp, q, qd, effort)
    turned = messages(stamp, *(x[:, ::-1].copy() for x in (q, qd, effort)), names=JOINTS[::-1])
    mixed = [(turned if k // 10 % 2 else items)[k] for k in range(len(items))]
    log, _ = load_bag(write(tmp_path / "bag", "mcap", {"/joint_states": items, "/motor_currents": mixed}))
    np.testing.assert_array_equal(log.current, effort)


def test_slightly_swapped_messages_are_sorted_and_a_restarted_clock_is_kept(tmp_path):
    stamp, q, qd, effort = rows()
    stamp[[10, 11]] = stamp[[11, 10]]
    items = messages(stamp, q, qd, effort)
    path = write(tmp_path / "x", "mcap", {"/js": items}, receive=np.sort(stamp))
    log, report = load_bag(path, ROBOT)
    assert (np.diff(log.stamp_ns) > 0).all() and "sorted" in report.notes[0]
    twice = items[:10] + [(s - 10**9, *rest) for s, *rest in items[12:]]
    path = write(tmp_path / "y", "mcap", {"/js": twice}, receive=np.sort(stamp))
    log, report = load_bag(path, ROBOT)
    assert "backwards" in report.notes[0] and [len(s) for s in segments(log)] == [10, 38]


@pytest.mark.parametrize(("at", "wrong"), [(20, 0), (20, -(10**9)), (20, 10**9), (0, 0), (49, 0)])
def test_a_single_stamp_that_jumps_is_no_clock_that_starts_again(tmp_path, at, wrong):
    """Observers began again behind it, and a recording of 0.1 s lasted 53 years."""
    stamp, *signals = rows()
    header = stamp.copy()
    header[at] = header[at] + wrong if wrong else 0
    path = bag(tmp_path / "x", header, *signals, receive=stamp)
    log, report = load_bag(path, ROBOT)
    np.testing.assert_array_equal(log.stamp_ns, np.delete(stamp, at))
    assert report.dropped == {"stamp that alone jumps": 1} and not report.notes
    assert report.duration == pytest.approx(0.098 if at == 20 else 0.096)
    assert len(load_bag(path, ROBOT, repair=False)[0]) == 50


def test_several_topics_must_be_chosen_and_are_listed(tmp_path):
    items = messages(*rows())
    path = write(tmp_path / "x", "mcap", {"/left": items, "/right": items[:40], "/left/friction_torque": items})
    with pytest.raises(DataError, match="--topic.; topics: /left, /right$"):  # and none that cannot be chosen
        load_bag(path, ROBOT)
    assert len(load_bag(path, ROBOT, topic="right")[0]) == 40
    with pytest.raises(DataError, match="'middle'; topics: /left, /right$"):
        load_bag(path, ROBOT, topic="middle")


@pytest.mark.parametrize("kind", ["ros1", "sqlite3", "mcap"])
def test_truncated_bag_is_one_clear_error(tmp_path, kind):
    path, _ = simple(tmp_path / suffix(kind), kind, n=2000)
    files = [path] if path.is_file() else [p for p in path.iterdir() if p.suffix != ".yaml"]
    files[0].write_bytes(files[0].read_bytes()[: files[0].stat().st_size * 2 // 3])
    with pytest.raises(DataError, match="cannot be read as a bag, truncated") as caught:
        load_bag(path, ROBOT)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["nothing.bag", "text.mcap", "empty"])
def test_what_is_no_bag_is_one_clear_error(tmp_path, name):
    (tmp_path / "text.mcap").write_text("hello")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=name.split(".")[0]):
        load_bag(tmp_path / name, ROBOT)


def test_a_recorder_that_takes_messages_in_bursts_does_not_make_good_stamps_bad():
    from robot_dynamics_ros.bags.reader import choose_stamps

    header = 10**18 + 1_200_000 * np.arange(20_000)
    burst = 300_000_000 * (np.arange(20_000) // 250) + 90_000 * (np.arange(20_000) % 250)
    assert choose_stamps(header, header[0] + burst)[1] == "header"
    assert choose_stamps(header[0] + (header - header[0]) * 1000, header[0] + burst)[1] == "receive"


@pytest.mark.parametrize("name", ["a.bag", "a.db3", "a.mcap", "a.mcap.zstd", "data/chunk-000/file-000.parquet"])
def test_recordings_in_directories_are_told_apart(tmp_path, name):
    files = [tmp_path / recording / name for recording in ("first", "second")]
    for file, recording in zip(files, ("first", "second"), strict=True):
        file.parent.mkdir(parents=True)
        file.write_text(recording)
        (tmp_path / recording / "notes.txt").write_text("is no part of it")
    assert bag_files([tmp_path / "first", files[1]]) == files
    assert bag_hash(tmp_path / "first") != bag_hash(tmp_path / "second") == bag_hash(files[1])
