"""bench/results/coverage.md from .coverage: the share of the package's statements that tests ran, by folder."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "bench" / "results" / "coverage.md"
TEXT = """# Coverage of the tests

`make coverage` runs the short tier but its tests of real-time peers and counts statements of Python. Processes that
tests start, and the C++ core, are not counted. {day}:

| folder of `robot_dynamics_ros` | statements | run [%] |
|---|---|---|
{rows}
"""


def main() -> None:
    """Write the page."""
    command = [sys.executable, "-m", "coverage", "json", "-q", "-o", "-"]
    report = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, file in report["files"].items():
        parts = Path(name).parts
        for folder in (parts[1] if len(parts) > 2 else ".", "all"):
            counts[folder][0] += file["summary"]["num_statements"]
            counts[folder][1] += file["summary"]["covered_lines"]
    rows = "\n".join(f"| {name} | {n} | {100 * done / max(n, 1):.1f} |" for name, (n, done) in sorted(counts.items()))
    PAGE.write_text(TEXT.format(day=date.today(), rows=rows), encoding="utf-8")
    print(rows)


if __name__ == "__main__":
    main()
