"""Health over recordings: what is measured and said of joints, of a year, and of a fleet; one page."""

import json
import os
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import printed, robot_dynamics
from force_bench import UR5E, measured, moving
from table_files import numbers

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.health.fleet import standings, write_fleet_page
from robot_dynamics_ros.health.measure import Measurement, _load, measure, warming
from robot_dynamics_ros.health.report import _reach, as_dict, at_equal_conditions, slopes_of, trends, write_page
from robot_dynamics_ros.health.trend import MONTH, trend_of
from robot_dynamics_ros.learning.changes import _gain
from robot_dynamics_ros.robot_file import save_robot
from robot_dynamics_ros.signals import Log

START = 1_750_000_000


def recording(day, more_friction, seed, rate=125):
    """A UR5e in free motion whose elbow has `more_friction` Nm of Coulomb friction above the robot file's."""
    log = measured(moving(6.0, 0.5, rate), noise=0.1, rate=rate, seed=seed)
    log.effort[:, 2] += more_friction * np.tanh(log.qd[:, 2] / 0.01)
    log.stamp_ns += (START + day * 86400) * 10**9 - log.stamp_ns[0]
    return log


def test_the_command_finds_the_joint_that_wears(tmp_path):
    level = UR5E.array("friction.parameters.fc")[2]
    logs = [recording(10 * k, more, k) for k, more in enumerate([0.0] * 4 + [0.45 * level] * 3)]
    bags = [str(numbers(log, tmp_path / f"run{k}")) for k, log in enumerate(logs)]
    save_robot(UR5E, tmp_path / "mine.yaml")
    arguments = [*bags[::-1], "--robot", str(tmp_path / "mine.yaml"), "--out", str(tmp_path / "out")]
    done = printed("health", *arguments)
    assert f"--robot {tmp_path / 'mine.yaml'} --out identified" in " ".join(done.split())
    result = json.loads((tmp_path / "out" / "health.json").read_text())["robots"]["ur5e"]
    rows = result["quantities"]["coulomb"]
    assert [row["level"] for row in rows] == ["ok", "ok", "warn", "ok", "ok", "ok"]
    assert rows[2]["change_percent"] == pytest.approx(45, abs=8)
    assert rows[2]["changes"] == [result["dates"][4]]
    assert "warn: elbow_joint" in done
    assert result["level"] == "fair" and [r["cells"][0]["level"] for r in result["matrix"]["rows"]].count("fair") == 1
    page = (tmp_path / "out" / "health.html").read_text(encoding="utf-8")
    assert "elbow_joint" in page and page.count("<svg") >= 2 and "http" not in page


def test_behind_joint_torque_sensors_the_friction_that_the_file_knows_is_measured(tmp_path):
    robot = UR5E.with_updates({"drives.torque_side": "link", "sensing.joint_torque_sensor": True})
    bags = [numbers(recording(0, more, 0), tmp_path / str(more)) for more in (0.0, 2.0)]
    before, worn = (measure(bag, robot).coulomb for bag in bags)
    np.testing.assert_allclose(worn - before, [0, 0, 2.0, 0, 0, 0], atol=0.2)


def test_behind_joint_torque_sensors_a_file_without_friction_leaves_the_residual(tmp_path):
    changes = {"drives.torque_side": "link", "sensing.joint_torque_sensor": True, "friction": None}
    log = measured(moving(6.0, 0.5, 125), friction=False, noise=0.1, rate=125)
    found = measure(numbers(log, tmp_path / "run"), UR5E.with_updates(changes))
    assert np.isnan(found.coulomb).all() and (found.residual < 1.0).all()


def test_tables_whose_clock_is_no_date_have_that_of_their_file(tmp_path, no_pictures):
    files = []
    for day in (0, 40):
        log, path = recording(0, 0.0, day), tmp_path / f"{day}.npz"
        np.savez(path, time=log.time, q=log.q, qd=log.qd, effort=log.effort)
        os.utime(path, (START + day * 86400,) * 2)
        files.append(str(path))
    done = robot_dynamics("health", *files, "-r", "ur5e", "--out", tmp_path / "out", catch_exceptions=False)
    result = json.loads((tmp_path / "out" / "health.json").read_text())["robots"]["ur5e"]
    assert result["dates"] == ["2025-06-15", "2025-07-25"] and result["level"] == "good"
    assert "stamps that are no dates, those of the files are taken: 0.npz, 40.npz" in done.output


