"""A state directory that others wrote to: damage with a fitting checksum, two processes at once, a cell given twice."""

import hashlib
import io
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.learning.fleet import learn_fleet, load_prior, save_prior
from robot_dynamics_ros.learning.running import Running
from robot_dynamics_ros.learning.store import Store
from robot_dynamics_ros.learning.triangles import FORMAT, Triangle, load, save
from robot_dynamics_ros.learning.update import Prior
from robot_dynamics_ros.robot_file import load_robot


def triangle(columns, seed=0, **changes):
    """A triangle as a recording leaves it."""
    rng, n = np.random.default_rng(seed), columns.n
    joints = [np.triu(rng.normal(size=2 * (len(i) + 1,))) for i in columns.index]
    about = {"robot_id": columns.robot_id, "recording": f"day{seed}", "time": 1.7e9, "seconds": 60.0, "unit": "Nm"}
    about |= {"sha256": hashlib.sha256(str(seed).encode()).hexdigest(), "format": FORMAT, "version": "1"}
    values = {"count": np.full(n, 100.0), "correlation": np.full(n, 3.0), "reference": np.full(n, 2.0)}
    values |= {name: np.full(n, x) for name, x in changes.items() if name in values}
    about |= {name: x for name, x in changes.items() if name not in values}
    return Triangle(joints, **values, about=about)


WRONG = {"count": (1e300, np.nan, 0.0, -1.0), "correlation": (0.0, np.inf, -2.0), "reference": (np.nan, -1.0)}
WRONG |= {"time": (np.nan, np.inf, -1.0, "today", None, True), "seconds": (np.nan, [], -5.0)}
WRONG |= {"sha256": ("../../../etc", 7, ""), "recording": (["a"],)}
WRONG = [{name: x} for name, values in WRONG.items() for x in values]


def replaced(path: Path, good: bytes, **arrays):
    """A file with other arrays (None: without) and a checksum that fits."""
    with np.load(io.BytesIO(good[32:])) as file:
        data = {k: v for k, v in (dict(file) | arrays).items() if v is not None}
    body = io.BytesIO()
    np.savez(body, **data)
    path.write_bytes(hashlib.sha256(body.getvalue()).digest() + body.getvalue())


@pytest.fixture
def kept(columns, tmp_path):
    """A file of a recording, and its bytes."""
    path = tmp_path / "day.triangle"
    save(triangle(columns), path)
    load(path, columns)
    return path, path.read_bytes()


def test_a_number_that_no_recording_can_have_left_behind_is_refused_by_name(columns, kept):
    path, good = kept
    for change in WRONG:
        other = triangle(columns, **change)
        about = np.frombuffer(json.dumps(other.about).encode(), np.uint8)
        replaced(path, good, about=about, **{k: getattr(other, k) for k in ("count", "correlation", "reference")})
        with pytest.raises(DataError, match=r"day\.triangle: holds"):
            load(path, columns)


def test_arrays_of_another_shape_or_kind_are_refused_whatever_the_checksum_says(columns, kept):
    path, good = kept
    for name in ("about", "joint_0", "joint_5", "count", "correlation", "reference"):
        for value in (None, np.zeros(0), np.zeros((3, 3)), np.array("text"), np.array([1 + 2j])):
            replaced(path, good, **{name: value})
            with pytest.raises(DataError, match=r"day\.triangle"):
                load(path, columns)


def test_bytes_that_are_no_archive_are_refused_whatever_the_checksum_says(columns, tmp_path):
    path = tmp_path / "day.triangle"
    for body in (b"", b"PK\x03\x04", b"\x93NUMPY", b"x" * 1000):
        path.write_bytes(hashlib.sha256(body).digest() + body)
        with pytest.raises(DataError, match=r"day\.triangle"):
            load(path, columns)


def test_a_kept_posterior_that_cannot_be_one_is_computed_again(prior, tmp_path):
    path, good = tmp_path / "posterior.npz", Running.of(prior)
    for state in (good.state.R * np.nan, good.state.R[:3], np.zeros_like(good.state.R)):
        Running(prior, type(good.state)(state, good.state.z), 1.0, 1.0, {"a": "b"}).save(path)
        assert good.kept(path) is None


@pytest.mark.parametrize(
    "text",
    [
        *("{}", "{broken", '{"a": 1}', "[1]", '[{"what": "version"}]', '[{"what": 1, "text": 2}]', "3"),
        *(f'[{{"date": "", "what": "held", "text": "", "time": {time}}}]' for time in ('"noon"', "null", "1e300")),
    ],
)
def test_a_history_of_another_form_is_one_line(tmp_path, text):
    store = Store(tmp_path, load_robot("ur5e"))
    (tmp_path / "history.json").write_text(text)
    if text == "{}":
        assert store.history() == []
        return
    with pytest.raises(DataError, match=r"history\.json"):
        store.history()


def test_notes_of_several_processes_are_all_kept(tmp_path):
    """Threads with a store of their own each: a file lock belongs to the one who opened the file."""
    Store(tmp_path, load_robot("ur5e"))
    count = 5
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: [Store(tmp_path).note("learned", f"{k}.{i}") for i in range(count)], range(4)))
    assert len(Store(tmp_path).history()) == 4 * count


def cells(tmp_path, columns, names):
    for k, name in enumerate(names):
        Store(tmp_path / name, columns.robot).add(triangle(columns, k))
    return [tmp_path / name for name in names]


def test_a_damaged_cell_is_left_out_and_the_others_are_learned(columns, tmp_path):
    bad, *good = cells(tmp_path, columns, ["a", "b", "c"])
    for damage in ("first.yaml", "recordings"):
        if damage == "recordings":
            (bad / "first.yaml").write_bytes((good[0] / "first.yaml").read_bytes())
            path = next((bad / "recordings").iterdir())
            replaced(path, path.read_bytes(), count=np.zeros(3))
        else:
            (bad / "first.yaml").write_text("kinematics: [")
        _, left = learn_fleet([bad, *good])
        assert len(left) == 1 and left[0].startswith(str(bad))


def test_a_directory_that_is_given_twice_is_refused(columns, tmp_path):
    one, two = cells(tmp_path, columns, ["a", "b"])
    (tmp_path / "again").symlink_to(one)
    for twice in (one, one / ".." / "a", tmp_path / "again"):
        with pytest.raises(DataError, match="given twice"):
            learn_fleet([one, two, twice])


def test_a_prior_whose_covariance_is_none_is_refused(prior, columns, tmp_path):
    path = tmp_path / "fleet.npz"
    for mean, covariance in (
        (prior.mean * np.nan, prior.covariance),
        (prior.mean, -prior.covariance),
        (prior.mean, prior.covariance[:3]),
    ):
        save_prior(Prior(columns, mean, covariance), path)
        with pytest.raises(DataError, match=r"fleet\.npz: is damaged"):
            load_prior(columns, path)
