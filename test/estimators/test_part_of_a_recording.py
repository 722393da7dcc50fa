"""Replays of a part of a recording, and of positions that count other turns, give the bits of the whole.

A replay that begins later than the live node did gives its bits after a motion: every joint must slip in it, and it
must last until the momentum observer has forgotten the friction before. Drift of viscous friction remembers all of the
motion: with it the two agree within their deviation. A payload is judged without a push: until then contact begins
later at rest.
"""

import numpy as np
import pytest
from force_bench import POSE, measured, through, with_residuals
from hypothesis import given, settings
from hypothesis import strategies as st
from presliding_joint import elements

from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import hysteresis_from_robot

REST = np.array([1.5, 2.0, 1.5, 0.6, 0.6, 0.6])
ERROR = np.array([0.8, -1.1, 0.7, 0.3, -0.3, 0.2])  # Nm, of the friction model at standstill
LAW = {"load": [0.0, 0.01, 0.02], "load_limit": 200.0, "sliding_ratio": 0.8, "stribeck_velocity": 0.05, "fv1": 5.0}
LAW |= {"fs": 0.1, "eps": 2e-3}
LINK, ROTOR = (elements([1e-4, 5e-4, 1e-3], [0.1, 0.1, 0.2], rotor_time=time, **LAW) for time in (0.0, 600.0))
WRITES = "friction_torque friction_std external_joint_torque external_joint_torque_std external_wrench".split()
WRITES += "external_wrench_std framed_wrench framed_wrench_std contact contact_load payload_or_bias".split()
STEADY = {"force": {"friction_drift": 0.0, "rest_bias": 1000.0}}  # with so little friction none of it has a memory
FIRST, TRAVEL, LATER = 5.0, 3.0, 2.5  # s: of the first stand, a move, a later stand
SECOND = FIRST + TRAVEL + LATER  # s, the second move begins
PUSHES = FIRST + TRAVEL + 1.0, SECOND + TRAVEL + 1.0  # s


def robot(block):
    memory = {} if block is None else {"hysteresis": block}
    return with_residuals(0.3 * REST, REST, significance=4.0).with_updates({"friction.source": "test"} | memory)


def recorded(arm):
    """Stand, move, stand, move, stand with a push in both later stands; the velocity is off by noise and 0.1 mrad/s."""
    poses = [POSE, POSE + [*[0.3] * 5, 0.05], POSE + [0.2, 0.1, 0.4, -0.2, 0.1, 0.0]]
    stand = through(poses[:1], FIRST - LATER)
    q, qd, qdd = (np.concatenate(rows) for rows in zip(stand, through(poses, LATER, TRAVEL), strict=True))
    wrench = np.zeros((len(q), 6))
    for begin in PUSHES:
        wrench[round(500 * begin) : round(500 * begin) + 500, :2] = 40.0, -30.0
    log = measured((q, qd, qdd), wrench, friction=False, noise=0.1)
    load = log.effort - arm.array("drives.rotor_inertia") * qdd
    if arm.hysteresis.model == "presliding":
        log.effort += hysteresis_from_robot(arm).run(log.stamp_ns, q, qd, load)[0]
    else:
        log.effort += FrictionModel.from_robot(arm).torque(qd)
    log.effort -= ERROR * (np.abs(qd) < 0.01)
    log.qd = qd + 1e-4 + 1e-3 * np.random.default_rng(2).normal(size=qd.shape)
    return log


@pytest.fixture(scope="module", params=[None, LINK, ROTOR], ids=["shipped", "link", "rotor"])
def live(request):
    arm = robot(request.param)
    log = recorded(arm)
    Pipeline(arm, STEADY).run(log)
    return arm, log


def assert_same_from(arm, log, begin, time, until=np.inf):
    part = log[begin:]
    Pipeline(arm, STEADY).run(part)
    late = (log.time[begin:] > time) & (log.time[begin:] < until)
    assert late.sum() > 480
    for name in WRITES:
        np.testing.assert_array_equal(getattr(part, name)[late], getattr(log, name)[begin:][late], name)


def test_the_first_stand_leaves_a_memory(live):
    """Else the tests below could not fail: before the move the estimate depends on when it began."""
    arm, log = live
    with pytest.raises(AssertionError):
        assert_same_from(arm, log, 500, FIRST)
    assert all(log.contact[round(500 * begin) + 250].any() for begin in PUSHES)


@settings(max_examples=12)
@given(begin=st.integers(1, round(500 * FIRST) - 1))
def test_from_any_sample_of_the_first_stand(live, begin):
    assert_same_from(*live, begin, FIRST + TRAVEL)


@settings(max_examples=6)
@given(begin=st.integers(round(500 * (FIRST + TRAVEL)), round(500 * SECOND)))
def test_from_any_sample_of_a_later_stand(live, begin):
    pushed = begin < 500 * (PUSHES[0] + 1.2)
    assert_same_from(*live, begin, SECOND + TRAVEL, PUSHES[1] if pushed else np.inf)


@pytest.mark.parametrize("begin", [700, 1300])
def test_a_gap_in_the_first_stand_forgets_like_a_start(live, begin):
    arm, late = live[0], live[1][:]
    late.stamp_ns = late.stamp_ns + np.where(np.arange(len(late)) < 1000, 0, 10**9)
    Pipeline(arm, STEADY).run(late)
    assert_same_from(arm, late, begin, FIRST + TRAVEL + 1.0)


TURN = 2 * np.pi
LATE = {"drives.effort.delay": 0.003, "drives.source": "found"}


@pytest.fixture(scope="module", params=[{}, LATE], ids=["aligned", "late"])
def turned(request):
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


def test_joints_that_stand_where_their_positions_begin_again(turned):
    arm, log, expected = turned
    edge = log.q[len(log) // 2]  # between the moves: readings fall on both sides
    q = (log.q - edge) % TURN + edge
    assert (np.abs(np.diff(q, axis=0)) > 6.0).sum(axis=0).min() > 20
    assert_same(estimates(arm, log, q), expected)


@pytest.mark.parametrize("turns", [1, -3])
def test_a_restart_that_counts_turns_anew(turned, turns):
    arm, log, expected = turned
    q = log.q.copy()
    q[len(log) // 2 :, 3:] += turns * TURN
    assert_same(estimates(arm, log, q), expected)
