"""The fault table: all cases with a clock of our own, one of each end to end; the command's exit status."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from bench.commands import faults as cli
from bench.faults.clock_bench import ClockBench
from bench.faults.socket_bench import SocketBench
from bench.faults.states import FAULTS
from bench.faults.table import Case, Failed, cases, run_case
from robot_dynamics_ros.errors import ConnectionFailed

QUICK = {"our process killed -9", "protective stop in motion", "50 states lost"}


HOUR = 21  # whose case lasts an hour of simulated time


def by_clock():
    return [pytest.param(case, marks=pytest.mark.long if case.number == HOUR else ()) for case in cases("clock")]


@pytest.mark.parametrize("case", by_clock(), ids=lambda case: case.title)
def test_a_fault_is_handled(case):
    row = run_case(case, 1)
    assert row.result == "pass", row.measured


@pytest.mark.long
@pytest.mark.realtime
@pytest.mark.parametrize("case", [c for c in cases("sockets") if c.name in QUICK], ids=lambda case: case.title)
def test_a_fault_is_handled_over_sockets(case, monkeypatch):
    monkeypatch.setattr(SocketBench, "latency", 2.0)  # s, for busy machines: the tests by clock hold the budget
    row = run_case(case, 1)
    assert row.result == "pass", row.measured


def test_every_fault_of_the_command_path_has_a_case_and_the_dangerous_ones_one_end_to_end():
    by_clock = {case.number for case in cases("clock")}
    assert by_clock >= {*range(1, 16), 17, 18, *range(20, 29)}
    end_to_end = {case.number for case in cases("sockets") + cases("graph")}
    assert end_to_end >= {1, 2, 3, 4, 24, 25, 26, 27, 29}


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.latches is not None], ids=lambda fault: fault.name)
def test_a_fault_that_does_not_happen_or_torque_that_ends_too_late_fails(fault):
    for wrong in (replace(fault, inject=lambda bench: None), replace(fault, latches=-1.0)):
        assert run_case(wrong.on(ClockBench, "clock"), 1).result == "FAIL"


def test_a_fault_that_should_pass_unharmed_fails_when_the_guard_latches():
    harmless = next(fault for fault in FAULTS if fault.latches is None)
    assert run_case(replace(harmless, inject=lambda bench: bench.lose(50)).on(ClockBench, "clock"), 1).result == "FAIL"


def test_an_error_in_a_case_is_a_row_and_not_the_end():
    def broken(_):
        raise ConnectionFailed("nobody there")

    row = run_case(Case(1, "x", "clock", "", broken), 3)
    assert (row.result, row.tries, row.measured) == ("FAIL", 1, "nobody there")


def test_a_case_that_fails_ends_the_command_with_one(monkeypatch, tmp_path):
    def bad(_):
        raise Failed("moved for 3 s")

    chosen = Case(1, "good", "clock", "", lambda _: "fine"), Case(2, "bad", "clock", "", bad)
    for status, case in enumerate(chosen):
        monkeypatch.setattr(cli, "cases", lambda transport, case=case: [case])
        monkeypatch.setattr("bench.page.RESULTS", tmp_path)
        files = ["--transport", "clock", "--json", str(tmp_path / "rows.json"), "--save"]
        result = CliRunner().invoke(cli.command, files)
        assert result.exit_code == status
    row = json.loads((tmp_path / "rows.json").read_text())["rows"][0]
    assert (row["case"], row["tries"], row["result"]) == ("2 bad (clock)", 1, "FAIL")
    page = (tmp_path / "faults.md").read_text()
    assert page.startswith("# Faults\n") and "| 2 bad (clock) | 1 | FAIL |" in page and "1 good" not in page
