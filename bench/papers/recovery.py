"""Whether identified parameters are where the simulated robot has them, and whether their deviations say so.

Each individual differs from the robot file as its plant file says; it is identified from one Fourier run at 125 Hz and
compared with what it was made from: base parameters, rotor inertia, and friction that slides at two speeds. First on a
plant without what the model does not know (springs, backlash, kinematic and temperature effects, ripple, Stribeck,
shear thinning), then on the whole plant. Motors are exact: a wrong torque constant scales everything, in no way that
bags could show. An error counts in units of the deviation that `identify` reports.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.papers.labs import lab
from bench.papers.table import Row, at_least, beside
from robot_dynamics_ros.identification.arm.identify import identify_recordings
from robot_dynamics_ros.identification.arm.solvers.uncertainty import steady_friction
from robot_dynamics_ros.identification.arm.state import Identification, Options
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.identification.metrics import rms
from robot_dynamics_ros.simulation.plant.build import without
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions

SOURCE = "recovery"
INDIVIDUALS = 8
SHARE = {2: 90.0, 3: 98.0}  # %, of a normal distribution 95.4 and 99.7; few regions make wider tails
QUANTILES = (0.5, 0.9)  # of the speeds of each joint's motion, at which friction is compared
RATE, DURATION, TEMPERATURE = 125.0, 30.0, 40.0
COULOMB = np.array([6.0, 6.0, 4.0, 2.0, 2.0, 2.0])  # Nm
VISCOUS = np.array([8.0, 8.0, 6.0, 2.0, 2.0, 2.0])  # Nm s/rad
UNKNOWN = ("elasticity", "kinematic_error", "temperature", "ripple", "load_friction", "bearing_friction")
PLAIN: dict[str, Any] = {  # Coulomb and viscous friction, nearly without pre-sliding
    "friction.coulomb": COULOMB,
    "friction.stribeck": COULOMB,
    "friction.viscous": VISCOUS,
    "friction.shear_velocity": 1e3,
    "friction.presliding": 2e-4,
}
EXACT = {"deviation.torque_constant": 0.0}
DATA_ALONE = 1e-3  # strength of the initial model: deviations are those of the data, a prior adds its own bias


@dataclass
class Errors:
    """Errors over reported deviations of everything compared, by kind."""

    base: list[float] = field(default_factory=list)
    rotor: list[float] = field(default_factory=list)
    friction: list[float] = field(default_factory=list)
    relative: list[float] = field(default_factory=list)  # friction, over its true value


def run(quick: bool = False) -> list[Row]:
    """Shares of parameters within two and three deviations on both plants; quick: two individuals."""
    count = 2 if quick else INDIVIDUALS
    return [row for full in (False, True) for row in _rows("whole" if full else "plain", recovery(range(count), full))]


def _rows(plant: str, errors: Errors) -> list[Row]:
    rows = []
    for what, z in (("base parameters", errors.base), ("rotor inertias", errors.rotor), ("friction", errors.friction)):
        size = f"{len(z)} values; error {rms(np.array(z)):.2f} deviations RMS, largest {np.abs(z).max():.1f}"
        if what == "friction" and plant == "whole":
            note = f"{size}; {100 * rms(np.array(errors.relative)):.1f} % of its value RMS: laws differ"
            rows.append(beside(SOURCE, f"{what} within 3 deviations, {plant} plant", None, within(z, 3), "%", note))
            continue
        for bound, share in SHARE.items():
            name = f"{what} within {bound} deviations, {plant} plant"
            rows.append(at_least(SOURCE, name, share, within(z, bound), "%", size if bound == 3 else ""))
    return rows


def within(z: list[float], bound: float) -> float:
    """Share [%] of errors within `bound` deviations."""
    return 100 * float(np.mean(np.abs(z) < bound))


def recovery(individuals: range, full: bool) -> Errors:
    """Errors of individuals of the plain or the whole plant."""
    errors = Errors()
    for k in individuals:
        found, machine, warm = identified(k, full)
        _compare(found, machine, warm, errors)
    return errors


def identified(k: int, full: bool) -> tuple[Identification, SimulatedRobot, np.ndarray]:
    """Individual k identified from a run of its own; the machine, and the mean temperature (n,) of its lubricant."""
    individual = {"deviation.individual": 100 + k} | EXACT
    machine = SimulatedRobot(lab.ur5e(), k, individual if full else without(*UNKNOWN) | individual | PLAIN)
    recordings, warm = [], np.zeros(machine.n_joints)
    for part, duration in ((2 * k + 1, 20.0), (2 * k, DURATION)):
        motion = _motion(part, duration)
        machine.set_ambient(TEMPERATURE)
        machine.set_temperatures(TEMPERATURE)
        machine.reset(motion[0][0])
        log, truth = machine.run(*motion, keep=int(500 / RATE))
        recordings.append(recording(log, f"run {part}"))
        warm = truth["lubricant_temperature"].mean(axis=0)
    found = identify_recordings(lab.ur5e(), recordings[1:], recordings[:1], Options(prior=DATA_ALONE))
    return found, machine, warm


def _motion(seed: int, duration: float) -> motions.JointMotion:
    centre = lab.START + np.random.default_rng(1000 + seed).uniform(-0.5, 0.5, 6)
    return motions.fourier(centre, duration, 500.0, base=0.12 * np.pi, amplitude=0.9, velocity=1.5, seed=1000 + seed)


def _compare(found: Identification, machine: SimulatedRobot, warm: np.ndarray, errors: Errors) -> None:
    s, base = found.solution, found.rigid.base
    z = (s.x[: base.size] - base.from_standard(machine.machine.link_parameters.ravel())) / s.std[: base.size]
    errors.base += z[s.separable[: base.size]].tolist()
    for j, (law, index) in enumerate(zip(found.structure.laws, found.structure.index(base.size), strict=True)):
        if "ia" in law.terms:
            k = index[base.size + law.terms.index("ia")]
            if s.separable[k]:
                errors.rotor.append(float((s.x[k] - machine.machine.true["drive.rotor_inertia"][j]) / s.std[k]))
    motion = found.filtered(found.training[0])
    load = np.sqrt(np.mean(found.fit.load(motion) ** 2, axis=0))
    speeds = np.quantile(np.abs(motion.qd), QUANTILES, axis=0).T
    value, std = steady_friction(found.fit, speeds, load)
    true = _true_friction(machine.machine.true, speeds, load, warm)
    errors.friction += ((value - true) / std).ravel().tolist()
    errors.relative += (value / true - 1).ravel().tolist()


def _true_friction(true: Any, v: np.ndarray, load: np.ndarray, warm: np.ndarray) -> np.ndarray:
    """Friction (n, k) of drive and bearing that slides at v (n, k) under load (n,) [docs/simulated_robot.md]."""
    p = {name.split(".")[1]: values for name, values in true.items() if name.startswith("friction.")}
    above = warm - p["reference_temperature"]
    excess = (p["stribeck"] - p["coulomb"]) * np.exp(p["boundary_rate"] * above)
    loaded = p["load"] * load**2 / (np.abs(load) + p["load_torque"])
    strength = (p["coulomb"] + loaded + true["transmission.bearing_friction"])[:, None] + excess[:, None] * np.exp(
        -((v / p["stribeck_velocity"][:, None]) ** 2)
    )
    viscosity = p["viscous"] * np.exp(-p["viscosity_rate"] * above)
    return strength + viscosity[:, None] * v / (1 + v / p["shear_velocity"][:, None])
