"""The worked examples of docs/extend, carried out on a copy of the tree: every file, every edit, every command."""

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from core_build import CMAKE, FOLDER, ROOT, configure, take_kernels

PAGES = sorted((ROOT / "docs" / "extend").glob("*.md"))
STEP = re.compile(
    r"^(?:New file `(?P<new>[^`]+)`:"
    r"|In `(?P<file>[^`]+)`, (?:(?P<where>before|after) `(?P<anchor>[^`]+)`:"
    r"|replace `(?P<old>[^`]+)` by `(?P<by>[^`]+)`\.))"
    r"(?:\n\n```\w+\n(?P<block>.*?)```)?$",
    re.MULTILINE | re.DOTALL,
)
LONGEST = 60  # lines of an example's own file


@pytest.fixture
def tree(tmp_path):
    """A copy of what the examples touch, with the compiled core."""
    for name in ("robot_dynamics_ros", "config", "cpp_core", "test/core", "test/support"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "package.xml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def carry_out(step, tree):
    """One step of a page: a new file, an insertion at a line, or a replacement; anchors must be there exactly once."""
    if step["new"]:
        path = tree / step["new"]
        assert not path.exists(), path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step["block"])
        return
    path = tree / step["file"]
    text, anchor = path.read_text(), step["anchor"] or step["old"]
    assert text.count(anchor) == 1, f"{path}: {anchor!r} is there {text.count(anchor)} times"
    if step["old"]:
        path.write_text(text.replace(anchor, step["by"]))
        return
    lines = text.splitlines(keepends=True)
    place = next(k for k, line in enumerate(lines) if anchor in line) + (step["where"] == "after")
    path.write_text("".join([*lines[:place], step["block"], *lines[place:]]))


def run(line, tree):
    words = shlex.split(line)
    module = {"python": [], "robot-dynamics": ["-m", "robot_dynamics_ros.cli.main"]}[words[0]]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    command = [sys.executable, *module, *words[1:]]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{line}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.long
def test_the_example_works_as_printed(page, tree):
    text = page.read_text(encoding="utf-8")
    steps = list(STEP.finditer(text))
    assert len(steps) == len(re.findall(r"^(?:In|New file) `", text, re.MULTILINE))
    for step in steps:
        carry_out(step, tree)
    commands = [line for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    assert commands
    if CMAKE and any("test_cpp.py" in line for line in commands):
        folder = tree / FOLDER.relative_to(ROOT)
        configure(tree / "cpp_core", folder)
        take_kernels(folder)  # no example changes them
    for line in commands:
        run(line, tree)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_example_is_short(page):
    for step in STEP.finditer(page.read_text(encoding="utf-8")):
        assert len((step["block"] or "").splitlines()) <= LONGEST, step["new"]


def test_the_friction_example_is_known_to_robot_files_and_fits(tree):
    text = (ROOT / "docs" / "extend" / "friction_model.md").read_text(encoding="utf-8")
    for step in STEP.finditer(text):
        carry_out(step, tree)
    sys_path = f"import sys; sys.path.insert(0, {str(tree)!r}); "
    check = "from robot_dynamics_ros.robot_file.parameters import FRICTION as F; print(*F['arctan'])"
    found = subprocess.run([sys.executable, "-c", sys_path + check], capture_output=True, text=True, check=True).stdout
    names = re.search(r"names\(\) \{ return \{([^}]*)\}", text).group(1)
    own = re.findall(r'"(\w+)"', names)
    assert found.split()[: len(own)] == own
