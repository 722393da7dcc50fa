"""identify --what ...: records of the joints, the wanted fit for each, and the robot file with what was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.dataset.segments import joint_records
from robot_dynamics_ros.identification.joint.fits import FITS, JointFit
from robot_dynamics_ros.models.friction import LAWS, created_energy
from robot_dynamics_ros.models.hysteresis import DEFAULT_BACKLASH, spacing
from robot_dynamics_ros.signals import Log

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

SOURCE = "identify_joint"


@dataclass(frozen=True)
class JointsFound:
    """Fits by joint, refusals by joint, and the robot file with the fits in it."""

    what: str
    fits: Mapping[str, JointFit]
    refused: Mapping[str, str]
    robot: RobotFile
    changed: tuple[str, ...]

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
        return {"what": self.what, "joints": joints, "refused": dict(self.refused), "changed": list(self.changed)}


def identify_joints(
    log: Log,
    robot: RobotFile,
    what: str,
    joints: Sequence[str] = (),
    source: str = "recording",
    wrap: Any = iter,
) -> JointsFound:
    """Fit `what` to every joint (or those named) of a log and put the results into a copy of the robot file.

    Joints whose data cannot support the fit are refused with the reason and keep what the file says. wrap: wraps the
    joints, e.g. in a progress bar. Raises DataError when a named joint is refused, when every one is, or when a fitted
    friction law creates energy.
    """
    if what not in FITS:
        raise DataError(f"'{what}' is none of {', '.join(FITS)}")
    indices = [_index(robot, name) for name in joints] or list(range(robot.n_joints))
    records = joint_records(log, robot)
    fits: dict[int, JointFit] = {}
    refused: dict[str, str] = {}
    for j in wrap(indices):
        try:
            fits[j] = FITS[what](records[j], robot, j)
        except DataError as error:
            refused[robot.joint_names[j]] = str(error)
    if joints and refused:
        raise DataError(next(iter(refused.values())))
    if not fits:
        raise DataError(_one_reason(refused))
    updated = with_fits(robot, fits, f"robot-dynamics identify --what {what} on {source}")
    block = next(iter(fits.values())).block
    if block == "friction":
        _refuse_created_energy(updated, {robot.joint_names[j] for j in fits})
    names = {robot.joint_names[j]: f for j, f in fits.items()}
    return JointsFound(what, names, refused, updated, (block,))


def _refuse_created_energy(robot: RobotFile, fitted: set[str]) -> None:
    """Raises DataError where a fitted law creates energy at a speed within limits.velocity."""
    for name, text in created_energy(robot).items():
        if name in fitted:
            raise DataError(f"{name}: identified {text}; nothing is written: record speeds up to limits.velocity")


def _one_reason(refused: Mapping[str, str]) -> str:
    """The first joint's reason, and how many others there are."""
    texts = list(refused.values())
    return texts[0] if len(texts) == 1 else f"no joint could be identified; {texts[0]} (and {len(texts) - 1} more)"


def _index(robot: RobotFile, name: str) -> int:
    """Number of a joint given by name, alias or 1-based number."""
    if name.isdigit() and 1 <= int(name) <= robot.n_joints:
        return int(name) - 1
    known = robot.joint_aliases
    if name not in known:
        raise DataError(f"joint {name!r} is none of {', '.join(robot.joint_names)}")
    return robot.joint_names.index(known[name])


def with_fits(robot: RobotFile, fits: Mapping[int, JointFit], source: str) -> RobotFile:
    """The robot file with the parameters of these joints; the others keep theirs.

    Raises DataError where the other joints' numbers belong to another model and cannot be carried over.
    """
    first = next(iter(fits.values()))
    old = _carried(robot, first.block, first.model, set(range(robot.n_joints)) - set(fits))
    if any("d" in f.parameters for f in fits.values()) and "d" not in old:
        old |= {k: v for k, v in _plain_hysteresis(robot).items() if k in ("d", "k")}
    parameters: dict[str, list[Any]] = {}
    for name in dict.fromkeys([*old, *(k for f in fits.values() for k in f.parameters)]):
        column = list(old.get(name) or [_default(name, fits, robot.n_joints)] * robot.n_joints)
        for j, fit in fits.items():
            if name in fit.parameters:
                column[j] = fit.parameters[name]
        parameters[name] = column
    parameters = _even_rows(parameters)
    block: dict[str, Any] = {"source": SOURCE, "model": first.model, "parameters": parameters}
    block["reference_temperature"] = _reference(robot, first.block, fits.values())
    return robot.with_updates({first.block: block}, {SOURCE: source})


