"""Contact in recordings to identify from: found, left out, and named; rotors that it hides are named as well."""

import numpy as np
import pytest
from prepared import identified as free
from prepared import steps
from synthetic import synthetic_log, truth_of

from robot_dynamics_ros.identification.arm.contact import (
    _stretches,
    contact_stretches,
    far_rotors,
    lost_rotors,
    touched,
    without,
)
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.identify import Options, leave_out_contact, recognise_effort
from robot_dynamics_ros.identification.arm.state import Identification
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.recording import Piece, recording
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.robot_file.gaps import identified as known
from robot_dynamics_ros.simulation.plant.build import load_plant
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions

UR5E = load_robot("ur5e")
TRUTH = truth_of(UR5E)
MODEL = RobotModel(UR5E.chain())
SPANS = [(5.0, 6.5), (14.0, 15.0), (22.0, 24.0)]


def pushed(log, spans, level=80.0):
    """The log with a push of `level` [N] in a direction of its own in every span [s]; the direction repeats."""
    rng, w, t = np.random.default_rng(2), np.zeros((len(log), 6)), log.time
    for begin, end in spans:
        direction = rng.normal(size=3)
        level_at = np.clip(np.minimum(t - begin, end - t) / 0.1, 0, 1)
        w[:, :3] += level * level_at[:, None] * direction / np.linalg.norm(direction)
    log.effort = log.effort - np.einsum("kij,ki->kj", MODEL.jacobian(log.q), w)
    return log


def prepared(log, **options):
    state = Identification(UR5E, Options(**options), [recording(log, "run")], [], "")
    recognise_effort(state)
    return state


def test_free_motion_is_left_alone():
    state = prepared(synthetic_log(UR5E, TRUTH, 1, 30.0))
    leave_out_contact(state)
    assert state.training[0].duration == pytest.approx(30.0, abs=0.1)
    assert not state.warnings and not state.friction_invalid_reason


@pytest.mark.parametrize("kind", ["stop and go", "fourier"])
def test_soft_transmissions_are_no_contact(kind):
    """Seven axes, a tenth of the stiffness, 250 Hz: gears bend by milliradians."""
    robot = load_robot("panda")
    stiffness = load_plant(robot).true["transmission.stiffness"]
    machine = SimulatedRobot(robot, seed=2, rate=250.0, overrides={"transmission.stiffness": stiffness / 10})
    centre, draw = np.array([0.0, -0.3, 0.0, -1.8, 0.0, 1.7, 0.5]), np.random.default_rng(2)
    if kind == "fourier":
        motion = motions.fourier(centre, 30.0, 250.0, amplitude=0.7, velocity=1.0, seed=2)
    else:
        points = [centre + draw.uniform(-0.6, 0.6, 7) for _ in range(12)]
        motion = motions.path([centre, *points, centre], velocity=1.0, acceleration=4.0, rate=250.0)
    machine.reset(motion[0][0])
    log = machine.run(*motion)[0]
    state = Identification(robot, Options(), [recording(log, kind)], [], "")
    recognise_effort(state)
    leave_out_contact(state)
    assert not state.warnings


def test_contact_is_found_left_out_and_reported():
    state = prepared(pushed(synthetic_log(UR5E, TRUTH, 1, 30.0), SPANS))
    found = contact_stretches(state.rigid, state.training)
    assert len(found) == len(SPANS)
    for stretch, (begin, end) in zip(found, SPANS, strict=True):
        assert stretch.begin < begin + 0.3 and stretch.end > end - 0.3 and stretch.duration < end - begin + 1.5
    leave_out_contact(state)
    assert 30.0 - 10.0 < state.training[0].duration < 30.0 - 4.0
    assert any("contact" in text and "--exclude FROM:TO" in text for text in state.warnings)
    assert all(
        not (s.begin + 0.1 < p.begin + t < s.end - 0.1) for s in found for p in state.training[0].pieces for t in p.t
    )
    assert [r.samples for r in without(state.training, [])] == [r.samples for r in state.training]


