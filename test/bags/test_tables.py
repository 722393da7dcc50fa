"""Files of numbers as recordings: columns found by name, or as the user maps them."""

import json
import sys

import numpy as np
import pytest
from command_line import printed, robot_dynamics
from table_files import RATE, N, assert_holds, motion, write_csv

from robot_dynamics_ros.bags import BagReport, load_bag
from robot_dynamics_ros.bags.table_log import TableOptions, table_log
from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.robot_file import load_robot

SPREADSHEET = {"Time": "s", "Joint {} Position": "rad", "Joint {} Velocity": "rad/s", "Joint {} Torque": "Nm"}
NAMINGS = {
    "ur_rtde": ("timestamp", "actual_q_{}", "actual_qd_{}", "actual_current_{}", 0, " "),
    "libfranka": ("time", "q[{}]", "dq[{}]", "tau_J[{}]", 0, ","),
    "spreadsheet": (*(f"{x} [{unit}]" for x, unit in SPREADSHEET.items()), 1, "\t"),
    "camel": ("t", "actualPosition{}", "actualVelocity{}", "motorTorque{}", 1, ","),
    "mujoco": ("time", *(f"observations/{x}[{{}}]" for x in ("qpos", "qvel", "torque")), 0, ","),
    "kuka": ("time_s", "pos_A{}", "vel_A{}", "trq_A{}", 1, ","),
}


@pytest.mark.parametrize("naming", NAMINGS)
def test_columns_are_found_by_name(tmp_path, naming):
    time, *patterns, first, delimiter = NAMINGS[naming]
    t, *values = motion(6)
    columns = dict(zip((time, *patterns), (t, *values), strict=True))
    log, report = load_bag(write_csv(tmp_path / "run.csv", columns, delimiter, first))
    assert_holds(log, **dict(zip(("q", "qd", "effort"), values, strict=True)))
    np.testing.assert_allclose(log.time, t, atol=1e-9)
    unit = "A" if naming == "ur_rtde" else "Nm"
    ends = " .. ".join(patterns[2].format(k) for k in (first, first + 5))
    assert any(f"effort: 6 columns {ends} [{unit}]" in note for note in report.notes)


def test_desired_external_and_cartesian_columns_are_not_taken_for_the_measured_ones(tmp_path):
    t, q, qd, tau = motion(6)
    groups = {
        "target_q_{}": q + 1, "actual_TCP_pose_{}": q + 2, "actual_q_{}": q, "actual_TCP_speed_{}": q + 3,
        "target_moment_{}": tau + 4, "actual_qd_{}": qd, "actual_current_{}": 0.1 * tau,
        "tau_ext_hat_filtered_{}": tau + 5, "gravity_torque_{}": tau + 6, "tau_{}_friction": tau + 7,
        "actual_current_as_torque_{}": tau, "joint_temperatures_{}": 30 + q,
    }  # fmt: skip
    log, _ = load_bag(write_csv(tmp_path / "rtde.csv", {"timestamp": t} | groups))
    found = {"q": q, "q_d": q + 1, "qd": qd, "effort": tau, "current": 0.1 * tau, "tau_d": tau + 4}
    found["temperature"] = 30 + q
    assert_holds(log, **found)
    current, _ = load_bag(tmp_path / "rtde.csv", table=TableOptions(units=("A",)))
    np.testing.assert_allclose(current.effort, 0.1 * tau, atol=1e-9)


def test_named_joints_in_another_order_are_matched_by_name(tmp_path):
    robot = load_robot("ur5e")
    t, q, qd, tau = motion(6)
    columns = {"__time": 1.7e9 + t}
    for what, x in (("position", q), ("velocity", qd), ("effort", tau)):
        columns |= {f"/joint_states/{robot.joint_names[k]}/{what}": x[:, k] for k in (3, 0, 5, 1, 4, 2)}
    log, _ = load_bag(write_csv(tmp_path / "plotjuggler.csv", columns), robot)
    assert log.joint_names == tuple(robot.joint_names)
    assert_holds(log, q=q, effort=tau)


