"""The typed face of the core, _core.pyi, says what the compiled core offers."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WRITER = ROOT / "cpp_core" / "bindings" / "write_stub.py"
STUB = ROOT / "robot_dynamics_ros" / "_core.pyi"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def face(text):
    """Names of a stub: functions and methods with their parameters and result, properties, enum members."""
    found = set()

    def collect(body, prefix=""):
        for node in body:
            if isinstance(node, ast.ClassDef):
                found.add(node.name)
                collect(node.body, f"{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                returns = node.returns and ast.unparse(node.returns)
                found.add(f"{prefix}{node.name}({ast.unparse(node.args)}) -> {returns}")
            elif isinstance(node, ast.AnnAssign):
                found.add(f"{prefix}{ast.unparse(node.target)}: {ast.unparse(node.annotation)}")

    collect(ast.parse(text).body)
    return found


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    pytest.importorskip("pybind11_stubgen", reason="pybind11-stubgen is in the dev extra")
    out = tmp_path_factory.mktemp("stub")
    command, place = [sys.executable, WRITER, out], {"cwd": ROOT, "env": ENVIRONMENT}
    done = subprocess.run(command, **place, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return (out / "robot_dynamics_ros" / "_core.pyi").read_text(encoding="utf-8")


def test_the_stub_is_what_the_core_offers(fresh):
    committed, compiled = face(STUB.read_text(encoding="utf-8")), face(fresh)
    assert committed == compiled, f"run: make stub; differing: {sorted(committed ^ compiled)[:6]}"
