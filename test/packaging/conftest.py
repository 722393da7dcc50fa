"""A copy of the source tree as a user would clone it, with the objects already built so that nothing compiles twice."""

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = (".git", ".venv", "dist", "*.egg-info", "__pycache__", "_core*.so", ".*_cache", "demo_output", "log")
LEFT_OUT += ("ctest", "sanitize", "lib.*", "native*.so")  # other builds, and the laboratory's module


def copied(folder):
    """The tree below a folder, as `git clone` would leave it there, and build/."""
    target = folder / "workspace" / "src" / "robot_dynamics_ros"
    shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
    return target


@pytest.fixture
def source(tmp_path):
    return copied(tmp_path)


@pytest.fixture(scope="session")
def unchanged_source(tmp_path_factory):
    return copied(tmp_path_factory.mktemp("unchanged"))
