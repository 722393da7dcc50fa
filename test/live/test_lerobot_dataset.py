"""replay of a LeRobot data set: a copy with the estimates as columns, which LeRobot loads where it is installed."""

import json
import shutil

import numpy as np
import pytest
from command_line import printed, robot_dynamics

from robot_dynamics_ros import load_bag, load_robot
from robot_dynamics_ros.bags.lerobot import write_dataset
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories.motions import fourier

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
FPS, FRAMES = 50, 150
JOINTS = load_robot("ur5e").joint_names
NAMES = [f"{j}.{kind}" for kind in ("pos", "vel", "torque") for j in JOINTS] + ["gripper.pos"]
WRENCH, STD, CONTACT = "observation.external_wrench", "observation.external_wrench_std", "observation.contact"


@pytest.fixture(scope="module")
def states():
    """State vectors (2, FRAMES, 19) of two episodes of the simulated arm, float32; it is pushed in the second."""
    q, qd, qdd = fourier([0.0, -1.2, 1.5, -1.9, -1.57, 0.4], duration=FRAMES / FPS)
    found = []
    for force in (0.0, 60.0):
        robot = SimulatedRobot("ur5e")
        robot.reset(q[0])
        wrench = np.zeros((len(q), 6))
        wrench[len(q) // 2 :, 1] = force
        log, _ = robot.run(q, qd, qdd, wrench=wrench, keep=len(q) // FRAMES)
        columns = (np.rad2deg(log.q), np.rad2deg(log.qd), log.effort, np.full((len(log), 1), 50.0))
        found.append(np.hstack(columns)[:FRAMES].astype(np.float32))
    return found


def by_hand(root, states):
    """The files of a data set as LeRobot 0.6 writes them, an episode per file."""
    state = {"dtype": "float32", "shape": [len(NAMES)], "names": NAMES}
    info = {"codebase_version": "v3.0", "fps": FPS, "features": {"observation.state": state}}
    kind = {"feature": {"dtype": "float32", "_type": "Value"}, "length": len(NAMES), "_type": "List"}
    about = {b"huggingface": json.dumps({"info": {"features": {"observation.state": kind}}}).encode()}
    for folder in ("meta", "data/chunk-000", "videos/front"):
        (root / folder).mkdir(parents=True)
    (root / "meta" / "info.json").write_text(json.dumps(info))
    (root / "meta" / "stats.json").write_text(json.dumps({"observation.state": {"min": [], "q50": [], "count": []}}))
    (root / "videos" / "front" / "file.mp4").write_bytes(b"film")
    for episode, values in enumerate(states):
        columns = {
            "observation.state": arrow.FixedSizeListArray.from_arrays(arrow.array(values.ravel()), len(NAMES)),
            "timestamp": np.arange(len(values), dtype=np.float32) / FPS,
            "episode_index": np.full(len(values), episode),
            "frame_index": np.arange(len(values)),
        }
        table = arrow.table(columns).replace_schema_metadata(about)
        parquet.write_table(table, root / "data" / "chunk-000" / f"file-{episode:03d}.parquet")
    return root


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Parquet files are read here and not in a process of their own."""
    monkeypatch.setattr("robot_dynamics_ros.bags.tables.NATIVE", {})


def rows(root, name):
    tables = [parquet.read_table(f)[name] for f in sorted((root / "data").glob("*/*.parquet"))]
    return np.array([row for table in tables for row in table.to_pylist()], dtype=float)


def numbered(source):
    """A log of the data set whose estimates are the number of their row."""
    robot = load_robot("ur5e")
    log, _ = load_bag(source, robot)
    for name, width in (("external_wrench", 6), ("external_wrench_std", 6), ("contact", 7)):
        log.allocate(name)[:] = np.arange(len(log))[:, None] * np.ones(width)
    log.contact[:, 1:] = 0.0  # the first joint touches, not the TCP
    return robot, log


def test_the_copy_has_the_columns_in_each_frame_and_all_that_was_there(tmp_path, states):
    source = by_hand(tmp_path / "set", states)
    before = {f: f.read_bytes() for f in source.rglob("*") if f.is_file()}
    copy = write_dataset(source, tmp_path / "copy", *numbered(source))
    np.testing.assert_array_equal(rows(copy, CONTACT), np.arange(2 * FRAMES))
    for name in (WRENCH, STD):
        np.testing.assert_array_equal(rows(copy, name), np.arange(2 * FRAMES)[:, None] * np.ones(6))
    np.testing.assert_array_equal(rows(copy, "observation.state"), rows(source, "observation.state"))
    assert (copy / "videos" / "front" / "file.mp4").read_bytes() == b"film"
    assert before == {f: f.read_bytes() for f in source.rglob("*") if f.is_file()}
    info = json.loads((copy / "meta" / "info.json").read_text())
    assert info["features"][WRENCH] == {"dtype": "float32", "shape": [6], "names": ["Fx", "Fy", "Fz", "Mx", "My", "Mz"]}
    stats = json.loads((copy / "meta" / "stats.json").read_text())[WRENCH]
    assert stats == {"min": [0.0] * 6, "q50": [FRAMES - 0.5] * 6, "count": [2 * FRAMES]}
    table = parquet.read_table(next((copy / "data").glob("*/*.parquet")))
    assert json.loads(table.schema.metadata[b"huggingface"])["info"]["features"][WRENCH]["length"] == 6
    again = write_dataset(copy, tmp_path / "again", *numbered(copy))
    np.testing.assert_array_equal(rows(again, WRENCH), rows(copy, WRENCH))


def test_a_frame_that_cannot_be_read_is_nan_and_the_others_keep_their_rows(tmp_path, states):
    broken = [states[0].copy(), states[1]]
    broken[0][40, 0] = np.nan
    source = by_hand(tmp_path / "set", broken)
    found = rows(write_dataset(source, tmp_path / "copy", *numbered(source)), WRENCH)[:, 0]
    assert np.isnan(found[40])
    np.testing.assert_array_equal(np.delete(found, 40), np.arange(2 * FRAMES - 1))


def test_another_version_and_a_name_that_is_taken_are_refused(tmp_path, states):
    source = by_hand(tmp_path / "set", states)
    (tmp_path / "taken" / "dataset").mkdir(parents=True)
    (tmp_path / "taken" / "dataset" / "mine").write_text("x")
    done = robot_dynamics("replay", source, "--robot", "ur5e", "--out", tmp_path / "taken")
    assert done.exit_code == 1 and not (tmp_path / "taken" / "estimates").exists()
    for inside in (source, source / "out"):  # what is copied would grow while it is copied
        done = robot_dynamics("replay", source, "--robot", "ur5e", "--out", inside)
        assert "is in the data set" in str(done.exception) and not (inside / "estimates").exists()
    info = json.loads((source / "meta" / "info.json").read_text())
    (source / "meta" / "info.json").write_text(json.dumps({**info, "codebase_version": "v2.1"}))
    with pytest.raises(DataError, match=r"codebase_version is v2.1, expected v3.0"):
        write_dataset(source, tmp_path / "old", *numbered(source))
    assert "v2.1" in printed("replay", source, "--robot", "ur5e", "--out", tmp_path / "old")
    assert (tmp_path / "old" / "replay.json").is_file()
    assert not (tmp_path / "old" / "dataset").exists()


@pytest.mark.long
def test_replay_writes_the_estimates_of_both_episodes(tmp_path, states):
    printed("replay", by_hand(tmp_path / "set", states), "--robot", "ur5e", "--out", tmp_path / "out")
    found = rows(tmp_path / "out" / "dataset", WRENCH)[:, 1]
    assert np.median(found[-50:] - found[FRAMES - 50 : FRAMES]) == pytest.approx(60.0, abs=8.0)


def test_lerobot_writes_such_a_data_set_and_loads_the_copy(tmp_path, states):
    datasets = pytest.importorskip("lerobot.datasets")
    features = {"observation.state": {"dtype": "float32", "shape": (len(NAMES),), "names": NAMES}}
    root = tmp_path / "set"
    made = datasets.LeRobotDataset.create("me/pushed", FPS, features=features, root=root, use_videos=False)
    for values in states:
        for row in values:
            made.add_frame({"observation.state": row, "task": "push"})
        made.save_episode()
    made.finalize()
    printed("replay", root, "--robot", "ur5e", "--out", tmp_path / "out")
    copy = tmp_path / "out" / "dataset"
    shutil.rmtree(root)
    loaded = datasets.LeRobotDataset("me/pushed", root=copy)
    assert len(loaded) == 2 * FRAMES and loaded.meta.stats[WRENCH]["mean"].shape == (6,)
    item = loaded[2 * FRAMES - 1]
    assert item[WRENCH].shape == (6,) and float(item[CONTACT]) in (0.0, 1.0)
    assert item[WRENCH].tolist() == pytest.approx(rows(copy, WRENCH)[-1].tolist())
