"""The meaning of a driver's effort is watched live: adopted, withheld or a warning; also the torque of a newer UR."""

from types import SimpleNamespace

import numpy as np
import pytest
from resting_arm import GRAVITY, MODEL, POSE, UR5E, resting
from stepped import NodeDouble

from robot_dynamics_ros.drivers.interface import Driver, RobotStatus
from robot_dynamics_ros.drivers.ur.driver import UrDriver
from robot_dynamics_ros.drivers.ur.status import status_of
from robot_dynamics_ros.effort.evidence import REST_SAMPLES
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.nodes.diagnostics import OK, WARN
from robot_dynamics_ros.nodes.robot.effort_watch import EffortWatch
from robot_dynamics_ros.nodes.robot.estimates import Estimates
from robot_dynamics_ros.nodes.robot.stages import select

JUDGED = 502  # samples of a second, after which they have passed
FREE = np.full(6, 1e-3)  # Nm, without gravity; exactly zero is that of drives without power
HANGS = np.array([0.3, 0.0, np.pi / 2, 0.0, 0.2, 0.0])  # the forearm; the upper arm is level
AMPERE = 1 / UR5E.array("drives.torque_constant")


def moving(k, scale, velocity=True):
    """A motion without a rest; effort: gravity torque, friction and noise times a scale."""
    phase = np.sin(0.004 * k + np.arange(6))
    sample = resting(0.0, k)
    sample.q[:], sample.qd[:] = POSE + 0.2 * phase, 0.4 * np.cos(0.004 * k + np.arange(6)) if velocity else np.nan
    sample.effort[:] = (MODEL.gravity(sample.q) + 3.0 * np.sign(phase) + 0.1 * (k % 7)) * scale
    return sample


def watched(effort, recognise):
    watch = EffortWatch(UR5E, recognise)
    changed = [watch.on_sample(resting(effort, k)) for k in range(REST_SAMPLES)]
    return watch, any(changed)


def test_a_contradiction_is_adopted_or_withholds_the_estimates():
    watch, changed = watched(FREE, True)
    assert changed and not watch.withheld and not watch.meaning.includes_gravity
    watch, changed = watched(FREE, False)
    assert not changed and watch.withheld and "declares Nm, gravity included" in watch.text


@pytest.mark.parametrize("held", [0.1, -0.1])
def test_an_effort_in_nm_without_gravity_is_no_current_because_friction_holds_a_tenth_of_gravity(held):
    for unit in ("", "Nm"):
        watch = EffortWatch(UR5E, True, unit)
        for k in range(REST_SAMPLES):
            watch.on_sample(resting(held * GRAVITY, k))
        assert (str(watch.meaning) == "Nm, gravity already removed" and not watch.withheld) == bool(unit), watch.text


def beside_another_driver(driver=None):
    return Estimates(NodeDouble(effort_semantics="recognise"), UR5E, select("force,motion,friction"), driver)


def test_a_moving_arm_is_published_once_its_effort_agrees_with_the_file_and_one_in_ampere_not_before_it_rests():
    good, ampere = (beside_another_driver() for _ in range(2))
    assert any([good.add_to(moving(k, 1.0)) for k in range(2500)])
    assert not any([ampere.add_to(moving(k, AMPERE)) for k in range(5000)])
    level, text, _ = ampere.diagnose()
    assert level == WARN and "nothing is published until effort is judged" in text
    assert "not tared" in ampere._node.call("tare")[1]
    for k in range(5000, 5000 + REST_SAMPLES):
        sample, last = resting(0.0, k), moving(5000, 0.0).q
        sample.q[:], sample.effort[:] = last, MODEL.gravity(last) * AMPERE + 0.001 * (k % 7)
        published = ampere.add_to(sample)
    assert published
    assert str(ampere._effort.meaning) == "A, gravity included"


NORMAL = RobotStatus(safety_normal=True)
OF_THE_USER = SimpleNamespace(proven=Driver.proven, effort_unit=Driver.effort_unit, status=NORMAL)


@pytest.mark.parametrize("driver", [None, OF_THE_USER], ids=["of another node", "of the user"])
def test_of_a_driver_that_is_not_proven_an_effort_of_the_opposite_sign_is_not_published(driver):
    good, reversed_ = (beside_another_driver(driver) for _ in range(2))
    assert any([good.add_to(moving(k, 1.0)) for k in range(2500)])
    samples = [moving(k, -1.0) for k in range(5000)]
    assert not any([reversed_.add_to(sample) or sample.has("external_wrench") for sample in samples])


NO_CONSTANTS = UR5E.with_updates({"drives.torque_constant": None})
CARRIED = 0.06 * GRAVITY  # an effort in A, or a contact that carries the arm
HEAVY = UR5E.with_updates({"payload.mass": 10.0})
LOADED = RobotModel(HEAVY.chain(), HEAVY.joint_names).gravity(POSE)


@pytest.mark.parametrize(
    ("efforts", "why"),
    [
        ([CARRIED], "less than half"),
        ([0.4 * GRAVITY], ""),  # not sure
        ([GRAVITY * [1, 0.06, 0.7, 0.06, 1, 1]], ""),  # a contact
        ([GRAVITY, CARRIED], ""),
        ([CARRIED, GRAVITY], ""),
        ([10 * GRAVITY], "more than 2.5 times"),
        ([LOADED], ""),
        ([GRAVITY, 10 * GRAVITY], ""),
        ([10 * GRAVITY, GRAVITY], ""),
    ],
    ids=[
        "ampere",
        "a light arm",
        "one joint agrees",
        "a contact after a rest",
        "a contact that ends",
        "ten times",
        "twice the payload limit",
        "a collision after a rest",
        "a collision that ends",
    ],
)
def test_an_effort_surely_far_from_the_declared_is_withheld_where_nothing_agreed_before(efforts, why):
    watch = EffortWatch(NO_CONSTANTS, True)
    for k, effort in enumerate(efforts):
        for i in range(REST_SAMPLES):
            watch.on_sample(resting(effort, k * REST_SAMPLES + i))
    assert watch.withheld == bool(why) and ("what the robot file declares" in watch.text) == bool(why)
    assert why in watch.text


