"""Text files as controllers and spreadsheets write them: delimiters, dates, encodings, titles, lines of units."""

import re
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from table_files import N, assert_holds, motion, write_csv

from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.errors import DataError


@pytest.mark.parametrize("date", ["{}T{}Z", "{} {}", "{}T{}+00:00"])
def test_dates_are_a_clock(tmp_path, date):
    """As pandas and spreadsheets write them; a cell that is no date drops its row."""
    t, q, qd, tau = motion(6)
    stamps = [date.format(*str(x).split("T")) for x in (np.round(t * 1e6)).astype("datetime64[us]")]
    stamps[7] = stamps[7].replace("01-01", "13-41")
    names = [f"{name}{k}" for name in ("q", "dq", "tau") for k in range(1, 7)]
    rows = [",".join([stamp, *map(str, row)]) for stamp, row in zip(stamps, np.c_[q, qd, tau].tolist(), strict=True)]
    (tmp_path / "run.csv").write_text("\n".join([",".join(["timestamp", *names]), *rows]), encoding="utf-8")
    log, _ = load_bag(tmp_path / "run.csv")
    np.testing.assert_allclose(log.time, np.delete(t, 7), atol=1e-6)
    assert_holds(log, effort=np.delete(tau, 7, axis=0))


TIMES_OF_DAY = {
    "days first": ("%d.%m.%Y %H:%M:%S.%f", True),
    "days first, comma": ("%d.%m.%Y %H:%M:%S,%f", True),
    "logging of Python": ("%Y-%m-%d %H:%M:%S,%f", True),
    "zone without a colon": ("%Y-%m-%dT%H:%M:%S.%f+0200", True),
    "days or months first": ("%d/%m/%Y %H:%M:%S.%f", False),
    "no date": ("%H:%M:%S.%f", False),
    "colon before the fraction": ("%H:%M:%S:%f", False),
}


@pytest.mark.parametrize("kind", TIMES_OF_DAY)
def test_dates_and_times_of_day_go_on_after_midnight(tmp_path, kind):
    pattern, dated = TIMES_OF_DAY[kind]
    t, q, qd, tau = motion(2)
    begin = datetime(2026, 4, 30, 23, 59, 59, tzinfo=timezone.utc)
    stamps = [(begin + timedelta(seconds=float(x))).strftime(pattern) for x in t]
    rows = [";".join([stamp, *map(str, row)]) for stamp, row in zip(stamps, np.c_[q, qd, tau].tolist(), strict=True)]
    path = tmp_path / "run.csv"
    path.write_text("\n".join(["Zeit;q1;q2;dq1;dq2;tau1;tau2", *rows]), encoding="utf-8")
    log, _ = load_bag(path)
    np.testing.assert_allclose(log.time, t, atol=1e-6)
    zone = 7200 if "zone" in kind else 0
    assert (abs(1e-9 * log.stamp_ns[0] + zone - begin.timestamp()) < 1e-3) == dated
    path.write_text("\n".join(["time;q1;q2;dq1;dq2;tau1;tau2", *(row.replace(";", " PM;", 1) for row in rows)]))
    with pytest.raises(DataError, match="column 'time' holds no numbers and no times such as 2026-05-01"):
        load_bag(path)


def _rows(change):
    return lambda text: "\n".join(change(text.splitlines()))


