"""Wrong arguments are errors that name the argument; `out` is honoured."""

import numpy as np
import pytest
from chains import random_chain, random_motion

from robot_dynamics_ros.models import RobotModel

N = 5


@pytest.fixture(scope="module")
def model():
    return random_chain(6, seed=1).model()


METHODS = {"rnea": 3, "regressor": 3, "stacked_regressor": 3, "coriolis": 2, "gravity": 1, "mass_matrix": 1}
METHODS |= {"fk": 1, "jacobian": 1}  # how many of q, qd, qdd they take
ONE = np.arange(N * 6).reshape(N, 6) == 20
WRONG = {"length": np.zeros((N, 5)), "rank": np.zeros((1, N, 6)), "none": None, "text": "home"}
WRONG |= {"nan": np.where(ONE, np.nan, 0.0), "infinite": np.where(ONE, -np.inf, 0.0)}
WRONG |= {"float32": np.zeros((N, 6), np.float32), "integer": np.zeros((N, 6), int)}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_argument_is_named(model, method, wrong):
    for k, name in enumerate(("q", "qd", "qdd")[: METHODS[method]]):
        arguments = [np.zeros((N, 6)) for _ in range(METHODS[method])]
        arguments[k] = WRONG[wrong]
        expected = ValueError if wrong in ("length", "rank", "nan", "infinite") else TypeError
        with pytest.raises(expected, match=rf"^{name}\b"):
            getattr(model, method)(*arguments)


def test_nan_is_located(model):
    q = np.zeros((N, 6))
    q[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"q\[3, 2\] is nan"):
        model.rnea(q, np.zeros((N, 6)), np.zeros((N, 6)))
    with pytest.raises(ValueError, match=r"qd\[2\] is nan"):
        model.coriolis(np.zeros(6), q[3])


def test_inputs_must_have_the_same_shape(model):
    one, many = np.zeros(6), np.zeros((N, 6))
    for q, qd, name in [(one, many, "qd"), (many, one, "qd"), (many, many[:-1], "qd")]:
        with pytest.raises(ValueError, match=f"^{name} has shape"):
            model.rnea(q, qd, q)
    with pytest.raises(ValueError, match="^qdd has shape"):
        model.rnea(many, many, many[1:])


def test_lists_and_strided_views_are_accepted(model):
    q, qd, qdd = random_motion(6, 2 * N, seed=3)
    expected = model.rnea(q[::2].copy(), qd[::2].copy(), qdd[::2].copy())
    assert np.array_equal(model.rnea(q[::2], qd[::2], qdd[::2]), expected)
    assert np.array_equal(model.rnea(np.asfortranarray(q[::2]), qd[::2], qdd[::2]), expected)
    assert np.array_equal(model.rnea(q[0].tolist(), tuple(qd[0]), [0] * 6), model.rnea(q[0], qd[0], np.zeros(6)))


def test_no_samples_give_no_rows(model):
    none = np.zeros((0, 6))
    assert model.rnea(none, none, none).shape == (0, 6)
    assert model.regressor(none, none, none).shape == (0, 6, 60)
    assert model.fk(none).shape == (0, 7, 4, 4)


@pytest.mark.parametrize("method", [m for m in METHODS if m != "stacked_regressor"])
def test_out_is_written_and_returned(model, method):
    call, inputs = getattr(model, method), random_motion(6, N, seed=3)[: METHODS[method]]
    for arguments in (inputs, [x[0] for x in inputs]):
        expected = call(*arguments)
        out = np.full_like(expected, np.nan)
        assert call(*arguments, out=out) is out
        assert np.array_equal(out, expected)
        with pytest.raises(ValueError, match="out"):
            call(*arguments, out=np.zeros((*expected.shape, 2))[..., 0])
        with pytest.raises(ValueError, match="out"):
            call(*arguments, out=np.zeros(expected.shape[:-1] + (expected.shape[-1] + 1,)))
        with pytest.raises(TypeError, match="out"):
            call(*arguments, out=out.astype(np.float32))
        out.flags.writeable = False
        with pytest.raises(ValueError, match="out"):
            call(*arguments, out=out)


def test_out_may_be_an_input_but_not_overlap_it(model):
    q, qd, qdd = random_motion(6, N, seed=3)
    expected = model.rnea(q, qd, qdd)
    memory = np.zeros(N * 6 + 6)
    shifted = memory[6:].reshape(N, 6)
    with pytest.raises(ValueError, match="out overlaps qd"):
        model.rnea(q, memory[:-6].reshape(N, 6), qdd, out=shifted)
    assert np.array_equal(model.rnea(q, qd, qdd, out=qdd), expected)


@pytest.mark.parametrize("columns", [[-1], [60], [3, 3]])
def test_wrong_columns_are_named(model, columns):
    q = np.zeros((N, 6))
    with pytest.raises(ValueError, match="columns"):
        model.stacked_regressor(q, q, q, columns)


@pytest.mark.parametrize("gravity", [[0, 0], [0, 0, np.nan], np.zeros((3, 1))])
def test_wrong_gravity_is_named(model, gravity):
    with pytest.raises(ValueError, match="gravity"):
        model.with_gravity(gravity)
    with pytest.raises(ValueError, match="gravity"):
        model.gravity(np.zeros(6), gravity=gravity)


WRONG_PAYLOADS = [("mass", (-1.0,)), ("mass", (np.nan,)), ("com", (1.0, [0, 0])), ("com", (1.0, [0, 0, np.inf]))]
WRONG_PAYLOADS += [("inertia", (1.0, [0, 0, 0], [1, 2, 3])), ("inertia", (1.0, [0, 0, 0], "round"))]


@pytest.mark.parametrize(("name", "arguments"), WRONG_PAYLOADS)
def test_wrong_payload_is_named(model, name, arguments):
    with pytest.raises(ValueError, match=f"^{name}"):
        model.with_payload(*arguments)


def test_joint_names_must_fit():
    with pytest.raises(ValueError, match="joint_names"):
        RobotModel(random_chain(6, seed=1).model().chain, ["a", "b"])


def test_parameters_are_read_only(model):
    with pytest.raises(ValueError):
        model.inertial_parameters[0] = 1
