"""The examples in the documentation of robot files run as printed."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def blocks(name, language):
    """Fenced blocks of one language in a documentation file."""
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("name", ["robot_files.md", "robots.md"])
def test_python_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.bag").write_bytes(b"motion")
    examples = blocks(name, "python")
    assert examples
    for example in examples:
        exec(compile(example, name, "exec"), {})
