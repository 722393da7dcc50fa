"""Rigid-body functions against Pinocchio and the properties of mechanics, on every instruction set."""

import numpy as np
import pinocchio as pin
import pytest
from chains import pinocchio_columns, random_chain, random_motion

from bench.speed.setup import pinocchio_model
from robot_dynamics_ros import _core
from robot_dynamics_ros.models import RobotModel

pytestmark = pytest.mark.usefixtures("isa")
LENGTHS = [n if n in (1, 2, 6, 7, 16) else pytest.param(n, marks=pytest.mark.long) for n in range(1, 17)]


def close(a, b, tolerance=1e-12):
    assert np.abs(a - b).max() <= tolerance * max(1.0, np.abs(b).max())


@pytest.mark.parametrize("angled", [False, True])
@pytest.mark.parametrize("n", LENGTHS)
def test_torques_are_pinocchios(n, angled):
    chain = random_chain(n, seed=n, right_angles=angled)
    q, qd, qdd = random_motion(n, 11, seed=100 + n)  # 11 samples: whole blocks and a rest for every lane count
    tau = chain.model().rnea(q, qd, qdd)
    model = pinocchio_model(chain)
    data = model.createData()
    for k in range(len(q)):
        close(tau[k], pin.rnea(model, data, q[k], qd[k], qdd[k]))
        close(tau[k], chain.model().rnea(q[k], qd[k], qdd[k]))


@pytest.mark.parametrize("angled", [False, True])
@pytest.mark.parametrize("n", LENGTHS)
def test_regressor_columns_are_pinocchios(n, angled):
    # [Liu2020 8]
    chain = random_chain(n, seed=n, right_angles=angled)
    q, qd, qdd = random_motion(n, 9, seed=200 + n)
    model, pin_model = chain.model(), pinocchio_model(chain)
    data = pin_model.createData()
    Y = model.regressor(q, qd, qdd)
    for k in range(len(q)):
        expected = pinocchio_columns(pin.computeJointTorqueRegressor(pin_model, data, q[k], qd[k], qdd[k]).copy())
        close(Y[k], expected)
        close(model.regressor(q[k], qd[k], qdd[k]), expected)
    close(Y @ model.inertial_parameters, model.rnea(q, qd, qdd))


@pytest.mark.parametrize("n", LENGTHS)
def test_mass_matrix_is_symmetric_and_pinocchios(n):
    chain = random_chain(n, seed=n)
    q = random_motion(n, 9, seed=300 + n)[0]
    M, model = chain.model().mass_matrix(q), pinocchio_model(chain)
    for k in range(len(q)):
        close(np.triu(M[k]), np.triu(pin.crba(model, model.createData(), q[k])))
        close(M[k], chain.model().mass_matrix(q[k]))
        assert np.array_equal(M[k], M[k].T)


@pytest.mark.parametrize("n", [1, 2, 6, 7, 16])
def test_torque_is_the_sum_of_its_parts(n):
    # [Madsen2020 2.26]
    chain = random_chain(n, seed=n)
    q, qd, qdd = random_motion(n, 9, seed=400 + n)
    model = chain.model()
    parts = np.einsum("kij,kj->ki", model.mass_matrix(q), qdd) + model.coriolis(q, qd) + model.gravity(q)
    close(parts, model.rnea(q, qd, qdd))
    for k in range(len(q)):
        close(model.coriolis(q[k], qd[k]), model.coriolis(q, qd)[k])
        close(model.gravity(q[k]), model.gravity(q)[k])


@pytest.mark.parametrize("n", [1, 6, 7, 16])
def test_poses_and_jacobian_are_pinocchios(n):
    chain = random_chain(n, seed=n)
    model, pin_model = chain.model(), pinocchio_model(chain)
    frame = pin.Frame("tcp", n, 0, pin.SE3(chain.tool[:3, :3], chain.tool[:3, 3]), pin.OP_FRAME)
    tcp = pin_model.addFrame(frame)
    data = pin_model.createData()
    q = random_motion(n, 5, seed=n)[0]
    T, J = model.fk(q), model.jacobian(q)
    for k in range(len(q)):
        pin.framesForwardKinematics(pin_model, data, q[k])
        for i in range(n):
            close(T[k, i], data.oMi[i + 1].homogeneous)
        close(T[k, n], data.oMf[tcp].homogeneous)
        expected = pin.computeFrameJacobian(pin_model, data, q[k], tcp, pin.LOCAL_WORLD_ALIGNED)
        close(J[k], expected.reshape(6, n))
        close(model.fk(q[k]), T[k])
        close(model.jacobian(q[k]), J[k])


@pytest.mark.parametrize("turns", [1e3, 1e6, 1e12, 1e300])
def test_large_angles_are_reduced_correctly(turns):
    chain = random_chain(6, seed=6)
    q, qd, qdd = random_motion(6, 9, seed=7)
    q[4] *= turns
    model = pinocchio_model(chain)
    expected = pin.rnea(model, model.createData(), q[4], qd[4], qdd[4])
    close(chain.model().rnea(q, qd, qdd)[4], expected)
    close(chain.model().rnea(q[4], qd[4], qdd[4]), expected)


def test_sines_are_within_two_units_in_the_last_place():
    link = np.zeros((1, 10))
    link[0, 6] = 1.0  # m x = 1 under gravity along x: torque of a unit pendulum
    chain = _core.Chain(np.eye(4)[None], link, np.eye(4), np.array([1.0, 0, 0]))
    rng = np.random.default_rng(0)
    near_multiples = np.pi / 2 * rng.integers(-1000, 1000, 2000) * (1 + 1e-9 * rng.normal(size=2000))
    q = np.concatenate([rng.uniform(-10, 10, 20000), rng.uniform(-1e5, 1e5, 20000), near_multiples])
    exact = np.sin(q)
    error = np.abs(RobotModel(chain).gravity(q[:, None])[:, 0] - exact) / np.spacing(np.abs(exact))
    assert error.max() <= 3  # two of ours, one of the C library's


