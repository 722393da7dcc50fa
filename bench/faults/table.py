"""Cases by name, rows of results, and the table of the documentation."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from robot_dynamics_ros.errors import RobotDynamicsError

TRANSPORTS = ("clock", "sockets", "graph")  # between robot and torque loop
MODULES = ("states", "clock_commands", "clock_stops", "clock_learning", "clock_meaning", "processes", "graph")  # CASES


@dataclass(frozen=True)
class Case:
    """One fault: its number in the list of faults, what is done, and run(try) -> text, raising Failed."""

    number: int
    name: str
    transport: str  # of TRANSPORTS; clock: in one process, in simulated time; graph: ROS nodes as processes
    budget: str  # what must hold, for people
    run: Callable[[int], str]

    @property
    def title(self) -> str:
        """Number, name, transport."""
        return f"{self.number} {self.name} ({self.transport})"


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


def require(condition: bool, text: str) -> None:
    """Raise Failed unless the condition holds."""
    if not condition:
        raise Failed(text)


def refused(attempt: Callable[[], object], otherwise: str) -> str:
    """The one line with which an attempt is refused. Raises Failed with the text `otherwise` where it is not."""
    try:
        attempt()
    except RobotDynamicsError as error:
        require("\n" not in str(error), "the reason is longer than one line")
        return str(error)
    raise Failed(otherwise)


def run_case(case: Case, tries: int) -> Row:
    """Run so many times; one failure fails the case."""
    text = ""
    for attempt in range(tries):
        try:
            text = case.run(attempt)
        except (Failed, RobotDynamicsError) as failure:
            return Row(case.title, attempt + 1, "FAIL", case.budget, str(failure))
    return Row(case.title, tries, "pass", case.budget, text)


def cells(rows: Iterable[Row]) -> list[tuple[str, ...]]:
    """Texts of the table, their titles first."""
    texts = [(r.case, str(r.tries), r.result, r.budget, r.measured) for r in rows]
    return [("case", "tries", "result", "required", "observed"), *texts]


def cases(transport: str) -> list[Case]:
    """All cases of one of TRANSPORTS, by number."""
    modules = (importlib.import_module(f"bench.faults.{name}") for name in MODULES)
    chosen = [case for module in modules for case in module.CASES if case.transport == transport]
    return sorted(chosen, key=lambda case: case.number)
