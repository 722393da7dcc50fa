"""The Python of pages that leave the data to the reader, run on such data."""

import re

import numpy as np
import pytest
from core_build import ROOT

from robot_dynamics_ros.models import RobotModel

ARM = ROOT / "test" / "docs" / "own_arm.urdf"


def run(page, word, names):
    """The names after the only block of `page` that holds `word`."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    (block,) = (b for b in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if word in b)
    exec(compile(block, page, "exec"), names)
    return names


def waves(t, rate):
    return np.sin(rate * t[:, None] + np.arange(6))


def test_skew_of_encoders_is_found_and_removed():
    t = np.arange(0, 20, 0.001)
    q, torque = waves(t, 2.0), 40 * waves(t, 1.3)
    elastic = q + torque / 8000
    late = np.column_stack([np.interp(t + 8e-4, t, column) for column in elastic.T])
    found = run("stiffness.md", "estimate_skew", {"t": t, "theta": late, "q": q, "torque": torque})
    assert found["skew"] == pytest.approx(8e-4, rel=1e-3)
    assert np.abs(found["theta"] - elastic)[50:-50].max() < 2e-6


def test_friction_and_energy_of_the_page_on_joints():
    v = np.tile(np.geomspace(0.02, 2, 30), 2) * np.repeat([1, -1], 30)
    data = {"v": v, "torque": 5 * np.sign(v) + 3 * v, "load": 10 * np.cos(v), "temperature": 30 + v}
    assert run("joints.md", "fit_friction", data)["fit"].nrmse > 99
    t = np.arange(0, 2, 0.002)
    names = {"stamp_ns": (1e9 * t).astype(np.int64), "torque": 20 * waves(t, 1.0), "velocity": waves(t, 2.0)}
    assert run("joints.md", "EnergyModel", names)["energy"]


def test_least_squares_of_the_core_find_masses_and_friction():
    model, rng = RobotModel.from_urdf(str(ARM), tip="tool0"), np.random.default_rng(1)
    names = {"model": model, "columns": [60, 69]}
    for last in ("", "2"):
        q, qd, qdd = rng.normal(size=(3, 100, model.n_joints))
        extra = np.stack([qd, np.sign(qd), np.ones_like(qd)], axis=-1)
        tau = model.regressor(q, qd, qdd)[:, :, [60, 69]] @ [0.3, 2.0] + extra @ [1.5, 4.0, 0.2]
        data = {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "extra": extra}
        names |= {name + last: value for name, value in data.items()}
    assert np.allclose(run("core.md", "FusedQR", names)["x"], [0.3, 2.0, *[1.5, 4.0, 0.2] * model.n_joints])
