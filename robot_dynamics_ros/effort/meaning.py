"""What an effort means: unit, sign, whether gravity is in it, and the side of the gear it is taken on.

evidence.py gathers what data say about it, decision.py decides; live nodes, replay, identification and the torque guard
all use these two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros.errors import DataError

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile


@dataclass(frozen=True)
class Meaning:
    """One meaning of an effort: unit, Nm or A; whether gravity is in it; sign of the torque that a positive effort is
    (1 or -1); side of the gear, motor or link, that it is taken on.
    """

    unit: str
    includes_gravity: bool
    sign: int = 1
    side: str = "motor"

    def __str__(self) -> str:
        return f"{self.unit}, gravity {'included' if self.includes_gravity else 'already removed'}"

    def has_gain(self, robot: RobotFile) -> bool:
        """False for a current of a robot without torque constants."""
        return self.unit == "Nm" or robot.has("drives.torque_constant")

    def gain(self, robot: RobotFile) -> np.ndarray | float:
        """Effort per Nm of drive torque: 1, or 1 / K_tau (n,) of a current. Raises CapabilityError without has_gain."""
        return 1.0 if self.unit == "Nm" else 1.0 / robot.array("drives.torque_constant")

    def same_as(self, other: Meaning) -> bool:
        """Whether unit and gravity are the same; signs are decided per joint."""
        return (self.unit, self.includes_gravity) == (other.unit, other.includes_gravity)

    @property
    def word(self) -> str:
        """The word of WORDS for unit and gravity; a current without gravity has none and is called gravity-free."""
        return next((word for word, one in WORDS.items() if one.same_as(self)), "gravity-free")

    @property
    def updates(self) -> dict[str, Any]:
        """Fields of the robot file that declare unit and gravity."""
        return {"drives.effort.unit": self.unit, "drives.effort.includes_gravity": self.includes_gravity}

    @property
    def stage_parameters(self) -> dict[str, str]:
        """Parameters of the motion stage for it."""
        return {"effort_unit": self.unit, "effort_gravity": "included" if self.includes_gravity else "excluded"}


TORQUE, CURRENT = Meaning("Nm", True), Meaning("A", True)
GRAVITY_FREE, CURRENT_GRAVITY_FREE = Meaning("Nm", False), Meaning("A", False)
WORDS = {"torque": TORQUE, "current": CURRENT, "gravity-free": GRAVITY_FREE}  # choices of --effort


def chosen(word: str, stated: str) -> Meaning | None:
    """The meaning of a word of WORDS, None of "auto"; stated: the unit that a table says (`stating`). Raises DataError
    for another word, or a torque where the columns say A or %: numbers in Nm would be off by their ratio.
    """
    if word == "auto":
        return None
    if word not in WORDS:
        raise DataError(f"effort = {word!r} is none of auto, {', '.join(WORDS)}")
    if stated and WORDS[word].unit == "Nm":
        raise DataError(
            f"--effort {word} is in Nm, the columns say {stated}: convert them, or overrule their names with "
            "robot-dynamics import --unit Nm"
        )
    return WORDS[word]


def thousandth(robot: RobotFile) -> str:
    """Unit of an effort that is 1000 times too large."""
    return "mA" if robot.drives.effort.unit == "A" else "mNm or mA"


def stating(robot: RobotFile, unit: str) -> RobotFile:
    """The robot as if its file declared the unit that the columns of a table state: A, % (a current that constants of a
    file in Nm do not belong to), or "" where they do not.
    """
    constants = {"drives.torque_constant": None} if unit == "%" and robot.drives.effort.unit == "Nm" else {}
    return robot.with_updates({"drives.effort.unit": "A", **constants}) if unit else robot


def printed_unit(unit: str, stated: str) -> str:
    """Unit of a Meaning as reports print it: % where a table's columns state it, which a robot file holds as A."""
    return stated if unit == "A" and stated else unit


def declared(robot: RobotFile) -> Meaning:
    """The meaning that a robot file declares."""
    effort = robot.drives.effort
    return Meaning(effort.unit, bool(effort.includes_gravity), int(effort.sign), robot.drives.torque_side)
