"""Bags of simulated robots compared end to end."""

import numpy as np
import pytest
from prepared import fourier

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.identification import compare
from robot_dynamics_ros.identification.arm.identify import Options
from robot_dynamics_ros.simulation.robot import SimulatedRobot

pytestmark = pytest.mark.long

DAY = 86_400_000_000_000
ELBOW = 2


def recorded(folder, name, seed, day, rougher=1.0, payload=0.0, celsius=40.0):
    """A run of one UR5e on one day: its elbow's friction times `rougher`, with a payload that is not configured."""
    true = SimulatedRobot("ur5e", seed=seed).machine.true
    worn = {n: true[n].copy() for n in ("friction.coulomb", "friction.stribeck", "friction.viscous")}
    for values in worn.values():
        values[ELBOW] *= rougher
    carried = (payload, (0, 0, 0.05)) if payload else None
    log = fourier(seed, "ur5e", celsius, carried, worn, 1_767_225_600_000_000_000 + day * DAY)
    return write_bag(log, folder / name)


@pytest.fixture(scope="module")
def bags(tmp_path_factory):
    folder = tmp_path_factory.mktemp("months")
    months = [recorded(folder, f"month{k + 1}", k, 30 * k) for k in range(3)]
    return [*months, recorded(folder, "worn", 3, 90, rougher=1.5), recorded(folder, "tool", 4, 120, payload=1.5)]


@pytest.fixture(scope="module")
def results(bags):
    return compare.identify_each("ur5e", bags, Options())


def test_wear_and_a_tool_are_distinguished(results):
    found = compare.compared(results, "ur5e")
    friction = [text for text in found["differences"] if "friction" in text]
    assert friction and all(text.startswith("worn: friction of elbow_joint") for text in friction)
    assert any(text.startswith("tool: m") for text in found["differences"])
    assert not any(text.startswith("month") for text in found["differences"])
    assert found["begun"][0].startswith("2026-01-01") and found["begun"][1].startswith("2026-01-31")
    assert np.allclose(found["temperature"], 40, atol=2)
    assert np.all(np.array(found["friction_std"]) < 0.2 * np.array(found["friction"]))
