"""Retries: only tests of real-time peers, reported, bounded in continuous integration."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = """
import pathlib, pytest
HERE = pathlib.Path(__file__).parent

def fails_once(name):
    place = HERE / name
    first = not place.exists()
    place.touch()
    assert not first

@pytest.mark.realtime
def test_peer():
    fails_once("peer")

def test_numbers():
    fails_once("numbers") if (HERE / "numeric").exists() else None
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    realtime: x\n")
    (tmp_path / "test_x.py").write_text(TESTS)
    shutil.copy(ROOT / "test" / "conftest.py", tmp_path / "conftest.py")

    def call(*arguments):
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments, str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
        return done.returncode, done.stdout + done.stderr

    return call


def test_a_peer_is_retried_and_reported(run):
    status, text = run("--max-retried", "1")
    assert status == 0 and "1 retried" in text and re.search(r"1 x \S*test_x.py::test_peer", text), text
    assert "assert not True" in text  # why the first attempt failed


def test_too_many_retries_fail_the_run(run):
    status, text = run("--max-retried", "0")
    assert status == 1 and "more than 0 tests were retried" in text and "1 failed" not in text, text


def test_a_numeric_test_is_not_retried(run, tmp_path):
    (tmp_path / "numeric").touch()
    status, text = run()
    assert status == 1 and "1 failed" in text and "test_numbers" in text.split("short test summary")[1], text


def test_retrying_everything_is_refused(run):
    status, text = run("--reruns", "2")
    assert status != 0 and "numeric" in text


def test_continuous_integration_bounds_the_retries():
    assert "--max-retried 3" in (ROOT / ".ci" / "run").read_text()
    assert "--reruns" not in (ROOT / "Makefile").read_text()
