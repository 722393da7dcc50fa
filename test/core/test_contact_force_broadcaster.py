"""The ros2_control broadcaster with stub headers in place of ros2_control and the real messages, run by a main()."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
import yaml
from core_build import CMAKE, FOLDER, ROOT, configure, run, take_kernels
from force_bench import ORIENTATIONS, UR5E, carrying
from test_contact_force import STAGES, recording

from robot_dynamics_ros._core import PayloadAnswer, Status
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.estimators.core_file import core_text
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.signals import Log

PACKAGE, STUB = ROOT / "contact_force_broadcaster", ROOT / "test" / "support" / "ros2_control_stub"
PLACES = [Path(p) / "include" for p in (sys.prefix, *filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(":")))]
MESSAGES = [folder for place in PLACES if (place / "std_srvs").is_dir() for folder in place.iterdir()]
pytestmark = [
    pytest.mark.timeout(1500),  # a C++ build on a loaded machine
    pytest.mark.long,  # compiles for a minute
    pytest.mark.skipif(CMAKE is None or not MESSAGES, reason="cmake or the message headers are not installed"),
]
AXES = [f"{part}.{axis}" for part in ("force", "torque", "force_std", "torque_std") for axis in "xyz"]
LIBRARY = "libcontact_force_broadcaster.so"
TARE, ACCEPT, REFUSE, RESET, PICK, PUT, SPOIL = range(1, 8)  # services of main.cpp, and the payload of recording()
ANSWERS = {ACCEPT: PayloadAnswer.keep, REFUSE: PayloadAnswer.refuse, RESET: PayloadAnswer.judge}


# what ament_cmake, generate_parameter_library and pluginlib define, without effect
FUNCTIONS = """
function(ament_package)
endfunction()
function(pluginlib_export_plugin_description_file)
endfunction()
function(generate_parameter_library name yaml)
  add_library(${name} INTERFACE)
endfunction()
"""


def find_modules(folder):
    """A CMake module per dependency of package.xml: a target with the stub headers and the real messages."""
    places = ";".join(str(place) for place in (STUB, *MESSAGES))
    package = ElementTree.parse(PACKAGE / "package.xml").getroot()
    for name in (part.text for part in package if part.tag.endswith("depend")):
        (folder / f"Find{name}.cmake").write_text(
            f"add_library({name}::{name} INTERFACE IMPORTED)\nset({name}_TARGETS {name}::{name})\n"
            f'target_include_directories({name}::{name} INTERFACE "{places}")\n'
            + (FUNCTIONS if name == "ament_cmake" else "")
        )
    return folder


@pytest.fixture(scope="module")
def broadcaster(tmp_path_factory):
    """The library as the package's own CMakeLists builds it, and main.cpp as its controller manager."""
    folder = FOLDER.with_name("broadcaster")
    folder.mkdir(parents=True, exist_ok=True)
    modules = find_modules(tmp_path_factory.mktemp("modules"))
    configure(PACKAGE, folder, f"-DCMAKE_MODULE_PATH={modules}", "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON")
    take_kernels(folder / "cpp_core")
    run(CMAKE, "--build", folder, "--parallel", "2")
    run(CMAKE, "--install", folder, "--prefix", modules)
    assert [p.name for p in modules.rglob("*") if p.is_file() and p.suffix != ".cmake"] == [LIBRARY]
    places = [f"-I{STUB}", *(part for place in MESSAGES for part in ("-isystem", place))]
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", *places, f"-Wl,-rpath,{modules / 'lib'}"]
    out = modules / "broadcaster"
    run(os.environ.get("CXX", "c++"), *flags, STUB / "main.cpp", modules / "lib" / LIBRARY, "-lpthread", "-o", out)
    return out


