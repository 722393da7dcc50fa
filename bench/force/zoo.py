"""Simulated individuals of many kinds of friction, and which of them may be looked at while something is tuned.

The rule of the split: in every list below places 1, 3, 5 are `tuning`, places 2, 4, 6 are `held-out`. A robot of a
family takes its load law and its pair of Stribeck and viscosity from the same half, so that a held-out robot shares
neither family nor load law nor pair with a tuning one. Within a half they turn, so that few robots show all of them.

`drift` and `bouc-wen` were held out until 2026-11-22. Of each, robots were seen to fail at the end of rounds, so that
they were no longer unseen: they were opened and count as tuning since then (asked for by name, laws of their places).
`bouc-wen` and then `elasto-plastic` came to the held-out half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench.force import DRAWN, EXCITE, MUJOCO, PLANTS
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.simulation.plant.build import load_plant, without
from robot_dynamics_ros.simulation.plant.interface import ELASTIC

DRY, TRAVEL = "dry", 1e-6  # rad: none that shows before breakaway
FAMILIES = ("lugre", "dahl", "gms", "drift", "maxwell", "bouc-wen", DRY, "elasto-plastic")
RIGID = ("lugre", DRY)  # what MuJoCo has
BY_NAME = ("drift", "bouc-wen", DRY)  # in no half: held-out ones that were looked at, and dry friction
LOADS = ("linear", "quadratic", "stiffness", "saturating")
SLIDING = tuple(f"{s} {v}" for s in ("additive", "level") for v in ("linear", "thinning", "thermal"))
HALVES = ("tuning", "held-out")
SCATTER = 0.35  # standard deviation of the logarithm of friction from joint to joint
MASS, COM, INERTIA, CONSTANT = 0.05, 0.01 / 3, 0.1, 0.015  # largest standard deviations; draws end at 3 of them
DELAY = 3e-3  # s, latest instant of the reported torque
TEMPERATURE = (28.0, 42.0)  # deg C


@dataclass(frozen=True)
class Individual:
    """One simulated robot.

    index: place in the draw; kinds: of its recordings in turn (see recordings.py); bags: how many of them it is
    identified from; laws by name; temperature [deg C]; overrides of its plant, and which one (see load_plant);
    noise: white, of its reported velocities [rad/s]; tilt: of its base, about y, which no robot file names [rad];
    pushed: somebody touched it in the recordings; jitter: of all stamps [sample periods].
    """

    index: int
    seed: int
    bags: int
    kinds: tuple[str, ...]
    laws: dict[str, str]
    temperature: float
    overrides: dict[str, Any]
    plant: str = ELASTIC
    noise: float = 0.0
    tilt: float = 0.0
    pushed: bool = False
    jitter: float = 0.0

    def draw(self, purpose: int) -> np.random.Generator:
        """Random numbers of its own for one purpose."""
        return np.random.default_rng((self.seed, self.index, purpose))


def half(choices: Sequence[str], name: str) -> list[str]:
    """The choices that belong to a half. The one place where the split is made."""
    return list(choices[HALVES.index(name) :: 2])


def half_of(family: str) -> str:
    """`tuning` or `held-out`. Raises ConfigError for an unknown family."""
    if family not in FAMILIES:
        raise ConfigError("--families", family, f"unknown; known: {', '.join((*FAMILIES, *HALVES, 'all'))}")
    return HALVES[FAMILIES.index(family) % 2]


def families(text: str) -> list[str]:
    """Families of a list by commas, of a half, or `all`. Raises ConfigError."""
    if text == "all":
        return [name for name in FAMILIES if name != DRY]
    names = half(FAMILIES, text) if text in HALVES else [part.strip() for part in text.split(",")]
    for name in names:
        half_of(name)
    return [name for name in names if text not in HALVES or name not in BY_NAME]


def individuals(robot: RobotFile, count: int, seed: int, chosen: Sequence[str]) -> list[Individual]:
    """`count` robots, the families in turn. The same arguments give the same robots; a longer list begins as a shorter.

    Raises ConfigError for an unknown family or a robot that cannot be simulated.
    """
    base = load_plant(robot, without("deviation")).true
    rows = [(index, *divmod(index, len(chosen))) for index in range(count)]
    return [_individual(base, index, seed, chosen[family], family, visit) for index, visit, family in rows]


def on_plant(
    people: Sequence[Individual], plant: str, recorded: str | None, noise: float, tilt: float
) -> list[Individual]:
    """The same robots on a plant by name, identified from kinds of recordings by commas (None: as drawn).

    Raises ConfigError for an unknown kind, and for friction that MuJoCo does not have.
    """
    kinds = tuple(recorded.split(",")) if recorded else ()
    if unknown := set(kinds) - {*DRAWN, EXCITE}:
        raise ConfigError("--recorded", ", ".join(unknown), f"unknown; known: {', '.join((*DRAWN, EXCITE))}")
    rigid = plant == MUJOCO
    if others := {who.laws["family"] for who in people if rigid} - {*RIGID}:
        raise ConfigError("--families", ", ".join(sorted(others)), f"is not in {MUJOCO}, which has {', '.join(RIGID)}")
    laws = {"load": "none", "stribeck": "level", "viscosity": "linear"} if rigid else {}
    given = {"kinds": kinds, "bags": len(kinds)} if kinds else {}
    return [
        replace(who, plant=PLANTS[plant], laws=who.laws | laws, noise=noise, tilt=tilt, **given)  # type: ignore[arg-type]
        for who in people
    ]


def scaled(robot: RobotFile, people: Sequence[Individual], factors: dict[str, float]) -> list[Individual]:
    """The same robots with numbers of their plant by dotted name times factors. Raises ConfigError for unknown ones."""
    true = load_plant(robot, without("deviation")).true
    if unknown := set(factors) - set(true):
        raise ConfigError("--times", ", ".join(sorted(unknown)), f"unknown; known: {', '.join(sorted(true))}")
    times = lambda who: {k: x * np.asarray(who.overrides.get(k, true[k])) for k, x in factors.items()}  # noqa: E731
    return [replace(who, overrides=who.overrides | times(who)) for who in people]


def laws_of(family: str, visit: int) -> dict[str, str]:
    """Laws of the robot that is the `visit`-th (0, 1, ..) of its family."""
    side = half_of(family)
    place, loads, sliding = FAMILIES.index(family) // 2 + visit, half(LOADS, side), half(SLIDING, side)
    stribeck, viscosity = sliding[place % len(sliding)].split()
    return {"family": family, "load": loads[place % len(loads)], "stribeck": stribeck, "viscosity": viscosity}


def _individual(base: Any, index: int, seed: int, family: str, place: int, visit: int) -> Individual:
    draw, laws = np.random.default_rng((seed, index, 0)), laws_of(family, visit)
    spread = draw.uniform(0.3, 1.0)
    overrides: dict[str, Any] = {
        "deviation.individual": int(draw.integers(1, 2**31)),
        "deviation.mass": spread * MASS,
        "deviation.com": spread * COM,
        "deviation.inertia": spread * INERTIA,
        "deviation.torque_constant": CONSTANT,
        "sensing.torque_delay": float(draw.uniform(0, DELAY)),
    }
    overrides |= _levels(base, draw)
    overrides |= _load(laws["load"], base, draw)
    overrides["friction.additive_stribeck"] = float(laws["stribeck"] == "additive")
    overrides |= _viscosity(laws["viscosity"], draw)
    overrides |= _presliding(family, base, overrides["friction.coulomb"], draw)
    bags, first = 1 + (place + visit) % 3, (place + 2 * visit) % 3
    kinds = DRAWN[first:] + DRAWN[:first]
    return Individual(index, seed, bags, kinds, laws, float(draw.uniform(*TEMPERATURE)), overrides)


def _levels(base: Any, draw: np.random.Generator) -> dict[str, Any]:
    """Coulomb, Stribeck and viscous friction of every joint."""
    n = len(base["friction.coulomb"])
    factor = lambda: np.exp(SCATTER * draw.normal(size=n).clip(-2, 2))  # noqa: E731
    coulomb = base["friction.coulomb"] * factor()
    return {
        "friction.coulomb": coulomb,
        "friction.stribeck": coulomb * draw.uniform(1.1, 1.5, n),
        "friction.stribeck_velocity": base["friction.stribeck_velocity"] * draw.uniform(0.3, 1.5, n),
        "friction.viscous": base["friction.viscous"] * factor(),
    }


def _load(law: str, base: Any, draw: np.random.Generator) -> dict[str, Any]:
    """Share c of the load: c |tau|, or c tau^2/tau_r, without end or up to 1.5 c tau_r; on the stiffness too or not."""
    n = len(base["friction.coulomb"])
    share, reference = draw.uniform(0.04, 0.14, n), 0.3 * base["drive.torque_limit"]
    far = 1e6  # Nm: |tau| + far is far, so that load tau^2/far is quadratic
    square = law in ("quadratic", "saturating")
    return {
        "friction.load": share * far / reference if square else share,
        "friction.load_torque": far if square else 1e-3,
        "friction.load_saturation": 1.5 * share * reference if law == "saturating" else 0.0,
        "friction.load_on_stiffness": float(law == "stiffness"),
    }


def _viscosity(law: str, draw: np.random.Generator) -> dict[str, Any]:
    return {
        "friction.shear_velocity": 1e6,
        "friction.viscous_exponent": float(draw.uniform(0.4, 0.8)) if law == "thinning" else 1.0,
        "friction.viscosity_rate": 0.03 if law == "thermal" else 0.01,
    }


def _presliding(family: str, base: Any, coulomb: np.ndarray, draw: np.random.Generator) -> dict[str, Any]:
    n = len(coulomb)
    between = lambda low, high: np.exp(draw.uniform(np.log(low), np.log(high), n))  # noqa: E731
    if family == "maxwell":
        return {"friction.presliding": base["friction.presliding"] * between(0.5, 2.0)}
    if family == "lugre":
        length = between(2e-4, 2e-3)
        critical = 2 * np.sqrt(coulomb / length * base["drive.rotor_inertia"])
        damping = draw.uniform(0.05, 0.35, n) * critical
        return {"friction.family": 1, "friction.presliding": length, "friction.micro_damping": damping}
    if family == DRY:
        return {"friction.family": 2, "friction.presliding": np.full(n, TRAVEL)}
    if family == "dahl":
        exponent = draw.uniform(0.6, 2.0, n)
        return {"friction.family": 2, "friction.presliding": between(3e-4, 3e-3), "friction.dahl_exponent": exponent}
    if family == "bouc-wen":
        return {"friction.family": 4, "friction.presliding": between(3e-4, 3e-3)}
    if family == "elasto-plastic":
        elastic = draw.uniform(0.3, 0.8, n)
        return {"friction.family": 5, "friction.presliding": between(3e-4, 3e-3), "friction.elastic_share": elastic}
    if family == "drift":
        creep = between(3e-6, 5e-5)
        return {"friction.family": 3, "friction.presliding": between(5e-4, 5e-3), "friction.creep_velocity": creep}
    span = np.exp(draw.uniform(np.log(5e-5), np.log(1.5e-2), (n, 8)))
    largest = span.max(axis=1)
    return {
        "friction.presliding": largest,
        "friction.span": span / largest[:, None],
        "friction.share": draw.dirichlet(np.ones(8), n),
        "friction.attraction": 1e6,
    }
