"""Builds and runs every cpp_core/test/*_test.cpp with the system's compiler: headers alone, as a C++ user would."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "cpp_core"
COMPILER = os.environ.get("CXX", "c++").split()


@pytest.mark.skipif(shutil.which(COMPILER[0]) is None, reason="no C++ compiler")
@pytest.mark.parametrize("source", sorted((CORE / "test").glob("*_test.cpp")), ids=lambda path: path.stem)
def test_cpp(source, tmp_path):
    program = tmp_path / source.stem
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{CORE / 'include'}"]
    build = subprocess.run([*COMPILER, *flags, str(source), "-o", str(program)], capture_output=True, text=True)
    assert build.returncode == 0, build.stderr
    run = subprocess.run([str(program)], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
