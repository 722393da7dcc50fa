"""The external force as an arrow at the TCP for rviz: length by force, colour by contact, with its uncertainty."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from robot_dynamics_ros.nodes.topics.encoding import to_time
from robot_dynamics_ros.signals import Sample

CONTACT, FREE = ColorRGBA(r=0.9, g=0.2, b=0.1, a=1.0), ColorRGBA(r=0.2, g=0.5, b=0.9, a=0.6)
CLOUD = ColorRGBA(r=0.9, g=0.6, b=0.2, a=0.25)
SHAFT = 0.015  # m
LONGEST = 2.0  # m


def contact_arrow(sample: Sample, position: np.ndarray, frame_id: str, scale: float) -> MarkerArray | None:
    """Arrow ending at the TCP `position` (3,) [m], `scale` [m/N] long per newton; None without an estimate.

    frame_id: the base frame; position and force are in its axes.
    """
    force = sample.external_wrench[:3]
    if not np.isfinite(force).all() or not np.isfinite(position).all():
        return None
    arrow = force * scale
    length = float(np.linalg.norm(arrow))
    if length > LONGEST:
        arrow = arrow * (LONGEST / length)
    tail = position - arrow
    marker = Marker(ns="contact", id=0, type=Marker.ARROW, action=Marker.ADD)
    marker.header.frame_id, marker.header.stamp = frame_id, to_time(sample.stamp_ns)
    marker.points = [Point(x=p[0], y=p[1], z=p[2]) for p in (tail.tolist(), position.tolist())]
    marker.scale.x, marker.scale.y, marker.scale.z = SHAFT, 2 * SHAFT, 3 * SHAFT
    marker.color = CONTACT if sample.contact[-1] > 0 else FREE
    marker.pose.orientation.w = 1.0
    return MarkerArray(markers=[marker, _uncertainty(marker, sample.external_wrench_std[:3], scale)])


def _uncertainty(arrow: Marker, std: np.ndarray, scale: float) -> Marker:
    """Where the arrow's tail may be: an ellipsoid of two standard deviations, deleted while they are unknown."""
    known = np.isfinite(std).all()
    cloud = Marker(ns="contact", id=1, type=Marker.SPHERE, action=Marker.ADD if known else Marker.DELETE)
    cloud.header, cloud.color = arrow.header, CLOUD
    cloud.pose.position, cloud.pose.orientation.w = arrow.points[0], 1.0
    diameters = np.minimum(4.0 * std * scale, LONGEST) if known else np.zeros(3)
    cloud.scale.x, cloud.scale.y, cloud.scale.z = diameters.tolist()
    return cloud
