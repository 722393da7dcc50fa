"""The core validates its arguments and documents every public name; its typed face, _core.pyi, says what it offers."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from robot_dynamics_ros import _core

ROOT = Path(__file__).resolve().parents[2]
WRITER = ROOT / "cpp_core" / "bindings" / "write_stub.py"
STUB = ROOT / "robot_dynamics_ros" / "_core.pyi"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def test_chain_names_the_wrong_argument():
    eye = np.eye(4)
    with pytest.raises(ValueError, match="inertia"):
        _core.Chain(eye[None], np.zeros((1, 9)), eye, np.zeros(3))


def test_a_stage_that_is_none_is_refused():
    with pytest.raises(ValueError, match="stage"):
        _core.run_in_turn(np.arange(3), [None])


FRICTION = _core.FrictionMap("viscous_coulomb", np.array([[1.0, 2, 0, 1e-3, 0, 1, 0, 1]]), np.array([25.0]))
MADSEN = np.array([[1, 1.2, 0.1, 1, 1, 0, 0, 0, 0.1, 10, 0, 1e-3, 0, 1, 0, 1.0]])
SIX = _core.Gms(np.tile([0.1, 1.0], (6, 1)), np.tile([5.0, 0.5], (6, 1)), np.full((6, 1), 1e-3))
EYE, ONE, LINK = np.eye(4), np.ones(1), np.zeros((1, 10))
CHAIN = _core.Chain(EYE[None], LINK, EYE, np.zeros(3))
HEAT = np.array([[100.0, 1.0, 0.0, 0.0]])


def stiffness(joints=(0.0, 0.0, 0.0), **options):
    rows = np.reshape(joints, (-1, 3)).astype(float)
    return _core.StiffnessEstimator(rows, np.zeros((len(rows), 1)), **options)


def temperature(gain=1.0, **options):
    return _core.TemperatureObserver(FRICTION, HEAT, np.array([gain]), **options)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: FRICTION.coulomb(1, 1.0, 25.0), "joint = 1 is outside 0..0"),
        (lambda: FRICTION.viscous(-1, 1.0, 25.0), "joint = -1 is outside 0..0"),
        (lambda: stiffness().covariance(1), "joint = 1 is outside 0..0"),
        (lambda: _core.Friction.egms(FRICTION, SIX, ONE, ONE, np.zeros((1, 1))), "joints of gms = 6 is outside 1..1"),
        (
            lambda: _core.FrictionMap("madsen", MADSEN, np.array([25.0]), np.array([[-20.0, 0.0]])),
            "joint 1: temperature_range upper = 0.000000 is not >= 1",
        ),
        (lambda: _core.gms_spacing(4, np.inf, 2.0), "r_D = inf must be finite and > 0"),
        (lambda: stiffness((0, 0, 0, -1, 0, 0)), r"rotor_inertia\[1\] = -1 is outside 0..10000"),
        (lambda: stiffness(link_std=-1.0), "link_std = -1.000000 must be > 0"),
        (lambda: stiffness(explained=np.nan), "explained = nan is outside 0..1"),
        (lambda: stiffness(learn_time=np.nan), "learn_time = nan must be >= 0"),
        (lambda: stiffness().set_baseline(np.array([[1.0, np.nan]]), 25.0, 0.1, 0.2, 1.0), r"baseline\[1\] = nan"),
        (lambda: _core.RotorFrictionObserver(ONE, ONE * np.inf), r"L\[0\] = inf must be finite and > 0"),
        (lambda: temperature(np.inf), r"gain\[0\] = inf must be finite and >= 0"),
        (lambda: temperature(low=50.0), "ambient = 25 is outside 50..120"),
        (lambda: temperature(moving=-1.0), "moving = -1.000000 must be > 0"),
        (lambda: temperature().set_initial(0, 500.0, 20.0, 1.0), "lubricant = 500 is outside -20..120"),
        (lambda: _core.Chain(EYE[None], LINK * np.nan, EYE, np.zeros(3)), r"inertia\[0, 0\] is nan"),
        (lambda: _core.Chain(EYE[None], LINK, np.full((4, 4), np.inf), np.zeros(3)), r"tool\[0, 0\] is inf"),
        (lambda: _core.MotionState(CHAIN, acceleration_cutoff=-1.0), "acceleration_cutoff = -1 is outside"),
        (lambda: _core.ExternalForce(CHAIN, wrench_cutoff=-1.0), "wrench_cutoff = -1 is outside"),
        (lambda: _core.ExternalForce(CHAIN, recent_error=-1.0), "recent_error = -1 is outside"),
    ],
)
def test_a_refused_argument_is_named_with_its_value_and_bound(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def description(value):
    """Docstring of a class or property; of a function what follows its signature.

    Before Python 3.12 the None of the type hides the docstring of a static property.
    """
    text = value.__doc__ or (vars(property)["__doc__"].__get__(value) if isinstance(value, property) else "")
    return text if isinstance(value, type | property) else "".join(text.splitlines(keepends=True)[1:])


def public_names():
    """(name, docstring) of functions, classes, methods and properties."""
    for name, value in vars(_core).items():
        if name.startswith("_") or not callable(value):
            continue
        yield name, description(value)
        members = {} if not isinstance(value, type) or hasattr(value, "__members__") else vars(value)
        yield from ((f"{name}.{k}", description(v)) for k, v in members.items() if not k.startswith("_"))


def test_every_public_name_has_a_docstring():
    found = dict(public_names())
    assert len(found) > 250
    assert [name for name, text in found.items() if not text.strip()] == []


def test_a_trajectory_is_validated_by_the_core():
    rows = np.zeros((3, 2))
    bad = rows.copy()
    bad[1, 1] = np.nan
    for rate, qd, match in ((0.0, rows, "rate"), (500.0, bad, "not finite"), (500.0, rows[:2], "qd has shape")):
        with pytest.raises(ValueError, match=match):
            _core.TorqueTrajectory(rows, qd, rows, rate)
    with pytest.raises(ValueError, match="no rows"):
        _core.TorqueTrajectory(rows[:0], rows[:0], rows[:0])


def face(text):
    """Names of a stub: functions and methods with their parameters and result, properties, enum members."""
    found = set()

    def collect(body, prefix=""):
        for node in body:
            if isinstance(node, ast.ClassDef):
                found.add(node.name)
                collect(node.body, f"{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                returns = node.returns and ast.unparse(node.returns)
                found.add(f"{prefix}{node.name}({ast.unparse(node.args)}) -> {returns}")
            elif isinstance(node, ast.AnnAssign):
                found.add(f"{prefix}{ast.unparse(node.target)}: {ast.unparse(node.annotation)}")

    collect(ast.parse(text).body)
    return found


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    pytest.importorskip("pybind11_stubgen", reason="pybind11-stubgen is in the dev extra")
    out = tmp_path_factory.mktemp("stub")
    command, place = [sys.executable, WRITER, out], {"cwd": ROOT, "env": ENVIRONMENT}
    done = subprocess.run(command, **place, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return (out / "robot_dynamics_ros" / "_core.pyi").read_text(encoding="utf-8")


def test_the_stub_is_what_the_core_offers(fresh):
    committed, compiled = face(STUB.read_text(encoding="utf-8")), face(fresh)
    assert committed == compiled, f"run: make stub; differing: {sorted(committed ^ compiled)[:6]}"
