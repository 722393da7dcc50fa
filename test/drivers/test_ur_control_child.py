"""The process around the vendor's UR client, in lockstep with the simulated controller: nothing here reads a clock."""

import multiprocessing
from types import SimpleNamespace

import numpy as np
import pytest
from ur_session import Client, Pipe, Session

from robot_dynamics_ros.drivers.ur import control_child
from robot_dynamics_ros.drivers.ur.control_child import Child


@pytest.fixture
def child(monkeypatch):
    session = Session()
    made = Child(Pipe(session), "nowhere")
    made._client = Client(session)
    clock = SimpleNamespace(monotonic=lambda: session.controller.time, sleep=lambda s: session.step(round(s / 0.002)))
    monkeypatch.setattr(control_child, "time", clock)
    monkeypatch.setattr(control_child, "faulthandler", SimpleNamespace(dump_traceback_later=lambda *_, **__: None))
    return made


def run(child, *requests):
    """Requests (time, request, array) until the driver ends, and what main() does then. Returns the controller."""
    for time, request, *array in requests:
        child._pipe.at(time, request, *array)
    with pytest.raises(EOFError):
        child.run()
    child.leave()
    return child._client.controller


def play(rows, split=0, speed=1.0):
    """A request: a path of `split` rows, then a stream of the others."""
    return {"do": "play", "rate": 500.0, "speed": speed, "acceleration": 4.0, "split": split}, np.array(rows)


def at_rest(controller):
    return np.abs(controller.target[1]).max() == 0.0 and controller.program is None


def test_a_path_then_a_stream_then_the_driver_leaves(child):
    start = child._client.controller.arm.q.copy()
    wave = start + 0.05 * np.sin(np.linspace(0, np.pi, 400))[:, None] ** 2
    controller = run(child, (0.1, *play(np.vstack([start + 0.1, start, wave]), 2)), (8.0, None))
    assert child._pipe.states == ["moving", "done"]
    assert max(report["progress"] for report in child._pipe.reports[:-1]) > 0.5
    assert controller.target[0] == pytest.approx(start, abs=1e-3) and at_rest(controller)
    assert child._client.calls == ["disconnect"]


@pytest.mark.parametrize("split", [0, 1])  # a stream alone, and one after an approach
def test_a_stream_that_the_driver_refuses_when_it_would_begin_does_not_move(child, split):
    start, asked = child._client.controller.arm.q.copy(), []
    child._pipe.where = lambda first: asked.append(first) or {"do": "refuse", "why": "the robot was moved"}
    stream = start + 0.01 * np.arange(1, 300)[:, None]
    rows = np.vstack([start, stream])[1 - split :]
    controller = run(child, (0.1, *play(rows, split)), (2.0, {"do": "go"}), (3.0, None))
    assert asked == [stream[0].tolist()] and child._pipe.states == ["moving", "failed"]
    assert "the robot was moved" in child._pipe.reports[-1]["reason"]
    assert controller.arm.q == pytest.approx(start, abs=1e-3) and at_rest(controller)


@pytest.fixture(params=["move", "servo"])
def long_motion(request, child):
    start = child._client.controller.arm.q.copy()
    rows = start + np.outer(np.arange(3000), [6e-4, 0, 0, 0, 0, 0])
    return play([start + 1.0], 1, 0.3) if request.param == "move" else play(rows)


@pytest.mark.parametrize(
    ("ending", "states"), [([(1.0, {"do": "stop"}), (2.0, None)], ["moving", "stopped"]), ([(1.0, None)], ["moving"])]
)
def test_a_stop_and_the_end_of_the_driver_end_a_motion_at_rest_on_its_way(child, long_motion, ending, states):
    start = child._client.controller.arm.q[0]
    controller = run(child, (0.1, *long_motion), *ending)
    assert child._pipe.states == states
    assert 0.1 < controller.arm.q[0] - start < 0.5 and at_rest(controller)


def test_a_program_that_ends_in_a_motion_is_a_failure_with_that_reason(child, long_motion):
    controller, step = child._client.controller, child._client.session.step

    def end_it(cycles=1):
        step(cycles)
        if controller.time > 1.0:
            controller.stop_program()

    child._client.session.step = end_it
    child._pipe.at(0.1, *long_motion)
    with pytest.raises(RuntimeError, match="program ended during the"):
        child.run()


