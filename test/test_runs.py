"""Runs of samples against a walk through them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from robot_dynamics_ros.signals.runs import GAP, pieces_of, runs


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.1, GAP, 2 * GAP])), max_size=12), st.booleans())
def test_runs_are_the_stretches_of_a_mask_also_of_one_without_samples(rows, timed):
    mask, stamps = np.array([m for m, _ in rows], bool), np.cumsum([step for _, step in rows])
    found = []
    for row in np.flatnonzero(mask).tolist():
        goes_on = row > 0 and mask[row - 1] and not (timed and stamps[row] - stamps[row - 1] > GAP)
        found.append((found.pop()[0] if goes_on else row, row + 1))
    assert runs(mask, stamps if timed else None) == found


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_pieces_begin_where_it_is_marked_and_hold_all_samples(start):
    pieces = list(pieces_of(np.array(start)))
    assert [first for first, _ in pieces] == [k for k, begins in enumerate(start) if begins or k == 0]
    assert [end for _, end in pieces] == [first for first, _ in pieces[1:]] + [len(start)]
