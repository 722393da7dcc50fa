"""What the rigs that step a simulated controller in the test's own thread share: its clock, its control channel."""

import json
from types import SimpleNamespace

from robot_dynamics_ros.errors import RobotDynamicsError


def set_clocks(monkeypatch, seconds, *modules):
    """In place of `time` of the modules: all clocks are seconds() [s], and nobody sleeps."""
    nanoseconds = lambda: round(1e9 * seconds())  # noqa: E731
    clock = SimpleNamespace(**dict.fromkeys(("monotonic", "perf_counter", "process_time"), seconds), sleep=None)
    clock.monotonic_ns = clock.time_ns = nanoseconds
    for module in modules:
        monkeypatch.setattr(module, "time", clock)


def answered(control, name, fields):
    """The answer to a line of a control channel. Raises RobotDynamicsError for what it refuses."""
    reply = json.loads(json.dumps(control.execute(json.dumps({"command": name, **fields}))))
    if not reply.pop("ok"):
        raise RobotDynamicsError(reply["error"])
    return reply


def step_until(condition, step, controller, limit):
    """Steps of a simulated UR controller until the condition holds, at most so many."""
    for _ in range(limit):
        if condition():
            return
        step()
    raise AssertionError(list(controller.messages))
