"""What every test process starts from, the order of files, and the retries of tests that talk to real-time peers."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import threading
from collections import Counter

import pytest

# A shell's background job ignores SIGINT and passes that on: processes that tests interrupt would never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

RETRIES = 2
DELAY = 1.0  # s
REASON = 500  # characters of a failed attempt that are printed
INPUTS = "inputs tried: "
COMPUTING = 5  # niceness of processes that compute, so that peers of the one that waits keep their time
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
COLLECTED = 10_000, 20, 10  # of gc.set_threshold
KEPT = {M_TRIM_THRESHOLD: 2**30, M_MMAP_THRESHOLD: 2**25}  # bytes


def pytest_addoption(parser):
    parser.addoption("--max-retried", type=int, default=None, help="fail when more tests than this were retried")


def pytest_configure(config):
    if getattr(config, "workerinput", {"workerid": "gw0"})["workerid"] != "gw0":
        os.nice(COMPUTING)
    keep_memory()
    if getattr(config.option, "reruns", None):
        raise pytest.UsageError("--reruns would retry numeric tests too: mark tests of real-time peers `realtime`")


def keep_memory():
    """Arrays of the tests' own process reuse its heap: new pages would be cleared at every allocation.

    Processes that tests start are not affected: the memory of nodes is judged as it is for users.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc only
    for parameter, size in KEPT.items() if mallopt is not None else ():
        mallopt(parameter, size)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from scheduling import WaitingApart

    return WaitingApart(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    """Nothing that is made until all tests are collected is garbage, and later collections leave it out."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()
    gc.set_threshold(*COLLECTED)


def pytest_collection_modifyitems(items):
    """Files with tests marked `slow` come first; only tests marked `realtime` are retried."""
    slow = {item.path for item in items if item.get_closest_marker("slow") is not None}
    items.sort(key=lambda item: item.path not in slow)
    for item in items:
        if item.get_closest_marker("realtime") is not None:
            item.add_marker(pytest.mark.flaky(reruns=RETRIES, reruns_delay=DELAY))


def retries(config):
    """Reports of attempts that failed and were repeated."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return reporter.stats.get("rerun", ()) if reporter is not None else ()


def retried(config):
    """Test -> number of retries."""
    return Counter(report.nodeid for report in retries(config))


@pytest.fixture
def tried(record_property):
    """tried(kind, count): damaged inputs that a test tries; with FUZZ_TRIES set their sums are printed."""
    return lambda kind, count: record_property(INPUTS + kind, count)


def inputs_tried(config):
    """Kind of input -> [inputs tried, tests that failed]."""
    found: dict[str, list[int]] = {}
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    for outcome in ("passed", "failed"):
        for report in reporter.stats.get(outcome, ()):
            for name, count in report.user_properties if report.when == "call" else ():
                if name.startswith(INPUTS):
                    row = found.setdefault(name.removeprefix(INPUTS), [0, 0])
                    row[0], row[1] = row[0] + count, row[1] + (outcome == "failed")
    return found


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    bound = session.config.getoption("--max-retried")
    if bound is not None and len(retried(session.config)) > bound and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    if "FUZZ_TRIES" in os.environ:
        terminalreporter.section("damaged inputs")
        for kind, (count, failed) in sorted(inputs_tried(config).items()):
            terminalreporter.write_line(f"| {kind} | {count} | {failed} |")
    counts, bound = retried(config), config.getoption("--max-retried")
    if not counts:
        return
    terminalreporter.section(f"{len(counts)} retried")
    for test, count in sorted(counts.items()):
        terminalreporter.write_line(f"{count} x {test}")
        for report in (r for r in retries(config) if r.nodeid == test):
            why = [line[1:].strip() for line in report.longreprtext.splitlines() if line.startswith("E ")]
            terminalreporter.write_line(f"  {' '.join(why) or report.longreprtext}"[:REASON])
    if bound is not None and len(counts) > bound:
        terminalreporter.write_line(f"more than {bound} tests were retried: the run fails", red=True)
