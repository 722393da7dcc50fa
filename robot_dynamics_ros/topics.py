"""Which topic carries which signals, in which field: nodes publish by this table, bags are read and written by it.

What a driver measures has the names that drivers use (joint_states, motor_states, ...), relative to the namespace. All
else is below a prefix: <namespace>/robot_dynamics/external_wrench.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from robot_dynamics_ros.errors import ConfigError

JOINT_STATE = "sensor_msgs/msg/JointState"
TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
WRENCH = "geometry_msgs/msg/WrenchStamped"
TEMPERATURE = "sensor_msgs/msg/Temperature"
INERTIA = "geometry_msgs/msg/InertiaStamped"
BOOL = "std_msgs/msg/Bool"
ARRAY = "std_msgs/msg/Float64MultiArray"  # without a stamp; the label of its one dimension names the entries
PREFIX = "robot_dynamics"  # default name above the topics of estimates and commands
MAIN = "joint_states"  # the topic whose stamp makes a sample; the others complete it
PAYLOAD = "payload"  # from whoever picks up and puts down, at every change


class Topic(NamedTuple):
    """One topic (relative name), its type and the signal in each of its fields; `per_joint`: name/<joint>."""

    name: str
    type: str
    fields: dict[str, str]
    per_joint: bool = False


def _effort_only(signal: str) -> Topic:
    return Topic(signal, JOINT_STATE, {"effort": signal})


def _array(signal: str) -> Topic:
    return Topic(signal, ARRAY, {"data": signal})


TOPICS: dict[str, Topic] = {
    t.name: t
    for t in (
        Topic(MAIN, JOINT_STATE, {"position": "q", "velocity": "qd", "effort": "effort"}),
        Topic("motor_states", JOINT_STATE, {"position": "theta", "velocity": "omega", "effort": "motor_torque"}),
        Topic("motor_currents", JOINT_STATE, {"effort": "current"}),
        Topic("joint_temperatures", TEMPERATURE, {"temperature": "temperature"}, per_joint=True),
        Topic(PAYLOAD, INERTIA, {"inertia": "payload"}),
        Topic(
            "desired_state",
            TRAJECTORY,
            {"positions": "q_d", "velocities": "qd_d", "accelerations": "qdd_d", "effort": "tau_d"},
        ),
        Topic(
            "estimated_temperatures",
            TEMPERATURE,
            {"temperature": "temperature_estimate", "variance": "temperature_variance"},
            per_joint=True,
        ),
        _effort_only("vendor_external_joint_torque"),
        Topic("vendor_external_wrench", WRENCH, {"wrench": "vendor_external_wrench"}),
        _effort_only("friction_torque"),
        _effort_only("friction_std"),
        _effort_only("model_torque"),
        _effort_only("external_joint_torque"),
        _effort_only("external_joint_torque_std"),
        _effort_only("feedforward_torque"),
        _effort_only("stiffness"),  # Nm/rad in the effort field; absent where no real deflection is measured
        _effort_only("stiffness_std"),
        Topic("external_wrench", WRENCH, {"wrench": "framed_wrench"}),
        Topic("external_wrench_std", WRENCH, {"wrench": "framed_wrench_std"}),
        Topic("external_wrench_base", WRENCH, {"wrench": "external_wrench"}),
        Topic("external_wrench_base_std", WRENCH, {"wrench": "external_wrench_std"}),
        Topic("joint_contact", JOINT_STATE, {"effort": "contact"}),
        _effort_only("contact_load"),
        _array("mechanical_power"),
        _array("electrical_power"),
        _array("mechanical_energy"),
        _array("electrical_energy"),
        _array("electrical_energy_clamped"),
        _array("efficiency"),
    )
}
FRAMED = ("external_wrench", "external_wrench_std")  # in the frame of `frame_id`; all others in the base frame
INPUT_TOPICS = (MAIN, "motor_states", "motor_currents", "joint_temperatures", PAYLOAD, "desired_state")
DRIVER_TOPICS = {  # besides joint_states: topic -> the capability of a driver that fills it
    "motor_states": "rotor",
    "motor_currents": "current",
    "joint_temperatures": "temperature",
    "desired_state": "desired_state",
    "vendor_external_joint_torque": "vendor_force",
    "vendor_external_wrench": "vendor_force",
}


def check_prefix(prefix: str) -> str:
    """The prefix itself. Raises ConfigError where ROS does not take it as the beginning of a relative topic name."""
    if not re.fullmatch(r"~|[A-Za-z][A-Za-z0-9_]*(/[A-Za-z][A-Za-z0-9_]*)*", prefix):
        raise ConfigError("prefix", "", f"{prefix!r} is neither ~ nor words of letters, digits and _ joined by /")
    return prefix


def node_name(name: str, prefix: str) -> str:
    """Name of one of our nodes: a prefix of your own begins it."""
    return name if prefix in (PREFIX, "~") else f"{prefix.replace('/', '_')}_{name}"


def of_joint(name: str, joint: str) -> str:
    """Name of a joint's own topic below `name`: what ROS does not allow in a name becomes an underscore."""
    return f"{name}/{re.sub('[^A-Za-z0-9_]', '_', joint)}"


def below(prefix: str, name: str) -> str:
    """Name of a topic relative to the namespace: measured topics as they are, all others below the prefix."""
    return name if name.split("/")[0] in INPUT_TOPICS else f"{prefix}/{name}"
