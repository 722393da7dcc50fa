"""Nothing of the user's is lost: what is written replaces only what it may, as a whole, by every command."""

import json
import os
import resource
import shlex
import signal
import stat
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from command_line import robot_dynamics

from robot_dynamics_ros.bags import load_bag, write_bag
from robot_dynamics_ros.bags.live_writer import recover
from robot_dynamics_ros.cli.identify import command as identify
from robot_dynamics_ros.cli.printed import write_json
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.contact_limits import ContactPeak
from robot_dynamics_ros.outputs import is_own_bag, new_bag, remove_bag, replacing, write_atomically
from robot_dynamics_ros.signals import Log


def log_of(n=20):
    return Log(("a", "b"), 10**18 + np.arange(n) * 2_000_000, {"q": np.zeros((n, 2)), "effort": np.ones((n, 2))})


@pytest.fixture
def precious(tmp_path):
    """A directory of the user's, with work in it."""
    place = tmp_path / "mydata"
    (place / "deep").mkdir(parents=True)
    (place / "deep" / "thesis.tex").write_text("years of work")
    return place


def kept(place):
    return (place / "deep" / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_bag_never_replaces_a_directory_that_is_no_bag_of_ours(precious, overwrite):
    with pytest.raises(DataError, match="no bag that robot-dynamics wrote"):
        write_bag(log_of(), precious, overwrite=overwrite)
    assert kept(precious)


def test_a_bag_is_replaced_only_by_overwrite_and_never_with_strange_files_in_it(tmp_path):
    bag = write_bag(log_of(), tmp_path / "bag")
    with pytest.raises(DataError, match="exists already"):
        write_bag(log_of(30), bag)
    assert len(load_bag(write_bag(log_of(30), bag, overwrite=True))[0]) == 30
    (bag / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match="no bag"):
        write_bag(log_of(), bag, overwrite=True)
    assert (bag / "notes.txt").read_text() == "mine" and [p.name for p in tmp_path.iterdir()] == ["bag"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_a_bag_that_is_being_replaced_is_there_again_when_that_is_interrupted(tmp_path, monkeypatch, error):
    """After a Ctrl-C between the two renames there was neither the old bag nor the new one."""
    bag, rename = write_bag(log_of(), tmp_path / "bag"), Path.rename

    def interrupted(path, target):
        if path.name == "bag" and target == bag:
            raise error
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt if error is KeyboardInterrupt else DataError):
        write_bag(log_of(30), bag, overwrite=True)
    assert len(load_bag(bag)[0]) == 20 and [p.name for p in tmp_path.iterdir()] == ["bag"]


def test_a_link_to_a_bag_is_neither_followed_nor_replaced(tmp_path):
    write_bag(log_of(), tmp_path / "bag")
    (tmp_path / "link").symlink_to(tmp_path / "bag")
    link = tmp_path / "link"
    for write in (lambda: write_bag(log_of(), link, overwrite=True), lambda: remove_bag(link)):
        with pytest.raises(DataError):
            write()
    assert len(load_bag(tmp_path / "bag")[0]) == 20


def test_an_input_is_never_replaced(tmp_path):
    bag = write_bag(log_of(), tmp_path / "estimates")
    for used in (bag, bag / "estimates.mcap", tmp_path / "." / "estimates"):
        with pytest.raises(DataError, match="is an input of this command"):
            write_bag(log_of(30), bag, overwrite=True, inputs=[used])
    assert len(load_bag(bag)[0]) == 20


def test_replay_keeps_its_input_and_whatever_is_called_estimates(tmp_path, precious):
    n = 600
    q = np.tile(np.array([0.0, -1.5, 1.5, -1.5, -1.5, 0.0]), (n, 1)) + 0.1 * np.sin(np.arange(n) / 50)[:, None]
    names = ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
    log = Log(tuple(f"{k}_joint" for k in names), 10**18 + np.arange(n) * 2_000_000, {"q": q, "effort": 0 * q})
    (tmp_path / "D").mkdir()
    bag = write_bag(log, tmp_path / "D" / "estimates")
    before = (bag / "estimates.mcap").read_bytes()
    done = robot_dynamics("replay", bag, "-r", "ur5e", "--out", tmp_path / "D")
    assert done.exit_code == 1 and "is an input of this command" in str(done.exception)
    assert (bag / "estimates.mcap").read_bytes() == before
    precious.rename(tmp_path / "estimates")
    assert robot_dynamics("replay", bag, "-r", "ur5e", "--out", tmp_path).exit_code == 1
    assert kept(tmp_path / "estimates")


@pytest.mark.parametrize(
    ("words", "earlier"),
    [
        ("health", "health.html"),
        ("health --fleet", "health.json"),
        ("identify", "ur5e_identified.yaml"),
        ("identify --what friction", "ur5e_friction.yaml"),
        ("identify --what drives", "drives.json"),
        ("identify --what compare", "comparison.html"),
    ],
)
def test_a_result_of_an_earlier_run_stays(tmp_path, words, earlier):
    (tmp_path / earlier).write_text("months of recordings")
    done = robot_dynamics(*words.split(), "no.bag", "--robot", "ur5e", "--out", tmp_path)
    assert done.exit_code == 1 and f"{earlier}: exists already" in str(done.exception)
    assert (tmp_path / earlier).read_text() == "months of recordings"


def test_the_demo_keeps_what_it_did_not_write(tmp_path, precious):
    out = tmp_path / "demo"
    out.mkdir()
    precious.rename(out / "bag")
    assert robot_dynamics("demo", "--out", out, "--as-shipped").exit_code == 1 and kept(out / "bag")


def test_numbers_that_are_none_are_null_in_json(tmp_path):
    rows = {"array": np.array([np.nan, 1.0]), "number": np.float64("inf"), "peak": ContactPeak(0.0, 1.0, np.nan, 2.0)}
    write_json(tmp_path / "x.json", rows)
    peak = {"begin": 0.0, "seconds": 1.0, "force": None, "std": 2.0}
    assert json.loads((tmp_path / "x.json").read_text()) == {"array": [None, 1.0], "number": None, "peak": peak}


def test_a_temporary_name_that_was_laid_out_is_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    for name in ("r.json.tmp", ".r.json.tmp", f".r.json.{os.getpid()}.tmp"):
        (tmp_path / name).symlink_to(victim)
    (tmp_path / "r.json").symlink_to(victim)
    write_json(tmp_path / "r.json", {"a": 1})
    assert victim.read_text() == "mine" and json.loads((tmp_path / "r.json").read_text()) == {"a": 1}


@contextmanager
def full_disk(size):
    """No file grows beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_leaves_the_old_file_and_one_line(tmp_path):
    file = tmp_path / "r.json"
    file.write_text("old")
    with full_disk(100), pytest.raises(OSError) as caught:
        write_json(file, {"numbers": list(range(10000))})
    assert caught.value.filename == str(file) and caught.value.strerror  # what main() prints in one line
    assert file.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_a_full_disk_leaves_the_old_bag_and_nothing_of_a_new_one(tmp_path):
    bag = write_bag(log_of(2000), tmp_path / "bag")
    with full_disk(20_000):
        with pytest.raises(DataError, match="File too large"):
            write_bag(log_of(1999), bag, overwrite=True)
        with pytest.raises(DataError, match=f"^{tmp_path}/whole: cannot be written"):
            recover(bag, tmp_path / "whole")
    assert len(load_bag(bag)[0]) == 2000 and [p.name for p in tmp_path.iterdir()] == ["bag"]
    assert sum(recover(bag, tmp_path / "whole").values()) == 2000


def test_the_next_command_after_a_recording_is_complete(tmp_path):
    bag = write_bag(log_of(2000), tmp_path / "bag")
    table = tmp_path / "run.csv"
    table.write_text("t,q1,q2,tau1,tau2\n" + "".join(f"{0.01 * k},0.1,{0.001 * k},1,{k}\n" for k in range(300)))
    for words in (("record", "--recover", bag), ("import", table)):
        result = robot_dynamics(*words, "--out", tmp_path / words[0])
        text = result.output.partition("next: robot-dynamics identify ")[2]
        identify.make_context("identify", shlex.split(text))  # raises where an option is missing


def test_permissions_of_the_file_that_is_replaced_stay(tmp_path):
    file = tmp_path / "a"
    file.write_text("old")
    file.chmod(0o640)
    write_atomically(file, "new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640 and file.read_text() == "new"


def test_a_block_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "a") as place:
        place.write_text("half")
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError), new_bag(tmp_path / "b") as place:
        place.mkdir()
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


def test_what_we_write_bears_our_mark(tmp_path):
    from robot_dynamics_ros.bags.live_writer import LiveWriter

    with LiveWriter(tmp_path / "live") as writer:
        writer.add("/t", "std_msgs/msg/String")
    assert is_own_bag(tmp_path / "live") and is_own_bag(write_bag(log_of(), tmp_path / "bag"))
    remove_bag(tmp_path / "live")
    remove_bag(tmp_path / "nothing")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bag"]
