"""Every equation that the sources cite is named by a test."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def index():
    return SimpleNamespace(**run_path(str(ROOT / "docs" / "generators" / "papers.py")))


def test_every_cited_equation_has_a_test(index):
    untested = [f"{path}: {key} {cited}" for key, cited, path, tests in index.rows() if not tests]
    assert not untested


def test_citations_are_read_with_their_chapters_and_ranges(index):
    assert index.citations("[Madsen2020 ch6 24-26; appB eq. 14] [Liu2020 31]") == {
        "Madsen2020 ch6 24-26",
        "Madsen2020 appB 14",
        "Liu2020 31",
    }
    assert index.equations("[Madsen2020 ch6 24-26]") == {f"Madsen2020 ch6 {k}" for k in (24, 25, 26)}


METHODS = {"19-22 | Least squares": "solvers/least_squares.py", "GMS friction": "gms.hpp"}  # the weights of Liu
METHODS |= {"Hand guiding": "hand_guiding.hpp", "directional forgetting": "rls_df.hpp"}
METHODS |= {"Adaptive friction feedforward": "adaptive.hpp"}


def test_a_method_is_found_by_its_name(index):
    lines = index.page().splitlines()
    assert [words for words, file in METHODS.items() if not any(words in x and file in x for x in lines)] == []
