"""Cases by name, rows of results, and the table of the documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.pages import written_by


@dataclass(frozen=True)
class Case:
    """One fault: its number in the list of faults, what is done, and run(try) -> text, raising Failed."""

    number: int
    name: str
    way: str  # clock: clock of our own; sockets: simulated controller; graph: ROS nodes as processes
    budget: str  # what must hold, for people
    run: Callable[[int], str]

    @property
    def title(self) -> str:
        """Number, name, way."""
        return f"{self.number} {self.name} ({self.way})"


class Failed(Exception):
    """The required behaviour was not seen."""


@dataclass(frozen=True)
class Row:
    """A case after its tries; worst is the measured text of the last try, or of the first that failed."""

    case: str
    tries: int
    result: str  # pass, FAIL
    budget: str
    measured: str


def demand(condition: bool, text: str) -> None:
    """Raise Failed unless the condition holds."""
    if not condition:
        raise Failed(text)


def run_case(case: Case, tries: int) -> Row:
    """Run so many times; one failure fails the case."""
    text = ""
    for attempt in range(tries):
        try:
            text = case.run(attempt)
        except (Failed, RobotDynamicsError) as failure:
            return Row(case.title, attempt + 1, "FAIL", case.budget, str(failure))
    return Row(case.title, tries, "pass", case.budget, text)


def markdown(rows: Iterable[Row], command: str) -> str:
    """The table of the documentation, with the date and the command that made it."""
    lines = [written_by(command), "", "| case | tries | result | required | seen |", "|---|---|---|---|---|"]
    lines += [f"| {r.case} | {r.tries} | {r.result} | {r.budget} | {r.measured} |" for r in rows]
    return "\n".join(lines) + "\n"


def as_dicts(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Rows as JSON holds them."""
    return [dict(vars(row)) for row in rows]
