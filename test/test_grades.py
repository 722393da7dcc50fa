"""Grades, the one test of a changed joint, and the matrix of a report."""

import numpy as np
import pytest

from robot_dynamics_ros.verdict import CLEAR, SHARE, changed, level_of, matrix, short_names, times, verdict, worst


def test_the_headline_begins_with_grade_and_exceptions():
    said = verdict("good", "all is well.", "why", exceptions="elbow", then="robot-dynamics up")
    assert said["verdict"] == ["Good, except elbow: all is well.", "why"]
    assert (said["grade"], said["level"], said["next"]) == ("good", "good", "robot-dynamics up")
    assert verdict("bad", "x.")["verdict"] == ["Not usable: x."]


def test_an_exception_of_what_is_not_usable_is_not_called_usable():
    said = verdict("bad", "x.", "why", exceptions="elbow 35 % worse than with another model")
    assert said["verdict"] == ["Not usable: x.", "Besides: elbow 35 % worse than with another model.", "why"]


@pytest.mark.parametrize(
    ("value", "bounds", "level"),
    [(5, (10, 30), "good"), (20, (10, 30), "fair"), (40, (10, 30), "bad"), (0.99, (0.9, 0.5), "good")]
    + [(0.7, (0.9, 0.5), "fair"), (0.2, (0.9, 0.5), "bad"), (np.nan, (1, 2), "unknown"), (None, (1, 2), "unknown")],
)
def test_levels_in_both_directions(value, bounds, level):
    assert level_of(value, *bounds) == level


def test_the_worst_of_levels_leaves_out_what_is_unknown():
    assert worst(["good", "unknown", "fair"]) == "fair" and worst(["bad", "good"]) == "bad" and worst([]) == "good"


def test_a_joint_changed_where_it_is_clear_and_large():
    size, std = 10.0, 0.1
    just = max(CLEAR * std, SHARE * size)
    assert changed(1.01 * just, std, size) and changed(-1.01 * just, std, size)
    assert not changed(0.99 * just, std, size)
    assert not changed(0.5 * size, 0.5 * size / CLEAR, size)  # large, and may be chance
    assert not changed(np.nan, std, size)


def test_noise_alone_changes_no_joint():
    rng = np.random.default_rng(0)
    assert changed(rng.normal(size=100_000), 1.0, 1e-9).mean() < 1e-4


def test_the_matrix_holds_each_joint_once():
    table = matrix(["a", "b"], {"x": [("1", "good"), ("2", "bad")], "y": [("3", "fair"), ("–", "unknown")]})
    assert table["heads"] == ["x", "y"]
    assert [[c["text"] for c in row["cells"]] for row in table["rows"]] == [["1", "3"], ["2", "–"]]


@pytest.mark.parametrize(
    ("ratio", "words"),
    [(1.35, "+35 %"), (0.78, "-22 %"), (4.71, "4.7 times"), (3310.0, "over 100 times"), (np.nan, "over 100 times")],
)
def test_a_ratio_that_is_no_percentage_is_said_in_times(ratio, words):
    assert times(ratio) == words


APART = [(["/logs/a/run", "/logs/b/slow"], ["run", "slow"]), (["run", "run"], ["run", "run"]), ([], [])]
APART += [(["/logs/monday/run", "/logs/tuesday/run", "x"], ["monday/run", "tuesday/run", "x"])]


@pytest.mark.parametrize(("paths", "names"), APART)
def test_recordings_of_one_name_are_told_apart(paths, names):
    assert short_names(paths) == names
