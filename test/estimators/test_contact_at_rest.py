"""While a robot stands whose payload is known, a push is found that the threshold in motion would miss."""

import numpy as np
import pytest
from force_bench import ORIENTATIONS, still, through
from test_rest_bias import ROBOT, measured

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
