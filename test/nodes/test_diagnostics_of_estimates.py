"""The diagnostics of the estimates name signals, friction, wear, brakes and samples; payload and tare as messages."""

from types import SimpleNamespace

import numpy as np
import pytest
from force_bench import measured, moving, with_residuals
from geometry_msgs.msg import InertiaStamped
from presliding_joint import robot
from resting_arm import GRAVITY, UR5E, estimates_of, resting
from stepped import NodeDouble

from robot_dynamics_ros._core import Status, Wear
from robot_dynamics_ros.estimators.external_force import ForceStage
from robot_dynamics_ros.estimators.stiffness import StiffnessStage
from robot_dynamics_ros.nodes.diagnostics import ERROR, OK, STALE, WARN
from robot_dynamics_ros.nodes.robot.estimates import Estimates
from robot_dynamics_ros.nodes.robot.stages import select
from robot_dynamics_ros.robot_file import load_robot


@pytest.fixture
def estimates():
    return estimates_of()


@pytest.mark.parametrize(("stage", "signal"), [("temperature", "temperature"), ("force", "effort")])
def test_the_diagnostics_name_the_signal_that_is_absent(stage, signal):
    estimates = estimates_of(stages=stage)
    estimates.add_to(resting(np.nan, 0))
    assert f"is {signal} published?" in estimates.diagnose()[1]


def test_a_robot_without_a_temperature_sensor_is_no_reason_to_warn():
    estimates = estimates_of(UR5E.with_updates({"sensing.temperature": False}), "temperature")
    estimates.add_to(resting(GRAVITY, 0))
    assert estimates.diagnose()[:2] == (OK, "ok")


def test_a_node_that_passes_the_temperature_of_the_housing_on_does_not_warn():
    estimates, sample = estimates_of(stages="temperature"), resting(GRAVITY, 0)
    sample.temperature[:] = 30.0
    estimates.add_to(sample)
    assert estimates.diagnose()[:2] == (OK, "ok")


def test_a_payload_counts_from_its_message_on_and_one_that_is_no_number_does_not(estimates):
    message, sample = InertiaStamped(), resting(GRAVITY, 0)
    message.inertia.m, message.inertia.com.z = 1.5, 0.06
    estimates._node.callbacks["payload"](message)
    message.inertia.m = np.nan
    estimates._node.callbacks["payload"](message)
    estimates.add_to(sample)
    assert sample.payload.tolist() == [1.5, 0.0, 0.0, 0.06] and estimates.diagnose()[2]["payload"] == "1.5 kg"
    assert "must be finite" in estimates._node.log[0][0]


@pytest.mark.parametrize(
    ("mass", "z", "text"),
    [
        (1200.0, 0.06, "1200 kg refused: 5 kg"),
        (1.2, 60.0, "beyond 2 m"),
        (-3.0, 0.06, "-3 kg refused: the robot file has 0."),
    ],
)
def test_a_payload_that_no_arm_carries_is_refused_and_the_one_before_stays(estimates, mass, z, text):
    message = InertiaStamped()
    message.inertia.m = 1.5
    estimates._node.callbacks["payload"](message)
    message.inertia.m, message.inertia.com.z = mass, z
    estimates._node.callbacks["payload"](message)
    assert estimates.diagnose()[2]["payload"] == "1.5 kg" and text in estimates._node.log[-1][0]


def test_what_the_force_has_learned_outlasts_a_change_of_its_parameters():
    robot = with_residuals(np.full(6, 0.3), np.full(6, 0.3))
    estimates = estimates_of(robot)
    log, stage = measured(moving(12.0), noise=0.02), estimates.pipeline.stage("force")
    log.effort *= 1.05
    stage.core.bias = np.arange(6.0)
    estimates.pipeline.run(log)
    (shares, _), before = stage.core.friction_drift, stage.core
    estimates.apply({"force.contact_on_ratio": 5.5})
    assert stage.core is not before and abs(shares).max() > 0.01
    np.testing.assert_array_equal(stage.core.bias, np.arange(6.0))
    np.testing.assert_array_equal(stage.core.friction_drift[0], shares)


