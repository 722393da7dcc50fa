"""Force stage: external joint torque, wrench at the TCP and contact, from the momentum observer."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from operator import attrgetter
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import PayloadAnswer, PayloadVerdict, TareResult
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.estimators.force_arguments import (
    AT_REST,
    CHANGED,
    CONSTANTS,
    UNKNOWN_FRICTION,
    core_arguments,
    drift_deviation,
    effort_error,
    expected_moment,
    mass_error,
)
from robot_dynamics_ros.estimators.stage import Stage
from robot_dynamics_ros.models.robot_model import RobotModel
from robot_dynamics_ros.models.sliding_friction import share_text, viscosity_text
from robot_dynamics_ros.models.urdf_writer import TURNED, link_name, tcp_name
from robot_dynamics_ros.parameters import Parameter, resolve
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.capabilities import no_moments
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.speeds import STANDING
from robot_dynamics_ros.verdict import CLEAR

TARE_REFUSALS = {
    TareResult.too_early: "too few samples since the start, a reset or a changed parameter: wait two seconds",
    TareResult.in_contact: "the robot was free and is now in contact; release it first",
    TareResult.unsteady: "the torque is changing; hold still or move evenly",
    TareResult.unexplained: "neither friction nor a payload makes such a torque: let go of the robot, or identify it",
}

LEARNED, SURE = 0.5, 3.0  # friction counts as known below a share of its first deviation, or beyond some of them
UNUSUAL = 2.0  # of these deviations a joint needs a look: beyond usual temperatures (30 K colder, 60 warmer)
FORCES, POSES, MOST = np.geomspace(1.0, 1e3, 61), 300, 0.9  # N, number and share of poses and directions: `least_push`

FRAME_ID = Parameter(
    "frame_id",
    "",
    "frame of external_wrench: its axes, moments about its origin; base, tool (empty: tool) or a link's name",
    read_only=True,
)


class ForceStage(Stage):
    """Drive torque, model torque, friction -> external torque, wrench, contact, each with its standard deviation."""

    name = "force"
    reads = ("q", "qd", "model_torque", "drive_torque")
    optional = ("qdd", "friction_torque", "friction_std", "payload")
    writes = (
        "external_joint_torque",
        "external_joint_torque_std",
        "external_wrench",
        "external_wrench_std",
        "singular_value",
        "contact",
        "payload_or_bias",
        "contact_load",
        "framed_wrench",
        "framed_wrench_std",
    )
    arguments = attrgetter(*reads, *optional, *writes)
    parameters = (
        Parameter("bandwidth", 25.0, "of small changes of the external torque", "rad/s", 0.1, 1000.0),
        Parameter(
            "onset_bandwidth",
            0.0,
            "of changes beyond a standard deviation; 0: residuals.onset of the robot file, else that of all; "
            "up to bandwidth: that of all",
            "rad/s",
            0.0,
            1000.0,
        ),
        Parameter("wrench_cutoff", 0.0, "low-pass of the wrench, 0: none", "rad/s", 0.0, 1e4),
        Parameter(
            "torque_std",
            0.0,
            "noise of drive torque as share of the torque limit; 0: in the residuals of the robot file, else 0.01",
            "",
            0.0,
            1.0,
        ),
        Parameter(
            "subtract_friction",
            True,
            "friction is taken off the drive torque; false: it acts before the torque sensor",
            read_only=True,
        ),
        Parameter(
            "unknown_friction", UNKNOWN_FRICTION, "friction std as share of the torque limit when unknown", "", 0.0, 1.0
        ),
        Parameter(
            "model_error",
            0.0,
            "standard deviation of the model torque as share of it; 0: in the residuals of the robot file, else 0.03",
            "",
            0.0,
            1.0,
        ),
        Parameter(
            "expected_moment",
            0.0,
            "standard deviation of each moment axis before measuring; 0: kinematics.tool.expected_moment of the robot "
            "file (0: a force at the TCP without moments), else 1.5; chains of fewer than six joints: none",
            "Nm",
            0.0,
            1e6,
        ),
        Parameter(
            "contact_on_ratio",
            0.0,
            "standard deviations at which contact begins, with residuals in the robot file 0.7 of it while the robot "
            "stands; 0: 5.25, or more where the residuals reach more; 3.5 without residuals",
            "",
            0.0,
            100.0,
        ),
        Parameter(
            "contact_torque",
            0.0,
            "least contact torque as share of the torque limit; 0: none with residuals in the robot file, else twice "
            "torque_std",
            "",
            0.0,
            1.0,
        ),
        Parameter(
            "contact_force",
            0.0,
            "least contact force at the TCP; 0: 1 N with residuals in the robot file, else 5 N per 0.01 of torque_std",
            "N",
            0.0,
            1e5,
        ),
        Parameter("contact_on_time", 0.01, "time above the threshold before contact is declared", "s", 0.0, 10.0),
        Parameter("contact_off_time", 0.05, "time below before it is over", "s", 0.0, 10.0),
        FRAME_ID,
        Parameter(
            "rest_bias",
            1.0,
            "time constant with which the torque of a standing robot without contact is taken for an error of "
            "friction, up to 1.4 residuals.rest of the robot file; 0: never",
            "s",
            0.0,
            1000.0,
        ),
    )

    frame_id = ""  # of framed_wrench

    def configure(self, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
        """Build for a robot; an earlier tare is forgotten, which reset() keeps. parameters: CONSTANTS among them.

        Raises ConfigError, also for a frame without a known transform, CapabilityError for unknown links.
        """
        p = resolve(self.parameters + CONSTANTS, parameters, self.name)
        frame, frame_id = wrench_frame(robot, p["frame_id"])
        self.core = _core.ExternalForce(robot.chain(), frame=frame, **core_arguments(robot, p))
        none = expected_moment(robot, p["expected_moment"]) == 0.0
        text = f"{robot.name}: moments at the TCP are not estimated, they are taken as zero: {no_moments(robot)}"
        self.notes = [text] * none
        if along := RobotModel(robot.chain()).hidden_force(robot.random_poses(POSES)):
            self.notes.append(f"{robot.name}: no joint shows a force along {along}: there it reads 0, whatever presses")
        self.frame_id = frame_id
        self._mass_error = mass_error(robot)
        self._names, self._viscosity = robot.joint_names, drift_deviation(robot) / _core.VISCOUS_STD
        known = robot.residuals is not None
        self._moving = robot.array("residuals.moving") if known else np.ones(robot.n_joints)
        self._usual = np.array([CHANGED[robot.drives.torque_side], _core.VISCOUS_STD, _core.GAIN_STD])
        self._unusual = UNUSUAL * np.hypot(self._usual, np.outer(effort_error(robot), [0.0, 0.0, 1.0]))

    def tare(self) -> tuple[bool, str]:
        """Make the mean external torque of the last window the new zero: (done, what happened in words).

        Refused when the robot has been free and is now in contact, when the torque changes, or where it is more than
        three deviations (friction, noise) beyond what a payload up to limits.payload explains in this pose.
        """
        result = self.core.tare()
        if result == TareResult.accepted:
            return True, "bias [Nm]: " + ", ".join(f"{b:.2f}" for b in self.core.bias)
        return False, TARE_REFUSALS[result]

    def viscosity(self) -> np.ndarray:
        """Viscous friction (n,) [Nm s/rad] that free motion has shown; NaN where it has shown none yet."""
        share, _ = self.changed_friction()
        return self._viscosity * (1.0 + share[:, 1])

    def friction_health(self) -> dict[str, tuple[bool, str]]:
        """Joint -> whether it needs a look, and how friction and torque differ from the robot file's, in words."""
        found = {}
        for name, share, std, usual in zip(self._names, *self.changed_friction(), self._unusual, strict=True):
            known, coulomb = np.isfinite(share), share_text("Coulomb friction", share[0], std[0])
            texts = coulomb, viscosity_text(share[1], std[1]), share_text("torque per effort", share[2], std[2])
            if known.any():
                found[name] = bool((np.abs(share) > usual).any()), ", ".join(compress(texts, known))
        return found

    def changed_friction(self) -> tuple[np.ndarray, np.ndarray]:
        """Shares (n, 3) by which Coulomb friction, viscous friction and torque per effort differ from the robot file's,
        NaN where free motion has not shown them yet, and their deviations.
        """
        value, covariance = self.core.friction_drift
        turn = np.zeros_like(covariance)
        turn[:, 0, 1] = turn[:, 1, 1] = 1.0  # a share of all friction; beside it some viscosity [Nm s/rad]
        turn[:, 2, 2] = -1.0
        turn[:, 1, 0] = np.divide(1.0, self._viscosity, out=np.full(len(turn), np.nan), where=self._viscosity > 0)
        share, std = np.einsum("nij,nj->ni", turn, value), np.sqrt(np.einsum("nij,njk,nik->ni", turn, covariance, turn))
        known = (std < LEARNED * self._usual) | (np.abs(share) > SURE * std)
        return np.where(known & (std > 0.0), share, np.nan), std

    def payload_message(self) -> str:
        """What is known about a lasting torque, for diagnostics; empty when there is none."""
        held, verdict = self.core.payload_held, self.core.payload_verdict
        looks = "a lasting torque looks like a"
        if held or verdict == PayloadVerdict.payload:
            mass, *moment = self.core.payload_error
            com = ", ".join(f"{m:.3f}" for m in moment)
            std = np.hypot(self.core.payload_mass_std, self._mass_error * mass)
            off = f"{mass:+.2f} +- {std:.2f} kg off the configured one (first moment {com} kg m)"
            return f"a payload {off} is taken off the external torque" if held else f"{looks} payload {off}"
        return f"{looks} {self._bias()}" if verdict == PayloadVerdict.bias else ""

    def _bias(self) -> str:
        """What a lasting torque that looks like a bias is, and what to do."""
        off = -self.core.moved_zero  # of the measured torque
        if not off.any():
            return "bias or other friction of single joints, which the force contains: identify again"
        least = min(CLEAR, (np.abs(off) / self._moving).max())  # of the deviations: one joint is named at least
        names = (f"{self._names[j]} {off[j]:+.2g} Nm" for j in np.flatnonzero(np.abs(off) >= least * self._moving))
        remedy = "tare while nothing touches the arm, or identify again"
        return f"bias of the measured torques ({', '.join(names)}), which the force contains: {remedy}"

    def answer_payload(self, answer: PayloadAnswer) -> str:
        """Keep a recognised payload, refuse any, or judge anew; what holds then, in words.

        Raises CapabilityError where there is none to keep.
        """
        if not self.core.answer_payload(answer):
            raise CapabilityError("no payload is recognised; move the arm for some seconds")
        if answer == PayloadAnswer.keep:
            return self.payload_message() + " until it is reset"
        return "no payload is taken off" + (" until it is reset" if answer == PayloadAnswer.refuse else " for now")


