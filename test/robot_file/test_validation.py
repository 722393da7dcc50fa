"""Everything wrong in a robot file is one line with file, field, value and bound."""

import math

import pytest
from robot_text import MISSING, TWO_JOINTS, changed, write

from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.models.robot_report import report
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.robot_file.store import examine_robot
from robot_dynamics_ros.robot_file.yaml_text import read_yaml

NAN, INF = math.nan, math.inf

CASES = [
    # path, value, field in the message, text in the message
    (("limits", "velocity"), [2.0, NAN], "limits.velocity[1: two]", "nan must be a finite number"),
    (("limits", "velocity"), [2.0, INF], "limits.velocity[1: two]", "inf must be a finite number"),
    (("limits", "velocity"), [2.0, -2.0], "limits.velocity[1: two]", "-2.0 must be >= 0.001"),
    (("limits", "velocity"), [2.0, 200.0], "limits.velocity[1: two]", "200.0 must be <= 100.0"),
    (("limits", "velocity"), [2.0, "2.0"], "limits.velocity[1: two]", "'2.0' must be a number"),
    (("limits", "velocity"), [2.0, True], "limits.velocity[1: two]", "True must be a number"),
    (("limits", "velocity"), [2.0, 2.0, 2.0], "limits.velocity", "has 3 entries for 2 joints"),
    (("limits", "velocity"), "fast", "limits.velocity", "'fast' must be a list"),
    (("limits", "position_lower"), [NAN, -1.0], "limits.position_lower[0: one]", "nan must be a number"),
    (("limits", "position_lower"), [3.5, -1.0], "limits.position_lower[0: one]", "3.5 must be < position_upper 3.0"),
    (("limits", "position_lower"), 3.5, "limits.position_lower[1: two]", "3.5 must be < position_upper 3.0"),
    (("limits", "position_lower"), [INF, -1.0], "limits.position_lower[0: one]", "inf must be < position_upper 3.0"),
    (("limits", "velocty"), [2.0, 2.0], "limits.velocty", "unknown key; did you mean 'velocity'?"),
    (("limits", "zzz"), 1.0, "limits.zzz", "unknown key; known: source, position_lower"),
    (("frction",), None, "frction", "unknown key; did you mean 'friction'?"),
    (("kinematics", "joints", 1, "alfa"), 1.0, "kinematics.joints[1: two].alfa", "did you mean 'alpha'?"),
    (("kinematics", "joints", 1, "d"), 300.0, "kinematics.joints[1: two].d", "300.0 must be <= 20.0"),
    (("kinematics", "joints", 1, "d"), MISSING, "kinematics.joints[1: two].d", "is missing; write null"),
    (("kinematics", "joints", 1, "alpha"), 90.0, "kinematics.joints[1: two].alpha", "90.0 must be <= 12.5"),
    (("kinematics", "joints", 1, "xyz"), [0.0, 0.0, 0.0], "kinematics.joints[1: two].xyz", "does not belong"),
    (("kinematics", "joints", 1, "name"), "one", "kinematics.joints[1: one]", "'one' is already used by one"),
    (("kinematics", "joints", 1, "name"), "J1", "kinematics.joints[1: J1]", "'J1' is already used by one"),
    (("kinematics", "joints"), [], "kinematics.joints", "needs at least 1 entries"),
    (("kinematics", "convention"), "dh", "kinematics.convention", "'dh' must be 'modified_dh' or 'placements'"),
    (("kinematics", "tip_frame"), "base", "kinematics.tip_frame", "'base' is the base_frame too"),
    (("kinematics", "base_frame"), "", "kinematics.base_frame", "'' must name a frame"),
    (("kinematics", "gravity"), [0.0, 0.0, NAN], "kinematics.gravity[2]", "nan must be a finite number"),
    (("kinematics", "gravity"), [0.0, 0.0], "kinematics.gravity[2]", "is missing"),
    (("links", "values", 1, "mass"), -1.0, "links.values[1: two].mass", "-1.0 must be >= 0"),
    (("links", "values", 1, "com"), [0.1, 0.2], "links.values[1: two].com[2]", "is missing"),
    (("links", "values", 1), {"mass": 1.0}, "links.values[1: two].com", "is missing"),
    (("links", "values"), TWO_JOINTS["links"]["values"][:1], "links.values", "has 1 entries for 2 joints"),
    (("links", "parameters"), [[1.0] * 10, [1.0] * 10], "links", "has both values and parameters"),
    (("links", "source"), "nowhere", "links.source", "'nowhere' is not a key of sources"),
    (("links", "source"), {"mass": "here"}, "links.source", "'mass' is not a field of this block"),
    (("limits", "source"), {"velocity": "here"}, "limits.source", "has no entry for 'position_lower'"),
    (("drives", "torque_constant"), [10.0, -1.0], "drives.torque_constant[1: two]", "-1.0 must be >= 1e-06"),
    (("drives", "rotor_inertia"), [1.0, -1.0], "drives.rotor_inertia[1: two]", "-1.0 must be >= 0.0"),
    (("drives", "torque_side"), "both", "drives.torque_side", "'both' must be 'motor' or 'link'"),
    (("drives", "torque_side"), MISSING, "drives.torque_side", "is missing"),
    (("drives", "effort", "unit"), "kNm", "drives.effort.unit", "'kNm' must be 'Nm' or 'A'"),
    (("drives", "effort", "sign"), 2, "drives.effort.sign", "2 must be 1 or -1"),
    (("drives", "coupling"), [[1.0, 0.0]], "drives.coupling", "must be 2 x 2"),
    (("friction", "model"), "viscous", "friction.model", "'viscous' is unknown; did you mean 'viscous_coulomb'?"),
    (("friction", "parameters", "fc"), [1.0, NAN], "friction.parameters.fc[1: two]", "nan must be a finite number"),
    (("friction", "parameters", "fc"), [1.0, -1.0], "friction.parameters.fc[1: two]", "-1.0 must be >= 0.0 Nm"),
    (("friction", "parameters", "fc"), [1.0, "1"], "friction.parameters.fc[1: two]", "'1' must be a number"),
    (("friction", "parameters", "fc"), [1.0], "friction.parameters.fc", None),
    (("friction", "parameters", "fc"), [1.0] * 3, "friction.parameters.fc", "has 3 entries for 2 joints"),
    (("friction", "parameters", "fc"), [[1.0], [2.0]], "friction.parameters.fc[0: one]", "must be one number per"),
    (("friction", "parameters", "fc"), MISSING, "friction.parameters.fc", "is missing"),
    (("friction", "parameters", "fcc"), 1.0, "friction.parameters.fcc", "unknown parameter of viscous_coulomb"),
    (("friction", "reference_temperature"), 300.0, "friction.reference_temperature", "300.0 must be <= 200.0"),
    (("sensing", "temperature"), "perhaps", "sensing.temperature", "'perhaps' must be true or false"),
    (("sensing", "sample_rate"), 0.0, "sensing.sample_rate", "0.0 must be >= 1.0"),
    (("payload",), {"mass": NAN}, "payload.mass", "nan must be a finite number"),
    (("payload",), {"com": [0.1, 0.0, 0.0]}, "payload.mass", "0.0 must be > 0"),
    (("schema",), 2, "schema", "2 must be 1"),
    (("name",), "no spaces", "name", "'no spaces' must match"),
    (("sources",), MISSING, "sources", "is missing"),
    (("limits",), None, "limits", "null must be a block of keys and values"),
    (("limits",), [1.0], "limits", "[1.0] must be a block of keys and values"),
]