def test_an_effort_without_a_meaning_is_also_told_on_the_console():
    estimates = beside_another_driver()
    for k in range(600 + REST_SAMPLES):
        estimates.add_to(resting(GRAVITY * [1, 4, 2, 5, 1, 1] + 0.1 * (k % 7), k))
    assert estimates.diagnose()[0] == WARN
    ((text, limits),) = (said for said in estimates._node.log if "effort is ambiguous" in said[0])
    assert limits == {"once": True} and text.endswith("drives.effort in the robot file") and "--" not in text
    estimates._effort.level, estimates._effort.text = OK, "effort recognised at rest: Nm"  # at a later rest
    for _ in range(2):
        estimates._log_effort(estimates._effort)
    assert [text for text, _ in estimates._node.log].count("effort recognised at rest: Nm") == 1


def test_a_reason_is_logged_once_however_its_numbers_are_written():
    estimates = beside_another_driver()
    for k in range(1600):
        sample = resting(GRAVITY + 0.1 * (k % 7), k)
        sample.q[:] = 9000.0 + k
        estimates.add_to(sample)
    (said,) = (text for text, _ in estimates._node.log if "not radians" in text)
    assert "reach 9451" in said and "e+04" in estimates._gate.why


def test_a_rest_is_seen_without_a_velocity_and_a_motion_is_none():
    watch = EffortWatch(UR5E, True)
    for k in range(5 * REST_SAMPLES):
        watch.on_sample(moving(k, AMPERE, velocity=False))
    assert not watch.judged
    for k in range(REST_SAMPLES):
        sample = resting(GRAVITY * AMPERE, k)
        sample.qd[:] = np.nan
        watch.on_sample(sample)
    assert watch.judged and watch.meaning.unit == "A"


@pytest.mark.parametrize("recognise", [True, False])
@pytest.mark.parametrize("factor", [-1.0, 10.0])
def test_a_wrong_effort_of_one_joint_withholds_the_estimates_as_that_of_all(recognise, factor):
    """Before, it was published beside a warning, 158 N off: one joint's torque is in all of the wrench."""
    one = GRAVITY * np.where(np.arange(6) == 2, factor, 1.0)
    watch, _ = watched(one, recognise)
    assert watch.withheld and "elbow_joint" in watch.text and "--" not in watch.text
    several, _ = watched(factor * GRAVITY, recognise)
    assert several.withheld

    def rest(effort, stamp, turn=0.0, pose=POSE):
        for k in range(REST_SAMPLES):
            sample = resting(effort, k)
            sample.q[:] = pose
            sample.q[0] += turn
            sample.stamp_ns += stamp
            watch.on_sample(sample)
        return watch.withheld

    assert rest(MODEL.gravity(HANGS), 10**8, pose=HANGS)  # shows nothing of the elbow
    assert not rest(GRAVITY, 10**9)
    assert not rest(one, 2 * 10**9)  # may be a contact
    assert not rest(GRAVITY, 3 * 10**9) and not rest(one, 4 * 10**9, 0.2)
    assert rest(one, 5 * 10**9, 0.4) == (factor > 1)  # in two poses in a row only one joint's
    assert not rest(GRAVITY, 6 * 10**9)
    assert rest(one, 60 * 10**9)  # after a silence it is another driver's


@pytest.mark.parametrize("recognise", [True, False])
def test_the_only_sign_that_shows_withholds_where_nothing_agreed_before(recognise):
    """The upper arm level, the forearm hangs: only the shoulder carries."""
    watch = EffortWatch(UR5E, recognise)
    for k, sign in enumerate([-1, 1, -1]):
        for i in range(REST_SAMPLES):
            sample = resting(sign * MODEL.gravity(HANGS), k * REST_SAMPLES + i)
            sample.q[:] = HANGS
            watch.on_sample(sample)
        assert watch.withheld == (k == 0) and ("shoulder_lift_joint" in watch.text) == (sign < 0)


@pytest.mark.parametrize(
    ("mode", "source", "free"), [(7, "controller", True), (5, "controller", False), (7, "current", False)]
)
def test_the_torque_of_a_newer_ur_without_gravity_is_recognised_while_its_drives_hold(mode, source, free):
    """A UR driver that reports the controller's torque."""
    selection = SimpleNamespace(stages=("motion",), all=False, tables={"motion": ()})
    status = status_of(lambda name: np.array([float({"robot_mode": mode, "safety_mode": 1}.get(name, 0))]))
    ur = UrDriver(UR5E, "", effort_source=source)
    driver = SimpleNamespace(status=status, proven=ur.proven, effort_unit=ur.effort_unit)
    estimates = Estimates(NodeDouble(effort_semantics="robot_file"), UR5E, selection, driver)
    for k in range(JUDGED + REST_SAMPLES + 1):
        sample = resting(FREE, k)
        sample.effort += 1e-6 * (k % 7)
        estimates.add_to(sample)
    assert (np.abs(sample.drive_torque - GRAVITY).max() < 2e-3) == free
