"""Reference page of the papers: which equation is implemented in which file, and which tests verify it."""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("cpp_core/include/**/*.hpp", "cpp_core/src/**/*.cpp", "robot_dynamics_ros/**/*.py")
PAPERS = {
    "Simoni2017": "Simoni et al., On the use of a temperature based friction model for a virtual force sensor in "
    "industrial robot manipulators, ETFA 2017, doi:10.1109/ETFA.2017.8247655",
    "Clochiatti2024": "Clochiatti et al., electro-mechanical modelling and identification of the UR5e, 2024",
    "Liu2020": "Liu et al., A new joint friction model for parameter identification and sensor-less hand guiding in "
    "industrial robots, 2020",
    "Luo2024": "Luo et al., Lie-theory based dynamic parameter identification of serial manipulators, 2024; friction "
    "and excitation are from it, not its Lie-group recursion: the dynamics are recursive Newton-Euler [Madsen2020 "
    "2.26-2.28]",
    "Madsen2020": "Madsen, PhD thesis, Aarhus University and Universal Robots, 2020; ch3 ICRA 2019, ch4 CEP 2020, "
    "ch5 MPE 2020, ch6 MMT 2021; appendices A and B are patent applications",
    "DeLuca2003": "De Luca and Mattone, Actuator failure detection and isolation using generalized momenta, ICRA 2003",
}
LONGEST = 120
CITATION = re.compile(r"\[((?:{})[^\]\n]*)\]".format("|".join(PAPERS)))
CHAPTER = re.compile(r"\[((?:ch\d|app[AB])[^\]\n]*)\]")  # further citations of the paper named in the file's header
DEFINED = re.compile(r"^(?:class|struct|def)\s+([A-Za-z]\w{3,})", re.MULTILINE)


def citations(text: str) -> set[str]:
    """Every citation of a text, each as `Key rest`; `[a; b]` counts as two, `[ch6 24]` belongs to Madsen2020."""
    found: set[str] = set()
    for whole in CITATION.findall(text):
        parts = [part.strip() for part in whole.split(";")]
        key = parts[0].split()[0].rstrip(",:")
        found |= {part if part.split()[0].rstrip(",:") in PAPERS else f"{key} {part}" for part in parts if part}
    found |= {f"Madsen2020 {rest}" for rest in CHAPTER.findall(text)}
    return {re.sub(r"\s+", " ", item.replace(",", "").replace(":", "").replace("eq.", "")) for item in found}


def numbers(item: str) -> set[str]:
    """`Madsen2020 ch6 24-28` -> {`Madsen2020 ch6 24`, ...}: the single equations of a citation, ranges opened."""
    key, _, rest = item.partition(" ")
    chapter = re.match(r"(ch\d|app[AB])?", rest).group(0)
    single = set(re.findall(r"\b\d+(?:\.\d+)?\b", rest[len(chapter) :]))
    for first, last in re.findall(r"\b(\d+)-(\d+)\b", rest):
        single |= {str(k) for k in range(int(first), min(int(last), int(first) + 50) + 1)}
    return {f"{key} {chapter} {number}" for number in single}


@cache
def equations(text: str) -> set[str]:
    """All single equations a text cites."""
    return {number for item in citations(text) for number in numbers(item)}


@cache
def words(text: str) -> frozenset[str]:
    """All words of a text."""
    return frozenset(re.findall(r"\w+", text))


@cache
def defined(text: str) -> frozenset[str]:
    """Names of four letters and more that a file defines at its top."""
    return frozenset(DEFINED.findall(text))


def uses(path: Path, text: str, content: str) -> bool:
    """Whether a test names the module, or what it defines and its package; C++: the header, or what it defines."""
    known = bool(defined(text) & words(content))
    if path.suffix == ".hpp":
        return path.name in content or known
    module = ".".join(path.with_suffix("").parts)
    return module in content or (known and f"from {module.rpartition('.')[0]} import" in content)


def tests_of(path: Path, text: str, tests: dict[Path, str]) -> list[Path]:
    """Test files named after the source file, using what it defines, or citing its equations."""
    cited, ranked = equations(text), []
    for test, content in tests.items():
        if test.stem in (f"test_{path.stem}", path.stem + "_test"):
            ranked.append((0, test))
        elif cited & equations(content):
            ranked.append((1, test))
        elif uses(path, text, content):
            ranked.append((2, test))
    return [test for _, test in sorted(ranked)]


def about(text: str) -> str:
    """First sentence of a file's header, without its citations, in at most LONGEST characters."""
    header = re.match(r'(?:"""(.*?)"""|((?://.*\n)+))', text, re.DOTALL)
    whole = " ".join((header[1] or header[2].replace("//", "")).split())
    first = re.split(r"[.;](?: |$)", re.sub(r" (?:after |or )?\[\w*\d{4}[^\]]*\]", "", whole))[0]
    return textwrap.shorten(first.replace("|", "\\|"), LONGEST, placeholder=" ...")


def rows() -> list[tuple[str, str, Path, list[Path]]]:
    """(key, equations, file, tests) of every file that cites a paper, in the order of the page."""
    tests = {p.relative_to(ROOT): p.read_text(encoding="utf-8") for p in sorted(ROOT.glob("test/**/test_*.py"))}
    tests.pop(Path("test/docs/test_papers_index.py"), None)  # cites to try the reader of citations
    tests |= {p.relative_to(ROOT): p.read_text(encoding="utf-8") for p in sorted(ROOT.glob("cpp_core/test/*.cpp"))}
    table = []
    for path in sorted({p for pattern in SOURCES for p in ROOT.glob(pattern)}):
        text = path.read_text(encoding="utf-8")
        by_key: dict[str, set[str]] = defaultdict(set)
        for item in citations(text):
            key, _, rest = item.partition(" ")
            by_key[key].add(rest.strip() or "(whole)")
        relative = path.relative_to(ROOT)
        for key, cited in by_key.items():
            table.append((key, "; ".join(sorted(cited)), relative, tests_of(relative, text, tests)))
    return sorted(table, key=lambda row: (list(PAPERS).index(row[0]), str(row[2])))


def page() -> str:
    """The whole page."""
    text = "Equations as the file cites them: `25-28` contains 27. Complete protocols: `python -m bench reproduce all`."
    lines = ["# Papers: equation, file, test", "", text, ""]
    table = rows()
    for key, title in PAPERS.items():
        lines += [f"## {key}", "", title, "", "| equations | about | file | tests |", "|---|---|---|---|"]
        for row_key, cited, path, tests in table:
            if row_key == key:
                names = ", ".join(t.name for t in tests[:4])
                text = (ROOT / path).read_text(encoding="utf-8")
                lines.append(f"| {cited} | {about(text)} | `{path.as_posix()}` | {names} |")
        lines.append("")
    return "\n".join(lines)
