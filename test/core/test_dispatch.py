"""The environment chooses the instruction set, and says so when it cannot."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from chains import random_chain

from robot_dynamics_ros import _core
from robot_dynamics_ros.models import RobotModel

OBJECTS = sorted((Path(__file__).resolve().parents[2] / "build").glob("temp*/cpp_core/**/*.o"))


@pytest.fixture
def selected():
    before = _core.isa()
    yield
    _core.select_isa(before)


def isa_with(value):
    code = "from robot_dynamics_ros import _core; print(_core.isa())"
    environment = {**os.environ, "ROBOT_DYNAMICS_ISA": value}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)


@pytest.mark.parametrize("name", _core.available_isas())
def test_environment_forces_an_instruction_set(name):
    run = isa_with(name)
    assert run.stdout.strip() == name
    assert run.stderr == ""


def test_an_unavailable_name_is_reported_and_another_set_is_used():
    run = isa_with("avx1024")
    assert run.stdout.strip() in _core.available_isas()
    assert "ROBOT_DYNAMICS_ISA = 'avx1024' is not available" in run.stderr


def test_selecting_an_unknown_name_is_an_error():
    before = _core.isa()
    with pytest.raises(ValueError, match="isa = 'mmx'"):
        _core.select_isa("mmx")
    assert _core.isa() == before


def test_the_fused_sets_give_the_same_bits(selected):
    """AVX2 or AVX-512 is chosen by a measurement: it must not change a result."""
    fused = [name for name in _core.available_isas() if name.startswith("avx")]
    if len(fused) < 2:
        pytest.skip("this processor has no AVX-512")
    body, (q, qd, qdd) = RobotModel.load("ur5e"), np.random.default_rng(0).normal(size=(3, 131, 6))
    tilted = random_chain(6, seed=3).model()  # no right angles
    many = np.random.default_rng(1).normal(size=(3, 4001, 6))
    stacks = [[q, qd, qdd], many[:, :4000], many]  # in the cache, beyond it by lines, and beginning anywhere in a line
    results = []
    for name in fused:
        _core.select_isa(name)
        single = [body.rnea(q[0], qd[0], qdd[0]), body.mass_matrix(q[0]), body.jacobian(q[0])]
        weights = np.asfortranarray(np.ones((6 * 131, 60)))
        gradient = body.regressor_gradient(q, qd, qdd, weights)
        wrench = _core.invert_wrench(body.chain, q[0], qd[0], np.full(6, 0.5))
        force = _core.invert_wrench(body.chain, q[0], qd[0], np.full(6, 0.5), expected_moment=0.0)
        results.append([body.rnea(q, qd, qdd), body.regressor(q, qd, qdd), body.fk(q), *gradient, *single])
        qr = _core.FusedQR(body.chain, range(60), 2)
        qr.update(q, qd, qdd, qd, np.stack([qd, qdd], axis=2), weights=np.abs(q))
        results[-1] += [*(qr.triangle(j) for j in range(6)), *body.torque_gradient(q, qd, qdd, qd)]
        results[-1] += [*wrench, *force, tilted.rnea(q, qd, qdd), *(body.stacked_regressor(*x) for x in stacks)]
    assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True))


@pytest.mark.skipif(not OBJECTS or shutil.which("g++") is None, reason="the core was not compiled here with g++")
@pytest.mark.parametrize("kept", [(), ("avx2",), ("baseline", "avx512")])
def test_a_core_may_hold_some_sets_only(kept, tmp_path):
    """As `make demo` links it: one set works, and none is an error of the import."""
    if not {f"kernel_{name}" for name in kept} <= {o.stem for o in OBJECTS}:
        pytest.skip("these kernels were not compiled")
    names = {"baseline": _core.available_isas()[0]}
    wanted = [names.get(name, name) for name in kept if names.get(name, name) in _core.available_isas()]
    sources = [*(f"unit_{name}" for name in ("control", "estimators", "models")), "dispatch"]
    chosen = [o for o in OBJECTS if o.stem in (*sources, *(f"kernel_{name}" for name in kept))]
    target = tmp_path / f"_core{sysconfig.get_config_var('EXT_SUFFIX')}"
    subprocess.run(["g++", "-shared", *chosen, "-lrt", "-o", target], check=True, timeout=120)
    code = "import _core; print(*_core.available_isas()); assert _core.isa() in _core.available_isas()"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    if wanted:
        assert run.returncode == 0 and run.stdout.split() == wanted, run.stderr
    else:
        assert "the core holds no kernels for this processor" in run.stderr and run.returncode == 1
