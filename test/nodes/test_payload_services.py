"""What a node says about a payload that no file names, and what its services do with it."""

from types import SimpleNamespace

import numpy as np
from force_bench import RATE, UR5E, carrying
from stepped import NodeDouble

from robot_dynamics_ros.nodes.diagnostics import WARN
from robot_dynamics_ros.nodes.robot.estimates import Estimates
from robot_dynamics_ros.nodes.robot.stages import select
from robot_dynamics_ros.signals import Sample

LOG = carrying(3.0)


def fed(estimates, begin):
    """Force [N] of the last sample of an arm that carries 3 kg from poses to poses, `begin` samples after the start."""
    sample = Sample(UR5E.joint_names)
    for k, (q, qd, effort) in enumerate(zip(LOG.q, LOG.qd, LOG.effort, strict=True)):
        sample.stamp_ns = 10**18 + (begin + k) * (10**9 // RATE)
        sample.q[:], sample.qd[:], sample.effort[:] = q, qd, effort
        estimates.add_to(sample)
    return np.linalg.norm(sample.external_wrench[:3])


def test_a_payload_is_said_in_diagnostics_and_log_and_the_services_keep_refuse_and_judge_it():
    node = NodeDouble()
    estimates = Estimates(node, UR5E, select("all"), SimpleNamespace(proven=True))
    assert not node.call("accept_payload")[0]
    taken_off = fed(estimates, 0)
    level, text, _ = estimates.diagnose()
    assert level == WARN and "kg off the configured one" in text and "is taken off" in text
    assert len([said for said, _ in node.log if "is taken off" in said and said in text]) == 1
    assert node.call("accept_payload")[1].endswith("until it is reset")
    assert node.call("refuse_payload")[0] and fed(estimates, len(LOG)) > 0.8 * 3.0 * 9.81 > 10.0 * taken_off
    assert "looks like a payload" in estimates.diagnose()[1]
    assert node.call("reset_payload")[0] and fed(estimates, 2 * len(LOG)) < 0.1 * 3.0 * 9.81
