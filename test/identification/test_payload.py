"""Payload from an unloaded and a loaded run, synthetic or of simulated robots that differ from their file."""

import copy
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from command_line import printed, robot_dynamics
from prepared import UR5E, fourier, identified, laws, run, steps, structure
from synthetic import TRUTH, log_at, torque

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification import payload as payloads
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.identification.payload import identify_payload
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.robot_file.geometry import inertia_about_origin
from robot_dynamics_ros.trajectories import motions

MASS, COM, INERTIA = 2.0, (0.03, -0.01, 0.08), (0.01, 0.0, 0.0, 0.012, 0.0, 0.006)


def loaded(friction: float = 1.0, payload=True):
    truth = replace(TRUTH, fc=friction * TRUTH.fc, fv=friction * TRUTH.fv)
    body = inertia_about_origin(MASS, COM, INERTIA) if payload else None
    return run(3, truth=truth, payload=body)


@pytest.mark.parametrize("friction", [1.0, 0.9])
def test_payload_within_three_standard_deviations(friction):
    payload = identify_payload(identified(), [loaded(friction)])
    assert abs(payload.mass - MASS) < max(3 * payload.mass_std, 0.01)
    assert np.all(np.abs(payload.com - COM) < np.maximum(3 * payload.com_std, 0.002))
    assert payload.mass_std < 0.05 and {"mass", "com"} <= set(payload.observable)
    assert payload.r2_after > 0.99 > payload.r2_before
    assert payload.block().mass == pytest.approx(MASS, abs=0.1)


def stations(body):
    """From pose to pose with rests of 3 s, in which stiction holds every joint with either sign."""
    rng, rate = np.random.default_rng(3), 125.0
    here, parts = np.array([0.0, -1.2, 1.5, -1.9, -1.57, 0.4]), []
    for _ in range(6):
        there = here + rng.uniform(-0.7, 0.7, 6)
        parts += [motions.quintic(here, there, rate, 1.0, 3.0), motions.hold(there, 3.0, rate)]
        here = there
    q, qd, qdd = motions.join(*parts)
    number = np.cumsum(np.diff(np.abs(qd).max(axis=1) > 1e-9, prepend=False))
    held = rng.choice([-1.0, 1.0], (number.max() + 1, 6))[number] * (np.abs(qd) < 1e-9)
    tau = torque(UR5E, TRUTH, q, qd, qdd, payload=body) + 0.9 * TRUTH.fc * held
    return recording(log_at(np.arange(len(q)) / rate, {"q": q, "qd": qd, "effort": tau}, UR5E.joint_names), "stations")


def test_stiction_in_long_rests_is_no_payload():
    payload = identify_payload(identified(), [stations(inertia_about_origin(MASS, COM, INERTIA))])
    assert payload.mass == pytest.approx(MASS, abs=0.05) and abs(payload.mass - MASS) < 3 * payload.mass_std
    assert np.all(np.abs(payload.com - COM) < 3 * payload.com_std)


def test_no_payload_is_reported():
    with pytest.raises(DataError, match="no payload to see"):
        identify_payload(identified(), [loaded(payload=False)])


GIVEN = structure(laws(), 7.0)


def log_of(individual, seed, mass=0.0, **overrides):
    carried = (mass, COM) if mass else None
    return fourier(seed, payload=carried, overrides={"deviation.individual": individual} | overrides)


@cache
def runs(individual):
    """Two unloaded runs identified, and a loaded one."""
    free, judge = (recording(log_of(individual, seed), str(seed)) for seed in (1, 2))
    return steps([free], [judge], chosen=GIVEN), [recording(log_of(individual, 3, MASS), "loaded")]


def errors(individual):
    got = identify_payload(*runs(individual))
    assert {"mass", "com"} <= set(got.observable)
    return [(got.mass - MASS) / got.mass_std, *((got.com - COM) / got.com_std)]


@pytest.mark.parametrize("individuals", [range(40, 41), pytest.param(range(41, 44), marks=pytest.mark.long)])
def test_truth_lies_within_three_deviations(individuals):
    z = np.array([errors(individual) for individual in individuals])
    assert np.all(np.abs(z) < 3), z.round(1)
    assert np.sqrt(np.mean(z**2)) > 0.3  # and the deviations are not blown up


@pytest.mark.long
def test_what_torque_constants_leave_open_is_counted(monkeypatch):
    """Motors 3 % weaker than stated make every mass 3 % heavier: no bag shows it, so the deviation must hold it."""
    strong = np.array([10.61] * 3 + [7.68] * 3)
    weak = {"drive.torque_constant": strong / 1.03}
    logs = [log_of(50, seed, mass, **weak) for seed, mass in ((1, 0.0), (2, 0.0), (3, MASS))]
    free, judge, loaded = (recording(log, str(k)) for k, log in enumerate(logs))
    found = steps([free], [judge], chosen=GIVEN)
    got = identify_payload(found, [loaded])
    assert got.mass == pytest.approx(1.03 * MASS, rel=0.02) and abs(got.mass - MASS) < 3 * got.mass_std
    monkeypatch.setattr(payloads, "TORQUE_SCALE", 0.0)
    alone = identify_payload(found, [loaded]).mass_std
    assert np.sqrt(got.mass_std**2 - alone**2) == pytest.approx(0.02 * MASS, rel=0.3)


def test_what_the_unloaded_run_leaves_open_is_counted():
    """Base parameters that are wrong by e, and whose covariance is e e', move the payload by its deviation."""
    found, loaded = runs(40)
    s = found.solution
    base = np.arange(len(s.x)) < found.rigid.base.size

    def got(covariance, error):
        other = copy.copy(found)
        other.fit = replace(found.fit, solution=replace(s, covariance=covariance, rhs=s.rhs + s.R @ error))
        return identify_payload(other, loaded)

    none, e = np.zeros_like(s.covariance), np.where(base, s.std * np.random.default_rng(1).normal(size=len(s.x)), 0)
    sure, wrong, unsure = got(none, 0 * e), got(none, e), got(np.outer(e, e), 0 * e)
    for name in ("mass", "com"):
        share = np.sqrt(getattr(unsure, f"{name}_std") ** 2 - getattr(sure, f"{name}_std") ** 2)
        np.testing.assert_allclose(share, np.abs(getattr(wrong, name) - getattr(sure, name)), rtol=0.1, atol=1e-4)


@pytest.mark.long
def test_the_command_writes_a_file_that_carries_it(tmp_path):
    for name, seed, mass in (("free", 1, 0.0), ("judge", 2, 0.0), ("loaded", 3, MASS)):
        write_bag(log_of(60, seed, mass), tmp_path / name)
    free, judge, loaded, out = (str(tmp_path / n) for n in ("free", "judge", "loaded", "out"))
    line = ["identify", free, "--robot", "ur5e", "--validate", judge, "--out", out, "--payload-from"]
    refused = robot_dynamics(*line, judge)
    assert refused.exit_code == 1 and not (tmp_path / "out").exists(), refused.output
    printed(*line, loaded)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert abs(report["payload"]["mass"] - MASS) < 3 * report["payload"]["mass_std"]
    carried = load_robot(report["files"]["loaded_robot_file"]).payload
    assert carried.mass == pytest.approx(report["payload"]["mass"])
    assert "<h2>Payload</h2>" in (tmp_path / "out" / "report.html").read_text()
