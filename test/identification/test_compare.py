"""Bags identified side by side: what differs is named, what cannot be identified is reported."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from command_line import printed
from prepared import fourier

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification import compare
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.simulation.robot import SimulatedRobot


def result(bag, fc, beta=1.0):
    base = {"names": ["ZZ1", "mX2"], "values": [beta, 2.0], "std": [0.01, 0.01]}
    sliding = {"speeds": [0.1, 0.5], "torque": [[fc, fc + 1], [5.0, 6.0]], "std": [[0.1, 0.1], [0.1, 0.1]]}
    part = {"begun": "2026-01-01T00:00:00+00:00", "duration": 10.0, "temperature": None}
    of_the_bag = {"bag": bag, "training": {"bags": [part]}, "validation_bags": [part], "joint_names": ["one", "two"]}
    figures = {"parameters": {"sliding_friction": sliding, "base": base}, "robot": "r", "unit": "Nm"}
    return of_the_bag | figures | {"validation": {"mean_r2": 0.99, "rmse": [0.1, 0.1]}}


def test_what_differs_is_named():
    found = compare.compared([result("a", 5.0), result("b", 5.0), result("c", 8.0, beta=1.5)], "ur5e")
    assert np.allclose(np.array(found["friction"])[:, 1], found["friction"][0][1])
    assert any("c: friction of one" in text for text in found["differences"])
    assert any("c: ZZ1" in text for text in found["differences"])
    alike = compare.compared([result("a", 5.0), result("b", 5.0)], "ur5e")
    assert found["level"] == "fair" and alike["level"] == "good"
    assert not any(text.startswith(("a:", "b:")) for text in found["differences"])


def test_two_bags_are_compared_with_each_other():
    """Their median would halve what differs."""
    found = compare.compared([result("a", 5.0), result("b", 5.9, beta=1.08)], "ur5e")
    assert found["friction_change"][1][0] == pytest.approx(0.9 / found["friction"][0][0])
    wanted = [f"{bag}: {what}" for what in ("friction of one", "ZZ1") for bag in "ab"]
    assert [text.split(" at ")[0].split(" is ")[0] for text in found["differences"]] == wanted


def test_of_the_many_parameters_that_a_payload_changes_the_clearest_are_named():
    bags = [result(bag, 4.0) for bag in "abc"]
    for bag, shift in zip(bags, (0.0, 0.0, 0.2), strict=True):
        names = [f"mX{k}" for k in range(8)]
        bag["parameters"]["base"] = {"names": names, "values": [shift * k for k in range(8)], "std": [0.01] * 8}
    told = compare.compared(bags, "r")["differences"]
    assert [text.split()[1] for text in told] == ["mX7", "mX6", "mX5", "4"] and "payload or tool" in told[-1]


def test_bags_of_one_name_are_told_apart():
    found = compare.compared([result("logs/monday/run", 5.0), result("logs/friday/run", 5.9)], "ur5e")
    assert [text.split(":")[0] for text in found["differences"]] == ["monday/run", "friday/run"]


def test_failed_bags_are_kept_apart_and_two_are_needed():
    found = compare.compared([result("a", 5.0), {"bag": "x", "error": "robot at rest"}, result("b", 5.0)], "ur5e")
    assert found["failed"] == {"x": "robot at rest"} and found["differences"] == []
    with pytest.raises(DataError, match="robot at rest"):
        compare.compared([result("a", 5.0), {"bag": "x", "error": "robot at rest"}], "ur5e")


def test_the_command_writes_table_numbers_and_a_page_that_needs_nothing_else(tmp_path, monkeypatch):
    """An unreadable bag is one line; page and JSON name the bags."""
    (tmp_path / "broken.bag").write_bytes(b"nothing")
    found = compare.identify_one(("ur5e", str(tmp_path / "broken.bag"), Options()))
    assert "error" in found and "\n" not in found["error"]
    made = [result("a", 5.0), result("b", 5.0), result("c", 8.0), {"bag": "broken", "error": "robot at rest"}]
    monkeypatch.setattr(compare, "identify_each", lambda *a, **k: made)
    line = f"identify --what compare a b c broken --robot ur5e --out {tmp_path / 'out'}"
    assert "next: robot-dynamics health a b c" in printed(*line.split())
    page = (tmp_path / "out" / "comparison.html").read_text()
    assert all(word in page for word in ("2026-01-01 00:00", "robot at rest", "c: friction of one"))
    assert page.count("<svg") == 2 and "http" not in page.split("</style>")[1]
    assert json.loads((tmp_path / "out" / "comparison.json").read_text())["bags"] == ["a", "b", "c"]


def test_results_are_in_the_order_of_the_bags_whichever_ends_first(monkeypatch):
    second = threading.Event()

    def identify_one(task):
        assert task[1].endswith("y.bag") or second.wait(60)
        second.set()
        return {"bag": task[1]}

    monkeypatch.setattr(compare, "identify_one", identify_one)
    monkeypatch.setattr(compare, "ProcessPoolExecutor", lambda processes, context: ThreadPoolExecutor(processes))
    results = compare.identify_each("ur5e", ["x.bag", "y.bag"], Options())
    assert [r["bag"].rsplit("/", 1)[-1] for r in results] == ["x.bag", "y.bag"]


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


@pytest.mark.long
def test_wear_and_a_tool_are_distinguished(results):
    found = compare.compared(results, "ur5e")
    friction = [text for text in found["differences"] if "friction" in text]
    assert friction and all(text.startswith("worn: friction of elbow_joint") for text in friction)
    assert any(text.startswith("tool: m") for text in found["differences"])
    assert not any(text.startswith("month") for text in found["differences"])
    assert found["begun"][0].startswith("2026-01-01") and found["begun"][1].startswith("2026-01-31")
    assert np.allclose(found["temperature"], 40, atol=2)
    assert np.all(np.array(found["friction_std"]) < 0.2 * np.array(found["friction"]))
