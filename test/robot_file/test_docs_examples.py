"""The examples in the documentation of robot files run as printed."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from robot_dynamics_ros.cli.main import cli
from robot_dynamics_ros.models.urdf_writer import write_urdf
from robot_dynamics_ros.robot_file import load_robot

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


@pytest.mark.parametrize("name", ["robot_files.md", "robots.md"])
def test_commands_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_urdf(load_robot("ur5e"), "my_arm.urdf")
    (tmp_path / "my_robot.yaml").write_text(Path(load_robot("ur3").file).read_text())
    lines = [line for block in blocks(name, "") for line in block.splitlines()]
    assert lines
    for line in lines:
        program, *arguments = line.split()
        assert program == "robot-dynamics"
        result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
        assert result.exit_code == 0, (line, result.output)
