"""Solvers beyond weighted least squares: known rotors, total least squares, instrumental variables."""

from dataclasses import replace

import numpy as np
import prepared
import pytest
from prepared import run, steps
from synthetic import excitation, torque, truth_of

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.arm.friction_columns import JointFriction
from robot_dynamics_ros.identification.arm.model import EffortFilter, motion_of
from robot_dynamics_ros.identification.arm.read import read
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.solvers.errors_in_variables import BLOCK, noise_deviation, total_solution
from robot_dynamics_ros.identification.arm.solvers.fitting import METHODS, Fitter, known_rotors, prior_of
from robot_dynamics_ros.identification.arm.solvers.fused_rows import FusedRows, HeldRows
from robot_dynamics_ros.identification.arm.solvers.instruments import Bodies, instrumented, simulated
from robot_dynamics_ros.identification.arm.solvers.least_squares import JointRows, StoredRows, solve
from robot_dynamics_ros.identification.arm.state import DEFAULTS
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
    return Fitter(RIGID, s, motion_of([rec], s), prior_of(ROBOT, RIGID, s, 1e-3), [rec], held)


def error(model):
    """RMS error of the base parameters that the data determine alone."""
    found, b = model.solution, RIGID.base.size
    sole = found.separable[:b]
    return float(np.sqrt(np.mean((found.x[:b] - RIGID.base.from_standard(TRUTH.phi))[sole] ** 2)))


# -- noise in the motion ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.long) for k in (1, 2))])
def test_errors_in_variables_pull_less_with_total_and_instruments(seed):
    """Derivatives of noisy positions bias least squares; both remedies take most of it away."""
    held = known_rotors(ROBOT, RIGID, structure(20.0))
    rec = recording(noisy_log(seed, 2e-4), "noisy")
    plain = error(fitter(rec, 20.0, held).run("wls"))
    assert error(fitter(rec, 20.0, held).run("total")) < 0.6 * plain
    assert error(fitter(rec, 20.0).run("idim-iv")) < 0.3 * error(fitter(rec, 20.0).run("huber"))


def test_without_noise_all_methods_agree():
    rec = recording(noisy_log(3, 0.0), "clean")
    held = known_rotors(ROBOT, RIGID, structure(20.0))
    errors = {m: error(fitter(rec, 20.0, held).run(m)) for m in METHODS}
    assert max(errors.values()) < 0.05
    assert errors["total"] < 1.5 * errors["wls"]


def test_too_much_noise_is_reported():
    made = fitter(recording(noisy_log(4, 1e-3), "noisy"), 40.0)
    made.run("total")
    assert any("is noise, please check" in note for note in made.notes)


def test_total_takes_an_effort_that_was_smoothed_before_it_was_recorded():
    # its rows pass the filter block by block, and most blocks begin inside a piece
    s = replace(structure(20.0), filters=(EffortFilter(20.0, True),) * 6)
    held = known_rotors(ROBOT, RIGID, s)
    rec = recording(noisy_log(5, 2e-4), "smoothed")
    rec = replace(rec, pieces=[replace(p, effort=smoothed(p, s.filters)) for p in rec.pieces])
    motion = motion_of([rec], s)
    assert len(motion) > BLOCK and motion.start.sum() == 1
    prior = prior_of(ROBOT, RIGID, s, 1e-3)
    plain, total = (Fitter(RIGID, s, motion, prior, [rec], held).run(m) for m in ("wls", "total"))
    assert error(total) < error(plain)


def smoothed(piece, filters):
    start = np.zeros(len(piece.t), bool)
    start[0] = True
    columns = [f.apply(y, 1 / piece.period, start) for f, y in zip(filters, piece.effort.T, strict=True)]
    return np.column_stack(columns)


def test_total_solution_is_that_of_the_smallest_singular_vector():
    """With equal noise in all columns it is the classical one: [x; -1] is the last right singular vector of [A, y]."""
    rng = np.random.default_rng(5)
    A0, x = rng.normal(size=(500, 4)), np.array([1.0, -2.0, 3.0, 0.5])
    A, y = A0 + 0.3 * rng.normal(size=A0.shape), A0 @ x + 0.3 * rng.normal(size=500)
    T = np.linalg.qr(np.column_stack([A, y]), mode="r")
    R, z, _ = total_solution(T[:4, :4], T[:4, 4], T[4, 4], 1e3 * np.eye(5))  # more than it can be: scaled down
    v = np.linalg.svd(np.column_stack([A, y]))[2][-1]
    np.testing.assert_allclose(np.linalg.solve(R, z), -v[:4] / v[4], rtol=1e-9)


