"""What a driver refuses before the robot hears of it: numbers without sense, a stream that begins elsewhere, settings
during a motion.
"""

import subprocess
import time
from multiprocessing import Pipe
from types import SimpleNamespace

import numpy as np
import pytest

from robot_dynamics_ros.drivers import child_process
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.drivers.franka import child as franka_child
from robot_dynamics_ros.drivers.franka.driver import FrankaDriver
from robot_dynamics_ros.drivers.interface import MotionState
from robot_dynamics_ros.drivers.ur.control import UrControl
from robot_dynamics_ros.drivers.ur.control_child import Child
from robot_dynamics_ros.drivers.ur.driver import UrDriver
from robot_dynamics_ros.errors import CapabilityError, ConfigError, ConnectionFailed
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.trajectories.playback import START_TOLERANCE, Playback

HERE = np.array([0.1, -1.2, 1.4, -0.5, 0.2, 0.3])


class Client:
    """The vendor's control client with its answers to settings."""

    good = True

    def setTargetPayload(self, *_):
        return self.good

    def zeroFtSensor(self):
        return self.good

    setWatchdog = isProgramRunning = servoStop = stopJ = lambda self, *_: True


@pytest.fixture
def child(monkeypatch):
    reports = []
    monkeypatch.setattr(child_process, "send", lambda pipe, message, array=None: reports.append(message))
    found = Child(SimpleNamespace(poll=lambda *_: False), "host")
    found._client, found.reports = Client(), reports
    return found


def stream(offset):
    return np.tile(HERE, (5, 1)) + np.array([0, 0, offset, 0, 0, 0])


ROBOTS = {"ur": "ur5e", "franka": "fr3", "comau": "comau_ns16"}


@pytest.mark.parametrize(
    ("vendors", "call", "why"),
    [
        (ROBOTS, lambda d, n: d.play(np.zeros((2, n - 1))), "waypoints has shape"),
        (ROBOTS, lambda d, n: d.play(np.full((1, n), np.nan)), "waypoints contains NaN"),
        (ROBOTS, lambda d, n: d.play(None, np.full((2, n), np.nan)), "positions contains NaN"),
        (["franka", "comau"], lambda d, n: d.play(None, np.zeros((2, n)), rate=500.0), "streamed at"),
        (["franka"], lambda d, n: d.play(np.zeros((1, n)), speed=np.nan), "speed nan"),
        (["ur", "franka"], lambda d, _: d.set_payload(np.nan, np.zeros(3)), "payload mass nan"),
        (["ur", "franka"], lambda d, _: d.set_payload(1.0, [0.0, 0.0]), "com"),
        (["ur", "franka"], lambda d, _: d.set_payload(1.0, np.zeros(3), [0.0, np.nan, 0, 0, 0, 0]), "inertia"),
        (["ur", "franka"], lambda d, _: d.start_torque(), "no torque loop"),
        (["franka", "comau"], lambda d, _: d.zero_ft(), "use the estimator's tare"),
        (["comau"], lambda d, _: d.set_payload(1.0, np.zeros(3)), "cannot set the payload"),
    ],
)
def test_a_request_without_sense_is_refused_by_name(vendors, call, why):
    for vendor in vendors:
        options = {"enable_commands": True} if vendor == "comau" else {}
        driver = make_driver(vendor, load_robot(ROBOTS[vendor]), "127.0.0.1", **options)
        with pytest.raises(CapabilityError, match=why):
            call(driver, driver.robot.n_joints)


def test_torque_does_not_begin_with_the_robot_file_of_another_arm(monkeypatch):
    for vendor in ("ur", "franka"):
        driver = make_driver(vendor, load_robot(ROBOTS[vendor]), "127.0.0.1")
        driver.loop = object()
        monkeypatch.setattr(driver, "refuse_motion", lambda: None)
        monkeypatch.setattr(type(driver), "doubt", "it is the file of another robot")
        with pytest.raises(CapabilityError, match="no torque: it is the file of another robot"):
            driver.start_torque()


@pytest.mark.parametrize(("vendor", "robot", "joints"), [("ur", "fr3", 6), ("franka", "ur5e", 7)])
def test_a_robot_file_with_other_joints_is_refused(vendor, robot, joints):
    with pytest.raises(CapabilityError, match=f"{joints} joints"):
        make_driver(vendor, load_robot(robot), "127.0.0.1")


