"""What `identify` says: the verdict leads with bad news, and figures are those of the file that is written."""

import copy
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from prepared import ROBOT, TRUTH, identified, run, steps, structure
from rich.console import Console
from synthetic import Truth, synthetic_log

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.cli import options
from robot_dynamics_ros.cli.identify import command
from robot_dynamics_ros.cli.options import NOT_USABLE
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.replay import replay
from robot_dynamics_ros.identification.arm.checks import check_rate
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.friction_columns import JointFriction
from robot_dynamics_ros.identification.arm.parameters import other_masses
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.identification.reports import arm
from robot_dynamics_ros.identification.reports.arm import write_report
from robot_dynamics_ros.identification.reports.result import baselines, summarise
from robot_dynamics_ros.identification.reports.verdict import judged
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log


def said(result):
    return judged(result)["verdict"]


def grade(result):
    return judged(result)["level"]


@pytest.fixture(scope="module")
def found():
    return identified()


@pytest.fixture(scope="module")
def result(found):
    return summarise(found, "ur5e")


@pytest.fixture
def other(result):
    """A result of its own for a test that changes it."""
    return copy.deepcopy(result)


def test_samples_of_the_controller_that_are_missing_are_a_warning(found):
    """125 of 500 Hz; not where the controller has no more, nor behind joint torque sensors."""
    assert any("samples come at 125 Hz, the controller has 500" in w for w in found.warnings)
    for update in ({"sensing.sample_rate": 125.0}, {"sensing.sample_rate": None}, {"drives.torque_side": "link"}):
        assert not check_rate(replace(found, robot=found.robot.with_updates(update)))


def test_figures_are_those_of_the_written_file(found, result):
    """By inverse dynamics and friction of the file, without the code that judges."""
    robot, m = identified_robot(found), found.judged[0]
    model = RobotModel(robot.chain(), robot.joint_names)
    log = Log(robot.joint_names, np.round(m.t * 1e9).astype(np.int64), {"q": m.position, "qd": m.qd})
    log.model_torque = model.rnea(*(np.ascontiguousarray(x) for x in (m.q, m.qd, m.qdd)))
    Pipeline(robot, stages=["friction"]).run(log)
    predicted = log.model_torque + log.friction_torque + robot.array("drives.rotor_inertia") * m.qdd
    rmse = np.sqrt(np.mean((m.effort - predicted) ** 2, axis=0))
    np.testing.assert_allclose(result["validation"]["rmse"], rmse, rtol=1e-6)


def test_figures_follow_the_file_when_it_is_worse_than_the_fit(found):
    """Half the friction of one joint in the written file must show in its figures and in front of the verdict."""
    worse = copy.copy(found)
    friction = {k: list(v) for k, v in found.live.friction.items()}
    for name in ("fc", "fv"):
        friction[name][2] *= 0.3
    worse.live = replace(found.live, friction=friction, hysteresis=None)
    r = summarise(worse, "ur5e")
    assert r["validation"]["rmse"][2] > 2 * r["comparison"]["consistent"]["rmse"][2]
    exceptions = r["verdict"][0].split(":")[0]
    assert ROBOT.joint_names[2] in exceptions and "constant Coulomb friction" in exceptions


def test_friction_is_reported_under_the_load_of_the_gears():
    """A tenth of |gravity torque| beside the friction of the synthetic arm."""
    logs = [synthetic_log(ROBOT, TRUTH, seed, duration=12.0) for seed in (1, 2)]
    for log in logs:
        log.effort += 0.1 * np.abs(RobotModel(ROBOT.chain()).gravity(log.q)) * np.tanh(log.qd / 0.02)
    told = summarise(steps(*([recording(log, "loaded")] for log in logs)), "ur5e")["parameters"]["sliding_friction"]
    true = TRUTH.fc[1] + TRUTH.fv[1] * np.array(told["speeds"]) + 0.1 * told["load"][1]  # of the joint that bears most
    np.testing.assert_allclose(told["torque"][1], true, rtol=0.1)
    assert told["load"][1] > 20


def test_replay_by_the_live_nodes_is_among_the_figures(found, result):
    robot, log = identified_robot(found), synthetic_log(ROBOT, TRUTH, 2, duration=12.0)
    Pipeline(robot, stages=["motion", "friction"]).run(log)
    error = (log.drive_torque - log.model_torque - log.friction_torque)[log.time > 0.1]
    rmse = np.sqrt(np.nanmean(error**2, axis=0))
    np.testing.assert_allclose(result["validation"]["live_nodes"]["rmse"], rmse, rtol=0.02)


