"""Recordings of two temperatures: what is said of their viscous friction, and what the file holds."""

import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from force_bench import push
from prepared import ROBOT, TRUTH, run, steps
from presliding_joint import elements
from synthetic import synthetic_log

from robot_dynamics_ros.identification.arm import viscosity
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.viscosity import compare_viscosity
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
    return steps([recorded(1, 0.0, known), recorded(2, warmer, known)], until="compare_viscosity")


@pytest.mark.parametrize("known", [False, True])
def test_a_cold_and_a_warm_recording_are_told_apart(known):
    state = compared(15.0, known)
    said, meaning = state.viscosity
    assert said.startswith("2: viscous friction is 22 ") or said.startswith("2: viscous friction is 23 ")
    assert "lower (+17 K" in said or "lower (+16 K" in said  # exp(-0.015 x 16.5) is 0.78
    assert ("were not recorded" in meaning) == (not known)


def test_the_slope_over_recorded_temperatures_is_written(monkeypatch):
    """A law with a memory that slides as the static one does, and is not fitted again."""
    monkeypatch.setattr(viscosity, "fit_together", lambda state: None)
    state = copy.copy(compared(15.0, True))
    static = state.live.friction
    block = elements([1e-3], np.array(static["fc"])[:, None], fv1=static["fv"], fo=static["fo"])
    state.live = replace(state.live, hysteresis=block["parameters"])
    compare_viscosity(state)
    assert "the file holds that" in state.viscosity[1]
    written = identified_robot(state).hysteresis.parameters["viscous_slope"]
    assert written == pytest.approx([SLOPE] * 6, abs=0.002)


def test_the_file_holds_the_mean_of_a_cold_and_a_warm_recording():
    """The bodies took up to a third of the viscous friction that one value for both leaves."""
    found = np.array(compared(30.0, False).live.friction["fv"])
    mean = TRUTH.fv * (1 + 0.5 * SLOPE * 30.0)
    assert (np.abs(found / mean - 1)[:3] < 0.08).all()


@pytest.mark.parametrize(("force", "seconds"), [(0.0, 0.0), (80.0, 1.5)])
def test_a_warm_recording_beside_a_longer_cold_one_is_no_contact_and_a_push_in_it_is(force, seconds):
    """It was all contact: too much to leave out, so that friction was not identified."""
    warm = synthetic_log(ROBOT, replace(TRUTH, fv=0.6 * TRUTH.fv), 2, duration=8.0)
    during = (warm.time > 3.0) & (warm.time < 3.0 + seconds)
    push(warm, np.outer(during, [0.0, 0.0, force, 0.0, 0.0, 0.0]))
    state = steps([run(1, duration=30.0), recording(warm, "2")], until="leave_out_contact")
    assert not state.friction_invalid_reason
    left_out = 8.0 - state.training[1].duration
    assert seconds <= left_out < seconds + 1.0


def test_recordings_of_one_temperature_are_not():
    assert compared(0.0, True).viscosity == []


@pytest.mark.parametrize("share", [-0.5, 0.3])
def test_the_temperature_that_is_said_is_the_catalogues(share):
    kelvin = float(viscosity_text(share, 0.01).split("(")[1].split(" K")[0])
    assert np.exp(-CATALOGUE * kelvin) == pytest.approx(1 + share, abs=0.01)
