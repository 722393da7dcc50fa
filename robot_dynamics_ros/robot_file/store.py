"""Finding, loading and saving robot files."""

from __future__ import annotations

import difflib
import hashlib
import os
import site
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import yaml

from robot_dynamics_ros.errors import ConfigError, printable
from robot_dynamics_ros.outputs import command_line, write_atomically
from robot_dynamics_ros.robot_file.blocks import InputFile, ProvenanceEntry
from robot_dynamics_ros.robot_file.problems import examine, validated
from robot_dynamics_ros.robot_file.schema import RobotFile
from robot_dynamics_ros.robot_file.yaml_text import RESOLVERS, read_yaml

_SHARE = Path("share/robot_dynamics_ros/config")
TEMPLATE = "template"  # a file to copy, not a robot


def config_directories() -> list[Path]:
    """Where shipped configuration lies: the source tree, each ROS prefix, the prefix this package is installed in."""
    here = Path(__file__).resolve()
    prefixes = [Path(p) for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    prefixes += [*here.parents[3:], Path(sys.prefix), Path(site.getuserbase())]
    places = [here.parents[2] / "config", *(prefix / _SHARE for prefix in prefixes)]
    return [place for place in dict.fromkeys(places) if (place / "robots").is_dir()]


def shipped_robots() -> dict[str, Path]:
    """Name -> file of every robot that `load_robot` finds by name; the first directory wins."""
    found: dict[str, Path] = {}
    for directory in config_directories():
        for path in sorted((directory / "robots").glob("*.yaml")):
            if path.stem != TEMPLATE:
                found.setdefault(path.stem, path)
    return dict(sorted(found.items()))


def find_robot(name_or_path: str | Path) -> Path:
    """File of a shipped robot's name, or the path itself; ConfigError lists the known robots."""
    if not isinstance(name_or_path, (str, os.PathLike)):
        raise ConfigError("robot", repr(name_or_path), "is no RobotFile, name of a shipped robot or file")
    known = shipped_robots()
    if str(name_or_path) in known:
        return known[str(name_or_path)]
    path = Path(os.path.expanduser(name_or_path))  # an unknown user's directory stays as it is written
    if path.is_file():
        return path
    if path.is_dir():
        raise ConfigError(str(name_or_path), "", "is a directory, expected a robot file")
    if path.suffix or len(path.parts) > 1:
        raise ConfigError(str(name_or_path), "", "no such robot file")
    close = difflib.get_close_matches(str(name_or_path), known, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    raise ConfigError(str(name_or_path), "", f"no such robot; {hint}known: {', '.join(known) or 'none'}")


def examine_robot(name_or_path: str | Path) -> tuple[list[ConfigError], RobotFile | None]:
    """All problems of a robot file, and the robot when there are none."""
    try:
        path = find_robot(name_or_path)
        raw = read_yaml(path)
    except ConfigError as error:
        return [error], None
    problems, robot = examine(RobotFile, raw, str(path))
    if robot is not None:
        robot._file = str(path)
    return problems, robot


def load_robot(name_or_path: str | Path) -> RobotFile:
    """Robot of a shipped name or a file path; ConfigError names file, field, value and bound of the first problem."""
    path = find_robot(name_or_path)
    robot = validated(RobotFile, read_yaml(path), str(path))
    robot._file = str(path)
    return robot


def file_sha256(*paths: Path) -> str:
    """SHA-256 of the bytes of files, one after the other; a file is read in pieces. Raises OSError."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            for chunk in iter(lambda: stream.read(1 << 20), b""):
                digest.update(chunk)
    return digest.hexdigest()


def save_robot(
    robot: RobotFile,
    path: str | Path,
    *,
    command: str | None = None,
    inputs: Sequence[str | Path] = (),
    changed: Sequence[str] = (),
    verdict: str = "",
) -> RobotFile:
    """Write a robot file atomically (temporary file, fsync, rename) with one provenance entry more; returns it.

    `command` defaults to the running command line; `inputs` are hashed; verdict: on the file. Raises ConfigError where
    nothing could be written; the old file is then untouched.
    """
    path = Path(path)
    try:
        files = tuple(InputFile(name=printable(Path(p).name), sha256=file_sha256(Path(p))) for p in inputs)
        entry = ProvenanceEntry(
            date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            command=printable(command if command is not None else command_line()),
            inputs=files,
            changed=tuple(changed),
            verdict=verdict,
        )
        saved = robot.model_copy(update={"provenance": (*robot.provenance, entry)})
        write_atomically(path, dump(saved))
    except OSError as error:
        at = str(error.filename or path)
        verb = "written" if at == str(path) else "read"  # one of the inputs
        raise ConfigError(at, "", f"cannot be {verb}: {error.strerror or error}") from None
    saved._file = str(path)
    return saved


class _Dumper(yaml.SafeDumper):
    """Block style with lists of numbers on one line and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _sequence(dumper: yaml.SafeDumper, data: list[Any]) -> yaml.Node:
    flat = not any(isinstance(v, dict | str) or (isinstance(v, list) and v) for v in data)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=flat)


_Dumper.add_representer(list, _sequence)
_Dumper.yaml_implicit_resolvers = {  # a text that this or another reader takes for a number is written in quotes
    first: yaml.SafeDumper.yaml_implicit_resolvers.get(first, []) + entries for first, entries in RESOLVERS.items()
}


def dump(robot: RobotFile) -> str:
    """YAML text of a robot file; reading it gives an equal robot."""
    header = f"# {printable(robot.model)}. Schema: docs/robot_files.md. Written by robot-dynamics.\n"
    return header + yaml.dump(robot.raw(), Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)
