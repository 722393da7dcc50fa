"""Reading the recordings of an arm that warms up, and what is said of them."""

import numpy as np
import pytest

from bench.evidence import warm_up
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.robot_file import load_robot

ROBOT = load_robot("ur10e")


def write(path, held, force):
    """A recording of 4 s: joint 1 turns at 0.1 rad/s, joint 2 is held by a current [A], the controller's Fz [N]."""
    rows = np.zeros((360, 31))
    rows[:, 0] = 11.0 * np.arange(360)
    rows[:, 1] = np.rad2deg(0.1e-3 * rows[:, 0])
    rows[:, 2:4], rows[:, 14], rows[:, 21] = (-90.0, 90.0), held, force
    np.savetxt(path, rows, delimiter=",")


def test_speed_force_and_correlation_of_a_made_up_drift(tmp_path):
    for minutes, held, force in ((0, 6.0, 5.0), (30, 7.0, -15.0), (60, 6.0, 5.0), (90, 7.0, -15.0)):
        write(tmp_path / f"Drift{minutes:02d}_NF_1.csv", held, force)
    log, vendor = warm_up.read(tmp_path / "Drift00_NF_1.csv", ROBOT.joint_names)
    np.testing.assert_allclose(log.qd[10:-10, 0], 0.1, rtol=1e-6)
    assert log.time[-1] == pytest.approx(3.949) and np.all(vendor[:, 2] == 5.0)
    found = warm_up.runs(ROBOT, tmp_path)
    assert [r.minutes for r in found] == [0, 30, 60, 90]
    assert warm_up.correlation(found)[0] == pytest.approx(-1.0)
    assert warm_up.table(found)[1][4] == "+0.0" and warm_up.table(found)[2][3] == "-15.0"


def test_a_directory_without_cold_recordings_is_refused(tmp_path):
    with pytest.raises(DataError, match="no Drift.*of 0 minutes"):
        warm_up.runs(ROBOT, tmp_path)
