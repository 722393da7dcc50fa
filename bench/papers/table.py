"""Rows of a reproduction: the paper's number, ours, and whether ours meets or beats it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

VERDICTS = {True: "yes", False: "NO", None: "-"}


@dataclass(frozen=True)
class Row:
    """One number. met None: no target (a method the paper compares against, or incomparable; `note` says why)."""

    source: str
    figure: str
    paper: float | None
    ours: float
    unit: str = ""
    met: bool | None = None
    note: str = ""


def at_least(source: str, figure: str, paper: float, ours: float, unit: str = "%", note: str = "") -> Row:
    """A number of which more is better; NaN never meets."""
    return Row(source, figure, paper, float(ours), unit, bool(ours >= paper), note)


def at_most(source: str, figure: str, paper: float, ours: float, unit: str = "", note: str = "") -> Row:
    """A number of which less is better; NaN never meets."""
    return Row(source, figure, paper, float(ours), unit, bool(ours <= paper), note)


def beside(source: str, figure: str, paper: float | None, ours: float, unit: str, note: str) -> Row:
    """A number without a target; the note says why there is none."""
    return Row(source, figure, paper, float(ours), unit, None, note)


def number(value: float | None) -> str:
    """Four significant digits; a dash for none."""
    return "-" if value is None else f"{value:.4g}"


def cells(rows: Iterable[Row]) -> list[tuple[str, ...]]:
    """Texts of the table, their titles first."""
    texts = [
        (r.source, r.figure, f"{number(r.paper)} {r.unit}", f"{number(r.ours)} {r.unit}", VERDICTS[r.met], r.note)
        for r in rows
    ]
    return [("source", "figure", "paper", "ours", "met", "note"), *texts]
