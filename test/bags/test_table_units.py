"""Units and clock of files of numbers: by name, by the numbers, or as the user says."""

import numpy as np
import pytest
from command_line import robot_dynamics
from table_files import N, assert_holds, motion, write_csv

from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.bags.table_log import TableOptions
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.replay import replay
from robot_dynamics_ros.robot_file import load_robot


@pytest.mark.parametrize("scale, unit", [(1.0, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")])
@pytest.mark.parametrize("velocity", ["rad", "deg"])
def test_units_that_no_name_states_come_from_the_numbers(tmp_path, scale, unit, velocity):
    t, q, qd, tau = motion(2)
    k = 180 / np.pi
    columns = {"time": scale * t, "q{}": k * q, "qd{}": k * qd if velocity == "deg" else qd, "tau{}": tau}
    log, report = load_bag(write_csv(tmp_path / "deg.csv", columns))
    assert_holds(log, q=q, qd=qd)
    np.testing.assert_allclose(log.time, t, atol=1e-6)
    assert f"time: time [{unit}]" in report.notes and any(note.endswith("[deg]") for note in report.notes)


@pytest.mark.parametrize("first, later", [(0.0, 1.0), (100.0, 1.0), (1_777_000_000.0, 0.0)])
def test_stamps_that_are_later_than_the_clock_of_the_file_are_said_to_be(tmp_path, first, later):
    t, q, qd, tau = motion(2)
    log, report = load_bag(write_csv(tmp_path / "run.csv", {"time": first + t, "q{}": q, "qd{}": qd, "tau{}": tau}))
    assert log.stamp_ns[0] * 1e-9 == pytest.approx(first + t[0] + later, abs=1e-3)
    assert any("1 s later than its time" in note for note in report.notes) == (later > 0)


@pytest.mark.parametrize("rows", [N, 20])
def test_a_bad_row_does_not_decide_the_unit(tmp_path, rows):
    t, q, qd, tau = (x[:rows].copy() for x in motion(2))
    q[rows // 2, 1] = 50.0
    log, report = load_bag(write_csv(tmp_path / "bad.csv", {"time": t, "q{}": q, "qd{}": qd, "tau{}": tau}))
    assert_holds(log, q=q, qd=qd)


FAULTS = {
    "every stamp twice": lambda t, qd: (np.repeat(t[::2], 2), qd),
    "a late stamp": lambda t, qd: (np.where(np.arange(N) == N // 2, 1e5, t), qd),
    "a stamp of zero": lambda t, qd: (np.where(np.arange(N) == N // 2, 0.0, t), qd),
    "a velocity of 500": lambda t, qd: (t, np.where(np.arange(N)[:, None] == N // 2, 500.0, qd)),
    "the other sign": lambda t, qd: (t, -qd),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("unit, k", [("rad", 1.0), ("deg", np.pi / 180)])
def test_a_fault_does_not_change_the_unit_of_the_velocity(tmp_path, fault, unit, k):
    t, q, qd, tau = motion(2)
    t, qd = FAULTS[fault](t, qd / k)
    _, report = load_bag(write_csv(tmp_path / "run.csv", {"time": t, "q{}[rad]": q, "qd{}": qd, "tau{}": tau}))
    assert f"qd: 2 columns qd0, qd1 [{unit}/s]" in report.notes


def test_a_refusal_names_the_unit_that_was_taken(tmp_path):
    t, q, qd, tau = motion(6)
    path = write_csv(tmp_path / "run.csv", {"time": t, "q{}": q, "qd{} [deg/s]": qd, "tau{}": tau})
    with pytest.raises(DataError, match=r"columns q \[rad\], qd \[deg/s\], effort \[Nm\]: .* times the travel"):
        replay([path], load_robot("ur5e"))


@pytest.mark.parametrize(
    "named, shown",
    [("j{}/effort", "unit not stated"), ("motorCurrent{}", "A"), ("torque{}", "Nm"), ("effort{} [A]", "A")],
)
def test_a_mere_effort_is_not_shown_as_a_torque_and_a_named_unit_of_time_not_twice(tmp_path, named, shown):
    t, q, qd, tau = motion(2)
    log, report = load_bag(write_csv(tmp_path / "run.csv", {"time [min]": t / 60, "q{}": q, "qd{}": qd, named: tau}))
    assert report.topic.endswith(f"effort [{shown}]") and "time: time [min]" in report.notes
    np.testing.assert_allclose(log.time, t, atol=1e-6)


@pytest.mark.parametrize(
    ("clock", "why"),
    [
        (lambda t: t[::-1], "no clock, it never rises"),
        (lambda t: np.float64(np.float32(1.76e9 + 30 * t)), "too coarse a clock, it rises at"),
        (lambda t: np.floor(30 * t / 50.0), "too coarse a clock, it rises at"),
    ],
)
def test_a_clock_that_runs_backwards_or_has_few_digits_is_refused(tmp_path, clock, why):
    """Seconds since 1970 in 32 bits rise every 128 s, which is a rate in ms; whole seconds are, too."""
    t, q, _, tau = motion(2)
    path = write_csv(tmp_path / "run.csv", {"time": clock(t), "q{}": q, "tau{}": tau})
    with pytest.raises(DataError, match=f"'time' is {why}"):
        load_bag(path)


def test_whole_nanoseconds_are_kept(tmp_path):
    """They were up to 128 ns off, the digits of a float."""
    t, q, _, tau = motion(6)
    stamps = 1_777_000_000_123_456_789 + np.round(1e9 * t).astype(np.int64)
    np.savez(tmp_path / "run.npz", time=stamps, q=q, tau=tau)
    assert np.array_equal(load_bag(tmp_path / "run.npz")[0].stamp_ns, stamps)


def test_a_clock_that_no_robot_has_is_refused_with_its_rate(tmp_path):
    t, q, _, tau = motion(2)
    columns = {"Time [sec]": 1e3 * t, "q{}": q, "tau{}": tau}
    path = write_csv(tmp_path / "ms.csv", columns)
    with pytest.raises(DataError, match=r"column 'Time \[sec\]' \[s\] gives 0.1 Hz, .* \(wrong unit\?\): .*--time HZ"):
        load_bag(path)
    beside = write_csv(tmp_path / "beside.csv", columns | {"time_ms": 1e3 * t})
    np.testing.assert_allclose(load_bag(beside)[0].time, t, atol=1e-6)


def test_a_number_is_a_rate_and_a_column_by_its_number_is_a_range(tmp_path):
    t, q, _, tau = motion(2)
    path = write_csv(tmp_path / "plain.csv", {"t": t, "q": q, "tau": tau}, header=False)
    words = ["import", str(path), "--map", "q=2-3,effort=4-5", "--out", str(tmp_path / "bag"), "--time"]
    refused = robot_dynamics(*words, "1")
    assert isinstance(refused.exception, DataError)
    assert str(refused.exception) == "--time 1: samples per second must be 5 to 10000; column 1 is --time 1-1"
    assert robot_dynamics(*words, "1-1").exit_code == 0
    np.testing.assert_allclose(load_bag(tmp_path / "bag")[0].time, t, atol=1e-6)


@pytest.mark.parametrize("name", ["torque{} [%]", "Axis{}_Torque_Pct", "current{}_percent", "torque_pct_{}"])
def test_a_percentage_is_no_torque_in_newton_metres(tmp_path, name):
    """Of the rated torque or current: a unit like that of a current whose constants are not known."""
    t, q, qd, tau = motion(2)
    log, report = load_bag(write_csv(tmp_path / "run.csv", {"time": t, "q{}": q, "qd{}": qd, name: tau}))
    assert_holds(log, effort=tau)
    assert report.effort_unit == "%" and any("effort" in note and note.endswith("[%]") for note in report.notes)


@pytest.mark.parametrize(
    "names, scales",
    [
        (("q{} [deg]", "qd{} [rpm]", "tau{} [Ncm]"), (np.pi / 180, np.pi / 30, 0.01)),
        (("q{} [mrad]", "qd{} [mrad/s]", "tau{} [mNm]"), (1e-3, 1e-3, 1e-3)),
        (("q_rad_{}", "qd_{}_rpm", "tau_mNm_{}"), (1.0, np.pi / 30, 1e-3)),
    ],
)
def test_units_in_names_are_converted(tmp_path, names, scales):
    t, *values = motion(3)
    columns = {name: x / scale for name, x, scale in zip(names, values, scales, strict=True)}
    log, _ = load_bag(write_csv(tmp_path / "run.csv", {"time": t} | columns))
    assert_holds(log, **dict(zip(("q", "qd", "effort"), values, strict=True)))


@pytest.mark.parametrize(
    "names, text",
    [
        (("q{} [deg]", "qd{} [deg/s]", "tau{} [kgf.cm]"), r"'kgf.cm' in 'tau0 \[kgf.cm\]' .. .* not known for effort"),
        (("q{} [rev]", "qd{} [rad/s]", "tau{} [Nm]"), "'rev' .* not known for q: .* rad, deg, mrad, or overrule"),
        (("q{} [rpm]", "qd{} [rad/s]", "tau{} [Nm]"), "'rpm' .* not known for q"),
        (("q{} [rad]", "qd{} (deg/min)", "tau{} [Nm]"), "'deg/min' .* not known for qd"),
    ],
)
def test_a_unit_that_is_not_known_is_refused_and_not_guessed(tmp_path, names, text):
    t, *values = motion(3)
    path = write_csv(tmp_path / "run.csv", {"time": t} | dict(zip(names, values, strict=True)))
    with pytest.raises(DataError, match=text):
        load_bag(path)
    log, _ = load_bag(path, table=TableOptions(units=("rad", "Nm")))
    assert_holds(log, effort=values[2])


@pytest.mark.parametrize(
    ("name", "taken"), [("{} [K]", 0), ("{} [°F]", 0), ("{} [°C]", 1), ("_{} [deg C]", 1), ("{}", 1)]
)
def test_temperatures_in_another_unit_are_left_out(tmp_path, name, taken):
    """They were said to be [degC]."""
    t, *values = motion(3)
    columns = dict(zip(("q{}", "qd{}", "tau{}"), values, strict=True)) | {f"temp{name}": 90.0 + 0 * values[0]}
    log, report = load_bag(write_csv(tmp_path / "run.csv", {"time": t} | columns))
    assert log.has("temperature") == taken and any("left out" in note for note in report.notes) != taken


def test_other_brackets_are_no_units(tmp_path):
    t, q, qd, tau = motion(2)
    log, _ = load_bag(write_csv(tmp_path / "run.csv", {"time": t, "q[{}]": q, "qd{} (actual)": qd, "tau({})": tau}))
    assert_holds(log, effort=tau)


def test_columns_of_several_units_are_no_signal(tmp_path):
    t, q, _, tau = motion(2)
    columns = {"time": t, "q{}": q, "a [Nm]": tau[:, 0], "b [mNm]": tau[:, 1]}
    path = write_csv(tmp_path / "run.csv", columns)
    with pytest.raises(DataError, match="'Nm' and 'mNm' in 'a .Nm.' .. 'b .mNm.' is not one of all columns"):
        load_bag(path, table=TableOptions(columns={"effort": "a [Nm]..b [mNm]"}))


def test_rows_in_no_order_are_refused(tmp_path):
    t, q, _, tau = motion(2)
    mixed = np.random.default_rng(0).permutation(N)
    path = write_csv(tmp_path / "run.csv", {"time": t[mixed], "q{}": q[mixed], "tau{}": tau[mixed]})
    with pytest.raises(DataError, match=r"'time' falls at 1\d\d of 299 rows \(sort the rows by it\)"):
        load_bag(path)


@pytest.mark.parametrize("names", [("stamp.sec", "stamp.nanosec"), ("header.stamp.secs", "header.stamp.nsecs")])
def test_a_ros_stamp_in_two_columns_is_one_clock(tmp_path, names):
    t, q, _, tau = motion(2)
    whole = np.floor(t + 0.5)
    columns = {names[0]: 1_777_000_000 + whole, names[1]: np.round(1e9 * (t + 0.5 - whole))}
    log, report = load_bag(write_csv(tmp_path / "run.csv", columns | {"q{}": q, "tau{}": tau}))
    np.testing.assert_allclose(log.time, t, atol=1e-6)
    assert report.stamps == names[0] and log.stamp_ns[0] // 10**9 == 1_777_000_000
