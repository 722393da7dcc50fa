"""Odd numbers and names in options, and text of files that a terminal would obey: one line of printable characters."""

import io
import pickle
import sys
import warnings

import click
import pytest
from command_line import printed, robot_dynamics
from robot_text import changed, write

from robot_dynamics_ros.bringup import describe
from robot_dynamics_ros.cli.main import COMMANDS, cli, run
from robot_dynamics_ros.cli.printed import PlainConsole
from robot_dynamics_ros.errors import ConfigError, DataError, printable
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.robot_file.store import examine_robot
from robot_dynamics_ros.signals.table import joint_columns

ESCAPE = "\x1b]0;title\x07\x1b[31m\x9b2J"


def options_with_numbers():
    """(command, parameter, numbers it takes) of every option that takes some."""
    for name in COMMANDS:
        command = cli.get_command(None, name)
        for parameter in command.params:
            kinds = getattr(parameter.type, "types", [parameter.type])
            if any(isinstance(kind, click.types.FloatParamType) for kind in kinds):
                yield command, parameter, len(kinds)


def test_no_option_takes_a_number_that_is_not_finite():
    for command, parameter, count in options_with_numbers():
        box = parameter.opts[0] in ("--inside", "--outside")  # whose sides may be open
        for number in ("nan",) if box else ("nan", "inf", "-inf"):
            value = (number,) * count if count > 1 else number
            with pytest.raises(click.BadParameter):
                parameter.process_value(click.Context(command), [value] if parameter.multiple else value)
                pytest.fail(f"{command.name} {parameter.opts[0]} takes {number}")


@pytest.mark.parametrize("name", ["a=b", "a b", "/a//b", "1a", "a:=b", "\x1b[31m", "a" * 300 + "-"])
@pytest.mark.parametrize("option", ["namespace", "tf_prefix", "joint_states"])
def test_a_name_that_ros_refuses_is_refused_before_a_node_starts(name, option):
    with pytest.raises(ConfigError, match="no ROS name") as refused:
        describe("ur5e", **{option: name})
    assert option in str(refused.value) and len(str(refused.value)) < 200


@pytest.mark.parametrize("name", ["~nouser/x", "~nouser/x.yaml"])
def test_the_home_of_an_unknown_user_is_no_robot_file(name):
    problems, robot = examine_robot(name)
    assert robot is None and "no such robot file" in str(problems[0])
    assert robot_dynamics("check", name).exit_code == 1


def test_control_characters_of_a_file_do_not_reach_the_terminal(tmp_path):
    raw = changed(("manufacturer",), "x")
    raw["kinematics"]["joints"][0]["aliases"] = ["two" + ESCAPE]
    raw["model"], raw[ESCAPE] = ESCAPE, 1.0
    file = write(tmp_path, raw)
    assert ESCAPE[0] not in robot_dynamics("check", file).output
    del raw[ESCAPE]
    file = write(tmp_path, raw)
    assert not {"\x1b", "\x07", "\x9b"} & set(printed("check", file))
    assert load_robot(file).model == ESCAPE  # the file is as it was


@pytest.mark.parametrize("kind", [DataError, lambda text: ConfigError(text, text, text)])
def test_an_error_is_one_short_line_of_printable_text(kind):
    text = str(kind(ESCAPE + "\n\r\x00" + "x" * 100_000))
    assert text.isprintable() and len(text) <= 4000


def test_a_console_prints_text_without_control_characters_and_keeps_its_own_colours():
    out = io.StringIO()
    console = PlainConsole(file=out, force_terminal=True, color_system="standard")
    console.print(f"name {ESCAPE}", style="red")
    console.print("[b]next")
    text = out.getvalue().replace("\x1b[0m\x1b[31m\n\x1b[0m", "\x1b[0m\n")  # as older versions of rich end a line
    assert ESCAPE not in text and "\x1b[31mname ?]0;title??[31m?2J\x1b[0m\n[b]next" in text


def test_names_of_a_message_are_cut():
    with pytest.raises(DataError) as refused:
        joint_columns(["x" * 10_000] * 5000, ["a"])
    assert len(str(refused.value)) < 2000 and "and 4980 more" in str(refused.value)


@pytest.mark.parametrize("field", ["mass", ""])
def test_an_error_of_another_process_arrives_as_it_is(field):
    raised = ConfigError("ur5e.yaml", field, "must be positive")
    arrived = pickle.loads(pickle.dumps(raised))
    assert str(arrived) == str(raised) == ": ".join(x for x in ("ur5e.yaml", field, "must be positive") if x)
    assert (type(arrived), arrived.file, arrived.field) == (ConfigError, "ur5e.yaml", field)


def test_what_is_printable_stays():
    assert printable("Gelenk 1: 3.5 °C, µ = 0.1\tend") == "Gelenk 1: 3.5 °C, µ = 0.1 end"


def test_a_terminal_breaks_sentences_between_words_and_a_file_breaks_none(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    for terminal, lines in ((False, 1), (True, 4)):
        out = io.StringIO()
        PlainConsole(file=out, force_terminal=terminal).print("word " * 30)
        assert len(out.getvalue().splitlines()) == lines
    out = io.StringIO()
    PlainConsole(file=out, force_terminal=True).print("written: " + "path/" * 10)
    assert "path/" * 10 in out.getvalue()  # a path is copied from one line


def test_warnings_of_numpy_do_not_reach_the_terminal(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["x"])

    @click.command("x")
    def command():
        warnings.warn("invalid value encountered in divide", RuntimeWarning, stacklevel=1)

    with warnings.catch_warnings(record=True) as seen, pytest.raises(SystemExit):
        warnings.simplefilter("always")
        run(command)
    assert seen == []


def test_a_ctrl_c_while_an_extension_module_loads_is_no_traceback(monkeypatch, capsys):
    """Such a module turns it into an ImportError, which `up` showed as a traceback of 40 lines."""

    @click.command("x")
    @click.argument("cause")
    def command(cause):
        raise ImportError("initialization failed") from {"key": KeyboardInterrupt(), "defect": ValueError()}[cause]

    monkeypatch.setattr(sys, "argv", ["x", "key"])
    with pytest.raises(SystemExit, match="1"):
        run(command)
    assert capsys.readouterr().err == "\nAborted!\n"
    monkeypatch.setattr(sys, "argv", ["x", "defect"])
    with pytest.raises(ImportError):
        run(command)


def test_a_recording_to_recover_that_does_not_exist_is_one_line(tmp_path):
    done = robot_dynamics("record", "--recover", tmp_path / "gone.mcap", "--out", tmp_path / "new")
    assert done.exit_code == 1 and "usage" not in done.output.lower() and not (tmp_path / "new").exists()
    done = robot_dynamics("record", "--recover", tmp_path / "gone.mcap", "--out", tmp_path / "new", "--duration", "5")
    assert "--duration: is no option of --recover" in str(done.exception)
