"""The benchmark command: both sides of a case compute the same thing, and what is printed is written."""

import json
import shlex

import click
import numpy as np
import pytest
from click.testing import CliRunner

from bench.__main__ import cli
from bench.commands import force
from bench.commands import speed as bench
from bench.commands.learning import counts
from bench.running import command_line
from bench.speed import SECTIONS, cycles, estimators, least_squares, native
from bench.speed.setup import Arm, Setup, figaroh
from bench.speed.timing import Case, measure
from robot_dynamics_ros import _core
from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.cli.printed import WIDE
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.robot_file import load_robot

CONTEXT = click.Context(cli)


def test_every_number_that_a_command_takes_has_bounds():
    ranges = click.IntRange, click.FloatRange
    numbers = click.types.IntParamType, click.types.FloatParamType
    taken = [(name, p) for name in cli.list_commands(CONTEXT) for p in cli.get_command(CONTEXT, name).params]
    found = [(name, p.name) for name, p in taken if isinstance(p.type, numbers) and not isinstance(p.type, ranges)]
    assert len(taken) > 50 and found == []


def test_ratio_and_floor_come_from_the_medians_of_interleaved_rounds():
    calls = []
    sides = {name: lambda name=name: calls.append(name) for name in ("ours", "peer", "machine")}
    case = Case("n", **sides, peer_name="them", count=2, floors={"avx2": 1e9}, budget=0.01)
    row = measure(case, "avx2")
    assert calls[:6] == ["ours", "peer", "machine"] * 2
    assert row.ratio == pytest.approx(row.peer / row.ours) and row.share == pytest.approx(row.machine / row.ours)
    assert row.met is False and measure(case, "sse2").met is None


@pytest.mark.parametrize(
    ("bounds", "met"),
    [
        ({}, None),
        ({"machine": lambda: None, "least_share": 1e9}, False),
        ({"machine": lambda: None, "least_share": 0.0}, True),
        ({"count": 0.5, "limit": 1e9}, True),
        ({"limit": 0.0}, False),
        ({"floors": {"avx2": 2.0}, "constant": 1e18}, True),
    ],
)
def test_a_share_a_limit_and_a_constant_peer_are_bounds_too(bounds, met):
    row = measure(Case("n", lambda: sum(range(1000)), budget=0.01, **bounds), "avx2")
    assert row.met is met and row.peer_name == ("real time" if "constant" in bounds else "")


def test_peers_of_the_least_squares_section_solve_the_same_problem():
    arm = Arm("ur5e")
    columns = least_squares._base_columns(arm)
    x = arm.motion(50)
    ours = arm.model.stacked_regressor(*x, columns)
    np.testing.assert_allclose(least_squares._pinocchio_stack(arm, x, columns), ours, atol=1e-12)
    builder = figaroh(arm)
    if builder is not None:
        theirs = builder.build_basic_regressor(*x, {"act_idxv": []})
        np.testing.assert_allclose(theirs[:, least_squares._pinocchio_places(columns)], ours, atol=1e-12)


def test_repeated_single_calls_are_the_batch():
    arm = Arm("panda")
    x = arm.motion(37)
    np.testing.assert_allclose(native.repeat_rnea(arm.model.chain, *x), arm.model.rnea(*x), rtol=1e-12, atol=1e-12)


def test_generated_peer_computes_our_torques(tmp_path, monkeypatch):
    casadi = pytest.importorskip("casadi")
    from bench.speed.cpp_peers import _symbolic_rnea

    arm = Arm("ur5e")
    q, v, a = (casadi.SX.sym(name, 6) for name in "qva")
    function = casadi.Function("peer", [q, v, a], [_symbolic_rnea(arm.model.chain, q, v, a)])
    x = arm.motion(3)
    theirs = np.array([function(*sample).full().ravel() for sample in zip(*x, strict=True)])
    np.testing.assert_allclose(theirs, arm.model.rnea(*x), rtol=1e-12, atol=1e-12)


