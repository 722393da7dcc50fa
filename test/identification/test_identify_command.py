"""The command as a user runs it: files written, JSON contract, one clear line for user errors."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import robot_dynamics
from prepared import given, laws, structure
from synthetic import synthetic_log, truth_of
from table_files import numbers

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.cli.identify_arm import SHARES, StepProgress
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.identification.arm import identify as procedure
from robot_dynamics_ros.identification.arm.identify import STEPS
from robot_dynamics_ros.identification.reports import arm as reports
from robot_dynamics_ros.identification.reports.result import _bag
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.urdf_writer import write_urdf
from robot_dynamics_ros.robot_file import load_robot


def page(found, result, path):
    """In place of the report, whose page is tested by itself: the verdict alone."""
    path.write_text(json.dumps(result["verdict"]))
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Output directory and JSON of one run on a URDF of a seven-axis arm whose effort field holds a current."""
    folder = tmp_path_factory.mktemp("identify")
    robot = load_robot("panda")
    truth = truth_of(robot, scale=1.1)
    write_urdf(robot, folder / "arm.urdf")
    bags = []
    for seed in (1, 2):
        log = synthetic_log(robot, truth, seed, duration=20.0, noise=0.01)
        log.effort = log.effort / 12.0
        bags.append(str(write_bag(log, folder / f"run{seed}", topics=["joint_states"])))
    args = [bags[0], "--robot", str(folder / "arm.urdf"), "--validate", bags[1]]
    args += ["--out", str(folder / "out")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(procedure, "STEPS", given(structure(laws(n=7))))
        patch.setattr(reports, "write_report", page)
        result = robot_dynamics("identify", *args)
    assert result.exit_code == 0, result.output
    return folder / "out", json.loads((folder / "out" / "report.json").read_text()), result.output


def test_every_option_reaches_the_identification(monkeypatch, tmp_path):
    kept = {}
    monkeypatch.setattr("robot_dynamics_ros.cli.identify_arm.identify_arm", lambda **given: kept.update(given))
    monkeypatch.setattr("robot_dynamics_ros.cli.identify_each.compare", lambda **given: kept.update(given))
    run, other = (tmp_path / name for name in ("run", "other"))
    for bag in (run, other):
        bag.mkdir()
    common = ("identify", run, "--robot", "ur5e", "--out", tmp_path / "out", "--topic", "/js", "--effort", "current")
    arm = f"--known-rotor --exclude 3:5 --contact ignore --wrench /ft,sign=robot --validate {other} --verbose"
    robot_dynamics(*common, *arm.split(), "--payload-from", f"{other},mass=2", catch_exceptions=False)
    options = kept.pop("options")
    assert (options.topic, options.effort, options.contact, options.exclude) == ("/js", "current", "ignore", ((3, 5),))
    assert options.known_rotor and options.wrench.topic == "/ft" and options.wrench_sign == -1
    assert kept["validate"] == (other,) and kept["verbose"] and kept["payload_from"] == (f"{other},mass=2",)
    robot_dynamics(*common, "--what", "compare", "--jobs", 3, catch_exceptions=False)
    assert kept["jobs"] == 3 and kept["effort"] == "current"


def test_progress_counts_up_to_the_end_and_names_the_time_left():
    lines, now = [], iter(range(100))
    progress = StepProgress(lines.append, lambda: next(now))
    for text in SHARES:
        progress(text)
    shares = [int(text.split(" %")[0]) for text in lines]
    assert shares == sorted(shares) and shares[0] == 0 and 75 < shares[-1] < 100
    assert all(re.search(r"\d+ s left: ", text) for text in lines[1:])
    assert set(SHARES) - {text for text, _ in STEPS} == {"reading bags", "validating", "report"}
    assert sum(SHARES.values()) == 100


def test_json_contract(run):
    _, result, _ = run
    v = result["validation"]
    assert v["mean_r2"] == pytest.approx(np.mean(v["r2"])) and v["mean_r2"] > 0.99
    assert len(v["r2"]) == len(v["rmse"]) == 7
    assert result["conditioning"]["condition"] > 1 and result["conditioning"]["base_parameters"] == 43
    assert isinstance(result["warnings"], list)
    assert {"constant_coulomb", "initial_model", "consistent", "unconstrained"} <= set(result["comparison"])


def test_written_robot_file_loads_and_predicts(run):
    # by the law of [Luo2024 8]
    out, result, _ = run
    robot = load_robot(result["files"]["robot_file"])
    assert robot.drives.effort.unit == "A"
    assert np.allclose(robot.array("drives.torque_constant"), 12.0 / 1.1, rtol=0.15)
    assert [c for c in robot.provenance[-1].changed if c != "hysteresis"] == ["links", "friction", "drives"]
    assert [f.name for f in robot.provenance[-1].inputs] == ["run1.mcap", "run2.mcap"]
    FrictionModel.from_robot(robot).torque(np.zeros((1, 7)))
    assert np.all(np.linalg.eigvalsh(RobotModel(robot.chain()).mass_matrix(np.zeros(7))) > 0)


def test_urdf_has_the_inertias_of_the_robot_file(run):
    _, result, _ = run
    q = np.linspace(-1, 1, 7)
    a, b = (RobotModel.load(result["files"][k]).with_gravity([0, 0, -9.81]) for k in ("robot_file", "urdf"))
    assert np.allclose(a.gravity(q), b.gravity(q), atol=1e-6)


def test_the_report_and_the_terminal_say_what_was_found(run):
    out, result, text = run
    assert result["files"]["report"] == str(out / "report.html")
    assert json.loads((out / "report.html").read_text()) == result["verdict"]
    assert "current in A" in " ".join([*result["verdict"], *result["warnings"], *result["statements"]])
    assert result["grade"] == "good" and "errors of the written" in text


def test_an_option_that_is_no_number_is_refused(tmp_path):
    out = tmp_path / "out"
    words = ["identify", "x.bag", "--robot", "ur5e", "--wrench", "/ft,tare=nan", "--out", str(out)]
    result = robot_dynamics(*words)
    assert result.exit_code == 2 and "tare 'nan'" in result.output and not out.exists()


def test_motion_that_says_nothing_is_reported_in_words(tmp_path, monkeypatch):
    """A motion of which no part predicts another leaves nothing but rounding to solve for."""

    def singular(*_):
        np.linalg.solve(np.zeros((1, 1)), np.ones(1))

    monkeypatch.setattr("robot_dynamics_ros.identification.arm.identify.Tuner.run", singular)
    robot = load_robot("ur5e")
    bag = numbers(synthetic_log(robot, truth_of(robot), 1, duration=6.0), tmp_path / "dull")
    result = robot_dynamics("identify", bag, "--robot", "ur5e", "--out", tmp_path / "out")
    assert isinstance(result.exception, RobotDynamicsError), result.exception
    assert "dull" in str(result.exception) and "record larger motions" in str(result.exception)


@pytest.mark.parametrize(("stamp", "expected"), [(0, None), (10**18, "2001-09-09T01:46:40+00:00")])
def test_stamps_that_are_no_date_have_none(stamp, expected):
    recording = SimpleNamespace(
        name="a", samples=1, duration=1.0, rate=1.0, pieces=[], counts={}, notes=[], start_ns=stamp, n=1
    )
    assert _bag(recording)["begun"] == expected
