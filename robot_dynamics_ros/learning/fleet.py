"""What robots of one model have in common: a hierarchical prior by empirical Bayes, over plain files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import DataError, RobotDynamicsError
from robot_dynamics_ros.learning.columns import Columns
from robot_dynamics_ros.learning.store import Store
from robot_dynamics_ros.learning.triangles import FORMAT, UNREADABLE, Triangle
from robot_dynamics_ros.learning.update import Prior, file_prior, rows_of
from robot_dynamics_ros.outputs import replacing, write_arrays

ROUNDS = 30  # of expectation maximisation
STRENGTH = 2.0  # robots that the file's prior covariance counts as, so that few robots do not make it small


def evidence_of(columns: Columns, recordings: Sequence[Triangle]) -> np.ndarray:
    """Rows (p + 1, p + 1) of unit variance of all recordings of one robot, without any prior: [R_i, z_i]."""
    nothing = np.zeros((columns.size + 1, columns.size + 1))
    R: Any = np.linalg.qr(np.vstack([nothing, *(rows_of(r, columns) for r in recordings)]), mode="r")
    return R


def fleet_prior(prior: Prior, robots: Sequence[np.ndarray]) -> Prior:
    """Mean and covariance of the individuals of a model, from the rows (m, p + 1) of each robot (`evidence_of`).

    Lambda_i = R_i'R_i, eta_i = R_i'z_i, and x_i ~ N(mu, S):
      x_i' = (Lambda_i + S^-1)^-1 (eta_i + S^-1 mu),  V_i = (Lambda_i + S^-1)^-1
      mu = (k mu_0 + sum x_i') / (k + N),  S = (k S_0 + sum (x_i' - mu)(x_i' - mu)' + V_i) / (k + N),  k = STRENGTH
    in blocks: links together, each joint's friction by itself.
    """
    c, p = prior.columns, prior.columns.size
    evidence = [(rows[:, :-1].T @ rows[:, :-1], rows[:, :-1].T @ rows[:, -1]) for rows in robots]
    block = np.zeros((p, p), bool)
    for part in (slice(0, c.base), *(c.own(j) for j in range(c.n))):
        block[part, part] = True
    mu, S, k = prior.mean, prior.covariance, STRENGTH
    for _ in range(ROUNDS if robots else 0):
        scale = np.sqrt(np.diag(S))
        inverse = np.linalg.inv(S / scale / scale[:, None]) / scale / scale[:, None]
        total, square = k * prior.mean, k * prior.covariance
        found = []
        for information, weighted in evidence:
            A = (information + inverse) * scale * scale[:, None]
            V = np.linalg.inv(0.5 * (A + A.T)) * scale * scale[:, None]
            found.append((V @ (weighted + inverse @ mu), V))
        mu = (total + sum(x for x, _ in found)) / (k + len(found))
        spread = sum(np.outer(x - mu, x - mu) + V for x, V in found)
        S = np.where(block, (square + spread) / (k + len(found)), 0.0)
        S = 0.5 * (S + S.T)
    return Prior(c, mu, S)


def learn_fleet(
    directories: Sequence[str | Path], progress: Callable[[str], None] = lambda text: None
) -> tuple[Prior, list[str]]:
    """Fleet prior of the state directories of robots of one model, and what was left out.

    A copy of a state, which shares a recording with another, is left out. Raises DataError with fewer than two usable
    robots, and for a directory that is given twice.
    """
    twice = [str(d) for d, count in Counter(Path(d).resolve() for d in directories).items() if count > 1]
    if twice:
        raise DataError(f"{twice[0]}: is given twice: a robot counts once")
    first: Store | None = None  # that is usable
    states: list[np.ndarray] = []
    left: list[str] = []
    owners: dict[str, Path] = {}  # of recordings
    for directory in directories:
        progress(str(directory))
        try:
            store = Store(directory)
            evidence, model = evidence_of(store.columns, store.triangles()), store.columns.robot_id
        except (RobotDynamicsError, OSError) as error:
            left.append(f"{directory}: {error}" if str(directory) not in str(error) else str(error))
            continue
        if first is not None and model != first.columns.robot_id:
            left.append(f"{directory}: is of another robot model ({model}) than {first.directory}")
        elif not evidence.any():
            left.append(f"{directory}: no recording is learned yet")
        elif other := next((owners[name] for name in store.names() if name in owners), None):
            left.append(f"{directory}: holds a recording that {other} holds: a robot counts once")
        else:
            first = first or store
            owners |= dict.fromkeys(store.names(), store.directory)
            states.append(evidence)
    if first is None or len(states) < 2:
        raise DataError(
            "; ".join([f"a fleet needs two robots with learned recordings, there are {len(states)}", *left])
        )
    return fleet_prior(file_prior(first.columns), states), left


def save_prior(prior: Prior, path: Path) -> None:
    """Write a fleet prior. Raises OSError naming the path."""
    about = np.frombuffer(prior.columns.robot_id.encode(), np.uint8)
    write_arrays(path, format=FORMAT, robot_id=about, mean=prior.mean, covariance=prior.covariance)


def load_prior(columns: Columns, path: Path) -> Prior:
    """A fleet prior for these columns. Raises DataError naming the file where it is damaged or of another model."""
    try:
        with np.load(path, allow_pickle=False) as file:
            data = dict(file)
        robot_id, mean, covariance = data["robot_id"].tobytes().decode(), data["mean"], data["covariance"]
    except UNREADABLE:
        raise DataError(f"{path}: is no fleet prior, which learn-fleet writes") from None
    if robot_id != columns.robot_id:
        raise DataError(f"{path}: is the prior of another robot model ({robot_id}, this one is {columns.robot_id})")
    prior, p = Prior(columns, mean, covariance), columns.size
    usable = mean.shape == (p,) and covariance.shape == (p, p) and np.isfinite(covariance).all()
    try:
        usable = usable and (np.diag(covariance) > 0).all() and prior.information.usable
    except np.linalg.LinAlgError:
        usable = False
    if not usable:
        raise DataError(f"{path}: is damaged: numbers are missing, not finite or no covariance")
    return prior


def prior_of_file(store: Store, given: Path | None) -> Prior | None:
    """The fleet prior of a state directory; a given one is kept there. None where there is none."""
    kept = store.directory / "fleet.npz"
    if given is not None:
        prior = load_prior(store.columns, given)
        with replacing(kept) as temporary:
            temporary.write_bytes(given.read_bytes())
        return prior
    return load_prior(store.columns, kept) if kept.exists() else None
