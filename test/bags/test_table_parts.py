"""Tables that are parts of one recording: their clocks, their order, their joints."""

import numpy as np
import pytest
from command_line import robot_dynamics
from table_files import RATE, N, assert_holds, motion, write_csv

from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.bags.wrench import load_wrench
from robot_dynamics_ros.errors import DataError


@pytest.mark.parametrize(("again", "pause"), [(False, 1 / RATE), (True, 1.0)])
def test_tables_that_are_parts_of_a_recording_follow_each_other(tmp_path, again, pause):
    """By their clocks, in any order; where a clock starts again, a second later. A bag of them has every row."""
    t, q, qd, tau = motion(3)
    half, parts = N // 2, []
    for k, rows in enumerate((slice(0, half), slice(half, N))):
        clock = t[rows] - (t[rows][0] if again else 0.0)
        columns = {"t": clock, "q{}": q[rows], "qd{}": qd[rows], "tau{}": tau[rows], "F{}": np.full((half, 6), k)}
        parts.append(write_csv(tmp_path / f"{k}.csv", columns))
    log, report = load_bag(parts if again else parts[::-1])
    assert_holds(log, q=q)
    assert (np.diff(log.stamp_ns) > 0).all() and np.diff(log.time)[half - 1] == pytest.approx(pause)
    assert any("starts again 1 times" in note for note in report.notes) == again
    wrench = load_wrench(parts, "F0..F5", log, report.stamps)
    np.testing.assert_array_equal(wrench.stamp_ns, log.stamp_ns)
    np.testing.assert_array_equal(wrench.wrench[:, 0], np.repeat([0.0, 1.0], half))
    assert robot_dynamics("import", *parts, "--out", tmp_path / "bag").exit_code == 0
    assert len(load_bag(tmp_path / "bag")[0]) == N


@pytest.mark.parametrize("wrong", [0.0, -40.0, 1000.0, np.nan])
@pytest.mark.parametrize("begin", [50.0, 50_000.0, 1.7e9])
def test_a_single_time_that_jumps_costs_its_row_and_moves_no_other(tmp_path, wrong, begin):
    """The rows behind it were a part of their own, by the jump and a second later: by 51 s, or by a day."""
    t, q, _, tau = motion(2)
    clock = begin + t
    clock[N // 2] = wrong
    file = write_csv(tmp_path / "run.csv", {"t": clock, "q{}": q, "tau{}": tau, "F{}": np.tile(tau[:, :1], 6)})
    log, report = load_bag(file)
    rest = np.delete(np.arange(N), N // 2)
    assert_holds(log, q=q[rest])
    np.testing.assert_allclose(log.time, t[rest], atol=1e-3)
    assert not any("again" in note for note in report.notes) and list(report.dropped.values()) == [1]
    np.testing.assert_array_equal(load_wrench([file], "F0..F5", log, report.stamps).stamp_ns, log.stamp_ns)


@pytest.mark.parametrize("again", [True, False])
def test_parts_stay_in_the_order_in_which_they_are_given_and_may_share_a_row(tmp_path, again):
    """The first begins later on its clock than the second, whose clock starts again; or its last row is the second's
    first.
    """
    t, q, qd, tau = motion(3)
    parts = []
    for k, begin in enumerate((0.01, 0.0) if again else (0.0, t[-1])):
        columns = {"t": begin + t, "q{}": q + k * (q[-1] - q[0]), "qd{}": qd, "tau{}": tau}
        parts.append(write_csv(tmp_path / f"{k}.csv", columns))
    log, report = load_bag(parts)
    assert len(log) == 2 * N - (not again) and (np.diff(log.stamp_ns) > 0).all()
    np.testing.assert_allclose(log.q[:N], q, atol=1e-9)
    assert any("starts again" in note for note in report.notes) == again


@pytest.mark.parametrize(("units", "whole"), [(("A", "Nm"), False), (("Nm", "%"), False), (("Nm", "mNm"), True)])
def test_parts_whose_efforts_have_different_units_are_no_recording(tmp_path, units, whole):
    """Ampere and newton metres stood in one column, in the unit of the last part."""
    t, q, _, tau = motion(2)
    parts = [
        write_csv(tmp_path / f"{k}.csv", {"t": t + 10 * k, "q{}": q, f"effort{{}} [{unit}]": tau})
        for k, unit in enumerate(units)
    ]
    if whole:
        np.testing.assert_allclose(load_bag(parts)[0].effort, np.vstack([tau, 1e-3 * tau]))
    else:
        with pytest.raises(DataError, match=f"^{parts[1]}: unit of the effort is not that of .*[(]{units[1]}[)]"):
            load_bag(parts)


def test_a_part_with_other_joints_is_named(tmp_path):
    paths = []
    for n in (3, 2):
        t, q, *_ = motion(n)
        paths.append(write_csv(tmp_path / f"{n}.csv", {"t": t, "q{}": q}))
    result = robot_dynamics("import", *paths, "--out", tmp_path / "bag")
    assert isinstance(result.exception, DataError) and str(result.exception).startswith(f"{paths[1]}: joint 'joint3'")
    assert str(paths[0]) in str(result.exception)
    t, q, *_ = motion(2)
    first = write_csv(tmp_path / "first.csv", {"t": t - 100.0, "q{}": q})
    log, report = load_bag([first, paths[0]], require=())
    assert log.joint_names == ("joint1", "joint2") and len(log.stamp_ns) == 2 * N
    assert f"{paths[0]}: joint3 not read, because {first} has no such joint" in report.notes
