"""Known vulnerabilities of the installed Python packages, without sending their names anywhere.

python tools/audit.py ADVISORIES: a zip file or directory of advisories in OSV format, e.g. the public export
https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip, fetched once and carried to this machine.
Exit status 1 when a package is affected, 2 when there are no advisories to compare with.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version


def advisories(place: Path) -> Iterator[dict[str, Any]]:
    """Every advisory of a zip file or directory."""
    if place.is_dir():
        for file in sorted(place.rglob("*.json")):
            yield json.loads(file.read_text(encoding="utf-8"))
        return
    with zipfile.ZipFile(place) as archive:
        for name in archive.namelist():
            if name.endswith(".json"):
                yield json.loads(archive.read(name))


def normal(name: str) -> str:
    """A package's name as the index compares it [PEP 503]."""
    return re.sub(r"[-_.]+", "-", name).lower()


def affects(entry: Mapping[str, Any], version: Version) -> bool:
    """Whether an entry of `affected` names this version, in its list or in one of its ranges."""
    if str(version) in entry.get("versions", ()):
        return True
    return any(_inside(r.get("events", ()), version) for r in entry.get("ranges", ()) if r.get("type") == "ECOSYSTEM")


def _inside(events: Any, version: Version) -> bool:
    inside = False
    for event in events:
        try:
            if "introduced" in event and version >= Version(event["introduced"]):
                inside = True
            if "fixed" in event and version >= Version(event["fixed"]):
                inside = False
            if "last_affected" in event and version > Version(event["last_affected"]):
                inside = False
        except InvalidVersion:
            return True  # a range we cannot read is a range that may hold
    return inside


def found(installed: Mapping[str, str], known: Iterator[dict[str, Any]]) -> list[str]:
    """One line for each installed package (normal name -> version) that an advisory affects."""
    lines = []
    for advisory in known:
        for entry in advisory.get("affected", ()) if "withdrawn" not in advisory else ():
            package = entry.get("package", {})
            name = normal(package.get("name", ""))
            if package.get("ecosystem") == "PyPI" and name in installed and affects(entry, Version(installed[name])):
                lines.append(f"{name} {installed[name]}: {advisory['id']} {advisory.get('summary', '')}".rstrip())
    return sorted(set(lines))


def main(arguments: list[str]) -> int:
    """Print what is affected."""
    place = Path(arguments[0]) if len(arguments) == 1 else None
    if place is None or not place.exists():
        print(__doc__, file=sys.stderr)
        return 2
    known = list(advisories(place))
    if not known:
        print(f"{place}: no advisories", file=sys.stderr)
        return 2
    installed = {normal(d.metadata["Name"]): d.version for d in metadata.distributions() if d.metadata["Name"]}
    lines = found(installed, iter(known))
    print("\n".join([*lines, f"{len(installed)} packages, {len(known)} advisories, {len(lines)} findings"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
