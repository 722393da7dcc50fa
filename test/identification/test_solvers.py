"""Rotors that are known."""

from dataclasses import replace

import numpy as np
import pytest
from prepared import steps, structure
from synthetic import TRUTH, UR5E, excitation, log_at, torque

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.identification.arm.model import motion_of
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.solvers.fitting import fitted, known_rotors, prior_of
from robot_dynamics_ros.identification.arm.state import PRIOR
from robot_dynamics_ros.identification.dataset.recording import recording

ROBOT = UR5E.with_updates({"drives.rotor_inertia": TRUTH.rotor.tolist()})
RIGID = RigidModel(ROBOT)


def noisy_log(seed, noise):
    """Commanded motion followed exactly; measured positions with white noise [rad]."""
    rng = np.random.default_rng(seed)
    t, q, qd, qdd = excitation(6, 15.0, 200.0, seed)
    tau = torque(ROBOT, TRUTH, q, qd, qdd)
    tau += 0.02 * tau.std(0) * rng.standard_normal(tau.shape)
    signals = {"q": q + noise * rng.standard_normal(q.shape), "effort": tau, "q_d": q}
    return log_at(t, signals, ROBOT.joint_names)


def fit(rec, held=None):
    s = structure()
    motion = motion_of([rec], s)
    return fitted(RIGID, s, motion, prior_of(ROBOT, RIGID, s, 1e-3, motion), held)


def test_known_rotors_make_the_links_separable():
    rec = recording(noisy_log(11, 0.0), "a")
    a, b = fit(rec), fit(rec, known_rotors(ROBOT, RIGID, structure()))
    base = RIGID.base
    assert not a.solution.separable[: base.size].all() and b.solution.separable[: base.size].all()
    for j, place in structure().places("ia", base.size).items():
        assert b.solution.x[place] == pytest.approx(TRUTH.rotor[j], abs=1e-5) and b.solution.std[place] < 1e-5
    away = np.abs(b.solution.x[: base.size] - base.from_standard(TRUTH.phi)) / b.solution.std[: base.size]
    assert np.mean(away < 3) > 0.95


def test_known_rotors_reach_the_written_model():
    found = steps([recording(noisy_log(13, 1e-5), "a")], robot=ROBOT, until="fit_together", known_rotor=True)
    np.testing.assert_allclose(found.rotor, TRUTH.rotor, rtol=1e-4)
    np.testing.assert_allclose([found.consistent.coefficient(j, "ia") for j in range(6)], TRUTH.rotor, rtol=1e-4)


def test_rotors_whose_torque_the_effort_leaves_out_are_held_at_zero():
    log = noisy_log(14, 0.0)
    _, _, _, qdd = excitation(6, 15.0, 200.0, 14)
    effort = log.effort - 2 * TRUTH.rotor * qdd  # acceleration torque below the links' own, as UR logs have it
    log.effort = effort
    found = steps([recording(log, "a")], robot=ROBOT, until="fit_together", known_rotor=True)
    assert not found.rotor_included
    np.testing.assert_allclose(found.rotor, 0.0, atol=1e-4)


def test_rotors_that_are_not_known_are_named():
    unknown = ROBOT.with_updates({"drives.rotor_inertia": None})
    with pytest.raises(CapabilityError, match=r"drives.rotor_inertia of shoulder_pan_joint.* is not known"):
        known_rotors(unknown, RIGID, structure())


def test_poses_that_hardly_differ_make_no_offset_of_gravity():
    s, m = structure(), motion_of([recording(noisy_log(11, 0.0), "a")], structure())
    q, qd, qdd = m.q[:1] + 0.02 * (m.q - m.q[:1]), 0.02 * m.qd, 0.02 * m.qdd
    effort = torque(ROBOT, TRUTH, q, qd, qdd) + np.random.default_rng(3).standard_normal(q.shape)
    near = replace(m, q=q, qd=qd, qdd=qdd, effort=effort, measured=q)
    x = fitted(RIGID, s, near, prior_of(ROBOT, RIGID, s, PRIOR, near)).solution.x
    assert max(abs(x[k]) for k in s.places("fo", RIGID.base.size).values()) < 0.3  # Nm; without a prior 5.7
