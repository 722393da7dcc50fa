"""The picture of the live page: nodes, and the topics between them by the table that the nodes publish by."""

from __future__ import annotations

from architecture import FILE, LIVE, OFFLINE, OUTSIDE, Arrow, Box, drawn

from robot_dynamics_ros.topics import INPUT_TOPICS, PREFIX, TOPICS

SIZE = (960, 400)
HIDDEN = ("_std", "vendor_", "_energy", "_power", "efficiency", "_clamped", "model_torque", "feedforward")


def picture() -> str:
    """The graph with a driver of this package; with another one, hardware_node is that driver."""
    estimates = [name for name in TOPICS if name not in INPUT_TOPICS and not any(word in name for word in HIDDEN)]
    boxes: list[Box] = [
        (20, 130, 110, 70, OUTSIDE, ("robot", "UR, Franka,", "Comau, simulated")),
        (190, 120, 130, 90, LIVE, ("hardware_node", "or the driver that", "you already run")),
        (390, 30, 180, 120, OFFLINE, ("measured topics", *INPUT_TOPICS)),
        (390, 175, 180, 90, LIVE, ("estimator_node", "friction, temperature,", "contact force, stiffness")),
        (650, 30, 280, 235, OFFLINE, (f"{PREFIX}/", *estimates, "contact, friction_health (diagnostics)")),
        (390, 320, 180, 55, OFFLINE, (f"{PREFIX}/", "joint_torque_command")),
        (650, 320, 280, 55, OUTSIDE, ("your nodes", "rviz, viewer_node, record, controllers")),
        (20, 320, 300, 55, FILE, ("composed_node", "hardware and estimators in one process: fewest delays")),
    ]
    arrows: list[Arrow] = [
        (((130, 155), (190, 155)), "", (0, 0)),
        (((190, 180), (130, 180)), "", (0, 0)),
        (((320, 145), (355, 145), (355, 90), (390, 90)), "", (0, 0)),
        (((480, 150), (480, 175)), "", (0, 0)),
        (((570, 220), (650, 220)), "", (0, 0)),
        (((790, 265), (790, 320)), "", (0, 0)),
        (((650, 347), (570, 347)), "", (0, 0)),
        (((390, 347), (355, 347), (355, 190), (320, 190)), "through the guard", (300, 265)),
    ]
    return drawn(SIZE, boxes, arrows)