def wrench_frame(robot: RobotFile, name: str) -> tuple[int, str]:
    """Index and frame_id of a frame of the chain: -1 base, i the frame of link i, n the TCP.

    name: a frame of the robot's URDF, "base", or "tool" or "" for the TCP. Raises ConfigError for any other, and for
    links whose frames are not those of the URDF.
    """
    n, base, tool = robot.n_joints, robot.kinematics.base_frame, robot.kinematics.tool
    tcp = tcp_name(robot) if any(tool.xyz) or any(tool.rpy) else robot.kinematics.tip_frame
    frames = {"base": -1, "tool": n, base: -1} | {link_name(robot, i): i for i in range(n)} | {tcp: n}
    if name and name not in frames:
        known = ", ".join(frames)
        raise ConfigError("force", "frame_id", f"{name!r} has no known transform to the arm; known: {known}")
    index = frames[name or "tool"]
    if 0 <= index < n and TURNED in robot.sources:
        raise ConfigError("force", "frame_id", f"{name!r}: {robot.sources[TURNED]}; take tool or base")
    return index, {-1: base, n: tcp}.get(index, name)


def significance(robot: RobotFile, log: Log) -> np.ndarray:
    """How rare the external torques of a log are without contact, in standard deviations of one normal variable (N,).

    NaN where there is none. What the force stage compares with contact_on_ratio at the TCP, by default parameters and
    for a payload that is known: over AT_REST while the robot stands.
    """
    torques = log.external_joint_torque, log.external_joint_torque_std
    moment = expected_moment(robot)
    rare = _core.wrench_significance(robot.chain(), np.ascontiguousarray(log.q), *torques, expected_moment=moment)
    return rare if robot.residuals is None else np.where(_stands(log), rare / AT_REST, rare)