def test_a_mean_below_zero_is_put_in_words(result, other):
    other["validation"]["live_nodes"]["mean_r2"] = -117.89
    assert "explains nothing" in " ".join(said(other)) and "-11789" not in " ".join(said(other))
    other["validation"]["mean_r2"] = -51.72
    assert "-5172" not in " ".join(said(other))
    assert grade(other) == "bad" and grade(result) == "good"


@pytest.mark.parametrize(
    ("recorded", "given", "other"), [("ur3", "ur5e", True), ("ur5e", "ur3e", True), ("ur3", "ur3", False)]
)
def test_the_recording_of_another_robot_is_recognised(recorded, given, other):
    """Masses and rotors of one arm, robot file of another; a payload alone is not another robot."""
    arm, other = load_robot(recorded), recorded != given
    truth = replace(TRUTH, phi=arm.inertial_parameters, rotor=arm.array("drives.rotor_inertia"))
    body = np.array([0.03, 0, 0, 0.03, 0, 0, 0, 0, 0.3, 3.0])
    state = steps([run(1, arm, truth, payload=None if other else body)], robot=load_robot(given), until="check_rotors")
    assert bool(state.other_robot) == other
    assert not any("rotor inertia" in w for w in state.warnings)  # the verdict says it, where it is another robot


@pytest.mark.parametrize(
    ("recorded", "given", "unit"), [("ur10e", "ur5e", "Nm"), ("ur3e", "ur10e", "A"), ("ur5e", "ur5e", "Nm")]
)
def test_gravity_far_from_the_robot_files_is_warned_of(recorded, given, unit):
    """Also where it could be the current of a larger robot."""
    truth = replace(TRUTH, phi=load_robot(recorded).inertial_parameters)
    state = steps([run(1, load_robot(recorded), truth)], robot=load_robot(given), until="recognise_effort")
    text = other_masses(state.robot, state.effort)
    assert state.effort.unit == unit
    assert 1.5 < float(text.split()[3]) < 2.5 if recorded != given else not text


def test_the_recording_of_another_robot_is_not_usable(other):
    other["other_robot"] = "gravity torque is 0.46 times that of ur5e"
    assert grade(other) == "bad"
    (only,) = said(other)
    assert other["other_robot"] in only


def test_after_another_robots_recording_comes_the_same_recording_for_its_own_arm(found):
    there = copy.copy(found)
    there.other_robot = "gravity torque is 0.46 times that of ur5e"
    names = " ".join(r.name for r in found.training)
    assert f"identify {names} --robot " in summarise(there, "ur5e")["next"]


def test_after_a_file_that_is_not_usable_comes_a_recording_for_the_robot_as_it_was_named(found):
    bad = copy.copy(found)
    bad.live = replace(found.live, phi=-found.live.phi)
    assert "excite --robot robots/mine.yaml " in summarise(bad, "robots/mine.yaml")["next"]


def test_the_grade_is_against_what_noise_leaves_explainable_and_advice_names_the_joints_it_would_help(other):
    v = other["validation"]
    v["r2"], v["above_cutoff_bound_r2"] = [0.99] * 5 + [0.7226], [0.995] * 5 + [0.7321]
    v["mean_r2"] = float(np.mean(v["r2"]))
    other["warnings"] = ["weak excitation: condition number 900 (good below 100)"]
    words = " ".join(said(other))
    assert grade(other) == "good" and "99.4 % of what noise leaves" in words
    assert "faster, larger" not in words and " Hz" not in words
    v["r2"][1] = 0.9
    other["training"]["bags"][0]["rate"] = 29.0
    words = " ".join(said(other))
    assert f"larger excitation of {ROBOT.joint_names[1]} (" in words and "recorded at 29 Hz" in words


