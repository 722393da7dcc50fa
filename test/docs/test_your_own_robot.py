"""docs/your_own_robot.md, command by command, on a seven-axis URDF that the package does not ship."""

import inspect
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from command_line import printed
from synthetic import excitation, synthetic_log, truth_of

from robot_dynamics_ros.bags import load_bag, write_bag
from robot_dynamics_ros.identification.excitation import design_fourier
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.urdf_import import robot_from_urdf

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "your_own_robot.md").read_text(encoding="utf-8")
PUSH = np.array([15.0, -10.0, 20.0, 0.0, 0.0, 0.0])  # N, environment on robot at the TCP, base axes
PUSHED = slice(1000, 1800)  # samples at 125 Hz
DURATION = 16.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the newcomer works: the URDF, and the bags that the real arm (heavier, with friction) would have given."""
    folder = tmp_path_factory.mktemp("own")
    shutil.copy(Path(__file__).with_name("own_arm.urdf"), folder / "my_arm.urdf")
    robot = robot_from_urdf(folder / "my_arm.urdf", torque_side="motor", effort_unit="Nm", tip="tool0")
    truth = truth_of(robot, seed=3, scale=1.12)
    for seed, name in ((5, "first"), (6, "second"), (7, "pushed")):
        log = synthetic_log(robot, truth, seed, duration=DURATION, noise=0.005, amplitude=0.6)
        if name == "pushed":
            q = excitation(robot.n_joints, DURATION, 125.0, seed, 0.6)[1]
            jacobian = RobotModel(robot.kinematic_chain()).jacobian(np.ascontiguousarray(q[PUSHED]))
            log.effort[PUSHED] -= np.einsum("kji,j->ki", jacobian, PUSH)  # drives take what the environment adds
        write_bag(log, folder / name, topics=["joint_states"])
    return folder


def commands():
    """Lines of the page's bash blocks."""
    return [line for block in re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


@pytest.mark.long
def test_the_page_leads_from_a_urdf_to_the_force(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert commands()
    for line in commands():
        program, *arguments = line.split()
        assert program == "robot-dynamics"
        printed(*arguments)
    summary = json.loads(Path("result/replay.json").read_text())
    assert summary["samples"] == 2000
    assert np.abs(np.array(list(summary["wrench_in_contact"].values()))[:3] - PUSH[:3]).max() < 4.0
    log, _ = load_bag("result/estimates")
    force, std = log.external_wrench[PUSHED][200:, :3].mean(axis=0), log.external_wrench_std[PUSHED][200:, :3]
    assert np.abs(force - PUSH[:3]).max() < 4.0, force
    assert np.abs(log.external_wrench[500:900, :3].mean(axis=0)).max() < 4.0
    assert np.all(std.mean(axis=0) < 30.0)
    assert np.mean(log.contact[PUSHED][200:, -1]) > 0.5 > np.mean(log.contact[500:900, -1])


def test_the_page_names_the_duration_that_excite_makes():
    duration = inspect.signature(design_fourier).parameters["duration"].default
    assert f"The {duration:g} s of `excite` are enough" in PAGE
