"""Bags in and out: any JointState recording into a Log, our outputs into a rosbag2 (mcap) bag."""

from robot_dynamics_ros.bags.reader import concatenate, load_bag
from robot_dynamics_ros.bags.rows import BagReport, segments
from robot_dynamics_ros.bags.writer import write_bag

__all__ = ["BagReport", "concatenate", "load_bag", "segments", "write_bag"]
