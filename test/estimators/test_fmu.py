"""The exported unit inside another tool: the same wrench as the pipeline, and a whole model description."""

import numpy as np
import pytest
from click.testing import CliRunner
from force_bench import measured, moving

from robot_dynamics_ros.cli.export import command
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.estimators.core_file import STAGES
from robot_dynamics_ros.estimators.fmu import write_fmu
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import WRENCH_AXES

pytest.importorskip("pythonfmu", reason="pythonfmu is not installed")
fmpy = pytest.importorskip("fmpy", reason="fmpy is not installed")
PERIOD = 0.002  # s


@pytest.fixture(scope="module")
def unit(tmp_path_factory):
    path = tmp_path_factory.mktemp("fmu") / "ur5e.fmu"
    done = CliRunner().invoke(command, ["ur5e", "--format", "fmu", "--out", str(path)], catch_exceptions=False)
    assert done.exit_code == 0 and "needs a Python" in done.output
    return path


def test_the_description_names_every_variable(unit):
    described = fmpy.read_model_description(str(unit), validate=True)
    names = {v.name: v.causality for v in described.modelVariables}
    assert names["q[1]"] == names["qd[6]"] == names["effort[3]"] == "input" and len(names) == 18 + 12 + 1
    assert names["wrench.Fx"] == names["wrench_std.Mz"] == names["contact"] == "output"


def test_a_tool_gets_the_wrench_of_the_pipeline(unit):
    log = measured(moving(1.0), noise=0.05)
    signals = [(f"{name}[{i + 1}]", getattr(log, name)[:, i]) for name in ("q", "qd", "effort") for i in range(6)]
    times = PERIOD * np.arange(len(log))
    given = np.zeros(len(log), dtype=[("time", float), *((name, float) for name, _ in signals)])
    given["time"] = times
    for name, values in signals:
        given[name] = values
    outputs = [f"wrench.{axis}" for axis in WRENCH_AXES]
    found = fmpy.simulate_fmu(
        str(unit), stop_time=times[-1], step_size=PERIOD, output_interval=PERIOD, input=given, output=outputs
    )
    log.stamp_ns[:] = np.round(1e9 * (times + PERIOD)).astype(np.int64)
    Pipeline(load_robot("ur5e"), stages=STAGES).run(log)
    ours = log.external_wrench[:-1]
    theirs = np.column_stack([found[name] for name in outputs])[1 : len(ours) + 1]
    known = np.isfinite(ours).all(axis=1)
    assert known.sum() > 300
    np.testing.assert_allclose(theirs[known], ours[known], atol=1e-9)


def test_what_cannot_become_a_unit_is_refused(tmp_path, monkeypatch):
    arguments = ["ur5e", "--format", "fmu", "--out", str(tmp_path / "a.zip")]
    with pytest.raises(ConfigError, match=r"\.fmu"):
        CliRunner().invoke(command, arguments, catch_exceptions=False)
    monkeypatch.setitem(__import__("sys").modules, "pythonfmu", None)
    with pytest.raises(CapabilityError, match="needs pythonfmu"):
        write_fmu(load_robot("ur5e"), tmp_path / "a.fmu")
