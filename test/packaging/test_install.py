"""The package as users get it: a wheel in an empty directory, and a colcon workspace."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from robot_dynamics_ros.nodes.tables import NODES

ROOT = Path(__file__).resolve().parents[2]
CHECK = """
import robot_dynamics_ros._core as core
import robot_dynamics_ros.drivers.ur.torque  # reads torque.script
from robot_dynamics_ros.robot_file import load_robot
print(core.__file__, load_robot('ur5e').n_joints)
"""


def run(*command, cwd, **env):
    place = {"cwd": cwd, "env": os.environ | env}
    done = subprocess.run(list(map(str, command)), **place, text=True, capture_output=True, timeout=1200)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def built(source, target):
    target.mkdir(exist_ok=True)
    options = ("--no-deps", "--no-build-isolation", "-qq", "-w", target)
    run(sys.executable, "-m", "pip", "wheel", ".", *options, cwd=source)
    return next(target.glob("robot_dynamics_ros-*.whl"))


@pytest.fixture(scope="module")
def wheel(unchanged_source, tmp_path_factory):
    return built(unchanged_source, tmp_path_factory.mktemp("wheel"))


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_wheel_installs_and_finds_its_robot_files(wheel, tmp_path):
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.endswith("config/robots/ur5e.yaml") for name in names)
    assert any("_core" in name and name.endswith(".so") for name in names)
    assert not [name for name in names if "bench" in name]
    site = tmp_path / "site"
    run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", site, cwd=tmp_path)
    python = site / "bin" / "python"
    packages = next(p for p in map(Path, sys.path) if p.name == "site-packages" and p.is_relative_to(sys.prefix))
    run(sys.executable, "-m", "pip", "--python", python, "install", "-qq", "--no-deps", wheel, cwd=tmp_path)
    core, joints = run(python, "-c", CHECK, cwd=tmp_path, PYTHONPATH=str(packages)).split()
    assert core.startswith(str(site)) and joints == "6"
    version = run(site / "bin" / "robot-dynamics", "--version", cwd=tmp_path, PYTHONPATH=str(packages))
    assert f"<version>{version.split()[-1]}</version>" in (ROOT / "package.xml").read_text()


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_a_user_without_a_compiler_installs_the_wheel_and_sees_the_demo(wheel, tmp_path):
    """From a local index, in an environment of its own, with nothing else on the path, in an empty directory."""
    (tmp_path / "empty").mkdir()
    run(sys.executable, "-m", "venv", tmp_path / "user", cwd=tmp_path)
    place = tmp_path / "user" / "bin"
    alone = {"PATH": str(place), "PYTHONPATH": ""}
    options = ("-q", "--no-compile", "--only-binary=:all:", "--find-links", wheel.parent)
    run(place / "python", "-m", "pip", "install", *options, "robot_dynamics_ros[reports]", cwd=tmp_path, **alone)
    run(place / "robot-dynamics", "demo", "--offline", "--duration", "15", cwd=tmp_path / "empty", **alone)
    (made,) = (tmp_path / "empty").iterdir()
    assert (made / "demo.png").read_bytes().startswith(b"\x89PNG")


def contents(wheel):
    """Name -> checksum of everything but the extension (built twice) and the list of checksums."""
    files = zipfile.ZipFile(wheel).infolist()
    return {f.filename: f.CRC for f in files if not f.filename.endswith((".so", "RECORD"))}


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_the_source_distribution_gives_the_same_wheel(source, wheel, tmp_path):
    run(sys.executable, "setup.py", "-q", "sdist", "-d", tmp_path, cwd=source, PYTHONWARNINGS="ignore")
    shutil.unpack_archive(next(tmp_path.glob("robot_dynamics_ros-*.tar.gz")), tmp_path / "unpacked")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert not (unpacked / "test").exists()  # setuptools adds test/test*.py, without what they import
    shutil.copytree(source / "build", unpacked / "build", ignore=shutil.ignore_patterns("lib*", "bdist*"))  # objects
    again = built(unpacked, tmp_path / "again")
    assert contents(again) == contents(wheel)
    names = "\n".join(contents(again))
    parts = "__init__.pyi _core.pyi py.typed health_report.html.j2 page.html.j2 launch/robot.launch.py plants/ur5e.yaml"
    for part in parts.split():
        assert part in names, part


def neighbour(folder):
    """Another package of the workspace, which uses this one."""
    (folder / "neighbour").mkdir(parents=True)
    (folder / "resource").mkdir()
    for file in ("resource/neighbour", "neighbour/__init__.py"):
        (folder / file).touch()
    (folder / "neighbour/say.py").write_text(
        "def main():\n    from robot_dynamics_ros.robot_file import load_robot\n\n"
        "    print(load_robot('ur5e').n_joints)\n"
    )
    (folder / "setup.cfg").write_text(
        "[develop]\nscript_dir=$base/lib/neighbour\n[install]\ninstall_scripts=$base/lib/neighbour\n"
    )
    (folder / "setup.py").write_text(
        "from setuptools import setup\n"
        "setup(name='neighbour', version='0.0.1', packages=['neighbour'],\n"
        "      data_files=[('share/ament_index/resource_index/packages', ['resource/neighbour']),\n"
        "                  ('share/neighbour', ['package.xml'])],\n"
        "      entry_points={'console_scripts': ['say = neighbour.say:main']})\n"
    )
    (folder / "package.xml").write_text(
        '<package format="3"><name>neighbour</name><version>0.0.1</version><description>n</description>'
        '<maintainer email="n@example.org">n</maintainer><license>Apache-2.0</license>'
        "<exec_depend>robot_dynamics_ros</exec_depend><export><build_type>ament_python</build_type></export></package>"
    )


@pytest.fixture
def workspace(source):
    """A colcon workspace with this package, its objects already built, and a neighbour."""
    folder = source.parents[1]
    shutil.copytree(source / "build", folder / "build" / "robot_dynamics_ros" / "build")
    neighbour(folder / "src" / "neighbour")
    return folder


@pytest.fixture
def colcon():
    command = Path(sys.executable).with_name("colcon")
    if not command.exists():
        pytest.skip("colcon is not installed (pip install colcon-common-extensions)")
    return command


@pytest.mark.long
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("option", [(), ("--symlink-install",)], ids=["copied", "linked"])
def test_colcon_builds_it_as_an_ament_python_package(workspace, colcon, option):
    assert "ros.ament_python" in run(colcon, "list", cwd=workspace)
    run(colcon, "build", *option, cwd=workspace)
    install = workspace / "install" / "robot_dynamics_ros"
    assert (install / "share/ament_index/resource_index/packages/robot_dynamics_ros").exists()
    assert (install / "share/robot_dynamics_ros/package.xml").exists()
    for file in ("config/robots/ur5e.yaml", "launch/robot.launch.py"):
        assert (install / "share/robot_dynamics_ros" / file).is_file()
        assert (install / "share/robot_dynamics_ros" / file).is_symlink() == bool(option)
    for name in (*NODES, "robot-dynamics"):  # where `ros2 run` looks
        assert os.access(install / "lib/robot_dynamics_ros" / name, os.X_OK), name
    sourced = f'source install/setup.bash && cd / && exec "{sys.executable}" -c "$0"'
    core, joints = run("bash", "-c", sourced, CHECK, cwd=workspace, PYTHONPATH="").split()
    assert core.startswith(str(workspace)) and joints == "6"
    assert core.startswith(str(install)) != bool(option)
    if option:  # the core is then beside the sources, from which tests run
        run(colcon, "test", "--packages-select", "robot_dynamics_ros", "--pytest-args", "-k", "savitzky", cwd=workspace)
        run(colcon, "test-result", cwd=workspace)
        assert 'failures="0"' in (workspace / "build/robot_dynamics_ros/pytest.xml").read_text()
    say = 'source install/setup.bash && exec "$PWD/install/neighbour/lib/neighbour/say"'
    assert run("bash", "-c", say, cwd=workspace, PYTHONPATH="").strip() == "6"
    packages = str(next(install.glob("lib/python*/site-packages")))
    command = install / "lib/robot_dynamics_ros/robot-dynamics"
    assert "demo" in run(command, "--help", cwd=workspace, PYTHONPATH=packages)


def test_colcon_finds_the_package_inside_of_this_one_by_a_link(colcon, tmp_path):
    (tmp_path / "robot_dynamics_ros").symlink_to(ROOT)
    (tmp_path / "contact_force_broadcaster").symlink_to("robot_dynamics_ros/contact_force_broadcaster")
    listed = run(colcon, "list", cwd=tmp_path)
    assert "ros.ament_python" in listed and "contact_force_broadcaster\t" in listed and "ros.ament_cmake" in listed


OLD = "version_info = (2, 11, 1)\n__version__ = '2.11.1'"


@pytest.mark.parametrize(
    "text, words", [(OLD, "pybind11 2.11.1 is too old"), ("raise ImportError", "pybind11 is not installed")]
)
def test_an_old_pybind11_is_named_when_the_core_is_built_and_only_then(tmp_path, text, words):
    (tmp_path / "pybind11").mkdir()
    (tmp_path / "pybind11" / "__init__.py").write_text(text)
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "ROBOT_DYNAMICS_CORE_BUILT_IN_PLACE": ""}
    for argument in ("build_ext", "--version"):
        command = [sys.executable, "setup.py", "-q", argument]
        done = subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True, timeout=300)
        if argument == "--version":
            assert f"<version>{done.stdout.split()[-1]}</version>" in (ROOT / "package.xml").read_text()
        else:
            assert done.returncode == 1 and words in done.stderr and "'pybind11>=3.0'" in done.stderr, done.stderr
            assert "Traceback" not in done.stderr
