"""identify --what ...: records of the joints, the wanted fit for each, and the robot file with what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.dataset.segments import joint_records
from robot_dynamics_ros.identification.joint.fits import FITS, JointFit
from robot_dynamics_ros.models.friction import LAWS, created_energy
from robot_dynamics_ros.models.hysteresis import DEFAULT_BACKLASH, elements
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log

SOURCE = "identify_joint"


@dataclass(frozen=True)
class JointsFound:
    """Fits by joint, refusals by joint, the robot file with the fits in it, and what was left out of the log."""

    what: str
    fits: Mapping[str, JointFit]
    refused: Mapping[str, str]
    robot: RobotFile
    notes: list[str] = field(default_factory=list)

    @property
    def block(self) -> str:
        """Block of the robot file that the fits are in."""
        return next(iter(self.fits.values())).block

    def reasons(self) -> list[str]:
        """Why joints were refused, those of one reason in one sentence."""
        names: dict[str, list[str]] = {}
        for name, why in self.refused.items():
            names.setdefault(why.removeprefix(f"{name}: "), []).append(name)
        return [f"{', '.join(several)}: {why}" for why, several in names.items()]

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers for the JSON beside the page."""
        joints = {
            name: {"model": f.model, "parameters": f.parameters, "std": f.std, **f.numbers, "notes": list(f.notes)}
            for name, f in self.fits.items()
        }
        return {"what": self.what, "joints": joints, "refused": dict(self.refused), "notes": self.notes}


def identify_joints(
    log: Log, robot: RobotFile, what: str, joints: Sequence[int] = (), source: str = "recording", wrap: Any = iter
) -> JointsFound:
    """Fit `what` to every joint (or those numbered) of a log and put the results into a copy of the robot file.

    Joints whose data cannot support the fit are refused with the reason and keep what the file says. wrap: wraps the
    joints, e.g. in a progress bar. Raises DataError when a numbered joint is refused, when every one is, or when a
    fitted friction law creates energy.
    """
    if what not in FITS:
        raise DataError(f"'{what}' is none of {', '.join(FITS)}")
    notes: list[str] = []
    records = joint_records(log, robot, notes)
    fits: dict[int, JointFit] = {}
    refused: dict[str, str] = {}
    for j in wrap(list(joints or range(robot.n_joints))):
        try:
            fits[j] = FITS[what](records[j], robot, j)
        except DataError as error:
            refused[robot.joint_names[j]] = str(error)
    if refused and (joints or not fits):
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        raise DataError(f"{'no joint could be identified; ' if more else ''}{next(iter(refused.values()))}{more}")
    updated = with_fits(robot, fits, f"robot-dynamics identify --what {what} on {source}")
    if what == "thermal" and updated.heat_balance is None:
        text = "its heat balance counts once those of all joints are known: identify the others with this file"
        fits = {j: replace(fit, notes=(*fit.notes, text)) for j, fit in fits.items()}
    if what == "friction":
        _refuse_created_energy(updated, {robot.joint_names[j] for j in fits})
    if what in ("friction", "hysteresis") and robot.residuals is not None:
        updated = updated.with_updates({"residuals": None})
        notes.append("residuals of the former friction are left out: without them the force has a guessed deviation")
    return JointsFound(what, {robot.joint_names[j]: f for j, f in fits.items()}, refused, updated, notes)


def _refuse_created_energy(robot: RobotFile, fitted: set[str]) -> None:
    """Raises DataError where a fitted law creates energy at a speed within limits.velocity."""
    for name, text in created_energy(robot).items():
        if name in fitted:
            raise DataError(f"{name}: identified {text}; nothing is written: record speeds up to limits.velocity")


def with_fits(robot: RobotFile, fits: Mapping[int, JointFit], source: str) -> RobotFile:
    """The robot file with the parameters of these joints; the others keep theirs.

    Raises DataError where the other joints' numbers belong to another model and cannot be carried over.
    """
    first = next(iter(fits.values()))
    parameters = _carried(robot, first, [n for j, n in enumerate(robot.joint_names) if j not in fits])
    for j, fit in fits.items():
        for name, value in fit.parameters.items():
            parameters.setdefault(name, [_default(name, first)] * robot.n_joints)[j] = value
    given = [f.reference_temperature for f in fits.values() if f.reference_temperature is not None]
    old = getattr(robot, first.block)
    reference = given[0] if given else None if old is None else old.reference_temperature
    block = {"source": SOURCE, "model": first.model, "parameters": parameters, "reference_temperature": reference}
    return robot.with_updates({first.block: block}, {SOURCE: source})


def _carried(robot: RobotFile, fit: JointFit, others: Sequence[str]) -> dict[str, list[Any]]:
    """Parameters of the file as columns of n entries, translated where the model is another one."""
    found = getattr(robot, fit.block)
    same = found is None or found.model == fit.model
    if fit.block == "hysteresis":
        if same or (not others and "k" in fit.parameters):  # else a kinematic error alone
            return _hysteresis(robot)
    elif found is not None and same:
        return {k: _column(robot, f"{fit.block}.parameters.{k}") for k in found.parameters}
    elif not others or (found is None and fit.block != "friction"):
        return {}
    elif found is not None and found.model == "viscous_coulomb" and fit.model == "madsen":
        fc, fv = (_column(robot, f"friction.parameters.{k}") for k in ("fc", "fv"))
        return {"fc": fc, "fs": list(fc), "fv1": fv}
    known = "nothing" if found is None else found.model
    raise DataError(
        f"{fit.block}: the file has {known} for {', '.join(others or robot.joint_names)}, which {fit.model} cannot "
        f"carry: identify all joints together, or begin with a file that has {fit.model} or no {fit.block}"
    )


def _hysteresis(robot: RobotFile) -> dict[str, list[Any]]:
    """E-GMS of the file; else elements by the spacing laws at the Coulomb level of the friction block."""
    n, block = robot.n_joints, robot.hysteresis
    try:
        fc = _column(robot, "friction.parameters.fc")
    except CapabilityError:
        fc = [1.0] * n
    d, k = (x.tolist() for x in elements(robot))
    known = {"d": d, "k": k, "b": [DEFAULT_BACKLASH] * n, "fc0": fc, "fc1": [0.0] * n}
    if block is not None and block.model == "egms":
        known |= {name: _column(robot, f"hysteresis.parameters.{name}") for name in block.parameters}
    return {name: column for name, column in known.items() if name not in ("m", "r_d", "r_k")}


def _column(robot: RobotFile, field: str) -> list[Any]:
    """Numbers of all joints; null of joints that were not identified stays null."""
    n = robot.n_joints
    block, _, name = field.partition(".parameters.")
    if not robot.has(field) and isinstance(known := getattr(robot, block).parameters.get(name), tuple):
        return [None if x is None else np.ravel(x).tolist() if isinstance(x, tuple) else x for x in known]
    values = robot.array(field)
    shape = (n, values.shape[-1]) if values.ndim == 2 else (n,)
    return np.broadcast_to(values, shape).tolist()


def _default(name: str, fit: JointFit) -> Any:
    """What a joint without a fit gets: what changes nothing, unknown (null) where there is no such number."""
    if fit.block == "friction":
        return ({"t_min": -60.0, "t_max": 200.0} | {p.name: p.default for p in LAWS[fit.model].parameters})[name]
    value = fit.parameters[name]
    return [0.0] * len(value) if fit.block == "hysteresis" and isinstance(value, list) else None
