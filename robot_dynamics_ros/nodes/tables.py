"""Parameters of the nodes, declared once: nodes declare these in ROS, bringup and the documentation read them."""

from __future__ import annotations

from dataclasses import replace

from robot_dynamics_ros.control.torque import CONTROL
from robot_dynamics_ros.parameters import Parameter
from robot_dynamics_ros.topics import TOPICS

COMMON = (
    Parameter("robot", "ur5e", "name of a shipped robot, or path of a robot file", read_only=True),
    Parameter(
        "autostart", True, "configure and activate at start; false: wait for a lifecycle manager", read_only=True
    ),
    Parameter("frame_id", "", "frame of wrenches, empty: the robot file's base frame", read_only=True),
    Parameter("tf_prefix", "", "prefix of frame names", read_only=True),
)

DRIVER = (
    Parameter(
        "driver",
        "ur",
        "who talks to the robot; none: an existing driver's topics",
        choices=("ur", "franka", "comau", "none"),
        read_only=True,
    ),
    Parameter("ip", "127.0.0.1", "address of the controller", read_only=True),
    Parameter(
        "port",
        0,
        "port of the controller's state interface (ur, comau), 0: as usual",
        low=0,
        high=65535,
        read_only=True,
    ),
    Parameter(
        "effort_source",
        "current",
        "what effort is: K_tau i, or the controller's torque (ur)",
        choices=("current", "controller"),
        read_only=True,
    ),
    Parameter("backend", "udp", "way to the LPC (comau)", choices=("udp", "mqtt"), read_only=True),
    Parameter("arm", 1, "number of the arm at its controller (comau)", low=1, high=4, read_only=True),
    Parameter("enable_commands", False, "positions may be sent; false: only listen (comau)", read_only=True),
    Parameter(
        "follow_host_clock",
        True,
        "map controller time to the host clock; false: keep its differences exactly",
        read_only=True,
    ),
    Parameter(
        "realtime_priority",
        0,
        "SCHED_FIFO priority of the receiving thread where permitted, 0: none",
        low=0,
        high=99,
        read_only=True,
    ),
    Parameter("degraded_gap", 0.020, "silence until the stream counts as degraded", "s", 0.002, 1.0, read_only=True),
    Parameter("safe_gap", 0.040, "silence until the stream counts as unsafe", "s", 0.002, 1.0, read_only=True),
    Parameter(
        "frozen_repeats",
        10,
        "exact repeats of the measured values, in motion, until unsafe",
        low=1,
        high=1000,
        read_only=True,
    ),
)
# driver -> parameters that it takes as options of its own; all drivers take STREAM_OPTIONS
DRIVER_OPTIONS: dict[str, tuple[str, ...]] = {
    "ur": ("port", "effort_source", "torque"),
    "franka": ("torque",),
    "comau": ("port", "backend", "arm", "enable_commands", "torque"),
}
STREAM_OPTIONS = ("follow_host_clock", "realtime_priority", "degraded_gap", "safe_gap", "frozen_repeats")

TORQUE = (
    Parameter(
        "torque",
        "none",
        "how torques reach the robot: through our own program, the vendor client, or not at all",
        choices=("none", "script", "client"),
        read_only=True,
    ),
    Parameter("adaptation_file", "", "where learned friction is kept over restarts, empty: nowhere", read_only=True),
    Parameter("waypoints", "", "YAML file of the waypoints that enable_tracking follows for ever"),
    Parameter("tracking_speed", 0.5, "joint speed between them", "rad/s", 0.01, 3.0),
    *(replace(p, name=f"control.{p.name}") for p in CONTROL),
)

SETTINGS = (
    Parameter(
        "load_mass", -1.0, "mass on the flange told to the robot, -1: as it is set (ur, franka)", "kg", -1.0, 50.0
    ),
    Parameter("load_com_x", 0.0, "its centre in the flange frame, x", "m", -1.0, 1.0),
    Parameter("load_com_y", 0.0, "its centre, y", "m", -1.0, 1.0),
    Parameter("load_com_z", 0.0, "its centre, z", "m", -1.0, 1.0),
    Parameter(
        "collision_torque",
        0.0,
        "joint torque at which the robot stops, share of the joint's limit; 0: as it is set (franka)",
        "",
        0.0,
        1.0,
    ),
    Parameter("collision_force", 0.0, "force at the tool at which it stops; 0: as it is set", "N", 0.0, 500.0),
    Parameter("collision_moment", 0.0, "moment at the tool at which it stops; 0: as it is set", "Nm", 0.0, 100.0),
)

MOTION = (
    Parameter("approach_speed", 0.5, "speed of the move to the first point of a trajectory", "rad/s", 0.01, 3.0),
    Parameter("max_start_distance", 3.2, "farthest first point of a trajectory, any joint", "rad", 0.0, 13.0),
)

