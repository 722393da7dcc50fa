"""What a command says first: grade with exceptions, reasons, next command; the same in terminal, JSON and page.

`changed` is the one test of whether a joint differs from what it was; `matrix` is the table joint x quantity in the
colours of the grades.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

GRADES = {"good": "good", "fair": "fair", "bad": "not usable"}  # level, which has the colour -> word
CLEAR = 4.0  # standard deviations of a significant difference
DEVIATION = (10.0, 30.0)  # % relative deviation of a well and of a roughly known parameter
FOLD, HUGE = 3.0, 100.0  # new over old, said in times, and not said: what is compared with is no comparison
SHARE = 0.1  # of the size of a quantity, the least difference that is reported


def verdict(level: str, headline: str, *reasons: str, exceptions: str = "", then: str = "") -> dict[str, Any]:
    """grade and level, verdict: the headline "Grade, except ...: headline." and the reasons, next: a command.

    Exceptions of what is not usable are a reason: "except" would call them usable.
    """
    grade = GRADES[level].capitalize()
    if exceptions and level == "bad":
        reasons, exceptions = (f"Besides: {exceptions}.", *reasons), ""
    first = f"{grade}, except {exceptions}: {headline}" if exceptions else f"{grade}: {headline}"
    return {"grade": GRADES[level], "level": level, "verdict": [first, *reasons], "next": then}


def word(value: object) -> str:
    """A path or a name as one word of a shell command."""
    return shlex.quote(str(value))


def short_names(paths: Sequence[str | Path]) -> list[str]:
    """Paths as sentences name them: the last part, with as many before it as tell them apart."""
    parts = [Path(path).parts for path in paths]
    count = next(k for k in itertools.count(1) if len({part[-k:] for part in parts}) == len(set(parts)))
    return [str(Path(*part[-count:])) for part in parts]


def worst(levels: Iterable[str]) -> str:
    """The worst of some levels; "good" of none."""
    return max((level for level in levels if level in GRADES), key=list(GRADES).index, default="good")


def level_of(value: float | None, good: float, fair: float) -> str:
    """good, fair or bad of a value by the bounds up to which (good < fair) or from which on it is; unknown for NaN."""
    if value is None or not np.isfinite(value):
        return "unknown"
    sign = 1.0 if good < fair else -1.0
    return "good" if sign * (value - good) <= 0 else "fair" if sign * (value - fair) <= 0 else "bad"


def changed(difference: Any, std: Any, size: Any, share: float = SHARE) -> Any:
    """True where a difference is beyond CLEAR standard deviations and beyond `share` of the quantity's size."""
    apart = np.abs(difference)
    return (apart > CLEAR * np.asarray(std)) & (apart > share * np.abs(size))


def times(ratio: float) -> str:
    """New over old in words: "+35 %" or "-22 %"; "4.7 times" from FOLD on, where a percentage says nothing."""
    if not np.isfinite(ratio) or ratio > HUGE:
        return f"over {HUGE:.0f} times"
    return f"{ratio:.2g} times" if abs(ratio) >= FOLD or ratio < 0 else f"{100 * (ratio - 1):+.0f} %"


def change(percent: float | None) -> str:
    """A change in % in words, as of `times`; a dash where there is none."""
    return "–" if percent is None else times(1 + percent / 100)


def cell(value: float | None, level: str) -> tuple[str, str]:
    """Text of a number for `matrix`, with its level; a dash where there is none."""
    return ("–" if value is None or not np.isfinite(value) else f"{value:.3g}"), level


def matrix(joints: Sequence[str], columns: Mapping[str, Sequence[tuple[str, str]]]) -> dict[str, Any]:
    """Table of a report: head with unit -> (text, level) of each joint."""
    rows = [
        {"joint": joint, "cells": [{"text": column[j][0], "level": column[j][1]} for column in columns.values()]}
        for j, joint in enumerate(joints)
    ]
    return {"heads": list(columns), "rows": rows}
