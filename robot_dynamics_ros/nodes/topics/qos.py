"""Qualities of service that several nodes use."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
