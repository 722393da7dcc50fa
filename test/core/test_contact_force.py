"""ContactForceEstimator of a program built by CMake against the pipeline in Python: every output, bit for bit."""

import os
import re
import subprocess

import numpy as np
import pytest
from core_build import CMAKE, CORE, ROOT, build, run
from force_bench import UR5E, measured, moving, through

from robot_dynamics_ros.estimators.core_file import core_text
from robot_dynamics_ros.estimators.external_force import ForceStage
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

pytestmark = [
    pytest.mark.timeout(1500),  # a C++ build on a loaded machine
    pytest.mark.long,  # compiles for a minute
    pytest.mark.skipif(CMAKE is None, reason="cmake is not installed"),
]


@pytest.fixture(scope="module")
def program():
    return build("contact_force_replay") / "contact_force_replay"


HEAT = {"alpha": -0.01, "beta": 1.0, "gamma": -0.01, "delta": 1.0, "heat_capacity": 500.0, "heat_transfer": 1.0}
THERMAL = {"model": "simoni", "parameters": HEAT, "source": "estimate_t"}
SPANS = {"span": [[1e-4, 1e-3, 1e-2]] * 6, "level": [[1.0, 2.0, 3.0]] * 6, "load": [[0.02, 0.0, 0.05]] * 6}
JOINT = {"load_limit": 100.0, "load_power": 1.0, "sliding_ratio": 0.8, "stribeck_velocity": 0.1, "v0": 0.3}
JOINT |= {"fv0": 1.0, "fv1": 2.0, "fv2": 0.5, "fo": 0.1}
PRESLIDING = {"model": "presliding", "source": "found", "parameters": SPANS | {k: [v] * 6 for k, v in JOINT.items()}}
MOTOR = {"joint": "wrist_2_joint", "turns_with": "wrist_3_joint", "sign": -1, "rotor_inertia": 0.3}
MOTOR |= {"parameters": {k: v[0] for k, v in SPANS.items()} | JOINT}
RESIDUALS = {"moving": [0.3] * 6, "rest": [1.0] * 6, "significance": 4.0}
SOURCES = {"estimate_t": "numbers of this test", "found": "numbers of this test"}
LOAD = {"mass": 2.0, "com": [0.0, 0.05, 0.1], "inertia": [0.01, 0.0, 0.0, 0.01, 0.0, 0.01]}
STAGES = ("motion", "temperature", "friction", "force")
FOUND = {"hysteresis": PRESLIDING, "friction.source": "found"}
LATE = {"delay": -0.004, "gain": 1.05, "bias": [0.01] * 6}
CHANGES = {
    "shipped": {},
    "warm": {"thermal": THERMAL, "friction.reference_temperature": 25.0},
    "slope of its own": {"friction.parameters.alpha": [-0.01] * 6, "friction.reference_temperature": 25.0},
    "presliding": FOUND,
    "residuals": FOUND | {"residuals": {"source": "found"} | RESIDUALS},
    "coupled wrist": FOUND | {"hysteresis": PRESLIDING | {"motors": [MOTOR]}},
    "no friction": {"friction": None, "hysteresis": None},
    "loaded": {"payload": LOAD},
    "velocity of the positions": {"drives.velocity": {"window": 0.007}, "drives.source": "found"},
    "late signals": {"drives.effort.delay": 0.0031, "drives.velocity": LATE, "drives.source": "found"},
}
ROBOTS = {name: UR5E.with_updates(changes, SOURCES) for name, changes in CHANGES.items()}
SETTINGS = {
    "shipped": {"friction": {"model": "hysteresis"}, "force": {"frame_id": "base", "wrench_cutoff": 15.0}},
    "loaded": {"force": {"bandwidth": 40.0, "frame_id": "wrist_2_link"}},
}
BESIDE = ("friction_torque", "friction_std", "qd", "qdd", "model_torque", "drive_torque")


def recording():
    """Motion and rests under pushes, with a gap, absent values, refused samples and temperatures that come and go."""
    rest = [np.concatenate(x) for x in zip(moving(3.0), through([moving(3.0)[0][-1]], rest=1.0), strict=True)]
    push = np.zeros((len(rest[0]), 6))
    push[600:900, 2] = push[1700:1900, 0] = 90.0
    log = measured(rest, push, noise=0.1)
    log.stamp_ns[1200:] += 10**9
    log.stamp_ns[300] = log.stamp_ns[299]
    log.q[500, 3] = log.effort[510, 2] = np.nan
    log.effort[520:530] = np.nan
    log.qd[530:540] = np.nan
    log.temperature = np.full_like(log.q, 31.0)
    log.temperature[700:1000] = np.nan
    log.temperature[1000:1100] += 273.0
    log.temperature[1100:1200, 0] = np.nan
    log.allocate("payload")[1000:1500] = 1.0, 0.0, 0.01, 0.05
    log.payload[1500:] = 0.0
    return log


