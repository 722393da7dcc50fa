"""`robot-dynamics identify`: the arm's masses, rotors and friction; validated robot file, URDF and report out."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from robot_dynamics_ros.bags.storage import bag_files
from robot_dynamics_ros.cli.printed import (
    console,
    end_with,
    joint_table,
    print_files,
    print_notes,
    show_verdict,
    stderr,
    write_json,
)
from robot_dynamics_ros.cli.vendor import beside_vendor, refuse_without, show_vendor
from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.estimators.force_sensor import SensorOptions
from robot_dynamics_ros.identification.arm.export import write_outputs
from robot_dynamics_ros.identification.arm.identify import identify
from robot_dynamics_ros.identification.arm.read import read
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.dataset.initial_model import any_robot, rounded_angles
from robot_dynamics_ros.identification.known_mass import gains_of_known_mass, with_known_mass
from robot_dynamics_ros.identification.payload import IdentifiedPayload, identify_payload
from robot_dynamics_ros.identification.reports.result import summarise
from robot_dynamics_ros.outputs import refuse_existing
from robot_dynamics_ros.robot_file import load_robot, save_robot
from robot_dynamics_ros.verdict import word

REPORT = "report.html"
SHARES = {  # per cent of the time that each step takes: 10 minutes at 500 Hz
    "reading bags": 10,
    "comparing velocity and position": 1,
    "recognising the effort": 1,
    "looking for contact": 3,
    "choosing filters and friction laws": 17,
    "solving": 10,
    "friction laws of the robot file": 21,
    "velocity and acceleration of the live nodes": 1,
    "residuals of the live pipeline": 8,
    "validating": 6,
    "report": 22,
}


class StepProgress:
    """Share of the work that is done and the time left, printed at the beginning of each step."""

    def __init__(self, update: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._update, self._clock = update, clock
        self._began, self._done, self._next = clock(), 0, 0

    def __call__(self, text: str) -> None:
        """Begin a step."""
        self._done = min(self._done + self._next, 99)
        self._next = SHARES.get(text, 0)
        left = (self._clock() - self._began) * (100 - self._done) / max(self._done, 1)
        estimate = f", {left:.0f} s left" if self._done else ""
        self._update(f"{self._done} %{estimate}: {text}")


def loaded_runs(texts: tuple[str, ...]) -> tuple[tuple[Path, ...], float | None]:
    """Bags and the known mass [kg] or None of texts BAG[,mass=KG]. Raises DataError."""
    parts = [text.partition(",mass=") for text in texts]
    masses = {mass for _, given, mass in parts if given}
    try:
        known = {float(mass) for mass in masses}
    except ValueError:
        known = set()
    if len(known) != (len(masses) > 0) or not all(0 < mass < float("inf") for mass in known):
        raise DataError(f"--payload-from: mass={', '.join(sorted(masses))} is not one number above 0 [kg]")
    return tuple(Path(bag) for bag, _, _ in parts), next(iter(known), None)


def identify_arm(
    bags: tuple[Path, ...],
    robot: str,
    validate: tuple[Path, ...],
    options: Options,
    payload_from: tuple[str, ...],
    out: Path,
    verbose: bool,
    vendor: SensorOptions | None,
) -> None:
    """Identify, write the files into `out`, print the result. Raises DataError, ConfigError."""
    carrying, payload_mass = loaded_runs(payload_from)
    for bag in carrying:
        bag.stat()  # a bag that is not there is refused before minutes of work
    arm = any_robot(robot, bags)
    written = ("identified.yaml", "identified.urdf", "identified_loaded.yaml")
    refuse_existing("--out", *(out / f"{arm.name}_{name}" for name in written), out / REPORT)
    if vendor is not None:
        refuse_without(validate or bags, arm, options.topic, vendor)
    with stderr.status("loading") as status:
        progress = StepProgress(status.update)
        found = identify(arm, bags, validate, options, progress)
        if payload_mass is not None:
            status.update("torque constants from the known mass")
            loaded = [read(found.robot, bag, options, carrying=True) for bag in carrying]
            gains = gains_of_known_mass(found, loaded, payload_mass)
            known, text = with_known_mass(found, gains, loaded, payload_mass)
            progress = StepProgress(status.update)
            found = identify(known, bags, validate, options, progress)
            found.statements.append(text)
        if rounded := rounded_angles(robot):
            found.statements.append(rounded)
        payload = None
        if carrying:  # refused before a file is written
            status.update("payload")
            payload = identify_payload(found, [read(found.robot, bag, options, carrying=True) for bag in carrying])
        progress("validating")
        result = summarise(found, robot)
        result["files"] = write_outputs(found, out, [*bags, *validate], result["grade"])
        if payload is not None:
            result["payload"] = payload.to_dict()
            result["files"]["loaded_robot_file"] = _loaded(payload, carrying, out, result["files"]["robot_file"])
        if result["usable"]:
            result["next"] = f"robot-dynamics up --robot {word(result['files']['robot_file'])} --driver none"
        if vendor is not None:
            judged = validate or bags
            result["vendor"] = beside_vendor(found, arm, result["files"]["robot_file"], judged, bool(validate), vendor)
        progress("report")
        from robot_dynamics_ros.identification.reports.arm import write_report

        try:
            result["files"]["report"] = str(write_report(found, result, out / REPORT))
        except CapabilityError as error:  # numbers and files do not depend on drawing
            result["warnings"].append(f"no report: {error}")
    write_json(out / "report.json", result)
    _show(result, verbose)
    end_with(result)


def _loaded(payload: IdentifiedPayload, bags: tuple[Path, ...], out: Path, file: str) -> str:
    """A second robot file, which carries the payload of the loaded runs; its path."""
    robot = load_robot(file).with_updates({"payload": payload.block()})
    path = out / f"{robot.name}_identified_loaded.yaml"
    save_robot(robot, path, inputs=bag_files(bags), changed=["payload"])
    return str(path)


def _show(result: dict[str, Any], verbose: bool) -> None:
    from robot_dynamics_ros.bags.rows import dropped_rows

    v, models = result["validation"], result["comparison"]
    heads = ("RMSE", "moving", "at rest", "constant Coulomb", "initial model")
    table = joint_table(result["joint_names"], "R2", *(f"{head} {result['unit']}" for head in heads))
    initial = models.get("initial_model", {}).get("rmse", [None] * len(v["r2"]))
    rows = (v["r2"], v["rmse"], v["moving"]["rmse"], v["at_rest"]["rmse"], models["constant_coulomb"]["rmse"], initial)
    for name, *cells in zip(result["joint_names"], *rows, strict=True):
        table.add_row(name, *("-" if c is None else f"{c:.3g}" for c in cells))
    show_verdict(result)
    console.print(table)
    console.print(f"errors of the written robot file on raw measured effort, {v['samples']} samples")
    bags = (*result["training"]["bags"], *result["validation_bags"])  # the parts of one have the same counts
    print_notes(list(dict.fromkeys(text for bag in bags for text in dropped_rows(bag["name"], bag["dropped"]))))
    print_notes(result["statements"] if verbose else [], result["warnings"])
    if "payload" in result:
        p = result["payload"]
        com = ", ".join(f"{c:.4f} +- {s:.4f}" for c, s in zip(p["com"], p["com_std"], strict=True))
        console.print(
            f"payload {p['mass']:.3f} +- {p['mass_std']:.3f} kg, centre of mass [{com}] m in the last link frame"
        )
        console.print(f"observable: {', '.join(p['observable']) or 'nothing'}")
    if "vendor" in result:
        show_vendor(result["vendor"])
    print_files(result["files"])
