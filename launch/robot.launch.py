"""The live graph for a robot; the nodes and their parameters come from robot_dynamics_ros.bringup, as in `up`."""

import difflib
import site
import sys
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix, get_package_share_directory
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction, SetEnvironmentVariable, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription


def use_environment_of_nodes():
    """`ros2` runs on the system's Python; the nodes on that of colcon, which may have what the system lacks."""
    node = Path(get_package_prefix("robot_dynamics_ros"), "lib", "robot_dynamics_ros", "composed_node")
    python, known = Path(node.read_text().split("\n", 1)[0].removeprefix("#!")), sys.path[:]
    site.addsitedir(str(python.parents[1] / "lib" / "python{}.{}".format(*sys.version_info) / "site-packages"))
    sys.path[:] = [p for p in sys.path if p not in known] + known


use_environment_of_nodes()

from robot_dynamics_ros.bringup import describe, find_config
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.models.urdf_writer import urdf_text
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.topics import PREFIX

ARGUMENTS = (
    ("robot", "ur5e", "name of a shipped robot, or path of a robot file"),
    ("driver", "auto", "auto: as the robot needs; ur, franka, comau; none: observe an existing driver's topics"),
    ("ip", "127.0.0.1", "address of the controller"),
    ("namespace", "", "namespace of all nodes"),
    ("composed", "true", "true: one process; false: one per node"),
    ("rviz", "false", "true: open rviz with the contact force"),
    ("view", "false", "true: serve the viewer to a browser on this machine"),
    ("view_file", "", "also write what the viewer shows as an .rrd file"),
    ("params_file", "", "ROS parameter file for the nodes"),
    ("use_sim_time", "false", "true: time from /clock"),
    ("tf_prefix", "", "prefix of frame names"),
    ("prefix", "robot_dynamics", "name above the topics of estimates and commands, and of nodes"),
    ("joint_states", "joint_states", "topic of an existing driver, or in a bag"),
)
SHOWN = ("contact_markers", "external_wrench")  # topics of config/contact_force.rviz below the prefix


FLAGS = {"true": True, "1": True, "false": False, "0": False, "": False}


def required(*packages):
    """Raise RuntimeError for a package that is not installed, before any node starts."""
    for package in packages:
        try:
            get_package_share_directory(package)
        except PackageNotFoundError:
            apt = "ros-$ROS_DISTRO-" + package.replace("_", "-")
            raise RuntimeError(f"rviz:=true needs {package}: apt install {apt}, or leave rviz out") from None


def flag(given, name):
    value = given.pop(name).lower()
    if value not in FLAGS:
        raise RuntimeError(f"{name}:={value} is neither true nor false")
    return FLAGS[value]


def misspelt(names):
    """Notes on names that are nearly an argument: launch itself takes any."""
    ours = [name for name, _, _ in ARGUMENTS]
    near = {name: difflib.get_close_matches(name, ours, 1, 0.8) for name in names if name not in ours}
    return [f"{name}:= is no argument of robot.launch.py: {close[0]}:= is" for name, close in near.items() if close]


def ending(name, needed=True):
    """on_exit of a process: a failure ends all with status 1 (launch does so for an exception), `needed` with 0."""

    def ended(event, context):
        if event.returncode and not context.is_shutdown:
            raise RuntimeError(f"{name} failed (exit status {event.returncode}): everything is stopped")
        return [Shutdown(reason=f"{name} ended")] if needed else []

    return ended


def nodes(context):
    given = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    rviz = flag(given, "rviz")
    given |= {name: flag(given, name) for name in ("composed", "use_sim_time", "view")}
    try:
        graph = describe(**given)
    except RobotDynamicsError as error:
        raise RuntimeError(str(error)) from None  # launch prints it and fails; a Shutdown would say nothing
    shown = viewers(given, graph) if rviz else []
    actions = [SetEnvironmentVariable(name, value) for name, value in graph.environment.items()]
    actions += [LogInfo(msg=note) for note in (*graph.notes, *misspelt(context.launch_configurations))]
    for node in graph.nodes:
        actions.append(
            Node(
                package="robot_dynamics_ros",
                executable=node.executable,
                name=node.name,
                namespace=graph.namespace,
                arguments=["--ros-args", *graph.values(node)],
                remappings=list(node.remappings),
                output="screen",
                on_exit=ending(node.name),
            )
        )
    return actions + shown


def viewers(given, graph):
    """rviz, and without an existing driver, which describes its robot itself, robot_state_publisher."""
    publish = any(node.parameters.get("driver", "none") != "none" for node in graph.nodes)
    required("rviz2", *["robot_state_publisher"] * publish)
    robot = load_robot(given["robot"])
    fixed = given["tf_prefix"] + robot.kinematics.base_frame
    prefix = given["prefix"].replace("~", "composed_node")
    drawn = [("robot_description", "drawn_description")] * publish  # beside that of our nodes, which has no pictures
    rviz = Node(
        package="rviz2", executable="rviz2", namespace=graph.namespace, on_exit=ending("rviz2", needed=False),
        arguments=["-d", str(find_config("contact_force.rviz")), "-f", fixed],
        remappings=[*((f"{PREFIX}/{name}", f"{prefix}/{name}") for name in SHOWN), *drawn],
    )  # fmt: skip
    if not publish:
        return [rviz]
    description = {"robot_description": urdf_text(robot, given["tf_prefix"], drawn=True)}
    publisher = Node(
        package="robot_state_publisher", executable="robot_state_publisher", namespace=graph.namespace,
        parameters=[description], remappings=[("joint_states", given["joint_states"]), *drawn],
        on_exit=ending("robot_state_publisher"),
    )  # fmt: skip
    return [publisher, rviz]


def generate_launch_description():
    declared = [DeclareLaunchArgument(name, default_value=value, description=text) for name, value, text in ARGUMENTS]
    return LaunchDescription([*declared, OpaqueFunction(function=nodes)])