def test_a_payload_that_the_robot_file_lacks_is_named(tmp_path, no_pictures):
    """No joint has changed, and nothing was said of 3 kg on the flange."""
    bags = []
    for day, mass in ((0, 0.0), (40, 3.0)):
        log = measured(moving(24.0, rate=125), payload=(mass, (0.0, 0.0, 0.05), (0.0,) * 6), noise=0.1, rate=125)
        log.stamp_ns += (START + day * 86400) * 10**9 - log.stamp_ns[0]
        bags.append(numbers(log, tmp_path / f"day{day}"))
    done = robot_dynamics("health", *bags, "-r", "ur5e", "--out", tmp_path / "out", catch_exceptions=False)
    said = json.loads((tmp_path / "out" / "health.json").read_text())["robots"]["ur5e"]["sentences"]
    assert done.output.startswith("Good: no joint changed.")
    assert sum("day40.npz: a payload +" in text for text in said) == 1


def test_a_recording_at_rest_is_left_out_by_name(tmp_path):
    log = recording(0, 0.0, 0)
    log.qd[:], log.q[:] = 0.0, log.q[:1]
    bag = numbers(log, tmp_path / "rest")
    with pytest.raises(Exception, match="no recording can be used"):
        robot_dynamics("health", bag, "-r", "ur5e", "--out", tmp_path / "o", catch_exceptions=False)


def test_the_load_is_that_of_the_motion_and_unknown_without_one(tmp_path):
    """Of a joint that stands it would be 0, to which the friction of other recordings was corrected."""
    log = recording(0, 0.0, 0)
    log.q[:, 1], log.qd[:, 1] = log.q[0, 1], 0.0
    found = measure(numbers(log, tmp_path / "run"), UR5E)
    assert np.isnan(found.load[1]) and np.isfinite(np.delete(found.load, 1)).all()


def test_a_temperature_that_none_can_be_warms_no_joint(tmp_path):
    """0 of a sensor that is not ready: the joint was said to warm from it."""
    found = []
    for first in (0.0, 300.0, np.nan):
        log = recording(0, 0.0, 0)
        log.temperature = np.repeat(22.0 + 6.0 * (1 - np.exp(-log.time / 2.0))[:, None], 6, axis=1)
        log.temperature[log.time < 1.0] = first
        bag = write_bag(log, tmp_path / str(first), topics=["joint_states", "joint_temperatures"])
        found.append(measure(bag, UR5E))
    assert np.isfinite(found[2].thermal_time).any() and (found[2].temperature > 22.0).all()
    for name in ("thermal_time", "thermal_resistance", "temperature"):
        for other in found[:2]:
            np.testing.assert_allclose(getattr(other, name), getattr(found[2], name), rtol=1e-6, err_msg=name)


def test_rows_without_an_estimate_are_no_load():
    torque = np.array([[np.nan], [3.0], [3.0], [np.nan]])
    assert _load(Log(("a",), np.arange(4), {"qd": np.ones((4, 1)), "model_torque": torque})) == [3.0]


def told(time, *levels):
    """What is said about the Coulomb level of joints over recordings at times (N,) [s], and its trends."""
    found = [trend_of(np.asarray(values), time, "coulomb") for values in levels]
    measured = [SimpleNamespace(time=t, bag=str(k), by_file=False, payload="") for k, t in enumerate(time)]
    return as_dict("arm", measured, {"coulomb": found}, ["lift", "elbow"][-len(levels) :]), found


def test_recordings_of_one_day_show_no_trend():
    result, (trend,) = told(START + 10.0 * np.arange(4), [1.0, 1.0, 1.5, 1.5])
    assert trend.level == "unknown"
    (only,) = result["sentences"]
    assert "needs 2 days" in only and result["level"] == "fair"


def test_joints_of_which_nothing_is_known_are_not_called_unchanged():
    """Residuals and temperatures, which have no alarm, made a joint that never moved a good one."""
    time, nothing = START + MONTH * np.arange(4), [np.nan] * 4
    some, none = told(time, [1.0] * 4, nothing)[0], told(time, nothing, nothing)[0]
    assert some["verdict"][0] == "Good: no joint changed; of elbow nothing can be compared."
    assert none["verdict"][0] == "Fair: no joint could be compared."


def test_temperature_and_load_are_removed_and_wear_is_not():
    rng, N = np.random.default_rng(2), 30
    T, load = 30 + 8 * rng.uniform(-1, 1, N), 20 + 5 * rng.uniform(-1, 1, N)
    wear = np.linspace(0, 2.0, N) + np.where(np.arange(N) < 20, 0.0, 5.0)
    values = 10 + wear - 0.12 * (T - 30) + 0.2 * (load - 20) + 0.02 * rng.normal(size=N)
    conditions = np.column_stack([T, load])
    slopes = slopes_of([values], [conditions])
    np.testing.assert_allclose(slopes, [-0.12, 0.2], atol=0.02)
    equal = at_equal_conditions(values, conditions, slopes, np.array([30.0, 20.0]))
    assert np.std(equal - wear) < 0.1 * np.std(values - wear)


