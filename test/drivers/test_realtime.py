"""Memory is locked and the receiving thread is real-time where permitted; where not, the reason is reported."""

import os
import resource
import subprocess
import sys

import pytest

from robot_dynamics_ros import _core

UNPRIVILEGED = """
import os, resource
from robot_dynamics_ros import _core
if os.geteuid() == 0:
    os.setgroups([])
    os.setuid(65534)
resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
print(*_core.lock_memory(), sep="|")
"""


def printed(code):
    """What a process of its own prints, by "|"."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.strip().split("|")


def test_memory_that_may_not_be_locked_is_reported_with_what_would_help():
    done, text = printed(UNPRIVILEGED)
    assert done == "False" and text.startswith("no: ") and "memlock" in text


@pytest.mark.skipif(
    os.geteuid() != 0 and resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] != resource.RLIM_INFINITY,
    reason="this account may not lock memory",
)
def test_memory_is_locked_where_it_is_permitted():
    code = """
import resource
from robot_dynamics_ros import _core
def locked():
    line = next(x for x in open("/proc/self/status") if x.startswith("VmLck"))
    return int(line.split()[1])
limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit, limit))
before = locked()
done, text = _core.lock_memory()
print(done, text, before, locked(), sep="|")
"""
    done, text, before, after = printed(code)
    assert (done, text) == ("True", "locked"), text
    assert int(before) == 0 and int(after) > 10_000  # KiB


def test_a_reader_without_a_priority_does_not_ask():
    reader = _core.RtdeReader(host="127.0.0.1", port=1)
    assert not reader.realtime and reader.realtime_text == "not asked for"


def test_a_slice_is_taken_over_by_the_thread_and_out_of_range_refused():
    """Read back with sched_getattr(2), in a process of its own: the slice cannot be taken back by default."""
    code = """
import ctypes, struct
from robot_dynamics_ros import _core
done = _core.shorten_slice(2e-4)
data = ctypes.create_string_buffer(48)
number = {"x86_64": 315, "aarch64": 275}[__import__("platform").machine()]
assert ctypes.CDLL(None).syscall(number, 0, data, 48, 0) == 0
size, policy, flags, nice, priority, runtime = struct.unpack("IIQiIQ", data.raw[:32])
version = tuple(int(x) for x in __import__("platform").release().split(".")[:2])
print(done, policy == 0, runtime if version >= (6, 12) else 200000, sep="|")
"""
    assert printed(code) == ["True", "True", "200000"]
    for slice_ in (0.0, 5e-5, 0.2, float("nan")):
        with pytest.raises(ValueError, match="slice"):
            _core.shorten_slice(slice_)
