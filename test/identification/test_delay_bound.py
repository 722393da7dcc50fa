"""Delay of the effort: what deviation the data allow (Cramer-Rao), beside the error of `identify`.

`python test/identification/test_delay_bound.py 8` prints it for the synthetic recordings and 8 simulated robots; a
second number is a cut-off [Hz] instead of the chosen ones.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]

from test_settings import ROBOT, late

from bench.force import recordings, zoo
from robot_dynamics_ros.identification.arm.identify import STEPS, Identification, Options, UserChoices
from robot_dynamics_ros.identification.arm.model import joint_rows, motion_of
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.solvers.fitting import Fitter
from robot_dynamics_ros.identification.arm.tuning import Tuner
from robot_dynamics_ros.identification.dataset.motion import pieces_of
from robot_dynamics_ros.identification.dataset.recording import recording

BLOCK = 1.0  # s whose scores are one independent error


def bound(model, motion, used=None):
    """Efficient step of the delay [s] from that of the motion; its deviation for white errors (Cramer-Rao bound, all
    other parameters unknown) and for errors that stay for BLOCK seconds; `used` (N, n): samples that count.

    y = A x - d dp/dt + e of all joints, p = A x.
    """
    s, W = model.solution, model.rigid.base_regressor(motion.q, motion.qd, motion.qdd)
    size, block = len(s.x), (np.arange(len(motion)) / motion.rate // BLOCK).astype(int)
    H, h, scores = np.zeros((size + 1, size + 1)), np.zeros(size + 1), []
    for j, row in enumerate(joint_rows(motion, W, model.load(motion), model.structure)):
        p = row.A @ s.x[row.index]
        slope = np.concatenate([np.gradient(p[a:b]) * motion.rate for a, b in pieces_of(motion.start)])
        A, own, rest = np.column_stack([row.A, -slope]), np.append(row.index, size), row.y - p
        w = s.weights[:, j] * (1.0 if used is None else used[:, j])
        w = w / np.average(rest**2, weights=w)
        H[np.ix_(own, own)] += A.T @ (A * w[:, None])
        h[own] += A.T @ (w * rest)
        scores.append((A, own, rest, w))
    d = np.sqrt(np.maximum(np.diag(H), 1e-300))
    inverse = np.linalg.pinv(H / d / d[:, None], rcond=1e-10) / d / d[:, None]
    step, total = inverse @ h, np.zeros(block[-1] + 1)
    for A, own, rest, w in scores:
        total += np.bincount(block, (A @ inverse[own, size]) * w * (rest - A @ step[own]), len(total))
    return step[size], np.sqrt(inverse[size, size]), np.sqrt((total**2).sum())


def sliding(motion, speed=0.1, travel=0.1):
    """(N, n): joints faster than `speed` [rad/s] that have gone `travel` [rad] since their last reversal."""
    out = np.abs(motion.qd) > speed
    for a, b in pieces_of(motion.start):
        turns = np.diff(np.sign(motion.qd[a:b]), axis=0, prepend=0.0) != 0
        last = np.maximum.accumulate(np.where(turns, np.arange(b - a)[:, None], 0), axis=0)
        out[a:b] &= np.abs(motion.q[a:b] - np.take_along_axis(motion.q[a:b], last, axis=0)) > travel
    return out


def synthetic(rate, seed):
    """Error of the delay that is found, its stated deviation and the bound [s]; the laws are those of the truth."""
    rigid, rec = RigidModel(ROBOT), late(0.003, rate, seed)
    structure = Tuner([rec], rigid, True).run()
    motion = motion_of([rec], structure)
    model = Fitter(rigid, structure, motion).run("huber")
    return structure.delay - 0.003, structure.delay_std, bound(model, motion)[1]


@pytest.mark.long
@pytest.mark.parametrize("rate", [125.0, 500.0])
def test_where_the_laws_are_right_the_delay_is_found_nearly_as_well_as_the_data_allow(rate):
    error, _, least = np.array([synthetic(rate, seed) for seed in (1, 2, 3)]).T
    assert np.sqrt((error**2).mean()) < 2 * least.mean()


if __name__ == "__main__":
    for rate in (125.0, 500.0):
        found = 1e3 * np.array([synthetic(rate, seed) for seed in range(1, 5)])
        rms, stated, least = np.sqrt((found**2).mean(0))
        print(f"synthetic {rate:.0f} Hz: error {rms:.3f} stated {stated:.3f} bound {least:.3f} ms")
    options = Options(choices=UserChoices(cutoff=float(sys.argv[2]) if len(sys.argv) > 2 else None))
    for who in zoo.individuals(ROBOT, int(sys.argv[1]), 1, zoo.families("tuning")):
        logs = [recordings.recorded(ROBOT, who, k) for k in range(who.bags)]
        recs = [recording(*log) for log in logs]
        state = Identification(ROBOT, options, recs, recs[:1], "")
        for _, step in STEPS[:6]:
            step(state)
        true, kinds = who.overrides["sensing.torque_delay"], ", ".join(kind for _, kind in logs)
        s = state.structure
        print(f"{kinds}: true {1e3 * true:.1f} declared {1e3 * s.delay:.1f} ms; {s.source} below {s.cutoff:.0f} Hz")
        for name, used in (("all samples", None), ("sliding", sliding(state.motion))):
            delay, least, blocks = (1e3 * x for x in bound(state.fit, state.motion, used))
            print(f"  {name:12s} {delay:6.2f} bound {least:.2f}, of blocks {blocks:.2f} ms", flush=True)
