"""What an effort means where one path makes gravity, acceleration and friction nearly one column."""

import numpy as np
import pytest
from force_bench import UR5E, through
from synthetic import truth_of

from robot_dynamics_ros.effort.decision import decide
from robot_dynamics_ros.effort.evidence import RANGE, EffortEvidence, Evidence, Slopes
from robot_dynamics_ros.effort.likelihood import FREEDOM, MODEL_ERROR, NO_GRAVITY_ERROR, USUAL, of_any_gain, of_gains
from robot_dynamics_ros.effort.rest import stuck_friction
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.effort_meaning import recognise
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.models import RobotModel

BARE = UR5E.with_updates({"drives.torque_constant": None})
MODEL = RobotModel(UR5E.chain(), UR5E.joint_names)
CONSTANT = np.array([11.0, 11.0, 11.0, 8.0, 8.0, 8.0])  # Nm/A


def to_and_fro(seed, poses, unit):
    """Motion of fast pick and place between so many poses: masses of the file wrong by 20 %, Stribeck friction and
    friction of the load, which no column has; unit: effort per Nm.
    """
    rng, truth = np.random.default_rng(seed), truth_of(UR5E, seed)
    centre = np.array([0.0, -1.2, 1.3, -1.5, -1.4, 0.3])
    places = [centre + rng.uniform(-0.4, 0.4, 6) for _ in range(poses)]
    q, qd, qdd = through([places[i % poses] for i in range(24)], rest=0.3, travel=rng.uniform(0.4, 0.7), rate=100)
    links = RobotModel(UR5E.chain_with_links(UR5E.link_parameters * rng.uniform(0.8, 1.2, (6, 1))), UR5E.joint_names)
    tau, sliding = links.rnea(q, qd, qdd), np.tanh(qd / 0.005)
    level = truth.fc * (1.5 + np.exp(-np.abs(qd) / 0.2)) + 1.5 * truth.fv * np.abs(qd) ** 0.7 + 0.08 * np.abs(tau)
    effort = tau + truth.rotor * qdd + sliding * level + truth.offset + 0.3 * rng.standard_normal(q.shape)
    start = np.arange(len(q)) == 0
    return Motion(0.01 * np.arange(len(q)), q, qd, qdd, effort * unit, start, 100.0)


def carried_to_and_fro(seed, poses, unit):
    """Evidence of it."""
    m = to_and_fro(seed, poses, unit)
    evidence, gravity = EffortEvidence(stuck_friction(BARE)), MODEL.gravity(m.q)
    evidence.add_motion(gravity, MODEL.rnea(m.q, m.qd, m.qdd) - gravity, m.qd, m.qdd, m.effort)
    return evidence.evidence()


CASES = [(1.0, "Nm", "Nm"), (1 / CONSTANT, "A", "A"), (1 / CONSTANT, "Nm", "A")]


@pytest.mark.parametrize("poses", [2, 3, 4])
@pytest.mark.parametrize(("unit", "declared", "found"), CASES)
def test_pick_and_place_between_few_poses_says_what_its_effort_is(poses, unit, declared, found):
    """Never something else, and hardly ever nothing; what the file declares is taken where no gravity shows."""
    robot = BARE.with_updates({"drives.effort.unit": declared})
    decisions = [decide(carried_to_and_fro(seed, poses, unit), robot) for seed in range(12)]
    taken = [d.meaning.unit if d.meaning else declared for d in decisions if not d.ambiguous]
    assert all(d.meaning is None or d.meaning.includes_gravity for d in decisions)
    assert set(taken) == {found} and len(taken) >= 11


def hand_made(values, covariance):
    """Evidence of one joint whose slopes on all columns are given."""
    nothing, one = np.full(1, np.nan), np.ones(1)
    slopes = Slopes(values[None], np.linalg.inv(covariance)[None], 2.0 * one)
    known = [values[:1], np.sqrt(covariance[0, 0]) * one, values[1:2], np.sqrt(covariance[1, 1]) * one]
    return Evidence(*known, *([nothing] * 4), 0.0 * one, one, one, one, slopes)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gravity", [True, False])
def test_the_density_is_that_of_slopes_with_usual_friction(seed, gravity):
    """The distance is that of all slopes from what is expected, with their covariance and that of drives."""
    rng = np.random.default_rng(seed)
    root, gain = rng.normal(size=(6, 6)), rng.uniform(0.05, 1.5)
    covariance, values = root @ root.T, rng.normal(size=6)
    values[0] = abs(values[0])
    rigid = gain * np.array([MODEL_ERROR if gravity else NO_GRAVITY_ERROR, MODEL_ERROR])
    total = covariance + np.diag(np.concatenate([rigid, gain * 2.0 * np.array(USUAL)]) ** 2)
    d = values - gain * np.array([gravity, 1, 0, 0, 0, 0])
    friction = np.diag((gain * 2.0 * np.array(USUAL)) ** 2)
    cross, other = covariance[:2, 2:], covariance[2:, 2:] + friction
    beside = covariance[:2, :2] - cross @ np.linalg.solve(other, cross.T) + np.diag(rigid**2)
    t = -0.5 * (FREEDOM + 1) * np.log1p(d @ np.linalg.solve(total, d) / FREEDOM)
    found = of_gains(hand_made(values, covariance), gravity, np.array([gain]), 0.0)
    assert found == pytest.approx(t - 0.5 * np.log(np.linalg.det(beside)), rel=1e-6)


@pytest.mark.parametrize(("gain", "likely"), [(1.0, "torque"), (0.1, "current")])
def test_what_alike_columns_explain_together_tells_the_unit(gain, likely):
    """Gravity and inertial torque are one column: three times the one and less than nothing of the other."""
    covariance = np.diag([4.0, 4.0, 1e-4, 1e-4, 1e-4, 1e-4])
    covariance[0, 1] = covariance[1, 0] = 1e-4 - 4.0
    e = hand_made(np.array([3.0 * gain, -gain, 0.0, 0.0, 0.0, 0.0]), covariance)
    torque, current = of_gains(e, True, np.ones(1), 0.0), of_any_gain(e, True, RANGE, 0.0)
    assert (torque - current > 1.0) == (likely == "torque") and (current - torque > 1.0) == (likely == "current")


@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_the_unit_of_the_effort_changes_no_odds(factor):
    """Efforts and gains times a factor: densities are divided by it for each slope on the rigid body."""
    evidence = [carried_to_and_fro(0, 2, unit) for unit in (1.0, factor)]
    shown = sum(int((s[:2, :2].diagonal() > 0).sum()) for s in evidence[0].slopes.information)
    for gravity in (True, False):
        one, other = (
            of_any_gain(e, gravity, (0.1 * f, 10.0 * f), 0.0) for e, f in zip(evidence, (1.0, factor), strict=True)
        )
        assert one - other == pytest.approx(shown * np.log(factor), abs=1e-3)


def test_a_current_that_no_joint_shows_alone_is_not_taken_as_nm():
    """As the file says: identify went on with a tenth of the torque. What to record is said."""
    for seed in range(40):
        if not decide(carried_to_and_fro(seed, 2, 1 / CONSTANT), BARE).votes.any():
            with pytest.raises(DataError, match="record a motion between more poses"):
                recognise(BARE, to_and_fro(seed, 2, 1 / CONSTANT))
            constants = UR5E.with_updates({"drives.torque_constant": CONSTANT})
            found = recognise(constants, to_and_fro(seed, 2, 1 / CONSTANT))
            assert found.meaning.unit == "A" and "of no joint alone" in found.statements[0]
            return
    raise AssertionError("no such recording")
