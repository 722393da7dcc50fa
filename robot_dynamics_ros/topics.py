"""Which topic carries which signals, in which field: nodes publish by this table, bags are read and written by it."""

from __future__ import annotations

from typing import NamedTuple

JOINT_STATE = "sensor_msgs/msg/JointState"
TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
WRENCH = "geometry_msgs/msg/WrenchStamped"
TEMPERATURE = "sensor_msgs/msg/Temperature"
MAIN = "joint_states"  # the topic whose stamp makes a sample; the others complete it


class Topic(NamedTuple):
    """One topic (relative name), its type and the signal in each of its fields; `per_joint`: name/<joint>."""

    name: str
    type: str
    fields: dict[str, str]
    per_joint: bool = False


def _effort_only(signal: str) -> Topic:
    return Topic(signal, JOINT_STATE, {"effort": signal})


TOPICS: dict[str, Topic] = {
    t.name: t
    for t in (
        Topic(MAIN, JOINT_STATE, {"position": "q", "velocity": "qd", "effort": "effort"}),
        Topic("motor_states", JOINT_STATE, {"position": "theta", "velocity": "omega", "effort": "motor_torque"}),
        Topic("motor_currents", JOINT_STATE, {"effort": "current"}),
        Topic("joint_temperatures", TEMPERATURE, {"temperature": "temperature"}, per_joint=True),
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
        _effort_only("contact"),
        _effort_only("contact_load"),
        Topic("power", JOINT_STATE, {"velocity": "mechanical_power", "effort": "electrical_power"}),
        Topic("energy", JOINT_STATE, {"velocity": "mechanical_energy", "effort": "electrical_energy"}),
        _effort_only("electrical_energy_clamped"),
        _effort_only("efficiency"),
    )
}
FRAMED = ("external_wrench", "external_wrench_std")  # in the frame of `frame_id`; all others in the base frame
INPUT_TOPICS = (MAIN, "motor_states", "motor_currents", "joint_temperatures", "desired_state")
DRIVER_TOPICS = {  # besides joint_states: topic -> the capability of a driver that fills it
    "motor_states": "rotor",
    "motor_currents": "current",
    "joint_temperatures": "temperature",
    "desired_state": "desired_state",
    "vendor_external_joint_torque": "vendor_force",
    "vendor_external_wrench": "vendor_force",
}
