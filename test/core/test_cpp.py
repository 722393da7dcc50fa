"""The CMake project of the core: cpp_core/test/*_test.cpp by ctest, and a program outside that uses the install."""

import shutil

import pytest
from core_build import CMAKE, CORE, build, options, run

pytestmark = [
    pytest.mark.timeout(1500),  # a C++ build on a loaded machine
    pytest.mark.long,  # compiles for minutes
    pytest.mark.skipif(CMAKE is None or shutil.which("ctest") is None, reason="cmake is not installed"),
]

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


@pytest.mark.parametrize("name", sorted(path.stem for path in (CORE / "test").glob("*_test.cpp")))
def test_cpp(name):
    run("ctest", "--test-dir", build(name), "-R", f"^{name}$", "--no-tests=error", "--output-on-failure")


@pytest.mark.skipif(
    shutil.which("aarch64-linux-gnu-g++") is None or shutil.which("qemu-aarch64") is None,
    reason="no cross compiler (g++-aarch64-linux-gnu) or no emulator (qemu-user)",
)
def test_neon_kernels_under_an_emulator(tmp_path):
    target = ["-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64", "-DCMAKE_EXE_LINKER_FLAGS=-static"]
    tools = ["-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++", "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64"]
    run(CMAKE, "-S", CORE, "-B", tmp_path, *options(), *target, *tools)
    run(CMAKE, "--build", tmp_path, "--target", "rigid_body_test")
    run("ctest", "--test-dir", tmp_path, "-R", "^rigid_body_test$", "--no-tests=error", "--output-on-failure")


def test_a_program_finds_the_installed_package(tmp_path):
    run(CMAKE, "--install", build("core"), "--prefix", tmp_path / "prefix")
    (tmp_path / "CMakeLists.txt").write_text(CONSUMER_LISTS)
    (tmp_path / "consumer.cpp").write_text(CONSUMER)
    run(CMAKE, "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}", *options())
    run(CMAKE, "--build", tmp_path / "build")
    run(tmp_path / "build" / "consumer")
