"""Bags that were truncated, mutated or made to cost time: loaded or refused as DataError, in bounded work."""

import os
import random
import sqlite3
import warnings

import numpy as np
import pytest
from bag_factory import bag, rows, simple
from fuzz import SEED, mutated, tries

from robot_dynamics_ros.bags import layout, load_bag, write_bag
from robot_dynamics_ros.bags.live_writer import LiveWriter, recover
from robot_dynamics_ros.bags.writer import _store
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.topics import JOINT_STATE, MAIN, TOPICS
from robot_dynamics_ros.trajectories.files import load_trajectory

TRIES = tries(20)


def log_of(n=200):
    q = np.random.default_rng(1).normal(size=(n, 2))
    return Log(("a", "b"), 10**18 + np.arange(n) * 2_000_000, {"q": q, "effort": q})


def raw(frame, names=("a", "b")):
    message = layout.blank(TOPICS[MAIN], names, frame, TOPICS[MAIN].fields, _store().types.__getitem__, np.ones)
    return bytes(_store().serialize_cdr(message, JOINT_STATE))


@pytest.fixture
def parsed(monkeypatch):
    """How many messages were parsed one by one."""
    calls, real = [], layout.parse
    monkeypatch.setattr(layout, "parse", lambda *a: calls.append(1) or real(*a))
    return calls


def test_a_frame_id_that_changes_with_every_message_is_one_shape(parsed):
    groups, unreadable = layout.decode([raw(f"f{k:06d}") for k in range(2000)], JOINT_STATE, True)
    assert len(parsed) == 1 and len(groups) == 1 and not unreadable
    assert len(groups[0].rows) == 2000 and groups[0].names == ("a", "b")


def test_shapes_without_end_are_cut(parsed):
    raws = [raw("f", (f"a{k:05d}", "b")) for k in range(2000)] + [raw("f" * k) for k in range(1000)]
    groups, unreadable = layout.decode(raws, JOINT_STATE, True)
    assert len(parsed) <= layout.MAX_SHAPES and len(groups) == layout.MAX_SHAPES
    assert unreadable == 3000 - sum(len(g.rows) for g in groups)


@pytest.mark.parametrize("kind", ["load", "recover"])
def test_mutated_bags_are_loaded_or_refused(tmp_path, kind, tried):
    tried("bags", TRIES)
    rng, loaded = random.Random(SEED + 3), 0
    good = next(write_bag(log_of(), tmp_path / "bag").glob("*.mcap")).read_bytes()
    for k in range(TRIES):
        file = tmp_path / f"{k}.mcap"
        file.write_bytes(mutated(good, rng))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                load_bag(file) if kind == "load" else recover(file, tmp_path / f"out{k}")
                loaded += 1
            except DataError as error:
                assert "\n" not in str(error)
    assert loaded


def test_pipes_and_devices_are_refused_and_never_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.mcap")
    (tmp_path / "bag").mkdir()
    os.mkfifo(tmp_path / "bag" / "part.mcap")
    for path in (tmp_path / "pipe.mcap", tmp_path / "bag", "/dev/zero"):
        with pytest.raises(DataError, match="neither|no bag"):
            load_bag(path)
        if path != tmp_path / "bag":
            with pytest.raises(DataError, match="is no file"):
                load_trajectory(path, None)


def test_a_live_bag_is_whole_after_recovery(tmp_path):
    with LiveWriter(tmp_path / "live") as writer:
        writer.add("/joint_states", JOINT_STATE)
        for k in range(10):
            writer.write("/joint_states", k + 1, raw("f"))
    assert recover(tmp_path / "live", tmp_path / "again") == {"/joint_states": 10}


@pytest.mark.parametrize("stamp", ["text", -5, b"xx", 1.5, -(2**63)])
def test_a_stamp_that_is_no_time_costs_its_message_and_no_other(tmp_path, stamp):
    path, _ = simple(tmp_path / "bag", kind="sqlite3", n=50)
    with sqlite3.connect(next(path.glob("*.db3"))) as database:
        database.execute("update messages set timestamp = ? where id in (3, 4)", (stamp,))
    database.close()
    log, report = load_bag(path)
    assert len(log) == 48 and report.dropped == {"message whose stamp is no time": 2}
    assert (np.diff(log.stamp_ns) > 0).all()


def test_an_mcap_stamp_beyond_64_bits_with_sign_costs_its_message_and_no_other(tmp_path):
    data = rows(50)
    received = [2**63 if k == 3 else int(s) for k, s in enumerate(data[0])]
    log, report = load_bag(bag(tmp_path / "bag", *data, receive=received))
    assert len(log) == 49 and report.dropped == {"message whose stamp is no time": 1}


def test_header_stamps_before_1970_are_dropped(tmp_path):
    stamp, q, qd, effort = rows(50)
    stamp[7:9] = -5_000_000_000, -4_000_000_000
    log, report = load_bag(bag(tmp_path / "bag", stamp, q, qd, effort, receive=rows(50)[0]))
    assert len(log) == 48 and log.stamp_ns.min() > 0 and report.dropped == {"stamp before 1970": 2}
