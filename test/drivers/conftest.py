"""What tests of the RTDE reader share: scripted servers, and readers that are stopped with the test."""

import pytest
from scripted_rtde import SETTLE, ScriptedRtde, take

from robot_dynamics_ros import _core


@pytest.fixture
def server():
    made = []

    def make(**kwargs):
        made.append(ScriptedRtde(**kwargs))
        return made[-1]

    yield make
    for s in made:
        s.close()


@pytest.fixture
def reader():
    made = []

    def make(server, **kwargs):
        options = {"timeout": 60.0, "silence": 60.0} | kwargs  # no time-out is judged unless a test says so
        made.append(_core.RtdeReader(host="127.0.0.1", port=server.port, **options))
        made[-1].start()
        return made[-1]

    yield make
    for r in made:
        r.stop()


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
