"""What tests of the RTDE reader share: scripted servers, and readers that are stopped with the test."""

from contextlib import ExitStack, closing

import pytest
from scripted_rtde import SETTLE, ScriptedRtde, take

from robot_dynamics_ros import _core


@pytest.fixture
def driver(rig):
    """The connected driver of a test's rig."""
    return rig.driver


@pytest.fixture
def server():
    """server(**options) -> a scripted controller."""
    with ExitStack() as made:
        yield lambda **options: made.enter_context(closing(ScriptedRtde(**options)))


@pytest.fixture
def reader():
    """reader(server, **options) -> a reader of its states; no time-out is judged unless a test says so."""
    with ExitStack() as made:

        def make(server, **given):
            options = {"timeout": 60.0, "silence": 60.0} | given
            found = _core.RtdeReader(host="127.0.0.1", port=server.port, **options)
            made.callback(found.stop)
            found.start()
            return found

        yield make


@pytest.fixture
def flowing(server, reader):
    """flowing(**options of the reader) -> (server, reader), once samples are stamped."""

    def make(**options):
        s = server()
        r = reader(s, **options)
        s.stream(0, SETTLE)
        take(r, 1)
        return s, r

    return make
