"""Samples and logs: shapes, names, absence, joint order; runs of samples; equal-delay filters [Madsen2020 ch6]."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import savgol_coeffs

from robot_dynamics_ros._core import SavitzkyGolay
from robot_dynamics_ros.errors import ConfigError, DataError
from robot_dynamics_ros.parameters import Parameter, resolve
from robot_dynamics_ros.signals import SIGNALS, Log, Sample, width
from robot_dynamics_ros.signals.runs import GAP, last_true, pieces_of, runs

NAMES = ("a", "b", "c")
DT = 1e-3


def log(n=5):
    rng = np.random.default_rng(1)
    return Log(NAMES, np.arange(n) * 2_000_000, {"q": rng.normal(size=(n, 3)), "external_wrench": np.ones((n, 6))})


def test_sample_starts_absent_and_assignment_writes_in_place():
    sample = Sample(NAMES)
    view = sample.q
    assert all(np.isnan(getattr(sample, name)).all() for name in SIGNALS)
    sample.q = [1, 2, 3]
    assert view is sample.q and sample.has("q") and not sample.has("qd")
    with pytest.raises(ValueError):
        sample.q = [1, 2]


def test_copy_is_independent():
    sample = Sample(NAMES, 7)
    sample.q = 1.0
    other = sample.copy()
    sample.clear()
    assert other.stamp_ns == 7 and (other.q == 1).all() and np.isnan(sample.q).all()


@pytest.mark.parametrize("name", list(SIGNALS))
def test_absent_signal_reads_as_nan_of_the_right_shape(name):
    values = Log(NAMES, np.arange(4)).__getattr__(name)
    assert values.shape == (4, width(name, 3)) and np.isnan(values).all()


def test_wrong_shape_names_the_signal():
    with pytest.raises(DataError, match="qd has shape"):
        log().qd = np.zeros((5, 2))


def test_slices_and_masks_are_logs():
    whole = log()
    assert len(whole[1:3]) == 2 and len(whole[whole.time > 0.003]) == 3 and len(whole[-1]) == 1
    np.testing.assert_array_equal(whole[:].q, whole.q)
    assert whole[1:3].joint_names == NAMES


def test_a_record_is_read_into_a_sample_and_written_from_it():
    whole, again, sample = log(), Log(NAMES, np.arange(5)), Sample(NAMES)
    for row in range(len(whole)):
        whole.read(row, sample)
        again.write(row, sample, ("q", "qd"))
    assert sample.stamp_ns == whole.stamp_ns[-1] and not sample.has("qd")
    np.testing.assert_array_equal(again.q, whole.q)


def test_reordering_maps_by_name_and_alias_and_drops_extra_joints():
    mixed = log().reordered(("c", "a"))
    np.testing.assert_array_equal(mixed.q, log().q[:, [2, 0]])
    loaded = log()
    loaded.payload = np.ones((5, 4))
    assert loaded.reordered(("c", "a")).has("payload")  # of the arm, whatever the order of its joints
    renamed = log().reordered(("first", "b", "c"), {"a": "first"})
    np.testing.assert_array_equal(renamed.q, log().q)


GAIN = Parameter("gain", 2.0, "a gain", "1/s", 0.0, 10.0)


@pytest.mark.parametrize("bad", [float("nan"), 11.0, -1, "2", True, None])
def test_bad_parameter_is_refused(bad):
    with pytest.raises(ConfigError, match="gain"):
        resolve([GAIN], {"gain": bad})


def test_parameters_resolve_over_defaults_and_refuse_unknown_names():
    assert resolve([GAIN]) == {"gain": 2.0} and resolve([GAIN], {"gain": 3}) == {"gain": 3.0}
    with pytest.raises(ConfigError, match="gian"):
        resolve([GAIN], {"gian": 1.0})


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
    begun = [first for k in range(len(start)) for first, end in pieces if first <= k < end]
    assert last_true(np.array(start)).tolist() == begun


@pytest.mark.parametrize(("window", "order"), [(5, 2), (11, 3), (101, 2), (101, 4)])
def test_weights_are_those_of_scipy(window, order):
    estimate, answer = SavitzkyGolay(1, window, order), []
    for x in [0.0] * (window + 2) + [1.0] + [0.0] * (window + 2):
        if estimate.push(np.array([x])):
            answer.append(estimate.value()[0])
    zeros = len(answer) - window
    begin = next(k for k in range(zeros + 1) if answer[k] != 0.0)
    np.testing.assert_allclose(answer[begin : begin + window], savgol_coeffs(window, order), atol=1e-12)
    assert not any(answer[:begin]) and not any(answer[begin + window :])


@pytest.mark.parametrize("arguments", [(4, 2), (1, 0), (5, 5), (5, -1)])
def test_weights_name_the_wrong_argument(arguments):
    with pytest.raises(ValueError, match="window|order"):
        SavitzkyGolay(1, *arguments)


def test_a_quadratic_and_its_derivatives_come_out_exactly_51_samples_late():
    estimate = SavitzkyGolay(2, 101, 2)
    assert estimate.delay == 51
    t = DT * np.arange(300)
    x = np.column_stack([0.3 + 2 * t - 5 * t**2, 7 * t])
    ready = [estimate.push(row) for row in x]
    assert ready.index(True) == 102
    late = 299 - 51
    np.testing.assert_allclose(estimate.value(), x[late], atol=1e-12)
    np.testing.assert_allclose(estimate.first(DT), [2 - 10 * t[late], 7], atol=1e-9)
    np.testing.assert_allclose(estimate.second(DT), [-10, 0], atol=1e-6)
