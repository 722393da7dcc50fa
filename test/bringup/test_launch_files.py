"""Launch files executed by a double of launch: what is asked for is checked first, and a part that fails ends all."""

import re
import sys
from pathlib import Path
from runpy import run_path
from types import ModuleType, SimpleNamespace

import pytest

from robot_dynamics_ros.bringup import describe
from robot_dynamics_ros.robot_file import load_robot, save_robot

EVERYTHING = ("rviz2", "robot_state_publisher")
LAUNCH = Path(__file__).resolve().parents[2] / "launch"


# ---- what the files use of launch and launch_ros: actions keep their arguments, nothing is started


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


ACTIONS = "DeclareLaunchArgument ExecuteProcess LogInfo Node OpaqueFunction SetEnvironmentVariable".split()
ACTIONS += ["SetLaunchConfiguration", "SetParameter", "Shutdown"]


def load(monkeypatch, file, installed=(), python=sys.executable):
    """A launch file as a module; of the packages only `installed` are there, and the nodes run on `python`."""
    monkeypatch.setattr(sys, "path", sys.path[:])
    node, read = Path("/prefix/lib/robot_dynamics_ros/composed_node"), Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda p, *a, **k: f"#!{python}\n" if p == node else read(p, *a, **k))

    def share(package):
        if package not in installed:
            raise PackageNotFoundError(package)

    kinds = {name: type(name, (Action,), {}) for name in ACTIONS}
    packages = {"get_package_prefix": lambda package: "/prefix", "get_package_share_directory": share}
    modules = {"launch": {"LaunchDescription": list}, "launch_ros": {}, "ament_index_python": {}}
    modules |= {"launch.actions": kinds, "launch_ros.actions": kinds}
    modules["launch.substitutions"] = {"LaunchConfiguration": LaunchConfiguration}
    modules["ament_index_python.packages"] = {"PackageNotFoundError": PackageNotFoundError} | packages
    for name, content in modules.items():
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    return SimpleNamespace(**run_path(str(LAUNCH / file)))


def context(module, **given):
    """A context with the defaults of the file's arguments, and what is given."""
    values = {name: value for name, value, _ in module.ARGUMENTS} | given
    return SimpleNamespace(values=values, launch_configurations=values, is_shutdown=False)


def processes(actions):
    """Executable -> action of every node, in order."""
    return {a.named["executable"]: a for a in actions if type(a).__name__ == "Node"}


# ---- the files


def test_the_described_nodes_are_started(monkeypatch):
    module = load(monkeypatch, "robot.launch.py", EVERYTHING)
    for composed in ("true", "False"):
        described = describe("ur5e", composed=composed == "true").nodes
        started = module.nodes(context(module, composed=composed))
        assert [a.named["name"] for a in started if "executable" in a.named] == [n.name for n in described]


def test_parameters_have_the_order_of_up(monkeypatch, tmp_path):
    """A file's effort_semantics: robot_file was taken, and then overridden by what driver:=none sets."""
    file = tmp_path / "p.yaml"
    file.write_text("composed_node:\n  ros__parameters:\n    effort_semantics: robot_file\n")
    module = load(monkeypatch, "robot.launch.py")
    (node,) = module.nodes(context(module, driver="none", params_file=str(file)))[-1:]
    graph = describe("ur5e", "none", params_file=str(file))
    words = ["--ros-args", *graph.arguments(graph.nodes[0])[3:]]
    assert node.named["arguments"] == words and "parameters" not in node.named


def test_ros2_imports_what_only_the_environment_of_the_nodes_has(monkeypatch, tmp_path):
    """`ros2` runs on the system's Python, whose packages come after those that the nodes use."""
    packages = tmp_path / "lib" / "python{}.{}".format(*sys.version_info) / "site-packages"
    (packages / "elsewhere").mkdir(parents=True)
    (packages / "some.pth").write_text("elsewhere\n")
    known = sys.path[:]
    load(monkeypatch, "robot.launch.py", python=tmp_path / "bin" / "python3")
    assert sys.path == [str(packages), str(packages / "elsewhere"), *known]


CHECKED = [("auto", EVERYTHING, [*EVERYTHING[::-1]]), ("none", ("rviz2",), ["rviz2"])]  # "none": a driver describes it
CHECKED += [("auto", ("rviz2",), "robot_state_publisher"), ("auto", ("robot_state_publisher",), "rviz2")]


@pytest.mark.parametrize(("driver", "installed", "shown"), CHECKED)
def test_what_rviz_needs_is_checked_before_anything_starts(monkeypatch, driver, installed, shown):
    module = load(monkeypatch, "robot.launch.py", installed)
    if isinstance(shown, list):
        started = processes(module.nodes(context(module, rviz="True", driver=driver)))
        assert list(started) == ["composed_node", *shown]
    else:
        with pytest.raises(RuntimeError, match=f"needs {shown}: apt install"):
            module.nodes(context(module, rviz="true", driver=driver))


