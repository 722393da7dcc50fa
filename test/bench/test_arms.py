"""Arms that are not shipped: their files pass `check`, and excitation and rehearsal run for each."""

from functools import partial

import numpy as np
import pytest

import robot_dynamics_ros.identification.excitation as excitation
from bench.arms.zoo import arms, run
from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.effort.joint_state import refuse
from robot_dynamics_ros.models.robot_report import report
from robot_dynamics_ros.robot_file import save_robot


def test_no_arm_raises_a_finding():
    assert {name: report(robot).findings for name, robot in arms().items()} == {name: [] for name in arms()}


@pytest.mark.long
@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize("name", arms())
def test_a_motion_is_found_and_its_rehearsal_is_a_recording(name, tmp_path, monkeypatch):
    """With a quarter of the steps of a search: how good a motion is, is not asked."""
    monkeypatch.setattr(excitation, "design_fourier", partial(excitation.design_fourier, effort=10))
    robot = arms()[name]
    save_robot(robot, tmp_path / "arm.yaml")
    run("excite", "--robot", tmp_path / "arm.yaml", "--out", tmp_path / "motion.csv")
    run("rehearse", tmp_path / "motion.csv", "--robot", tmp_path / "arm.yaml", "--out", tmp_path / "bag")
    log, _ = load_bag(tmp_path / "bag", robot=robot)
    refuse(log, robot, name)
    low, high = (robot.array(f"limits.position_{side}") for side in ("lower", "upper"))
    assert np.all((log.q > low) & (log.q < high)) and np.ptp(log.q, axis=0).min() > 0.2
