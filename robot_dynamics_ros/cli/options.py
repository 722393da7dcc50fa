"""Options that every command shares, so that flags mean the same everywhere, and what their texts are read as."""

from __future__ import annotations

import os
from collections.abc import Callable, Container
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import numpy as np
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from robot_dynamics_ros.effort.meaning import WORDS
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.outputs import refuse_existing

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class NewPath(click.Path):
    """A file or directory to be written: refused before any work when it cannot be. Raises ConfigError.

    fresh: nothing may stand there yet; suffix: of the name.
    """

    def __init__(self, directory: bool = False, fresh: bool = False, suffix: str = "") -> None:
        super().__init__(file_okay=not directory, dir_okay=directory, path_type=Path)
        self._fresh, self._suffix = fresh, suffix

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """The path, whose nearest existing directory can be written."""
        name = parameter.opts[0] if parameter is not None else "path"
        path = Path(value)
        if path.is_dir() and not self.dir_okay:
            raise ConfigError(name, str(path), "is a directory, expected a file")
        if path.is_file() and not self.file_okay:
            raise ConfigError(name, str(path), "is a file, expected a directory")
        if path.suffix.lower() != self._suffix and self._suffix:
            raise ConfigError(name, str(path), f"must end in {self._suffix}")
        if self._fresh:
            refuse_existing(name, path)
        above = path.parent if path.is_file() else path
        while not above.exists() and above != above.parent:
            above = above.parent
        if not above.is_dir():
            raise ConfigError(name, str(path), f"{above} is a file, not a directory")
        if not os.access(path if path.exists() else above, os.W_OK):
            raise ConfigError(name, str(path), "cannot be written: permission denied")
        return path


def numbers(option: str, text: str, *counts: int) -> list[float]:
    """Finite numbers of a text, separated by commas, as many as one of counts. Raises ConfigError."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) not in counts or not np.isfinite(values).all():
        raise ConfigError(option, repr(text), f"is not {' or '.join(map(str, counts))} numbers separated by commas")
    return values


def payload_of(text: str) -> tuple[float, list[float]]:
    """Mass [kg] and its centre [m] of --payload KG[,X,Y,Z]. Raises ConfigError."""
    mass, *com = numbers("--payload", text, 1, 4)
    if not 0 <= mass < 1e4 or np.abs(com).max(initial=0.0) > 100:
        raise ConfigError("--payload", text, "is no mass of 0..10000 kg, its centre within 100 m")
    return mass, com or [0.0, 0.0, 0.0]


def refuse_options(names: Container[str | None], what: str) -> None:
    """Raises ConfigError for an option, named by its argument, that was given and means nothing for `what`."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name
        if name in names and context.get_parameter_source(name or "") is not ParameterSource.DEFAULT:
            raise ConfigError(context.info_name or "", parameter.opts[0], f"is no option of {what}")


