"""Reference pages of the command line and of the laboratory: every command with its options."""

from __future__ import annotations

import inspect

import click

from bench.__main__ import COMMANDS as LABORATORY
from bench.__main__ import cli as bench
from robot_dynamics_ros.cli.main import COMMANDS, cli


def _rows(command: click.Command) -> list[str]:
    options = [p for p in command.params if isinstance(p, click.Option)]
    if not options:
        return []
    rows = ["| option | default | meaning |", "|---|---|---|"]
    for p in options:
        names = ", ".join(f"`{name}`" for name in (*p.opts, *p.secondary_opts))
        choices = f" ({', '.join(map(str, p.type.choices))})" if isinstance(p.type, click.Choice) else ""
        plain = isinstance(p.default, (str, int, float)) and not isinstance(p.default, bool)
        default = "required" if p.required else f"`{p.default}`" if plain and p.default != "" else ""
        rows.append(f"| {names} | {default} | {p.help}{choices} |".replace("\n", " "))
    return [*rows, ""]


def _command(name: str, command: click.Command, program: str) -> list[str]:
    words = " ".join(command.collect_usage_pieces(click.Context(command))[1:])  # behind [OPTIONS]
    text = inspect.cleandoc(command.help or "").replace("\b\n", "").replace("Example: ", "\n    ")
    return [f"## {name}", "", f"`{program} {name} {words}`".replace(" `", "`"), "", text, "", *_rows(command)]


def _page(title: str, text: str, group: click.Group, table: dict[str, tuple[str, str]]) -> str:
    lines = [f"# {title}", "", text, "", "| command | purpose |", "|---|---|"]
    lines += [f"| [`{name}`](#{name}) | {purpose} |" for name, (_, purpose) in table.items()]
    for name in table:
        command = group.get_command(None, name)  # type: ignore[arg-type]
        if command is not None:
            lines += ["", *_command(name, command, group.name or "")]
    return "\n".join(lines) + "\n"


def commands() -> str:
    """The commands of a user."""
    return _page("Commands", "General rules and shell completion: [command line](../command_line.md).", cli, COMMANDS)


def laboratory() -> str:
    """The commands of the laboratory."""
    text = "Run from a clone: `python -m bench NAME`. Results are kept in `bench/results/`."
    return _page("Laboratory", text, bench, LABORATORY)
