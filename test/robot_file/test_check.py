"""`robot-dynamics check` accepts what is right, names what is wrong, and its derived checks can fail."""

from functools import partial

import numpy as np
import pytest
from command_line import robot_dynamics
from robot_text import changed, write

from robot_dynamics_ros.identification.excitation.limits import Limits
from robot_dynamics_ros.models.robot_report import report
from robot_dynamics_ros.robot_file import load_robot, shipped_robots
from robot_dynamics_ros.robot_file.gaps import estimates, one_recording_gives, unknown_numbers
from robot_dynamics_ros.robot_file.store import dump

run = partial(robot_dynamics, "check")


def test_all_shipped_robots_pass():
    result = run()
    assert result.exit_code == 0, result.output
    assert all(name in result.output for name in shipped_robots())


@pytest.mark.parametrize("name", shipped_robots())
def test_no_shipped_robot_raises_a_finding(name):
    assert report(load_robot(name)).findings == []


@pytest.mark.parametrize("name, word", [("ur5e", "up"), ("comau_ns16", "excite")])
def test_the_next_command_is_what_the_file_still_needs(name, word):
    assert f"next: robot-dynamics {word} --robot {name}" in run(name).output


def test_the_next_command_can_be_copied_where_a_path_has_spaces(tmp_path):
    folder = tmp_path / "my arm"
    folder.mkdir()
    file = write(folder, changed(("friction",), None))
    assert f"next: robot-dynamics excite --robot '{file}' --out excitation.csv" in run(file).output


def test_summary_names_what_is_known_unknown_and_estimated():
    output = run("ur5e").output
    for text in ("largest gravity torque [Nm]", "smallest eigenvalue of M [kg m2]", "thermal", "estimated", "Good"):
        assert text in output


def test_what_one_recording_gives_is_missing_and_can_be_found():
    gives = {name: one_recording_gives(load_robot(name)) for name in shipped_robots()}
    for name, fields in gives.items():
        robot = load_robot(name)
        missing = " ".join((*unknown_numbers(robot), *estimates(robot)))
        assert fields and all(field.split(" (")[0] in missing for field in fields)
    heads = [field.split(" (")[0] for field in gives["comau_ns16"]]
    assert heads == "links friction hysteresis residuals drives.rotor_inertia drives.torque_constant".split()
    assert not any(field.startswith("drives.rotor") for field in gives["fr3"])  # behind its sensors
    assert "one recording gives" in run("comau_ns16").output
    known = load_robot("ur5e").with_updates({"friction.source": "x", "hysteresis.source": "x"}, {"x": "a recording"})
    assert known.friction.reference_temperature is None  # no gap that a recording fills
    assert not any(field.startswith(("friction", "hysteresis")) for field in one_recording_gives(known))


@pytest.mark.parametrize("joint", [2, 5])
def test_a_link_without_mass_is_named_and_left_to_identification(tmp_path, joint):
    """The last link without mass makes the mass matrix singular: a warning of a fresh file, no error."""
    links = load_robot("ur5e").link_parameters
    links[joint] = 0.0
    robot = load_robot("ur5e").with_updates({"links": {"source": "x", "parameters": links}}, {"x": "URDF"})
    (tmp_path / "arm.yaml").write_text(dump(robot))
    result = run(tmp_path / "arm.yaml")
    assert result.exit_code == 0, result.output
    assert robot.joint_names[joint] in result.output and "identify will find" in result.output


def test_numbers_of_the_ur5e_are_those_of_its_data_sheet():
    numbers = report(load_robot("ur5e")).numbers
    assert numbers["moving mass [kg]"] == pytest.approx(17.7)
    assert 0.85 < numbers["shoulder to TCP, longest [m]"] < 1.05
    assert numbers["smallest eigenvalue of M [kg m2]"] > 0


def test_several_files_one_wrong(tmp_path):
    good = write(tmp_path, changed(("name",), "good"))
    good = good.rename(tmp_path / "good.yaml")
    wrong = write(tmp_path, changed(("limits", "velocity"), [1.0, -1.0]))
    result = run(good, wrong, "ur5ee")
    assert result.exit_code == 1
    assert "good.yaml " in result.output  # not the name of the robot: another file may have the same
    assert f"error: {wrong}: limits.velocity[1: two]: -1.0 must be >= 0.001" in result.output
    assert "error: ur5ee: no such robot; did you mean 'ur5e'?" in result.output
    assert report(load_robot(good)).numbers["moving mass [kg]"] == 5.0


