"""What the environment does to the robot over controller time."""

from __future__ import annotations

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.simulation.ur_controller.controller import Controller


class Scenario:
    """Nothing touches the robot."""

    def apply(self, controller: Controller) -> None:
        """Called before every cycle."""


SCENARIOS = {"idle": Scenario}


def load_scenario(name: str) -> Scenario:
    """The scenario of that name; an unknown one is an error listing those there are."""
    if name not in SCENARIOS:
        raise RobotDynamicsError(f"scenario {name!r} is unknown; there are {', '.join(SCENARIOS)}")
    return SCENARIOS[name]()
