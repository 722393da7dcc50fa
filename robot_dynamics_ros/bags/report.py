"""What reading a bag found, chose, repaired and dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


def dropped_rows(name: str, counts: Mapping[str, int]) -> list[str]:
    """A sentence with the counts of a recording's dropped rows by reason, where there are any."""
    return [f"{name}: dropped {', '.join(f'{n} {what}' for what, n in counts.items())}"] if counts else []


@dataclass
class BagReport:
    """Facts about a loaded bag; `dropped` counts rows by reason, `notes` are sentences for the user."""

    files: list[str]
    topic: str = ""
    messages: int = 0
    rows: int = 0
    stamps: str = ""
    joint_names: tuple[str, ...] = ()
    signals: list[str] = field(default_factory=list)
    duration: float = 0.0
    rate: float = 0.0
    dropped: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def drop(self, reason: str, count: int) -> None:
        """Count rows dropped for a reason; zero is not mentioned."""
        if count:
            self.dropped[reason] = self.dropped.get(reason, 0) + int(count)

    def lines(self) -> list[str]:
        """The report as text, one fact per line."""
        head = (
            f"{', '.join(self.files)}: {self.topic}, {self.rows} of {self.messages} messages, "
            f"{self.duration:.1f} s at {self.rate:.1f} Hz, {self.stamps} stamps"
        )
        return [head, *(f"dropped {count}: {reason}" for reason, count in self.dropped.items()), *self.notes]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values."""
        return {**vars(self), "joint_names": list(self.joint_names)}
