"""The reference of the nodes is the declared tables: nothing undocumented, nothing undeclared."""

import re
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

from robot_dynamics_ros.estimators.pipeline import STAGES
from robot_dynamics_ros.nodes.interfaces import SERVICES
from robot_dynamics_ros.nodes.robot.stages import OF_NODE
from robot_dynamics_ros.nodes.tables import NODES
from robot_dynamics_ros.topics import TOPICS

ROOT = Path(__file__).resolve().parents[2]
reference = SimpleNamespace(**run_path(str(ROOT / "docs" / "generators" / "nodes.py")))


def test_every_declared_parameter_service_and_topic_is_in_the_reference():
    parameters, topics = reference.parameters(), reference.topics()
    for name in (p.name for table in NODES.values() for p in table):
        assert parameters.count(f"| `{name}` |") == 1, name
    for name, make in STAGES.items():
        own = [p.name for p in make().parameters if p.name not in OF_NODE]
        assert all(f"`{name}.{parameter}`" in parameters for parameter in own), name
    assert all(f"`{service}`" in topics for rows in SERVICES.values() for service, _, _ in rows)
    assert all(f"{name}`" in topics or f"{name}/<joint>`" in topics for name in TOPICS)


def test_a_row_names_the_nodes_that_have_the_parameter():
    table = [row.split("|") for row in reference.parameters().splitlines() if row.startswith("| `")]
    rows = {cells[1].strip(" `"): cells[5].strip() for cells in table}
    assert rows["robot"] == "all" and rows["ip"] == "hardware, composed" and rows["web_port"] == "viewer"


def test_services_and_private_topics_in_the_code_are_declared():
    source = "".join(path.read_text() for path in (ROOT / "robot_dynamics_ros" / "nodes").rglob("*.py"))
    declared = {service for rows in SERVICES.values() for service, _, _ in rows}
    used = set(re.findall(r'trigger\("(~/\w+)"', source))
    assert used == declared


def test_every_parameter_default_is_inside_its_own_bounds():
    for table in [*NODES.values(), *(make().parameters for make in STAGES.values())]:
        for parameter in table:
            assert parameter.checked(parameter.default) == parameter.default


def test_descriptors_carry_text_unit_range_and_read_only():
    pytest.importorskip("rclpy", reason="rclpy is not installed")
    from robot_dynamics_ros.nodes.lifecycle_base import descriptor

    for table in [*NODES.values(), *(make().parameters for make in STAGES.values())]:
        for parameter in table:
            found = descriptor(parameter)
            assert parameter.text in found.description and found.read_only == parameter.read_only
            ranged = bool(found.floating_point_range or found.integer_range)
            assert ranged == (parameter.low is not None or parameter.high is not None)
