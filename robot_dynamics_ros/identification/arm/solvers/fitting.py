"""The linear problem of an identification and its solvers, on rows that exist only block by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.arm.model import IdentifiedModel, Structure, motion_of
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.solvers.consistency import initial_parameters, make_consistent
from robot_dynamics_ros.identification.arm.solvers.errors_in_variables import MAX_NOISE_SHARE, as_total, noise_grams
from robot_dynamics_ros.identification.arm.solvers.fused_rows import FusedRows, HeldRows
from robot_dynamics_ros.identification.arm.solvers.instruments import (
    ROUNDS,
    STILL,
    Bodies,
    commanded,
    instrumented,
    simulated,
    tracked,
)
from robot_dynamics_ros.identification.arm.solvers.least_squares import Solution, solve
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.dataset.stretches import thinned
from robot_dynamics_ros.robot_file import RobotFile

Prior = tuple[np.ndarray, np.ndarray]
PLAIN = ("huber", "wls", "torque", "ols")
ROUGH = 2  # rounds of robust weights of a solution that only serves the next one
FIRST_ROWS = 16_000  # samples of a long motion that give the first robust weights; LAST rounds with all samples follow
LAST = 3
METHODS = (*PLAIN, "total", "idim-iv")


def prior_of(robot: RobotFile, rigid: RigidModel, structure: Structure, strength: float) -> Prior:
    """Masses and rotor inertias of the initial model as weak rows (P, z): they decide only what the data leave open."""
    b = rigid.base.size
    size = int(structure.index(b)[-1][-1]) + 1
    phi = initial_parameters(robot)
    rows, z = np.zeros((b + rigid.n, size)), np.zeros(b + rigid.n)
    if robot.links is not None and phi is not None:
        beta = rigid.base.from_standard(phi)
        scale = np.maximum(np.abs(beta), 1e-2)
        rows[np.arange(b), np.arange(b)] = strength / scale
        z[:b] = strength * beta / scale
    rotor = robot.array_or("drives.rotor_inertia", np.nan)
    for j, place in structure.places("ia", b).items():
        value = rotor[j] if np.isfinite(rotor[j]) else 0.0
        scale = max(abs(value), 0.1)
        rows[b + j, place] = strength / scale
        z[b + j] = strength * value / scale
    return rows, z


def known_rotors(robot: RobotFile, rigid: RigidModel, structure: Structure, included: bool = True) -> dict[int, float]:
    """Rotor inertias of the robot file as parameters that are not sought, tau_J = effort - B qdd [Madsen2020 ch5 14].

    included: the effort holds the rotors' torque; else B = 0. Friction stays in the same regression [15-16].
    Raises CapabilityError where the file does not know them.
    """
    places = structure.places("ia", rigid.base.size)
    if not included:
        return dict.fromkeys(places.values(), 0.0)
    rotor = robot.array_or("drives.rotor_inertia", np.nan)
    missing = [robot.joint_names[j] for j in places if not np.isfinite(rotor[j])]
    if missing:
        raise CapabilityError(
            f"{robot.name}: drives.rotor_inertia of {', '.join(missing)} is not known: identify it, "
            "or write it into the robot file"
        )
    return {k: float(rotor[j]) for j, k in places.items()}


class Fitter:
    """Solves one structure on one motion; `recordings` are what the motion was filtered from, `load` (10 n,) the links
    whose torque loads friction.

    notes: sentences of the solvers about their result.
    """

    def __init__(
        self,
        rigid: RigidModel,
        structure: Structure,
        motion: Motion,
        prior: Prior | None = None,
        recordings: Sequence[Recording] = (),
        held: Mapping[int, float] | None = None,
        load: np.ndarray | None = None,
    ) -> None:
        self.rigid, self.structure, self.motion, self.prior = rigid, structure, motion, prior
        self.held, self.recordings, self.load = dict(held or {}), list(recordings), load
        self.base = rigid.base.size
        self.size = int(structure.index(self.base)[-1][-1]) + 1
        self.notes: list[str] = []

    def run(self, method: str, rough: bool = False) -> IdentifiedModel:
        """The model by one of METHODS; rough: from FIRST_ROWS alone, in ROUGH rounds.

        Raises DataError where the recordings lack what the method needs.
        """
        if method not in METHODS:
            raise DataError(f"method '{method}' is none of {', '.join(METHODS)}")
        solution, rows = self._plain(method if method in PLAIN else "huber", rough)
        if method == "total":
            solution = self._total(solution, rows)
        model = IdentifiedModel.from_solution(self.rigid, self.structure, solution, self.held)
        return self._instrumented(model) if method == "idim-iv" else model

    def _plain(self, method: str, rough: bool) -> tuple[Solution, FusedRows]:
        """Weighted least squares; robust weights of a long motion are found on some of its stretches first."""
        short = method == "huber" and len(self.motion) > 2 * FIRST_ROWS
        motion = thinned(self.motion, FIRST_ROWS) if short else self.motion
        rows = FusedRows(self.rigid, self.structure, motion, self.load)
        solution = self._solved(rows, method, ROUGH if rough else 6)
        if not short or rough:
            return solution, rows
        rows = FusedRows(self.rigid, self.structure, self.motion, self.load)
        return self._solved(rows, method, LAST, solution.x), rows

    def _solved(self, rows: FusedRows, method: str, iterations: int, start: np.ndarray | None = None) -> Solution:
        weight, prior = rows.motion.weight, self.prior
        if prior is not None:  # as strong beside some of the samples as beside all
            share = np.sqrt(len(rows.motion) / len(self.motion))
            prior = share * prior[0], share * prior[1]
        weights = None if weight is None else list(weight.T)
        limited = self.structure.non_negative(self.base)
        if not self.held:
            return solve(rows, self.size, method, prior, iterations, weights, start, limited)
        rest = HeldRows(rows, self.held, self.size)
        start = None if start is None else start[rest.rest]
        prior = None if prior is None else rest.prior(prior)
        limited = limited[rest.rest]
        return rest.solution(solve(rest, len(rest.rest), method, prior, iterations, weights, start, limited))

    def _total(self, found: Solution, rows: FusedRows) -> Solution:
        """The weighted solution without the pull of noise in the motion (errors_in_variables)."""
        phi = self.rigid.base.to_standard(found.x[: self.base])
        grams = noise_grams(self.recordings, self.rigid, self.structure, phi, found.weights)
        wide = self.structure.index(self.base)
        rest = HeldRows(rows, self.held, self.size)
        moved = [rest.moved(i) for i in wide]
        grams = [M.T @ g @ M for M, g in zip(moved, grams, strict=True)]
        solution, share = as_total(rest.part(found), [rest.numbers(i) for i in wide], grams)
        if not share < MAX_NOISE_SHARE:
            self.notes.append(
                f"total least squares: {share:.0%} of a direction of the regressor is noise, please check: "
                "a lower cut-off of the state leaves less"
            )
        return rest.solution(solution)

    def _instrumented(self, model: IdentifiedModel) -> IdentifiedModel:
        """IDIM-IV: simulate with the estimate, solve with the simulated regressor as instruments, until it stands
        still.
        """
        reference = tracked(motion_of(commanded(self.recordings), self.structure), self.motion)
        bandwidth = min(self.structure.cutoff, 0.1 * self.motion.rate)
        first = model.solution
        for k in range(ROUNDS):
            bodies = self._bodies(model)
            phi = self.rigid.base.to_standard(model.solution.x[: self.base])
            rows = FusedRows(self.rigid, self.structure, self.motion, phi)
            copy = FusedRows(self.rigid, self.structure, simulated(bodies, reference, bandwidth), phi)
            before = model.solution
            solution = instrumented(rows, copy, first, self.prior, self.held)
            model = IdentifiedModel.from_solution(self.rigid, self.structure, solution, self.held)
            moved = np.abs(solution.x - before.x) / np.maximum(solution.std, 1e-300)
            if k and np.where(solution.std > 0, moved, 0.0).max() < STILL:
                self.notes.append(f"instrumental variables: still after {k + 1} rounds")
                return model
        self.notes.append(f"instrumental variables: still moving after {ROUNDS} rounds, please check")
        return model

    def _bodies(self, model: IdentifiedModel) -> Bodies:
        """Possible bodies next to an estimate, which alone could have no mass matrix."""
        body, rotor = make_consistent(self.rigid.robot, model, True)
        return Bodies(body, np.nan_to_num(rotor))
