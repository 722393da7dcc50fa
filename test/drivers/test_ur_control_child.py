"""The control process of a UR against a client that answers as it is told: no process, no socket."""

import pytest

from robot_dynamics_ros.drivers.ur import control_child
from robot_dynamics_ros.drivers.ur.control_child import Child


class Client:
    """As ur_rtde 1.6 after a program ended: it uploads without waiting, and takes nothing before the program runs."""

    def __init__(self, starts_after):
        self.left, self.uploads, self.watchdogs, self.zeroed = starts_after, 0, [], 0

    def isProgramRunning(self):
        self.left -= self.uploads
        return self.uploads > 0 and self.left < 0

    def reuploadScript(self):
        self.uploads += 1

    def setWatchdog(self, hz):
        self.watchdogs.append(hz)
        return self.left < 0

    def zeroFtSensor(self):
        self.zeroed += 1


@pytest.fixture
def clock(monkeypatch):
    """Time that goes on where the process sleeps."""
    now = [0.0]
    monkeypatch.setattr(control_child.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(control_child.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    return now


def asked(client):
    child = Child(None, "")
    child._client = client
    child._execute({"do": "zero_ft"}, None)


def test_a_program_that_is_uploaded_again_is_waited_for(clock):
    client = Client(starts_after=100)
    asked(client)
    assert (client.uploads, client.watchdogs, client.zeroed) == (1, [control_child.WATCHDOG_HZ], 1)
    assert 1.9 < clock[0] < 2.1


def test_a_program_that_does_not_start_is_an_error(clock):
    client = Client(starts_after=10**6)
    with pytest.raises(RuntimeError, match="watchdog"):
        asked(client)
    assert not client.zeroed and clock[0] == pytest.approx(control_child.START_TIMEOUT, abs=0.1)
