"""Learning beside a running robot: samples become a batch, a process learns it, the loop goes on."""

import errno
from types import SimpleNamespace

import numpy as np
import pytest

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.learning import batch
from robot_dynamics_ros.learning.batch import Collector, learn_batch, read_batch
from robot_dynamics_ros.learning.fleet import save_prior
from robot_dynamics_ros.learning.running import Running
from robot_dynamics_ros.learning.store import Store
from robot_dynamics_ros.learning.update import Prior
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Sample


def feed(collector, log, rows, payload=np.nan):
    sample = Sample(log.joint_names)
    for k in range(rows):
        sample.stamp_ns = int(log.stamp_ns[k])
        for name in ("q", "qd", "effort", "temperature"):
            getattr(sample, name)[:] = log.signals[name][k]
        sample.payload[:] = payload
        collector.on_sample(sample)


def test_a_full_batch_is_learned_by_a_process_of_its_own(worker, tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "NICE", 0)  # with less priority it takes minutes on a busy machine
    log = worker.logs[0]
    collector = Collector(worker.robot, tmp_path / "state", len(log) / 500.0 / 60.0, 500.0)
    feed(collector, log, len(log))
    collector.close(wait=True)
    store = Store(tmp_path / "state")
    assert [entry["what"] for entry in store.history()] == ["learned"], store.history()
    assert collector.learned == 1 and len(store.triangles()) == 1
    assert list((tmp_path / "state" / "batches").iterdir()) == []


def test_samples_of_a_batch_come_back_as_they_were(worker, tmp_path, monkeypatch):
    log = worker.logs[0]
    collector = Collector(worker.robot, tmp_path, 100 / 500.0 / 60.0, 500.0)
    failed = SimpleNamespace(returncode=1, poll=lambda: 1)
    monkeypatch.setattr("robot_dynamics_ros.learning.batch.subprocess.Popen", lambda *_, **__: failed)
    feed(collector, log, 150, payload=1.5)
    collector.close(wait=True)
    (path,) = (tmp_path / "batches").iterdir()
    back = read_batch(path)
    assert np.array_equal(back.stamp_ns, log.stamp_ns[:100])
    assert all(np.array_equal(back.signals[k], log.signals[k][:100]) for k in ("q", "qd", "effort", "temperature"))
    assert (back.payload == 1.5).all()  # of rows that recording() leaves out
    with pytest.raises(DataError):
        learn_batch(tmp_path, path)  # a fifth of a second says nothing
    assert Store(tmp_path).history()[-1]["what"] == "refused" and not path.exists()


def test_a_node_that_ends_neither_waits_for_the_learning_process_nor_takes_it_along(worker, tmp_path, monkeypatch):
    given = {}
    endless = SimpleNamespace(returncode=None, poll=lambda: None)
    monkeypatch.setattr(batch.subprocess, "Popen", lambda *_, **options: given.update(options) or endless)
    collector = Collector(worker.robot, tmp_path, 50 / 500.0 / 60.0, 500.0)
    feed(collector, worker.logs[0], 50)
    collector.close()
    collector.close(wait=True)
    assert given == {"start_new_session": True}  # code between fork and exec may hang beside the threads of a node
    assert not collector.busy and not collector.learned


def test_a_batch_that_comes_while_one_is_learned_is_dropped(worker, tmp_path):
    collector = Collector(worker.robot, tmp_path, 50 / 500.0 / 60.0, 500.0)
    collector.busy = True
    feed(collector, worker.logs[0], 120)
    collector.close(wait=True)
    assert not (tmp_path / "batches").exists()


def test_a_batch_that_is_not_learned_is_a_line_of_the_console_that_says_why(worker, tmp_path, monkeypatch, capfd):
    def full(path, **arrays):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    log = worker.logs[0]
    collector = Collector(worker.robot, tmp_path, 50 / 500.0 / 60.0, 500.0)
    collector.busy = True
    feed(collector, log, 50)
    assert f"learn_state: {tmp_path}: the machine is too slow" in capfd.readouterr().err
    collector.busy = False
    with monkeypatch.context() as disk:
        disk.setattr(batch, "write_arrays", full)
        feed(collector, log, 50)
        collector.close(wait=True)
    assert "is not learned: [Errno 28] No space left" in capfd.readouterr().err and not collector.busy
    written(log[:9], tmp_path / "7.npz")
    monkeypatch.setattr("sys.argv", ["batch", str(tmp_path), str(tmp_path / "7.npz")])
    monkeypatch.setattr(batch, "refuse", lambda *_: full("history.json"))
    with pytest.raises(SystemExit, match=r"learn_state: .*: the batch 7 is not learned: .*No space left"):
        batch.main()
    (tmp_path / "7.npz").write_bytes(b"damaged")
    with pytest.raises(SystemExit, match="is no batch"):
        batch.main()
    assert not (tmp_path / "7.npz").exists()


def test_another_robots_state_is_refused_at_the_start(worker, tmp_path):
    Store(tmp_path, worker.robot)
    with pytest.raises(DataError, match="state of ur5e, not of fr3"):
        Collector(load_robot("fr3"), tmp_path, 1.0, 500.0)


def written(log, path):
    data = {name: log.signals[name] for name in ("q", "qd", "effort", "temperature")}
    np.savez(path, stamp_ns=log.stamp_ns, names=np.array(log.joint_names), **data)
    return path


@pytest.mark.parametrize("found", [True, False])
def test_the_console_says_where_a_better_robot_file_waits(worker, tmp_path, monkeypatch, found):
    Store(tmp_path, worker.robot)
    proposal = SimpleNamespace(robot=worker.robot if found else None)
    monkeypatch.setattr(batch.Session, "propose", lambda session: proposal)
    lines = learn_batch(tmp_path, written(worker.logs[0], tmp_path / "batch.npz"))
    assert (f"a better robot file waits: robot-dynamics learn ROBOT --state {tmp_path} --apply" in lines) == found


def test_a_batch_is_learned_with_the_prior_of_the_fleet_where_there_is_one(worker, tmp_path):
    store = Store(tmp_path, worker.robot)
    shifted = Prior(worker.prior.columns, worker.prior.mean + 0.1, worker.prior.covariance)
    save_prior(shifted, tmp_path / "fleet.npz")
    learn_batch(tmp_path, written(worker.logs[0], tmp_path / "batch.npz"))
    assert Running.of(shifted).kept(store.directory / "posterior.npz") is not None
    assert Running.of(worker.prior).kept(store.directory / "posterior.npz") is None


def test_a_node_gives_every_sample_to_the_collector_and_ends_it(tmp_path, monkeypatch):
    pytest.importorskip("rclpy", reason="rclpy is not installed")
    from stepped import Stepped, SteppedDriver

    given, ended = [], []

    def collector(robot, directory, minutes, rate):
        assert (robot.name, directory, minutes, rate) == ("ur5e", str(tmp_path), 0.5, 500.0)
        return SimpleNamespace(on_sample=lambda s: given.append(s.stamp_ns), close=lambda: ended.append(True))

    monkeypatch.setattr("robot_dynamics_ros.learning.batch.Collector", collector)
    rig = Stepped(SteppedDriver(), learn_state=str(tmp_path), learn_minutes=0.5)
    rig.cycle(50)
    assert len(given) == 50 and given[-1] == rig.driver.now and not ended
    rig.close()
    assert ended