def test_total_solution_of_known_noise_takes_its_gram_off():
    rng = np.random.default_rng(6)
    A, y = rng.normal(size=(300, 3)), rng.normal(size=300)
    S = np.diag([20.0, 0.0, 50.0, 5.0])
    T = np.linalg.qr(np.column_stack([A, y]), mode="r")
    R, z, share = total_solution(T[:3, :3], T[:3, 3], T[3, 3], S)
    expected = np.linalg.solve(A.T @ A - S[:3, :3], A.T @ y)
    np.testing.assert_allclose(np.linalg.solve(R, z), expected, rtol=1e-10)
    assert share == pytest.approx(np.linalg.eigvals(np.linalg.solve(A.T @ A, S[:3, :3])).real.max())


def test_noise_is_seen_beside_the_motion():
    t, q, _, _ = excitation(6, 30.0, 200.0, 7)
    deviation = np.geomspace(1e-5, 1e-3, 6)
    found = noise_deviation(q + deviation * np.random.default_rng(7).standard_normal(q.shape))
    np.testing.assert_allclose(found, deviation, rtol=0.05)


# -- instruments --------------------------------------------------------------------------------------------------


def test_instruments_solve_their_normal_equations():
    """x of Z'GA x = Z'Gy with the weights of the start, against the products in numpy."""
    rec = recording(noisy_log(8, 1e-4), "a")
    s = structure(10.0)
    motion = motion_of([rec], s)
    other = replace(motion, q=motion.q + 1e-3, qd=0.99 * motion.qd, qdd=1.02 * motion.qdd)
    laws = tuple(JointFriction(("fv1", "fc")) for _ in range(6))
    s = s.with_laws(laws)
    rows, copy = FusedRows(RIGID, s, motion), FusedRows(RIGID, s, other)
    size = int(s.index(RIGID.base.size)[-1][-1]) + 1
    start = solve(rows, size, "huber")
    found = instrumented(rows, copy, start, None, {})
    left, right = np.zeros((size, size)), np.zeros(size)
    for pair in zip(rows.matrices(), copy.matrices(), strict=True):
        (j, first, A), (_, _, Z) = pair
        own, part = rows.index[j], slice(first, first + len(A))
        G = start.weights[part, j] / start.scale[j] ** 2
        left[np.ix_(own, own)] += Z.T @ (A * G[:, None])
        right[own] += Z.T @ (motion.effort[part, j] * G)
    np.testing.assert_allclose(found.x, np.linalg.solve(left, right), rtol=1e-6, atol=1e-8)


def test_simulated_motion_follows_and_shows_the_bodies():
    rec = recording(noisy_log(9, 0.0), "a")
    model = fitter(rec, 10.0).run("wls").with_inertia(TRUTH.phi, [np.array([0.0] * 4)] * 6)
    reference = motion_of([rec], structure(10.0))
    light = simulated(Bodies(model, TRUTH.rotor), reference, 8.0)
    heavy = simulated(Bodies(model.with_inertia(3 * TRUTH.phi, model.friction), TRUTH.rotor), reference, 8.0)
    assert np.abs(light.q - reference.q)[100:].max() < 0.02
    assert np.abs(heavy.q - light.q).max() > 1e-4  # coupling grows beside the rotors
    np.testing.assert_allclose(np.gradient(light.q, 1 / 200, axis=0)[100:-1], light.qd[100:-1], atol=0.05)


def test_instruments_need_the_commanded_motion():
    with pytest.raises(DataError, match="record desired_state"):
        steps([run(1, ROBOT, TRUTH)], robot=ROBOT, until="fit_parameters", method="idim-iv")


def test_instruments_from_a_bag_with_desired_state(tmp_path):
    bag = write_bag(noisy_log(10, 1e-4), tmp_path / "a", topics=["joint_states", "desired_state"])
    rec, first = read(ROBOT, bag, DEFAULTS), {"robot": ROBOT, "until": "fit_parameters"}
    found = steps([rec], chosen=structure(15.0), method="idim-iv", **first)
    assert any("instrumental variables: still after" in text for text in found.statements)
    assert error(found.fit) < 0.7 * error(steps([rec], chosen=structure(15.0), method="wls", **first).fit)


# -- known parameters ---------------------------------------------------------------------------------------------


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
