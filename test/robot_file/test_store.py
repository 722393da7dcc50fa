"""Saving is atomic, loses nothing and says who wrote what from which inputs."""

import hashlib
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from robot_text import TWO_JOINTS, changed, write

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.outputs import write_atomically
from robot_dynamics_ros.robot_file import load_robot, save_robot, shipped_robots
from robot_dynamics_ros.robot_file.parameters import MODELS
from robot_dynamics_ros.robot_file.store import config_directories, find_robot


@pytest.mark.parametrize("name", shipped_robots())
def test_shipped_file_survives_a_round_trip(name, tmp_path):
    robot = load_robot(name)
    saved = save_robot(robot, tmp_path / "copy.yaml", command="test")
    assert load_robot(tmp_path / "copy.yaml") == saved != robot
    assert saved.model_copy(update={"provenance": robot.provenance}) == robot


def test_a_list_of_one_joint_comes_back_from_the_file(tmp_path):
    arm = changed(("kinematics", "joints"), TWO_JOINTS["kinematics"]["joints"][:1])
    arm |= {"links": None, "friction": None, "limits": {"source": "here", "velocity": 2.0}}
    arm["drives"] |= {"torque_constant": 10.0, "rotor_inertia": 1.0}
    needed = {name: spec for name, spec in MODELS["hysteresis"]["presliding"].items() if spec.required}
    numbers = {name: [[0.1, 0.2]] if spec.row else min(1.0, spec.upper) for name, spec in needed.items()}
    block = {"source": "here", "model": "presliding", "parameters": numbers}
    robot = load_robot(write(tmp_path, arm)).with_updates({"hysteresis": block})
    save_robot(robot, tmp_path / "one.yaml")
    assert load_robot(tmp_path / "one.yaml").hysteresis == robot.hysteresis


@pytest.mark.parametrize("text", ["0815", "1e3", "-.5e3", "010", "12:30", "2026-05-01", "yes", "bell \a", "two\nlines"])
def test_a_text_that_looks_like_a_number_stays_a_text(text, tmp_path):
    robot = load_robot("ur5e").with_updates({"model": text, "kinematics.base_frame": text})
    assert save_robot(robot, tmp_path / "robot.yaml") == load_robot(tmp_path / "robot.yaml")


def test_updates_are_validated_and_leave_the_original_alone():
    robot = load_robot("ur5e")
    fc = np.arange(6.0)
    assert np.array_equal(robot.with_updates({"friction.parameters.fc": fc}).array("friction.parameters.fc"), fc)
    assert not np.array_equal(robot.array("friction.parameters.fc"), fc)


@pytest.mark.parametrize(
    ("updates", "field"),
    [
        ({"friction.parameters.fc": [1.0, np.nan, 1, 1, 1, 1]}, r"friction.parameters.fc\[1: shoulder_lift_joint\]"),
        ({"friction.parametres.fc": 1.0}, "friction.parametres.fc: no such field"),
        ({"limits.velocty": 1.0}, "limits.velocty: unknown key"),
        ({"friction.source": "run"}, "'run' is not a key of sources"),
        ({"links.values": None, "links.parameters": np.ones((6, 9))}, "has 9 entries, must have 10"),
    ],
)
def test_wrong_updates_are_refused(updates, field):
    with pytest.raises(ConfigError, match=field):
        load_robot("ur5e").with_updates(updates)


def test_identified_links_replace_masses_and_bring_their_source(tmp_path):
    robot = load_robot("ur5e")
    ten = robot.link_parameters * 1.1
    links = {"source": "run", "values": None, "parameters": ten}
    better = robot.with_updates({"links": links}, sources={"run": "a run of this test"})
    save_robot(better, tmp_path / "better.yaml", changed=["links"])
    loaded = load_robot(tmp_path / "better.yaml")
    assert np.array_equal(loaded.link_parameters, ten)  # bit for bit
    assert loaded.sources.items() >= robot.sources.items()


def test_a_block_that_was_null_can_be_written():
    block = {"source": "Simoni2017", "model": "viscous_coulomb", "parameters": {"fc": np.ones(6), "fv": 2.0}}
    robot = load_robot("comau_ns16").with_updates({"friction": block})
    assert robot.array("friction.parameters.fv").tolist() == [2.0] * 6


def test_provenance_grows_with_hashes_of_the_inputs(tmp_path):
    data = tmp_path / "run.bag"
    data.write_bytes(b"motion")
    first = save_robot(load_robot("ur5e"), tmp_path / "a.yaml", command="identify run.bag", inputs=[data])
    save_robot(first, tmp_path / "b.yaml", changed=["friction"])
    one, two = load_robot(tmp_path / "b.yaml").provenance
    assert one.command == "identify run.bag" and one.inputs[0].name == "run.bag"
    assert one.inputs[0].sha256 == hashlib.sha256(b"motion").hexdigest()
    assert two.changed == ("friction",) and two.date >= one.date and two.command


