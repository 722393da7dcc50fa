"""What the effort of a driver means is watched live: adopted, withheld, or a warning; also the torque of a newer UR."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from force_bench import measured, with_residuals
from force_bench import moving as in_motion
from geometry_msgs.msg import InertiaStamped
from presliding_joint import robot
from stepped import NodeDouble

from robot_dynamics_ros._core import Status, Wear
from robot_dynamics_ros.drivers.ur.driver import UrDriver
from robot_dynamics_ros.drivers.ur.status import status_of
from robot_dynamics_ros.effort.evidence import REST_SAMPLES
from robot_dynamics_ros.estimators.external_force import ForceStage
from robot_dynamics_ros.estimators.stiffness import StiffnessStage
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.nodes.diagnostics import ERROR, OK, STALE, WARN
from robot_dynamics_ros.nodes.robot.effort_watch import EffortWatch
from robot_dynamics_ros.nodes.robot.estimates import Estimates
from robot_dynamics_ros.nodes.robot.stages import select
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Sample

ROBOT = load_robot("ur5e")
POSE = np.array([0.3, -0.4, 0.3, -0.5, 0.2, 0.0])
MODEL = RobotModel(ROBOT.chain(), ROBOT.joint_names)
GRAVITY = MODEL.gravity(POSE)
FREE = np.full(6, 1e-3)  # Nm, without gravity; exactly zero is that of drives without power
AMPERE = 1 / ROBOT.array("drives.torque_constant")


def resting(effort, k):
    sample = Sample(ROBOT.joint_names)
    sample.stamp_ns, sample.q[:], sample.qd[:], sample.effort[:] = 10**18 + k * 2_000_000, POSE, 0.0, effort
    return sample


def moving(k, scale, velocity=True):
    """A motion without a rest; effort: gravity torque, friction and noise times a scale."""
    phase = np.sin(0.004 * k + np.arange(6))
    sample = resting(0.0, k)
    sample.q[:], sample.qd[:] = POSE + 0.2 * phase, 0.4 * np.cos(0.004 * k + np.arange(6)) if velocity else np.nan
    sample.effort[:] = (MODEL.gravity(sample.q) + 3.0 * np.sign(phase) + 0.1 * (k % 7)) * scale
    return sample


def watched(effort, recognise):
    watch = EffortWatch(ROBOT, recognise)
    changed = [watch.on_sample(resting(effort, k)) for k in range(REST_SAMPLES)]
    return watch, any(changed)


def test_a_contradiction_is_adopted_or_withholds_the_estimates():
    watch, changed = watched(FREE, True)
    assert changed and not watch.withheld and not watch.meaning.includes_gravity
    watch, changed = watched(FREE, False)
    assert not changed and watch.withheld and "declares Nm, gravity included" in watch.text


def beside_another_driver():
    return Estimates(NodeDouble(effort_semantics="recognise"), ROBOT, select("force,motion,friction"), None)


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


def test_a_moving_arm_whose_effort_has_the_opposite_sign_is_not_published():
    reversed_ = beside_another_driver()
    assert not any([reversed_.add_to(moving(k, -1.0)) for k in range(5000)])


NO_CONSTANTS = ROBOT.with_updates({"drives.torque_constant": None})
CARRIED = 0.06 * GRAVITY  # an effort in A, or a contact that carries the arm


@pytest.mark.parametrize(
    ("efforts", "withheld"),
    [
        ([CARRIED], True),
        ([0.4 * GRAVITY], False),  # not sure
        ([GRAVITY * [1, 0.06, 0.7, 0.06, 1, 1]], False),  # a contact
        ([GRAVITY, CARRIED], False),
        ([CARRIED, GRAVITY], False),
    ],
    ids=["ampere", "a light arm", "one joint agrees", "a contact after a rest", "a contact that ends"],
)
def test_an_effort_surely_below_half_of_the_declared_is_withheld_where_nothing_agreed_before(efforts, withheld):
    watch = EffortWatch(NO_CONSTANTS, True)
    for k, effort in enumerate(efforts):
        for i in range(REST_SAMPLES):
            watch.on_sample(resting(effort, k * REST_SAMPLES + i))
    assert watch.withheld == withheld and ("less than half" in watch.text) == withheld


def test_an_effort_without_a_meaning_is_also_told_on_the_console():
    estimates = beside_another_driver()
    for k in range(600 + REST_SAMPLES):
        estimates.add_to(resting(5 * GRAVITY + 0.1 * (k % 7), k))
    assert estimates.diagnose()[0] == WARN
    ((text, limits),) = (said for said in estimates._node.log if "effort is ambiguous" in said[0])
    assert limits == {"once": True} and text.endswith("drives.effort in the robot file") and "--" not in text
    estimates._effort.level, estimates._effort.text = OK, "effort recognised at rest: Nm"  # at a later rest
    for _ in range(2):
        estimates._log_effort(estimates._effort)
    assert [text for text, _ in estimates._node.log].count("effort recognised at rest: Nm") == 1


@pytest.mark.parametrize(("stage", "signal"), [("temperature", "temperature"), ("force", "effort")])
def test_the_diagnostics_name_the_signal_that_is_absent(stage, signal):
    estimates = Estimates(NodeDouble(), ROBOT, select(stage), SimpleNamespace(effort_varies=False))
    estimates.add_to(resting(np.nan, 0))
    assert f"is {signal} published?" in estimates.diagnose()[1]


def test_a_reason_is_logged_once_however_its_numbers_are_written():
    estimates = beside_another_driver()
    for k in range(1600):
        sample = resting(GRAVITY + 0.1 * (k % 7), k)
        sample.q[:] = 9000.0 + k
        estimates.add_to(sample)
    (said,) = (text for text, _ in estimates._node.log if "not radians" in text)
    assert "reach 9451" in said and "e+04" in estimates._gate.why


def test_a_rest_is_seen_without_a_velocity_and_a_motion_is_none():
    watch = EffortWatch(ROBOT, True)
    for k in range(5 * REST_SAMPLES):
        watch.on_sample(moving(k, AMPERE, velocity=False))
    assert not watch.judged
    for k in range(REST_SAMPLES):
        sample = resting(GRAVITY * AMPERE, k)
        sample.qd[:] = np.nan
        watch.on_sample(sample)
    assert watch.judged and watch.meaning.unit == "A"


@pytest.mark.parametrize("recognise", [True, False])
def test_one_doubtful_sign_is_a_warning_and_several_withhold(recognise):
    one, _ = watched(GRAVITY * [1, 1, -1, 1, 1, 1], recognise)
    assert not one.withheld and "elbow_joint" in one.text
    several, _ = watched(-GRAVITY, recognise)
    assert several.withheld and "drives.effort.sign" in several.text and "--" not in several.text


@pytest.mark.parametrize(
    ("mode", "source", "free"), [(7, "controller", True), (5, "controller", False), (7, "current", False)]
)
def test_the_torque_of_a_newer_ur_without_gravity_is_recognised_while_its_drives_hold(mode, source, free):
    """A UR driver that reports the controller's torque."""
    selection = SimpleNamespace(stages=("motion",), all=False, tables={"motion": ()})
    status = status_of(lambda name: np.array([float({"robot_mode": mode, "safety_mode": 1}.get(name, 0))]))
    driver = SimpleNamespace(status=status, effort_varies=UrDriver(ROBOT, "", effort_source=source).effort_varies)
    estimates = Estimates(NodeDouble(effort_semantics="robot_file"), ROBOT, selection, driver)
    for k in range(REST_SAMPLES + 1):
        sample = resting(FREE, k)
        estimates.add_to(sample)
    assert (np.abs(sample.drive_torque - GRAVITY).max() < 2e-3) == free


