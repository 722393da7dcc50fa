"""package.xml through bloom's generator of Debian packages, as a release would use it; rosdep keys are not resolved."""

from importlib import import_module, util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
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
