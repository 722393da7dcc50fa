"""Robot files of the arms of arms.csv, and the way of docs/your_own_robot.md with each, on the simulated arm."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from itertools import groupby
from math import radians
from pathlib import Path

import numpy as np

from robot_dynamics_ros.cli.main import cli
from robot_dynamics_ros.estimators.replay import replay
from robot_dynamics_ros.robot_file import RobotFile, load_robot, save_robot
from robot_dynamics_ros.robot_file.problems import validated
from robot_dynamics_ros.signals import Log

TABLE = Path(__file__).with_name("arms.csv")
LIMITS = {"position_lower": "lower", "position_upper": "upper", "velocity": "velocity", "torque": "torque"}
GYRATION = 0.08  # m, assumed of every link: the table holds no inertias
PUSH = (10.0, -8.0, 12.0)  # N, of a rehearsal
PUSHED = (5.0, 10.0)  # s
HEAD = ("arm", "joints", "side", "grade", "mean R2", "lowest R2", "push [N]", "deviation [N]", "within two [%]")
GEN3 = {"q": "Position", "qd": "Velocity", "effort": "TorqueCur", "temperature": "Temp"}  # columns of the public log


def arms() -> dict[str, RobotFile]:
    """Robot file of every arm: kinematics, limits and masses of its URDF, everything else unknown."""
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    for before, row in zip(rows, rows[1:], strict=False):
        row["arm"] = row["arm"] or before["arm"]
    return {name: _robot(name, list(joints)) for name, joints in groupby(rows, key=lambda row: row["arm"])}


def _robot(name: str, rows: Sequence[dict[str, str]]) -> RobotFile:
    side = rows[0]["side"]
    raw = {
        "schema": 1,
        "name": name,
        "manufacturer": "unknown",
        "model": name,
        "sources": {"urdf": "the vendor's public URDF", "estimate": f"radius of gyration {GYRATION} m of every link"},
        "kinematics": {"source": "urdf", "convention": "placements", "joints": [_joint(row) for row in rows]},
        "links": {"source": "estimate", "values": [_link(row) for row in rows]},
        "drives": {"source": "urdf", "torque_side": side, "effort": {"unit": "Nm", "includes_gravity": True}},
        "limits": {"source": "urdf"} | {k: [_number(row[c]) for row in rows] for k, c in LIMITS.items()},
        "sensing": {
            "source": "urdf",
            "sample_rate": None,
            "temperature": False,
            "rotor_encoder": False,
            "joint_torque_sensor": side == "link",
            "motor_torque": side == "motor",
        },
    }
    return validated(RobotFile, raw, str(TABLE))


def _number(text: str) -> float | None:
    return float(text) if text else None


def _joint(row: dict[str, str]) -> dict[str, object]:
    return {
        "name": row["joint"],
        "xyz": [float(row[axis]) for axis in "xyz"],
        "rpy": [radians(float(row[angle])) for angle in ("roll", "pitch", "yaw")],
    }


def _link(row: dict[str, str]) -> dict[str, object]:
    mass = float(row["mass"])
    size = mass * GYRATION**2
    com = [float(row[f"com_{axis}"]) for axis in "xyz"]
    return {"mass": mass, "com": com, "inertia": [size, 0.0, 0.0, size, 0.0, size]}


def run(*words: object) -> None:
    """A command of robot-dynamics in this process."""
    cli.main([str(word) for word in words], standalone_mode=False)


def rehearsed(robot: RobotFile, folder: Path) -> tuple[str, ...]:
    """The row of an arm: the commands of the page, with two motions and a push, in a directory of its own."""
    folder.mkdir(parents=True)
    file, identified = folder / "arm.yaml", folder / "identified"
    save_robot(robot, file)
    for seed, name in ((0, "first"), (2, "second")):
        run("excite", "--robot", file, "--seed", seed, "--out", folder / f"{name}.csv")
    for day, (motion, name) in enumerate((("first", "first"), ("second", "second"), ("second", "pushed")), 1):
        push = ("--push", ",".join(map(str, PUSH))) if name == "pushed" else ()
        words = ("--robot", file, "--date", f"2026-01-0{day}", *push, "--out", folder / name)
        run("rehearse", folder / f"{motion}.csv", *words)
    run("identify", folder / "first", "--robot", file, "--validate", folder / "second", "--out", identified)
    (written,) = identified.glob("*_identified.yaml")
    return (*_judged(robot, folder), *_force(replay([folder / "pushed"], load_robot(written)).log))


def _judged(robot: RobotFile, folder: Path) -> tuple[str, ...]:
    report = json.loads((folder / "identified" / "report.json").read_text())
    r2 = report["validation"]["r2"]
    j = int(np.argmin(r2))
    lowest = f"{robot.joint_names[j]}, {r2[j]:.3f}"
    about = (robot.name, str(robot.n_joints), robot.drives.torque_side, report["grade"])
    return (*about, f"{report['validation']['mean_r2']:.3f}", lowest)


def _force(log: Log) -> tuple[str, str, str]:
    """Median force and deviation [N] during the push, and how much of the force lies within two deviations [%]."""
    pushed = (log.time >= PUSHED[0]) & (log.time < PUSHED[1])
    force, std = log.external_wrench[pushed, :3], log.external_wrench_std[pushed, :3]
    shown = (f"({', '.join(f'{x:.1f}' for x in np.median(values, axis=0))})" for values in (force, std))
    return (*shown, f"{100 * (np.abs(force - PUSH) <= 2 * std).mean():.0f}")  # type: ignore[return-value]


def recorded(robot: RobotFile, directory: Path, folder: Path) -> tuple[str, ...]:
    """The row of the public log of a Gen3: 5 s to identify from, 2 s to validate with, effort by motor currents."""
    folder.mkdir(parents=True)
    save_robot(robot.with_updates({"drives.torque_side": "motor", "sensing.motor_torque": True}), folder / "arm.yaml")
    names = ("RecordTrajectory_quadratic", "RunTrajectory1")
    columns = [word for name, c in GEN3.items() for word in ("--map", f"{name}={c}1..{c}7")]
    for name in names:
        run("import", directory / f"{name}.csv", *columns, "--robot", folder / "arm.yaml", "--out", folder / name)
    first, second = (folder / name for name in names)
    out = folder / "identified"
    run("identify", first, "--robot", folder / "arm.yaml", "--validate", second, "--out", out)
    name, joints, _, *judged = _judged(robot, folder)
    return (f"{name}, public log of 7 s", joints, "motor", *judged, "not pushed", "", "")