def test_a_change_at_work_takes_no_friction_off_that_lies_before_a_torque_sensor(monkeypatch):
    """The observer over both encoders finds it; from the first change of any parameter of the force on it was taken."""
    configure, taken = ForceStage.configure, []

    def configured(stage, robot, parameters):
        taken.append(parameters.get("subtract_friction", True))
        configure(stage, robot, parameters)

    monkeypatch.setattr(ForceStage, "configure", configured)
    node = NodeDouble(**{"friction.model": "observer", "force.subtract_friction": True})
    robot = load_robot("fr3").with_updates({"sensing.motor_torque": True})
    estimates = Estimates(node, robot, select("all"), SimpleNamespace(proven=True))
    estimates.apply({"force.bandwidth": 20.0})
    for model in ("static", "observer"):
        node.table["friction.model"] = model
        estimates.apply({"friction.model": model})
    assert taken == [False, False, True, False]


def test_the_diagnostics_say_what_friction_became(estimates, monkeypatch):
    more = "viscous friction is 70 +- 5 % higher (-35 K at the usual 1.5 %/K)"
    monkeypatch.setattr(ForceStage, "friction_health", lambda self: {"elbow_joint": (True, more)})
    estimates.add_to(resting(GRAVITY, 0))
    level, text, values = estimates.diagnose()
    assert level == WARN and text.endswith(f"elbow_joint: {more}") and values["friction_health elbow_joint"] == more


@pytest.mark.parametrize(("wear", "level"), [(Wear.ok, OK), (Wear.warn, WARN), (Wear.error, ERROR)])
def test_the_diagnostics_say_which_transmission_wears(monkeypatch, wear, level):
    two_sides = UR5E.with_updates({"sensing.rotor_encoder": True})
    text = "stiffness -20 % against the robot file's (confidence 0.90)"
    monkeypatch.setattr(StiffnessStage, "wear_health", lambda self: {"elbow_joint": (wear, text)})
    estimates = estimates_of(two_sides, "stiffness")
    estimates._statuses[Status.ok] = 1
    found, said, values = estimates.diagnose()
    assert values["wear_health elbow_joint"] == text
    assert found == level and (f"elbow_joint: {text}" in said) == (level != OK)


def test_the_diagnostics_say_that_no_drive_carries_the_arm(estimates):
    sample = resting(0 * GRAVITY, 0)
    estimates.add_to(sample)
    level, text, _ = estimates.diagnose()
    assert level == WARN and "brakes are closed" in text and np.isnan(sample.external_wrench).all()


def test_nothing_is_tared_behind_closed_brakes(estimates):
    """The mean of the last second before they closed is no torque of now."""
    for k in range(2000):
        estimates.add_to(resting(GRAVITY, k))
    assert estimates._node.call("tare")[0]
    estimates.add_to(resting(0 * GRAVITY, 2000))
    done, why = estimates._node.call("tare")
    assert not done and "brakes are closed" in why


@pytest.mark.parametrize("reported", [50, 70], ids=["while they are closed", "after they opened"])
def test_brakes_that_open_are_neither_a_gap_nor_an_absent_effort(estimates, reported):
    said = []
    for k in range(100):
        estimates.add_to(resting(GRAVITY * (k >= 60), k))
        said += [estimates.diagnose()] if k == reported else []
    said.append(estimates.diagnose())
    assert "brakes are closed" in said[0][1] and "gaps" not in said[-1][1]
    assert not any("absent" in text for _, text, _ in said)


def test_an_effort_that_is_gone_is_not_held_by_brakes(estimates):
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
def test_the_diagnostics_say_that_samples_are_missing(estimates, left_out, words):
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
    estimates = estimates_of(robot(rotor_time=[rotor_time] * 6))
    for k in range(1000):
        estimates.add_to(resting(GRAVITY, k * step))
    level, text, _ = estimates.diagnose()
    said = [limits for line, limits in estimates._node.log if "samples come at" in line]
    assert words in text and said == [{"once": True}] * bool(words) and (level == WARN or not words)