TEXTS = {
    "a tab and decimal commas": lambda text: text.replace(",", "\t").replace(".", ","),
    "decimal commas in quotes": lambda text: '"' + re.sub("([,\\n])", r'"\1"', text).replace(".", ",") + '"',
    "blanks and decimal commas": lambda text: text.replace(",", "  ").replace(".", ","),
    "bars": lambda text: text.replace(",", "|"),
    "a title": lambda text: f"Controller log V2.1\nRate,100\n\n{text}",
    "a title of as many cells": lambda text: f"Controller log V2.1{',' * 6}\n{text}",
    "separators for a spreadsheet": lambda text: "sep=;\n" + text.replace(",", ";"),
    "a comment with slashes": lambda text: f"// robot 7\n{text}",
    "a line of units": _rows(lambda rows: [rows[0], "s,rad,rad,rad/s,rad/s,Nm,Nm", *rows[1:]]),
    "quantities over joints": _rows(lambda rows: [",pos,,vel,,torque,", "time,J1,J2,J1,J2,J1,J2", *rows[1:]]),
    "names again": _rows(lambda rows: [*rows[:50], rows[0], *rows[50:]]),
    "a late robot": _rows(
        lambda rows: [rows[0], *(30 * [6 * ","]), *(f"{-k},,,,,," for k in range(60, 0, -1)), *rows[1:]]
    ),
    "zeros at a lost end": lambda text: text + "\0" * 500,
    "a separator behind": lambda text: text.replace("\n", ",\n"),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_texts_as_controllers_and_spreadsheets_write_them(tmp_path, kind):
    t, *values = motion(2)
    path = write_csv(tmp_path / "run.csv", dict(zip(("time", "q{}", "qd{}", "tau{}"), (t, *values), strict=True)))
    path.write_text(TEXTS[kind](path.read_text()), encoding="utf-8")
    log, _ = load_bag(path)
    assert_holds(log, **dict(zip(("q", "qd", "effort"), values, strict=True)))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
def test_texts_of_other_encodings(tmp_path, encoding):
    t, q, qd, tau = motion(2)
    path = write_csv(tmp_path / "run.csv", {"time": t, "q{} [°]": q, "qd{} [°/s]": qd, "tau{}": tau}, "\t")
    path.write_bytes(path.read_text().encode(encoding))
    np.testing.assert_allclose(load_bag(path)[0].q, np.radians(q), atol=1e-9)


def test_a_character_of_windows_in_a_name_ends_no_line(tmp_path):
    t, q, qd, tau = motion(3)
    file = write_csv(tmp_path / "run.csv", {"t": t, "q{}": q, "qd{}": qd, "tau{}": tau})
    file.write_bytes(file.read_bytes().replace(b"tau", b"tau \x85 ", 1))
    assert_holds(load_bag(file)[0], q=q, effort=tau)


def test_a_line_of_units_counts(tmp_path):
    t, q, qd, tau = motion(2)
    path = write_csv(tmp_path / "run.csv", {"time": 1e3 * t, "q{}": q, "qd{}": qd, "tau{}": 1e3 * tau})
    first, rest = path.read_text().split("\n", 1)
    path.write_text(f"{first}\nms,rad,rad,rad/s,rad/s,mNm,mNm\n{rest}")
    log, _ = load_bag(path)
    assert_holds(log, effort=tau)
    np.testing.assert_allclose(log.time, t, atol=1e-6)


def test_two_lines_in_one_are_left_out(tmp_path):
    """A writer that was killed and started again goes on in the line that was begun."""
    t, q, qd, tau = motion(2)
    path = write_csv(tmp_path / "run.csv", {"time": t, "q{}": q, "qd{}": qd, "tau{}": tau})
    rows = path.read_text().splitlines()
    path.write_text("\n".join([*rows[:100], rows[100][:25] + rows[101], *rows[102:]]))
    log, report = load_bag(path)
    assert len(log) == N - 2 and sum(report.dropped.values()) == 1
    assert_holds(log, q=np.delete(q, (99, 100), axis=0))


@pytest.mark.parametrize("suffix", ["csv.gz", "xlsx", "log", "mat"])
def test_another_kind_of_file_is_refused_with_the_kinds_that_are_read(tmp_path, suffix):
    path = tmp_path / f"run.{suffix}"
    path.write_bytes(b"x")
    with pytest.raises(DataError, match=r"bags are .db3, .mcap, .bag and tables are .csv, .*; unpack a .gz"):
        load_bag(path)
