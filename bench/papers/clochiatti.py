"""Electro-mechanical model of the UR5e: inertia, torque constants, currents on tests A and B [Clochiatti2024].

Everything is identified on A by what `identify --what drives` does, and judged on both while the joints move.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.papers.labs import lab
from bench.papers.labs.calibration import trapezoid_test
from bench.papers.table import Row, at_least, at_most, beside
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.identification.drive.identify import DrivesFound, identify_drive_recordings
from robot_dynamics_ros.robot_file import RobotFile

SOURCE = "Clochiatti2024"
TENSOR = 0.3  # relative error of inertia tensors estimated from shapes
ARM, WRIST = slice(0, 3), slice(3, 6)


def run(quick: bool = False) -> list[Row]:
    """Frictionless torque and currents, the paper's beside ours; its energies are of points that it does not print."""
    robot = lab.ur5e()
    found = identified(estimated_tensors(robot))
    a, b = found.training, found.validation
    rows = [
        at_least(SOURCE, f"{what} R2, lowest joint, test {name}", paper, min(part[key]["r2"]), "", note)
        for what, key, paper, note in (
            ("frictionless torque", "model_torque", 0.999, f"link inertia tensors up to {100 * TENSOR:.0f} % off"),
            ("current", "current", 0.985, ""),
        )
        for name, part in (("A", a), ("B", b))
    ]
    rms = 1e3 * b["current"]["rms"]
    rows.append(at_most(SOURCE, "current RMS error, joints 4-6, test B", 66.0, rms[WRIST].max(), "mA"))
    rows.append(beside(SOURCE, "current RMS error, joints 1-3, test B", 20.0, rms[ARM].max(), "mA", arm_note(b)))
    return rows


def estimated_tensors(robot: RobotFile) -> RobotFile:
    """Masses and centres of the manufacturer, inertia tensors estimated from shapes: wrong by TENSOR at most [3.1]."""
    draw = np.random.default_rng(0)
    values = [dict(v) for v in robot.raw()["links"]["values"]]
    for value in values:
        scale = 1 + draw.uniform(-TENSOR, TENSOR)
        value["inertia"] = [scale * x for x in value["inertia"]]
    return robot.with_updates({"links.values": values})


def identified(robot: RobotFile) -> DrivesFound:
    """Drives identified on A, judged on B."""
    a, b = (recording(trapezoid_test(lab.ur5e(), seed), name) for seed, name in enumerate("AB"))
    return identify_drive_recordings(robot, [a], [b])


def arm_note(judged: dict[str, Any]) -> str:
    """Why the 20 mA of joints 1-3 have no counterpart, with the numbers."""
    r2, rms = judged["current"]["r2"][ARM], judged["current"]["rms"][ARM]
    spread = rms / np.sqrt(1 - r2)
    return (
        f"incomparable: with R2 = 0.99 an error of 20 mA means currents that vary by 0.2 A; here they vary by "
        f"{spread.min():.1f} to {spread.max():.1f} A, and R2 of joints 1-3 is {r2.min():.3f} or better"
    )
