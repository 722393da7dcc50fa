"""What the launch files use of launch and launch_ros: actions keep their arguments, nothing is started."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

LAUNCH = Path(__file__).resolve().parents[2] / "launch"


class Action:
    def __init__(self, *given, **named):
        self.given, self.named = given, named


class LaunchConfiguration:
    def __init__(self, name):
        self.name = name

    def perform(self, context):
        return context.values[self.name]


class PackageNotFoundError(KeyError):
    pass


ACTIONS = (
    *("DeclareLaunchArgument", "ExecuteProcess", "IncludeLaunchDescription", "LogInfo", "Node"),
    *("OpaqueFunction", "SetEnvironmentVariable", "Shutdown"),
)


def load(monkeypatch, file, installed=(), python=sys.executable):
    """A launch file as a module; of the packages only `installed` are there, and the nodes run on `python`."""
    monkeypatch.setattr(sys, "path", sys.path[:])
    node, read = Path("/prefix/lib/robot_dynamics_ros/composed_node"), Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda p, *a, **k: f"#!{python}\n" if p == node else read(p, *a, **k))

    def share(package):
        if package not in installed:
            raise PackageNotFoundError(package)

    kinds = {name: type(name, (Action,), {}) for name in ACTIONS}
    modules = {
        "launch": {"LaunchDescription": list},
        "launch.actions": kinds,
        "launch.launch_description_sources": {"PythonLaunchDescriptionSource": Action},
        "launch.substitutions": {"LaunchConfiguration": LaunchConfiguration},
        "launch_ros": {},
        "launch_ros.actions": kinds,
        "ament_index_python": {},
        "ament_index_python.packages": {
            "PackageNotFoundError": PackageNotFoundError,
            "get_package_prefix": lambda package: "/prefix",
            "get_package_share_directory": share,
        },
    }
    for name, content in modules.items():
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    spec = importlib.util.spec_from_file_location("launch_file", LAUNCH / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def context(module, **given):
    """A context with the defaults of the file's arguments, and what is given."""
    values = {name: value for name, value, _ in module.ARGUMENTS} | given
    return SimpleNamespace(values=values, is_shutdown=False)


def processes(actions):
    """Executable -> action of every node, in order."""
    return {a.named["executable"]: a for a in actions if type(a).__name__ == "Node"}