def test_smaller_contact_shows_beside_identified_friction():
    spans = [(a, a + 1.5) for a in np.arange(3.0, 27.0, 5.0)]
    log = pushed(synthetic_log(UR5E, TRUTH, 1, 30.0), spans, 8.0)
    first = prepared(log)
    assert len(contact_stretches(first.rigid, first.training)) < 3
    found = steps([recording(log, "run")], until="leave_out_more_contact")
    t = np.concatenate([piece.begin + piece.t for piece in found.training[0].pieces])
    inside = [((t > begin + 0.3) & (t < end - 0.3)).any() for begin, end in spans]
    assert sum(inside) <= 1 and 30.0 - 14.0 < found.training[0].duration < 30.0 - 6.0
    assert found.touched and any("contact" in text and "--exclude" in text for text in found.warnings)
    assert len(set(found.statements)) == len(found.statements)
    ignored = steps([recording(log, "run")], contact="ignore", until="choose_live_motion")
    assert not free().touched and not ignored.touched


@pytest.mark.parametrize(("joints", "found"), [((1,), False), ((1, 2), True), ((0,), True)])
def test_contact_beside_known_friction_loads_several_joints(joints, found):
    """An error of friction of one joint is none; an arm of one joint has no second one."""
    n = 1 if joints == (0,) else 4
    residual = np.random.default_rng(0).normal(0.0, 0.01, (3000, n))
    residual[1000:1100, list(joints)] += np.array([2.0, 1.5])[: len(joints)]
    (rows,) = touched([residual], [np.ones_like(residual)], np.full(n, 4.0), 50.0)
    assert rows[1015:1085].all() == found and rows.any() == found and rows.sum() < 200


def test_leaving_contact_out_gives_back_the_friction():
    """A recording with pushes predicts free motion better than when contact is ignored."""
    errors = []
    for contact in ("auto", "ignore"):
        log = pushed(synthetic_log(UR5E, TRUTH, 1, 30.0), SPANS, 120.0)
        judge = recording(synthetic_log(UR5E, TRUTH, 2, 15.0), "judge")
        found = steps([recording(log, "run")], [judge], until="fit_parameters", contact=contact)
        motion = found.filtered(found.validation[0])
        errors.append(
            np.sqrt(((motion.effort - found.consistent.predict(motion)) ** 2).mean(axis=0)) / motion.effort.std(0)
        )
    assert errors[0].mean() < 0.7 * errors[1].mean()


def test_a_recording_full_of_contact_does_not_give_identified_friction():
    log = pushed(synthetic_log(UR5E, TRUTH, 1, 30.0), [(a, a + 1.7) for a in np.arange(1.0, 28.0, 2.0)], 100.0)
    found = steps([recording(log, "run")], until="choose_live_motion")
    assert "contact" in found.friction_invalid_reason and any("not identified" in text for text in found.warnings)
    assert not known(identified_robot(found).friction)
    assert not free().friction_invalid_reason and known(identified_robot(free()).friction)


def test_rotor_inertias_far_below_the_initial_model_are_named():
    initial = UR5E.array("drives.rotor_inertia")
    low = lost_rotors(UR5E, 0.01 * initial, 0.05 * initial)
    assert len(low) == 6 and low[0].startswith("shoulder_pan_joint")
    assert lost_rotors(UR5E, 0.9 * initial, 0.05 * initial) == []
    assert lost_rotors(UR5E, 0.01 * initial, initial) == []  # not known well enough to say so


def test_rotors_a_factor_of_three_off_the_initial_model_are_named():
    initial = UR5E.array("drives.rotor_inertia")
    factor = np.array([1.0, 3.5, 0.5, 0.2, 2.5, np.nan])
    text = far_rotors(UR5E, factor * initial)
    named = [name for name in UR5E.joint_names if name in text]
    assert named == [UR5E.joint_names[1], UR5E.joint_names[3]] and "3.5" in text and "0.2" in text
    assert far_rotors(UR5E, 2.0 * initial) == ""


@pytest.mark.parametrize(("moves", "found"), [(True, True), (False, False)])
def test_a_joint_that_stands_beside_moving_ones_may_be_held_by_friction(moves, found):
    """Twice the level that friction has while it slides: at rest breakaway holds it with either sign."""
    t = np.arange(0.0, 6.0, 0.02)
    speed = np.column_stack([np.full(len(t), 0.3), np.full(len(t), 0.3 if moves else 0.0)])
    zero, start = np.zeros_like(speed), np.arange(len(t)) == 0
    motion = Motion(t, np.cumsum(0.02 * speed, axis=0), speed, zero, zero, start, 50.0)
    residual = np.where((t > 2.0) & (t < 4.0), 2.2, 0.0)[:, None] * [0.0, 1.0]
    assert bool(_stretches(Piece(t, motion.q, None, zero), motion, residual, np.ones(2))) == found
