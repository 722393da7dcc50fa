"""Every command's help has an example that the command line accepts; commands and robots complete on Tab."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from command_line import robot_dynamics

from robot_dynamics_ros.cli.identify import COMMON, TAKEN
from robot_dynamics_ros.cli.main import COMMANDS, cli


def example(name):
    """The example in a command's docstring, as words."""
    text = " ".join((cli.get_command(None, name).help or "").split())
    found = re.search(r"Example: (robot-dynamics .*)$", text)
    assert found, f"{name}: the docstring ends with `Example: robot-dynamics {name} ...`"
    return shlex.split(found.group(1))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_is_accepted(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = example(name)
    assert words[1] == name
    for before, word in zip(words[1:], words[2:], strict=False):
        if before != "--out" and not word.startswith("-") and "." in word:
            Path(word).touch()
    try:
        cli.get_command(None, name).make_context(name, words[2:])
    except click.UsageError as error:
        pytest.fail(error.format_message())


def test_the_help_says_of_which_identification_an_option_is():
    for parameter in cli.get_command(None, "identify").params:
        if parameter.name not in COMMON | TAKEN["arm"] | {"what"}:
            kinds = [kind for kind, taken in TAKEN.items() if parameter.name in taken]
            assert f"Of --what {kinds[0]}" in parameter.help or "Of a property" in parameter.help, parameter.name


def test_shared_options_have_one_spelling():
    for name in COMMANDS:
        options = {option for parameter in cli.get_command(None, name).params for option in parameter.opts}
        options -= {"--time"} if name == "import" else set()  # a column of the file, no duration
        others = {"--output", "--output-dir", "--json-file", "--robot-file", "--time", "--seconds"}
        assert not options & others, name


def test_an_option_that_every_command_may_have_means_the_same_in_each():
    kinds = {}
    for name in COMMANDS:
        for parameter in cli.get_command(None, name).params:
            assert parameter.help if isinstance(parameter, click.Option) else True, f"{name} {parameter.opts}: no help"
            for option in parameter.opts:
                if option in ("--robot", "--topic", "--effort", "--out", "bags"):
                    kind = type(parameter.type), repr(getattr(parameter.type, "choices", 0))
                    kinds.setdefault(option, set()).add(kind)
                if option == "--robot":
                    assert "-r" in parameter.opts and parameter._custom_shell_complete, name
    assert all(len(kind) == 1 for kind in kinds.values()), kinds


def test_every_command_is_in_the_help_with_its_words():
    shown = robot_dynamics("--help").output
    for name, (_, text) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(text)}$", shown, re.MULTILINE), f"{name}: cut short in the help"


def test_help_of_all_commands_imports_none_of_them():
    code = "import sys; from robot_dynamics_ros.cli.main import cli; cli(['--help'], standalone_mode=False); "
    code += "sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


COMPLETED = {"repl": "replay", "identify --wh": "--what", "replay --robot ur5": "ur5 ur5e", "check fr": "fr3"}
COMPLETED |= {"simulate pan": "panda", "identify run --robot ur16": "ur16e", "demo --robot com": "comau_ns16"}
COMPLETED |= {"up --driver fra": "franka"}


@pytest.mark.parametrize(("words", "expected"), COMPLETED.items())
def test_tab_completes(words, expected):
    *before, incomplete = words.split()
    found = ShellComplete(cli, {}, "robot-dynamics", "").get_completions(before, incomplete)
    assert {item.value for item in found} == set(expected.split())


def test_a_command_that_is_nearly_right_is_named():
    done = robot_dynamics("chek", "ur5e")
    assert done.exit_code == 2 and "no command 'chek'; did you mean 'check'?" in done.output


def test_a_shell_gets_the_completions_of_its_line():
    line = "robot-dynamics repl"
    asked = {"_ROBOT_DYNAMICS_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": "1"}
    command = [sys.executable, "-m", "robot_dynamics_ros.cli.main"]
    done = subprocess.run(command, env={**os.environ, **asked}, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["plain,replay"]