def test_a_payload_counts_from_its_message_on_and_one_that_is_no_number_does_not():
    node = NodeDouble()
    estimates = Estimates(node, ROBOT, select("force"), SimpleNamespace(effort_varies=False))
    message, sample = InertiaStamped(), resting(GRAVITY, 0)
    message.inertia.m, message.inertia.com.z = 1.5, 0.06
    node.callbacks["payload"](message)
    message.inertia.m = np.nan
    node.callbacks["payload"](message)
    estimates.add_to(sample)
    assert sample.payload.tolist() == [1.5, 0.0, 0.0, 0.06] and estimates.diagnose()[2]["payload"] == "1.5 kg"
    assert "must be finite" in node.log[0][0]


@pytest.mark.parametrize(("mass", "z", "text"), [(1200.0, 0.06, "1200 kg refused: 5 kg"), (1.2, 60.0, "beyond 2 m")])
def test_a_payload_in_grams_or_millimetres_is_refused_and_the_one_before_stays(mass, z, text):
    node = NodeDouble()
    estimates = Estimates(node, ROBOT, select("force"), SimpleNamespace(effort_varies=False))
    message = InertiaStamped()
    message.inertia.m = 1.5
    node.callbacks["payload"](message)
    message.inertia.m, message.inertia.com.z = mass, z
    node.callbacks["payload"](message)
    assert estimates.diagnose()[2]["payload"] == "1.5 kg" and text in node.log[-1][0]


def test_what_the_force_has_learned_outlasts_a_change_of_its_parameters():
    robot = with_residuals(np.full(6, 0.3), np.full(6, 0.3))
    estimates = Estimates(NodeDouble(), robot, select("force"), SimpleNamespace(effort_varies=False))
    log, stage = measured(in_motion(12.0), noise=0.02), estimates.pipeline.stage("force")
    log.effort *= 1.05
    stage.core.bias = np.arange(6.0)
    estimates.pipeline.run(log)
    (shares, _), before = stage.core.friction_drift, stage.core
    estimates.apply({"force.contact_on_ratio": 5.5})
    assert stage.core is not before and abs(shares).max() > 0.01
    np.testing.assert_array_equal(stage.core.bias, np.arange(6.0))
    np.testing.assert_array_equal(stage.core.friction_drift[0], shares)