def seven_joints(robot):
    """Still and pushed: a constant pose with noise on the torque."""
    pose, random = np.array([0.1, -0.6, 0.2, -2.0, 0.1, 1.6, 0.4]), np.random.default_rng(0)
    q = np.tile(pose, (1500, 1))
    effort = RobotModel(robot.chain(), robot.joint_names).gravity(pose) + 0.05 * random.normal(size=q.shape)
    effort[800:] += 8.0
    signals = {"q": q, "qd": np.zeros_like(q), "effort": effort, "temperature": np.full_like(q, np.nan)}
    return Log(robot.joint_names, np.arange(1500) * 1_000_000, signals)


def estimates(program, path, log):
    """(status (N,), outputs (N, width)) of contact_force_replay."""
    n = len(log.joint_names)
    record = np.dtype([("stamp", "<i8"), ("values", "<f8", 4 * n + 4)])
    samples = np.zeros(len(log), record)
    samples["stamp"] = log.stamp_ns
    samples["values"] = np.hstack([log.q, log.qd, log.effort, log.temperature, log.payload])
    done = subprocess.run([program, path], input=samples.tobytes(), capture_output=True)
    assert done.returncode == 0, done.stderr
    rows = np.frombuffer(done.stdout, [("status", "<i8"), ("values", "<f8", 3 * n + n + 1 + 26 + 8 * n)])
    return rows["status"], rows["values"]


@pytest.mark.parametrize("name", ROBOTS)
def test_contact_force_estimator_is_the_pipeline_bit_for_bit(program, tmp_path, name):
    robot, parameters, log = ROBOTS[name], SETTINGS.get(name), recording()
    path = tmp_path / "robot.core"
    path.write_text(core_text(robot, parameters), encoding="utf-8")
    status, values = estimates(program, path, log)
    pipeline = Pipeline(robot, parameters, STAGES)
    np.testing.assert_array_equal(status, pipeline.run(log))
    temperature = ("temperature_estimate", "temperature_variance")
    for signal in (*ForceStage.writes, *BESIDE, *temperature):
        expected = getattr(log, signal)
        ours, values = values[:, : expected.shape[1]], values[:, expected.shape[1] :]
        np.testing.assert_array_equal(ours, expected, err_msg=signal)
    assert not values.size
    assert np.nanmax(log.contact) == 1.0 and np.isnan(log.external_wrench[500]).all()


def test_a_core_file_of_a_seven_joint_arm_behind_the_gear(program, tmp_path):
    """With line ends of Windows, as a checkout there has them."""
    robot = load_robot("fr3")
    log = seven_joints(robot)
    path = tmp_path / "robot.core"
    path.write_text(core_text(robot), encoding="utf-8", newline="\r\n")
    status, values = estimates(program, path, log)
    np.testing.assert_array_equal(status, Pipeline(robot, None, STAGES).run(log))
    np.testing.assert_array_equal(values[:, :7], log.external_joint_torque)


def test_a_broken_core_file_is_one_line(program, tmp_path):
    path = tmp_path / "robot.core"
    path.write_text(re.sub("force.model_error .*", "force.model_error 3", core_text(UR5E)), encoding="utf-8")
    done = subprocess.run([program, path], input="", capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == f"{path}: model_error = 3 is outside 0..1\n"


AROUND = """
#include <cstdint>
namespace {
int cycles = 3;
std::int64_t stamp_ns = 0;
double q[6] = {0.0, -1.2, 1.3, -1.5, -1.4, 0.3}, qd[6], effort[6];
bool next(std::int64_t& stamp, double*, double*, double*) { return stamp += 2000000, cycles-- > 0; }
template <class... T> void use(const T&...) {}
}  // namespace
"""


def test_the_program_of_the_page_compiles_and_ends_with_one_line_where_the_file_is_bad(program, tmp_path):
    (shown,) = re.findall("```cpp\n(.*?)```", (ROOT / "docs" / "cpp.md").read_text(encoding="utf-8"), re.DOTALL)
    source, out = tmp_path / "shown.cpp", tmp_path / "shown"
    source.write_text(AROUND + shown)
    flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", f"-I{CORE / 'include'}"]
    library = program.parent / "librobot_dynamics_core.a"
    run(os.environ.get("CXX", "c++"), *flags, source, library, "-lpthread", "-o", out)
    path, text = tmp_path / "my_arm.core", core_text(UR5E)
    for content, error in ((None, "cannot be read"), (text[:300], ""), (text, None)):
        if content is not None:
            path.write_text(content, encoding="utf-8")
        done = subprocess.run([out], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == (error is not None)
        assert error is None or re.fullmatch(f"error: my_arm.core: .*{error}.*\n", done.stderr)