@pytest.mark.parametrize("names", [("s1", "s2", "s4"), ("axis_3", "axis_1", "axis_2"), ("A1", "E1", "A2")], ids=str)
def test_columns_that_name_the_joints_in_full_are_theirs(tmp_path, names):
    """Numbers in names are no order where the robot has another one, and no other names than the robot's."""
    t, q, qd, tau = motion(3)
    columns = {"time": t}
    for what, x in (("position", q), ("velocity", qd), ("effort", tau)):
        columns |= {f"{what}_{name}": x[:, k] for k, name in enumerate(sorted(names))}
    path = write_csv(tmp_path / "run.csv", columns)
    report = BagReport([str(path)])
    log = table_log(path, report, joint_names=names)
    order = [sorted(names).index(name) for name in names]
    assert_holds(log, q=q[:, order], effort=tau[:, order])
    assert not any("numbered" in note for note in report.notes)


def test_a_file_without_names_is_mapped_by_numbers_and_a_rate(tmp_path):
    _, q, qd, tau = motion(3)
    path = write_csv(tmp_path / "plain.txt", {"q": q, "qd": qd, "tau": 1e3 * tau}, " ", header=False)
    options = TableOptions({"q": "1-3", "qd": "4-6", "effort": "7-9"}, rate=RATE, units=("mA",))
    log, _ = load_bag(path, table=options)
    assert_holds(log, effort=tau)
    assert log.time[-1] == pytest.approx((N - 1) / RATE)


def test_the_joints_of_one_of_two_arms_are_found_by_their_names(tmp_path):
    t, q, qd, tau = motion(4)
    names, columns = ("right_j1", "right_j2", "left_j1", "left_j2"), {"time": t}
    for what, x in (("pos [deg]", np.degrees(q)), ("vel [deg/s]", np.degrees(qd)), ("torque [Nm]", tau)):
        columns |= {f"{name} {what}": x[:, k] for k, name in enumerate(names)}
    path = write_csv(tmp_path / "run.csv", columns)
    report = BagReport([str(path)])
    log = table_log(path, report, joint_names=("left_j1", "left_j2"))
    assert any("beside those of the arm moved: right_j_1 (by" in note for note in report.notes)
    assert_holds(log, q=q[:, 2:], effort=tau[:, 2:])


def test_numbers_of_columns_count_the_words_of_a_file_without_names(tmp_path):
    t, q, _, tau = motion(2)
    path = write_csv(tmp_path / "plain.csv", {"t": t, "q": q, "tau": tau}, header=False)
    path.write_text("".join(f"auto,{line}\n" for line in path.read_text().splitlines()))
    log, _ = load_bag(path, table=TableOptions(columns={"q": "3-4", "effort": "5-6"}, time="2-2"))
    assert_holds(log, q=q, effort=tau)


def test_empty_cells_and_words_are_dropped_and_counted(tmp_path):
    t, q, qd, tau = motion(2)
    path = write_csv(tmp_path / "holes.csv", {"t": t, "q{}": q, "tau{}": tau, "mode": t}, ";")
    lines = path.read_text().replace(".", ",").splitlines()
    lines = [lines[0], *(line.rsplit(";", 1)[0] + ";auto" for line in lines[1:])]
    lines[7] = ";".join(["0,06", "", *lines[7].split(";")[2:]])
    path.write_text("\n".join(lines))
    log, report = load_bag(path)
    assert len(log) == N - 1 and sum(report.dropped.values()) == 1
    assert_holds(log, q=np.delete(q, 6, axis=0))


@pytest.mark.parametrize("turned", [False, True])
def test_arrays_of_npz(tmp_path, turned):
    t, q, qd, tau = motion(7)
    arrays = {"q": q, "dq": qd, "tau": tau}
    np.savez(tmp_path / "run.npz", time=t, name=np.array("run"), **{k: v.T if turned else v for k, v in arrays.items()})
    log, _ = load_bag(tmp_path / "run.npz", load_robot("panda"))
    assert_holds(log, q=q, effort=tau)


def test_arrays_with_a_number_per_joint_are_no_columns(tmp_path):
    """Gains and limits beside a record, more of them than columns."""
    t, q, qd, tau = motion(6)
    gains = {name: np.arange(6.0) for name in ("kp", "kd", "lower", "upper")}
    np.savez(tmp_path / "run.npz", **gains, time=t, q=q, dq=qd, tau=tau)
    log, _ = load_bag(tmp_path / "run.npz", load_robot("ur5e"))
    assert_holds(log, q=q, effort=tau)


