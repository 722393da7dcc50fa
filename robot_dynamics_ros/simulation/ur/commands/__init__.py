"""What the controller does for each command of the control script; importing the modules fills the table."""

from robot_dynamics_ros.simulation.ur.commands import contact, forces, moves, questions, settings, streams
from robot_dynamics_ros.simulation.ur.commands.table import COMMANDS, Command

__all__ = ["COMMANDS", "Command", "contact", "forces", "moves", "questions", "settings", "streams"]