@pytest.mark.parametrize(("path", "value", "field", "text"), CASES)
def test_every_mistake_names_file_field_value_and_bound(path, value, field, text, tmp_path):
    file = write(tmp_path, changed(path, value))
    if text is None:
        load_robot(file)  # one number holds for every joint
        return
    with pytest.raises(ConfigError) as caught:
        load_robot(file)
    problems, robot = examine_robot(file)
    assert robot is None
    lines = [str(p) for p in problems]
    assert any(line.startswith(f"{file}: {field}: ") and text in line for line in lines), lines
    assert str(file) in str(caught.value) and "\n" not in str(caught.value)
    assert all("\n" not in line for line in lines)


def test_all_problems_are_found_at_once(tmp_path):
    raw = changed(("limits", "velocity"), [2.0, NAN])
    raw["drives"]["rotor_inertia"] = [-1.0, -2.0]
    problems, _ = examine_robot(write(tmp_path, raw))
    rotors = {"drives.rotor_inertia[0: one]", "drives.rotor_inertia[1: two]"}
    assert {p.field for p in problems} == {"limits.velocity[1: two]", *rotors}
    with pytest.raises(ConfigError, match="and 2 more"):
        load_robot(write(tmp_path, raw))


PRESLIDING = {
    **dict.fromkeys(("load_limit", "load_power", "sliding_ratio", "stribeck_velocity", "v0"), 1),
    **dict.fromkeys(("fv1", "fv2", "fv0"), 0),
    **{"span": [[0.001, 0.01]], "level": [[2.0, 1.0]], "load": [[0.0, 0.0]]},
}


def presliding(**values):
    block = {"source": "here", "model": "presliding", "parameters": PRESLIDING | values}
    return changed(("hysteresis",), block)


def test_a_list_of_elements_must_be_as_long_for_every_joint_and_one_holds_for_all(tmp_path):
    robot = load_robot(write(tmp_path, presliding()))
    assert robot.array("hysteresis.parameters.span").tolist() == 2 * [[0.001, 0.01]] and report(robot).ok
    problems, _ = examine_robot(write(tmp_path, presliding(level=[[2.0, 1.0], [1.0]])))
    assert [p.field for p in problems] == ["hysteresis.parameters.level"]
    assert "must have equally many entries for every joint" in str(problems[0])