@pytest.mark.parametrize(("ended", "why"), [(True, "program ended during the stream: "), (False, "refuses the stream")])
def test_a_refused_command_says_whether_the_program_has_ended(child, ended, why):
    client, start = child._client, child._client.controller.arm.q.copy()
    client.servoJ = lambda *_: ended and client.controller.stop_program()  # as the vendor's, when it has noticed
    child._pipe.at(0.1, *play(start + np.zeros((300, 1))))
    with pytest.raises(RuntimeError, match=why):
        child.run()


def test_a_child_that_dies_leaves_a_robot_that_its_watchdog_stops(child, long_motion):
    child._pipe.at(0.1, *long_motion)
    controller, step = child._client.controller, child._client.session.step

    def killed(cycles=1):
        step(cycles)
        if controller.time > 1.0:
            raise KeyboardInterrupt

    child._client.session.step = killed
    with pytest.raises(KeyboardInterrupt):
        child.run()
    for _ in range(300):
        controller.step()
    assert at_rest(controller) and "watchdog" in controller.messages[-1]


def test_an_idle_child_keeps_its_program_and_one_that_ended_is_sent_again_and_waited_for(child):
    controller, start = child._client.controller, child._client.controller.arm.q.copy()
    stop = child._client.controller.stop_program
    child._pipe.at(0.1, *play([start + 0.01], 1))
    child._pipe.at(5.0, {"do": "zero"})
    child.do_zero = lambda _: (child._client.calls.append(controller.program is not None), stop())
    controller = run(child, (6.0, *play([start], 1)), (8.0, None))
    assert child._client.calls == [True, "upload", "disconnect"]
    assert child._pipe.states == ["moving", "done", "moving", "done"]


def test_a_program_that_ends_before_it_takes_the_watchdog_is_sent_again(child):
    """The client has not seen yet that its program ended: it refuses the watchdog once."""
    client, controller = child._client, child._client.controller
    set_watchdog = client.setWatchdog
    client.setWatchdog = lambda hz: (setattr(client, "setWatchdog", set_watchdog), controller.stop_program())[1]
    run(child, (0.1, *play([controller.arm.q + 0.01], 1)), (5.0, None))
    assert child._pipe.states == ["moving", "done"] and client.calls[0] == "upload"


def test_a_controller_that_takes_no_watchdog_moves_nothing(child):
    child._client.setWatchdog = lambda hz: False
    child._pipe.at(0.1, *play([child._client.controller.arm.q + 0.1], 1))
    with pytest.raises(RuntimeError, match="does not accept the watchdog"):
        child.run()
    assert child._pipe.states == []


def test_the_payload_has_the_order_of_the_client(child):
    """Ixx Iyy Izz Ixy Ixz Iyz, about the centre of mass [UR set_target_payload]; ours is XX XY XZ YY YZ ZZ."""
    load = {"do": "payload", "mass": 1.5, "com": [0.01, 0.02, 0.07], "inertia": [11.0, 1.0, 2.0, 12.0, 3.0, 13.0]}
    run(child, (0.1, load), (1.0, None))
    assert child._client.calls[0] == (1.5, [0.01, 0.02, 0.07], [11.0, 12.0, 13.0, 1.0, 2.0, 3.0])


@pytest.fixture
def ended(monkeypatch):
    """ended(error, pipe) -> main() of a child with this pipe, whose run ends with that error."""

    def run(error, pipe=None):
        def fail():
            raise error

        monkeypatch.setattr(control_child, "signal", SimpleNamespace(signal=lambda *_: None, SIGINT=2, SIG_IGN=1))
        monkeypatch.setattr(control_child, "Connection", lambda descriptor: pipe)
        monkeypatch.setattr(control_child, "Child", lambda pipe, host: SimpleNamespace(_pipe=pipe, run=fail))
        monkeypatch.setattr(control_child.sys, "argv", ["control_child", "7", "nowhere"])
        with pytest.raises(SystemExit):
            control_child.main()

    return run


@pytest.mark.parametrize(("error", "reason"), [(OSError(), "OSError"), (OSError("no\nroute"), "no")])
def test_an_unexpected_error_reaches_the_driver_in_one_line_with_or_without_a_text(monkeypatch, ended, error, reason):
    sent = []
    monkeypatch.setattr(control_child, "send", lambda pipe, message: sent.append(message))
    ended(error)
    assert sent == [{"event": "fatal", "reason": reason}]


def test_an_error_after_the_driver_has_gone_is_no_traceback(ended):
    ours, theirs = multiprocessing.Pipe()
    theirs.close()
    ended(RuntimeError("the controller's program ended"), ours)