def test_stacked_regressor_is_the_regressor_joint_by_joint():
    chain = random_chain(6, seed=6)
    q, qd, qdd = random_motion(6, 21, seed=7)
    model = chain.model()
    Y = model.regressor(q, qd, qdd)
    stacked = Y.transpose(1, 0, 2).reshape(-1, 60)
    columns = [3, 17, 59, 5, 22]
    W = np.full((126, 5), np.nan, order="F")
    assert model.stacked_regressor(q, qd, qdd, columns, W) is W
    assert np.array_equal(W, stacked[:, columns])
    assert np.array_equal(model.stacked_regressor(q, qd, qdd), stacked)
    always_zero = np.array([[row // 21 > c // 10 for c in columns] for row in range(126)])
    W[:] = np.where(always_zero, 7.0, np.nan)
    model.stacked_regressor(q, qd, qdd, columns, W, keep_zeros=True)
    assert np.array_equal(W, np.where(always_zero, 7.0, stacked[:, columns]))


@pytest.mark.parametrize("samples", [3000, 3003])
@pytest.mark.parametrize("offset", [0, 2, 7])
def test_a_large_stacked_regressor_is_the_same_wherever_its_columns_begin(samples, offset):
    """Whole cache lines are written past the cache; runs before, between and after them are not."""
    model = random_chain(6, seed=6).model()
    q, qd, qdd = random_motion(6, samples, seed=7)
    expected = model.regressor(q, qd, qdd).transpose(1, 0, 2).reshape(-1, 60)
    memory = np.full(6 * samples * 60 + 16, np.nan)
    begin = offset + (-memory.ctypes.data // 8) % 8
    W = memory[begin : begin + expected.size].reshape(expected.shape, order="F")
    model.stacked_regressor(q, qd, qdd, out=W)
    assert np.array_equal(W, expected)
    assert np.isnan(memory[:begin]).all() and np.isnan(memory[begin + expected.size :]).all()
    W[expected != 0.0] = np.nan
    model.stacked_regressor(q, qd, qdd, out=W, keep_zeros=True)
    assert np.array_equal(W, expected)


def test_gravity_can_be_given_per_call():
    chain = random_chain(6, seed=6)
    q, qd, qdd = random_motion(6, 9, seed=7)
    model = chain.model()
    up = np.array([0, 0, 9.81])
    close(model.rnea(q, qd, qdd, gravity=up), model.with_gravity(up).rnea(q, qd, qdd))
    close(model.gravity(q, gravity=up), model.with_gravity(up).gravity(q))
    close(model.regressor(q, qd, qdd, gravity=up), model.with_gravity(up).regressor(q, qd, qdd))
    slopes = model.torque_gradient(q, qd, qdd, qd, gravity=up), model.with_gravity(up).torque_gradient(q, qd, qdd, qd)
    assert all(np.array_equal(a, b) for a, b in zip(*slopes, strict=True))
    assert np.abs(model.rnea(q, qd, qdd, gravity=up) - model.rnea(q, qd, qdd)).max() > 1


def test_large_results_reuse_freed_memory_without_showing_it():
    """A block that was let go of serves the next result: never one that is still held, and zeros are zeros again."""
    model = random_chain(6, 31).model()
    q, qd, qdd = random_motion(6, 20000, 32)
    first = model.stacked_regressor(q, qd, qdd)
    expected, place = first.copy(order="F"), first.__array_interface__["data"][0]
    first[:] = np.nan
    held = model.stacked_regressor(q, qd, qdd)
    assert held.__array_interface__["data"][0] != place and np.array_equal(held, expected)
    del first
    again = model.stacked_regressor(q, qd, qdd, keep_zeros=True)  # concerns `out` only
    assert again.__array_interface__["data"][0] == place and np.array_equal(again, expected)
    del again
    narrow = model.stacked_regressor(q[:18000], qd[:18000], qdd[:18000])
    assert narrow.__array_interface__["data"][0] == place
    part = [x[:18000] for x in (q, qd, qdd)]
    assert np.array_equal(narrow, model.stacked_regressor(*part, out=np.zeros_like(narrow)))
    assert np.array_equal(held, expected)


METHODS = {"rnea": 3, "gravity": 1, "coriolis": 2, "mass_matrix": 1, "regressor": 3, "fk": 1, "jacobian": 1}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("n", [3, 6])
def test_a_sample_gives_the_same_bits_in_any_batch_and_anywhere_in_memory(name, n):
    """Alone, at any place of a batch, in a batch beyond the caches, beside an angle of 1e6 rad, in any buffer."""
    call, motion = getattr(random_chain(n, seed=6).model(), name), random_motion(n, 3001, seed=7)[: METHODS[name]]
    motion[0][-1] = 1e6
    expected = call(*motion)
    for begin, end in ((0, 3000), (0, 1), (1, 4), (2, 11), (1000, 1133), (2993, 3001)):
        assert np.array_equal(call(*(x[begin:end] for x in motion)), expected[begin:end])
    assert np.array_equal(call(*(x[2990] for x in motion)), expected[2990])
    memory = np.empty(expected.size + 16)
    for begin in range(3):
        out = memory[begin : begin + expected.size].reshape(expected.shape)
        assert np.array_equal(call(*motion, out=out), expected)
