"""MuJoCo as the plant: rigid joints with rotors, LuGre friction, and a tool that touches a box.

Masses, rotors, friction levels and torque constants are those of the individual that the elastic plant would be, or of
an MJCF. Links, friction, contact are MuJoCo's; ours: inner controller, what sensors add (quantum, low-pass, noise).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.mujoco_model import AWAY, BOX, SOLIMP, mujoco, spec_of, with_contact
from robot_dynamics_ros import _core
from robot_dynamics_ros._core import Chain, Status
from robot_dynamics_ros.robot_file import RobotFile

STEP = 5e-4  # s, longest step of MuJoCo
SAME = 0.01  # m, within which the TCP of an MJCF must be that of the robot file
DAHL = 1e-4  # rad over which compensated stiction builds up, as in plant/control.hpp


class MujocoPlant:
    """A plant (see simulation/plant/interface.py) whose mechanics are MuJoCo's.

    robot: names and kinematics; chain, nominal: true links and those of the controller; true: numbers by name.
    mjcf: a file whose mechanics replace those of the chain and `true`: joints named as in the robot file, the last site
    is the TCP; its servos and motors become motors of torque. Raises CapabilityError without MuJoCo 3.7 or later,
    ConfigError for links that are no bodies, ValueError for an MJCF of another arm.
    """

    def __init__(
        self, robot: RobotFile, chain: Chain, nominal: Chain, true: Mapping[str, Any], seed: int = 0, mjcf: str = ""
    ) -> None:
        self._mj, self._robot, self._chain, self._nominal = mujoco(), robot, chain, nominal
        self._mjcf, self._tool = mjcf, "ball"
        if mjcf:
            true = {**true, "drive.torque_constant": true["control.torque_constant"]}
        self._true, self._n, self._random = true, robot.n_joints, np.random.default_rng([seed, 3])
        self._ratio = true["drive.torque_constant"] / true["control.torque_constant"]
        self._wrench, self._arm = np.zeros(6), np.zeros(3)
        self._temperatures = np.full((2, self._n), true["friction.reference_temperature"])
        self._model, self._data = self._compiled(chain)
        self._body = _core.RigidBody(nominal)
        self._data.qpos[:] = 1.0
        self._mj.mj_kinematics(self._model, self._data)
        gap = np.linalg.norm(self._data.site_xpos[-1] - self._body.fk(np.ones(self._n))[-1][:3, 3])
        if mjcf and not gap < SAME:
            raise ValueError(f"{mjcf}: with joints at 1 rad its last site is {gap:.3f} m from the TCP of {robot.name}")
        self.reset(np.zeros(self._n))

    # --- surroundings ---------------------------------------------------------------------------------------------
    def set_temperatures(self, lubricant: np.ndarray, housing: np.ndarray) -> None:
        """Of the sensors, and of viscous friction (n,): eta0 exp(-rate (T - T0)), as in plant/friction.hpp."""
        self._temperatures = np.array([lubricant, housing])
        self._warm(self._model)

    def set_ambient(self, celsius: float) -> None:
        """Without effect."""

    def set_wrench(self, wrench: np.ndarray) -> None:
        """Wrench (6,) at the TCP, base axes."""
        self._wrench = np.array(wrench)

    def set_tool(self, name: str) -> None:
        """Stand with one of TOOLS at the TCP, joints at 0, no wall, no payload."""
        self._tool = name
        self._model, self._data = self._compiled(self._chain)
        self.reset(np.zeros(self._n))

    def set_wall(
        self, point: Sequence[float], normal: Sequence[float], stiffness: float, damping: float, friction: float
    ) -> None:
        """A face of the box that the tool, turned as now, reaches with its TCP at a point.

        MuJoCo's force per point of contact: (k depth + b speed) / ((1 - SOLIMP) w), w: inverse weight of the body.
        """
        n = np.array(normal) / np.linalg.norm(normal)
        model, d, geom, w = self._model, self._data, self._model.ngeom - 1, self._model.body_invweight0[self._tip, 0]
        model.geom_solref[geom] = -stiffness * (1 - SOLIMP) * w, -damping * (1 - SOLIMP) * w
        model.geom_friction[geom, 0] = friction
        d.mocap_pos[-1] = np.array(point) - n * (BOX[2] + 1.0)
        self._mj.mju_quatZ2Vec(d.mocap_quat[-1], n)
        self._mj.mj_kinematics(model, d)
        away = self._mj.mj_geomDistance(model, d, self._touching, geom, 10.0, None)
        d.mocap_pos[-1] += n * (away - n @ (d.site_xpos[-1] - point))

    def clear_wall(self) -> None:
        """The box far away."""
        self._data.mocap_pos[-1] = AWAY

    def set_payload(self, mass: float, com: Sequence[float], inertia: Sequence[float]) -> None:
        """Payload on the arm. Raises ValueError for one on an MJCF, which must hold it itself."""
        if self._mjcf and mass:
            raise ValueError(f"mass = {mass} kg must be 0: {self._mjcf} must hold its payload")
        old = self._data
        self._model, self._data = self._compiled(self._chain.with_payload(mass, list(com), list(inertia)))
        for name in ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat"):
            getattr(self._data, name)[:] = getattr(old, name)

    def set_nominal_payload(self, mass: float, com: Sequence[float], inertia: Sequence[float]) -> None:
        """Payload that the controller assumes."""
        self._body = _core.RigidBody(self._nominal.with_payload(mass, list(com), list(inertia)))

    # --- cycles ---------------------------------------------------------------------------------------------------
    def reset(self, q: np.ndarray) -> None:
        """At rest at q (n,), bristles relaxed."""
        d, n = self._data, self._n
        d.qpos[:], d.qvel[:], d.act[:] = q, 0.0, 0.0
        self._integral, self._dahl = np.zeros(n), np.zeros(n)
        self._target = self._body.gravity(q)
        d.ctrl[-n:] = self._target
        self._mj.mj_forward(self._model, d)
        self._speed, self._angle = np.zeros(n), np.array(q, float)
        self._command = (np.array(q, float), np.zeros(n), np.zeros(n))
        self._measure(d.actuator_force[-n:].copy(), 0.0)

    def cycle_position(self, q_d: np.ndarray, qd_d: np.ndarray, qdd_d: np.ndarray, dt: float) -> Status:
        """PD with integral about the desired motion, model torque fed forward, as in plant/control.hpp."""
        c = self._true
        self._dahl[:] = 0.0
        self._target = self._body.rnea(q_d, qd_d, qdd_d) + c["control.rotor_inertia"] * qdd_d

        def torque(ahead: float, h: float) -> np.ndarray:
            q, qd = q_d - ahead * (qd_d - 0.5 * ahead * qdd_d), qd_d - ahead * qdd_d
            limit, error = c["control.integral_limit"], q - self._data.qpos
            self._integral = np.clip(self._integral + h * c["control.integral_gain"] * error, -limit, limit)
            feedback = c["control.stiffness_gain"] * error + c["control.damping_gain"] * (qd - self._data.qvel)
            return self._target + feedback + self._integral

        return self._cycle((q_d, qd_d, qdd_d), torque, dt)

    def cycle_torque(self, torque: np.ndarray, viscous_scale: Any, coulomb_scale: Any, dt: float) -> Status:
        """Commanded torque, gravity of the model, a share of the friction; joint torque feedback where it exists.

        The feedback k (wanted - sensed) with what the rotor loses, motor - sensed = l: wanted + k/(1 + k) l.
        """
        c, zero = self._true, np.zeros(self._n)
        self._integral[:] = 0.0
        self._target = self._body.gravity(self._data.qpos.copy())
        share = c["control.torque_feedback"] / (1.0 + c["control.torque_feedback"])

        def wanted(_ahead: float, h: float) -> np.ndarray:
            v = self._data.qvel
            travel = np.abs(v) * h / DAHL
            self._dahl = (self._dahl + np.copysign(travel, v)) / (1.0 + travel)
            friction = viscous_scale * c["control.viscous"] * v + coulomb_scale * c["control.coulomb"] * self._dahl
            lost = self._data.actuator_force[-self._n :] - self._joint_torque()
            return torque + self._target + friction + share * lost

        return self._cycle((zero, zero, zero), wanted, dt)

    def _cycle(self, command: Any, wanted: Any, dt: float) -> Status:
        if not (0 < dt <= 0.1 and np.isfinite(command).all() and np.isfinite(wanted(dt, 0.0)).all()):
            return Status.dropped
        d, n, limit, steps = self._data, self._n, self._true["drive.torque_limit"], max(1, round(dt / STEP))
        h = self._model.opt.timestep = dt / steps
        self._push()
        average, saturated = np.zeros(n), False
        for k in range(steps):
            torque = wanted(dt - k * h, h)
            saturated |= bool((np.abs(torque) > limit).any())
            d.ctrl[-n:] = self._ratio * np.clip(torque, -limit, limit)
            self._mj.mj_step(self._model, d)
            average += d.actuator_force[-n:] / steps
        self._command = command
        self._measure(average, dt)
        if not np.isfinite(d.qpos).all() or d.warning.number[self._mj.mjtWarning.mjWARN_BADQACC]:
            return Status.fault
        return Status.saturated if saturated else Status.ok

    def run(
        self,
        q_d: np.ndarray,
        qd_d: np.ndarray,
        qdd_d: np.ndarray,
        dt: float,
        out: Mapping[str, np.ndarray],
        wrench: np.ndarray | None = None,
        ambient: np.ndarray | None = None,
        keep: int = 1,
    ) -> np.ndarray:
        """A batch of position-controlled cycles, every `keep`-th one written to `out`; status codes (N,)."""
        status = np.empty(len(q_d), np.int32)
        for i in range(len(q_d)):
            if wrench is not None:
                self._wrench = wrench[i]
            status[i] = self.cycle_position(q_d[i], qd_d[i], qdd_d[i], dt)
            if (i + 1) % keep == 0:
                for name, rows in out.items():
                    rows[i // keep] = self._signals[name]
        return status

    def get(self, name: str) -> np.ndarray:
        """Present value of a signal."""
        return np.array(self._signals[name], float)

    # --- MuJoCo ---------------------------------------------------------------------------------------------------
    def _compiled(self, chain: Chain) -> tuple[Any, Any]:
        spec = spec_of(self._mj, self._robot, chain, self._true, self._mjcf)
        model = with_contact(self._mj, spec, self._robot, self._mjcf, self._tool)
        self._cold = model.dof_damping.copy()
        self._warm(model)
        self._tip = model.site_bodyid[-1]
        self._touching = model.body_geomadr[self._tip] + model.body_geomnum[self._tip] - 1
        return model, self._mj.MjData(model)

    def _warm(self, model: Any) -> None:
        above = self._temperatures[0] - self._true["friction.reference_temperature"]
        model.dof_damping[:] = self._cold * np.exp(-self._true["friction.viscosity_rate"] * above)

    def _push(self) -> None:
        """The commanded wrench on the last body, about its centre of mass."""
        d, body = self._data, self._tip
        self._mj.mju_cross(self._arm, d.site_xpos[-1] - d.xipos[body], self._wrench[:3])
        d.xfrc_applied[body, :3], d.xfrc_applied[body, 3:] = self._wrench[:3], self._wrench[3:] + self._arm

    def _touched(self) -> np.ndarray:
        """Wrench (6,) of the box on the arm, at the TCP."""
        d, wrench, force = self._data, np.zeros(6), np.zeros(6)
        for k in range(d.ncon):
            contact, box = d.contact[k], self._model.ngeom - 1
            if box not in contact.geom:
                continue
            self._mj.mj_contactForce(self._model, d, k, force)
            sign = 1.0 if contact.geom[0] == box else -1.0
            push = sign * contact.frame.reshape(3, 3).T @ force[:3]
            wrench += np.concatenate([push, np.cross(contact.pos - d.site_xpos[-1], push)])
        return wrench

    def _jacobian(self) -> np.ndarray:
        J = np.zeros((6, self._model.nv))
        self._mj.mj_jacSite(self._model, self._data, J[:3], J[3:], self._model.nsite - 1)
        return J

    def _joint_torque(self) -> np.ndarray:
        """Torque (n,) behind rotor and friction."""
        return self._driven() - self._model.dof_armature * self._data.qacc

    def _driven(self) -> np.ndarray:
        """Torque (n,) of motor less friction: qfrc_actuator holds bristles, qfrc_passive damping, efc frictionloss."""
        d, driven = self._data, self._data.qfrc_actuator + self._data.qfrc_passive
        dry = d.efc_type == self._mj.mjtConstraint.mjCNSTR_FRICTION_DOF
        driven[d.efc_id[dry]] += d.efc_force[dry]
        return driven

    # --- signals --------------------------------------------------------------------------------------------------
    def _measure(self, motor: np.ndarray, dt: float) -> None:
        d, n, x = self._data, self._n, self._true
        angle = _quantised(d.qpos, x["sensing.rotor_quantum"])
        if dt > 0:
            a = x["sensing.velocity_bandwidth"] * dt
            self._speed = self._speed + ((angle - self._angle) / dt - self._speed) * a / (1.0 + a)
        self._angle = angle
        current = motor / x["drive.torque_constant"] + x["sensing.current_noise"] * self._random.standard_normal(n)
        driven, touch = self._driven(), self._wrench + self._touched()
        joint, friction = driven - self._model.dof_armature * d.qacc, d.actuator_force[-n:] - driven
        position, q = d.qpos.copy(), _quantised(d.qpos + x["sensing.link_offset"], x["sensing.link_quantum"])
        zero, nominal = np.zeros(n), x["control.torque_constant"]
        sensed = x["sensing.torque_gain"] * joint + x["sensing.torque_offset"]
        self._signals = {
            "q": q,
            "qd": self._speed,
            "theta": angle,
            "omega": self._speed,
            "current": current,
            "effort": nominal * current,
            "joint_torque": sensed + x["sensing.torque_noise"] * self._random.standard_normal(n),
            "temperature": self._temperatures[1],
            "target_moment": self._target,
            "target_current": self._target / nominal,
            **dict(zip(("q_d", "qd_d", "qdd_d"), self._command, strict=True)),
            **dict.fromkeys(("true_q", "true_theta"), position),
            **dict.fromkeys(("true_qd", "true_omega"), d.qvel.copy()),
            **dict.fromkeys(("true_friction_torque", "true_rotor_friction_torque"), friction),
            **dict.fromkeys(("true_deflection", "true_link_friction_torque"), zero),
            "true_friction_power": friction * d.qvel,
            "true_joint_torque": joint,
            "true_motor_torque": motor,
            "true_external_wrench": touch,
            "true_external_joint_torque": self._jacobian().T @ touch,
            "true_lubricant_temperature": self._temperatures[0],
            "true_housing_temperature": self._temperatures[1],
            "true_penetration": np.array([max((-d.contact[k].dist for k in range(d.ncon)), default=0.0)]),
            "true_tcp_position": d.site_xpos[-1].copy(),
            "true_tcp_rotation": d.site_xmat[-1].copy(),
        }


def _quantised(value: np.ndarray, quantum: np.ndarray) -> np.ndarray:
    step = np.where(quantum > 0, quantum, 1.0)
    return np.where(quantum > 0, np.round(value / step) * step, value)
