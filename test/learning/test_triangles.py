"""Triangles are exactly the rows they came from; merging is exact; what is damaged or foreign is refused by name."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.learning.columns import Columns
from robot_dynamics_ros.learning.fleet import evidence_of
from robot_dynamics_ros.learning.intake import Work, triangles_of, working_motion
from robot_dynamics_ros.learning.store import Store
from robot_dynamics_ros.learning.triangles import Triangle, load, save
from robot_dynamics_ros.learning.update import rows_of
from robot_dynamics_ros.robot_file import load_robot

EXACT = 1e-12


def folded(worker, motion, weight, day=0.0):
    n = worker.robot.n_joints
    about = {"robot_id": worker.prior.columns.robot_id, "recording": str(day), "time": day}
    return Triangle(triangles_of(worker.prior, Work(motion), weight), weight.sum(axis=0), np.ones(n), np.ones(n), about)


@pytest.fixture(scope="module")
def motions(worker):
    return [working_motion(rec).take(np.arange(3000)) for rec in worker.recordings[:3]]


def test_evidence_of_recordings_is_that_of_all_their_rows(worker, motions, rng):
    c = worker.prior.columns
    parts = [folded(worker, m, rng.uniform(0.2, 1.0, m.q.shape), k) for k, m in enumerate(motions)]
    x = np.append(rng.normal(size=c.size), -1.0)
    rows = sum(np.sum((rows_of(part, c) @ x) ** 2) for part in parts)
    for order in (parts, parts[::-1]):
        assert np.sum((evidence_of(c, order) @ x) ** 2) == pytest.approx(rows, rel=EXACT)


def test_a_triangle_says_what_its_rows_say(worker, motions, rng):
    """Oracle: dense rows from the regressor of the model and from columns written out, no QR of the core."""
    c, m = worker.prior.columns, motions[0].take(np.arange(400))
    weight = rng.uniform(0.2, 1.0, m.q.shape)
    warmer = rng.uniform(-5.0, 5.0, m.q.shape)
    joints = triangles_of(worker.prior, Work(m, warmer), weight)
    W = c.rigid.base_regressor(m.q, m.qd, m.qdd)
    x = np.concatenate([rng.normal(size=c.base), *(rng.normal(size=len(t)) for t in c.terms)])
    for j, F in enumerate(c.friction(m, c.load(m), warmer)):
        error = m.effort[:, j] - W[j] @ x[: c.base] - F @ x[c.own(j)]
        squares = np.sum((joints[j] @ np.append(x[c.index[j]], -1.0)) ** 2)
        assert squares == pytest.approx((weight[:, j] * error**2).sum(), rel=1e-10)


def test_a_file_comes_back_as_it_was(worker, tmp_path):
    c, T = worker.prior.columns, worker.triangles[0]
    size = save(T, tmp_path / "a.triangle")
    back = load(tmp_path / "a.triangle", c)
    assert size == (tmp_path / "a.triangle").stat().st_size < 100_000
    assert back.about == T.about
    for a, b in zip(back.joints, T.joints, strict=True):
        assert np.array_equal(a, np.triu(b))


@settings(max_examples=60)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7), cut=st.booleans())
def test_any_damage_is_refused_by_name(worker, tmp_path_factory, place, bit, cut):
    c, path = worker.prior.columns, tmp_path_factory.mktemp("state") / "day.triangle"
    save(worker.triangles[0], path)
    raw = bytearray(path.read_bytes())
    k = int(place * len(raw))
    if cut:
        raw = raw[:k]
    else:
        raw[k] ^= 1 << bit
    path.write_bytes(raw)
    with pytest.raises(DataError, match="day.triangle.*damaged"):
        load(path, c)


def test_a_foreign_triangle_is_refused_by_name(worker, tmp_path):
    other = Columns(load_robot("ur10e"))
    assert other.robot_id != worker.prior.columns.robot_id
    save(worker.triangles[0], tmp_path / "day.triangle")
    with pytest.raises(DataError, match="day.triangle.*another robot model"):
        load(tmp_path / "day.triangle", other)


def test_a_triangle_without_provenance_or_of_a_later_format_is_refused(worker, tmp_path):
    c, T = worker.prior.columns, worker.triangles[0]
    for change in ({"format": 99}, {"sha256": None}):
        about = {k: v for k, v in (T.about | change).items() if v is not None}
        save(Triangle(T.joints, T.count, T.correlation, T.reference, about), tmp_path / "day.triangle")
        with pytest.raises(DataError, match=f"day.triangle.*{next(iter(change))}"):
            load(tmp_path / "day.triangle", c)


def test_a_state_directory_keeps_removes_and_names_what_it_lacks(worker, tmp_path):
    store = Store(tmp_path / "state", worker.robot)
    for T in worker.triangles[:2]:
        store.add(T)
    assert [T.time for T in store.triangles()] == [T.time for T in worker.triangles[:2]]
    assert store.place_of(worker.triangles[0].about["sha256"]) == "recordings"
    store.offer(worker.robot)
    store.move("day0", "recordings", None)
    assert store.offered() is None  # a file that was learned from it is not applied later
    assert [T.about["recording"] for T in store.triangles()] == ["day1"]
    store.move("day1", "recordings", "held")
    assert store.triangles() == [] and len(store.triangles("held")) == 1
    with pytest.raises(DataError, match="day7.*there are none"):
        store.move("day7", "recordings", None)
    with pytest.raises(DataError, match="state of ur5e, not of"):
        Store(tmp_path / "state", load_robot("fr3"))
    with pytest.raises(DataError, match="no learned state"):
        Store(tmp_path / "nothing")
    store.note("learned", "day1")
    assert store.history()[-1]["text"] == "day1"


def test_only_the_last_versions_are_kept(worker, tmp_path, monkeypatch):
    monkeypatch.setattr("robot_dynamics_ros.learning.store.KEPT", 2)
    store = Store(tmp_path, worker.robot)
    for _ in range(4):
        store.apply(worker.robot)
    assert [path.name for path in store.versions()] == ["0003.yaml", "0004.yaml"]
    assert store.present().inertial_parameters == pytest.approx(worker.robot.inertial_parameters)
