"""Signals of one instant, also where the robot file says that velocity or effort is reported later than the positions,
and when that was."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log, Sample
from robot_dynamics_ros.signals.log import places_of

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
        places = places_of(robot.n_joints)
        self._measured = np.empty(places["current"].stop)  # the signals of a sample up to the last of SIGNALS
        self._qd = self._measured[places["qd"]]
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
        self._measured[:] = sample.buffer[: len(self._measured)]
        self._stamp = sample.stamp_ns
        signals = sample.q, sample.theta, sample.qd, sample.effort, sample.current
        self.core.step(self._stamp, *signals, self._late)
        if self._late[0]:
            sample.stamp_ns -= int(self._late[0])

    def restore(self, sample: Sample) -> None:
        """The measured signals again; a velocity that was not reported stays as the stages have filled it."""
        absent = self._qd[0] != self._qd[0] and np.isnan(self._qd).all()  # the first comparison is far cheaper
        filled = sample.qd.copy() if absent else None
        sample.buffer[: len(self._measured)] = self._measured
        if filled is not None:
            sample.qd[:] = filled
        if self._late[0]:
            sample.stamp_ns = self._stamp

    def aligned(self, log: Log) -> Log:
        """The log with aligned signals of its own; estimates are shared with it."""
        own = {name: log.signals[name].copy() for name in SIGNALS if name in log.signals}
        late = np.zeros((len(log), 1))
        _core.run_in_turn(log.stamp_ns, [self.core.rows(len(log), *(own.get(name) for name in SIGNALS), late)])
        return Log(log.joint_names, log.stamp_ns - late[:, 0].astype(np.int64), log.signals | own, log.receive_ns)