def test_a_stream_that_begins_elsewhere_than_the_robot_is_then_is_refused(monkeypatch):
    begun, driver = [], UrDriver(load_robot("ur5e"), "127.0.0.1")
    monkeypatch.setattr(driver, "refuse_motion", lambda: None)
    monkeypatch.setattr(driver._mover, "begin", lambda request, rows: begun.append(rows))
    driver.sample.q[:] = HERE
    for begin in (
        lambda rows: driver.play(None, rows),
        lambda rows: driver.play(HERE[None, :], rows),
        lambda rows: Playback(HERE, HERE[None, :][:0], rows, 500.0),  # of Franka and Comau, in their own cycle
    ):
        with pytest.raises(CapabilityError, match="the stream starts"):
            begin(stream(1.1 * START_TOLERANCE))
        begin(stream(0.9 * START_TOLERANCE))
    assert len(begun) == 2  # the streams that were taken


def test_it_is_compared_again_when_it_begins_with_a_position_that_arrived_since(monkeypatch):
    control, answers = UrDriver(load_robot("ur5e"), "127.0.0.1")._mover, []
    monkeypatch.setattr(control, "_send", lambda message, array=None: answers.append(message["do"]))
    now, never = time.time_ns(), 2**62
    for place, arrived, expected in (
        (HERE, now, ["go"]),
        (HERE + 1.1 * START_TOLERANCE, now, ["refuse"]),
        (HERE * np.nan, now, ["refuse"]),
        (HERE, now - 1, []),  # before the question
    ):
        control._begin_asked = HERE, now
        control.on_sample(place, arrived)
        control.on_sample(place, arrived)  # one answer to one question
        assert answers == expected
        answers.clear()
    control._begin_asked = HERE, never  # the system's clock was set back meanwhile
    control.on_sample(HERE, time.time_ns() + 10**9)
    assert answers == ["go"]


@pytest.mark.parametrize("good", [True, False])
@pytest.mark.parametrize(
    "request_", [{"do": "zero_ft"}, {"do": "payload", "mass": 1.0, "com": [0] * 3, "inertia": [0] * 6}]
)
def test_a_setting_is_answered_with_what_the_controller_said(child, good, request_):
    child._client.good = good
    child._execute(dict(request_), np.empty((0, 0)))
    assert [r["event"] for r in child.reports] == ["answer"]
    assert ("refuses" in child.reports[0]["reason"]) == (not good)


DRIVERS = {  # a driver, its robot, and the settings that it answers
    UrDriver: ("ur5e", ("zero_ft", "set_payload")),
    FrankaDriver: ("fr3", ("recover", "set_payload", "set_collision_thresholds")),
}
CALLS = {"set_payload": (1.0, (0.0, 0.0, 0.1)), "set_collision_thresholds": ([40.0] * 7, [50.0] * 6)}
SETTINGS = [(kind, setting) for kind, (_, settings) in DRIVERS.items() for setting in settings]


def made(kind):
    driver = kind(load_robot(DRIVERS[kind][0]), "127.0.0.1")
    return driver, driver._mover


@pytest.mark.parametrize(("kind", "setting"), SETTINGS)
@pytest.mark.parametrize(
    ("motion", "running", "why"), [("moving", False, "a motion runs|running"), ("idle", True, "torque is live")]
)
def test_a_setting_is_refused_while_it_would_be_dropped_or_end_the_torque(kind, setting, motion, running, why):
    driver, client = made(kind)
    client.motion, driver.loop = MotionState(motion), SimpleNamespace(running=running, pop=lambda: None)
    with pytest.raises(CapabilityError, match=why):
        getattr(driver, setting)(*CALLS.get(setting, ()))
    assert client.pid is None  # no client was started for it


@pytest.mark.parametrize(("kind", "setting"), SETTINGS)
@pytest.mark.parametrize("answer", ["", "the controller refuses"])
def test_a_setting_ends_with_the_answer_of_the_client(kind, setting, answer, monkeypatch):
    driver, client = made(kind)
    monkeypatch.setattr(client, "_send", lambda message, array=None: None)
    driver.meanwhile = lambda: setattr(client, "answer", answer)
    if answer:
        with pytest.raises(CapabilityError, match=answer):
            getattr(driver, setting)(*CALLS.get(setting, ()))
    else:
        getattr(driver, setting)(*CALLS.get(setting, ()))


