"""Signals of one instant, also where the robot file says that velocity or effort is reported later than the positions,
and when that was."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log, Sample

SIGNALS = ("q", "theta", "qd", "effort", "current")


class Alignment:
    """Takes measured signals at the latest instant at which all are known; the velocity is freed of gain and bias.

    qd(t) = gain v(t - d_qd) + bias, or the slope of the positions over a window about t; effort(t) belongs to the state
    at t - d_tau; interpolated linearly between samples at t - max(0, d_qd, d_tau), or the window's half. Stamps that
    jitter become ticks of an even clock (even_clock.hpp). What was measured stays in samples and logs: only the stages
    see aligned signals and ticks. Raises ValueError for a delay, gain or bias out of range.
    """

    def __init__(self, robot: RobotFile) -> None:
        velocity, effort = robot.drives.velocity, robot.drives.effort
        delays = (effort.delay, *((0.0, 0.0) if velocity is None else (velocity.delay, velocity.window)))
        gain, bias = robot.array_or("drives.velocity.gain", 1.0), robot.array_or("drives.velocity.bias", 0.0)
        given = dict(zip(("effort_delay", "velocity_delay", "velocity_window"), delays, strict=True))
        self.core = _core.SignalAlignment(robot.n_joints, **given, velocity_gain=gain, velocity_bias=bias)
        self._measured: dict[str, np.ndarray] = {}
        self._stamp, self._late = 0, np.zeros(1)

    @property
    def latency(self) -> float:
        """Age of the estimates [s]: they are of the sample's stamp minus this."""
        return self.core.latency

    def reset(self) -> None:
        """Forget all samples."""
        self.core.reset()

    def align(self, sample: Sample) -> None:
        """Replace the measured signals of a sample by the aligned ones, until `restore`."""
        for name in SIGNALS:
            self._measured.setdefault(name, np.empty_like(sample.q))[:] = getattr(sample, name)
        self._stamp = sample.stamp_ns
        self.core.step(sample.stamp_ns, *(getattr(sample, name) for name in SIGNALS), self._late)
        sample.stamp_ns -= int(self._late[0])

    def restore(self, sample: Sample) -> None:
        """The measured signals again; a velocity that was not reported stays as the stages have filled it."""
        sample.stamp_ns = self._stamp
        for name, values in self._measured.items():
            if not (name == "qd" and np.isnan(values).all()):
                getattr(sample, name)[:] = values

    def aligned(self, log: Log) -> Log:
        """The log with aligned signals of its own; estimates are shared with it."""
        own = {name: log.signals[name].copy() for name in SIGNALS if name in log.signals}
        late = np.zeros((len(log), 1))
        _core.run_in_turn(log.stamp_ns, [self.core.rows(len(log), *(own.get(name) for name in SIGNALS), late)])
        return Log(log.joint_names, log.stamp_ns - late[:, 0].astype(np.int64), log.signals | own, log.receive_ns)
