"""Load-dependent hysteresis against sgn(w) F(tau_J): torque of a loaded, reversing shoulder [Madsen2020, ch6 5.3].

Both predictions share F(tau_J) and F_v; only H(theta) differs from sgn(w). Identified from constant velocities under
load and from a slow reciprocating run; judged on a faster reversing motion from upright to horizontal with 7.5 kg.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.papers.labs import lab
from bench.papers.madsen_joint import PAYLOAD, UPRIGHT
from bench.papers.table import Row, at_least, beside
from robot_dynamics_ros import _core
from robot_dynamics_ros.identification.dataset.segments import JointRecord, reversals
from robot_dynamics_ros.identification.joint.friction import FrictionFit, fit_friction
from robot_dynamics_ros.identification.joint.hysteresis import HysteresisData, HysteresisFit, fit_hysteresis
from robot_dynamics_ros.identification.joint.sliding import Sliding, measured_sliding
from robot_dynamics_ros.identification.metrics import nrmse
from robot_dynamics_ros.trajectories import motions

SOURCE = "Madsen2020 ch6"
SHOULDER = 1


@dataclass(frozen=True)
class LoadedJoint:
    """What was identified of the shoulder: sliding law, what the model of the links gets wrong, hysteresis."""

    law: FrictionFit
    sliding: Sliding
    hysteresis: HysteresisFit

    def level(self, load: np.ndarray) -> np.ndarray:
        """F(tau_J) (N,) [Nm] [ch6 20]."""
        return self.hysteresis.fc0 * (self.law.parameters["fc"] + self.law.parameters["fl"] * load**2)

    def egms(self, record: JointRecord) -> np.ndarray:
        """f = F(tau_J) H(theta) + F_v(w) (N,) by the core that runs live [ch6 3-5]."""
        h, p = self.hysteresis, self.law.parameters
        gms = _core.Gms(np.ascontiguousarray(h.d[None]), np.ascontiguousarray(h.k[None]), h.backlash)
        core = _core.Friction.egms(
            self.law.model().core,
            gms,
            np.array([h.fc0 * p["fc"]]),
            np.array([h.fc0 * max(p["fl"], 0.0)]),
            np.zeros((1, 1)),
        )
        columns = [np.ascontiguousarray(c[:, None]) for c in (record.angle, record.v, record.load)]
        return core.run(record.stamp_ns, *columns)[0][:, 0]

    def viscous(self, v: np.ndarray) -> np.ndarray:
        """F_v(w) (N,) [Nm]: the law without its Coulomb level."""
        p = self.law.parameters
        return p["fv1"] * v + p["fv2"] * np.abs(v) * v + p["fv3"] * v**3

    def discontinuous(self, record: JointRecord) -> np.ndarray:
        """f = sgn(w) F(tau_J) + F_v(w) (N,)."""
        return np.sign(record.v) * self.level(record.load) + self.viscous(record.v)


def run(quick: bool = False) -> list[Row]:
    """Ratio of the mean squared torque errors of the two predictions."""
    joint = identified()
    record = reversing(2, 22, 0.2)
    y = record.friction - gravity_error(joint.sliding, record.q)
    k = slice(len(y) // 20, None)  # until every element has slipped
    old, new = joint.discontinuous(record)[k], joint.egms(record)[k]
    ratio = float(np.mean((y[k] - old) ** 2) / np.mean((y[k] - new) ** 2))
    note = f"MSE {np.mean((y[k] - old) ** 2):.3g} -> {np.mean((y[k] - new) ** 2):.3g} Nm2"
    return [
        at_least(SOURCE, "torque MSE, sgn(w) F(tau_J) over E-GMS", 2.1, ratio, "", note),
        beside(
            SOURCE, "friction NRMSE of E-GMS in reversals under load", None, nrmse(y[k], new), "%", "not printed there"
        ),
    ]


def gravity_error(sliding: Sliding, q: np.ndarray) -> np.ndarray:
    """Torque (N,) [Nm] missing in the model of a joint that moves alone at q (N,): a sin q + b cos q + c, fitted."""
    A, y = (np.column_stack([np.sin(x), np.cos(x), np.ones_like(x)]) for x in (sliding.common[:, 0], q))
    return np.asarray(y @ np.linalg.lstsq(A, sliding.common[:, 1], rcond=None)[0])


def identified() -> LoadedJoint:
    """Law from sliding under load, hysteresis of friction over F(tau_J) from a slow reciprocating run."""
    robot = lab.with_payload(lab.ur5e(), PAYLOAD)
    plan = lab.sweeps(robot, SHOULDER, UPRIGHT, 1.2, np.geomspace(0.02, 0.7, 8).tolist())
    sliding = measured_sliding(lab.measured(plan, lab.warm_robot(robot, 0), robot, SHOULDER), width=0.1)
    law = fit_friction("madsen", sliding.data, temperature=False)
    slow = reversing(1, 20, 0.05)
    slow = slow.take(reversals(slow)[0])
    level = law.parameters["fc"] + law.parameters["fl"] * slow.load**2
    relative = (slow.friction - gravity_error(sliding, slow.q)) / level
    hysteresis = fit_hysteresis(4, HysteresisData(slow.angle, relative, joint=slow.joint))
    return LoadedJoint(law, sliding, hysteresis)


def reversing(seed: int, cycles: int, a: float) -> JointRecord:
    """The loaded shoulder going down in `cycles` reversing steps at accelerations of a [rad/s2]."""
    robot = lab.with_payload(lab.ur5e(), PAYLOAD)
    motion = motions.reversals(UPRIGHT, SHOULDER, cycles, 1.1 / cycles, a)
    plan = lab.planning.checked(robot, "reversing", [SHOULDER], motion, 500.0)
    return lab.measured(plan, lab.warm_robot(robot, seed), robot, SHOULDER)
