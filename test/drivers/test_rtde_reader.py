"""The RTDE reader against a scripted server: handshake, content checks, faults of the stream."""

import socket
import threading
import time

import numpy as np
import pytest
from driver_waits import happens
from scripted_rtde import SETTLE, field, take

from robot_dynamics_ros import _core


def test_types_come_from_the_reply_and_missing_optional_outputs_are_nan(server, reader):
    s = server(missing=["actual_current_as_torque", "payload_cog"], types={"robot_mode": "UINT32"})
    r = reader(s)
    assert "actual_current_as_torque" in s.requests[0] and "actual_current_as_torque" not in s.requests[-1]
    s.stream(0, SETTLE + 1, actual_current=np.arange(6.0), robot_mode=5, target_moment=-np.ones(6))
    _, values = take(r, 2)[1]
    assert field(values, "timestamp") == [SETTLE / 500.0]
    assert np.array_equal(field(values, "actual_current"), np.arange(6.0))
    assert np.array_equal(field(values, "target_moment"), -np.ones(6))
    assert field(values, "robot_mode") == [5.0] and field(values, "safety_mode") == [1.0]
    assert np.isnan(field(values, "actual_current_as_torque")).all() and np.isnan(field(values, "payload_cog")).all()
    assert r.version == (5, 26, 0, 1) and "payload" in r.available and "payload_cog" not in r.available


@pytest.mark.timeout(60)
def test_a_wait_of_no_number_ends_at_once_and_one_without_a_bound_with_a_sample(server, reader):
    s = server()
    r = reader(s)
    assert not r.wait(float("nan"))
    late = threading.Timer(0.3, s.stream, (0, SETTLE))
    late.start()
    assert r.wait(float("inf"))
    late.join()


def test_texts_before_the_start_reply_are_skipped(server, reader):
    text = b"\x05hello\x02us\x03"
    s = server(before_start=bytes([0, 3 + len(text)]) + b"M" + text)
    r = reader(s)
    s.stream(0, SETTLE)
    take(r, 1)


def test_cb3_is_asked_for_125_hz(server, reader):
    s = server(version=(3, 15, 4, 1))
    r = reader(s)
    assert s.rate == 125.0 and r.rate == 125.0


UNABLE = {"protocol version 2": {"accept": False}, "no RTDE output actual_q": {"missing": ["actual_q"]}}
UNABLE |= {"does not answer RTDE": {"silent": True}}
UNABLE |= {"actual_q has unexpected type DOUBLE": {"types": {"actual_q": "DOUBLE"}}}


@pytest.mark.parametrize(("text", "kwargs"), UNABLE.items())
def test_a_controller_that_cannot_serve_is_one_line(server, kwargs, text):
    s = server(**kwargs)
    with pytest.raises(_core.RtdeConnectionError, match=text) as error:
        _core.RtdeReader(host="127.0.0.1", port=s.port, timeout=0.3).start()
    assert f"127.0.0.1:{s.port}" in str(error.value) and "\n" not in str(error.value)


def test_refused_wrong_version_and_unknown_host_are_one_line(server):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(_core.RtdeConnectionError, match="refused"):
        _core.RtdeReader(host="127.0.0.1", port=port).start()
    s = server(version=(3, 15, 0, 0))
    with pytest.raises(_core.RtdeConnectionError, match=r"PolyScope 3\.15\.0 is older than 5\.0"):
        _core.RtdeReader(host="127.0.0.1", port=s.port, minimum_major=5).start()


def test_setup_errors_name_the_argument():
    wrong = {"rate": {"rate": float("nan")}, "degraded_gap": {"degraded_gap": 0.1, "safe_gap": 0.05}}
    wrong |= {"timeout = nan": {"timeout": float("nan")}, "silence = -1": {"silence": -1.0}}
    wrong |= {"port = 99999": {"port": 99999}, "realtime_priority = 100": {"realtime_priority": 100}}
    for text, kwargs in (wrong | {"capacity": {"ring": 1000}, "repeat": {"frozen_repeats": 0}}).items():
        with pytest.raises(ValueError, match=text):
            _core.RtdeReader(host="127.0.0.1", **kwargs)
    with pytest.raises(ValueError, match="loop"):
        _core.RtdeReader(host="127.0.0.1").set_torque_loop(None, np.ones(6))


def test_missed_and_duplicates_are_counted_by_controller_time(server, reader):
    s = server()
    r = reader(s)
    s.stream(0, SETTLE + 4)
    s.send((SETTLE + 3) / 500.0, actual_q=np.ones(6))  # same controller time again: dropped
    s.stream(SETTLE + 6, SETTLE + 8)  # 4 and 5 never came
    got = take(r, 1 + 4 + 2)
    assert [int(m[3]) for m, _ in got] == [0, 0, 0, 0, 0, 2, 0]
    assert not r.pop(np.empty(_core.RTDE_WIDTH), np.empty(4, dtype=np.int64))
    statistics = r.statistics()
    assert statistics["missed"] == 2 and statistics["duplicates"] == 1


