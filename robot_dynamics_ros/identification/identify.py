"""From bags to an identified, validated model: the whole procedure in order, one function per step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.bags import BagReport, load_bag
from robot_dynamics_ros.config import RobotFile
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.blas import one_thread
from robot_dynamics_ros.identification.checks import check_excitation, check_extrapolation, check_fit, check_units
from robot_dynamics_ros.identification.consistent_model import make_consistent, rotor_included
from robot_dynamics_ros.identification.fitting import PLAIN, Fitter, known_rotors, prior_of
from robot_dynamics_ros.identification.least_squares import Solution
from robot_dynamics_ros.identification.live_model import LiveModel, fit_live
from robot_dynamics_ros.identification.metrics import mean_r2, metrics
from robot_dynamics_ros.identification.model import IdentifiedModel, Structure
from robot_dynamics_ros.identification.mounting import mounted
from robot_dynamics_ros.identification.periods import average_all
from robot_dynamics_ros.identification.recording import Motion, Recording, filtered, recording
from robot_dynamics_ros.identification.rigid import RigidModel
from robot_dynamics_ros.identification.semantics import EffortSemantics, recognise
from robot_dynamics_ros.identification.tuning import Given, Tuner
from robot_dynamics_ros.identification.uncertainty import with_uncertainty
from robot_dynamics_ros.types import Log

SPLIT = 0.7  # share of every bag used for identification when no validation bag is given
SLOW_ROWS = 20_000  # samples that tell the meaning of an effort
PRICE = 0.01  # loss of R2 on the identification data that physical consistency may cost
PRIOR = 1e-3  # strength of the catalogue values: standard deviations of data per 100 % of the value


@dataclass(frozen=True)
class Options:
    """What the user may fix; the defaults leave every choice to the data."""

    effort: str = "auto"
    given: Given = Given()
    method: str = "huber"
    coupled: bool | None = None
    prior: float = PRIOR
    topic: str = "auto"
    stamps: str = "auto"
    known_rotor: bool = False
    average_periods: bool = False


@dataclass
class Identification:
    """All that an identification found; report and files are written from it."""

    robot: RobotFile
    semantics: EffortSemantics
    structure: Structure
    model: IdentifiedModel
    physical: IdentifiedModel
    headline: IdentifiedModel
    rotor: np.ndarray
    rotor_included: bool
    training: list[Recording]
    validation: list[Recording]
    split: str
    options: Options
    written: LiveModel | None = None
    warnings: list[str] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)

    @property
    def solution(self) -> Solution:
        """The solution that was selected."""
        return self.model.solution

    def motion(self, rec: Recording) -> Motion:
        """Filtered state of a recording as the structure says; effort in Nm as recorded."""
        s = self.structure
        return filtered(rec, s.cutoff, s.source, s.delay)

    def raw(self, torque: np.ndarray) -> np.ndarray:
        """Torque [Nm] in the unit of the recorded effort."""
        return torque / self.semantics.scale


Progress = Callable[[str], None]


def identify(
    robot: RobotFile,
    bags: Sequence[str | Path],
    validate: Sequence[str | Path] = (),
    options: Options = Options(),
    progress: Progress = lambda text: None,
) -> Identification:
    """Identified model of a robot from bags, judged on `validate` (or on the last 30 % of every bag, stated).

    Raises DataError in one line where the data cannot support it: unreadable, at rest, units, too few joints,
    ambiguous effort.
    """
    progress("reading bags")
    training = [read(robot, b, options) for b in bags]
    judged = [read(robot, b, options) for b in validate]
    return identify_recordings(robot, training, judged, options, progress)


def read(robot: RobotFile, bag: str | Path, options: Options) -> Recording:
    """One bag as a recording with its joints in the robot file's order."""
    log, report = _loaded(robot, bag, options)
    check_units(log, str(bag))
    rec = recording(log, str(bag))
    rec.counts = {**report.dropped, **rec.counts}
    rec.notes = [*report.notes, *rec.notes]
    return rec


def _loaded(robot: RobotFile, bag: str | Path, options: Options) -> tuple[Log, BagReport]:
    """Log with the robot's joints by name; by order where the bag has as many joints and knows none of the names."""
    choice = {"topic": options.topic, "stamps": options.stamps}
    try:
        return load_bag(bag, robot, **choice)
    except DataError as error:
        if "joint" not in str(error):
            raise
        log, report = load_bag(bag, **choice)
        known = set(robot.joint_aliases) & set(log.joint_names)
        if known or log.n_joints != robot.n_joints:
            raise
        report.notes.append(
            f"joint names {', '.join(log.joint_names)} are not those of {robot.name}: taken in this order, please check"
        )
        return Log(robot.joint_names, log.stamp_ns, log.signals, log.receive_ns), report


