"""Every array argument of the compiled core refuses a wrong type by name; no result is lost in a converted copy.

The walk starts with float32 everywhere and mends what the errors name, until every array was named once.
"""

import re

import numpy as np
import pytest

from robot_dynamics_ros import _core
from robot_dynamics_ros.control import torque
from robot_dynamics_ros.drivers.guard import guard_limits
from robot_dynamics_ros.models.energy import EnergyModel
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import maxwell_slip
from robot_dynamics_ros.robot_file import load_robot

N = 6
ROBOT = load_robot("ur5e")
ONE, ROW = np.ones(N), np.ones((N, 1))
MAP = FrictionModel.from_robot(ROBOT).core
PRESLIDING = [9.0, 1, 1, 1, 0, 0, 0, 0.3, 0, 0, 2e-3, 0, 0, 0, 0, 1e-4]
HEAT = np.tile([0.01, 0.01, 0.01, 0.01], (N, 1))

INSTANCES = {
    "SavitzkyGolay": lambda: _core.SavitzkyGolay(N, 5, 2),
    "ComputedTorque": lambda: torque.tracking(ROBOT),
    "HandGuiding": lambda: torque.guiding(ROBOT),
    "FrictionFeedforward": lambda: torque.friction_feedforward(ROBOT),
    "TorqueLoop": lambda: torque.torque_loop(ROBOT, guard_limits(ROBOT)),
    "Guard": lambda: _core.Guard(guard_limits(ROBOT)),
    "FrictionMap": lambda: MAP,
    "Gms": lambda: maxwell_slip(N),
    "Friction": lambda: _core.Friction(MAP, ROW, ROW, ROW, np.tile(PRESLIDING, (N, 1))),
    "PeriodicTable": lambda: _core.PeriodicTable(ROW),
    "TemperatureObserver": lambda: _core.TemperatureObserver(MAP, HEAT, ONE),
    "MeasuredTemperature": lambda: _core.MeasuredTemperature(N),
    "StiffnessEstimator": lambda: _core.StiffnessEstimator(np.zeros((N, 3)), np.zeros((N, 1))),
    "RotorFrictionObserver": lambda: _core.RotorFrictionObserver(ONE, ONE),
    "PowerMeter": lambda: EnergyModel.from_robot(ROBOT).meter(),
    "StreamMonitor": _core.StreamMonitor,
    "FrictionStage": lambda: _core.FrictionStage(MAP),
    "MotionState": lambda: _core.MotionState(ROBOT.chain()),
    "SignalAlignment": lambda: _core.SignalAlignment(N),
    "RigidBody": lambda: _core.RigidBody(ROBOT.chain()),
}
PLAIN = {"stamp_ns": 10**9, "steady_ns": 10**9, "now_ns": 10**9, "step_ns": 10**6, "dt": 0.01, "frozen": False}
PLAIN |= {"saturated": False, "includes_gravity": True, "link_side": False, "temperature_band": 5.0, "warn": 0.1}
PLAIN |= {"N": 3, "time": 0.1, "moving": False, "safety_mode": 1, "error": 0.3, "hold": 1.0, "temperature": 25.0}


