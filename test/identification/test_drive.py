"""Drives identified from currents: truth comes back, simulated logs meet the source, bad logs are refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from command_line import printed
from synthetic import MODEL, UR5E, with_signals

from bench.papers.labs.calibration import trapezoid_test
from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.identification.drive.fits import drive_data, rotor_inertia
from robot_dynamics_ros.identification.drive.identify import identified_drives, identify_drive_recordings
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.trajectories import motions

K = np.array([11.2, 10.1, 10.9, 7.2, 7.9, 8.1])
INERTIA = np.array([1.9, 1.6, 1.7, 0.25, 0.2, 0.22])
LAW = {"kv": [4.0] * 3 + [0.6] * 3, "tc_dir": [8.0] * 3 + [1.6] * 3, "tc_rev": [5.0] * 3 + [1.0] * 3, "eps": 0.02}


def made(seed, seconds=30.0):
    """A log whose currents follow the source's own law exactly, but for noise."""
    q, qd, qdd = motions.fourier([0, -1.2, 1.2, -1.5, -1.5, 0], seconds, 250.0, amplitude=1.0, velocity=2.0, seed=seed)
    tau_d = MODEL.rnea(q, qd, qdd) + INERTIA * qdd
    current = (tau_d + FrictionModel("clochiatti", LAW, 6).torque(qd, tau_d)) / K
    current = current + 0.02 * np.random.default_rng(seed).standard_normal(current.shape)
    stamps = (1e9 + np.arange(len(q)) * 4e6).astype(np.int64)
    desired = {"q_d": q, "qd_d": qd, "qdd_d": qdd, "tau_d": tau_d}
    return Log(UR5E.joint_names, stamps, {"q": q, "qd": qd, "current": current, "effort": 10.61 * current} | desired)


@pytest.fixture(scope="module")
def found():
    return identify_drive_recordings(UR5E, [recording(made(1), "a")], [recording(made(2), "b")])


def test_the_sources_own_law_comes_back(found):
    np.testing.assert_allclose(found.rotor.value, INERTIA, rtol=1e-6)
    for j, fit in enumerate(found.fits):
        assert abs(fit.values["torque_constant"] - K[j]) < max(4 * fit.std["torque_constant"], 0.02 * K[j])
        for name in ("kv", "tc_dir", "tc_rev"):
            assert abs(fit.values[name] - LAW[name][j]) < max(4 * fit.std[name], 0.15 * LAW[name][j]), (j, name)
    assert min(found.validation["current"]["r2"]) > 0.99
    assert min(found.validation["model_torque"]["r2"]) > 1 - 1e-9


def test_only_sure_numbers_are_written_with_their_source(found):
    robot = identified_drives(found)
    source = robot.drives.source["torque_constant"]
    assert source.startswith("identified_drives_") and "identify --what drives on a" in robot.sources[source]
    np.testing.assert_allclose(robot.array("drives.rotor_inertia"), INERTIA, rtol=1e-6)
    assert robot.friction == UR5E.friction
    first = found.fits[0]
    unsure = replace(first, std=first.std | {"torque_constant": 1.0})
    again = identified_drives(replace(found, fits=[unsure, *found.fits[1:]]))
    assert again.array("drives.torque_constant")[0] == UR5E.array("drives.torque_constant")[0]
    assert not replace(first, values=first.values | {"torque_constant": -5.0}).well_known
    hidden = replace(found.rotor, value=np.full(6, np.nan))  # the robot file's were written as identified
    kept = identified_drives(replace(found, rotor=hidden, inertia=UR5E.array("drives.rotor_inertia")))
    assert kept.drives.source.get("rotor_inertia") == UR5E.drives.source.get("rotor_inertia")


def tour(seed, slower, points):
    """Currents of the printed law, whose Coulomb friction steps where the power changes sign, of moves between points.

    `slower`: the same moves at a share of their speed.
    """
    rng = np.random.default_rng(seed)
    lower, upper = np.array([-2.0, -2.2, 0.3, -2.5, -2.0, -2.0]), np.array([2.0, -0.6, 2.2, -0.5, -0.3, 2.0])
    speed, acceleration = np.full(6, 2.5) / slower, np.full(6, 3.6) / slower**2
    t, q, qd, qdd = motions.trapezoids(rng.uniform(lower, upper, (points, 6)), speed, acceleration, 125.0)
    tau_d = MODEL.rnea(q, qd, qdd) + INERTIA * qdd
    coulomb = np.where(qd * tau_d > 0, LAW["tc_dir"], LAW["tc_rev"])
    current = (tau_d + np.array(LAW["kv"]) * qd + np.tanh(qd / 0.01) * coulomb) / K
    current += 0.02 * rng.standard_normal(current.shape)
    stamps = (1e9 + t * 1e9).astype(np.int64)
    measured = {"q": q + 2e-5 * rng.standard_normal(q.shape), "qd": qd, "current": current, "effort": 10.61 * current}
    desired = {"q_d": q, "qd_d": qd, "qdd_d": qdd, "tau_d": tau_d}
    return recording(Log(UR5E.joint_names, stamps, measured | desired), f"tour_{seed}")