def complete_robot(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Shell completion of a robot: shipped names, then files."""
    from robot_dynamics_ros.robot_file import shipped_robots

    names = [CompletionItem(name) for name in shipped_robots() if name.startswith(incomplete)]
    return names or [CompletionItem(incomplete, type="file")]


def robot_option_with(text: str, default: str | None = None) -> Callable[[F], F]:
    """--robot with a help text of its own, required where it has no default."""
    shown: dict[str, Any] = {"required": True} if default is None else {"default": default, "show_default": True}
    return click.option("--robot", "-r", shell_complete=complete_robot, help=text, **shown)


robot_option = robot_option_with("Name of a shipped robot, or path of a robot file.")
bags_argument = click.argument("bags", nargs=-1, required=True, type=click.Path(path_type=Path))
topic_option = click.option(
    "--topic", default="auto", show_default=True, help="JointState topic, required when the bag has several."
)
effort_option = click.option(
    "--effort",
    type=click.Choice(("auto", *WORDS)),
    default="auto",
    show_default=True,
    help="Content of the effort field; auto: determined from the data.",
)
out_option = click.option("--out", type=NewPath(directory=True), required=True, help="Directory for the results.")
verbose_option = click.option("--verbose", "-v", is_flag=True, help="Also print how it was found.")
view_option = click.option(
    "--view", is_flag=True, help="Serve the viewer to a browser on this machine; prints the URL."
)
view_file_option = click.option(
    "--view-file", type=NewPath(fresh=True, suffix=".rrd"), help="Write the viewer data to this .rrd FILE."
)


class SensorType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """TOPIC[,frame=F][,point=P][,tare=S], `more`: further keys with the values that they take (none: any number)."""

    name = "sensor"

    def __init__(self, **more: tuple[str, ...] | None) -> None:
        from robot_dynamics_ros.estimators.force_sensor import POINTS

        self._keys: dict[str, tuple[str, ...] | None] = {"frame": (), "point": POINTS, "tare": None, **more}

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """(SensorOptions, further keys)."""
        from robot_dynamics_ros.estimators.force_sensor import SensorOptions

        if not isinstance(value, str):
            return value
        topic, *parts = value.split(",")
        found = dict(self._pair(part, parameter, context) for part in parts)
        own = {key: found.pop(key) for key in ("frame", "point", "tare") if key in found}
        return SensorOptions(topic, **own), found

    def _pair(self, text: str, parameter: Any, context: Any) -> tuple[str, Any]:
        key, equals, value = text.partition("=")
        if not equals or key not in self._keys:
            self.fail(f"{text!r} is none of {', '.join(f'{k}=' for k in self._keys)}", parameter, context)
        allowed = self._keys[key]
        if allowed and value not in allowed:
            self.fail(f"{key} {value!r} is none of {', '.join(allowed)}", parameter, context)
        if allowed is not None:
            return key, value
        try:
            number = float(value)
        except ValueError:
            number = np.nan
        if not 0 <= number < np.inf:
            self.fail(f"{key} {value!r} is no number of at least 0", parameter, context)
        return key, number


SENSOR = (
    "frame: axes of the sensor (tool; flange: the last link; base; or a frame_id; default: of its messages); point: "
    "what its moments refer to (frame: its origin, for base axes the TCP; tcp; base); tare: free seconds at the "
    "beginning, its zero"
)


def only_finite(command: click.Command) -> click.Command:
    """The command, whose options refuse numbers that are not finite: a bound alone lets NaN pass."""
    for parameter in command.params:
        kinds = parameter.type.types if isinstance(parameter.type, click.Tuple) else [parameter.type]
        numbers = any(isinstance(kind, click.types.FloatParamType) for kind in kinds)
        if numbers and not isinstance(parameter.callback, Finite):
            parameter.callback = Finite(parameter.callback)
    return command


@dataclass(frozen=True)
class Finite:
    """Callback of an option with numbers: refuses NaN and, unless `open`, infinity; then does what the option's own
    callback does.
    """

    inner: Callable[..., Any] | None = None
    open: bool = False

    def __call__(self, context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        """The value. Raises click.BadParameter."""
        for number in np.ravel(np.array(() if value is None else value, dtype=object)):
            if isinstance(number, float) and (np.isnan(number) or (np.isinf(number) and not self.open)):
                kind = "number" if self.open else "finite number"
                raise click.BadParameter(f"{number} is not a {kind}", ctx=context, param=parameter)
        return value if self.inner is None else self.inner(context, parameter, value)


def joint_index(robot: RobotFile, name: str, option: str) -> int:
    """Index from 0 of a joint given by name, alias or number from 1. Raises ConfigError."""
    if name.isdecimal() and 1 <= int(name) <= robot.n_joints:
        return int(name) - 1
    if name not in robot.joint_aliases:
        raise ConfigError(option, "", f"{name!r} is none of {', '.join(robot.joint_names)}")
    return robot.joint_names.index(robot.joint_aliases[name])