def test_the_diagnostics_say_what_friction_became(monkeypatch):
    more = "viscous friction is 70 +- 5 % higher (-35 K at the usual 1.5 %/K)"
    monkeypatch.setattr(ForceStage, "friction_health", lambda self: {"elbow_joint": (True, more)})
    estimates = Estimates(NodeDouble(), ROBOT, select("force"), SimpleNamespace(effort_varies=False))
    estimates.add_to(resting(GRAVITY, 0))
    level, text, values = estimates.diagnose()
    assert level == WARN and text.endswith(f"elbow_joint: {more}") and values["friction_health elbow_joint"] == more


@pytest.mark.parametrize(("wear", "level"), [(Wear.ok, OK), (Wear.warn, WARN), (Wear.error, ERROR)])
def test_the_diagnostics_say_which_transmission_wears(monkeypatch, wear, level):
    two_sides = ROBOT.with_updates({"sensing.rotor_encoder": True})
    text = "stiffness -20 % against the robot file's (confidence 0.90)"
    monkeypatch.setattr(StiffnessStage, "wear_health", lambda self: {"elbow_joint": (wear, text)})
    estimates = Estimates(NodeDouble(), two_sides, select("stiffness"), SimpleNamespace(effort_varies=False))
    estimates._statuses[Status.ok] = 1
    found, said, values = estimates.diagnose()
    assert values["wear_health elbow_joint"] == text
    assert found == level and (f"elbow_joint: {text}" in said) == (level != OK)


def test_the_diagnostics_say_that_no_drive_carries_the_arm():
    estimates = Estimates(NodeDouble(), ROBOT, select("force"), SimpleNamespace(effort_varies=False))
    sample = resting(0 * GRAVITY, 0)
    estimates.add_to(sample)
    level, text, _ = estimates.diagnose()
    assert level == WARN and "brakes are closed" in text and np.isnan(sample.external_wrench).all()


def test_nothing_is_tared_behind_closed_brakes():
    """The mean of the last second before they closed is no torque of now."""
    node = NodeDouble()
    estimates = Estimates(node, ROBOT, select("force"), SimpleNamespace(effort_varies=False))
    for k in range(2000):
        estimates.add_to(resting(GRAVITY, k))
    assert node.call("tare")[0]
    estimates.add_to(resting(0 * GRAVITY, 2000))
    done, why = node.call("tare")
    assert not done and "brakes are closed" in why


@pytest.mark.parametrize("reported", [50, 70], ids=["while they are closed", "after they opened"])
def test_brakes_that_open_are_neither_a_gap_nor_an_absent_effort(reported):
    estimates = Estimates(NodeDouble(), ROBOT, select("force"), SimpleNamespace(effort_varies=False))
    said = []
    for k in range(100):
        estimates.add_to(resting(GRAVITY * (k >= 60), k))
        said += [estimates.diagnose()] if k == reported else []
    said.append(estimates.diagnose())
    assert "brakes are closed" in said[0][1] and "gaps" not in said[-1][1]
    assert not any("absent" in text for _, text, _ in said)


def test_an_effort_that_is_gone_is_not_held_by_brakes():
    estimates = Estimates(NodeDouble(), ROBOT, select("force"), SimpleNamespace(effort_varies=False))
    estimates.add_to(resting(0 * GRAVITY, 0))
    estimates.diagnose()
    estimates.add_to(resting(np.nan * GRAVITY, 1))
    level, text, _ = estimates.diagnose()
    assert level == STALE and "absent" in text


@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        ([5], None),  # no samples that matter
        (range(5, 500, 20), "25 samples missing within a second"),
        (range(100, 120), "1 longer gaps within a second"),
    ],
    ids=["one", "a twentieth", "40 ms"],
)
def test_the_diagnostics_say_that_samples_are_missing(left_out, words):
    estimates = Estimates(NodeDouble(), ROBOT, select("force"), SimpleNamespace(effort_varies=False))
    for k in range(500):
        if k not in left_out:
            estimates.add_to(resting(GRAVITY, k))
    level, text, values = estimates.diagnose()
    assert (words in text and level == WARN) if words else "missing" not in text
    assert values["samples missing"] == (0 if len(left_out) == 20 else len(left_out))
    assert estimates.diagnose()[2]["samples missing"] == 0


@pytest.mark.parametrize(
    ("step", "rotor_time", "words"),
    [
        (4, 600.0, "samples come at 125 Hz, the controller has 500 (sensing.sample_rate)"),
        (1, 600.0, ""),
        (4, 0.0, ""),  # positions drive the elements, which lose nothing
    ],
)
def test_the_diagnostics_and_the_console_say_that_the_stream_is_slower_than_the_controller(step, rotor_time, words):
    node, arm = NodeDouble(), robot(rotor_time=[rotor_time] * 6)
    estimates = Estimates(node, arm, select("force"), SimpleNamespace(effort_varies=False))
    for k in range(1000):
        estimates.add_to(resting(GRAVITY, k * step))
    level, text, _ = estimates.diagnose()
    said = [limits for line, limits in node.log if "samples come at" in line]
    assert words in text and said == [{"once": True}] * bool(words) and (level == WARN or not words)
