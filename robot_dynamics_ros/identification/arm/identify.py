"""From bags to an identified, validated model: the procedure in order, one function per step on one state (`STEPS`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from robot_dynamics_ros.effort.meaning import WORDS, declared
from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.arm.checks import check_data
from robot_dynamics_ros.identification.arm.contact import (
    MAX_CONTACT_SHARE,
    Stretch,
    contact_stretches,
    described,
    joined,
    length,
    without,
)
from robot_dynamics_ros.identification.arm.effort_meaning import has_masses, recognise, refuse_unlike
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.friction_differences import at_one_friction, compare_friction
from robot_dynamics_ros.identification.arm.hand_guiding import refuse_guided
from robot_dynamics_ros.identification.arm.known_wrench import untouched, use_wrench
from robot_dynamics_ros.identification.arm.load_differences import load_differences
from robot_dynamics_ros.identification.arm.model import motions_of, rotors_left_out
from robot_dynamics_ros.identification.arm.mounting import mounted
from robot_dynamics_ros.identification.arm.parameters import check_rotors, fit_parameters, fit_together
from robot_dynamics_ros.identification.arm.read import read_moving, read_training
from robot_dynamics_ros.identification.arm.residuals import (
    for_repaired,
    gravity_deviation,
    residuals,
    unknown_at_small_speeds,
)
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.state import DEFAULTS, Identification, Options, note
from robot_dynamics_ros.identification.arm.tuning import Tuner
from robot_dynamics_ros.identification.arm.turned import refuse_turned
from robot_dynamics_ros.identification.arm.written_file import choose_live_motion
from robot_dynamics_ros.identification.blas import one_thread
from robot_dynamics_ros.identification.dataset.motion import slow_motion, stack
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.dataset.split import repeats, set_apart
from robot_dynamics_ros.identification.dataset.velocity import unlike, velocity_signal
from robot_dynamics_ros.robot_file import RobotFile

ROUNDS = 6  # of contact beside identified friction, which is better known without it
MORE = 3.0  # times the share of contact in the training
UNSEEN = 1.0  # s at the beginning of a held-out part in which a push that began before it may not be found
STILL = 0.5  # share of the contact that the last model shows: else it was fitted to contact
NOT_VALIDATED = (
    "the figures do not show how the model predicts other motions: record a second motion "
    "(robot-dynamics excite --seed 2) for --validate"
)

Progress = Callable[[str], None]


def identify(
    robot: RobotFile,
    bags: Sequence[str | Path],
    validate: Sequence[str | Path] = (),
    options: Options = DEFAULTS,
    progress: Progress = lambda text: None,
) -> Identification:
    """Identified model of a robot from bags, validated on `validate` (or, stated, on the last 30 % of every bag).

    Raises DataError in one line where the data cannot support it: unreadable, at rest, units, too few joints,
    ambiguous effort.
    """
    progress("reading bags")
    training, still = read_training(robot, bags, options)
    validation, skipped = read_moving(robot, validate, options)
    state = _begun(robot, training, validation, options)
    del training, validation  # a recording that a step replaces is freed then
    _run(state, progress)
    note(state.statements, *still, *skipped)
    return state


def identify_recordings(
    robot: RobotFile, training: list[Recording], validation: list[Recording], options: Options = DEFAULTS
) -> Identification:
    """`identify` on recordings that are already loaded. Raises DataError like it."""
    state = _begun(robot, training, validation, options)
    _run(state, lambda text: None)
    return state


@one_thread()
def _begun(
    robot: RobotFile, training: list[Recording], validation: list[Recording], options: Options
) -> Identification:
    """The state before the first step: recordings to identify and to validate on in the order of their time, in which
    they may be given otherwise, the latter without those that repeat the former where others are there.
    """
    training, validation = (sorted(recs, key=lambda rec: (rec.start_ns, rec.name)) for recs in (training, validation))
    first, last, split = set_apart(training, validation)
    again = [False] * len(last) if validation else repeats(first, last)
    repeat, other = ([rec for rec, r in zip(last, again, strict=True) if r == wanted] for wanted in (True, False))
    if repeat:  # of a part in which the robot stands nothing can be said
        other = [rec for rec in other if rec.moves]
    judged = other or repeat
    beside = [rec for rec in last if all(rec is not one for one in judged)]
    state = Identification(robot, options, first, judged, split, beside, repeated=not other)
    if repeat:
        names, then = ", ".join(rec.name for rec in repeat), "it is not validated on" if other else NOT_VALIDATED
        note(state.statements if other else state.warnings, f"{names}: the last part repeats the first, so {then}")
    return state


@one_thread()
def _run(state: Identification, progress: Progress) -> None:
    """All steps in order. Raises DataError like `identify`."""
    try:
        for text, step in STEPS:
            progress(text)
            step(state)
    except np.linalg.LinAlgError:
        names = ", ".join(r.name for r in state.training)
        raise DataError(
            f"{names}: shows too little of the robot for a model: record larger motions of all joints, "
            "for 30 s or more (robot-dynamics excite)"
        ) from None


def align_velocity(state: Identification) -> None:
    """Fill velocity: delay, gain and bias of the reported velocity; recordings with that of their positions."""
    state.velocity = velocity_signal(state.training)
    if state.velocity is not None:
        note(state.warnings, unlike(state.training))
        state.change(state.velocity.repaired)
        note(state.statements, *state.velocity.statements(state.robot.joint_names))


def recognise_effort(state: Identification) -> None:
    """Fill effort and rigid: mounting and meaning of the effort; recordings in Nm.

    Raises DataError for an effort whose meaning is ambiguous, an arm guided by hand, or a joint that counts otherwise.
    """
    options, seen = state.options, untouched(state)
    names, motions = [rec.name for rec in seen], [slow_motion(rec) for rec in seen]
    state.given = state.robot
    held_out = [slow_motion(rec) for rec in (*state.validation, *state.repeats) if rec.name in names]
    whole = stack([*motions, *held_out])  # as replay sees it: a part may not show gravity
    if options.effort != "gravity-free":
        meaning = declared(state.robot) if options.effort == "auto" else WORDS[options.effort]
        state.robot, state.mounting = mounted(state.robot, whole, meaning)
    if options.contact == "auto" and has_masses(state.robot):
        for name, motion in zip(names, motions, strict=True):
            refuse_guided(state.robot, motion, name)
        if len(motions) > 1:  # what one recording shows is not sure, all of them may be
            refuse_guided(state.robot, stack(motions), ", ".join(names))
    stated = next((rec.effort_unit for rec in state.training if rec.effort_unit), "")
    if len(motions) > 1 and options.effort == "auto" and has_masses(state.robot):
        refuse_unlike(state.robot, names, motions, stated)
    effort = recognise(state.robot, whole, options.effort, stated)
    state.change(lambda r: r.with_effort(lambda e: e * effort.scale))
    state.effort = effort
    state.rigid = RigidModel(state.robot, None if effort.meaning.includes_gravity else np.zeros(3))
    if options.contact == "auto":
        refuse_turned(state.rigid, replace(whole, effort=effort.scale * whole.effort), ", ".join(names))
    note(state.statements, *effort.statements, state.split)
    note(state.warnings, *effort.warnings)


def leave_out_contact(state: Identification) -> None:
    """Contact that the identified model shows is left out and the rest identified again; then all once more where the
    rest shows another direction of gravity.

    `measure_residuals` leaves it out of the held-out recordings.
    """
    first = state.training
    state.load_differences = load_differences(state)
    note(state.warnings, state.load_differences)
    found = _leave_out(state, first)
    if found and _turn_gravity(state):
        _identify_without(state, first, [])
        found = _leave_out(state, first)
    if found:
        how_much = described(found, first)
        text = f"contact: {how_much} of the data are left out; check them, or name your own with --exclude FROM:TO"
        note(state.statements, text)
        note(state.warnings, text)


def _leave_out(state: Identification, first: list[Recording]) -> list[Stretch]:
    """What is left out of the `first` recordings, in ROUNDS at most. The last model looks at all of the data again: the
    first ones show contact too widely. Beyond MAX_CONTACT_SHARE of the data it stays, and `friction_invalid_reason`
    says so.
    """
    found = list[Stretch]()
    for _ in range(ROUNDS if state.options.contact == "auto" else 0):
        if not (more := _contact(state, state.training)):
            break
        found = joined([*found, *more])
        if not _identify_without(state, first, found):
            return []
    if found and length(now := _contact(state, first)) > STILL * length(found):
        found = now if _identify_without(state, first, now) else []
    return found


def _turn_gravity(state: Identification) -> bool:
    """Robot and rigid get the direction of gravity that the recordings show without contact, which hides it or looks
    like it; whether it is another one. Behind joint torque sensors the fit has found it.
    """
    if state.robot.drives.torque_side == "link" or not state.effort.meaning.includes_gravity:
        return False
    slow = stack([slow_motion(rec) for rec in state.training])
    slow = replace(slow, effort=slow.effort / state.effort.scale)
    robot, state.mounting = mounted(state.given, slow, state.effort.meaning)
    if np.array_equal(robot.gravity, state.robot.gravity):
        return False
    state.robot, state.rigid = robot, RigidModel(robot)
    return True


def _identify_without(state: Identification, first: list[Recording], found: list[Stretch]) -> bool:
    """Identify the `first` recordings again without what was `found`; False where that leaves too little."""
    left = without(first, found)
    if _duration(left) < (1 - MAX_CONTACT_SHARE) * _duration(first) or len(left) < len(first):
        state.friction_invalid_reason = reason = f"contact in {described(found, first)} of the data"
        state.warnings.append(f"{reason}: too much to leave out, so friction is not identified; record without it")
        return False
    state.training, state.contact, state.touched = left, found, 1.0 - _duration(left) / _duration(first)
    for step in (choose_structure, fit_parameters, fit_together):
        step(state)
    return True


def _contact(state: Identification, recordings: list[Recording]) -> list[Stretch]:
    robot, alike = for_repaired(identified_robot(state)), at_one_friction(state, recordings)
    return contact_stretches(state.live, robot, alike, gravity_deviation(state.robot, state.fit))


def _duration(recordings: list[Recording]) -> float:
    return sum(r.duration for r in recordings)


def choose_structure(state: Identification) -> None:
    """Fill structure and motion: the structure that predicts held-out parts best.

    Raises DataError where no part of the data predicts another.
    """
    motor = state.robot.drives.torque_side == "motor"
    state.structure = Tuner(state.training, state.rigid, motor, state.robot.drives.effort.delay).run()
    motions = motions_of(state.training, state.structure)
    state.motion = stack(motions)
    state.edges = [0, *np.cumsum([len(m) for m in motions]).tolist()]


def measure_residuals(state: Identification) -> None:
    """Fill residuals: what the written file leaves unexplained, replayed as the nodes evaluate it. They and the figures
    do without contact where some was left out of the training; the figures unless there is MORE of it: what is wrong in
    a model looks like contact.
    """
    free = [*state.validation, *state.repeats]
    if state.touched:
        whole = _duration(state.validation)
        begun = [replace(s, end=s.end + UNSEEN) for s in state.contact]  # of the part before, in the same recording
        left = without(state.validation, found := joined([*begun, *_contact(state, free)]))
        free = without(free, found)
        seconds = whole - _duration(left)
        if len(left) == len(state.validation) and 0.0 < seconds < min(MORE * state.touched, MAX_CONTACT_SHARE) * whole:
            state.validation, state.split = left, f"{state.split}, without {seconds:.2g} s of contact"
    try:
        state.residuals = residuals(
            for_repaired(identified_robot(state)), [*state.training, *free], gravity_deviation(state.robot, state.fit)
        )
    except CapabilityError as error:
        note(state.statements, f"no residuals in the robot file: {error}")
        return
    note(state.warnings, unknown_at_small_speeds(state.robot.joint_names, state.residuals["slow"]))
    note(state.warnings, rotors_left_out(state.fit, state.motion, state.residuals["moving"], state.live.coupled))


STEPS: tuple[tuple[str, Callable[[Identification], None]], ...] = (
    ("comparing velocity and position", align_velocity),
    ("recognising the effort", recognise_effort),
    ("using the measured wrench", use_wrench),
    ("choosing filters and friction laws", choose_structure),
    ("solving", fit_parameters),
    ("friction laws of the robot file", fit_together),
    ("looking for contact", leave_out_contact),
    ("friction of the recordings", compare_friction),
    ("checking rotor inertias", check_rotors),
    ("velocity and acceleration of the live nodes", choose_live_motion),
    ("residuals of the live pipeline", measure_residuals),
    ("checking what the data support", check_data),
)
