"""Parameters of the nodes: nodes declare them in ROS, bringup and the documentation read them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from robot_dynamics_ros.control.torque import CONTROL
from robot_dynamics_ros.drivers.factory import DRIVERS
from robot_dynamics_ros.estimators.external_force import FRAME_ID
from robot_dynamics_ros.parameters import Parameter
from robot_dynamics_ros.topics import PREFIX

fixed = partial(Parameter, read_only=True)

COMMON = (
    fixed("robot", "ur5e", "name of a shipped robot, or path of a robot file"),
    fixed("autostart", True, "configure and activate at start; false: wait for a lifecycle manager"),
    FRAME_ID,
    fixed("tf_prefix", "", "prefix of frame names"),
)
NAMES = (
    fixed(
        "prefix", PREFIX, "name above the topics of estimates and commands; ~: the node's own name (one node per robot)"
    ),
)

DRIVER = (
    fixed(
        "driver",
        "ur",
        "driver of the robot; none: subscribe to the topics of an existing driver",
        choices=(*DRIVERS, "none"),
    ),
    fixed("ip", "127.0.0.1", "address of the controller"),
    fixed(
        "port",
        0,
        "port of the controller's state interface (ur, comau), 0: the default of the vendor",
        low=0,
        high=65535,
    ),
    fixed(
        "effort_source",
        "current",
        "source of effort: K_tau i (current), or the controller's torque (ur)",
        choices=("current", "controller"),
    ),
    fixed("arm", 1, "number of the arm at its controller (comau)", low=1, high=4),
    fixed("enable_commands", False, "allow positions to be sent; false: only receive (comau)"),
    fixed("follow_host_clock", True, "map controller time to the host clock; false: keep its differences exactly"),
    fixed(
        "realtime_priority", 0, "SCHED_FIFO priority of the receiving thread where permitted, 0: none", low=0, high=99
    ),
    fixed("degraded_gap", 0.020, "gap after which the stream is degraded", "s", 0.002, 1.0),
    fixed("safe_gap", 0.040, "gap after which the stream is unsafe", "s", 0.002, 1.0),
    fixed(
        "frozen_repeats",
        10,
        "exact repeats of the measured values in motion after which the stream is unsafe",
        low=1,
        high=1000,
    ),
)
# options of every driver; those of one driver stand in drivers.factory.DRIVERS
STREAM_OPTIONS = ("follow_host_clock", "realtime_priority", "degraded_gap", "safe_gap", "frozen_repeats")

TORQUE = (
    fixed("torque", False, "offer torque mode (ur from PolyScope 5.26, franka)"),
    fixed("adaptation_file", "", "file that keeps adapted friction over restarts, empty: none"),
    Parameter("waypoints", "", "YAML file of the waypoints that enable_tracking follows in a loop"),
    Parameter("tracking_speed", 0.5, "joint speed between waypoints", "rad/s", 0.01, 3.0),
    *(replace(p, name=f"control.{p.name}") for p in CONTROL),
)

SETTINGS = (
    Parameter(
        "load_mass",
        -1.0,
        "mass on the flange that is set on the robot, -1: leave the robot's setting (ur, franka)",
        "kg",
        -1.0,
        50.0,
    ),
    Parameter("load_com_x", 0.0, "centre of the load in the flange frame, x", "m", -1.0, 1.0),
    Parameter("load_com_y", 0.0, "centre of the load, y", "m", -1.0, 1.0),
    Parameter("load_com_z", 0.0, "centre of the load, z", "m", -1.0, 1.0),
    *(
        Parameter(f"load_inertia_{axes}", 0.0, f"inertia of the load about its centre, {axes}", "kg m2", -10.0, 10.0)
        for axes in ("xx", "xy", "xz", "yy", "yz", "zz")
    ),
    Parameter(
        "collision_torque",
        0.0,
        "joint torque at which the robot stops, as share of the joint's limit; 0: leave the robot's setting (franka)",
        "",
        0.0,
        1.0,
    ),
    Parameter(
        "collision_force",
        0.0,
        "force at the tool at which the robot stops; 0: leave the robot's setting (franka)",
        "N",
        0.0,
        500.0,
    ),
    Parameter(
        "collision_moment",
        0.0,
        "moment at the tool at which the robot stops; 0: leave the robot's setting (franka)",
        "Nm",
        0.0,
        100.0,
    ),
)

LEARNING = (
    fixed("learn_state", "", "directory of `learn` for this robot; empty: do not learn"),
    fixed("learn_minutes", 10.0, "length of a recording that is learned", "min", 0.5, 120.0),
)

MOTION = (
    fixed(
        "command_source",
        "",
        "full name (/ns/node) or enclave of the only node that may enable torque or motion; empty: any",
    ),
    Parameter("approach_speed", 0.5, "speed of the move to the first point of a trajectory", "rad/s", 0.01, 3.0),
    Parameter(
        "max_start_distance", 3.2, "largest distance of any joint to the first point of a trajectory", "rad", 0.0, 13.0
    ),
)

INPUT = (
    fixed("stages", "all", "stages to run, separated by commas; all, or none"),
    fixed(
        "stamps",
        "header",
        "stamp of a sample: the header of the message, or its time of arrival",
        choices=("header", "receive"),
    ),
    Parameter("max_age", 0.5, "largest age, or time in the future, of a message, 0: no limit", "s", 0.0, 3600.0),
    fixed(
        "effort_semantics",
        "robot_file",
        "meaning of effort: as the robot file declares, or recognised at rest",
        choices=("robot_file", "recognise"),
    ),
)

DESCRIPTION = (fixed("publish_description", True, "publish the robot as URDF on robot_description, latched"),)
NO_DESCRIPTION = (replace(DESCRIPTION[0], default=False),)

MARKERS = (
    Parameter("marker_scale", 0.01, "length of the contact arrow per force", "m/N", 1e-4, 1.0),
    Parameter("marker_rate", 30.0, "markers per second, 0: none", "Hz", 0.0, 500.0),
    Parameter("temperature_rate", 10.0, "temperature messages per second and joint", "Hz", 0.1, 500.0),
)

METRICS = (
    fixed(
        "metrics_port",
        0,
        "port of force, contact, temperature and health as OpenMetrics for Prometheus, on 127.0.0.1; 0: none",
        low=0,
        high=65535,
    ),
)

VIEWER = (
    fixed("rate", 30.0, "pictures per second", "Hz", 1.0, 120.0),
    fixed("file", "", "also write this .rrd file, which must not exist; empty: none"),
    fixed("web", True, "serve the web viewer, on 127.0.0.1 only"),
    fixed("web_port", 0, "port of the web page, 0: a free one", low=0, high=65535),
    fixed("data_port", 0, "port of the viewer's data, 0: a free one", low=0, high=65535),
)

# node -> its tables; stages add theirs as <stage>.<parameter>
ROBOT = COMMON + NAMES + METRICS
NODES: dict[str, tuple[Parameter, ...]] = {
    "hardware_node": ROBOT + DESCRIPTION + DRIVER + SETTINGS + TORQUE + MOTION + MARKERS[2:],
    "estimator_node": ROBOT + NO_DESCRIPTION + INPUT + MARKERS + LEARNING,
    "viewer_node": COMMON[:2] + NAMES + VIEWER,
    "composed_node": ROBOT + DESCRIPTION + DRIVER + SETTINGS + TORQUE + MOTION + INPUT + MARKERS + LEARNING,
}
