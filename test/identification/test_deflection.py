"""Velocities that show the deflection of the gears drive presliding friction by their integral; else positions do."""

from dataclasses import replace

import numpy as np
import pytest
from prepared import UR5E, laws, steps, structure
from synthetic import MODEL

from robot_dynamics_ros.identification.dataset.deflection import SHOWN, rotors_shown, shares
from robot_dynamics_ros.identification.dataset.motion import ROTOR_TIME, Motion, filtered
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.simulation.plant.build import without
from robot_dynamics_ros.simulation.rehearsal import rehearse
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions

RATE, N = 200.0, 6000
STEP = 2.4e-5  # rad, of an encoder behind the gear


def motion(compliance, delay=0.0, gain=1.0, noise=0.0, friction=1.0):
    """Two joints with friction, gravity and inertia, and the torque of their links; the velocity is the rotor's,
    D = compliance tau ahead. friction: the share of it that bends the gear.
    """
    t, draw = np.arange(N)[:, None] / RATE, np.random.default_rng(1)
    w = np.array([0.7, 1.3])
    q = 0.6 * np.sin(w * t) + 0.2 * np.sin(2.9 * w * t)
    qd = np.gradient(q, 1 / RATE, axis=0)
    qdd = np.gradient(qd, 1 / RATE, axis=0)
    load, rubbing = 2 * qdd + 20 * np.cos(q), 3 * qd + 5 * np.tanh(qd / 5e-3)
    bent = compliance * (load + friction * rubbing)
    v = gain * (qd - delay * qdd) + np.gradient(bent, 1 / RATE, axis=0) + noise * draw.normal(size=q.shape)
    rotor, link = np.cumsum(v, axis=0) / RATE, STEP * np.round(q / STEP)
    return Motion(t[:, 0], q, qd, qdd, load + rubbing, t[:, 0] == 0, RATE, link, rotor=rotor), load


@pytest.mark.parametrize("noise", [0.0, 2e-3])
@pytest.mark.parametrize("friction", [0.0, 0.1, 1.0])
def test_torque_explains_the_deflection_of_a_gear(noise, friction):
    elastic, load = motion(1 / 30_000, delay=1e-3, noise=noise, friction=friction)
    assert shares(elastic, elastic.rotor, load).min() > (0.9, SHOWN)[noise > 0] and rotors_shown(elastic, load)


def test_one_joint_of_two_shows_the_rotors():
    elastic, load = motion(1 / 30_000, noise=2e-3)
    half = replace(elastic, rotor=np.column_stack([elastic.rotor[:, 0], elastic.position[:, 1]]))
    assert shares(half, half.rotor, load)[1] < 0.02 and rotors_shown(half, load)


@pytest.mark.parametrize("wrong", [{}, {"delay": 5e-3, "gain": 1.02}, {"compliance": -1 / 30_000}])
def test_delay_gain_and_noise_of_a_velocity_are_no_deflection(wrong):
    stiff, load = motion(**{"compliance": 0.0, "noise": 2e-3} | wrong)
    assert shares(stiff, stiff.rotor, load).max() < 0.2 * SHOWN and not rotors_shown(stiff, load)
    assert not rotors_shown(replace(stiff, rotor=None), load)


@pytest.mark.parametrize(("missing", "time"), [((), ROTOR_TIME), (("elasticity",), 0.0)])
def test_noise_of_velocities_does_not_drive_the_friction_of_a_stiff_arm(missing, time):
    """One Fourier motion without a stand, white noise of 2 mrad/s: at rest its integral turns friction round."""
    centre = np.array([0.0, -1.2, 1.5, -1.9, -1.57, 0.4])
    path = motions.fourier(centre, 24.0, 500.0, amplitude=0.6, velocity=1.0, seed=3)
    log = rehearse(SimulatedRobot(UR5E, seed=2, overrides=without(*missing)), path)
    log.qd = log.qd + 2e-3 * np.random.default_rng(0).normal(size=log.qd.shape)
    runs = [recording(log, str(k)) for k in range(2)]
    seen = filtered(runs[0], 10.0)
    assert rotors_shown(seen, MODEL.rnea(seen.q, seen.qd, seen.qdd)) == (not missing)
    found = steps(runs[:1], runs[1:], chosen=structure(laws(), 10.0), until="fit_together", search=True)
    assert set(found.live.hysteresis["rotor_time"]) == {time}