def test_a_step_of_friction_where_the_power_turns_is_not_taken_for_load():
    found = identify_drive_recordings(UR5E, [tour(3, 1.0, 30)], [tour(2, 1.0, 10)])
    for j, fit in enumerate(found.fits[:5]):
        assert fit.values["torque_constant"] == pytest.approx(K[j], rel=0.1), j


def test_a_torque_constant_that_no_load_shows_is_not_written():
    """Slow moves of a joint without gravity, and of a wrist: 0.02 Nm of load beside 8 and 1.6 Nm of friction."""
    slow = identify_drive_recordings(UR5E, [tour(3, 6.0, 60)], [tour(2, 6.0, 10)])
    written = identified_drives(slow).array("drives.torque_constant")
    for j in (0, 5):
        assert not slow.fits[j].well_known and written[j] == UR5E.array("drives.torque_constant")[j]
    for j in (1, 2, 3):
        assert written[j] == pytest.approx(K[j], rel=0.02)


def test_energy_is_reported_both_ways(found):
    e = found.validation["energy"]
    assert (e["electrical_clamped"] >= e["electrical"] - 1e-9).all()
    assert 0 < e["efficiency"][-1] < 1


def test_pieces_and_bags_share_one_clock():
    one, two = recording(made(1), "a"), recording(made(2, seconds=20.0), "b")
    data = drive_data([one, two])
    assert (np.diff(data.stamp_ns) > 0).all()


def test_logs_that_cannot_show_the_drives_are_refused_in_one_line():
    log = made(1, seconds=20.0)
    with pytest.raises(DataError, match="motor_currents"):
        drive_data([recording(with_signals(log, current=None), "x")])
    data = drive_data([recording(with_signals(log, q_d=None, qd_d=None, qdd_d=None, tau_d=None), "x")])
    with pytest.raises(DataError, match="desired state"):
        rotor_inertia(UR5E, data)
    with pytest.raises(CapabilityError, match="behind the gear"):
        identify_drive_recordings(load_robot("fr3"), [], [])


def test_a_joint_that_rests_and_a_stale_side_topic_do_not_stop_the_others():
    log = made(1, seconds=20.0)
    for name in ("q", "qd", "q_d", "qd_d", "qdd_d"):
        getattr(log, name)[:, 5] = 0.0
    log.current[500:600] = np.nan
    one = identify_drive_recordings(UR5E, [recording(log, "a")], [recording(log, "a")])
    assert one.fits[5] is None and all(f is not None for f in one.fits[:5])
    assert any("moves in" in note for note in one.notes)
    assert np.isfinite(identified_drives(one).array("drives.torque_constant")).all()


@pytest.mark.filterwarnings("ignore")
def test_command_on_the_simulated_robots_bags(tmp_path):
    logs = [trapezoid_test(UR5E, seed) for seed in (0, 1)]
    logs[0].effort[100:104, 1] = np.nan
    for log, name in zip(logs, "ab", strict=True):
        write_bag(log, tmp_path / name)
    line = ["identify", "--what", "drives", str(tmp_path / "a"), "--robot", "ur5e", "--validate", str(tmp_path / "b")]
    done = printed(*line, "--out", tmp_path / "out")
    result = json.loads((tmp_path / "out" / "drives.json").read_text())
    assert min(result["validation"]["current"]["r2"]) >= 0.985
    assert result["validation"]["energy"]["electrical"][-1] > 0
    robot = load_robot(result["files"]["robot_file"])
    assert robot.provenance[-1].changed == ("drives",) and len(robot.provenance[-1].inputs) == 2
    assert "K_tau" in done and "efficiency" in done
    assert all(name in done for name in UR5E.joint_names), "names are not cut"
    assert "dropped 4 effort NaN" in " ".join(done.split())
