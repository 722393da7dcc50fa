"""Peak force of each contact beside the limits of ISO/TS 15066 (now in ISO 10218-2:2025). No safety function.

An estimate is no measurement by ISO/PAS 5672, and the observer shows peaks of less than 0.1 s too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.runs import runs

# Body region -> quasi-static force [N], lowest pressure of its places [N/cm2], as commonly cited for table A.2 of
# ISO/TS 15066:2016; not compared with the document
LIMITS = {
    "skull and forehead": (130.0, 110.0),
    "face": (65.0, 110.0),
    "neck": (150.0, 140.0),
    "back and shoulders": (210.0, 160.0),
    "chest": (140.0, 120.0),
    "abdomen": (110.0, 140.0),
    "pelvis": (180.0, 210.0),
    "upper arms and elbows": (150.0, 190.0),
    "lower arms and wrists": (160.0, 180.0),
    "hands and fingers": (140.0, 190.0),
    "thighs and knees": (220.0, 220.0),
    "lower legs": (130.0, 210.0),
}
NEVER_TRANSIENT = ("skull and forehead", "face")  # no contact is permitted there; no factor is given
TRANSIENT, FACTOR = 0.5, 2.0  # s up to which a contact is transient (3.8 there), and the factor of its limits


@dataclass(frozen=True)
class ContactPeak:
    """A contact that was flagged: its begin and length [s], largest |F| [N] with its deviation; two of them are added
    where it is compared with limits.
    """

    begin: float
    seconds: float
    force: float
    std: float

    @property
    def transient(self) -> bool:
        """Short enough for the limits of a transient contact."""
        return self.seconds <= TRANSIENT

    def limits(self, region: str) -> tuple[float, float]:
        """Force [N] and pressure [N/cm2] that hold for this contact."""
        factor = FACTOR if self.transient and region not in NEVER_TRANSIENT else 1.0
        force, pressure = LIMITS[region]
        return factor * force, factor * pressure

    @property
    def least(self) -> float:
        """Force [N] that it surely had."""
        return self.force - 2 * self.std

    @property
    def most(self) -> float:
        """Force [N] that it may have had."""
        return self.force + 2 * self.std

    def exceeded(self) -> list[str]:
        """Body regions whose force limit is below the peak and two deviations."""
        return [region for region in LIMITS if self.most > self.limits(region)[0]]

    def area(self) -> float:
        """Contact area [cm2] below which a pressure limit of a permitted region is exceeded."""
        pressures = [self.limits(r)[1] for r in LIMITS if r not in NEVER_TRANSIENT]
        return self.most / min(pressures)

    def text(self) -> str:
        """One line for people."""
        kind = "transient" if self.transient else "quasi-static"
        sure = "" if self.least > 0 else " (uncertain: within two deviations of none)"
        above = ", ".join(self.exceeded()) or "no body region"
        return (
            f"{self.force:.0f} +- {self.std:.0f} N{sure}, {kind} ({self.seconds:.2f} s); with two deviations added "
            f"above the ISO/TS 15066 force limit of {above}; pressure limit from {self.area():.2g} cm2 down. "
            "Not a safety function"
        )


def largest(peaks: Sequence[ContactPeak]) -> list[str]:
    """A line for the contact that surely was the largest, and one for another that may exceed more limits."""
    sure = max(peaks, key=lambda peak: peak.least)
    worst = max(peaks, key=lambda peak: (len(peak.exceeded()), peak.most))
    found = [f"largest contact: {sure.text()}"]
    return [*found, f"may have been larger: {worst.text()}"] if len(worst.exceeded()) > len(sure.exceeded()) else found


def contact_peaks(log: Log, shown: Sequence[int] = (0, 1, 2)) -> list[ContactPeak]:
    """Every contact at the TCP that a replay flagged; shown: base axes whose force and deviation count."""
    size = np.linalg.norm(np.nan_to_num(log.external_wrench[:, shown]), axis=1)
    std = np.linalg.norm(np.nan_to_num(log.external_wrench_std[:, shown]), axis=1)
    step = np.diff(log.time)
    period = float(np.median(step)) if len(step) else 0.0
    found = []
    for rows in flagged(log):
        top, begin = rows[size[rows].argmax()], float(log.time[rows[0]])
        seconds = float(log.time[rows[-1]]) - begin + period
        found.append(ContactPeak(begin, seconds, float(size[top]), float(std[top])))
    return found


def flagged(log: Log) -> list[np.ndarray]:
    """Rows (K,) of every contact at the TCP that a replay flagged; samples without an estimate, for less than a second,
    do not end one and are not among them.
    """
    known = np.flatnonzero(np.isfinite(log.contact[:, -1]))
    return [known[first:end] for first, end in runs(log.contact[known, -1] > 0.5, log.time[known])]
