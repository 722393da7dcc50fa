"""From bags to an identified, validated model: the whole procedure in order, one function per step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from robot_dynamics_ros.bags import BagReport, load_bag
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.checks import check_excitation, check_extrapolation, check_fit, check_units
from robot_dynamics_ros.identification.arm.found import DEFAULTS, Identification, Options
from robot_dynamics_ros.identification.arm.live_model import fit_live
from robot_dynamics_ros.identification.arm.model import IdentifiedModel, Structure
from robot_dynamics_ros.identification.arm.mounting import mounted
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.semantics import recognise
from robot_dynamics_ros.identification.arm.solvers.consistency import make_consistent, rotor_included
from robot_dynamics_ros.identification.arm.solvers.fitting import PLAIN, Fitter, known_rotors, prior_of
from robot_dynamics_ros.identification.arm.tuning import Given, Tuner
from robot_dynamics_ros.identification.arm.uncertainty import with_uncertainty
from robot_dynamics_ros.identification.blas import one_thread
from robot_dynamics_ros.identification.dataset.motion import Motion, filtered
from robot_dynamics_ros.identification.dataset.periods import average_all
from robot_dynamics_ros.identification.dataset.recording import Recording, recording, set_apart
from robot_dynamics_ros.identification.metrics import mean_r2, metrics
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log

SLOW_ROWS = 20_000  # samples that tell the meaning of an effort
PRICE = 0.01  # loss of R2 on the identification data that physical consistency may cost

Progress = Callable[[str], None]


def identify(
    robot: RobotFile,
    bags: Sequence[str | Path],
    validate: Sequence[str | Path] = (),
    options: Options = DEFAULTS,
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
    options: Options = DEFAULTS,
    progress: Progress = lambda text: None,
) -> Identification:
    """`identify` on recordings that are already loaded. Raises DataError like it."""
    training, judged, split = set_apart(training, judged)
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
    found.written = fit_live(physical, np.nan_to_num(rotor), motion)
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


__all__ = ["Given", "Identification", "Options", "identify", "identify_recordings", "read"]
