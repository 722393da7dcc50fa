"""Weightings of the least squares, and rotors that are known."""

import numpy as np
import prepared
import pytest
from prepared import steps
from synthetic import excitation, torque, truth_of

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.identification.arm.model import motion_of
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.solvers.fitting import Fitter, known_rotors, prior_of
from robot_dynamics_ros.identification.arm.solvers.fused_rows import HeldRows
from robot_dynamics_ros.identification.arm.solvers.least_squares import JointRows, StoredRows, solve
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

TRUTH = truth_of(load_robot("ur5e"))
ROBOT = load_robot("ur5e").with_updates({"drives.rotor_inertia": TRUTH.rotor.tolist()})
RIGID = RigidModel(ROBOT)


def structure(cutoff):
    return prepared.structure(cutoff=cutoff)


def noisy_log(seed, noise, rate=200.0):
    """Commanded motion followed exactly; measured positions with white noise [rad]."""
    rng = np.random.default_rng(seed)
    t, q, qd, qdd = excitation(6, 15.0, rate, seed)
    tau = torque(ROBOT, TRUTH, q, qd, qdd)
    tau += 0.02 * tau.std(0) * rng.standard_normal(tau.shape)
    stamp = 1_700_000_000_000_000_000 + np.round(t * 1e9).astype(np.int64)
    signals = {"q": q + noise * rng.standard_normal(q.shape), "effort": tau, "q_d": q}
    return Log(ROBOT.joint_names, stamp, signals, stamp)


def fitter(rec, cutoff, held=None):
    s = structure(cutoff)
    return Fitter(RIGID, s, motion_of([rec], s), prior_of(ROBOT, RIGID, s, 1e-3), held)


def error(model):
    """RMS error of the base parameters that the data determine alone."""
    found, b = model.solution, RIGID.base.size
    sole = found.separable[:b]
    return float(np.sqrt(np.mean((found.x[:b] - RIGID.base.from_standard(TRUTH.phi))[sole] ** 2)))


def test_without_noise_all_methods_agree():
    rec = recording(noisy_log(3, 0.0), "clean")
    held = known_rotors(ROBOT, RIGID, structure(20.0))
    assert max(error(fitter(rec, 20.0, held).run(m)) for m in ("ols", "torque", "wls", "huber")) < 0.05


def test_known_rotors_make_the_links_separable():
    rec = recording(noisy_log(11, 0.0), "a")
    free, bound = fitter(rec, 8.0), fitter(rec, 8.0, known_rotors(ROBOT, RIGID, structure(8.0)))
    a, b = free.run("wls"), bound.run("wls")
    base = RIGID.base
    assert not a.solution.separable[: base.size].all() and b.solution.separable[: base.size].all()
    for j, place in structure(8.0).places("ia", base.size).items():
        assert b.solution.x[place] == TRUTH.rotor[j] and b.solution.std[place] == 0
    away = np.abs(b.solution.x[: base.size] - base.from_standard(TRUTH.phi)) / b.solution.std[: base.size]
    assert np.mean(away < 3) > 0.95


def test_held_parameters_are_those_of_a_smaller_problem():
    rng = np.random.default_rng(12)
    index = [np.array([0, 1, 3]), np.array([1, 2, 4])]
    stored = StoredRows([JointRows(rng.normal(size=(200, 3)), i, rng.normal(size=200)) for i in index])
    held = HeldRows(stored, {1: 0.7, 4: -2.0}, 5)
    prior = 0.1 * np.eye(5), rng.normal(size=5)
    found = held.solution(solve(held, 3, "ols", held.prior(prior)))
    A, y = [prior[0]], [prior[1]]
    for rows in stored.joints:
        full = np.zeros((200, 5))
        full[:, rows.index] = rows.A
        A, y = [*A, full], [*y, rows.y]
    A, y = np.vstack(A), np.concatenate(y)
    known = np.array([0.0, 0.7, 0.0, 0.0, -2.0])
    rest = [0, 2, 3]
    expected = np.linalg.lstsq(A[:, rest], y - A @ known, rcond=None)[0]
    np.testing.assert_allclose(found.x[rest], expected, rtol=1e-9)
    assert found.x[1] == 0.7 and found.x[4] == -2.0
    np.testing.assert_allclose(np.concatenate(held.residuals(found.x[rest])), (y - A @ found.x)[5:], atol=1e-12)


def test_known_rotors_reach_the_written_model():
    found = steps([recording(noisy_log(13, 1e-5), "a")], robot=ROBOT, until="fit_together", known_rotor=True)
    np.testing.assert_allclose(found.rotor, TRUTH.rotor)
    np.testing.assert_allclose([found.consistent.coefficient(j, "ia") for j in range(6)], TRUTH.rotor)


def test_rotors_whose_torque_the_effort_leaves_out_are_held_at_zero():
    log = noisy_log(14, 0.0)
    _, _, _, qdd = excitation(6, 15.0, 200.0, 14)
    effort = log.effort - 2 * TRUTH.rotor * qdd  # acceleration torque below the links' own, as UR logs have it
    log = Log(log.joint_names, log.stamp_ns, {**log.signals, "effort": effort}, log.stamp_ns)
    found = steps([recording(log, "a")], robot=ROBOT, until="fit_together", known_rotor=True)
    assert not found.rotor_included
    assert len(found.fit.held) == 6 and not any(found.fit.held.values())


def test_rotors_that_are_not_known_are_named():
    unknown = ROBOT.with_updates({"drives.rotor_inertia": None})
    with pytest.raises(CapabilityError, match=r"drives.rotor_inertia of shoulder_pan_joint.* is not known"):
        known_rotors(unknown, RIGID, structure(8.0))