INPUT = (
    Parameter("stages", "all", "stages to run, separated by commas; all, or none", read_only=True),
    Parameter(
        "stamps",
        "header",
        "time of a message: its header, or when it arrived",
        choices=("header", "receive"),
        read_only=True,
    ),
    Parameter("max_age", 0.5, "older messages are refused, 0: any age", "s", 0.0, 3600.0),
    Parameter(
        "effort_semantics",
        "robot_file",
        "what effort means: as the robot file says, or recognised at rest",
        choices=("robot_file", "recognise"),
        read_only=True,
    ),
)

DESCRIPTION = (
    Parameter("publish_description", True, "publish the robot as URDF on robot_description, latched", read_only=True),
)
NO_DESCRIPTION = (
    Parameter("publish_description", False, "publish the robot as URDF on robot_description, latched", read_only=True),
)

MARKERS = (
    Parameter("marker_scale", 0.01, "length of the contact arrow per force", "m/N", 1e-4, 1.0),
    Parameter("marker_rate", 30.0, "markers per second, 0: none", "Hz", 0.0, 500.0),
    Parameter("temperature_rate", 10.0, "temperature messages per second and joint", "Hz", 0.1, 500.0),
)

VIEWER = (
    Parameter("rate", 30.0, "pictures per second", "Hz", 1.0, 120.0, read_only=True),
    Parameter("file", "", "also write this .rrd file; empty: none", read_only=True),
    Parameter("web", True, "serve the web viewer, on 127.0.0.1 only", read_only=True),
    Parameter("web_port", 0, "port of the web page, 0: a free one", low=0, high=65535, read_only=True),
    Parameter("data_port", 0, "port of its data, 0: a free one", low=0, high=65535, read_only=True),
)
# topics the viewer shows
VIEWED = (
    "joint_states",
    "external_wrench",
    "external_wrench_std",
    "contact",
    "external_joint_torque",
    "friction_torque",
    "estimated_temperatures",
    "feedforward_torque",
)

# node -> its tables; stages add theirs as <stage>.<parameter>
NODES: dict[str, tuple[Parameter, ...]] = {
    "hardware_node": COMMON + DESCRIPTION + DRIVER + SETTINGS + TORQUE + MOTION + MARKERS[2:],
    "estimator_node": COMMON + NO_DESCRIPTION + INPUT + MARKERS,
    "viewer_node": COMMON[:2] + VIEWER,
    "composed_node": COMMON + DESCRIPTION + DRIVER + SETTINGS + TORQUE + MOTION + INPUT + MARKERS,
}

# node -> (topic, type, direction, text); estimator topics follow from the stages' signals and topics.TOPICS
SERVICES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "hardware_node": (
        ("~/stop", "std_srvs/srv/Trigger", "bring the robot to rest, end trajectories"),
        ("~/rearm", "std_srvs/srv/Trigger", "forget latched faults of the stream"),
        ("~/zero_ft", "std_srvs/srv/Trigger", "zero the controller's own force-torque sensor"),
        ("~/recover", "std_srvs/srv/Trigger", "the robot's own error recovery (franka)"),
        ("~/enable_torque", "std_srvs/srv/Trigger", "take torques from joint_torque_command; refused with the reason"),
        ("~/enable_tracking", "std_srvs/srv/Trigger", "follow the waypoints file by computed torque"),
        ("~/enable_guiding", "std_srvs/srv/Trigger", "hand guiding"),
        ("~/disable_torque", "std_srvs/srv/Trigger", "ramp torque out, at most 100 ms"),
    ),
    "estimator_node": (
        ("~/tare", "std_srvs/srv/Trigger", "make the present external torque the new zero; refused in contact"),
        ("~/reset", "std_srvs/srv/Trigger", "forget the state of all observers"),
    ),
}
SERVICES["viewer_node"] = ()
SERVICES["composed_node"] = SERVICES["hardware_node"] + SERVICES["estimator_node"]

EXTRA_TOPICS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "hardware_node": (
        (
            "~/play_trajectory",
            "trajectory_msgs/msg/JointTrajectory",
            "subscribed: move to the first point, then stream; a warning says why one is refused",
        ),
        (
            "joint_torque_command",
            "sensor_msgs/msg/JointState",
            "subscribed, with torque enabled: effort in Nm, stamp of the state it answers; one publisher only",
        ),
        ("~/enable_switch", "std_msgs/msg/Bool", "subscribed: dead-man switch, true refreshes, false ends torque"),
        (
            "~/motion",
            "std_msgs/msg/String",
            "published, latched: state of the present or last trajectory, with the reason",
        ),
        ("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", "published at 1 Hz"),
    ),
    "estimator_node": (
        ("contact_markers", "visualization_msgs/msg/MarkerArray", "published: arrow of the external force at the TCP"),
        ("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", "published at 1 Hz"),
    ),
}
EXTRA_TOPICS["viewer_node"] = tuple(
    (f"{t}/<joint>" if TOPICS[t].per_joint else t, TOPICS[t].type, "subscribed") for t in VIEWED
) + (("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", "subscribed: health, controller and guard state"),)
EXTRA_TOPICS["composed_node"] = EXTRA_TOPICS["hardware_node"][:4] + EXTRA_TOPICS["estimator_node"]
