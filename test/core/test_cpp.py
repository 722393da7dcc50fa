"""The CMake project of the core: cpp_core/test/*_test.cpp by ctest, and a program outside that uses the install."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "cpp_core"
CMAKE = shutil.which("cmake")

pytestmark = pytest.mark.skipif(CMAKE is None or shutil.which("ctest") is None, reason="cmake is not installed")

CONSUMER_LISTS = """
cmake_minimum_required(VERSION 3.16)
project(consumer LANGUAGES CXX)
find_package(robot_dynamics_core REQUIRED)
add_executable(consumer consumer.cpp)
target_link_libraries(consumer PRIVATE robot_dynamics::core)
"""
# A pendulum: mass 2 kg at 0.5 m on x, gravity along -y of the base, so tau = m g l cos(q).
CONSUMER = """
#include <cmath>
#include "robot_dynamics/rigid_body/rnea.hpp"
int main() {
  robot_dynamics::Chain chain;
  chain.n = 1;
  chain.gravity = {0, -9.81, 0};
  chain.placement[0].R = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  chain.inertia[0] = {0, 0, 0, 0.5, 0, 0.5, 1, 0, 0, 2};
  const double q = 0.3;
  double tau;
  robot_dynamics::gravity_torque(chain, &q, &tau);
  return std::abs(tau - 2 * 9.81 * 0.5 * std::cos(q)) < 1e-12 ? 0 : 1;
}
"""


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def launcher():
    """Options of a configuration: little optimisation, as only results are tested; ccache where it is installed."""
    ccache = shutil.which("ccache")
    return ["-DCMAKE_CXX_FLAGS_RELEASE=-O1", *([f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}"] if ccache else [])]


@pytest.fixture(scope="module")
def configured(tmp_path_factory, launcher):
    """Folder of the configured project; build(target) compiles what a test needs and no more."""
    out = tmp_path_factory.mktemp("core")
    run(CMAKE, "-S", CORE, "-B", out, *launcher)
    return out


def build(folder, target):
    run(CMAKE, "--build", folder, "--target", target, "--parallel", min(2, os.cpu_count() or 1))


@pytest.mark.parametrize("name", sorted(path.stem for path in (CORE / "test").glob("*_test.cpp")))
@pytest.mark.slow
def test_cpp(configured, name):
    build(configured, name)
    run("ctest", "--test-dir", configured, "-R", f"^{name}$", "--no-tests=error", "--output-on-failure")


@pytest.mark.skipif(
    shutil.which("aarch64-linux-gnu-g++") is None or shutil.which("qemu-aarch64") is None,
    reason="no cross compiler (g++-aarch64-linux-gnu) or no emulator (qemu-user)",
)
def test_neon_kernels_under_an_emulator(launcher, tmp_path):
    target = ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64", "-DCMAKE_EXE_LINKER_FLAGS=-static"]
    tools = ["-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++", "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64"]
    run(CMAKE, "-S", CORE, "-B", tmp_path, *launcher, *target, *tools)
    build(tmp_path, "rigid_body_test")
    run("ctest", "--test-dir", tmp_path, "-R", "^rigid_body_test$", "--no-tests=error", "--output-on-failure")


def test_a_program_finds_the_installed_package(configured, launcher, tmp_path):
    build(configured, "core")
    run(CMAKE, "--install", configured, "--prefix", tmp_path / "prefix")
    (tmp_path / "CMakeLists.txt").write_text(CONSUMER_LISTS)
    (tmp_path / "consumer.cpp").write_text(CONSUMER)
    run(CMAKE, "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}", *launcher)
    run(CMAKE, "--build", tmp_path / "build")
    run(tmp_path / "build" / "consumer")