def broadcast(program, path, log, calls):
    """(lines of standard error, interfaces (N, 14)) of a recording; calls: {sample: service}."""
    samples = np.zeros(len(log), [("stamp", "<i8"), ("service", "<i8"), ("values", "<f8", 18)])
    samples["stamp"], samples["values"] = log.stamp_ns, np.hstack([log.q, log.qd, log.effort])
    samples["service"][list(calls)] = list(calls.values())
    done = subprocess.run([program, path], input=samples.tobytes(), capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stderr.decode().splitlines(), np.frombuffer(done.stdout).reshape(len(log), len(AXES) + 2)


def longer_rest(log):
    """The recording, then 5 s of its rest: a tare takes two seconds without motion or push."""
    rest = log[np.tile(np.arange(1600, 1700), 20)]
    rest.stamp_ns = log.stamp_ns[-1] + 2_500_000 * np.arange(1, len(rest) + 1)
    signals = {name: np.concatenate([log.get(name), rest.get(name)]) for name in log.stored}
    return Log(log.joint_names, np.concatenate([log.stamp_ns, rest.stamp_ns]), signals)


def expected(log, calls):
    """The pipeline over the same samples with the same calls: (status (N,), what the calls answered)."""
    pipeline, status, said, at = Pipeline(UR5E, None, STAGES), [], [], 0
    force = pipeline.stage("force")
    for end in (*(k + 1 for k in calls), len(log)):
        part = log[at:end]
        status.append(pipeline.run(part))
        for name, value in part.signals.items():
            log.signals.setdefault(name, np.full((len(log), *value.shape[1:]), np.nan))[at:end] = value
        service, at = calls.get(end - 1), end
        if service == TARE:
            done, text = force.tare()
            said.append("yes: done" if done else f"no: {text}")
        elif service not in (None, PICK, PUT, SPOIL):
            try:
                force.answer_payload(ANSWERS[service])
                said.append("yes: done")
            except CapabilityError as error:
                said.append(f"no: {error}")
    return np.concatenate(status), said


def test_the_interfaces_hold_the_wrench_of_the_pipeline_and_services_answer_as_its_force_stage(broadcaster, tmp_path):
    log, path = longer_rest(recording()), tmp_path / "robot.core"
    log.temperature = None
    path.write_text(core_text(UR5E), encoding="utf-8")
    calls = {100: TARE, 650: ACCEPT, 999: PICK, 1000: REFUSE, 1200: SPOIL, 1300: RESET, 1499: PUT, 3900: TARE}
    lines, rows = broadcast(broadcaster, path, log, calls)
    assert lines.pop(36) == "~/payload: 1000 kg refused: 5 kg is the arm's largest (grams?); the last one stays"
    assert lines[:18] == [f"{j}/{x}" for x in ("position", "velocity", "effort") for j in UR5E.joint_names]
    assert lines[18:32] == [f"contact_force/{name}" for name in (*AXES, "contact", "status")]
    status, said = expected(log, calls)
    assert lines[32] == "no: the controller is not active" and lines[33:38] == said
    assert [answer.split(":")[0] for answer in said] == ["no", "no", "yes", "yes", "yes"]
    good = np.isin(status, [int(s) for s in (Status.ok, Status.degraded, Status.saturated)])
    np.testing.assert_array_equal(rows[:, 13], status)
    np.testing.assert_array_equal(rows[good, :6], log.framed_wrench[good])
    np.testing.assert_array_equal(rows[good, 6:12], log.framed_wrench_std[good])
    np.testing.assert_array_equal(rows[good, 12], log.contact[good].any(axis=1))
    assert not rows[~good, :6].any() and not rows[~good, 12].any() and np.isnan(rows[~good, 6:12]).all()
    assert 0 < (~good).sum() < good.sum() and np.abs(rows[:, :3]).max() > 50
    last = np.flatnonzero(good)[-1]
    seconds = f"{log.stamp_ns[last] // 10**9}.{log.stamp_ns[last] % 10**9:09d}"
    for line, first in zip(lines[38:40], (0, 6), strict=True):  # ~/wrench and ~/wrench_std: only what can be relied on
        count, frame, stamp, *values = line.split()
        assert (int(count), frame, stamp) == (good.sum(), "tool0", seconds)
        assert [float(x) for x in values] == [rows[last, first], rows[last, first + 5]]
    assert lines[40] == "0"  # allocations in all updates


def test_a_refused_payload_is_judged_again_after_a_reset(broadcaster, tmp_path):
    log, path = carrying(3.0, 2 * ORIENTATIONS), tmp_path / "robot.core"
    half = len(log) // 2
    path.write_text(core_text(UR5E), encoding="utf-8")
    lines, rows = broadcast(broadcaster, path, log, {0: REFUSE, half: RESET, len(log) - 1: ACCEPT})
    assert lines[33:36] == ["yes: done"] * 3
    force = np.linalg.norm(rows[:, :3], axis=1)
    assert force[half - 100 : half].min() > 0.8 * 3.0 * 9.81 and force[-100:].max() < 3.0


@pytest.mark.parametrize(("least", "said"), [(500, False), (501, True)])
def test_a_loop_that_is_slower_than_the_robot_file_asks_for_is_named(broadcaster, tmp_path, least, said):
    path, log = tmp_path / "robot.core", recording()[:1]
    text = core_text(UR5E)
    assert "\nleast_rate 0\n" in text
    path.write_text(text.replace("\nleast_rate 0\n", f"\nleast_rate {least}\n"), encoding="utf-8")
    lines, _ = broadcast(broadcaster, path, log, {})
    assert any("runs at 500 Hz" in line and f"{least} Hz" in line for line in lines) == said


def test_a_missing_file_leaves_the_controller_unconfigured(broadcaster):
    done = subprocess.run([broadcaster, "/no/such/file"], capture_output=True, text=True)
    assert done.returncode == 4 and "parameter_file: /no/such/file: cannot be read" in done.stderr


def test_the_parameters_are_those_of_the_stub():
    name = "contact_force_broadcaster_parameters"
    (given,) = yaml.safe_load((PACKAGE / "src" / f"{name}.yaml").read_text()).values()
    assert ", ".join(given) in (STUB / PACKAGE.name / f"{name}.hpp").read_text()
