"""What a release states about itself, in one version; its Debian packages; the versions of a distribution."""

import os
import re
import subprocess
import sys
from collections import Counter
from importlib import import_module, util
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
VERSION = ElementTree.parse(ROOT / "package.xml").findtext("version")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
RECIPE = (ROOT / "recipe.yaml").read_text(encoding="utf-8")
ELSEWHERE = {"rosbags", "ur-rtde"}  # on the Python index only
CONDA = {"pin": "pinocchio"}


def test_everything_states_the_same_version():
    stated = {
        "broadcaster": ElementTree.parse(ROOT / "contact_force_broadcaster" / "package.xml").findtext("version"),
        "citation": CITATION["version"],
        "changelog": re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1],
        "recipe": yaml.safe_load(RECIPE)["context"]["version"],
    }
    assert stated == dict.fromkeys(stated, VERSION)


def test_the_least_version_of_a_package_stands_in_one_place():
    texts = [(ROOT / name).read_text() for name in ("setup.py", "Makefile", "tools/environment.py")]
    named = Counter(name for text in texts for name in re.findall(r'"([a-z0-9-]+)>=', text))
    assert named["mujoco"] == named["rerun-sdk"] == 1 == max(named.values())


def test_the_pip_line_of_a_workspace_has_the_bounds_of_the_package():
    """And its own matplotlib: that of Ubuntu 24.04 fails with the numpy 2 that `pin` requires."""
    text, stated = ((ROOT / name).read_text() for name in ("docs/install.md", "setup.py"))
    (line,) = re.findall(r"^python3 -m pip install ((?:.*\\\n)*.*)", text, re.MULTILINE)
    bounds = re.findall(r'"([^"]*)"', line)
    assert "matplotlib" in line and len(bounds) > 4 and not [b for b in bounds if b not in stated]


def test_the_citation_has_what_an_archive_needs_for_a_doi():
    """Zenodo reads CITATION.cff; `cffconvert --validate` judges it by the schema of its version."""
    needed = {"cff-version", "message", "title", "abstract", "authors", "version", "license", "keywords", "type"}
    assert set(CITATION) == needed and all(CITATION.values())
    assert CITATION["license"] == ElementTree.parse(ROOT / "package.xml").findtext("license")


def test_the_conda_recipe_renders_and_has_what_the_package_needs():
    rattler_build = pytest.importorskip("rattler_build")
    variant = rattler_build.VariantConfig({"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"], "python": ["3.12.*"]})
    (rendered,) = rattler_build.Stage0Recipe.from_yaml(RECIPE).render(variant)
    recipe = rendered.recipe.to_dict()
    assert recipe["package"]["version"] == VERSION
    listed = re.search(r"install_requires=\[(.*?)\n    \]", (ROOT / "setup.py").read_text(), re.DOTALL)[1]
    needed = set(re.findall(r"""^\s*["']([\w-]+(?:>=[\d.]+[^"';]*)?)""", listed, re.MULTILINE))
    given = {line.lower().replace(" ", "") for line in recipe["requirements"]["run"]}
    for requirement in needed:
        name, _, least = requirement.lower().partition(">=")
        assert name in ELSEWHERE or f"{CONDA.get(name, name)}>={least}" in given, requirement
    assert len(needed) > 8


INDEX = """%YAML 1.1
---
distributions:
  jazzy:
    distribution: [distribution.yaml]
    distribution_status: active
    distribution_type: ros2
    python_version: 3
type: index
version: 4
"""


@pytest.fixture
def generator(tmp_path, monkeypatch):
    """Bloom's generator with an index of ROS distributions that needs no network."""
    if util.find_spec("bloom") is None:
        pytest.skip("bloom is not installed")
    (tmp_path / "index.yaml").write_text(INDEX)
    monkeypatch.setenv("ROSDISTRO_INDEX_URL", (tmp_path / "index.yaml").as_uri())
    return import_module("bloom.generators.debian.generator")


@pytest.mark.parametrize(
    ("folder", "needs", "system"), [(".", "rclpy", "pybuild"), ("contact_force_broadcaster", "rclcpp", "cmake")]
)
def test_a_debian_folder_is_generated(generator, tmp_path, monkeypatch, folder, needs, system):
    asked = []

    def keys(dependencies, *_):
        """Every key resolved to a package of its own name; the database of rosdep is on the network."""
        asked.extend(d.name for d in dependencies)
        return {d.name: [d.name] for d in dependencies}

    monkeypatch.setattr(generator, "resolve_dependencies", keys)
    package = import_module("catkin_pkg.package").parse_package(str(ROOT / folder / "package.xml"))
    found = generator.generate_substitutions_from_package(package, "ubuntu", "noble", "jazzy", "/opt/ros/jazzy")
    generator.place_template_files(str(tmp_path), package.get_build_type())
    generator.process_template_files(str(tmp_path), found)
    control = (tmp_path / "debian" / "control").read_text()
    assert needs in asked and all(name in control for name in asked)
    assert "ament_python" not in asked  # no package and no rosdep key: `rosdep install` refuses the whole workspace
    parts_of_launch = {"robot_state_publisher", "rviz2", "ros2bag", "rosbag2_storage_mcap"}
    assert folder != "." or parts_of_launch <= set(asked)
    assert f"Source: {package.name.replace('_', '-')}" in control and package.maintainers[0].email in control
    assert found["pass_install_scripts"] == (folder != ".")  # setup.cfg names the folder of the executables
    assert package.version in (tmp_path / "debian" / "changelog").read_text()
    assert f"buildsystem={system}" in (tmp_path / "debian" / "rules").read_text()


PINNED = ("numpy==1.26.4", "scipy==1.11.4")
TESTED = {  # folder -> files or tests; all of a folder where there are none
    "models": [""],
    "bags": [""],
    "trajectories": [""],
    "effort": [f"test_effort_{name}.py" for name in ("likelihood", "physics", "recording", "units")],
    "estimators": ["test_pipeline.py", "test_replay.py::test_command_writes_bag_plot_and_numbers"],
    "identification": [
        "test_identify_synthetic.py::test_errors_of_parameters_are_what_their_deviations_say",
        "test_identify_synthetic.py::test_a_recording_with_another_load_is_named_with_its_mass",
        "test_identify_joints.py::test_the_command_writes_robot_file_and_report",
        "test_identify_joints.py::test_thermal_model_of_a_joint_that_warms",
    ],
    "health": ["test_health.py::test_the_command_finds_the_joint_that_wears"],
}
APART = "not fuzz and not parquet and not lerobot"  # the pyarrow of the Python index needs numpy 2
VERSIONS = "import numpy, scipy; print(numpy.__version__, scipy.__version__)"


@pytest.mark.long
@pytest.mark.timeout(3000)
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="numpy 1.26 has wheels up to Python 3.12")
def test_tests_of_all_numerical_parts_pass_with_the_versions_of_the_distribution(tmp_path):
    install = ("install", "-q", "--no-deps", "--only-binary=:all:", "--target", str(tmp_path))
    subprocess.run([sys.executable, "-m", "pip", *install, *PINNED], check=True)
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "OPENBLAS_NUM_THREADS": "1"}
    seen = subprocess.check_output([sys.executable, "-c", VERSIONS], env=environment, text=True)
    assert seen.split() == [name.partition("==")[2] for name in PINNED]
    files = [str(ROOT / "test" / folder / name) for folder, names in TESTED.items() for name in names]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tier", "short", "-k", APART, *files]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
