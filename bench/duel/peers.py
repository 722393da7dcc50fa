"""Peers of the duel, run by the Python of their environment: `python peers.py NAME DIRECTORY`. Needs nothing of ours.

DIRECTORY holds motions.npz (fitted_ and judged_ q, qd, qdd [rad, s], torque [Nm], all (N, n)), arm.urdf and arm.xml;
predicted.npz with predicted torque (N, n) and its deviation (n,) [Nm] is written beside them. Deviation: RMS of the
residual of each joint, the sigma that figaroh and FloBaRoID weight and state deviations with.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

FITTED = 1500  # samples that sysid's finite differences evaluate 100 times per step
ITERATIONS = 30
State = dict[str, np.ndarray]  # q, qd, qdd, torque
Fit = Callable[[Path, State], Callable[[State], np.ndarray]]  # directory, motion -> prediction of a motion


def figaroh(work: Path, fitted: State) -> Callable[[State], np.ndarray]:
    """Regressor, elimination, base parameters by two QR, weighted least squares: as BaseIdentification does."""
    import pinocchio
    from figaroh.identification.base_identification import BaseIdentification
    from figaroh.identification.parameter import add_standard_additional_parameters, get_standard_parameters
    from figaroh.tools.regressor import build_regressor_basic, build_regressor_reduced, get_index_eliminate

    text = (work / "arm.urdf").read_text().replace('type="continuous"', 'type="revolute"')  # whose q is one number
    without = re.compile(r"(<axis [^>]*/>)(?!\s*<limit)")
    model = pinocchio.buildModelFromXML(without.sub(r'\1<limit lower="-9" upper="9" effort="9" velocity="9"/>', text))
    n = model.nv
    terms = {"has_friction": True, "has_actuator_inertia": True, "has_joint_offset": True}
    config = terms | {name: [0.0] * n for name in ("fv", "fs", "Ia", "off")} | {"act_idxv": list(range(n))}
    robot = SimpleNamespace(model=model, data=model.createData())
    stacked = lambda m: build_regressor_basic(robot, m["q"], m["qd"], m["qdd"], config)  # noqa: E731
    W, standard = stacked(fitted), get_standard_parameters(model, config)
    standard |= add_standard_additional_parameters(model, config)
    dropped, names = get_index_eliminate(W, standard, 1e-3)
    # its solver on a stand-in without the files that its constructor reads
    its = SimpleNamespace(identif_config={"qr_relative_tolerance": 1e-6}, standard_parameter=standard)
    its._fit_blocks = lambda: range(n)
    for name in ("_calculate_joint_variances", "_solve_weighted_least_squares", "_compute_wls_standard_deviations"):
        setattr(its, name, getattr(BaseIdentification, name).__get__(its))
    W, tau = build_regressor_reduced(W, dropped), fitted["torque"].T.ravel()
    BaseIdentification._calculate_base_parameters(its, tau, W, names)
    parameters, _ = BaseIdentification._apply_weighted_least_squares(its)
    base = list(its._base_indices)

    def predict(m: State) -> np.ndarray:
        return (build_regressor_reduced(stacked(m), dropped)[:, base] @ parameters).reshape(n, -1).T

    return predict


def mujoco_sysid(work: Path, fitted: State) -> Callable[[State], np.ndarray]:
    """mujoco.sysid with the torque of mj_inverse as residual."""
    spec, parameters = _sysid(work)
    m = {k: x[:: max(1, len(x) // FITTED)] for k, x in fitted.items()}
    scale = m["torque"].std(axis=0)

    def residual(x: np.ndarray, given: Any) -> tuple[list[np.ndarray], None, None]:
        columns = [(_inverse(spec, given, c, m) - m["torque"]) / scale for c in x.reshape(len(x), -1).T]
        return [np.stack([c.ravel() for c in columns], axis=1).reshape(-1, *x.shape[1:])], None, None

    return _optimized(spec, parameters, residual)


def _sysid(work: Path) -> tuple[Any, Any]:
    """Model of the arm; its parameters: pseudo-inertia of the bodies, armature, damping, friction loss, offset."""
    import mujoco

    sysid = import_module("mujoco.sysid")

    spec = mujoco.MjSpec.from_file(str(work / "arm.xml"))
    model, given = spec.compile(), sysid.ParameterDict()
    for body in spec.bodies[1:]:
        change, kind = partial(_set_body, body.name), sysid.InertiaType.Pseudo
        given.add(sysid.body_inertia_param(spec.copy(), model, body.name, inertia_type=kind, modifier=change))
    for joint, actuator in zip(spec.joints, spec.actuators, strict=False):
        joint.solref_friction[:] = (0.002, 1.0)
        for name, value, most in (("armature", 0.1, 20.0), ("damping", 1.0, 200.0), ("frictionloss", 1.0, 100.0)):
            change = partial(_set_joint, joint.name, name)
            given.add(sysid.Parameter(f"{joint.name}_{name}", value, 0.0, most, modifier=change))
        change = partial(_set_offset, actuator.name)
        given.add(sysid.Parameter(f"{joint.name}_offset", 0.0, -20.0, 20.0, modifier=change))
    return spec, given


def _set_body(name: str, spec: Any, parameter: Any) -> None:
    """What sysid's own modifier does, whose compilation (4.0.0) refuses bodies without geometry."""
    modifier = import_module("mujoco.sysid._src.model_modifier")
    mass, moment, inertia = np.split(modifier.pi_from_theta(parameter.value), (1, 4))
    com = moment / mass
    xx, xy, xz, _, yy, yz, _, _, zz = inertia + (mass * modifier.skew(com) @ modifier.skew(com)).ravel()
    body = spec.body(name)
    body.mass, body.ipos, body.fullinertia = mass[0], com, [xx, yy, zz, xy, xz, yz]


