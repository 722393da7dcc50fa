"""The core imports, validates its arguments and documents every public name."""

import numpy as np
import pytest

from robot_dynamics_ros import _core


def test_chain_names_the_wrong_argument():
    eye = np.eye(4)
    with pytest.raises(ValueError, match="inertia"):
        _core.Chain(eye[None], np.zeros((1, 9)), eye, np.zeros(3))


def description(value):
    """Docstring of a class or property; of a function what follows its signature.

    Before Python 3.12 the None of the type hides the docstring of a static property.
    """
    text = value.__doc__ or (vars(property)["__doc__"].__get__(value) if isinstance(value, property) else "")
    return text if isinstance(value, type | property) else "".join(text.splitlines(keepends=True)[1:])


def public_names():
    """(name, docstring) of functions, classes, methods and properties."""
    for name, value in vars(_core).items():
        if name.startswith("_") or not callable(value):
            continue
        yield name, description(value)
        members = {} if not isinstance(value, type) or hasattr(value, "__members__") else vars(value)
        yield from ((f"{name}.{k}", description(v)) for k, v in members.items() if not k.startswith("_"))


def test_every_public_name_has_a_docstring():
    found = dict(public_names())
    assert len(found) > 250
    assert [name for name, text in found.items() if not text.strip()] == []


def test_a_trajectory_is_validated_by_the_core():
    rows = np.zeros((3, 2))
    bad = rows.copy()
    bad[1, 1] = np.nan
    for rate, qd, match in ((0.0, rows, "rate"), (500.0, bad, "not finite"), (500.0, rows[:2], "qd has shape")):
        with pytest.raises(ValueError, match=match):
            _core.TorqueTrajectory(rows, qd, rows, rate)
    with pytest.raises(ValueError, match="no rows"):
        _core.TorqueTrajectory(rows[:0], rows[:0], rows[:0])
