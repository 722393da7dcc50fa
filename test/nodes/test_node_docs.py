"""docs/nodes.md is the declared tables: nothing undocumented, nothing outdated."""

import importlib.util
import re
from pathlib import Path

import pytest

from robot_dynamics_ros.estimators.pipeline import STAGES
from robot_dynamics_ros.nodes.interfaces import SERVICES
from robot_dynamics_ros.nodes.robot.stages import OF_NODE
from robot_dynamics_ros.nodes.tables import NODES

DOCS = Path(__file__).resolve().parents[2] / "docs"
spec = importlib.util.spec_from_file_location("nodes_table", DOCS / "nodes_table.py")
nodes_table = importlib.util.module_from_spec(spec)
spec.loader.exec_module(nodes_table)


def test_the_generated_part_is_up_to_date():
    generated = (DOCS / "nodes.md").read_text(encoding="utf-8").partition(nodes_table.MARK)[2]
    assert generated == nodes_table.tables(), "run: python docs/nodes_table.py"


def test_every_declared_parameter_and_service_is_documented():
    text = (DOCS / "nodes.md").read_text(encoding="utf-8")
    for name in (p.name for table in NODES.values() for p in table):
        assert f"`{name}`" in text, name
    for name, make in STAGES.items():
        own = [p.name for p in make().parameters if p.name not in OF_NODE]
        assert all(f"`{name}.{parameter}`" in text for parameter in own), name
    assert all(f"`{service}`" in text for rows in SERVICES.values() for service, _, _ in rows)


def test_services_and_private_topics_in_the_code_are_declared():
    source = "".join(path.read_text() for path in (DOCS.parent / "robot_dynamics_ros" / "nodes").rglob("*.py"))
    declared = {service for rows in SERVICES.values() for service, _, _ in rows}
    used = set(re.findall(r'trigger\("(~/\w+)"', source))
    assert used == declared
    assert source.count(".create_service(") == 1  # in NodePart alone: no other service goes unnoticed


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
