"""A posterior that is kept between runs is that of all recordings, and old recordings are not read again for it."""

import os

import numpy as np
import pytest

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.learning.running import Running
from robot_dynamics_ros.learning.session import Session
from robot_dynamics_ros.learning.store import Store
from robot_dynamics_ros.learning.update import Prior


@pytest.fixture
def store(worker, tmp_path):
    found = Store(tmp_path / "state", worker.robot)
    for T in worker.triangles[:3]:
        found.add(T)
    return found


def same(a, b):
    return np.allclose(a.mean, b.mean, rtol=1e-9, atol=1e-12) and np.allclose(a.std, b.std, rtol=1e-9)


def test_the_kept_posterior_is_that_of_all_recordings(worker, store):
    first = store.posterior(worker.prior)
    store.add(worker.triangles[3])
    after = store.posterior(worker.prior)
    assert same(first.state, Running.of(worker.prior, worker.triangles[:3]).state)
    assert same(after.state, worker.state)
    assert list(after.recordings.values()) == ["day0", "day1", "day2", "day3"]
    assert after.seconds == pytest.approx(sum(T.about["seconds"] for T in worker.triangles))


def test_only_new_recordings_are_read(worker, store, monkeypatch):
    store.posterior(worker.prior)
    store.add(worker.triangles[3])
    read = []
    original = Store.triangles

    def triangles(self, folder="recordings", names=None):
        read.extend(self.names(folder) if names is None else names)
        return original(self, folder, names)

    monkeypatch.setattr(Store, "triangles", triangles)
    store.posterior(worker.prior)
    assert read == [worker.triangles[3].about["sha256"][:16]]


def test_a_session_reads_no_old_recording_for_a_new_one(worker, store, monkeypatch):
    session = Session(store, worker.prior, Options(effort="torque"))
    session.known()
    monkeypatch.setattr(Store, "triangles", lambda *_, **__: pytest.fail("old recordings were read"))
    from robot_dynamics_ros.identification.dataset.recording import recording

    session.add(recording(worker.logs[3], "day3"), "3" * 64)
    assert len(session.known().recordings) == 4
    assert Running.of(worker.prior).kept(store.directory / "posterior.npz").recordings == session.known().recordings


def test_a_table_whose_clock_is_no_date_is_learned_at_that_of_its_file(worker, store, tmp_path):
    log, path = worker.logs[3], tmp_path / "day3.npz"
    np.savez(path, time=log.time, q=log.q, qd=log.qd, effort=log.effort)
    os.utime(path, ns=(int(log.stamp_ns[0]),) * 2)
    session = Session(store, worker.prior, Options(effort="torque"))
    session.learn([path])
    assert session.lines[0] == f"dated: {path}: its stamps are no dates, that of the file is taken"
    assert session.known().time == pytest.approx(1e-9 * log.stamp_ns[0])
    assert list(session.known().recordings.values())[-1] == "day3.npz"


def test_forgetting_a_bad_day_is_exact(worker, store):
    """The posterior without the day is that of the others, bit for bit."""
    store.add(worker.triangles[3])
    store.posterior(worker.prior)
    store.move("day1", "recordings", None)
    after = store.posterior(worker.prior).state
    never = Running.of(worker.prior, [T for k, T in enumerate(worker.triangles) if k != 1]).state
    assert np.array_equal(after.R, never.R) and np.array_equal(after.z, never.z)


def test_a_recording_that_comes_late_is_taken_in_at_its_time(worker, tmp_path):
    store = Store(tmp_path, worker.robot)
    for T in (worker.triangles[0], worker.triangles[3], worker.triangles[1]):
        store.add(T)
        found = store.posterior(worker.prior)
    expected = Running.of(worker.prior, [worker.triangles[k] for k in (0, 1, 3)]).state
    assert same(found.state, expected)


@pytest.mark.parametrize("what", ["prior", "damage", "foreign"])
def test_a_kept_posterior_of_something_else_is_not_used(worker, store, what):
    store.posterior(worker.prior)
    path, prior = store.directory / "posterior.npz", worker.prior
    if what == "prior":
        prior = Prior(prior.columns, prior.mean + 1e-3, prior.covariance)
    elif what == "damage":
        raw = bytearray(path.read_bytes())
        raw[len(raw) // 2] ^= 1
        path.write_bytes(raw)
    else:
        path.write_bytes(b"no archive")
    assert Running.of(prior).kept(path) is None
    assert same(store.posterior(prior).state, Running.of(prior, worker.triangles[:3]).state)


def test_a_damaged_triangle_is_named_when_it_is_needed(worker, store):
    path = next((store.directory / "recordings").glob("*.triangle"))
    path.write_bytes(b"x" * 100)
    with pytest.raises(DataError, match=f"{path.name}.*damaged"):
        store.posterior(worker.prior)
