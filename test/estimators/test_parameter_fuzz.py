"""Parameters of every stage: inside their declared bounds taken or refused, outside of them refused by name."""

import math

import numpy as np
import pytest
from fuzz import SEED, tries

from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.estimators.pipeline import STAGES, Pipeline
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Sample

ROBOT = load_robot("ur5e")
TRIES = tries(60)  # of each stage; thousands in the long mode


def drawn(p, rng):
    """A value inside the bounds of a parameter, often at one of them."""
    if p.choices:
        return str(rng.choice(p.choices))
    if isinstance(p.default, bool):
        return bool(rng.integers(2))
    low = -1e9 if p.low is None else p.low
    high = 1e9 if p.high is None else p.high
    value = (low, high, low + (high - low) * rng.random(), math.exp(rng.uniform(math.log(1e-9), math.log(1e9))))
    value = min(max(value[rng.integers(4)], low), high)
    return int(value) if isinstance(p.default, int) else float(value)


def run(pipeline, rng):
    sample = Sample(ROBOT.joint_names)
    for k in range(20):
        sample.clear()
        sample.stamp_ns = 10**18 + 2_000_000 * k
        sample.q[:], sample.qd[:], sample.effort[:] = rng.normal(size=(3, 6))
        pipeline.step(sample)


@pytest.mark.parametrize("name", list(STAGES))
def test_values_inside_their_bounds_are_taken_or_refused_in_one_line(name, tried):
    rng = np.random.default_rng([SEED, sorted(STAGES).index(name)])
    table = STAGES[name]().parameters
    names = [p for p in table if isinstance(p.default, str) and not p.choices]  # of frames and files
    taken = 0
    tried("sets of stage parameters", TRIES if table else 1)
    for _ in range(TRIES if table else 1):
        chosen = rng.choice(len(table), size=rng.integers(1, 4)) if table else []
        given = {table[i].name: drawn(table[i], rng) for i in chosen if table[i] not in names}
        try:
            pipeline = Pipeline(ROBOT, {name: given})
        except (CapabilityError, ConfigError) as error:
            named = name if isinstance(error, ConfigError) else "rotor encoder"  # of an observer of friction
            assert "\n" not in str(error) and named in str(error), given
            continue
        run(pipeline, rng)
        taken += 1
    assert taken


@pytest.mark.parametrize("name", list(STAGES))
def test_values_outside_their_bounds_are_refused_by_name(name):
    for p in STAGES[name]().parameters:
        beyond = [bound + side for side, bound in ((-1.0, p.low), (1.0, p.high)) if bound is not None]
        words = [1.0, *["neither"] * bool(p.choices)]
        for bad in words if isinstance(p.default, str) else [np.nan, "1.0", *beyond]:
            with pytest.raises(ConfigError, match=f"{name}.*{p.name}"):
                Pipeline(ROBOT, {name: {p.name: bad}})
    with pytest.raises(ConfigError, match=f"{name}.*nonsense"):
        Pipeline(ROBOT, {name: {"nonsense": 1}})


@pytest.mark.parametrize("given", [{"contact_on_ratio": 0.01}, {"wrench_cutoff": 1e-7}])
def test_values_that_contradict_each_other_are_refused(given):
    with pytest.raises(ConfigError, match="force"):
        Pipeline(ROBOT, {"force": given})