def split(text):
    """Arguments of a signature; commas inside brackets do not count."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "[(") - (c in "])")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def signature(function):
    """Names of the arguments; those that may be arrays."""
    inside = re.match(r"\w+\((.*)\) -> ", function.__doc__.splitlines()[0]).group(1)
    names, arrays, rest = [], [], split(inside)
    for part in rest:
        name, _, kind = part.partition(":")
        if name in ("self", "*", "/"):
            continue
        optional = "= None" in kind and "ray" not in kind and "object" in kind
        if "Annotated" in kind or "ndarray" in kind.lower() or (kind.strip().startswith("object") and not optional):
            arrays.append(name)
            names.append(name)
        elif "=" not in kind:
            names.append(name)
    return names, arrays


def methods():
    for kind in sorted(INSTANCES):
        for name, function in vars(getattr(_core, kind)).items():
            doc = getattr(function, "__doc__", None) or ""
            if name.startswith("_") or not doc.startswith(f"{name}(self") or "*args" in doc:
                continue  # arguments without names: test_pipeline_feedback and below
            if "Annotated" in doc.splitlines()[0] or ": object" in doc.splitlines()[0]:
                yield f"{kind}.{name}"


def walk(call, names, arrays):
    """Names of the arguments whose type was refused."""
    given = {name: np.ones(N, dtype=np.float32) for name in arrays}
    given |= {name: PLAIN[name] for name in names if name not in arrays}
    refused = []
    for _ in range(4 * len(arrays) + 4):
        try:
            call(**given)
            return refused
        except TypeError as error:
            name = re.match(r"(\w+)", str(error)).group(1)
            wanted = np.int64 if "int64" in str(error) else np.float64
            assert name in arrays and given[name].dtype == np.float32, str(error)
            refused.append(name)
            given[name] = given[name].astype(wanted)
        except ValueError as error:
            if turned := re.match(r"(\w+) is not Fortran-contiguous", str(error)):
                given[turned.group(1)] = np.asfortranarray(given[turned.group(1)])
                continue
            found = re.match(r"(\w+)(?:\[.*\])? (?:has shape .* expected \((.*)\)|is )", str(error))
            assert found and found.group(2), str(error)
            shape = [3 if size == "N" else int(size) for size in found.group(2).replace(" ", "").split(",") if size]
            given[found.group(1)] = np.ones(shape, dtype=given[found.group(1)].dtype)
    raise AssertionError(f"no end: {refused}")


@pytest.mark.parametrize("method", list(methods()))
def test_every_array_is_refused_by_name(method):
    kind, name = method.split(".")
    function = getattr(_core, kind).__dict__[name]
    names, arrays = signature(function)
    instance = maxwell_slip(1) if name == "deflections" else INSTANCES[kind]()
    refused = walk(getattr(instance, name), names, arrays)
    assert sorted(refused) == sorted(arrays)


@pytest.mark.parametrize("kind", [kind for kind in INSTANCES if "rows" in vars(getattr(_core, kind))])
def test_arrays_of_a_stage_are_refused_by_name(kind):
    """Those of step() and, with N rows, of rows(); FrictionStage, whose rows() takes others: test_pipeline_feedback."""
    stage = INSTANCES[kind]()
    names = re.search(r"step\(stamp_ns, (.*)\)\. ", type(stage).step.__doc__).group(1).split(", ")
    for call in (stage.step,) if kind == "FrictionStage" else (stage.step, stage.rows):
        with pytest.raises(TypeError, match="arrays"):
            call(3, ONE)
        given = [ONE.astype(np.float32)] * len(names)
        for k, name in enumerate(names):
            with pytest.raises(TypeError, match=f"^{name} must be"):
                call(3, *given)
            with pytest.raises(ValueError, match=f"^{name} has shape") as wrong:
                call(3, *given[:k], np.zeros((1, 1, 1)), *given[k + 1 :])
            shape = [int(size) for size in re.search(r"expected \((.*)\)", str(wrong.value)).group(1).split(",")]
            given[k] = np.ones(shape)


def test_every_class_with_array_methods_is_walked():
    of_their_own = "Chain FusedQR ExternalForce Plant TorqueTrajectory RtdeReader".split()  # tests
    known = {*INSTANCES, *of_their_own}
    for kind, cls in vars(_core).items():
        docs = [getattr(f, "__doc__", None) or "" for name, f in getattr(cls, "__dict__", {}).items() if name[0] != "_"]
        if any("Annotated[" in doc.split(" -> ")[0] for doc in docs):
            assert kind in known, kind


def friction(theta, out):
    INSTANCES["Friction"]().step(0, theta, ONE, None, None, out)


def test_an_output_that_would_be_copied_or_is_read_only_is_refused():
    with pytest.raises(ValueError, match="friction must be a C-contiguous float64 array"):
        friction(ONE, np.zeros((N, 2))[:, 0])
    fixed = np.zeros(N)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="friction is read-only"):
        friction(ONE, fixed)


def test_lists_and_views_are_fine_as_inputs():
    one, same = np.zeros(N), np.zeros(N)
    friction([1e-3] * N, one)
    friction(np.full((N, 2), 1e-3)[:, 0], same)
    assert (one == same).all()