def test_what_does_not_vary_or_is_unknown_corrects_nothing():
    rng, N = np.random.default_rng(3), 20
    values, steady = rng.normal(size=N), np.column_stack([30 + 0.1 * rng.normal(size=N), np.full(N, 20.0)])
    assert (slopes_of([values], [steady]) == 0).all()
    unknown = np.full((N, 2), np.nan)
    assert (slopes_of([values], [unknown]) == 0).all()
    np.testing.assert_array_equal(at_equal_conditions(values, unknown, np.zeros(2), np.full(2, np.nan)), values)


@pytest.mark.parametrize(("tau", "resistance"), [(300.0, 2.0), (900.0, 0.5)])
def test_warming_is_that_of_the_heat_balance(tau, resistance):
    rng, t = np.random.default_rng(0), np.arange(0, 2 * tau, 0.1)
    power = 20.0 * (1 + 0.5 * np.sin(t / 3.0)) + 10 * (t > tau)
    rise = np.zeros_like(t)
    for k in range(1, len(t)):
        rise[k] = rise[k - 1] + 0.1 * (power[k] * resistance - rise[k - 1]) / tau
    found = warming(t, 22.0 + rise + 0.05 * rng.normal(size=len(t)), power)
    assert found == pytest.approx((tau, resistance), rel=0.08)
    assert not np.isfinite(warming(t, 22.0 + 0.05 * rng.normal(size=len(t)), power)).any()


def months(robot, friction=1.0, stiffness=1.0, resistance=1.0):
    """Twelve monthly measurements of two joints; shares of change at the second one, reached over the year or, for
    the thermal resistance, in the seventh month.
    """
    rng, both = np.random.default_rng(robot), np.ones(2)
    for k in range(12):
        grown, late = k / 11, float(k >= 6)
        noise = 1 + 0.01 * rng.normal(size=(4, 2))
        change = [[1, 1 + grown * (friction - 1)], [1, 1 + grown * (stiffness - 1)], [1, 1 + late * (resistance - 1)]]
        coulomb, spring, cooling = (np.array(c) * n for c, n in zip(change, noise, strict=False))
        heat, load = 30.0 + 6 * np.sin(2 * np.pi * k / 12) * both, 20.0 * both
        levels = 5 * coulomb - 0.05 * (heat - 30.0), 0.05 * both, 0.2 * both, 3 * both, 2e4 * spring
        warming_up = 600 * cooling * noise[3], 2 * cooling
        yield Measurement(f"m{k}", START + k * MONTH, *levels, *warming_up, heat, load)


def alarms(measured):
    found = trends(list(measured), ["lift", "elbow"])
    return {(q, j) for q, rows in found.items() for j, row in enumerate(rows) if row.level in ("warn", "error")}


def test_in_a_year_of_monthly_recordings_what_ages_is_seen_and_nothing_else():
    assert alarms(months(1)) == set()
    aged = months(1, friction=1.7, stiffness=0.6, resistance=1.8)
    assert alarms(aged) == {("coulomb", 1), ("stiffness", 1), ("thermal_time", 1), ("thermal_resistance", 1)}


@pytest.mark.parametrize(("count", "seconds"), [(1, 0), *((2, x) for x in (0, 4, 200, 10_000, 200_000, 100_000_000))])
def test_one_recording_and_two_within_any_time_are_drawn_without_a_warning(count, seconds, tmp_path, recwarn):
    measured = [replace(m, time=START + k * seconds) for k, m in enumerate(list(months(0))[:count])]
    found = {"coulomb": trends(measured, ["lift", "elbow"])["coulomb"]}
    write_page(as_dict("arm", measured, found, ["lift", "elbow"], []), measured, found, tmp_path / "health.html")
    assert not list(recwarn)


def test_names_of_directories_are_no_formulas(tmp_path):
    fleet = {name: list(months(k)) for k, name in enumerate(("$a_{b$", "c", "d", "e"))}
    rows = standings(fleet, ["lift", "elbow"])
    page = write_fleet_page(rows, dict.fromkeys(fleet, "x.html"), ["lift", "elbow"], tmp_path / "health.html")
    assert "$a_{b$" in page.read_text(encoding="utf-8")


def test_in_a_fleet_the_worn_robot_is_named():
    fleet = {f"r{k}": list(months(k)) for k in range(4)}
    fleet["worn"] = [replace(m, coulomb=m.coulomb * [1.0, 1.9]) for m in months(7)]
    off = {(r["robot"], r["quantity"], r["joint"]) for r in standings(fleet, ["lift", "elbow"]) if r["level"] != "ok"}
    assert off == {("worn", "coulomb", "elbow")}


