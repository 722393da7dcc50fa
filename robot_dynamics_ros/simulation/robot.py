"""A simulated robot without sockets: plant plus the controller inside it, one control cycle or a batch at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.simulation.plant.build import load_plant
from robot_dynamics_ros.simulation.plant.interface import ELASTIC

TRUTH = tuple(sorted(k[5:] for k in _core.Plant.output_widths() if k.startswith("true_")))
_ROTOR = ("theta", "omega")


class Record:
    """What the robot's controller reports after one cycle, arrays (n,): the fields of MEASURED, `stamp_ns`, `status`.

    target_moment [Nm] is the model torque of the desired motion without friction, target_current [A] the same over the
    nominal torque constant; joint_torque is the sensor's, meaningful only where the robot has one.
    """

    stamp_ns: int
    status: _core.Status
    q: np.ndarray
    qd: np.ndarray
    q_d: np.ndarray
    qd_d: np.ndarray
    qdd_d: np.ndarray
    theta: np.ndarray
    omega: np.ndarray
    current: np.ndarray
    target_current: np.ndarray
    target_moment: np.ndarray
    effort: np.ndarray
    joint_torque: np.ndarray
    temperature: np.ndarray
    MEASURED = tuple(sorted(k for k in _core.Plant.output_widths() if not k.startswith("true_")))
    __slots__ = (*MEASURED, "stamp_ns", "status")

    def __init__(self, core: Any, stamp_ns: int, status: _core.Status) -> None:
        self.stamp_ns, self.status = stamp_ns, status
        for name in self.MEASURED:
            setattr(self, name, core.get(name))


class SimulatedRobot:
    """A robot of `config/plants`: offline runs faster than real time, and single cycles for servers and closed loops.

    robot: name or RobotFile; seed: noise; overrides, controller_model, plant: see load_plant; q (n,) [rad]:
    where it stands; rate: control cycles per second. Raises ConfigError for unknown robots and parameters, and for a
    rate outside 10..10000 Hz.
    """

    def __init__(
        self,
        robot: str | RobotFile = "ur5e",
        seed: int = 0,
        overrides: Mapping[str, Any] | None = None,
        q: Any = None,
        rate: float | None = None,
        controller_model: RobotFile | None = None,
        plant: str = ELASTIC,
    ) -> None:
        self.machine = load_plant(robot, overrides, seed, controller_model, plant)
        self.robot, self.core = self.machine.robot, self.machine.core
        self.n_joints = self.robot.n_joints
        self.rate = float(self.robot.rate if rate is None else rate)
        if not 10.0 <= self.rate <= 1e4:
            field = "sensing.sample_rate" if rate is None else "rate"
            raise ConfigError(self.robot.name, field, f"{self.rate:g} Hz is outside the simulated 10..10000 Hz")
        self.stamp_ns = 0
        self.reset(np.zeros(self.n_joints) if q is None else q)

    # --- state and surroundings -----------------------------------------------------------------------------------
    def reset(self, q: Any) -> None:
        """Stand still at q (n,) [rad], transmissions wound up against gravity; temperatures and clock are kept."""
        self.core.reset(_vector(q, self.n_joints, "q"))

    def set_temperatures(self, lubricant: Any, housing: Any = None) -> None:
        """Temperatures [deg C], scalar or (n,); housing None: as the lubricant. Pre-conditioning without waiting."""
        lubricant = _vector(lubricant, self.n_joints, "lubricant")
        self.core.set_temperatures(
            lubricant, lubricant if housing is None else _vector(housing, self.n_joints, "housing")
        )

    def set_ambient(self, celsius: float) -> None:
        """Temperature of the air [deg C]."""
        self.core.set_ambient(float(celsius))

    def set_wrench(self, wrench: Any) -> None:
        """Wrench (6,) of the environment on the robot at the TCP, base orientation [N, Nm], until changed."""
        self.core.set_wrench(_vector(wrench, 6, "wrench"))

    def set_wall(
        self, point: Any, normal: Any, stiffness: float = 2e4, damping: float = 100.0, friction: float = 0.0
    ) -> None:
        """A compliant plane: point [m], normal out of the wall, [N/m], [N s/m], tangential Coulomb coefficient."""
        self.core.set_wall(list(map(float, point)), list(map(float, normal)), stiffness, damping, friction)

    def clear_wall(self) -> None:
        """Remove the wall."""
        self.core.clear_wall()

    def set_payload(self, mass: float, com: Any = (0, 0, 0), inertia: Any = (0,) * 6, configured: bool = True) -> None:
        """Mount a payload [kg, m, kg m2 about its com] at the flange; `configured`: in the controller too."""
        self.core.set_payload(float(mass), list(map(float, com)), list(map(float, inertia)))
        if configured:
            self.set_nominal_payload(mass, com, inertia)

    def set_nominal_payload(self, mass: float, com: Any, inertia: Any) -> None:
        """Set a payload on the controller only."""
        self.core.set_nominal_payload(float(mass), list(map(float, com)), list(map(float, inertia)))

    def truth(self) -> dict[str, np.ndarray]:
        """Ground truth of this instant by name (TRUTH)."""
        return {name: self.core.get(f"true_{name}") for name in TRUTH}

    # --- one cycle ------------------------------------------------------------------------------------------------
    def record(self, status: _core.Status = _core.Status.ok) -> Record:
        """What the controller reports now."""
        return Record(self.core, self.stamp_ns, status)

    def step_position(self, q_d: Any, qd_d: Any = None, qdd_d: Any = None) -> Record:
        """One cycle towards the desired motion at its end; missing derivatives are 0."""
        n, zero = self.n_joints, np.zeros(self.n_joints)
        qd = zero if qd_d is None else _vector(qd_d, n, "qd_d")
        qdd = zero if qdd_d is None else _vector(qdd_d, n, "qdd_d")
        return self._done(self.core.cycle_position(_vector(q_d, n, "q_d"), qd, qdd, 1.0 / self.rate))

    def step_torque(self, torque: Any, viscous_scale: Any = 0.0, coulomb_scale: Any = 0.0) -> Record:
        """One cycle of direct torque (n,) [Nm]; the controller adds gravity and that share of its friction."""
        n = self.n_joints
        scales = _vector(viscous_scale, n, "viscous_scale"), _vector(coulomb_scale, n, "coulomb_scale")
        return self._done(self.core.cycle_torque(_vector(torque, n, "torque"), *scales, 1.0 / self.rate))

    def effort_of(self, record: Record) -> np.ndarray:
        """`effort` (n,) of a record as the robot file declares it."""
        return self._effort({name: getattr(record, name) for name in ("joint_torque", "current", "effort")})

    def _done(self, status: _core.Status) -> Record:
        self.stamp_ns += round(1e9 / self.rate)
        return self.record(status)

    # --- batches --------------------------------------------------------------------------------------------------
    def run(
        self, q_d: Any, qd_d: Any, qdd_d: Any, wrench: Any = None, ambient: Any = None, keep: int = 1
    ) -> tuple[Log, dict[str, np.ndarray]]:
        """Follow a desired motion (N, n) at its rate; returns the log of every `keep`-th cycle and its ground truth.

        wrench (N, 6), ambient scalar or (N,). The robot goes on from where it stands; reset(q_d[0]) to start there.
        """
        motion = [_matrix(v, self.n_joints, name) for v, name in ((q_d, "q_d"), (qd_d, "qd_d"), (qdd_d, "qdd_d"))]
        cycles = len(motion[0])
        wrench = None if wrench is None else _matrix(np.broadcast_to(wrench, (cycles, 6)), 6, "wrench")
        if ambient is not None:
            ambient = np.ascontiguousarray(np.broadcast_to(ambient, cycles), dtype=float)
        widths = _core.Plant.output_widths()
        out = {name: np.empty((cycles // keep, width or self.n_joints)) for name, width in widths.items()}
        self.core.run(motion[0], motion[1], motion[2], 1.0 / self.rate, out, wrench, ambient, keep)
        period = round(1e9 / self.rate)
        stamps = self.stamp_ns + period * np.arange(keep, cycles + 1, keep)
        self.stamp_ns += period * cycles
        truth = {name: out[f"true_{name}"] for name in TRUTH}
        return self._log(stamps, out), truth

    def _log(self, stamps: np.ndarray, out: Mapping[str, np.ndarray]) -> Log:
        has, more = self.robot.sensing, self.machine.file.outputs
        signals = {name: out[name] for name in ("q", "qd")}
        if has.current:
            signals["current"] = out["current"]
        if has.temperature:
            signals["temperature"] = out["temperature"]
        if has.desired_state:
            signals.update({name: out[name] for name in ("q_d", "qd_d", "qdd_d")}, tau_d=out["target_moment"])
        signals["effort"] = self._effort(out)
        if has.rotor_encoder or more.rotor_encoder:
            signals.update({name: out[name] for name in _ROTOR})
        if more.rotor_encoder:
            signals["motor_torque"] = out["effort"]
        return Log(self.robot.joint_names, stamps, signals)

    def _effort(self, out: Mapping[str, np.ndarray]) -> np.ndarray:
        """`effort` as the robot file declares it: the joint torque sensor, or motor torque, or current."""
        drives = self.robot.drives
        if drives.torque_side == "link":
            return out["joint_torque"]
        return drives.effort.sign * (out["current"] if drives.effort.unit == "A" else out["effort"])


def _vector(value: Any, n: int, name: str) -> np.ndarray:
    array = np.ascontiguousarray(np.broadcast_to(value, (n,)) if np.ndim(value) == 0 else value, dtype=float)
    if array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}, expected ({n},)")
    return array


def _matrix(value: Any, n: int, name: str) -> np.ndarray:
    array = np.ascontiguousarray(value, dtype=float)
    if array.ndim != 2 or array.shape[1] != n:
        raise ValueError(f"{name} has shape {array.shape}, expected (N, {n})")
    return array