def test_mean_r2_that_is_lower_comes_first_although_most_errors_are_lower(other):
    v, usual = other["validation"], other["comparison"]["constant_coulomb"]
    v["rmse"] = [0.8, 0.8, 0.8, 0.8, 0.8, 1.22]
    usual["rmse"], usual["mean_r2"], v["mean_r2"] = [1.0] * 6, 0.96, 0.95
    first, *rest = said(other)
    assert "wrist_3_joint 22 %" in first and "0.950 against 0.960" in first
    assert any("lower than with constant Coulomb" in text for text in rest)
    v["mean_r2"] = 0.97
    assert "wrist_3_joint 22 %" in said(other)[0] and "against" not in said(other)[0]


def test_a_joint_of_which_the_live_nodes_leave_more_is_named(other):
    v = other["validation"]
    v["live_nodes"]["rmse"] = [2 * x if k == 2 else x for k, x in enumerate(v["rmse"])]
    (words,) = [text for text in said(other) if "The live nodes" in text]
    assert f"{ROBOT.joint_names[2]} {2 * v['rmse'][2]:.2g} instead of" in words and ROBOT.joint_names[1] not in words
    v["live_nodes"]["rmse"] = v["rmse"]
    assert not any("The live nodes" in text for text in said(other))


@pytest.mark.parametrize(
    ("explained", "bound", "word"), [(0.67, 0.99, "bad"), (0.85, 0.99, "fair"), (0.67, 0.69, "good")]
)
def test_a_file_that_leaves_a_third_of_what_can_be_explained_is_not_usable(other, explained, bound, word):
    v = other["validation"]
    v["r2"], v["above_cutoff_bound_r2"], v["mean_r2"] = [explained] * 6, [bound] * 6, explained
    assert grade(other) == word and judged(other)["usable"] == (word != "bad")


def test_a_broken_model_is_no_comparison(other):
    usual = other["comparison"]["constant_coulomb"]
    usual["rmse"], usual["mean_r2"] = [1e4] * 6, -1e6
    assert not any("lower than with constant Coulomb" in text for text in said(other))
    usual["rmse"], usual["mean_r2"] = [1e-5] * 6, 0.9
    assert "over 100 times worse" in said(other)[0]


def test_the_initial_model_is_judged_as_its_file_says(found):
    """A file that was identified, memory and rotors included, predicts as well when it is the initial model."""
    r = summarise(steps([run(3)], [run(4)], identified_robot(found)), "ur5e")
    assert r["comparison"]["initial_model"]["mean_r2"] > 0.995
    assert np.all(np.array(r["comparison"]["initial_model"]["rmse"]) < 1.3 * np.array(r["validation"]["rmse"]))


def test_the_initial_model_of_torque_behind_the_gear_has_no_rotors():
    updates = {"drives.torque_side": "link", "drives.rotor_inertia": [0.5] * 7, "friction": None}
    robot = load_robot("panda").with_updates(updates)
    zero = np.zeros(7)
    truth = Truth(robot.inertial_parameters, zero, zero, zero, zero)
    chosen = structure((JointFriction(("fv1", "fo", "fc")),) * 7)
    made = [run(seed, robot, truth, duration=20.0) for seed in (1, 2)]
    found = steps(made[:1], made[1:], robot, chosen, until="fit_parameters")
    m = found.filtered(found.validation[0])
    error = m.effort - baselines(found)["initial_model"](m)
    assert np.all(error.std(0) < 0.05 * m.effort.std(0))


def test_consistency_that_costs_accuracy_is_a_warning():
    """No possible bodies explain the effort of a payload of -3 kg: what consistency costs is told."""
    body = -np.array([0.3, 0, 0, 0.3, 0, 0, 0, 0, 0.9, 3.0])
    r = summarise(steps([run(1, payload=body)], [run(2, payload=body)], effort="torque"), "ur5e")
    free, possible = (r["comparison"][k]["mean_r2"] for k in ("unconstrained", "consistent"))
    assert possible < free - 0.01
    assert any(f"costs {free - possible:.3f} of R2" in text for text in r["warnings"])


def test_a_mounted_payload_is_not_written_twice():
    robot = ROBOT.with_updates({"payload.mass": 3.0, "payload.com": [0.0, 0.0, 0.1]})
    body = np.array([0.03, 0, 0, 0.03, 0, 0, 0, 0, 0.3, 3.0])
    written = identified_robot(steps([run(1, robot, payload=body)], robot=robot, until="choose_live_motion"))
    q = np.zeros((1, 6))
    model = RobotModel(written.chain(), written.joint_names)
    truth = RobotModel(ROBOT.chain_with_links((TRUTH.phi + np.r_[np.zeros(50), body]).reshape(6, 10)))
    np.testing.assert_allclose(model.gravity(q), truth.gravity(q), atol=1.0)


