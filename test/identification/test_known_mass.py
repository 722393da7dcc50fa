"""Torque constants from one loaded run of known mass; the payload of another run, with a deviation that holds."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import printed
from effort_bench import evidence_of
from prepared import UR5E, steps
from synthetic import log_at, with_signals
from table_files import numbers
from test_payload import GIVEN, log_of

from robot_dynamics_ros.cli.identify_arm import loaded_runs
from robot_dynamics_ros.effort.decision import decide
from robot_dynamics_ros.effort.meaning import CURRENT as AMPERE
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.identification.known_mass import KnownMassGains, gains_of_known_mass, with_known_mass
from robot_dynamics_ros.identification.payload import identify_payload
from robot_dynamics_ros.robot_file import load_robot, save_robot
from robot_dynamics_ros.signals import Log

NOMINAL = np.array([10.61] * 3 + [7.68] * 3)
FILE = UR5E.with_updates({"drives.effort.unit": "A", "drives.torque_constant": NOMINAL})


def in_ampere(log: Log, constants: np.ndarray):
    return recording(with_signals(log, current=None, effort=log.effort / constants), "run")


def runs(individual):
    """Constants, masses, and recordings [A]: unloaded, judge, loaded with the known mass, with the unknown one."""
    rng = np.random.default_rng(individual)
    constants = NOMINAL * (1 + rng.uniform(-0.4, 0.4, 6))
    masses = rng.uniform(1.5, 4.0, 2)
    logs = [log_of(individual, seed, mass) for seed, mass in zip((1, 2, 3, 4), (0, 0, *masses), strict=True)]
    return constants, masses, [in_ampere(log, constants) for log in logs]


def judged(individual):
    """Relative errors of gains (joints whose own data decide) and payload mass, the latter in deviations too."""
    constants, masses, (free, judge, known, unknown) = runs(individual)

    def identify(robot, until):
        return steps([free], [judge], robot, GIVEN, until, search=True, effort="current")

    found = identify(FILE, "fit_together")
    gains = gains_of_known_mass(found, [known], masses[0])
    robot, _ = with_known_mass(found, gains, [known], masses[0])
    again = identify(robot, "check_data")
    got = identify_payload(again, [unknown])
    error = (gains.scale / constants - 1)[gains.own]
    std = (gains.std / constants)[gains.own]
    return (error, std), got.mass / masses[1] - 1, (got.mass - masses[1]) / got.mass_std, again


@pytest.fixture(scope="module", params=[46, pytest.param(41, marks=pytest.mark.long)])
def robot(request):
    return judged(request.param)


def test_payload_within_two_percent_and_two_deviations(robot):
    _, mass, z, _ = robot
    assert abs(mass) < 0.02 and abs(z) < 2


def test_gains_come_back_and_their_deviations_are_those_of_their_errors(robot):
    error, std = robot[0]
    z = error / std
    assert len(error) >= 4 and np.abs(error).max() < 0.15 and np.median(np.abs(error)) < 0.03
    assert np.abs(z).max() < 2.5 and 0.3 < np.sqrt((z**2).mean()) < 1.5


def test_the_written_file_keeps_gains_with_their_deviations(robot):
    """And whoever reads the file has them: a decision about another log, a payload."""
    robot = identified_robot(robot[3])
    K, std = robot.array("drives.torque_constant"), robot.array("drives.torque_constant_std")
    assert robot.drives.source["torque_constant"].startswith("payload_of_")  # not of the last identification
    assert np.all(std[1:3] < 0.05 * K[1:3]) and np.all(std > 0)
    zero, one = np.zeros(6), np.ones(6)
    evidence = evidence_of(one, zero, one, zero, one, zero, one, zero, zero, one, one, one)
    decision = decide(evidence, robot, AMPERE)
    np.testing.assert_allclose(decision.gain_std / decision.gain, std / K)


def test_what_the_first_pass_found_is_found_and_said_again_with_the_known_constants():
    """A tilted base, aliases: a file that has them already gives no warning of them."""
    tilted = FILE.with_updates({"kinematics.gravity": np.array([0.0, -6.9, -7.0])})
    found = SimpleNamespace(robot=tilted, given=FILE)
    gains = KnownMassGains(NOMINAL, 0.03 * NOMINAL, np.ones(6, bool))
    robot, _ = with_known_mass(found, gains, [], 2.0)
    np.testing.assert_allclose(robot.gravity, FILE.gravity)
    np.testing.assert_allclose(robot.array("drives.torque_constant"), NOMINAL)


def test_residuals_of_a_current_are_those_of_the_live_pipeline(robot):
    again = robot[3]
    size = again.motion.effort.std(0)
    assert np.all(again.residuals["moving"] > 1e-3 * size) and np.all(again.residuals["moving"] < 0.3 * size)


def test_an_impossible_mass_is_refused(robot):
    again = robot[3]
    for mass in (0.0, -1.0, float("nan")):
        with pytest.raises(DataError, match="payload mass"):
            gains_of_known_mass(again, again.training, mass)


@pytest.mark.long
def test_the_command_finds_constants_and_writes_them_with_deviations(tmp_path):
    constants, masses, records = runs(41)
    bags = []
    for name, rec in zip(("free", "judge", "known"), records, strict=False):
        (p,) = rec.pieces
        log = log_at(p.t, {"q": p.q, "qd": p.qd, "effort": p.effort}, rec.joint_names)
        bags.append(str(numbers(log, tmp_path / name)))
    save_robot(FILE, tmp_path / "robot.yaml")
    words = ["identify", bags[0], "--robot", str(tmp_path / "robot.yaml"), "--validate", bags[1], "--effort", "current"]
    words += ["--payload-from", f"{bags[2]},mass={masses[0]}"]
    printed(*words, "--out", tmp_path / "out")
    robot = load_robot(tmp_path / "out" / f"{FILE.name}_identified.yaml")
    found, std = robot.array("drives.torque_constant"), robot.array("drives.torque_constant_std")
    nominal = np.abs(NOMINAL / constants - 1)[1:4]
    assert np.all(np.abs(found - constants) < 2.5 * std) and np.all(std[1:] < 0.12 * found[1:])
    carry = slice(1, 4)  # the joints that carry the mass
    assert np.all(np.abs(found / constants - 1)[carry] < np.minimum(0.06, 0.5 * nominal))
    payload = json.loads((tmp_path / "out" / "report.json").read_text())["payload"]
    assert abs(payload["mass"] / masses[0] - 1) < 0.02 and payload["mass_std"] > 0


def test_the_known_mass_is_one_number():
    assert loaded_runs(("a,mass=2.5", "b")) == ((Path("a"), Path("b")), 2.5) and loaded_runs(("a",))[1] is None
    for texts in (("a,mass=heavy",), ("a,mass=1", "b,mass=2"), ("a,mass=",)):
        with pytest.raises(DataError, match="one number"):
            loaded_runs(texts)
