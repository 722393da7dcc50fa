"""What the command `identify` prints and writes beside the robot file: terminal, report.json and one page."""

import json
import re

import numpy as np
import pytest
from command_line import robot_dynamics
from prepared import TRUTH, UR5E
from rich.console import Console
from synthetic import synthetic_log

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.cli import printed
from robot_dynamics_ros.cli.printed import NOT_USABLE
from robot_dynamics_ros.estimators.replay import replay
from robot_dynamics_ros.estimators.replay_verdict import judged
from robot_dynamics_ros.identification.reports import arm
from robot_dynamics_ros.identification.reports.arm import write_report
from robot_dynamics_ros.robot_file import load_robot


@pytest.fixture
def plain(given_structure, monkeypatch):
    """`identify` with a given structure; its page, which the tests do not read, is without pictures."""
    monkeypatch.setattr(arm, "pictures", lambda *_: dict.fromkeys(("tracks", "friction", "load", "spectrum"), ""))


def invoke(logs, folder):
    """The command on two logs; its result, and what it wrote as JSON."""
    bags = [str(write_bag(log, folder / str(k), topics=["joint_states"])) for k, log in enumerate(logs)]
    line = [bags[0], "--robot", "ur5e", "--validate", bags[1], "--out", str(folder / "out")]
    done = robot_dynamics("identify", *line)
    return done, json.loads((folder / "out" / "report.json").read_text()), bags


def test_terminal_and_json_begin_with_the_verdict_and_names_are_learnt(plain, tmp_path):
    """A bag with foreign names is replayed with the written file."""
    names = [f"axis{k}" for k in range(1, 7)]
    logs = [synthetic_log(UR5E, TRUTH, seed, duration=12.0, names=names) for seed in (1, 2)]
    done, result, bags = invoke(logs, tmp_path)
    assert done.exit_code == 0, done.output
    assert all(text in done.output for text in result["verdict"])
    assert done.output.index(result["verdict"][0]) < done.output.index("errors of the written")
    robot = load_robot(result["files"]["robot_file"])
    assert [j.aliases[-1] for j in robot.kinematics.joints] == names
    assert len(replay([bags[1]], robot).status) == len(logs[1])


def test_rejected_rows_are_counted_and_a_useless_model_is_exit_status_three(plain, tmp_path):
    logs = [synthetic_log(UR5E, TRUTH, seed, duration=12.0) for seed in (1, 2)]
    logs[0].effort[100:900:100] = 1e300
    logs[0].q[50:60, 2] = np.nan
    logs[1].effort[:] = 20 * np.random.default_rng(0).standard_normal(logs[1].effort.shape)
    done, result, bags = invoke(logs, tmp_path)
    assert done.exit_code == NOT_USABLE == 3, (done.output, done.exception)
    said = "called the file not usable"
    file = result["files"]["robot_file"]
    checked, seen = robot_dynamics("check", file), replay([bags[0]], load_robot(file))
    assert "Fair" in checked.output and said in " ".join(checked.output.split())
    assert any(said in note for note in seen.notes)
    verdict = judged(seen, seen.summary(), None, file)
    assert verdict["level"] != "good" and any(said in text for text in verdict["verdict"])
    text = " ".join(done.output.split())
    assert result["grade"] == "not usable"
    assert text.count("dropped") == 1 and "0: dropped 10 q NaN, infinite or absent, 8 effort beyond 100000" in text
    assert result["validation_bags"][0]["dropped"] == {}


def test_the_page_is_one_file_with_verdict_pictures_units_and_a_legend_of_every_code(found, result, tmp_path):
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
    monkeypatch.setattr(printed, "console", Console(width=width))
    table = printed.joint_table(names, "R2", *("constant Coulomb Nm",) * 5)
    for name in names:
        table.add_row(name, *["0.1234"] * 6)
    printed.console.print(table)
    shown = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert "".join(shown).replace(" ", "").endswith("".join(names))
