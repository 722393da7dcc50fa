"""Reference pages of the simulation: parameters of plant files, commands of the simulated UR controller."""

from __future__ import annotations

import inspect

from robot_dynamics_ros.simulation.plant.plant_file import JointType, PlantFile
from robot_dynamics_ros.simulation.server.control_channel import ENVIRONMENT
from robot_dynamics_ros.simulation.server.scenario import SCENARIOS
from robot_dynamics_ros.simulation.ur.commands import COMMANDS
from robot_dynamics_ros.simulation.ur.process import ControllerProcess


def plant() -> str:
    """Every parameter of a plant file."""
    head = (
        "# Parameters of plant files\n\nThe first six blocks are per joint type.\n\n| parameter | meaning |\n|---|---|"
    )
    lines = [head]
    blocks = JointType.model_fields | {k: PlantFile.model_fields[k] for k in ("deviation", "integration", "outputs")}
    for block, outer in blocks.items():
        kind = outer.annotation
        fields = kind.model_fields if kind is not None else {}
        lines += [f"| `{block}.{name}` | {field.description} |" for name, field in fields.items() if name != "source"]
    return "\n".join(lines) + "\n"


def controller() -> str:
    """Scenarios, control channel, and commands of the control script."""
    lines = ["# The simulated UR controller: tables", "", "## Scenarios", "", "| scenario | environment |", "|---|---|"]
    lines += [f"| `{name}` | {schedule.help} |" for name, schedule in SCENARIOS.items()]
    lines += ["", "## Control channel", "", "| command | fields | what happens |", "|---|---|---|"]
    for name, handler in (ENVIRONMENT | ControllerProcess.commands).items():
        given = list(inspect.signature(handler).parameters.values())[1:]
        fields = ", ".join(f"`{p.name}`" if p.default is p.empty else f"`{p.name} = {p.default}`" for p in given)
        lines.append(f"| `{name}` | {fields} | {' '.join((handler.__doc__ or '').partition('Raises')[0].split())} |")
    lines += ["", "## Commands of the control script", ""]
    lines += ["| id | command | every cycle | what happens |", "|---|---|---|---|"]
    for number, entry in sorted(COMMANDS.items()):
        name, text = entry.action.__name__.upper(), " ".join((entry.action.__doc__ or "").split())
        lines.append(f"| {number} | `{name}` | {'yes' if entry.realtime else 'no'} | {text} |")
    return "\n".join(lines) + "\n"
