"""The force chain against the same observer written with Pinocchio and numpy, and bags against rosbags' own reader."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import bench.speed.native as native
from bench.speed.setup import Arm, Setup
from bench.speed.timing import Case
from robot_dynamics_ros.bags import load_bag, write_bag
from robot_dynamics_ros.estimators.core_file import core_text
from robot_dynamics_ros.estimators.pipeline import STAGES, Pipeline
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.signals import Log, Sample

CHAIN = ("motion", "friction", "force")
HOUR = 3600 * 500  # samples


def cases(setup: Setup) -> Iterator[Case]:
    """Cases of the estimators."""
    robot, arm = load_robot("ur5e"), Arm("ur5e")
    log = _motion(robot, arm, 2000 if setup.quick else 20000)
    whole, short = Pipeline(robot, stages=CHAIN), log[:1000]

    yield Case("stages over a log, per sample", lambda: whole.run(log), None, "", len(log))
    warm, pushed = Pipeline(_with_temperature(robot)), _with_contact(log, arm)
    hours = len(log) / HOUR
    yield Case("an hour at 500 Hz, all stages", lambda: warm.run(pushed), count=hours, limit=6e9)
    pinocchio = _pinocchio_observer(robot, arm, short)
    ours = Pipeline(robot, stages=CHAIN)
    yield Case("1000 samples to wrench", lambda: ours.run(short), pinocchio, "pin loop + numpy", len(short))
    yield Case("one live step, all stages", _live(robot, log), count=1000, limit=10e3)
    rows = [np.ascontiguousarray(x) for x in (log.stamp_ns, log.q, log.qd, log.effort)]
    text = core_text(robot, {"friction": {"model": "hysteresis"}})
    update = "ContactForceEstimator.update, six joints"
    yield Case(update, lambda: native.repeat_contact_force(text, *rows), count=len(log), limit=5e3)
    recording = _Recording(log)
    yield Case("bag to arrays, per message", recording.load, recording.by_rosbags, "rosbags", len(log))


class _Recording:
    """A bag that lives as long as its benchmark."""

    def __init__(self, log: Log) -> None:
        self._directory = tempfile.TemporaryDirectory()
        self._path = write_bag(log, Path(self._directory.name) / "bag", topics=["joint_states"])

    def load(self) -> Any:
        return load_bag(self._path)

    def by_rosbags(self) -> np.ndarray:
        from rosbags.highlevel import AnyReader

        with AnyReader([self._path]) as reader:
            rows: list[Any] = [reader.deserialize(raw, connection.msgtype) for connection, _, raw in reader.messages()]
            return np.array([(row.position, row.velocity, row.effort) for row in rows])


def _motion(robot: RobotFile, arm: Arm, samples: int) -> Log:
    t = np.arange(samples)[:, None] / 500.0
    w = np.linspace(0.9, 2.9, arm.n)
    q = np.linspace(0.3, -1.3, arm.n) + 0.4 * (1 - np.cos(w * t))
    qd, qdd = 0.4 * w * np.sin(w * t), 0.4 * w**2 * np.cos(w * t)
    effort = arm.model.rnea(q, qd, qdd) + robot.effort_inertia * qdd + FrictionModel.from_robot(robot).torque(qd)
    return Log(robot.joint_names, np.arange(samples) * 2_000_000, {"q": q, "qd": qd, "effort": effort})


def _with_temperature(robot: RobotFile) -> RobotFile:
    """The robot with a heat balance, which waits for the contact of the sample before."""
    values = {"heat_capacity": 500.0, "heat_transfer": 1.0, "alpha": -0.01, "beta": 1.0, "gamma": -0.01, "delta": 1.0}
    thermal = {"model": "simoni", "parameters": values, "source": "example"}
    updates = {"thermal": thermal, "friction.reference_temperature": 25.0}
    return robot.with_updates(updates, {"example": "numbers of this benchmark"})


def _with_contact(log: Log, arm: Arm) -> Log:
    """The log with a push of 60 N for a second in every four."""
    force = np.where(log.time % 4.0 > 3.0, 60.0, 0.0)
    result = log[:]
    result.effort = log.effort - arm.model.jacobian(log.q)[:, 2] * force[:, None]
    return result


def _live(robot: RobotFile, log: Log) -> Any:
    """1000 calls of Pipeline.step on one sample object, as a node makes them."""
    pipeline = Pipeline(robot, stages=[name for name in STAGES if name in (*CHAIN, "temperature")])
    sample = Sample(log.joint_names)
    log.read(500, sample)

    def steps() -> None:
        for _ in range(1000):
            sample.stamp_ns += 2_000_000
            pipeline.step(sample)

    return steps


def _pinocchio_observer(robot: RobotFile, arm: Arm, log: Log) -> Any:
    """rdot = K (tau - tau_f + C'qd - g - r - pdot) and F = J^-T r, sample by sample, as one writes it in Python."""
    import pinocchio as pin

    model, data = arm.pinocchio
    frame = model.addFrame(pin.Frame("tcp", arm.n, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    data = model.createData()
    friction, inertia, K, dt = FrictionModel.from_robot(robot), robot.effort_inertia, 25.0, 0.002

    def observer() -> np.ndarray:
        wrench = np.empty((len(log), 6))
        s = p0 = None
        for k, (q, qd, tau) in enumerate(zip(log.q, log.qd, log.effort, strict=True)):
            M = pin.crba(model, data, q)
            p = M @ qd + inertia * qd
            u = tau - friction.torque(qd) + pin.computeCoriolisMatrix(model, data, q, qd).T @ qd
            u -= pin.computeGeneralizedGravity(model, data, q)
            if s is None:
                s, p0 = np.zeros(arm.n), p
            s = s + dt * u
            r = K * (s - p + p0) / (1 + K * dt)
            s = s - dt * r
            J = pin.computeFrameJacobian(model, data, q, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            wrench[k] = np.linalg.lstsq(J.T, -r, rcond=1e-3)[0]
        return wrench

    return observer
