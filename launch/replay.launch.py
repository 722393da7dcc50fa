"""A bag played through the live nodes: `ros2 bag play --clock` and the graph of robot.launch.py without a driver."""

from pathlib import Path
from runpy import run_path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction, SetLaunchConfiguration, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import SetParameter

from launch import LaunchDescription

ROBOT = run_path(str(Path(__file__).with_name("robot.launch.py")))
SET = {"driver": "none", "ip": "", "use_sim_time": "true"}  # of its arguments, for any bag
ARGUMENTS = (
    ("bag", None, "bag directory with sensor_msgs/JointState"),
    ("rate", "1.0", "playing speed"),
    *(argument for argument in ROBOT["ARGUMENTS"] if argument[0] not in SET),
)


def check(context):
    bag = LaunchConfiguration("bag").perform(context)
    if not Path(bag).exists():
        raise RuntimeError(f"bag:={bag} does not exist")
    try:
        get_package_share_directory("ros2bag")
    except PackageNotFoundError:
        raise RuntimeError("replay.launch.py needs ros2bag: apt install ros-$ROS_DISTRO-ros2bag") from None
    return [
        SetLaunchConfiguration(
            "estimated", LaunchConfiguration("prefix").perform(context).replace("~", "composed_node")
        )
    ]


def played(event, context):
    """The end of the bag ends all; launch has status 1 after an exception."""
    if event.returncode and not context.is_shutdown:
        raise RuntimeError(f"ros2 bag play failed (exit status {event.returncode}): everything is stopped")
    return [Shutdown(reason="the bag has been played")]


def generate_launch_description():
    declared = [DeclareLaunchArgument(name, default_value=value, description=text) for name, value, text in ARGUMENTS]
    known = [SetLaunchConfiguration(name, value) for name, value in SET.items()]
    recorded = [".*/(", LaunchConfiguration("estimated"), "/.*|diagnostics)"]  # are estimated and judged anew
    play = ExecuteProcess(
        cmd=["ros2", "bag", "play", LaunchConfiguration("bag"), "--clock", "--delay", "2",
             "--rate", LaunchConfiguration("rate"), "--exclude-regex", recorded],
        output="screen",
        on_exit=played,
    )  # fmt: skip
    graph = OpaqueFunction(function=ROBOT["nodes"])
    ageless = SetParameter("max_age", 0.0)  # /clock starts again after the delay
    return LaunchDescription([*declared, *known, OpaqueFunction(function=check), ageless, graph, play])
