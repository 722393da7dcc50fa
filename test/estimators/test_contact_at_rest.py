"""Pushes on a robot that stands: weak ones are found, and a flag ends with its push whatever friction keeps of it."""

import numpy as np
import pytest
from force_bench import ORIENTATIONS, during, still, through
from test_rest_bias import REST, ROBOT, measured, seen, standing

from robot_dynamics_ros.estimators.external_force import significance
from robot_dynamics_ros.estimators.force_arguments import AT_REST, CONTACT
from robot_dynamics_ros.estimators.pipeline import Pipeline

WEAK, STRONG = 7.0, 40.0  # N
STOOD = 6.0  # s, after the motion


def pushed(moves, *pushes, **force):
    """Log of moves, or a stand as long, and a stand with pushes (N, begin, end) [s from its begin]."""
    way = through(ORIENTATIONS, 1.5, 1.0)
    q, qd, qdd = (np.concatenate([part, np.repeat(part[-1:], 3000, axis=0)]) for part in way)
    if not moves:
        q, qd, qdd = still(q[-1], len(q) / 500)
    t = np.arange(len(q)) / 500 - len(q) / 500 + STOOD
    wrench = sum(np.outer((t >= a) & (t < b), [0, 0, -force, 0, 0, 0]) for force, a, b in pushes)
    log = measured((q, qd, qdd), wrench, noise=0.05)
    Pipeline(ROBOT, {"force": force}).run(log)
    return log, t


def found(log, t, begin, end):
    return log.contact[(t > begin + 0.3) & (t < end), -1].all()


def test_a_weak_push_is_found_while_the_robot_stands():
    blind, t = pushed(True, (WEAK, 2.0, 3.0), contact_on_ratio=100.0, rest_bias=0.0)
    rare = significance(ROBOT, blind)[(t > 2.3) & (t < 3.0)]
    assert CONTACT < rare.min() < rare.max() < CONTACT / AT_REST
    log, t = pushed(True, (WEAK, 2.0, 3.0))
    assert found(log, t, 2.0, 3.0) and not log.contact[t < 2.0].any() and not log.contact[t > 3.3].any()


@pytest.mark.parametrize(
    ("moves", "before"), [(False, ()), (True, [(STRONG, 0.5, 1.5)])], ids=["no motion yet", "just pushed"]
)
def test_it_is_not_where_more_may_be_wrong(moves, before):
    """An unknown payload shows before the robot has moved, friction that a push changed in the second after it."""
    log, t = pushed(moves, *before, (WEAK, 2.0, 2.6))
    assert not log.contact[(t > 2.0) & (t < 2.6), -1].any()


KEPT = 5.7 * REST * [0, 0, 1, 0, 0, 0]  # Nm: more than a contact in one joint


def flagged(left, kept=0.0, across=0.0, size=40.0):
    """Rows with a contact, and the log: `size` N from 4 to 6 s, then `left` N along, `across` N, friction `kept` Nm."""
    wrench = during(4.0, 6.0, 9.0, [0, 0, -size, 0, 0, 0]) + during(6.0, 8.0, 9.0, [-across, 0, -left, 0, 0, 0])
    log = standing(wrench, error=0.0, seconds=9.0)
    log.effort -= kept * (log.time >= 6.0)[:, None]
    seen(log)
    return log.contact.any(axis=1), log


@pytest.mark.parametrize("size", [40.0, 15.0])
def test_a_flag_ends_with_its_push_though_friction_has_changed(size):
    """The same friction without a push is a contact. Of a weak push more than a third is left along it."""
    found, log = flagged(0.0, KEPT, size=size)
    assert found[(log.time > 4.1) & (log.time < 6.0)].all() and not found[log.time > 6.3].any()
    alone = standing(None, error=0.0)
    alone.effort -= KEPT * (alone.time >= 4.0)[:, None]
    seen(alone)
    assert alone.contact.any(axis=1)[(alone.time > 4.1) & (alone.time < 4.3)].all()


@pytest.mark.parametrize(
    ("left", "across", "axis", "shown"),
    [(16.0, 0.0, 2, (15.0, 17.0)), (-20.0, 0.0, 2, (-21.0, -19.0)), (0.0, 35.0, 0, (25.0, 36.0))],
    ids=["part", "back", "aside"],
)
def test_a_push_that_becomes_weaker_or_turns_goes_on(left, across, axis, shown):
    """Aside it is shown too small, the price of a turn within 0.2 s: what is absorbed at most is taken for friction."""
    found, log = flagged(left, across=across)
    assert found[(log.time > 4.1) & (log.time < 8.0)].mean() > 0.98
    late = (log.time > 7.0) & (log.time < 8.0)
    assert shown[0] < -log.external_wrench[late, axis].mean() < shown[1]


def test_a_push_after_a_stronger_one_at_the_same_place_is_found():
    """16 N after 60 N: what friction may keep of the first push hides no more of the second than 15 N."""
    wrench = during(4.0, 5.0, 9.0, [0, 0, -60.0, 0, 0, 0]) + during(6.5, 8.0, 9.0, [0, 0, -16.0, 0, 0, 0])
    log = standing(wrench, error=0.0, seconds=9.0)
    seen(log)
    found, t = log.contact.any(axis=1), log.time
    assert not found[(t > 5.3) & (t < 6.5)].any() and found[(t > 6.6) & (t < 8.0)].all()