def _carried(robot: RobotFile, block: str, model: str, others: set[int]) -> dict[str, list[Any]]:
    """Parameters of the file as columns of n entries, translated where the model is another one."""
    found = getattr(robot, block)
    if found is not None and found.model == model:
        return {k: _column(robot, f"{block}.parameters.{k}") for k in found.parameters}
    if block == "hysteresis":
        return _plain_hysteresis(robot)
    if not others:
        return {}
    if block == "friction" and found is not None and found.model == "viscous_coulomb" and model == "madsen":
        fc, fv = (_column(robot, f"friction.parameters.{k}") for k in ("fc", "fv"))
        return {"fc": fc, "fs": list(fc), "fv1": fv}
    if block in ("stiffness", "thermal") and found is None:
        return {}
    known = "nothing" if found is None else found.model
    names = ", ".join(robot.joint_names[j] for j in sorted(others))
    raise DataError(
        f"{block}: the file has {known} for {names}, which {model} cannot carry: identify all joints together"
    )


def _plain_hysteresis(robot: RobotFile) -> dict[str, list[Any]]:
    """The spacing laws for joints that are not identified, at the Coulomb level of the friction block."""
    d, k = (x.tolist() for x in spacing())
    n = robot.n_joints
    try:
        fc = _column(robot, "friction.parameters.fc")
    except CapabilityError:
        fc = [1.0] * n
    return {"d": [d] * n, "k": [k] * n, "b": [DEFAULT_BACKLASH] * n, "fc0": fc, "fc1": [0.0] * n}


def _column(robot: RobotFile, field: str) -> list[Any]:
    values = robot.array(field)
    n = robot.n_joints
    shape = (n, values.shape[-1]) if values.ndim == 2 else (n,)
    return np.broadcast_to(values, shape).tolist()


_DEFAULTS = {"eps": 1e-3, "v_th": 1e-3, "vs": 0.05, "mu": 1.0, "h": 10.0, "beta": 1.0, "delta": 1.0, "sigma0": 1e4}


def _default(name: str, fits: Mapping[int, JointFit], n: int) -> Any:
    """What a joint without a fit gets: neutral numbers, unknown (null) where there are none."""
    block = next(iter(fits.values())).block
    if block in ("stiffness", "thermal"):
        return None
    law = LAWS.get(next(iter(fits.values())).model) if block == "friction" else None
    if law is not None and name in law.names and (known := law.parameters[law.names.index(name)]).role == "fixed":
        return known.default
    example = next(f.parameters[name] for f in fits.values() if name in f.parameters)
    if isinstance(example, list):
        return [0.0] * len(example)
    return _DEFAULTS.get(name, 0.0)


def _even_rows(parameters: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Tables of all joints need one length: d and k of other joints by the spacing laws of that many elements."""
    if "d" in parameters and len({len(row) for row in parameters["d"]}) > 1:
        most = max(len(row) for row in parameters["d"])
        for name, law in zip(("d", "k"), spacing(most), strict=True):
            parameters[name] = [row if len(row) == most else law.tolist() for row in parameters[name]]
    for spacing_law in ("m", "r_d", "r_k"):
        if "d" in parameters:
            parameters.pop(spacing_law, None)
    return parameters


def _reference(robot: RobotFile, block: str, fits: Iterable[JointFit]) -> float | None:
    """Mean reference temperature of the fits, the file's own where a fit has none."""
    given = [f.reference_temperature for f in fits if f.reference_temperature is not None]
    if given:
        return float(np.mean(given))
    old = getattr(robot, block)
    return None if old is None else old.reference_temperature
