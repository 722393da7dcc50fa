"""identify --vendor: the robot's own estimate at rest beside ours, of a bag and of a table."""

import json

import numpy as np
import pytest
from command_line import printed, robot_dynamics
from table_files import write_csv

from bench.evidence import vendor
from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.bags.wrench import load_wrench
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.robot_file import load_robot

UR5E = load_robot("ur5e")


def as_csv(path, log, wrench):
    """A record as ur_rtde writes it, with actual_TCP_force in base axes."""
    groups = {"q": log.q, "qd": log.qd, "current": log.effort, "TCP_force": wrench}
    return write_csv(path, {"timestamp": log.time} | {f"actual_{name}_{{}}": x for name, x in groups.items()})


@pytest.mark.parametrize("columns", ["actual_TCP_force", "actual_TCP_force_*"])
def test_a_wrench_of_a_table_is_that_of_its_rows(tmp_path, columns):
    rng = np.random.default_rng(0)
    log, _ = load_bag(as_csv(tmp_path / "a.csv", _log(100, rng), rng.normal(size=(100, 6))), UR5E)
    series = load_wrench([tmp_path / "a.csv"], columns, log, "header")
    rows = np.loadtxt(tmp_path / "a.csv", delimiter=",", skiprows=1)[:, -6:]
    np.testing.assert_allclose(series.at(log.stamp_ns), rows, atol=1e-9)
    with pytest.raises(DataError, match="no column 'other'"):
        load_wrench([tmp_path / "a.csv"], "other", log, "header")
    with pytest.raises(DataError, match="1 columns, expected 6"):
        load_wrench([tmp_path / "a.csv"], "actual_q_0", log, "header")


def _log(n, rng):
    from robot_dynamics_ros.signals import Log

    stamps = 10**18 + np.arange(n) * 10_000_000
    return Log(UR5E.joint_names, stamps, {name: rng.normal(size=(n, 6)) for name in ("q", "qd", "effort")})


def test_a_topic_that_is_not_there_is_refused_before_the_work(tmp_path):
    rng = np.random.default_rng(0)
    run = as_csv(tmp_path / "a.csv", _log(100, rng), rng.normal(size=(100, 6)))
    words = ["identify", run, "--robot", "ur5e", "--vendor", "O_F_ext_hat_K", "--out", tmp_path / "out"]
    done = robot_dynamics(*words)
    assert isinstance(done.exception, DataError) and "no column 'O_F_ext_hat_K'" in str(done.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.long
@pytest.mark.parametrize("robot", ["fr3", "ur5e"])
def test_before_and_after_are_judged_where_nothing_was_identified(tmp_path, robot):
    bag = vendor.record(robot, tmp_path / "bag", minutes=2.0)
    words = f"--robot {robot} --vendor /robot_dynamics/{vendor.TOPIC} --out"
    assert "not identified from" in printed("identify", bag, *words.split(), tmp_path / "out")
    theirs, before, after, unbiased = json.loads((tmp_path / "out" / "report.json").read_text())["vendor"]["rows"]
    known = min(theirs["rms"], before["rms"])
    assert after["rms"] < 0.5 * known and unbiased["rms"] < known
    assert unbiased["within_2"] > 0.85 and theirs["within_2"] is None