def ending(kind, program):
    """A client, its process that ends, and the pipe to it."""
    ours, theirs = Pipe()
    theirs.close()
    return made(kind)[1], subprocess.Popen([program]), ours


@pytest.mark.parametrize("kind", DRIVERS)
@pytest.mark.parametrize("replaced", [False, True])
def test_the_end_of_a_process_answers_its_own_setting_only(kind, replaced):
    client, process, ours = ending(kind, "true")
    client._use(SimpleNamespace(poll=lambda: None) if replaced else process, ours)
    why = client._listen(process, ours)
    assert "ended" in why and client.answer == (None if replaced else why)


@pytest.mark.parametrize(
    ("vendors", "field", "value"), [(ROBOTS, "includes_gravity", False), (["ur", "franka"], "sign", -1)]
)
def test_a_robot_file_for_another_effort_is_refused_by_a_driver_that_knows_its_own(vendors, field, value):
    """The force was off by the weight of the arm, or twice that, with status ok: such effort is not judged."""
    for vendor in vendors:
        robot = load_robot(ROBOTS[vendor]).with_updates({f"drives.effort.{field}": value})
        with pytest.raises(ConfigError, match=f"drives.effort.{field}: must be "):
            make_driver(vendor, robot, "127.0.0.1")


@pytest.mark.parametrize("granted", [False, True])
def test_a_priority_that_the_system_refuses_is_not_reported_as_granted(granted):
    driver = FrankaDriver(load_robot("fr3"), "host", realtime_priority=50)
    driver._mover._link = SimpleNamespace(realtime=granted)
    assert driver.info.realtime == granted


def test_torque_control_that_does_not_begin_in_time_does_not_begin_later(monkeypatch):
    """The arm gave way some seconds after its start was reported as failed."""
    driver, stops = FrankaDriver(load_robot("fr3"), "host", torque=True), []
    monkeypatch.setattr(driver, "refuse_torque_start", lambda: None)
    monkeypatch.setattr(driver, "wait_until", lambda *_: False)
    starting = MotionState("starting")
    driver._mover = SimpleNamespace(begin=lambda _: None, motion=starting, stop=lambda: stops.append(1))
    with pytest.raises(ConnectionFailed, match="no torque: starting"):
        driver.start_torque()
    assert stops == [1]


def test_a_stop_that_met_the_end_of_its_motion_does_not_end_the_next_one(child):
    """The next motion was reported as stopped, and until it had begun a stop of it was not sent."""
    control, requests = UrControl("host"), []
    control._send = lambda request, array=None: requests.append(request)
    for _ in range(2):
        control.begin({"do": "play"})
        control.motion = MotionState("moving")
        control.stop()
        control.motion = MotionState("done")
    control.begin({"do": "play"})
    child._execute(requests[3], np.empty((0, 0)))
    report = child.reports.pop()
    control._hear(report.pop("event"), report)
    assert report["state"] == "stopped" and control.motion.state == "starting"


@pytest.mark.parametrize("kind", DRIVERS)
@pytest.mark.parametrize("wanted", [False, True])
def test_a_motion_that_a_disconnect_stops_has_not_failed(kind, wanted):
    client, process, ours = ending(kind, "false" if wanted else "true")
    client.motion, client._wanted = MotionState("moving"), wanted
    client._follow(process, ours)
    assert client.motion.state == ("failed" if wanted else "stopped")
    assert ("ended" in client.motion.reason) == wanted


@pytest.mark.parametrize("refused", ["", "the robot is in reflex"])
def test_a_setting_of_a_franka_arm_is_answered_with_what_the_robot_said(monkeypatch, refused):
    reports, Refusal = [], type("Refusal", (Exception,), {})

    def recovery():
        if refused:
            raise Refusal(refused)

    monkeypatch.setattr(child_process, "send", lambda pipe, message, array=None: reports.append(message))
    child = object.__new__(franka_child.Child)
    child._pipe, child._robot = None, SimpleNamespace(automatic_error_recovery=recovery)
    names = ("ControlException", "CommandException", "InvalidOperationException")
    child._vendor = SimpleNamespace(**dict.fromkeys(names, Refusal))
    child._execute({"do": "recover", "number": 3}, np.empty((0, 0)))
    *before, answer = reports
    assert answer == {"event": "answer", "reason": refused, "number": 3}
    assert [r["event"] for r in before] == ["motion"] * bool(refused)  # a motion after the answer keeps its own state
