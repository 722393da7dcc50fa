"""Excitation: motions that make the base parameters of a robot identifiable, inside its limits.

limits.py what must be kept; motion.py Fourier motions; criteria.py, space.py and problem.py criteria
and limits with slopes; search.py and design.py the best Fourier motion; points.py point-to-point tours; check.py that a
motion keeps its limits between samples too; joint_motions.py motions for one property of a joint, plan.py their limits.
"""

from robot_dynamics_ros.identification.excitation.design import Excitation, design_fourier
from robot_dynamics_ros.identification.excitation.limits import Box, Limits
from robot_dynamics_ros.identification.excitation.points import design_points
from robot_dynamics_ros.identification.excitation.problem import Criteria
from robot_dynamics_ros.identification.excitation.search import FourierSearch

__all__ = ["Box", "Criteria", "Excitation", "FourierSearch", "Limits", "design_fourier", "design_points"]
