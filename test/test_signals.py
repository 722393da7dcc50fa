"""Samples and logs: shapes, names, absence, joint order."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import ConfigError, DataError
from robot_dynamics_ros.parameters import Parameter, resolve
from robot_dynamics_ros.signals import SIGNALS, Log, Sample, width

NAMES = ("a", "b", "c")


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
