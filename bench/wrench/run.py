"""Recordings with hidden truth of several plants, and the entries of this repository."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast

import numpy as np

from bench.force import PLANTS
from bench.force.judge import Verdict, identified_file
from bench.force.recordings import Trial, collisions, pushes, recorded, replayed, reported, simulated, touched
from bench.force.zoo import Individual, individuals
from bench.mujoco_plant import MujocoPlant
from bench.polishing import polishing
from bench.wrench.entries import entries
from robot_dynamics_ros.cli.demo_robots import demo_robot
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.wrench_metrics import moving_mask
from robot_dynamics_ros.outputs import plain, write_atomically
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.runs import runs
from robot_dynamics_ros.simulation.plant.build import WITHOUT, without

KINDS = {
    "pushes": (pushes, 200),
    "collisions": (collisions, 300),
    "free": (lambda draw: 0.0 * pushes(draw), 1000),
    "ordinary": (lambda draw: 0.0 * pushes(draw), 2000),
}  # and where their random numbers begin
PRESS, TILT = 20.0, 0.2  # N, rad between tool axis and face: it touches with an edge
ORDINARY = 30  # minutes of moves without contact that every entry may be fitted to; one where nothing collides


def people(
    robot: RobotFile, plants: list[str], count: int, seed: int, families: list[str], mjcf: Path | None = None
) -> list[Individual]:
    """`count` individuals on every plant; MuJoCo's has one kind of friction, the levels are its, or `mjcf`'s.

    A plant is a name of PLANTS, and effects of the elastic plant that are left out: elastic-load_friction-ripple.
    """
    drawn = individuals(robot, count, seed, families)
    return [_on(who, text, mjcf) for text in plants for who in drawn]


def _on(who: Individual, text: str, mjcf: Path | None) -> Individual:
    plant, *effects = text.split("-")
    if plant not in PLANTS or set(effects) - set(WITHOUT):
        known = f"{', '.join(PLANTS)}, without {', '.join(WITHOUT)}"
        raise ConfigError("--plants", text, f"unknown; known: {known}")
    given = who.overrides | without(*effects)
    file = f":{mjcf}" if mjcf and plant == "mujoco" else ""
    return replace(who, plant=PLANTS[plant] + file, laws=who.laws | {"plant": text}, overrides=given)


def enter_all(
    name: str,
    drawn: Sequence[Individual],
    trials: dict[str, int],
    rate: float,
    names: Sequence[str],
    out: Path,
    jobs: int,
) -> set[str]:
    """Recordings that enter() gives for every individual, `jobs` at a time."""
    rows = [(name, who, trials, rate, names, out) for who in drawn]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return set(chain.from_iterable(pool.map(enter, *zip(*rows, strict=True))))


def enter(
    name: str, who: Individual, trials: dict[str, int], rate: float, names: Sequence[str], out: Path
) -> list[str]:
    """Record one individual, but for what is there, identify it, estimate with thresholds for `rate`.

    Returns the recordings that were estimated. Raises ConfigError where those of another individual are there.
    """
    robot, plant = load_robot(name), who.laws["plant"]  # its name in files
    _refuse_another(out, f"{plant}{who.index}", {"robot": name} | asdict(who))

    def place(kind: str, k: int) -> str:
        return f"{plant}_{kind}_{who.index}{k:03d}"

    def log(file: str, record: Callable[[], Log | Trial]) -> Log:
        if not (out / "inputs" / f"{file}.npz").exists():
            _record(out, file, record())
        return _read(robot, out / "inputs" / f"{file}.npz")

    def minute(kind: str, k: int) -> Log:
        if kind not in KINDS:
            return log(place(kind, k), lambda: pressed(robot, who, kind, k))
        draw, first = KINDS[kind]
        return log(place(kind, k), lambda: touched(robot, who, "moves", first + k, draw))

    training = [
        log(f"{plant}{who.index}_training_{k}", lambda: recorded(robot, who, k)[0])  # noqa: B023  called at once
        for k in range(who.bags)
    ]
    found = identified_file(robot, training, out / "robots" / f"{plant}{who.index}", Verdict(who.index, who.laws, []))
    minutes = ORDINARY if trials["collisions"] or trials["free"] else min(1, trials["pushes"])
    methods = entries(found, training, (minute("ordinary", k) for k in range(minutes)), rate, names)
    judged = [(kind, k) for kind, count in trials.items() for k in range(count)]
    for kind, k in judged:
        taken = minute(kind, k)
        done = replayed(found, taken)
        for method, estimate in methods.items():
            _write(out / "submissions" / method / f"{place(kind, k)}.npz", estimate(taken, done))
    return [place(*row) for row in judged]


def _refuse_another(out: Path, file: str, drawn: dict[str, Any]) -> None:
    path, text = out / "inputs" / f"{file}_drawn.json", json.dumps(plain(drawn))
    if path.exists() and path.read_text(encoding="utf-8") != text:
        raise ConfigError("--out", str(out), f"holds another robot {file} (--robot, --seed, --families, --mjcf)")
    write_atomically(path, text)


def pressed(robot: RobotFile, who: Individual, kind: str, k: int) -> Trial:
    """12 s in which a standing arm presses TOOL, of kind TOOL_presses, on a tilted box for 6 s with ramps of 1 s."""
    motion = polishing(robot, np.array(demo_robot(robot.name).pose), ((4.0, 10.0),), 12.0, force=PRESS, radius=0.0)
    side = who.draw(3000 + k).uniform(0, 2 * np.pi)
    motion.wall["normal"] = (np.sin(TILT) * np.cos(side), np.sin(TILT) * np.sin(side), np.cos(TILT))
    machine = simulated(robot, who, 3000 + k)
    cast(MujocoPlant, machine.core).set_tool(kind.split("_")[0])
    motion.start(machine)
    log, truth = machine.run(*motion.motion)
    touching = (truth["external_wrench"] != 0).any(axis=1)
    return Trial(kind, reported(log), truth, moving_mask(motion.motion[1], log.time), touching)


def _record(out: Path, name: str, made: Log | Trial) -> None:
    """Write an input; of a trial that is judged, its truth before."""
    if isinstance(made, Trial) and "_ordinary_" not in name:
        _write(out / "truth" / f"{name}.npz", truth(made))
    log = made.log if isinstance(made, Trial) else made
    _write(out / "inputs" / f"{name}.npz", {"time": log.time} | dict(log.signals))


def _read(robot: RobotFile, path: Path) -> Log:
    """An input as everyone gets it."""
    held = dict(np.load(path))
    stamps = np.round(1e9 * held.pop("time")).astype(np.int64)
    return Log(robot.joint_names, stamps, {k: np.ascontiguousarray(v, float) for k, v in held.items()})


def truth(trial: Trial) -> dict[str, np.ndarray]:
    """What score.py reads."""
    wrench = trial.truth["external_wrench"]
    return {
        "time": trial.log.time,
        "wrench": wrench,
        "moving": trial.moving,
        "contact": trial.contact,
        "events": events(trial.log.time, np.linalg.norm(wrench[:, :3], axis=1)),
    }


def events(time: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Begin, end [s] and peak [N] of every stretch (K, 3) with |F| above 0."""
    return np.array([(time[a], time[b - 1], size[a:b].max()) for a, b in runs(size > 0)]).reshape(-1, 3)


def _write(path: Path, arrays: dict[str, np.ndarray]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    kept: dict[str, Any] = {k: v.astype(np.float32) if v.ndim == 2 else v for k, v in arrays.items()}
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez(file, **kept)
    part.replace(path)  # whole, or not at all: what is there is not recorded again