def test_a_number_that_is_unknown_hides_no_whole_number_of_another_joint(tmp_path):
    robot = load_robot(write(tmp_path, presliding(bearing=[3, None], level=[[2, 1], None])))
    assert robot.array_or("hysteresis.parameters.bearing", 0.0).tolist() == [3.0, 0.0]
    assert report(robot).ok  # whose level is not known


BAD_YAML = [
    ("a: [1, 2\nb: 3\n", "line 2", "malformed YAML"),
    ("a: 1\na: 2\n", "line 2", "duplicate key 'a'"),
    ("a: &x 1\nb: *x\n", "line 2", "aliases are not supported"),
    ("a: !!python/object/apply:os.system [ls]\n", "line 1", "malformed YAML"),
    ("a: " + "[" * 50 + "]" * 50 + "\n", "line 1", "nested deeper"),
    ("- 1\n- 2\n", "", "must hold a mapping of keys to values"),
    ("", "", "must hold a mapping of keys to values, not null"),
    ("just text\n", "", "must hold a mapping"),
    ('<robot name="x"></robot>\n', "", "a URDF: robot-dynamics new makes a robot file of it"),
    ("? [a, b]\n: 1\n", "line 1", "malformed YAML"),
    ("? {a: 1}\n: 1\n", "line 1", "malformed YAML"),
    ("a: 1\n\tb: 2\n", "line 2", "malformed YAML"),
    ("1: 2\n", "line 1", "a key must be text"),
    ("a: \x00\n", "", "malformed YAML"),
]


@pytest.mark.parametrize(("content", "where", "text"), BAD_YAML)
def test_malformed_yaml_names_file_line_and_reason(content, where, text, tmp_path):
    file = write(tmp_path, content)
    problems, robot = examine_robot(file)
    assert robot is None
    assert any(text in str(p) and str(p).startswith(f"{file}: {where}") for p in problems), problems


def test_text_that_is_not_utf8_names_the_line(tmp_path):
    (tmp_path / "robot.yaml").write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(ConfigError, match="line 2: not UTF-8 text"):
        load_robot(tmp_path / "robot.yaml")


def test_a_huge_file_is_refused_without_parsing(tmp_path):
    (tmp_path / "robot.yaml").write_bytes(b"a" * 2_000_000)
    with pytest.raises(ConfigError, match="larger than 1000000 bytes"):
        load_robot(tmp_path / "robot.yaml")


def test_a_file_read_twice_gives_contents_of_their_own(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("a: {b: [1, 2]}\n")
    first = read_yaml(path)
    first["a"]["b"].append(3)
    assert read_yaml(path) == {"a": {"b": [1, 2]}}
    path.write_text("a: 5\n")
    assert read_yaml(path) == {"a": 5}


def test_numbers_without_a_dot_are_numbers(tmp_path):
    import yaml

    text = yaml.safe_dump(changed(("drives", "rotor_inertia"), ["A", "B"]))
    file = write(tmp_path, text.replace("- A", "- 1e-3").replace("- B", "- 2E2"))
    assert load_robot(file).array("drives.rotor_inertia").tolist() == [0.001, 200.0]


def test_numbers_that_begin_with_zero_are_decimal(tmp_path):
    (tmp_path / "numbers.yaml").write_text("a: 010\nb: -08\n")
    assert read_yaml(tmp_path / "numbers.yaml") == {"a": 10, "b": -8}


def test_a_directory_or_missing_file_is_one_line(tmp_path):
    for path, why in ((tmp_path, "is a directory, expected a robot"), (tmp_path / "absent.yaml", "no such robot")):
        with pytest.raises(ConfigError, match=f"{why} file"):
            load_robot(path)


def test_unknown_name_lists_the_known_robots():
    with pytest.raises(ConfigError, match=r"ur5ee: no such robot; did you mean 'ur5e'\? known: .*panda.*ur5e"):
        load_robot("ur5ee")


@pytest.mark.parametrize("field", ["drives.torque_constant", "limits.acceleration", "thermal.parameters.alpha", "nope"])
def test_asking_for_an_unknown_number_names_the_field(field, tmp_path):
    robot = load_robot(write(tmp_path, changed(("drives", "torque_constant"), [10.0, None])))
    assert not robot.has(field)
    joints = " of two" if field == "drives.torque_constant" else ""
    with pytest.raises(CapabilityError, match=f"{field}{joints} is unknown"):
        robot.array(field)


def test_the_bound_of_a_number_without_unit_ends_with_the_number(tmp_path):
    raw = changed(("friction", "parameters", "beta"), -1.0)
    (problem,), _ = examine_robot(write(tmp_path, raw))
    assert str(problem).endswith("-1.0 must be >= 0.0")
