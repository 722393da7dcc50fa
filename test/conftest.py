"""What every test process starts from, the two tiers of the suite, and the table of damaged inputs."""

import contextlib
import ctypes
import gc
import os
import signal
import threading
from pathlib import Path

import pytest

# A shell's background job ignores SIGINT and passes that on: processes that tests interrupt would never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[1]
built = any(ROOT.glob("bench/speed/native*.so"))  # a workspace does not build the module of the laboratory
collect_ignore = [] if built else ["bench/test_bench.py"]

INPUTS = "inputs tried: "
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
COLLECTED = 10_000, 20, 10  # of gc.set_threshold
EMPTY = {"svg": "<svg></svg>", "png": b""}
KEPT = {M_TRIM_THRESHOLD: 2**30, M_MMAP_THRESHOLD: 2**25}  # bytes


def pytest_addoption(parser):
    parser.addoption(
        "--tier", choices=("short", "long"), default=None, help="run only tests without, or with, the marker `long`"
    )


def pytest_configure(config):
    if not list(ROOT.glob("robot_dynamics_ros/_core*.so")):
        pytest.exit("the core is not built in this tree: make build, or colcon build --symlink-install", 1)
    from bench.running import own_domain

    own_domain()
    keep_memory()
    draw_the_same()


def draw_the_same():
    """Tests of drawn inputs try the same ones in every run, however long each takes."""
    with contextlib.suppress(ModuleNotFoundError):  # such tests are skipped
        from hypothesis import settings

        settings.register_profile("same", derandomize=True, deadline=None)
        settings.load_profile("same")


def keep_memory():
    """Arrays of the tests' own process reuse its heap: new pages would be cleared at every allocation.

    Processes that tests start are not affected: the memory of nodes is judged as it is for users.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc only
    for parameter, size in KEPT.items() if mallopt is not None else ():
        mallopt(parameter, size)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    """Nothing that is made until all tests are collected is garbage, and later collections leave it out."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()
    gc.set_threshold(*COLLECTED)


def pytest_collection_modifyitems(config, items):
    """The tests of the tier that was asked for; without --tier all of the named files, or the short tier (colcon)."""
    named = config.args_source != config.ArgsSource.TESTPATHS
    tier = config.getoption("--tier") or (None if named else "short")
    if tier is None:
        return
    tiers: dict[str, list[pytest.Item]] = {"short": [], "long": []}
    for item in items:
        tiers["short" if item.get_closest_marker("long") is None else "long"].append(item)
    items[:] = tiers.pop(tier)
    config.hook.pytest_deselected(items=tiers.popitem()[1])


@pytest.fixture
def tried(record_property):
    """tried(kind, count): damaged inputs that a test tries; with FUZZ_TRIES set their sums are printed."""
    return lambda kind, count: record_property(INPUTS + kind, count)


@pytest.fixture
def no_pictures(monkeypatch):
    """Commands draw none, or empty ones into pages: each takes a second."""
    monkeypatch.setattr("robot_dynamics_ros.plots.plotting_available", lambda: "no plot")
    monkeypatch.setattr("robot_dynamics_ros.cli.replay.plotting_available", lambda: "no plot")
    with contextlib.suppress(ModuleNotFoundError):
        from matplotlib.figure import Figure

        monkeypatch.setattr(Figure, "savefig", lambda self, file, format, **_: file.write(EMPTY[format]))


def inputs_tried(reporter):
    """Kind of input -> [inputs tried, tests that failed]."""
    found: dict[str, list[int]] = {}
    for outcome in ("passed", "failed"):
        for report in reporter.stats.get(outcome, ()):
            for name, count in report.user_properties if report.when == "call" else ():
                if name.startswith(INPUTS):
                    row = found.setdefault(name.removeprefix(INPUTS), [0, 0])
                    row[0], row[1] = row[0] + count, row[1] + (outcome == "failed")
    return found


def pytest_terminal_summary(terminalreporter):
    if "FUZZ_TRIES" in os.environ:
        terminalreporter.section("damaged inputs")
        for kind, (count, failed) in sorted(inputs_tried(terminalreporter).items()):
            terminalreporter.write_line(f"| {kind} | {count} | {failed} |")
