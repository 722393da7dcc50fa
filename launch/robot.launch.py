"""The live graph for a robot; the nodes and their parameters come from robot_dynamics_ros.bringup, as in `up`."""

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction, SetEnvironmentVariable, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription
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
    ("joint_states", "joint_states", "topic of an existing driver"),
)
SHOWN = ("contact_markers", "external_wrench")  # topics of config/contact_force.rviz below the prefix


def installed(package):
    try:
        get_package_share_directory(package)
    except PackageNotFoundError:
        return False
    return True


def nodes(context):
    given = {name: LaunchConfiguration(name).perform(context) for name, _, _ in ARGUMENTS}
    rviz = given.pop("rviz") == "true"
    for flag in ("composed", "use_sim_time", "view"):
        given[flag] = given[flag] == "true"
    try:
        graph = describe(**given)
    except RobotDynamicsError as error:
        raise RuntimeError(str(error)) from None  # launch prints it and fails; a Shutdown would say nothing
    actions = [SetEnvironmentVariable(name, value) for name, value in graph.environment.items()]
    actions += [LogInfo(msg=note) for note in graph.notes]
    files = [graph.params_file] if graph.params_file else []
    for node in graph.nodes:
        actions.append(
            Node(
                package="robot_dynamics_ros",
                executable=node.executable,
                name=node.name,
                namespace=graph.namespace,
                parameters=[*files, node.parameters],
                remappings=list(node.remappings),
                output="screen",
                on_exit=Shutdown(reason=f"{node.name} ended"),
            )
        )
    return actions + viewers(given, graph, rviz)


def viewers(given, graph, rviz):
    actions, robot = [], load_robot(given["robot"])
    if rviz and given["driver"] != "none" and installed("robot_state_publisher"):  # an existing driver has its own
        description = {"robot_description": urdf_text(robot, given["tf_prefix"], drawn=True)}
        actions.append(
            Node(package="robot_state_publisher", executable="robot_state_publisher", namespace=graph.namespace,
                 parameters=[description], remappings=[("joint_states", given["joint_states"])])
        )  # fmt: skip
    if rviz:
        fixed = given["tf_prefix"] + robot.kinematics.base_frame
        actions.append(
            Node(package="rviz2", executable="rviz2", namespace=graph.namespace,
                 arguments=["-d", str(find_config("contact_force.rviz")), "-f", fixed],
                 remappings=[(f"{PREFIX}/{name}", f"{given['prefix']}/{name}") for name in SHOWN])
        )  # fmt: skip
    return actions


def generate_launch_description():
    declared = [DeclareLaunchArgument(name, default_value=value, description=text) for name, value, text in ARGUMENTS]
    return LaunchDescription([*declared, OpaqueFunction(function=nodes)])