def test_groups_of_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    t, q, qd, tau = motion(4)
    with h5py.File(tmp_path / "run.h5", "w") as file:
        file["t"], file["robot/q"], file["robot/qd"], file["robot/torque"] = t, q, qd, tau
        file["camera"] = np.zeros((3, 4, 4))
    log, _ = load_bag(tmp_path / "run.h5")
    assert_holds(log, q=q, effort=tau)


def test_a_date_of_parquet_that_is_missing_costs_its_row(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    t, q, _, tau = motion(2)
    dates = [round(1e9 * (1.7e9 + x)) for x in t]
    dates[N // 2] = None
    columns = {"time": arrow.array(dates, arrow.timestamp("ns"))}
    columns |= {f"{name}{j}": x[:, j] for name, x in (("q", q), ("tau", tau)) for j in range(2)}
    parquet.write_table(arrow.table(columns), tmp_path / "run.parquet")
    log, report = load_bag(tmp_path / "run.parquet")
    assert_holds(log, q=np.delete(q, N // 2, axis=0))
    assert report.dropped == {"without a time, or whose time alone jumps": 1}


@pytest.fixture
def lerobot(tmp_path):
    """A LeRobot data set of two episodes: state with a gripper, action, effort; clocks that start again."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    t, q, _, tau = motion(6)
    hand = np.full((N, 1), 50.0)
    half = N // 2
    columns = {
        "observation.state": list(np.hstack([q, hand])),
        "action": list(np.hstack([q + 0.1, hand])),
        "observation.effort": list(np.hstack([tau, hand])),
        "timestamp": np.concatenate([t[:half], t[:half]]).astype(np.float32),
        "episode_index": np.arange(N) // half,
    }
    folder = tmp_path / "set" / "data" / "chunk-000"
    folder.mkdir(parents=True)
    parquet.write_table(arrow.table(columns), folder / "episode_000000.parquet")
    names = [f"{j}.pos" for j in load_robot("ur5e").joint_names]
    features = {k: {"names": [*names, "gripper.pos"]} for k in ("observation.state", "action")}
    motors = [n.replace(".pos", ".effort") for n in (*names, "gripper.pos")]
    features["observation.effort"] = {"names": {"motors": motors}}
    (tmp_path / "set" / "meta").mkdir()
    (tmp_path / "set" / "meta" / "info.json").write_text(json.dumps({"features": features}))
    return folder / "episode_000000.parquet", q, tau


def test_vectors_of_lerobot(lerobot):
    path, q, tau = lerobot
    log, report = load_bag(path, load_robot("ur5e"))
    assert_holds(log, q=q, q_d=q + 0.1, effort=tau)
    assert (np.diff(log.stamp_ns) > 0).all() and np.diff(log.time).max() == pytest.approx(1.0)
    assert any("starts again 1 times" in note for note in report.notes)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"features": []}', '{"features": {"action": 1}}', "[" * 10_000])
def test_a_damaged_description_of_a_lerobot_data_set_is_named(lerobot, text):
    info = lerobot[0].parents[2] / "meta" / "info.json"
    info.write_text(text)
    with pytest.raises(DataError, match="damaged: it does not describe the columns") as refused:
        load_bag(info.parents[1], load_robot("ur5e"))
    assert str(refused.value).startswith(str(info))


def test_import_writes_a_bag_with_the_same_numbers_and_keeps_what_is_there(tmp_path):
    t, q, qd, tau = motion(6)
    columns = {"timestamp": t, "actual_q_{}": q, "actual_qd_{}": qd, "actual_current_{}": tau}
    path = write_csv(tmp_path / "record.csv", columns)
    words = ["import", str(path), "--robot", "ur5e", "--out", str(tmp_path / "bag")]
    assert "actual_current_0 .. actual_current_5 [A]" in printed(*words)
    log, _ = load_bag(tmp_path / "bag", load_robot("ur5e"))
    direct, _ = load_bag(path, load_robot("ur5e"))
    for signal in ("q", "qd", "effort", "stamp_ns"):
        np.testing.assert_array_equal(getattr(log, signal), getattr(direct, signal))
    assert len(log) == N
    again = robot_dynamics(*words)
    assert isinstance(again.exception, DataError) and "exists already" in str(again.exception)


def test_a_clock_that_is_coarser_than_the_samples_is_named(tmp_path):
    t, q, qd, tau = motion(6)
    for step, said in ((0.01 / RATE, False), (2 / RATE, True)):
        columns = {"t": step * np.floor(t / step), "q_{}": q, "qd_{}": qd, "tau_{}": tau}
        path = write_csv(tmp_path / f"{step}.csv", columns)
        result = printed("import", path, "--robot", "ur5e", "--out", tmp_path / str(step))
        assert ("the clock is too coarse" in result) == said
        assert any("the clock is too coarse" in note for note in load_bag(path, load_robot("ur5e"))[1].notes) == said


@pytest.mark.parametrize(
    "names, options, text",
    [
        (("t", "q{}", "tau{}"), {"columns": {"q": "angle*"}}, "no column 'angle*'; columns: t, q1"),
        (("t", "q{}", "tau{}"), {"columns": {"position": "q1..q2"}}, "is none of q, qd, effort"),
        (("t", "q{}", "tau{}"), {"columns": {"effort": "tau1"}}, "effort has 1 columns"),
        (("a", "q{}", "tau{}"), {}, "no column of time found"),
        (("t", "x{}", "tau{}"), {}, "no columns of joint positions"),
        (("t", "q{}", "y{}"), {}, "has no effort: name its columns with robot-dynamics import --map effort"),
    ],
)
def test_what_is_missing_is_named_in_one_line(tmp_path, names, options, text):
    t, q, _, tau = motion(2)
    path = write_csv(tmp_path / "run.csv", dict(zip(names, (t, q, tau), strict=True)), first=1)
    with pytest.raises(DataError) as error:
        load_bag(path, table=TableOptions(**options))
    assert text in str(error.value) and str(path) in str(error.value) + str(path) and "\n" not in str(error.value)


@pytest.mark.parametrize("signal, column", [("qd", "qd{}"), ("effort", "tau{}")])
def test_a_missing_column_of_one_joint_is_named_with_what_is_left_out_for_it(tmp_path, signal, column):
    t, q, qd, tau = motion(6)
    columns = {"time": t, "q{}": q, "qd{}": qd, "tau{}": tau}
    whole, lacking = BagReport(["whole.csv"]), BagReport(["run.csv"])
    table_log(write_csv(tmp_path / "whole.csv", columns), whole)
    log = table_log(write_csv(tmp_path / "run.csv", columns | {column: columns[column][:, :5]}), lacking)
    assert not log.has(signal) and not any("left out" in note for note in whole.notes)
    (note,) = [note for note in lacking.notes if "left out" in note]
    assert note.startswith(f"{signal} is left out: joint 5 has no column beside {column.format(0)}")


def test_another_number_of_joints_than_the_robot_is_refused(tmp_path):
    t, q, _, tau = motion(7)
    path = write_csv(tmp_path / "run.csv", {"t": t, "q{}": q, "tau{}": tau})
    with pytest.raises(DataError, match="columns of 7 joints, the robot has 6"):
        load_bag(path, load_robot("ur5e"))


@pytest.mark.parametrize("content", [b"", b"a,b\n", b"\x00\x01garbage", b"only words\nof a text\n"])
@pytest.mark.parametrize("suffix", ["csv", "npz", "txt"])
def test_a_file_that_is_no_table_is_one_line(tmp_path, content, suffix):
    path = tmp_path / f"bad.{suffix}"
    path.write_bytes(content)
    with pytest.raises(DataError) as error:
        load_bag(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("suffix, package", [("parquet", "pyarrow"), ("h5", "h5py")])
def test_a_missing_library_is_named_with_how_to_install_it(tmp_path, monkeypatch, suffix, package):
    for name in [m for m in sys.modules if m.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    path = tmp_path / f"run.{suffix}"
    path.write_bytes(b"x")
    with pytest.raises(CapabilityError, match=r"pip install 'robot_dynamics_ros\[tables\]'"):
        load_bag(path)


@pytest.mark.parametrize("word", ["Cmptd", "Commanded", "Computed"])
def test_positions_that_the_controller_computed_are_not_the_measured_ones(tmp_path, word):
    t, q, qd, tau = motion(6)
    computed, rest = f"jointPosition{word}{{}}", {"jointVelocity{}": qd, "jointTorque{}": tau}
    both = {"time": t, computed: q + 1, "jointPosition{}": q} | rest
    log, _ = load_bag(write_csv(tmp_path / "both.csv", both))
    assert_holds(log, q=q)
    with pytest.raises(DataError, match="--map q="):
        load_bag(write_csv(tmp_path / "alone.csv", {"time": t, computed: q + 1} | rest))
