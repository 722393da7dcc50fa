"""What every test process starts from, and the retries of tests that talk to real-time peers."""

from __future__ import annotations

import signal
import threading
from collections import Counter

import pytest

# A shell's background job ignores SIGINT and passes that on: processes that tests interrupt would never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

RETRIES = 2
DELAY = 1.0  # s


def pytest_addoption(parser):
    parser.addoption("--max-retried", type=int, default=None, help="fail when more tests than this were retried")


def pytest_configure(config):
    if getattr(config.option, "reruns", None):
        raise pytest.UsageError("--reruns would retry numeric tests too: mark tests of real-time peers `realtime`")


def pytest_collection_modifyitems(items):
    """Only tests marked `realtime` are retried."""
    for item in items:
        if item.get_closest_marker("realtime") is not None:
            item.add_marker(pytest.mark.flaky(reruns=RETRIES, reruns_delay=DELAY))


def retried(config):
    """Test -> number of retries."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return Counter(report.nodeid for report in reporter.stats.get("rerun", ())) if reporter is not None else Counter()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    bound = session.config.getoption("--max-retried")
    if bound is not None and len(retried(session.config)) > bound and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    counts, bound = retried(config), config.getoption("--max-retried")
    if not counts:
        return
    terminalreporter.section(f"{len(counts)} retried")
    for test, count in sorted(counts.items()):
        terminalreporter.write_line(f"{count} x {test}")
    if bound is not None and len(counts) > bound:
        terminalreporter.write_line(f"more than {bound} tests were retried: the run fails", red=True)
