"""Force, contact, temperature and health of a node for Prometheus and Grafana: OpenMetrics on 127.0.0.1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.signals import SIGNALS, Sample
from robot_dynamics_ros.signals.table import entries

SHOWN = ("external_wrench", "external_joint_torque", "temperature_estimate", "friction_torque", "stiffness")
GAUGES = (*(name + part for name in SHOWN[:2] for part in ("", "_std")), *SHOWN[2:], "contact", "payload_or_bias")


class Metrics:
    """Answers http://127.0.0.1:port/metrics with what show() was given last.

    port: 0 for a free one (`port` says which). Raises CapabilityError without prometheus-client, ConfigError for a port
    that is taken.
    """

    def __init__(self, port: int = 0) -> None:
        try:
            from prometheus_client import CollectorRegistry, start_http_server
        except ImportError:
            raise CapabilityError("metrics_port needs: pip install 'robot_dynamics_ros[metrics]'") from None
        self._signals: dict[str, dict[str, float]] = {}
        self._diagnostics: Sequence[Any] = ()
        registry = CollectorRegistry()
        registry.register(self)
        try:
            self._server, self._thread = start_http_server(port, "127.0.0.1", registry)
        except OSError as error:
            raise ConfigError("metrics", "metrics_port", f"{port}: {error.strerror}") from None
        setattr(self._server, "handle_error", lambda *_: None)  # noqa: B010  a client that hangs up, with a traceback
        self.port = int(self._server.server_port)

    def show(self, sample: Sample | None, diagnostics: Sequence[Any]) -> None:
        """What is answered from now on: the finite numbers of a sample, and the entries of a DiagnosticArray."""
        shown = {} if sample is None else {name: _finite(name, sample) for name in GAUGES}
        self._signals, self._diagnostics = {name: values for name, values in shown.items() if values}, diagnostics

    def collect(self) -> Iterator[Any]:
        """Called by the server's thread: a gauge per signal that is estimated, and one for the diagnostics."""
        from prometheus_client.core import GaugeMetricFamily

        for name, values in self._signals.items():
            signal = SIGNALS[name]
            family = GaugeMetricFamily(f"robot_dynamics_{name}", f"{signal.meaning} [{signal.unit}]", labels=["entry"])
            for entry, value in values.items():
                family.add_metric([entry], value)
            yield family
        levels = GaugeMetricFamily("robot_dynamics_diagnostics", "0 ok, 1 warn, 2 error, 3 stale", labels=["name"])
        for status in self._diagnostics:
            levels.add_metric([status.name], int.from_bytes(status.level, "little"))
        yield levels

    def close(self) -> None:
        """Free the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _finite(name: str, sample: Sample) -> dict[str, float]:
    named = zip(entries(name, sample.joint_names), getattr(sample, name).tolist(), strict=True)
    return {entry: value for entry, value in named if math.isfinite(value)}
