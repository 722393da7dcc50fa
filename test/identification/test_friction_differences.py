"""Recordings whose friction differs by temperature or wear: what is said, what the file holds, what is contact."""

import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from force_bench import model, push
from prepared import TRUTH, UR5E, run, steps
from presliding_joint import elements
from synthetic import synthetic_log

from robot_dynamics_ros.identification.arm import friction_differences
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.friction_differences import compare_friction, what_they_show
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.models.sliding_friction import CATALOGUE, viscosity_text

T0, SLOPE = 25.0, -0.015  # deg C, 1/K


def recorded(seed, warmer, known):
    """A recording whose viscous friction is that of a lubricant warmer by that [K]."""
    rec = run(seed, truth=replace(TRUTH, fv=TRUTH.fv * (1 + SLOPE * warmer)))
    for piece in rec.pieces if known else ():
        piece.extra["temperature"] = np.full_like(piece.q, T0 + warmer)
    return rec


@cache
def compared(warmer, known):
    return steps([recorded(1, 0.0, known), recorded(2, warmer, known)], until="compare_friction")


@pytest.mark.parametrize("known", [False, True])
def test_a_cold_and_a_warm_recording_are_told_apart(known):
    state = compared(15.0, known)
    said, meaning = state.friction_differences
    assert said.startswith("2: viscous friction is 22 ") or said.startswith("2: viscous friction is 23 ")
    assert "lower (+17 K" in said or "lower (+16 K" in said  # exp(-0.015 x 16.5) is 0.78
    assert ("were not recorded" in meaning) == (not known)


@pytest.mark.parametrize("warmer", [np.zeros(6), np.array([-6.0, -4.0, -2.0, 2.0, 4.0, 6.0])])
def test_the_slope_over_recorded_temperatures_is_written(monkeypatch, warmer):
    """A law with a memory that slides as the static one does, and is not fitted again. At the temperatures of the
    recordings it is what was identified: wrists 6 K above the mean had 9 % less.
    """
    monkeypatch.setattr(friction_differences, "fit_together", lambda state: None)
    state = copy.copy(compared(15.0, True))
    pieces = [
        [replace(p, extra={"temperature": p.extra["temperature"] + warmer}) for p in r.pieces] for r in state.training
    ]
    state.training = [replace(r, pieces=own) for r, own in zip(state.training, pieces, strict=True)]
    static = state.live.friction
    block = elements([1e-3], np.array(static["fc"])[:, None], fv1=static["fv"], fo=static["fo"])
    state.live = replace(state.live, hysteresis=block["parameters"])
    compare_friction(state)
    assert "the file holds that" in state.friction_differences[1]
    written = identified_robot(state)
    law, mean = written.hysteresis.parameters, T0 + 7.5 + warmer
    assert law["viscous_slope"] == pytest.approx([SLOPE / (1 + 7.5 * SLOPE)] * 6, abs=0.001)  # of the mean friction
    factor = 1 + np.array(law["viscous_slope"]) * (mean - written.friction.reference_temperature)
    np.testing.assert_allclose(law["fv1"] * factor, static["fv"], rtol=2e-3)


def test_the_slope_is_of_the_friction_that_the_file_holds_whichever_recording_is_the_first():
    """It was 1.5 % per kelvin of a cold first recording, 2.1 % of a warm one."""
    viscosity, T, std = np.array([1.0, 0.85, 0.7]), np.outer([20.0, 30.0, 40.0], np.ones(6)), np.full(3, 1e-3)
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        share = viscosity[order] / viscosity[order[0]] - 1
        said, meaning, slope = what_they_show(share, std, ["a", "b", "c"], T[order], np.full(3, 100))
        assert slope == pytest.approx(-0.015 / 0.85, rel=1e-9) and len(said) == 2 and " -1.8 +- " in meaning


def test_the_file_holds_the_mean_of_a_cold_and_a_warm_recording():
    """The bodies took up to a third of the viscous friction that one value for both leaves."""
    found = np.array(compared(30.0, False).live.friction["fv"])
    mean = TRUTH.fv * (1 + 0.5 * SLOPE * 30.0)
    assert (np.abs(found / mean - 1)[:3] < 0.08).all()


def beside_longer(truth, wrench):
    """Up to contact: 30 s, and 8 s of other friction under a wrench (N, 6) of a log."""
    log = synthetic_log(UR5E, truth, 2, duration=8.0)
    push(log, wrench(log))
    return steps([run(1, duration=30.0), recording(log, "2")], until="leave_out_contact")


def pushed(force, seconds):
    """The wrench of a push at 3 s."""
    return lambda log: np.outer((log.time > 3.0) & (log.time < 3.0 + seconds), [0.0, 0.0, force, 0.0, 0.0, 0.0])


def dragged(log):
    """30 N against the velocity of the tip."""
    v = np.einsum("kij,kj->ki", model().jacobian(log.q), log.qd)
    v[:, 3:] = 0.0
    return -30.0 * v / np.fmax(np.linalg.norm(v, axis=1, keepdims=True), 0.01)


@pytest.mark.parametrize(("force", "seconds"), [(0.0, 0.0), (80.0, 1.5)])
def test_a_warm_recording_beside_a_longer_cold_one_is_no_contact_and_a_push_in_it_is(force, seconds):
    """It was all contact: too much to leave out, so that friction was not identified."""
    state = beside_longer(replace(TRUTH, fv=0.6 * TRUTH.fv), pushed(force, seconds))
    assert not state.friction_invalid_reason
    left_out = 8.0 - state.training[1].duration
    assert seconds <= left_out < seconds + 1.0


WORN = replace(TRUTH, fc=1.15 * TRUTH.fc)


@pytest.mark.parametrize("scatter", [0.0, 0.08])
def test_coulomb_friction_that_differs_between_recordings_is_no_contact_and_is_said(scatter):
    """It was all contact, too; the joints need not be alike."""
    state = beside_longer(replace(WORN, fc=WORN.fc + scatter * TRUTH.fc * [1, -1, 1, -1, 0, 1]), pushed(0.0, 0.0))
    assert not state.friction_invalid_reason and state.training[1].duration > 7.9
    compare_friction(state)
    said, meaning = state.friction_differences
    assert said.startswith("2: Coulomb friction is 1") and "% higher than in 1." in said and "their mean" in meaning


def test_a_push_in_a_recording_of_more_coulomb_friction_is_contact():
    state = beside_longer(WORN, pushed(40.0, 1.5))
    assert not state.friction_invalid_reason
    assert not any(((piece.time > 3.0) & (piece.time < 4.5)).any() for piece in state.training[1].pieces)


def leant_on(log):
    return np.tile([0.0, 0.0, 20.0, 0.0, 0.0, 0.0], (len(log.time), 1))


@pytest.mark.parametrize(("wrench", "truth"), [(dragged, TRUTH), (dragged, WORN), (leant_on, WORN)])
def test_a_drag_or_push_all_through_a_recording_is_contact(wrench, truth):
    assert "contact in" in beside_longer(truth, wrench).friction_invalid_reason


def test_recordings_of_one_temperature_are_not():
    assert compared(0.0, True).friction_differences == []


@pytest.mark.parametrize("share", [-0.5, 0.3])
def test_the_temperature_that_is_said_is_the_catalogues(share):
    kelvin = float(viscosity_text(share, 0.01).split("(")[1].split(" K")[0])
    assert np.exp(-CATALOGUE * kelvin) == pytest.approx(1 + share, abs=0.01)
