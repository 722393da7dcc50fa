"""The commands learn and learn-fleet: from bags to a version of the robot file, from states of robots to a prior."""

import json
import shutil
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from command_line import printed, robot_dynamics
from table_files import numbers

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.learning.fleet import learn_fleet, load_prior, save_prior
from robot_dynamics_ros.learning.store import Store
from robot_dynamics_ros.learning.update import Prior
from robot_dynamics_ros.robot_file import load_robot

TORQUE = "--effort", "torque"
run = partial(robot_dynamics, "learn")


def test_the_command_from_bags_to_a_version(worker, tmp_path, monkeypatch, request):
    bags = [write_bag(log, tmp_path / f"day{k}", topics=["joint_states"]) for k, log in enumerate(worker.logs[:3])]
    loaded = write_bag(worker.log(payload=1.5), tmp_path / "loaded", topics=["joint_states"])
    state = tmp_path / "state"
    first = run("ur5e", *bags[::-1], bags[1], "--state", state, "--effort", "torque", "--apply")
    assert first.exit_code == 0, first.output
    report = json.loads((state / "learn.json").read_text())
    assert [line.split(": ")[1] for line in report["lines"]][1:4] == ["day0", "day1", "day2"]  # in the order of time
    assert "day1: is given twice" in report["lines"][0]
    assert report["verdict"][1].startswith("While the arm stands it shows pushes from ")
    assert report["proposed"] and report["level"] == "good" and report["next"].endswith("robot.yaml")
    rows = {row["joint"]: row["cells"] for row in report["matrix"]["rows"]}
    assert set(rows) == set(worker.robot.joint_names)
    assert {joint for joint, cells in rows.items() if cells[1]["level"] == "good"} == set(report["better"])
    assert "<svg" in Path(report["files"]["report"]).read_text()
    assert report["files"]["robot_file"] == str(state / "robot.yaml")
    assert load_robot(state / "robot.yaml").hysteresis.model == "presliding"
    assert 0 < report["bytes"] < 3 * 100_000
    request.getfixturevalue("no_pictures")
    second = run("ur5e", bags[0], loaded, tmp_path / "nothing", "--state", state, "--effort", "torque")
    assert second.exit_code == 0, second.output
    assert json.loads((state / "learn.json").read_text())["level"] == "fair"  # two recordings were left out
    assert "is learned already" in second.output and "nan" not in second.output
    assert "held: loaded: held back, load of +1." in second.output
    assert "a new --state, or --accept loaded and --forget those before" in " ".join(second.output.split())
    assert "refused" in second.output and str(tmp_path / "nothing") in second.output
    none = run("ur5e", tmp_path / "nothing", "--state", state, "--apply")
    assert none.exit_code == 1 and f"refused: {tmp_path / 'nothing'}: no such file" in none.output
    assert str(none.exception) == "no recording is usable, nothing is learned"
    kept = run("ur5e", tmp_path / "nothing", "--state", state, "--accept", "loaded", "--forget", "day1")
    assert kept.exit_code == 1 and "nothing is learned, forgotten or accepted" in str(kept.exception)
    assert [len(list((state / folder).iterdir())) for folder in ("recordings", "held")] == [3, 1]
    gone = run("ur5e", "--state", state, "--forget", "day1")
    assert gone.exit_code == 0 and len(list((state / "recordings").iterdir())) == 2
    monkeypatch.setattr("robot_dynamics_ros.learning.session.read", Mock(side_effect=DataError("not by today's rules")))
    gone = run("ur5e", bags[0], "--state", state, "--forget", "day2")
    assert gone.exit_code == 0 and len(list((state / "recordings").iterdir())) == 1, gone.output


@pytest.mark.parametrize(("rows", "says"), [(12_500, "on the other half of a recording"), (3_500, "record once more")])
def test_one_recording_is_judged_by_its_halves_where_these_say_something(worker, tmp_path, no_pictures, rows, says):
    bag = numbers(worker.logs[0][:rows], tmp_path / "day0")
    done = run("ur5e", bag, "--state", tmp_path / "state", *TORQUE)
    report = json.loads((tmp_path / "state" / "learn.json").read_text())
    assert done.exit_code == 0 and says in " ".join(report["verdict"]), done.output
    assert report["level"] == ("fair" if report["proposed"] else "good") and len(report["lines"]) == 1
    again = run("ur5e", "--state", tmp_path / "state")  # the recording is not at hand, its proposal is
    assert "nan" not in again.output and ("as found with its recordings" in again.output) == report["proposed"]
    assert again.output.startswith("Fair" if report["proposed"] else "Good"), again.output


def test_a_recording_of_a_smaller_robot_is_refused(worker, tmp_path):
    bag = numbers(worker.logs[0], tmp_path / "day0")
    done = run("ur10e", bag, "--state", tmp_path / "state", *TORQUE)
    assert done.exit_code == 1 and "another robot than ur10e" in done.output, done.output


def test_wrong_input_is_one_line(worker, tmp_path):
    state = tmp_path / "state"
    nothing = run("ur5e", "--state", state)
    assert nothing.exit_code != 0 and "no recording is learned yet" in str(nothing.exception)
    missing = run("ur5e", tmp_path / "nothing", "--state", state)
    assert missing.exit_code != 0 and f"refused: {tmp_path / 'nothing'}" in missing.output
    long = run("ur5e", 300 * "x", "--state", state)
    assert long.exit_code != 0 and "refused: xxx" in long.output and "xxx: File name too long" in long.output
    other = run("ur10e", "--state", state)
    assert other.exit_code != 0
    unknown = run("ur5e", "--state", state, "--forget", "day1")
    assert unknown.exit_code != 0 and "0 recordings of that name" in str(unknown.exception)


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
    copy = shutil.copytree(cells[0], tmp_path / "copy")
    done = printed("learn-fleet", *cells, copy, other, tmp_path / "nothing", "--out", out)
    assert "2 robots" in done
    assert f"left out: {other}: is of another robot model" in done
    assert "nothing: holds no learned state" in done
    assert f"copy: holds a recording that {cells[0]} holds" in " ".join(done.split())
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

    save_prior(Prior(worker.prior.columns, worker.prior.mean + 0.1, worker.prior.covariance), tmp_path / "fleet.npz")
    store = Store(tmp_path / "new", worker.robot)
    assert prior_of_file(store, None) is None
    given = prior_of_file(store, tmp_path / "fleet.npz")
    again = prior_of_file(Store(tmp_path / "new"), None)
    assert given is not None and again is not None and np.array_equal(given.mean, again.mean)
