"""State directories of robots of one model -> the prior of the next one: `learn-fleet`."""

import numpy as np
import pytest
from command_line import robot_dynamics

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.learning.fleet import learn_fleet, load_prior, save_prior
from robot_dynamics_ros.learning.store import Store
from robot_dynamics_ros.learning.update import Prior
from robot_dynamics_ros.robot_file import load_robot


@pytest.fixture(scope="module")
def cells(worker, tmp_path_factory):
    found, folder = [], tmp_path_factory.mktemp("cells")
    for name, triangles in (("cell_1", worker.triangles[:2]), ("cell_2", worker.triangles[2:])):
        store = Store(folder / name, worker.robot)
        for T in triangles:
            store.add(T)
        found.append(store.directory)
    return found


def test_the_command_writes_a_prior_and_names_what_it_left_out(worker, cells, tmp_path):
    other, out = Store(tmp_path / "other", load_robot("ur10e")).directory, tmp_path / "fleet.npz"
    done = robot_dynamics("learn-fleet", *cells, other, tmp_path / "nothing", "--out", out)
    assert done.exit_code == 0, done.output
    assert "2 robots" in done.output
    assert f"left out: {other}: is of another robot model" in done.output
    assert "nothing: holds no learned state" in done.output
    prior = load_prior(worker.prior.columns, out)
    assert not np.array_equal(prior.mean, worker.prior.mean)


def test_one_robot_is_no_fleet(cells, tmp_path):
    with pytest.raises(DataError, match=r"a fleet needs two robots .* 1$"):
        learn_fleet(cells[:1])
    new = Store(tmp_path / "new", load_robot("ur5e")).directory
    with pytest.raises(DataError, match=r" 1; .*new: no recording is learned yet$"):
        learn_fleet([new, cells[0]])


def test_a_new_robot_keeps_the_prior_that_it_was_given(worker, tmp_path):
    from robot_dynamics_ros.learning.fleet import prior_of_file

    save_prior(Prior(worker.prior.columns, worker.prior.mean + 0.1, worker.prior.covariance), tmp_path / "fleet.npz", 2)
    store = Store(tmp_path / "new", worker.robot)
    assert prior_of_file(store, None) is None
    given = prior_of_file(store, tmp_path / "fleet.npz")
    again = prior_of_file(Store(tmp_path / "new"), None)
    assert given is not None and again is not None and np.array_equal(given.mean, again.mean)
