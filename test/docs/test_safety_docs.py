"""Every guarantee of docs/safety.md and every fault of bench/results/faults.md names cases and tests that are there."""

import re
from pathlib import Path

import pytest

from bench.faults.table import cases as fault_cases

ROOT = Path(__file__).parents[2]
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")


def table(page: str, heading: str) -> list[list[str]]:
    """Rows of the first table whose head begins with `heading`."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"| {heading} |")) + 2
    rows = []
    for line in lines[begin:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("| ").split(" | ")])
    return rows


def exists(cell: str) -> bool:
    found = TEST.fullmatch(cell)
    if found is None or not (ROOT / "test" / found[1]).is_file():
        return False
    source = (ROOT / "test" / found[1]).read_text(encoding="utf-8")
    return re.search(rf"^def {found[2]}\(", source, re.MULTILINE) is not None


def numbers() -> set[int]:
    return {case.number for case in fault_cases("clock") + fault_cases("sockets")}


@pytest.mark.parametrize("row", table("docs/safety.md", "guaranteed"), ids=lambda row: row[0][:40])
def test_a_guarantee_has_a_mechanism_cases_and_a_test(row):
    guaranteed, mechanism, cases, test = row
    assert guaranteed and mechanism
    listed = {int(number) for number in cases.split(",")}
    assert listed and listed <= numbers(), f"no case for {listed - numbers()}"
    assert exists(test), f"{test} is not there"


@pytest.mark.parametrize("row", table("bench/results/faults.md", "fault"), ids=lambda row: row[0])
def test_a_fault_that_is_tested_elsewhere_is(row):
    assert exists(row[2]), f"{row[2]} is not there"


def test_every_fault_of_the_list_is_in_the_table_or_elsewhere():
    elsewhere = {int(row[0].split()[0]) for row in table("bench/results/faults.md", "fault")}
    assert numbers() | elsewhere >= set(range(1, 31))


def test_the_table_of_runs_lists_every_case():
    """Whether they pass is the matter of test_faults.py, which runs them."""
    text = (ROOT / "bench/results/faults.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| (.+? \((?:clock|sockets|graph)\)) \|", text, re.MULTILINE))
    titles = {case.title for case in fault_cases("clock") + fault_cases("sockets")}
    assert titles <= listed, "run: python -m bench faults --save"


def test_a_test_that_is_not_there_is_noticed():
    assert not exists("`control/test_guard.py::test_that_is_not_there`")
    assert not exists("`control/test_nothing.py::test_x`")
    assert not exists("test_guard.py")
