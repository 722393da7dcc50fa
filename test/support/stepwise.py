"""A pipeline sample by sample against its run over the same log, and faults of the stream of samples."""

import numpy as np
from hypothesis import strategies as st

from robot_dynamics_ros.effort.live_gate import LiveGate
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.signals import SIGNALS, Log, Sample

PERIOD = 2_000_000  # ns

KINDS = ["duplicate", "backwards", "gap", "nan", "inf", "no effort", "late", "huge", "frozen"]
faults = st.lists(st.tuples(st.integers(2, 295), st.sampled_from(KINDS)), max_size=6)


def spoil(log, what):
    for row, fault in what:
        if fault == "duplicate":
            log.stamp_ns[row] = log.stamp_ns[row - 1]
        elif fault == "backwards":
            log.stamp_ns[row:] -= 50 * PERIOD
        elif fault == "gap":
            log.stamp_ns[row:] += 40 * PERIOD
        elif fault == "late":
            log.stamp_ns[row:] += 7 * PERIOD
        elif fault == "frozen":
            log.q[row : row + 20] = log.q[row]
        else:
            target = log.effort if fault in ("no effort", "inf") else log.q if fault == "nan" else log.qd
            target[row] = {"nan": np.nan, "inf": np.inf, "no effort": np.nan, "huge": 1e300}[fault]
            if fault == "nan":
                log.q[row, 1:] = 0.5


def gated(robot, log, gate=None):
    """The gate of live samples, a new one or one that goes on, after those of a log."""
    gate, sample = gate or LiveGate(robot), Sample(log.joint_names)
    for row in range(len(log)):
        sample.clear()
        log.read(row, sample)
        gate.on_sample(sample)
    return gate


def live(pipeline, log):
    """Step through the log as a node would; returns the written log and statuses."""
    out, sample = Log(log.joint_names, log.stamp_ns), Sample(log.joint_names)
    status = []
    for row in range(len(log)):
        sample.clear()
        log.read(row, sample)
        status.append(int(pipeline.step(sample)))
        out.write(row, sample, SIGNALS)
    return out, np.array(status)


def assert_run_is_step(robot, log, parameters=None, stages=None):
    """All signals, statuses and their counts, bit for bit; returns the log that run() wrote, and its statuses."""
    by_step, by_run = (Pipeline(robot, parameters, stages) for _ in range(2))
    stepped, status = live(by_step, log)
    replayed = log[:]
    np.testing.assert_array_equal(by_run.run(replayed), status)
    for name in SIGNALS:
        np.testing.assert_array_equal(getattr(replayed, name), getattr(stepped, name), err_msg=name)
    assert by_run.counts == by_step.counts and list(by_run.fed_back) == list(by_step.fed_back)
    for name, last in by_run.fed_back.items():
        np.testing.assert_array_equal(last, by_step.fed_back[name], err_msg=name)
    return replayed, status
