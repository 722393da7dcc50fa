"""Files of a `learn` state that were damaged, with a checksum that fits: numbers that a recording can leave behind, or
one line that names the file.
"""

import json
import random

import numpy as np
from fuzz import NUMBERS, SEED, mutated, tries
from test_state_of_strangers import replaced, triangle

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.learning.fleet import load_prior, save_prior
from robot_dynamics_ros.learning.running import Running
from robot_dynamics_ros.learning.store import Store
from robot_dynamics_ros.learning.triangles import FORMAT, load, save

TRIES = tries(20)
KIND = "files of a learn state"


def changed(rng, values):
    """An array with one number, its shape or its kind changed."""
    values = np.array(values)
    if rng.random() < 0.7 and values.size:
        values.flat[rng.randrange(values.size)] = rng.choice(NUMBERS)
        return values
    return rng.choice([values[:-1], values[None], values.astype(complex), values.astype("S8"), np.zeros(0)])


def test_damaged_triangles_are_finite_or_refused(tmp_path, columns, prior, tried):
    tried(KIND, TRIES)
    path, rng, first = tmp_path / "a.triangle", random.Random(SEED), triangle(columns)
    save(first, path)
    good = path.read_bytes()
    words = [None, True, 1e300, -1, "x", [], {}, float("nan"), "../../a", "a" * 10_000]
    for _ in range(TRIES):
        about = first.about | {rng.choice(list(first.about)): rng.choice(words)} if rng.random() < 0.4 else first.about
        arrays = {"about": np.frombuffer(json.dumps(about).encode(), np.uint8)}
        name = rng.choice(["joint_0", "joint_5", "count", "correlation", "reference"])
        number = name.removeprefix("joint_")
        T = first.joints[int(number)] if number.isdigit() else None
        arrays[name] = changed(rng, getattr(first, name) if T is None else T[np.triu_indices(len(T))])
        replaced(path, good, **arrays)
        if rng.random() < 0.3:
            path.write_bytes(mutated(good, rng))
        try:
            found = load(path, columns)
        except RobotDynamicsError as error:
            assert path.name in str(error)
            continue
        assert found.about["format"] == FORMAT and np.isfinite(found.sigma).all()
        state = Running.of(prior, [found]).state
        assert np.isfinite(state.R).all() and np.isfinite(state.z).all()


def test_damaged_histories_posteriors_and_priors_are_read_or_refused(tmp_path, columns, prior, tried):
    tried(KIND, 3 * TRIES)
    store, rng = Store(tmp_path, columns.robot), random.Random(SEED + 1)
    store.note("learned", "day0", seconds=60.0)
    known = Running.of(prior, [triangle(columns)])
    known.save(tmp_path / "posterior.npz")
    save_prior(prior, tmp_path / "fleet.npz")
    good = {path: path.read_bytes() for path in map(tmp_path.joinpath, ("history.json", "posterior.npz", "fleet.npz"))}
    for _ in range(TRIES):
        for path, content in good.items():
            path.write_bytes(mutated(content, rng))
            try:
                if path.suffix == ".json":
                    store.history()
                elif path.stem == "fleet":
                    assert np.isfinite(load_prior(columns, path).covariance).all()
                elif (kept := Running.of(prior).kept(path)) is not None:
                    assert np.isfinite(kept.state.R).all() and np.isfinite(kept.state.z).all()
            except RobotDynamicsError as error:
                assert path.name in str(error) and "\n" not in str(error)
