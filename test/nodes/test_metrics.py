"""OpenMetrics of a node: read back by the parser of prometheus-client."""

import socket
import struct
from types import SimpleNamespace
from urllib.request import Request, urlopen

import numpy as np
import pytest

pytest.importorskip("prometheus_client")
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.nodes.metrics import GAUGES, Metrics
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.signals.table import entries

JOINTS = ("shoulder", 'odd "name"\n\\')


@pytest.fixture
def metrics():
    made = Metrics()
    yield made
    made.close()


def read(port):
    """{(name, labels): value}"""
    asked = Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": CONTENT_TYPE_LATEST})
    with urlopen(asked) as answer:
        text = answer.read().decode()
    samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
    return {(s.name.removeprefix("robot_dynamics_"), *s.labels.values()): s.value for s in samples}


def test_every_number_that_is_estimated_is_a_gauge_and_an_absent_one_is_none(metrics):
    assert read(metrics.port) == {}
    sample, random = Sample(JOINTS), np.random.default_rng(0)
    sample.buffer[:] = random.normal(size=sample.buffer.shape)
    sample.stiffness[1] = np.nan
    sample.payload_or_bias[:] = np.nan
    numbers = {name: zip(entries(name, JOINTS), getattr(sample, name), strict=True) for name in GAUGES}
    expected = {(name, entry): x for name, pairs in numbers.items() for entry, x in pairs if not np.isnan(x)}
    metrics.show(sample, [SimpleNamespace(name="/arm: stream", level=b"\x01")])
    sample.clear()  # the node's own sample goes on
    assert read(metrics.port) == expected | {("diagnostics", "/arm: stream"): 1.0}
    metrics.show(None, [])
    assert read(metrics.port) == {}


def test_the_port_is_of_this_machine_only_and_one_that_is_taken_is_named(metrics):
    assert metrics._server.server_address[0] == "127.0.0.1"
    with pytest.raises(ConfigError, match=f"metrics_port.*{metrics.port}"):
        Metrics(metrics.port)


def test_a_node_shows_what_it_estimates_once_a_second_while_it_is_configured():
    pytest.importorskip("rclpy", reason="rclpy is not installed")
    from stepped import Stepped, SteppedDriver

    from robot_dynamics_ros.viewer.stream import free_port

    port = free_port()
    rig = Stepped(SteppedDriver("ur5e"), metrics_port=port)
    try:
        rig.cycle(300)
        rig.robot_node.diagnose()  # its timer, once a second
        shown = read(port)
        assert all(np.isfinite(shown["external_wrench", axis]) for axis in entries("external_wrench", ()))
        assert any(key[0] == "diagnostics" and "stream" in key[1] for key in shown)
        assert ("contact", "tcp") in shown
        rig.robot_node.diagnose()
        assert ("contact", "tcp") not in read(port)  # no sample since
        rig.cycle(5)
        rig.robot_node.diagnose()
        rig.robot_node.trigger_deactivate()  # the force of before stayed, and its diagnostics said ok
        rig.robot_node.diagnose()
        assert read(port) == {("diagnostics", "composed_node: middleware"): 3.0}
    finally:
        rig.close()
    with pytest.raises(OSError):
        read(port)


def test_clients_that_hang_up_leave_no_traceback_on_the_console(capfd):
    served = Metrics()
    for k in range(20):
        with socket.create_connection(("127.0.0.1", served.port)) as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\n\r\n" if k % 2 else b"\x00\xff" * 300 + b"\r\n\r\n")
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # reset at close
    assert read(served.port) == {}
    served.close()
    assert "Traceback" not in capfd.readouterr().err