def least_push(robot: RobotFile) -> float:
    """Force [N] at the TCP from which on the force stage shows a push on a standing robot in MOST of its poses and of
    all directions, by default parameters and with residuals.rest of the robot file; infinite beyond the last of FORCES.
    """
    given = core_arguments(robot, resolve(ForceStage.parameters + CONSTANTS, None, ForceStage.name))
    least = given["contact_rest_share"] * given["contact_on_ratio"]
    q, way = robot.random_poses(POSES), np.random.default_rng(0).normal(size=(POSES, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    torque = np.einsum("tij,ti->tj", RobotModel(robot.chain(), robot.joint_names).jacobian(q)[:, :3], way)
    std, moment = np.tile(given["rest_std"], (POSES, 1)), given["expected_moment"]
    for force in FORCES:
        rare = _core.wrench_significance(robot.chain(), q, force * torque, std, expected_moment=moment)
        if np.mean(rare > least) >= MOST:
            return float(force)
    return float("inf")


def _stands(log: Log) -> np.ndarray:
    """(N,) bool: all joints have stood for 0.1 s (rest_bias.hpp)."""
    slow = np.nan_to_num(np.abs(log.qd)).max(axis=1) < STANDING
    last = np.maximum.accumulate(np.where(slow, log.time[:1], log.time))
    return np.asarray(log.time - last >= 0.1)
