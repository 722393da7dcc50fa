"""Services and topics of the nodes beside topics.TOPICS, for documentation, access policies and checks of commands."""

from __future__ import annotations

from robot_dynamics_ros.topics import BOOL, INERTIA, JOINT_STATE, PAYLOAD, TOPICS, TRAJECTORY, below

# topics the viewer shows
VIEWED = (
    "joint_states",
    "external_wrench_base",
    "external_wrench_base_std",
    "joint_contact",
    "external_joint_torque",
    "friction_torque",
    "estimated_temperatures",
    "feedforward_torque",
)

TRIGGER = "std_srvs/srv/Trigger"
STRING = "std_msgs/msg/String"
DIAGNOSTICS = "/diagnostics", "diagnostic_msgs/msg/DiagnosticArray"
ACTION = "control_msgs/action/FollowJointTrajectory"
MARKERS = "visualization_msgs/msg/MarkerArray"
# node -> (topic, type, direction, text); estimator topics follow from the stages' signals and topics.TOPICS
SERVICES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "hardware_node": (
        ("~/stop", TRIGGER, "end torque and motion; answers when they have ended, or why not"),
        ("~/rearm", TRIGGER, "clear latched faults of the stream and of the guard"),
        ("~/zero_ft", TRIGGER, "zero the controller's own force-torque sensor"),
        ("~/recover", TRIGGER, "the robot's own error recovery (franka)"),
        ("~/enable_torque", TRIGGER, "enable torques from joint_torque_command; refused with the reason"),
        ("~/enable_tracking", TRIGGER, "follow the waypoints file by computed torque"),
        ("~/enable_guiding", TRIGGER, "enable hand guiding"),
        ("~/disable_torque", TRIGGER, "ramp torque out, at most 100 ms"),
    ),
    "estimator_node": (
        ("~/tare", TRIGGER, "set the present external torque to zero; refused in contact"),
        ("~/accept_payload", TRIGGER, "keep the payload that is recognised, and judge no other"),
        ("~/refuse_payload", TRIGGER, "take no payload off the external torque"),
        ("~/reset_payload", TRIGGER, "forget it, and what was accepted or refused"),
        ("~/reset", TRIGGER, "reset the state of all observers"),
    ),
}
SERVICES["viewer_node"] = ()
SERVICES["composed_node"] = SERVICES["hardware_node"] + SERVICES["estimator_node"]

EXTRA_TOPICS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "hardware_node": (
        (
            "~/joint_trajectory",
            TRAJECTORY,
            "subscribed: as joint_trajectory_controller takes it (stamp zero: now; no points: stop)",
        ),
        ("~/follow_joint_trajectory", ACTION, "action, where control_msgs is installed"),
        (
            "~/play_trajectory",
            TRAJECTORY,
            "subscribed: move to the first point, then stream; a refusal is logged with its reason",
        ),
        (
            "<prefix>/joint_torque_command",
            JOINT_STATE,
            "subscribed, with torque enabled: effort in Nm, stamp of the state it answers; one publisher only",
        ),
        ("~/enable_switch", BOOL, "subscribed: dead-man switch, true keeps torque enabled, false ends it"),
        ("~/motion", STRING, "published, latched: state of the present or last trajectory, with the reason"),
        (PAYLOAD, INERTIA, "published (UR): what the controller's payload has beyond that of the robot file"),
        (*DIAGNOSTICS, "published at 1 Hz"),
    ),
    "estimator_node": (
        (
            PAYLOAD,
            INERTIA,
            "subscribed: mass and centre, in the last link's frame, of what the arm carries beside the payload of the "
            "robot file, at every change",
        ),
        ("<prefix>/contact", BOOL, "published at every change and at 10 Hz: contact at any joint or at the TCP"),
        ("<prefix>/contact_markers", MARKERS, "published: arrow of the external force at the TCP"),
        (*DIAGNOSTICS, "published at 1 Hz"),
    ),
}
EXTRA_TOPICS["viewer_node"] = tuple(
    (below("<prefix>", t) + ("/<joint>" if TOPICS[t].per_joint else ""), TOPICS[t].type, "subscribed") for t in VIEWED
) + ((*DIAGNOSTICS, "subscribed: health, controller and guard state"),)
EXTRA_TOPICS["composed_node"] = EXTRA_TOPICS["hardware_node"][:-1] + EXTRA_TOPICS["estimator_node"]

# who may hold a client or a publisher of these is limited by the parameter command_source
ENABLING_SERVICES = tuple(name for name, _, _ in SERVICES["hardware_node"] if name.startswith("~/enable_")) + tuple(
    f"{name}/_action/send_goal" for name, _, text in EXTRA_TOPICS["hardware_node"] if text.startswith("action")
)
COMMAND_TOPICS = tuple(name for name, _, text in EXTRA_TOPICS["hardware_node"] if text.startswith("subscribed"))