def test_command_writes_what_it_prints(tmp_path, monkeypatch):
    case = Case("empty work", lambda: None, lambda: None, "peer")
    monkeypatch.setattr(bench, "_cases", lambda setup, sections: [case])
    monkeypatch.setattr(bench.console, "width", WIDE)  # workers of the test runner have COLUMNS=80
    monkeypatch.setattr("bench.page.RESULTS", tmp_path)
    files = ["--json", str(tmp_path / "bench.json"), "--save"]
    result = CliRunner().invoke(bench.command, ["--quick", *files])
    assert result.exit_code == 0, result.output
    assert "empty work" in result.output
    written = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert written["machine"]["isa"] == _core.isa()
    assert written["rows"][0]["name"] == "empty work"
    assert "| empty work | " in (tmp_path / "speed.md").read_text(encoding="utf-8")


def test_every_section_has_cases():
    for name in SECTIONS:
        module = __import__(f"bench.speed.{name}", fromlist=["cases"])
        assert next(iter(module.cases(Setup(quick=True)))).name


def test_joints_side_by_side_learn_what_each_learns_alone():
    phi, tau = 1e-3 * np.random.default_rng(3).normal(size=(2, 500, 7))
    tau = 2e4 * phi + 4e9 * phi**3 + 1e3 * tau
    errors, a = native.repeat_rls(phi, tau, 1e-3)
    for i in range(7):
        alone = native.repeat_rls(phi[:, i : i + 1].copy(), tau[:, i : i + 1].copy(), 1e-3)
        assert (alone[0][:, 0] == errors[:, i]).all() and (alone[1][0] == a[i]).all()


def test_whole_cycle_does_the_work_it_is_timed_for():
    arm = Arm("ur5e")
    assert np.isfinite(cycles.estimators(arm)()[-100:]).all()
    plain, damped = cycles.estimators(arm)(), cycles.estimators(arm, covariance=True)()
    # the priors on moments and forces take a share away; the joint torques stay explained, more by forces than before
    assert np.linalg.norm(damped[-100:]) < np.linalg.norm(plain[-100:]) < 5 * np.linalg.norm(damped[-100:])
    t = 1e-9 * cycles.STEP_NS * np.arange(cycles.N)[:, None]
    J = arm.model.jacobian(cycles.START + 0.3 * np.sin(t * np.linspace(0.7, 2.0, arm.n)))
    torque, explained = (np.einsum("nij,ni->nj", J, F)[100:] for F in (plain, damped))
    for k in range(6):
        assert np.corrcoef(torque[:, k], explained[:, k])[0, 1] > 0.9


@pytest.mark.parametrize("given", ["", "0", "3,2", "1,1001", "x"])
def test_numbers_of_recordings_are_checked(given):
    with pytest.raises(ConfigError, match="no list of rising numbers"):
        counts(given)


def test_pinocchio_observer_gives_our_wrench():
    robot, arm = load_robot("ur5e"), Arm("ur5e")
    log = estimators._motion(robot, arm, 1000)
    push = np.array([20.0, -10, 30, 1, 0, 0])
    log.effort = log.effort - np.einsum("kij,i->kj", arm.model.jacobian(log.q), push)
    theirs = estimators._pinocchio_observer(robot, arm, log)()
    any_force = {"force": {"expected_force": 1e4}}  # the peer's inverse has no prior
    Pipeline(robot, any_force, stages=estimators.CHAIN).run(log)
    posed = log.singular_value[:, 0] > 0.1
    assert posed[300:].sum() > 100
    np.testing.assert_allclose(log.external_wrench[300:][posed[300:]], theirs[300:][posed[300:]], atol=1.5)


def test_both_readers_return_the_same_numbers():
    log = estimators._motion(load_robot("ur5e"), Arm("ur5e"), 50)
    recording = estimators._Recording(log)
    np.testing.assert_array_equal(recording.by_rosbags()[:, 2], recording.load()[0].effort)
    np.testing.assert_array_equal(load_bag(recording._path)[0].q, log.q)


def test_the_command_that_a_page_names_as_its_origin_has_all_its_words():
    context = force.command.make_context("force", ["--times", "transmission.backlash", "3", "--pushed"])
    with context:
        words = shlex.split(command_line())
    assert words[(k := words.index("--times")) : k + 3] == ["--times", "transmission.backlash", "3"]
    assert "--pushed" in words and "True" not in words