@pytest.mark.parametrize(
    ("path", "value", "level", "text"),
    [
        (("links", "values", 1, "inertia"), [0.1, 0.0, 0.0, 0.1, 0.0, 0.3], "error", "links [two]: no body can have"),
        (("links", "values", 0, "inertia"), [-9.0, 0, 0, -9.0, 0, -9.0], "error", "not positive definite"),
        (("limits", "torque"), [50.0, 0.1], "error", "limits.torque [two]: 0.1 Nm cannot hold the arm"),
        (("limits", "robot_mass"), 2.0, "warning", "moving links weigh 5.0 kg, the whole robot 2.0 kg"),
        (("limits", "reach"), 9.0, "warning", "limits.reach: 9.0 m, but the kinematics reach"),
        (("drives", "rotor_inertia"), [1.0, 0.0], "warning", "drives.rotor_inertia [two]: 0 is not the inertia"),
    ],
)
def test_unbelievable_robots_are_found(path, value, level, text, tmp_path):
    raw = changed(path, [float(v) for v in value] if isinstance(value, list) else value)
    raw["kinematics"]["joints"][0]["alpha"] = 1.0  # gravity acts on every joint
    raw["kinematics"]["joints"][1]["a"] = 0.5
    result = run(write(tmp_path, raw))
    assert f"{level}: " in result.output and text in result.output, result.output
    assert result.exit_code == (1 if level == "error" else 0)


def test_a_law_that_the_stages_refuse_is_one_error_of_its_file(tmp_path):
    cold = {"fc": 1.0, "fv": 2.0, "t_min": 50.0, "t_max": 20.0}
    wrong = write(tmp_path, changed(("friction", "parameters"), cold))
    result = run(wrong, "ur5e")
    assert result.output.count(f"error: {wrong}: friction.parameters: joint 1: temperature_range lower") == 1


def test_an_unknown_limit_of_one_joint_hides_no_other():
    robot = load_robot("ur5e")
    torque = [None, 10.0, *robot.limits.torque[2:]]
    texts = [f"{found.field}: {found.text}" for found in report(robot.with_updates({"limits.torque": torque})).findings]
    assert any("limits.torque [shoulder_lift_joint]: 10.0 Nm cannot hold" in text for text in texts), texts


@pytest.mark.parametrize(
    "field, value, text",
    [
        ("limits.position_lower", -170.0, "-170 rad are 27 turns: degrees?"),
        ("friction.parameters.fc", 8200.0, "friction of 8200 Nm is beyond the torque limit of 150 Nm"),
        ("residuals", {"source": "x", "moving": 200.0, "rest": 1.0}, "error of the free arm of 200 Nm is beyond the"),
        ("payload.mass", 50.0, "50 kg, but limits.payload is 5 kg"),
        ("payload", {"mass": 1.0, "inertia": [0.1, 0.0, 0.0, 0.1, 0.0, 0.5]}, "no body can have it"),
    ],
)
def test_numbers_in_a_wrong_unit_and_a_payload_that_is_none_are_warned_of(field, value, text):
    found = report(load_robot("ur5e").with_updates({field: value}, {"x": "test"})).findings
    assert {one.level for one in found} == {"warning"} and text in found[0].text


def test_masses_in_grams_are_warned_of():
    robot = load_robot("ur5e")
    links = 1000.0 * robot.inertial_parameters.reshape(6, 10)
    grams = robot.with_updates({"links": {"source": "x", "parameters": links}, "limits.torque": None}, {"x": "URDF"})
    assert any("masses in g" in found.text for found in report(grams).findings)


def test_unknown_numbers_leave_their_checks_out(tmp_path):
    found = report(load_robot(write(tmp_path, changed(("links",), None))))
    assert found.ok and "moving mass [kg]" not in found.numbers


@pytest.mark.parametrize("lower, upper", [(3.5, 5.5), (-6.0, -4.0), (-6.28319, -6.28), (None, -4.0), (3.1, 9.0)])
def test_limits_beyond_half_a_turn_are_checked_at_poses_within_them(tmp_path, lower, upper):
    raw = changed(("limits", "position_lower"), lower)
    raw["limits"]["position_upper"] = upper
    file = write(tmp_path, raw)
    assert run(file).exit_code == 0
    robot = load_robot(file)
    q = robot.random_poses(500)
    within = q <= upper if lower is None else (q >= lower) & (q <= upper)
    assert within.all() and q[:, 0].std() > 0.2 * min(np.pi / 2, 1.0 if lower is None else upper - lower)
    assert np.all(Limits.of(robot).lower < Limits.of(robot).upper)


def test_poses_stay_within_limits_and_repeat():
    robot = load_robot("fr3")
    q = robot.random_poses(500)
    assert np.all(q >= robot.array("limits.position_lower")) and np.all(q <= robot.array("limits.position_upper"))
    assert np.array_equal(q, robot.random_poses(500)) and np.abs(load_robot("ur3").random_poses(500)).max() <= np.pi