@pytest.fixture
def plain(given_structure, monkeypatch):
    """`identify` with a given structure; its page, which the tests do not read, is without pictures."""
    monkeypatch.setattr(arm, "pictures", lambda *_: dict.fromkeys(("tracks", "friction", "load", "spectrum"), ""))


def invoke(logs, folder):
    """The command on two logs; its result, and what it wrote as JSON."""
    bags = [str(write_bag(log, folder / str(k), topics=["joint_states"])) for k, log in enumerate(logs)]
    line = [bags[0], "--robot", "ur5e", "--validate", bags[1], "--out", str(folder / "out")]
    done = CliRunner().invoke(command, line)
    return done, json.loads((folder / "out" / "report.json").read_text()), bags


def test_terminal_and_json_begin_with_the_verdict_and_names_are_learnt(plain, tmp_path):
    """A bag with foreign names is replayed with the written file."""
    names = [f"axis{k}" for k in range(1, 7)]
    logs = [synthetic_log(ROBOT, TRUTH, seed, duration=12.0, names=names) for seed in (1, 2)]
    done, result, bags = invoke(logs, tmp_path)
    assert done.exit_code == 0, done.output
    assert all(text in done.output for text in result["verdict"])
    assert done.output.index(result["verdict"][0]) < done.output.index("mean R2")
    robot = load_robot(result["files"]["robot_file"])
    assert [j.aliases[-1] for j in robot.kinematics.joints] == names
    assert len(replay([bags[1]], robot).status) == len(logs[1])


def test_rejected_rows_are_counted_and_a_useless_model_is_exit_status_three(plain, tmp_path):
    logs = [synthetic_log(ROBOT, TRUTH, seed, duration=12.0) for seed in (1, 2)]
    logs[0].effort[100:900:100] = 1e300
    logs[0].q[50:60, 2] = np.nan
    logs[1].effort[:] = 20 * np.random.default_rng(0).standard_normal(logs[1].effort.shape)
    done, result, _ = invoke(logs, tmp_path)
    assert done.exit_code == NOT_USABLE == 3, (done.output, done.exception)
    text = " ".join(done.output.split())
    assert result["grade"] == "not usable"
    assert text.count("dropped") == 1 and "0: dropped 10 q NaN, infinite or absent, 8 effort beyond 100000" in text
    assert result["validation_bags"][0]["dropped"] == {}


def test_the_page_is_one_file_with_the_verdict_pictures_every_term_code_in_its_legend_and_units(
    found, result, tmp_path
):
    html = write_report(found, result, tmp_path / "report.html").read_text()
    assert "<svg" in html and not re.findall(r'(?:src|href)="(?!data:|#)', html)
    assert all(text in html.replace("&#39;", "'") for text in result["verdict"])
    legend = html.split("<li>terms: ")[1].split("</li>")[0]
    for term in {t for law in found.structure.laws for t in law.terms}:
        assert re.search(rf"\b{re.split('[@+-]', term)[0]}\b", legend), term
    units = re.findall(r"<tr><td>(\w+)[^<]*</td><td>[^<]*</td><td>[^<]*</td><td>([^<]*)</td>", html)
    assert {"XX2": "kg m²", "mX2": "kg m"}.items() <= dict(units).items()
    terms = re.findall(r"<td>wrist_3_joint</td><td>(\w+)</td><td>[^<]*</td><td>[^<]*</td><td>([^<]*)</td>", html)
    assert dict(terms)["fv1"] == "Nm s/rad" and all(unit for _, unit in terms)


@pytest.mark.parametrize("width", [70, 200])
def test_joint_names_are_never_cut(width, result, monkeypatch, capsys):
    names = [f"left_arm_with_a_long_name_{k}_joint" for k in range(5)] + ["shoulder_lift_joint"]
    monkeypatch.setattr(options, "console", Console(width=width))
    table = options.joint_table(names, "R2", *("constant Coulomb Nm",) * 5)
    for name in names:
        table.add_row(name, *["0.1234"] * 6)
    options.console.print(table)
    shown = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert "".join(shown).replace(" ", "").endswith("".join(names))