def test_a_sample_carries_its_arrival_on_this_machine_whoever_receives_it(flowing):
    """Received by the caller of wait(), by the reader's thread while nobody calls, and by the caller again."""
    s, r = flowing()
    for k in range(SETTLE, SETTLE + 9):
        before = time.time_ns()
        s.stream(k, k + 1)
        if alone := k % 3 == 0:  # nobody waits: the thread takes it
            happens(lambda: r.statistics()["pending"] == 1)
            arrived = time.time_ns()
        meta, values = take(r, 1)[0]
        assert field(values, "actual_q")[0] == k
        assert before <= meta[1] <= (arrived if alone else time.time_ns())


def test_packages_that_arrive_together_keep_their_order_and_number(flowing):
    s, r = flowing()
    for burst in (1, 2, 63, 64, 65, 200, 1):
        s.stream(SETTLE, SETTLE + burst)
        got = [field(values, "actual_q")[0] for _, values in take(r, burst)]
        assert got == list(range(SETTLE, SETTLE + burst))
        r.statistics()
        s.drop_client()
        s.started.wait(60.0)
        s.stream(0, SETTLE)
        take(r, 1)


def test_a_full_ring_refuses_and_counts(server, reader):
    s = server()
    r = reader(s, ring=16)
    s.stream(0, SETTLE + 40)
    happens(lambda: r.statistics()["overruns"] == 25)
    assert [field(v, "actual_q")[0] for _, v in take(r, 16)] == list(range(SETTLE - 1, SETTLE + 15))


@pytest.mark.parametrize("name", ["target_q", "target_qdd", "joint_temperatures", "payload"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_beside_the_measured_ones_that_are_not_finite_are_absent_and_counted(server, reader, name, bad):
    s = server()
    r = reader(s)
    width = len(field(np.empty(_core.RTDE_WIDTH), name))
    s.stream(0, 40)
    s.stream(40, 42, **{name: np.r_[np.ones(width - 1), bad]})
    s.stream(42, 44)
    samples = take(r, 20)
    values = [field(v, name) for _, v in samples]
    assert [np.isnan(v).all() for v in values[-4:]] == [True, True, False, False]
    assert all(np.isfinite(v).all() for v in values[:-4])
    assert r.statistics()["non_finite"] == 2 and r.statistics()["samples"] == 44


def test_non_finite_samples_never_come_out(flowing):
    s, r = flowing()
    s.send(SETTLE / 500.0, actual_q=np.full(6, np.nan))
    s.send((SETTLE + 1) / 500.0, actual_qd=np.full(6, np.inf))
    s.stream(SETTLE + 2, SETTLE + 3)
    meta, values = take(r, 1)[0]
    assert int(meta[3]) == 2 and np.isfinite(field(values, "actual_q")).all()
    assert r.statistics()["non_finite"] == 2


def test_reconnect_after_the_controller_is_killed_marks_the_first_sample(flowing):
    s, r = flowing()
    s.kill()
    happens(lambda: not r.connected)
    assert r.condition == _core.StreamState.fault and "closed" in r.last_error
    s.restart()
    assert s.started.wait(60.0)
    s.stream(0, SETTLE + 1)  # its clock starts again
    got = take(r, 2)
    assert got[0][0][2] & int(_core.SampleFlag.first_after_connect)
    assert not got[1][0][2] & int(_core.SampleFlag.first_after_connect)
    assert r.statistics()["reconnects"] == 1 and r.connected


def test_silence_is_a_lost_connection(flowing):
    _, r = flowing(silence=0.3)
    happens(lambda: r.statistics()["reconnects"] > 0)
    assert r.latched == _core.StreamState.fault and "no data for" in r.last_error


def test_garbage_does_not_crash_and_is_reported(server, reader):
    s = server()
    r = reader(s)
    s._peer.sendall(b"\x00\x05U\x01\x02")  # too short for the negotiated outputs
    s.stream(0, SETTLE)
    take(r, 1)
    assert r.statistics()["malformed"] == 1
    s._peer.sendall(b"\x00\x00\x00\x00")
    happens(lambda: "not an RTDE server" in r.last_error or r.statistics()["reconnects"] == 1)


def test_a_stream_of_short_packages_is_given_up_with_the_reason_and_taken_up_again(flowing):
    s, r = flowing(silence=0.3)
    stop = threading.Event()

    def babble():
        while not stop.wait(0.01):
            try:
                s._peer.sendall(b"\x00\x05U\x01\x02")
            except (OSError, AttributeError):
                continue

    thread = threading.Thread(target=babble, daemon=True)
    thread.start()
    happens(lambda: "packages of another size" in r.last_error)
    stop.set()
    thread.join()
    happens(lambda: r.connected)
    s.stream(0, SETTLE + 1)
    take(r, 1)
    assert r.last_error == ""


@pytest.mark.parametrize("time_s", [-9.3e9, 9.3e9, 1e300, -1e300, 4.3e9])
def test_a_time_that_no_controller_has_is_dropped_and_counted(flowing, time_s):
    s, r = flowing()
    s.send(time_s)
    s.send(0.002 * SETTLE)
    meta, values = take(r, 1)[0]
    assert field(values, "timestamp")[0] == 0.002 * SETTLE and not meta[2] & int(_core.SampleFlag.clock_backwards)
    assert r.statistics()["non_finite"] == 1


def test_waiting_releases_the_interpreter_and_a_stop_ends_it(server, reader):
    r, beats = reader(server()), []
    threading.Timer(0.05, lambda: (beats.append(1), r.stop())).start()
    assert not r.wait(200.0)
    assert beats  # empty when the other thread had to wait for the 200 s
    r.stop()
