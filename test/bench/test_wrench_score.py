"""The scorer of the open benchmark: closed forms, and that it runs without this package."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from bench.commands.wrench import command
from bench.force.recordings import Trial
from bench.wrench import run, score
from bench.wrench.run import events
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

SCRIPT = Path(score.__file__)
TIME = np.arange(0, 20.0, 0.01)


def scored(tmp_path, flagged=None, error=0.0, std=None, pushes=((5.0, 5.5, 30.0), (10.0, 10.2, 15.0))):
    """Figures of one recording with pushes (begin, end, newton) along z, an error on every axis, and flags."""
    wrench = np.zeros((len(TIME), 6))
    for begin, end, newton in pushes:
        wrench[(TIME >= begin - 1e-9) & (TIME <= end + 1e-9), 2] = newton
    contact = wrench[:, 2] > 0
    truth = {"time": TIME, "wrench": wrench, "moving": TIME < 12, "contact": contact, "events": np.array(pushes)}
    ours = {"wrench": wrench + error, "std": std, "flagged": flagged}
    for folder, arrays in (("truth", truth), ("entry", ours)):
        (tmp_path / folder).mkdir(exist_ok=True)
        kept = {k: v for k, v in arrays.items() if v is not None}
        np.savez(tmp_path / folder / "plant_pushes_0.npz", **kept)
    return score.score(tmp_path / "truth", tmp_path / "entry")["plant_pushes"]


@pytest.mark.parametrize("text", ["nothing", "elastic-nothing"])
def test_a_plant_or_effect_that_is_not_known_is_named(text):
    with pytest.raises(ConfigError, match=f"--plants: {text}: unknown; known: "):
        run.people(load_robot("ur5e"), [text], 1, 0, ["gms"])


def test_an_error_of_known_size_and_its_deviations(tmp_path):
    found = scored(tmp_path, error=3.0, std=np.full((len(TIME), 6), 2.0))
    for state in ("moving", "rest", "contact"):
        assert found[f"force_{state}"] == pytest.approx(3.0) and found[f"moment_{state}"] == pytest.approx(3.0)
        assert (found[f"within_1_{state}"], found[f"within_2_{state}"]) == (0.0, 1.0)


def test_delay_missed_pushes_and_false_alarms_are_counted(tmp_path):
    flagged = ((TIME >= 5.02) & (TIME < 5.6)) | ((TIME > 14.0) & (TIME < 14.5)) | ((TIME > 14.55) & (TIME < 15.0))
    found = scored(tmp_path, flagged)
    assert found["missed"] == 0.5 and (found["missed_10_20"], found["missed_20_50"]) == (1.0, 0.0)
    assert found["delay_median"] == pytest.approx(0.02)
    free = (18.0 - 1.7 + 0.01) / 3600  # of 18 s scored: two pushes and the time behind them, an end that counts
    assert found["free_hours"] == pytest.approx(free, rel=0.01)
    assert found["false_per_hour"] == pytest.approx(1 / found["free_hours"])  # two claims 50 ms apart are one
    assert found["false_low"] < found["false_per_hour"] < found["false_high"]


@pytest.mark.parametrize("count", [0, 1, 3, 20, 400])
def test_the_interval_of_a_number_of_alarms_is_that_of_a_poisson_number(count):
    low, high = score.poisson(count)
    assert high == pytest.approx(stats.chi2.ppf(0.975, 2 * count + 2) / 2, rel=0.01)
    if count != 1:  # where its lower end is half of the exact one
        assert low == pytest.approx(stats.chi2.ppf(0.025, 2 * count) / 2 if count else 0.0, rel=0.08)


def test_a_claim_that_never_ends_finds_nothing(tmp_path):
    assert scored(tmp_path, np.ones(len(TIME), bool))["missed"] == 1.0


def test_a_recording_without_contacts_has_false_alarms_only(tmp_path):
    found = scored(tmp_path, (TIME > 14.0) & (TIME < 14.5), pushes=())
    assert found["events"] == 0 and "missed" not in found and found["free_hours"] == pytest.approx(18 / 3600, rel=0.01)
    assert found["false_per_hour"] == pytest.approx(200, rel=0.01) and "force_contact" not in found


def test_without_flags_the_threshold_is_the_smallest_that_the_rate_allows(tmp_path):
    found = scored(tmp_path, error=np.where((TIME > 15) & (TIME < 16), 10.0, 0.0)[:, None] * np.eye(6)[0])
    assert 10.0 < found["threshold"] < 12.5 and found["false_per_hour"] == 0 and found["missed"] == 0
    falling = [row["missed"] for row in found["roc"]]
    assert falling == sorted(falling) and falling[0] == 0 and falling[-1] == 1


def test_it_needs_numpy_alone_and_names_what_is_missing(tmp_path):
    scored(tmp_path)
    code = "import sys, runpy; sys.modules['robot_dynamics_ros'] = sys.modules['scipy'] = None; "
    code += f"sys.argv = ['s', *sys.argv[1:]]; runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    command = [sys.executable, "-c", code, "truth", "entry", "--json", "f.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "force_moving" in done.stdout, done.stderr
    assert json.loads((tmp_path / "f.json").read_text())["plant_pushes"]["events"] == 2
    (tmp_path / "entry" / "plant_pushes_0.npz").unlink()
    with pytest.raises(SystemExit, match=r"plant_pushes_0.npz: missing"):
        score.score(tmp_path / "truth", tmp_path / "entry")
    with pytest.raises(SystemExit, match="nowhere: no recordings"):
        score.score(tmp_path / "nowhere", tmp_path / "entry")


def test_an_input_is_read_as_it_was_written_and_a_training_one_has_no_truth(tmp_path):
    robot, q = load_robot("ur5e"), np.random.default_rng(0).normal(size=(50, 6))
    log = Log(robot.joint_names, np.arange(50) * 2_000_000, {"q": q, "qd": -q, "effort": 10 * q})
    run._record(tmp_path, "plant0_training_0", log)
    read = run._read(robot, tmp_path / "inputs" / "plant0_training_0.npz")
    assert np.array_equal(read.stamp_ns, log.stamp_ns) and not (tmp_path / "truth").exists()
    for name in ("q", "qd", "effort"):
        np.testing.assert_allclose(read.get(name), log.get(name), rtol=1e-6)


def test_events_are_the_stretches_with_force():
    size = np.array([0, 2, 5, 0, 0, 7.0])
    assert events(np.arange(6.0), size).tolist() == [[1, 2, 5], [5, 5, 7]]


def entered(monkeypatch, tmp_path, seed, count):
    """What enter() gives of one robot without recording or identifying it."""
    robot, rows = load_robot("ur5e"), 50
    log = Log(robot.joint_names, np.arange(rows) * 100_000_000, {"q": np.zeros((rows, 6))})
    trial = Trial("", log, {"external_wrench": np.zeros((rows, 6))}, np.ones(rows, bool), np.zeros(rows, bool))
    zero = {"zero": lambda log, _: {"wrench": np.zeros((rows, 6))}}
    fakes = {"recorded": (log, ""), "touched": trial, "identified_file": robot, "entries": zero, "replayed": log}
    for name, value in fakes.items():
        monkeypatch.setattr(run, name, lambda *_, value=value: value)
    (who,) = run.people(robot, ["elastic"], 1, seed, ["gms"])
    return run.enter("ur5e", who, {"pushes": count, "collisions": 0, "free": 0}, 1.0, ["zero"], tmp_path)


def test_recordings_of_another_robot_are_not_taken_for_its_own(tmp_path, monkeypatch):
    for count in (2, 1):
        assert len(entered(monkeypatch, tmp_path, 0, count)) == count
    with pytest.raises(ConfigError, match=r"--out: .*holds another robot elastic0"):
        entered(monkeypatch, tmp_path, 1, 1)


def test_what_an_earlier_run_left_is_not_scored(tmp_path, monkeypatch):
    entered(monkeypatch, tmp_path, 0, 2)
    (tmp_path / "submissions" / "zero" / "elastic_pushes_0001.npz").unlink()  # of an entry that was not in that run
    (tmp_path / "submissions" / "ours").mkdir()
    monkeypatch.setattr(run, "enter_all", lambda *_: set(entered(monkeypatch, tmp_path, 0, 1)))
    given = ["--out", str(tmp_path), "--plants", "elastic", "--entries", "zero", "--json", str(tmp_path / "f.json")]
    done = CliRunner().invoke(command, given)
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "f.json").read_text())
    assert found.keys() == {"zero"} and found["zero"]["elastic_pushes"]["free_hours"] == pytest.approx(3.0 / 3600)
