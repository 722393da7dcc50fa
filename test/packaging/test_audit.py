"""The audit finds an affected version, by list or range, and nothing else; without advisories it does not pass."""

import importlib.util
import json
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("audit", Path(__file__).parents[2] / "tools" / "audit.py")
audit = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(audit)


def advisory(name, versions=(), ecosystem="PyPI", **events):
    ranges = [{"type": "ECOSYSTEM", "events": [{k: v} for k, v in events.items()]}] if events else []
    package = {"name": name, "ecosystem": ecosystem}
    return {
        "id": "X-1",
        "summary": "bad",
        "affected": [{"package": package, "versions": list(versions), "ranges": ranges}],
    }


@pytest.mark.parametrize(
    ("entry", "affected"),
    [
        (advisory("Some_Thing", ["1.2.0"]), True),
        (advisory("some.thing", ["1.2.1"]), False),
        (advisory("some-thing", introduced="0", fixed="1.3"), True),
        (advisory("some-thing", introduced="0", fixed="1.2.0"), False),
        (advisory("some-thing", introduced="1.2.1"), False),
        (advisory("some-thing", introduced="0", last_affected="1.2.0"), True),
        (advisory("some-thing", introduced="0", last_affected="1.1"), False),
        (advisory("some-thing", introduced="0", ecosystem="npm"), False),
        (advisory("other", introduced="0"), False),
        (advisory("some-thing", introduced="0") | {"withdrawn": "2026-01-01"}, False),
    ],
)
def test_versions_are_compared_as_the_index_does(entry, affected):
    lines = audit.found({"some-thing": "1.2.0"}, iter([entry]))
    assert bool(lines) == affected and (not lines or lines == ["some-thing 1.2.0: X-1 bad"])


def test_what_is_installed_is_compared(tmp_path, capsys):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("a.json", json.dumps(advisory("NumPy", [metadata.version("numpy")])))
    assert audit.main([str(tmp_path / "all.zip")]) == 1 and "X-1" in capsys.readouterr().out
    (tmp_path / "some").mkdir()
    assert audit.main([str(tmp_path / "some")]) == 2 and audit.main([]) == 2
    (tmp_path / "some" / "b.json").write_text(json.dumps(advisory("numpy", ["0.1"])))
    assert audit.main([str(tmp_path / "some")]) == 0
