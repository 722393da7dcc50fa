"""ExternalWrenchStep on dicts as LeRobot robots return them, without LeRobot; and in LeRobot's pipeline where it is."""

from types import SimpleNamespace

import numpy as np
import pytest

from robot_dynamics_ros import RobotModel, load_robot
from robot_dynamics_ros.errors import ConfigError, DataError
from robot_dynamics_ros.lerobot import Currents, ExternalWrenchStep
from robot_dynamics_ros.live import LiveForce

ROBOT = load_robot("ur5e")
POSE = np.array([0.3, -1.2, 1.5, -1.9, -1.57, 0.4])
EFFORT = RobotModel(ROBOT.chain(), ROBOT.joint_names).gravity(POSE[None])[0]  # Nm, as this robot file declares
STEP = 0.0269  # Nm per step of the bus
AXES = ("fx", "fy", "fz", "mx", "my", "mz")


def position():
    joints = {f"{j}.pos": float(np.rad2deg(x)) for j, x in zip(ROBOT.joint_names, POSE, strict=True)}
    return joints | {"gripper.pos": 50.0, "front": np.zeros((2, 2, 3))}


def bus():
    """A servo bus that counts in steps, sign in bit 15, with a gripper that the robot file does not have."""
    steps = {j: round(e / STEP) for j, e in zip(ROBOT.joint_names, EFFORT, strict=True)} | {"gripper": 7}
    present = {"Present_Current": {j: s if s >= 0 else (1 << 15) - s for j, s in steps.items()}}
    present["Present_Position"] = {k.removesuffix(".pos"): v for k, v in position().items() if k.endswith(".pos")}
    return SimpleNamespace(sync_read=present.__getitem__, motors=steps, is_connected=True)


class Plain:
    """As a LeRobot robot: positions of its bus."""

    def __init__(self):
        self.bus = bus()

    observation_features = {k: float for k in position()}

    def get_observation(self):
        return position()


class Arm(Currents, Plain):
    ampere = STEP


def test_it_adds_what_the_live_estimate_is_and_keeps_the_rest():
    step = ExternalWrenchStep("ur5e", outputs=("wrench", "torque_std", "contact"))
    arm, alone = Arm(), LiveForce("ur5e")
    assert set(arm.observation_features) == set(arm.get_observation())
    for k in range(20):
        seen = step.observation(arm.get_observation(), stamp=k / 30)
        expected = alone.update(POSE, effort=STEP * np.round(EFFORT / STEP), stamp=k / 30)
    assert seen["gripper.pos"] == 50.0 and "front" in seen
    assert [seen[f"external_wrench.{a}"] for a in AXES] == pytest.approx(expected.wrench)
    assert seen["external_torque_std.elbow_joint"] == pytest.approx(expected.torque_std[2])
    assert seen["external_contact"] == float(expected.contact)
    assert np.abs(expected.wrench[:3]).max() < 5.0  # the sign bit was understood


def test_a_bad_reading_repeats_the_last_estimate_and_a_reset_forgets_it():
    step, held = ExternalWrenchStep("ur5e"), [f"external_wrench.{a}" for a in ("fx", "fy", "fz")]
    given = {f"{j}.current": 1.0 for j in ROBOT.joint_names}
    for k in range(10):
        good = step.observation(position() | given, stamp=k / 100)
    bad = step.observation(position() | given | {"elbow_joint.pos": np.nan}, stamp=0.1)
    assert any(good[name] for name in held) and [bad[name] for name in held] == [good[name] for name in held]
    assert np.isnan(step.estimate.wrench).all()
    step.reset()
    assert step.observation(position() | given | {"elbow_joint.pos": np.nan}, stamp=0.2)["external_wrench.fx"] == 0.0


def test_what_is_missing_is_named():
    with pytest.raises(DataError, match=r"no JOINT\.torque, \.effort, \.current; .* by the mixin Currents"):
        ExternalWrenchStep("ur5e").observation(position())
    with pytest.raises(
        DataError, match=r"JOINT\.current: joint 'shoulder_pan_joint' is missing; the data names 'elbow"
    ):
        ExternalWrenchStep("ur5e").observation(position() | {"elbow_joint.current": 1.0})
    with pytest.raises(DataError, match=r"JOINT\.pos: joint 'elbow_joint'"):
        ExternalWrenchStep("ur5e").observation({k: v for k, v in position().items() if "elbow" not in k})
    with pytest.raises(ConfigError, match="'force' is none of"):
        ExternalWrenchStep("ur5e", outputs=("force",))


def test_in_lerobots_pipeline_with_its_robot_values_and_features_agree(tmp_path):
    processor = pytest.importorskip("lerobot.processor")
    datasets = pytest.importorskip("lerobot.datasets")
    from lerobot.processor.converters import observation_to_transition, transition_to_observation
    from lerobot.robots.so_follower import SO101Follower, SO101FollowerConfig
    from lerobot.utils.feature_utils import build_dataset_frame

    class Follower(Currents, SO101Follower):
        ampere = STEP

    arm = Follower(SO101FollowerConfig(port="none", calibration_dir=tmp_path))
    arm.bus = bus()
    ways = {"to_transition": observation_to_transition, "to_output": transition_to_observation}
    pipeline = processor.RobotProcessorPipeline(steps=[ExternalWrenchStep("ur5e")], **ways)
    wanted = datasets.create_initial_features(observation=arm.observation_features)
    features = datasets.aggregate_pipeline_dataset_features(pipeline=pipeline, initial_features=wanted)
    seen = pipeline(arm.get_observation())
    frame = build_dataset_frame(features, seen, prefix="observation")
    names = features["observation.state"]["names"]
    assert names[-7:] == [*(f"external_wrench.{a}" for a in AXES), "external_contact"]
    assert frame["observation.state"].tolist() == pytest.approx([seen[n] for n in names], rel=1e-6)
    pipeline.save_pretrained(tmp_path / "saved")
    file = next((tmp_path / "saved").glob("*.json")).name
    again = processor.RobotProcessorPipeline.from_pretrained(tmp_path / "saved", config_filename=file)
    assert again.steps[0].force.robot.name == "ur5e"
    arm.bus.is_connected = False