@pytest.mark.parametrize("count", [3, 6])
def test_robots_that_are_individuals_seldom_deviate(count):
    """Friction has a spread of 15 %; in a single joint the other robots are alike by chance."""
    rng, joints, named = np.random.default_rng(0), [f"j{j}" for j in range(6)], 0
    month, six = next(iter(months(0))), np.full(6, np.nan)
    same = dict.fromkeys(("stiffness", "thermal_time", "thermal_resistance", "temperature", "load"), six)
    for _ in range(40):
        level = 8 * (1 + 0.15 * rng.normal(size=(count, 6)))
        rows = standings({f"r{k}": [replace(month, coulomb=x, **same)] for k, x in enumerate(level)}, joints)
        named += any(row["level"] in ("warn", "error") for row in rows)
    assert named < 12  # 20 and 26 without what the other joints show


def findings(values):
    """Sentences about the Coulomb level of one joint over recordings a week apart."""
    result, (trend,) = told(START + np.arange(len(values)) * MONTH / 4, values)
    return result["sentences"], trend


@pytest.mark.parametrize("seed", range(2))
def test_a_drift_and_a_change_of_level_are_distinguished(seed):
    noise = 0.03 * np.random.default_rng(seed).normal(size=24)
    (drift,), trend = findings(5 + 0.1 * np.arange(24) + noise)
    assert trend.pattern == "drift" and drift.startswith("warn: elbow")
    assert float(re.search(r"drifted by \+([\d.]+) Nm per month", drift)[1]) == pytest.approx(0.4, rel=0.05)
    (step,), trend = findings(5 + 2.3 * (np.arange(24) >= 12) + noise)
    assert trend.pattern == "step" and trend.changes == [12] and "changed its level on 2025-" in step
    assert findings(5 + noise)[0] == ["no notable change"]


@pytest.mark.parametrize(("factor", "level"), [(1.0, "good"), (1.45, "fair"), (1.8, "bad")])
def test_the_verdict_is_that_of_the_worst_joint(factor, level):
    result, _ = told(START + np.arange(12) * MONTH, [5.0] * 12, [5.0] * 6 + [5.0 * factor] * 6)
    assert result["level"] == level
    assert [row["cells"][0]["level"] for row in result["matrix"]["rows"]] == ["good", level]


def test_a_change_against_nothing_is_put_in_words(tmp_path):
    """Friction of 0.1 mNm, then 5 Nm: no percentage of six digits on terminal or page, nor among what `learn` says."""
    result, _ = told(START + np.arange(12) * MONTH, [1e-4] * 6 + [5.0] * 6)
    assert result["matrix"]["rows"][0]["cells"][0]["text"] == "over 100 times" in result["sentences"][0]
    fleet = {f"r{k}": [replace(m, coulomb=(1e-5 if k else 1) * m.coulomb) for m in months(k)] for k in range(5)}
    rows = standings(fleet, ["lift", "elbow"])
    page = write_fleet_page(rows, dict.fromkeys(fleet, "x.html"), ["lift", "elbow"], tmp_path / "health.html")
    assert "(over 100 times)" in page.read_text(encoding="utf-8")
    assert "torque of elbow over 100 times" in _gain("elbow", np.array([3309.57]), np.array([10.0]))


def test_two_recordings_whose_values_are_uncertain_show_no_change():
    """45 % more friction, with a deviation of 10 % of each recording: no change is beyond chance."""
    time = START + np.array([0.0, 30 * 86400.0])
    assert trend_of(np.array([5.0, 7.25]), time, "coulomb", np.full(2, 0.5)).level == "ok"
    assert trend_of(np.array([5.0, 7.25]), time, "coulomb", np.full(2, 0.1)).level == "warn"


def test_an_axis_does_not_magnify_what_is_small():
    low, high = _reach(np.array([100.0, 100.001, 99.999]), 0.1)
    assert high - low > 15
    low, high = _reach(np.array([100.0, 40.0]), 0.1)
    assert low < 40 < 100 < high


def test_a_recording_that_is_given_twice_counts_once(tmp_path):
    bags = [numbers(recording(0, 0.0, 0), tmp_path / name) for name in ("run", "copy")]
    done = robot_dynamics("health", *bags, "--robot", "ur5e", "--out", tmp_path / "out", catch_exceptions=False)
    assert "copy.npz: began at the same time as" in " ".join(done.output.split())
    assert len(json.loads((tmp_path / "out" / "health.json").read_text())["robots"]["ur5e"]["bags"]) == 1


def test_two_robots_of_a_fleet_with_one_name_are_not_taken_for_one(tmp_path):
    bags = [str(tmp_path / site / "cell_1" / "day") for site in ("north", "south")]
    done = robot_dynamics("health", *bags, "--robot", "ur5e", "--fleet", "--out", tmp_path / "out")
    assert "two robots with one name" in str(done.exception) and "south/cell_1" in str(done.exception)
