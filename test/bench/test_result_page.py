"""HTML pages of faults and reproduce: every row, a picture of what can be drawn, text that cannot break the page."""

import re

import pytest

pytest.importorskip("jinja2", reason="jinja2 is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from bench.faults.table import Row as Fault
from bench.page import write_faults, write_papers
from bench.papers.table import at_least, at_most

FAULTS = [
    Fault("3 gap over 40 ms (clock)", 2, "pass", "zero within 100 ms, latched", "zero after 98 ms"),
    Fault("10 joints reordered (clock)", 2, "FAIL", "identical by name", "<b>another</b> torque"),
]
ROWS = [at_least("Liu 2021", "force", 54.0, 60.0), at_most("Simoni", "ratio", 0.8, 0.9, "", "worse & known")]


def rows_of(text):
    return re.findall(r"<tr(?: class=\"bad\")?><td>", text)


def test_faults_are_counted_listed_and_drawn(tmp_path):
    write_faults(tmp_path / "f.html", FAULTS, "python -m bench faults")
    text = (tmp_path / "f.html").read_text()
    assert "1 of 2 cases passed" in text and len(rows_of(text)) == 2 and text.count('class="bad"') == 1
    assert "data:image/png;base64," in text and "&lt;b&gt;another" in text
    write_faults(tmp_path / "g.html", FAULTS[1:], "python -m bench faults")
    assert "<img" not in (tmp_path / "g.html").read_text()  # nothing that has a time


def test_numbers_of_papers_are_beside_ours(tmp_path):
    write_papers(tmp_path / "r.html", ROWS, "python -m bench reproduce all")
    text = (tmp_path / "r.html").read_text()
    assert "1 of 2 met" in text and len(rows_of(text)) == 2 and "worse &amp; known" in text
    assert "data:image/png;base64," in text and text.count('class="bad"') == 1