@one_thread()
def identify_recordings(
    robot: RobotFile,
    training: list[Recording],
    judged: list[Recording],
    options: Options = Options(),
    progress: Progress = lambda text: None,
) -> Identification:
    """`identify` on recordings that are already loaded. Raises DataError like it."""
    split = "validated on other bags"
    if not judged:
        training, judged = split_in_time(training)
        split = f"no validation bag: identified on the first {SPLIT:.0%} of every bag, validated on the rest"
    progress("recognising the effort")
    slow = slow_motion(training)
    robot, mount = mounted(robot, slow) if options.effort in ("auto", "torque") else (robot, "")
    semantics = recognise(robot, slow, options.effort)
    training = [r.with_effort(lambda e: e * semantics.scale) for r in training]
    judged = [r.with_effort(lambda e: e * semantics.scale) for r in judged]
    training = average_all(training) if options.average_periods else training
    rigid = RigidModel(robot, None if semantics.includes_gravity else np.zeros(3))
    motor = robot.drives.torque_side == "motor"
    progress("choosing filters and friction laws")
    tuner = Tuner(training, rigid, motor, coupled_joints(robot, options))
    structure = _chosen(tuner, options.given, training)
    progress("solving")
    motion = tuner.motion(structure)
    fitter = Fitter(rigid, structure, motion, prior_of(robot, rigid, structure, options.prior), training)
    model = fitter.run(options.method if options.method in PLAIN else "huber")
    model = with_uncertainty(model, motion)
    included, said = rotor_included(robot, model)
    if options.known_rotor or options.method == "total":
        fitter.held = known_rotors(robot, rigid, structure, included)
    if fitter.held or options.method not in PLAIN:
        model = with_uncertainty(fitter.run(options.method), motion, centred=options.method not in PLAIN)
    progress("physical consistency")
    physical, rotor = make_consistent(robot, model, included)
    headline, doubt = judged_model(robot, model, physical, motion)
    found = Identification(
        robot, semantics, structure, model, physical, headline, rotor, included, training, judged, split, options
    )
    progress("friction law for the live nodes")
    found.written = live_model(found, motion)
    recordings = (*training, *judged)
    notes = [f"{r.name}: {note}" for r in recordings for note in r.notes]
    found.statements = [
        *semantics.statements,
        mount,
        said,
        split,
        *tuner.notes,
        *fitter.notes,
        _coupled(robot, structure),
        *notes,
    ]
    found.warnings = [*semantics.warnings, mount, doubt, *(n for n in (*notes, *fitter.notes) if "please check" in n)]
    found.warnings += [*check_fit(model, motion), *check_excitation(model, motion), *check_extrapolation(found, motion)]
    found.statements, found.warnings = ([text for text in x if text] for x in (found.statements, found.warnings))
    return found


def _chosen(tuner: Tuner, given: Given, training: list[Recording]) -> Structure:
    """The structure that predicts parts held out best. Raises DataError where no part says anything about another."""
    try:
        return tuner.run(given)
    except np.linalg.LinAlgError:
        names = ", ".join(r.name for r in training)
        raise DataError(
            f"{names}: shows too little of the robot to choose a model: record larger motions of all joints, "
            "for 30 s or more (robot-dynamics excite)"
        ) from None


def _coupled(robot: RobotFile, structure: Structure) -> str:
    names = [robot.joint_names[j] for j, law in enumerate(structure.laws) if any(t[0] == "c" for t in law.terms)]
    return f"{', '.join(names)} carry friction of a motor that turns with a neighbour: coupled wrist" if names else ""


def judged_model(
    robot: RobotFile, model: IdentifiedModel, physical: IdentifiedModel, motion: Motion
) -> tuple[IdentifiedModel, str]:
    """The consistent model, unless consistency costs more than PRICE of R2 on the identification data: then a
    warning.
    """
    free, bound = (mean_r2(metrics(motion.effort, m.predict(motion))["r2"]) for m in (model, physical))
    if not free - bound > PRICE:
        return physical, ""
    return model, (
        f"no possible bodies explain this effort: consistency costs {free - bound:.3f} of R2, so figures are of the "
        "unconstrained model; check kinematics, mounting (gravity), sign and unit of the effort, joint order"
    )


def split_in_time(recordings: list[Recording]) -> tuple[list[Recording], list[Recording]]:
    """Every recording cut at SPLIT of its samples: the first part to identify, the last to validate."""
    first, last = [], []
    for rec in recordings:
        cut = int(SPLIT * rec.samples)
        a, b, seen = [], [], 0
        for p in rec.pieces:
            k = min(max(cut - seen, 0), len(p.t))
            seen += len(p.t)
            a += [_part(p, slice(0, k))] if k > 50 else []
            b += [_part(p, slice(k, None))] if len(p.t) - k > 50 else []
        first.append(replace(rec, pieces=a))
        last.append(replace(rec, pieces=b, notes=[]))
    return first, last


def _part(p: Any, rows: slice) -> Any:
    extra = {k: v[rows] for k, v in p.extra.items()}
    return replace(
        p, t=p.t[rows], q=p.q[rows], qd=None if p.qd is None else p.qd[rows], effort=p.effort[rows], extra=extra
    )


def slow_motion(recordings: list[Recording]) -> Motion:
    """State of the longest recording behind a filter that keeps gravity and removes noise; every k-th sample of a long
    one, far above that filter's band.
    """
    rec = max(recordings, key=lambda r: r.samples)
    motion = filtered(rec, min(5.0, 0.2 * rec.rate))
    k = min(len(motion) // SLOW_ROWS, int(rec.rate / 25))
    return motion if k < 2 else motion.take(np.arange(0, len(motion), k))


def coupled_joints(robot: RobotFile, options: Options) -> dict[int, tuple[int, ...]]:
    """Joints whose motors may turn with other joints: the last three of a wrist, both ways, unless excluded."""
    if options.coupled is False or robot.drives.torque_side != "motor":
        return {}
    last = range(max(robot.n_joints - 3, 0), robot.n_joints)
    return {j: tuple(k for k in last if abs(k - j) == 1) for j in last}


def live_model(found: Identification, motion: Motion) -> LiveModel:
    """Rigid body and friction as the robot file will hold them."""
    return fit_live(found.physical, np.nan_to_num(found.rotor), motion)


__all__ = ["DataError", "Identification", "Options", "identify", "identify_recordings"]