def _set_joint(joint: str, name: str, spec: Any, parameter: Any) -> None:
    """Damping is a polynomial since MuJoCo 4.0."""
    value, held = parameter.value[0], spec.joint(joint)
    setattr(held, name, np.resize([value, 0.0, 0.0], np.shape(held.damping)) if name == "damping" else value)


def _set_offset(name: str, spec: Any, parameter: Any) -> None:
    import mujoco

    actuator = spec.actuator(name)
    actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    actuator.biasprm[0] = -parameter.value[0]


def _optimized(spec: Any, parameters: Any, residual: Callable[..., Any]) -> Callable[[State], np.ndarray]:
    sysid = import_module("mujoco.sysid")

    best, _ = sysid.optimize(parameters, residual, optimizer="mujoco", max_iters=ITERATIONS, verbose=False)
    return lambda m: _inverse(spec, best, best.as_vector(), m)


def _inverse(spec: Any, given: Any, x: np.ndarray, m: State) -> np.ndarray:
    """Torque (N, n) of mj_inverse for a vector of parameters, offsets included."""
    import mujoco

    sysid = import_module("mujoco.sysid")

    given.update_from_vector(x)
    model = sysid.apply_param_modifiers(given, spec)
    data, out = mujoco.MjData(model), np.empty_like(m["q"])
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    for k, (q, qd, qdd) in enumerate(zip(m["q"], m["qd"], m["qdd"], strict=True)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        out[k] = data.qfrc_inverse
    return out - model.actuator_biasprm[: out.shape[1], 0]


PEERS: dict[str, Fit] = {"figaroh": figaroh, "mujoco.sysid": mujoco_sysid}


def main(name: str, work: Path) -> None:
    """Fit, predict, write."""
    held = dict(np.load(work / "motions.npz"))
    parts = ("fitted_", "judged_")
    fitted, judged = ({k.removeprefix(p): x for k, x in held.items() if k.startswith(p)} for p in parts)
    predict = PEERS[name](work, fitted)
    std = np.sqrt(((predict(fitted) - fitted["torque"]) ** 2).mean(axis=0))
    np.savez(work / "predicted.npz", predicted=predict(judged), std=std)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
