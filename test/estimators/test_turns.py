"""Positions that begin again after a turn, or count other turns after a restart of the driver, change no estimate."""

import numpy as np
import pytest
from test_part_of_a_recording import LINK, WRITES, recorded, robot

from robot_dynamics_ros.estimators.pipeline import Pipeline

TURN = 2 * np.pi
LATE = {"drives.effort.delay": 0.003, "drives.source": "found"}


@pytest.fixture(scope="module", params=[{}, LATE], ids=["aligned", "late"])
def live(request):
    arm = robot(LINK).with_updates(request.param, {"found": "numbers of this test"} if request.param else {})
    log = recorded(arm)
    log.q += 1e-6 * np.random.default_rng(5).normal(size=log.q.shape)
    return arm, log, estimates(arm, log, log.q)


def estimates(arm, log, q):
    part = log[:]
    part.q = q
    Pipeline(arm).run(part)
    return [getattr(part, name).copy() for name in WRITES]


def assert_same(found, expected):
    for name, a, b in zip(WRITES, found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6, rtol=1e-6, err_msg=name)


def test_joints_that_stand_where_their_positions_begin_again(live):
    arm, log, expected = live
    edge = log.q[len(log) // 2]  # between the moves: readings fall on both sides
    q = (log.q - edge) % TURN + edge
    assert (np.abs(np.diff(q, axis=0)) > 6.0).sum(axis=0).min() > 20
    assert_same(estimates(arm, log, q), expected)


@pytest.mark.parametrize("turns", [1, -3])
def test_a_restart_that_counts_turns_anew(live, turns):
    arm, log, expected = live
    q = log.q.copy()
    q[len(log) // 2 :, 3:] += turns * TURN
    assert_same(estimates(arm, log, q), expected)