@pytest.mark.parametrize(("robot", "driver", "publish"), [("ur5e", "auto", 1), ("own", "auto", 0), ("ur5e", "none", 0)])
def test_rviz_draws_one_description_and_hears_the_nodes_below_any_prefix(monkeypatch, tmp_path, robot, driver, publish):
    """Of two latched descriptions on one topic, that of our nodes came last: without pictures of the links. An arm of
    no vendor of ours has its driver's; its tree was published twice.
    """
    own = load_robot("ur5e").with_updates({"manufacturer": "Own"})
    save_robot(own, tmp_path / "own.yaml", command="test")
    module = load(monkeypatch, "robot.launch.py", EVERYTHING)
    named = {"own": str(tmp_path / "own.yaml")}.get(robot, robot)
    started = processes(module.nodes(context(module, robot=named, driver=driver, rviz="true", prefix="~")))
    heard = dict(started["rviz2"].named["remappings"])
    assert heard["robot_dynamics/contact_markers"] == "composed_node/contact_markers"
    assert ("robot_state_publisher" in started) == publish
    assert heard.get("robot_description", "robot_description") == (
        "drawn_description" if publish else "robot_description"
    )
    if publish:
        assert ("robot_description", "drawn_description") in started["robot_state_publisher"].named["remappings"]


@pytest.mark.parametrize(("name", "value"), [("rviz", "yes please"), ("composed", "2"), ("robot", "ur55")])
def test_a_wrong_value_is_named(monkeypatch, name, value):
    module = load(monkeypatch, "robot.launch.py")
    with pytest.raises(RuntimeError, match=value):
        module.nodes(context(module, **{name: value}))


def test_a_misspelt_argument_is_named_and_one_of_another_file_is_not(monkeypatch):
    module = load(monkeypatch, "robot.launch.py")
    actions = module.nodes(context(module, robt="ur3e", cell="7", bag="b"))
    (note,) = (a.named["msg"] for a in actions if type(a).__name__ == "LogInfo")
    assert note == "robt:= is no argument of robot.launch.py: robot:= is"


def test_a_part_that_fails_ends_all_with_an_error_and_a_closed_rviz_does_not(monkeypatch):
    module = load(monkeypatch, "robot.launch.py", EVERYTHING)
    running = context(module, rviz="true")
    for name, action in processes(module.nodes(running)).items():
        ended = action.named["on_exit"]
        with pytest.raises(RuntimeError, match=f"{name} failed .exit status 1"):
            ended(SimpleNamespace(returncode=1), running)
        assert len(ended(SimpleNamespace(returncode=0), running)) == (name != "rviz2")
        ended(SimpleNamespace(returncode=-2), SimpleNamespace(is_shutdown=True))  # Ctrl-C is no failure


def test_a_replay_is_checked_first_and_ends_with_its_player(monkeypatch, tmp_path):
    module = load(monkeypatch, "replay.launch.py")
    with pytest.raises(RuntimeError, match="does not exist"):
        module.check(context(module, bag=str(tmp_path / "none")))
    with pytest.raises(RuntimeError, match="ros2bag"):
        module.check(context(module, bag=str(tmp_path)))
    module = load(monkeypatch, "replay.launch.py", ("ros2bag",))
    running = context(module, bag=str(tmp_path))
    module.check(running)
    actions = module.generate_launch_description()[len(module.ARGUMENTS) :]
    kinds = [type(action).__name__ for action in actions]
    assert kinds[3:] == ["OpaqueFunction", "SetParameter", "OpaqueFunction", "ExecuteProcess"]
    running.values.update(action.given for action in actions[:3])
    ((name, started),) = processes(actions[5].named["function"](running)).items()
    assert name == "composed_node" and "use_sim_time:=true" in started.named["arguments"]
    ended = module.generate_launch_description()[-1].named["on_exit"]
    assert [type(a).__name__ for a in ended(SimpleNamespace(returncode=0), running)] == ["Shutdown"]
    with pytest.raises(RuntimeError, match="bag play failed"):
        ended(SimpleNamespace(returncode=2), running)


def test_a_replay_shows_no_argument_that_has_no_effect(monkeypatch):
    """`--show-args` lists what a file and those that it includes declare."""
    described = load(monkeypatch, "replay.launch.py").generate_launch_description()
    assert not [a for a in described if type(a).__name__ == "IncludeLaunchDescription"]
    shown = [a.given[0] for a in described if type(a).__name__ == "DeclareLaunchArgument"]
    assert len(shown) == len(set(shown)) and {"bag", "rate", "robot", "joint_states", "view", "tf_prefix"} <= set(shown)
    assert not {"driver", "ip", "use_sim_time"} & set(shown)


@pytest.mark.parametrize(("prefix", "name"), [("robot_dynamics", "robot_dynamics"), ("~", "composed_node")])
def test_recorded_estimates_are_not_played_beside_the_new_ones(monkeypatch, tmp_path, prefix, name):
    module = load(monkeypatch, "replay.launch.py", ("ros2bag",))
    running = context(module, bag=str(tmp_path), prefix=prefix)
    running.values.update(action.given for action in module.check(running))
    (*_, option, parts) = module.generate_launch_description()[-1].named["cmd"]
    pattern = "".join(part if isinstance(part, str) else part.perform(running) for part in parts)
    made_anew = (f"/{name}/contact", f"/left/{name}/contact", "/diagnostics")
    assert option == "--exclude-regex" and all(re.fullmatch(pattern, name) for name in made_anew)
    assert not any(re.fullmatch(pattern, name) for name in ("/joint_states", "/left/joint_states"))
