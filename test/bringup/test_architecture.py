"""Who imports whom: parts above one another, no circles, ROS in the nodes only."""

import ast
import graphlib
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "robot_dynamics_ros"


# -- who may import what ----------------------------------------------------------------------------------------------
@cache
def statements(path):
    """Import statements of a file, those inside functions too."""
    return [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, (ast.Import, ast.ImportFrom))]


def imports(path):
    for node in statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif node.module:
            yield node.module


def modules():
    for path in PACKAGE.rglob("*.py"):
        yield path, path.relative_to(PACKAGE).with_suffix("").parts[0]


def test_parts_stand_above_one_another_as_the_architecture_page_says():
    page = (ROOT / "docs" / "architecture.md").read_text().split("\n`bench/`")[0]
    rows = re.findall(r"^\| ((?:`\w+` ?)+)\|", page, re.MULTILINE)
    order = [part for row in rows for part in re.findall(r"\w+", row)]
    assert sorted(order) == sorted({part for _, part in modules()} - {"__init__"})
    for path, part in modules():
        for name in imports(path):
            other = name.split(".")[1] if name.startswith("robot_dynamics_ros.") else "_core"
            if other not in ("_core", part):
                assert order.index(other) < order.index(part), f"{path.relative_to(ROOT)} imports {name}"


def test_no_files_import_each_other_in_a_circle():
    """Imports for type checking and imports inside functions count too."""
    parts = {path: path.relative_to(ROOT).with_suffix("").parts for path, _ in modules()}
    files = {".".join(name).removesuffix(".__init__"): path for path, name in parts.items()}
    graph = {name: {found for found in imported_modules(path, files) if found != name} for name, path in files.items()}
    order = graphlib.TopologicalSorter(graph)
    order.prepare()  # raises CycleError with the files of a circle


def imported_modules(path, files):
    """Modules of the package that a file imports: `from package import module` counts as the module."""
    for node in statements(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name for name in inside if name in files)
            if node.module in files and not all(name in files for name in inside):
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in files)


def test_nothing_of_the_product_imports_the_laboratory():
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "launch").glob("*.py"), *(ROOT / "examples").glob("*.py")]:
        assert not {name for name in imports(path) if name.split(".")[0] == "bench"}, path.relative_to(ROOT)


HEADERS = ROOT / "cpp_core" / "include" / "robot_dynamics"
LAYERS = ("common", "rigid_body", "signals", "friction", "transmission", "observers", "control", "drivers")


def test_folders_of_headers_stand_above_one_another_and_the_plant_is_independent():
    for path in HEADERS.rglob("*.hpp"):
        folder = path.relative_to(HEADERS).parts[0]
        below = ("common", "rigid_body", "plant") if folder == "plant" else LAYERS[: LAYERS.index(folder) + 1]
        for other in re.findall(r'#include "robot_dynamics/(\w+)/', path.read_text()):
            assert other in below, f"{path.relative_to(HEADERS)} includes {other}"


def test_ros_only_in_nodes_and_vendor_clients_only_in_their_driver():
    for path, part in modules():
        for name in imports(path):
            top = name.split(".")[0]
            if top in ("rclpy", "sensor_msgs", "std_msgs", "geometry_msgs", "launch", "launch_ros"):
                assert part == "nodes", f"{path.relative_to(ROOT)} imports {name}"
            if top in ("rtde_control", "rtde_receive", "pylibfranka"):
                assert part == "drivers", f"{path.relative_to(ROOT)} imports {name}"