def test_the_name_of_an_input_may_be_no_utf_8(tmp_path):
    data = tmp_path / "l\udce4t.bag"  # as a file system gives the byte 0xe4
    data.write_bytes(b"motion")
    save_robot(load_robot("ur5e"), tmp_path / "a.yaml", command=f"identify {data}", inputs=[data])
    (entry,) = load_robot(tmp_path / "a.yaml").provenance
    assert entry.inputs[0].name == "l?t.bag" and entry.command.endswith("l?t.bag")
    write_atomically(tmp_path / "page.html", f"page of {data.name}")
    assert (tmp_path / "page.html").read_text() == "page of l?t.bag"


@pytest.mark.parametrize("broken", ["os.fsync", "pathlib.Path.replace"])
def test_a_failing_disk_leaves_the_old_file_and_no_temporary(broken, tmp_path, monkeypatch):
    file = tmp_path / "robot.yaml"
    save_robot(load_robot("ur5e"), file, command="first")
    before = file.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(broken, full)
    with pytest.raises(ConfigError, match="cannot be written: No space left on device"):
        save_robot(load_robot("ur3"), file)
    assert file.read_bytes() == before and list(tmp_path.iterdir()) == [file]


def test_missing_input_is_named_before_anything_is_written(tmp_path):
    with pytest.raises(ConfigError, match=r"absent\.bag: cannot be read: No such file"):
        save_robot(load_robot("ur5e"), tmp_path / "robot.yaml", inputs=[tmp_path / "absent.bag"])
    assert not list(tmp_path.iterdir())


def test_a_path_wins_over_nothing_and_a_name_over_a_path(tmp_path, monkeypatch):
    write(tmp_path, TWO_JOINTS).rename(tmp_path / "ur5e")
    monkeypatch.chdir(tmp_path)
    assert load_robot("ur5e").n_joints == 6
    assert load_robot("./ur5e").n_joints == 2


def test_installed_share_is_searched_after_the_source_tree(tmp_path, monkeypatch):
    robots = tmp_path / "share/robot_dynamics_ros/config/robots"
    robots.mkdir(parents=True)
    for name in ("two", "ur5e"):
        write(robots, TWO_JOINTS).rename(robots / f"{name}.yaml")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere{os.pathsep}{tmp_path}")
    assert find_robot("two") == robots / "two.yaml"
    assert robots.parent in config_directories() and find_robot("ur5e") != robots / "ur5e.yaml"


def test_template_is_refused_until_it_is_filled_in(tmp_path):
    template = config_directories()[0] / "robots/template.yaml"
    with pytest.raises(ConfigError, match="template: no such robot"):
        load_robot("template")
    with pytest.raises(ConfigError, match="schema: 'template' must be 1"):
        load_robot(template)
    text = template.read_text().replace("schema: template", "schema: 1")
    assert load_robot(write(tmp_path, text)).n_joints == 2


def test_template_explains_blocks_it_leaves_out(tmp_path):
    """The commented examples of the template are valid when put in place of the null they explain."""
    template = (config_directories()[0] / "robots/template.yaml").read_text().replace("schema: template", "schema: 1")
    lines = template.splitlines()
    for name in ("links", "friction"):
        start = next(i for i, line in enumerate(lines) if line.strip() == f"#   {name}:")
        stop = next(i for i in range(start, len(lines)) if lines[i].strip() == f"{name}: null")
        lines[start : stop + 1] = [line[4:] for line in lines[start:stop]]
    text = "\n".join(lines).replace("my_run", "driver").replace("    values:\n", "    values:\n", 1)
    link = next(line for line in text.splitlines() if "mass: 3.7" in line)
    robot = load_robot(write(tmp_path, text.replace(link, f"{link}\n{link}")))
    assert robot.array("friction.parameters.fc").tolist() == [5.0, 3.0] and robot.link_parameters[1, 9] == 3.7


def test_robots_are_found_from_an_installed_package_without_any_environment(tmp_path):
    """As `pip install --prefix` lays it out: lib/pythonX/site-packages/PACKAGE and share/PACKAGE side by side."""
    package = tmp_path / "lib/python3/site-packages/robot_dynamics_ros"
    share = tmp_path / "share/robot_dynamics_ros/config/robots"
    source = config_directories()[0]
    shutil.copytree(source.parent / "robot_dynamics_ros", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(source / "robots", share)
    code = "from robot_dynamics_ros.robot_file import find_robot; print(find_robot('ur5e'))"
    environment = {"PYTHONPATH": str(package.parent), "PATH": os.environ["PATH"]}
    run = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout.strip() == str(share / "ur5e.yaml"), run.stderr
