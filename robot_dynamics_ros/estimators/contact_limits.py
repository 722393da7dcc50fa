"""Peak force of each contact beside the limits of ISO/TS 15066 (now in ISO 10218-2:2025). No safety function.

An estimate is no measurement by ISO/PAS 5672, and the observer shows peaks of less than 0.1 s too small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.estimators.wrench_metrics import runs
from robot_dynamics_ros.signals import Log

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
    """A contact that was flagged: its begin and length [s], largest |F| [N] with its deviation."""

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

    def exceeded(self) -> list[str]:
        """Body regions whose force limit is below the peak and two deviations."""
        return [region for region in LIMITS if self.force + 2 * self.std > self.limits(region)[0]]

    def area(self) -> float:
        """Contact area [cm2] below which a pressure limit of a permitted region is exceeded."""
        pressures = [self.limits(r)[1] for r in LIMITS if r not in NEVER_TRANSIENT]
        return (self.force + 2 * self.std) / min(pressures)

    def text(self) -> str:
        """One line for people."""
        kind = "transient" if self.transient else "quasi-static"
        above = ", ".join(self.exceeded()) or "of no body region"
        return (
            f"largest contact: {self.force:.0f} +- {self.std:.0f} N, {kind} ({self.seconds:.2f} s), force limit of "
            f"ISO/TS 15066 exceeded: {above}; pressure limit from {self.area():.2g} cm2 down. Not a safety function"
        )


def contact_peaks(log: Log) -> list[ContactPeak]:
    """Every contact at the TCP that a replay flagged."""
    size = np.linalg.norm(np.nan_to_num(log.external_wrench[:, :3]), axis=1)
    std = np.linalg.norm(np.nan_to_num(log.external_wrench_std[:, :3]), axis=1)
    found = []
    for first, end in runs(log.contact[:, -1] > 0.5):
        top = first + int(size[first:end].argmax())
        seconds = float(log.time[end - 1] - log.time[first])
        found.append(ContactPeak(float(log.time[first]), seconds, float(size[top]), float(std[top])))
    return found
