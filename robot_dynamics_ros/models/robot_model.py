"""Rigid-body model of a serial arm: the core's functions of a chain, with names of the joints and ways to make it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import _core

Array = np.ndarray

LEVER = 1e-3  # m, up to which no joint shows a force


class RobotModel(_core.RigidBody):
    """Serial chain of 1..16 revolute joints: tau = M(q) qdd + C(q, qd) qd + g(q) [Madsen2020 2.26-2.28, 2.49].

    Every method of the core takes float64 arrays, (n,) for one sample or (N, n) for a batch, and an optional `out` of
    the result's shape. q [rad], qd [rad/s], qdd [rad/s2], torques [Nm]. Rotor inertia and friction are not included.
    Gravity [m/s2, base frame] is given once (`with_gravity`) or per call.

    Raises TypeError for another dtype, ValueError for a wrong shape, NaN or infinity; both name the argument.
    """

    def __init__(self, chain: _core.Chain, joint_names: Sequence[str] | None = None) -> None:
        super().__init__(chain)
        names = tuple(joint_names or (f"joint_{i + 1}" for i in range(chain.n_joints)))
        if len(names) != chain.n_joints:
            raise ValueError(f"joint_names has {len(names)} names, expected {chain.n_joints}")
        self.joint_names = names
        self.n_joints: int = chain.n_joints
        self.inertial_parameters: Array = chain.inertial_parameters
        self.inertial_parameters.setflags(write=False)

    @classmethod
    def load(cls, name_or_path: str | Path) -> RobotModel:
        """Model of a shipped robot ('ur5e'), a robot file, or a URDF (by its suffix)."""
        if str(name_or_path).endswith((".urdf", ".xml")):
            return cls.from_urdf(name_or_path)
        from robot_dynamics_ros.robot_file import load_robot

        robot = load_robot(name_or_path)
        return cls(robot.chain(), robot.joint_names)

    @classmethod
    def from_urdf(cls, path: str | Path, tip: str | None = None) -> RobotModel:
        """Model of the chain from the root to link `tip` of a URDF; without `tip` the URDF must be one chain.

        Parameters and regressor columns are about the URDF's joint frames, and gravity is -9.81 m/s2 along z, as in
        Pinocchio. Links on fixed joints are lumped, joints off the chain are held at zero; the TCP is `tip`, or the
        last joint's frame. Raises ConfigError naming file and element for anything that is not such a chain.
        """
        from robot_dynamics_ros.models.urdf import read_urdf

        return cls(*read_urdf(Path(path), tip))

    def with_gravity(self, gravity: ArrayLike) -> RobotModel:
        """The same arm mounted otherwise: gravity [m/s2] in its base frame."""
        c = self.chain
        frames = c.frames if c.framed else None
        chain = _core.Chain(c.placements, c.inertia, c.tool, _vector("gravity", gravity, 3), frames)
        return RobotModel(chain, self.joint_names)

    def with_payload(self, mass: float, com: ArrayLike = (0, 0, 0), inertia: ArrayLike = (0,) * 6) -> RobotModel:
        """The same arm with a body on its last link.

        mass [kg], com [m] in the last joint's frame (the flange, not the TCP), inertia XX XY XZ YY YZ ZZ [kg m2] about
        the centre of mass. Raises ValueError naming the argument.
        """
        if not 0 <= float(mass) < np.inf:
            raise ValueError(f"mass = {mass} is not a finite number >= 0")
        com, inertia = _vector("com", com, 3), _vector("inertia", inertia, 6)
        return RobotModel(self.chain.with_payload(float(mass), com.tolist(), inertia.tolist()), self.joint_names)

    def force_axes(self, q: Array) -> list[int]:
        """Base axes along which a force loads some joint at poses q (N, n): of the others an estimate holds what was
        expected. All where there is none.
        """
        lever = np.abs(self.jacobian(q[::100])[:, :3]).max(axis=(0, 2), initial=0.0)
        return np.flatnonzero(lever > LEVER).tolist() or [0, 1, 2]

    def hidden_force(self, q: Array) -> str:
        """Along what a force loads no joint at poses q (N, n): base axes, or a direction of each pose; or ""."""
        J = np.asarray(self.jacobian(q)[:, :3])
        if np.median(np.linalg.eigvalsh(J @ J.transpose(0, 2, 1))[:, 0]) > LEVER**2:
            return ""
        axes = [name for name, lever in zip("xyz", np.abs(J).max(axis=(0, 2)), strict=True) if lever <= LEVER]
        return f"{' and '.join(axes)} of the base" if axes else "a direction that turns with the arm"


def _vector(name: str, value: ArrayLike, size: int) -> Array:
    """`value` as (size,) float64; raises ValueError naming the argument."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} = {value!r} is not {size} numbers") from None
    if array.shape != (size,) or not np.isfinite(array).all():
        raise ValueError(f"{name} = {value!r} is not {size} finite numbers")
    return np.ascontiguousarray(array)
