"""The scripts and the notebook of examples/ run, and show what they claim."""

import json
import runpy
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from core_build import CMAKE, CORE, build, run

from robot_dynamics_ros.robot_file import load_robot

EXAMPLES = Path(__file__).parents[1] / "examples"


def script(name):
    return SimpleNamespace(**runpy.run_path(str(EXAMPLES / f"{name}.py")))


@pytest.mark.parametrize("robot", ["ur5e", "panda"])
def test_inspect_prints_the_robot_and_its_dynamics(robot, capsys):
    script("inspect_robot").main(robot)
    printed = capsys.readouterr().out
    assert f"<RobotFile {robot}" in printed and "gravity torque [Nm]" in printed


def test_inspect_says_in_one_line_what_is_not_known_of_a_robot(capsys):
    with pytest.raises(SystemExit, match="comau_ns16"):
        script("inspect_robot").main("comau_ns16")
    assert "<RobotFile comau_ns16" in capsys.readouterr().out


def test_inspect_says_which_robots_are_known():
    with pytest.raises(SystemExit, match="nosuch.*known: .*ur5e"):
        script("inspect_robot").main("nosuch")


@pytest.mark.long
def test_identification_from_a_bag_of_the_simulated_robot_predicts_another(tmp_path):
    assert script("identify_simulated").main(str(tmp_path), duration=15.0) > 0.95
    assert (tmp_path / "ur5e_identified.yaml").is_file()


def test_the_push_is_seen_and_drawn(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is in the reports extra")
    module = script("replay_force")
    log = module.main(str(tmp_path / "force.png"))
    pushed = log.external_wrench[3000:4000, 0].mean()
    assert abs(pushed - module.PUSH) < 0.25 * module.PUSH
    assert (tmp_path / "force.png").read_bytes().startswith(b"\x89PNG")


def test_a_bag_that_cannot_be_read_is_one_line(monkeypatch):
    monkeypatch.setattr("sys.argv", ["replay_force.py", "force.png", "nosuch"])
    with pytest.raises(SystemExit, match="nosuch: no such file or directory"):
        runpy.run_path(str(EXAMPLES / "replay_force.py"), run_name="__main__")


def test_the_loop_detects_the_collision_and_nothing_before():
    first = script("live_force").main()
    assert first is not None and 3.0 < first < 3.2


def test_feedback_unloads_the_wall_and_is_silent_before():
    without, with_feedback, free = script("force_feedback").main()
    assert with_feedback < 0.5 * without and free < 0.2


@pytest.mark.long
@pytest.mark.parametrize("rate", [30.0, 200.0])
def test_a_servo_arm_with_currents_only_is_identified_and_its_deviations_are_honest(rate, capsys):
    figures = script("servo_arm").main(rate)
    assert capsys.readouterr().out.startswith(f"{1000 / round(1000 / rate):g} Hz, ")  # of 1 kHz every so many samples
    for state in ("moving", "at rest", "pushed"):
        rms, std, within = figures[state]
        least = {"moving": 0.8, "at rest": 0.93, "pushed": 0.95}[state]
        assert rms < 3.5 and rms < 2.5 * std and within > least
    seen, false, _ = figures["contact"]
    assert seen > 0.7 and false < 0.03


@pytest.mark.parametrize("rate", ["0", "nan", "-5"])
def test_a_rate_that_no_bus_has_is_refused(rate, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["servo_arm.py", rate])
    with pytest.raises(SystemExit):
        runpy.run_path(str(EXAMPLES / "servo_arm.py"), run_name="__main__")
    assert f"rate: {rate} Hz must be within 20..500" in capsys.readouterr().err


def test_the_code_cells_of_the_notebook_run():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is in the reports extra")
    pytest.importorskip("pandas", reason="pandas is an extra")
    matplotlib.use("Agg")
    notebook = json.loads((EXAMPLES / "force_estimation.ipynb").read_text(encoding="utf-8"))
    names = {}
    for number, cell in enumerate(c for c in notebook["cells"] if c["cell_type"] == "code"):
        assert cell["outputs"], "run: jupyter nbconvert --to notebook --execute --inplace NOTEBOOK"
        assert ".yaml" not in str(cell["outputs"]), "a path of the machine that ran it"
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
    matplotlib.pyplot.close("all")
    pushed = slice(2500, 3000)
    assert np.abs(names["force"][pushed].mean() - 40.0) < 10.0
    assert len(names["tau"]) == len(names["log"])


@pytest.mark.long
@pytest.mark.skipif(CMAKE is None, reason="cmake is not installed")
def test_friction_in_mujoco_without_python_is_that_of_the_callback_in_python(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    from robot_dynamics_ros.estimators.core_file import core_text
    from robot_dynamics_ros.estimators.mujoco_friction import MujocoFriction
    from robot_dynamics_ros.models.mjcf_writer import mjcf_text

    robot, folder = load_robot("ur5e"), Path(mujoco.__file__).parent
    model, program = tmp_path / "arm.xml", tmp_path / "mujoco_friction"
    model.write_text(mjcf_text(robot, "none"))
    (tmp_path / "arm.core").write_text(core_text(robot))
    library, core = next(folder.glob("libmujoco.so*")), build("core") / "librobot_dynamics_core.a"
    headers = f"-I{CORE / 'include'}", f"-I{folder / 'include'}"
    source = EXAMPLES / "mujoco_friction.cpp"
    flags = "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"
    run("c++", *flags, *headers, source, core, library, f"-Wl,-rpath,{folder}", "-lpthread", "-o", program)

    compiled = mujoco.MjModel.from_xml_path(str(model))
    data = mujoco.MjData(compiled)
    data.qpos[:] = 0.5
    mujoco.set_mjcb_passive(MujocoFriction(robot))
    try:
        mujoco.mj_step(compiled, data, nstep=500)
    finally:
        mujoco.set_mjcb_passive(None)
    done = subprocess.run([program, model, tmp_path / "arm.core", "0.5"], capture_output=True, text=True, check=True)
    np.testing.assert_allclose(np.array(done.stdout.split(), float), data.qpos, rtol=1e-9)
    refused = subprocess.run([program, model, "absent.core", "0.5"], capture_output=True, text=True)
    assert refused.returncode == 1 and refused.stderr == "error: absent.core: cannot be read\n"
