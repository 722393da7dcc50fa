"""A rigid vertical one-joint plant and its run along desired angles, for the tests of friction."""

import numpy as np

from robot_dynamics_ros import _core

SPAN = np.array([0.01, 0.03, 0.08, 0.16, 0.3, 0.45, 0.7, 1.0])
SHARE = np.array([0.28, 0.2, 0.15, 0.12, 0.09, 0.07, 0.05, 0.04])
FC, FS, VS, PRESLIDING, C, ETA, SHEAR, RATE, BOUNDARY = 6.0, 8.0, 0.08, 1e-3, 600.0, 8.2, 4.0, 0.03, 0.004
FRICTION = {"coulomb": FC, "stribeck": FS, "stribeck_velocity": VS, "attraction": C, "presliding": PRESLIDING}
FRICTION |= {"viscous": ETA, "shear_velocity": SHEAR, "viscosity_rate": RATE, "boundary_rate": BOUNDARY}
STIFF = {"transmission.stiffness": 1e8, "transmission.damping": 1e3, "drive.rotor_inertia": 1.0}
STIFF |= {"control.stiffness_gain": 4e5, "control.damping_gain": 3e3, "control.integral_gain": 0.0}


def joint(seed=0, inner_rate=8000.0, **overrides):
    """A rigid vertical one-joint machine: no gravity torque, rotor and link move as one."""
    placement = np.eye(4)[None]
    chain = _core.Chain(placement, np.array([[0, 0, 0, 0, 0, 1.0, 0, 0, 0, 1.0]]), np.eye(4), np.array([0, 0, -9.81]))
    values = STIFF | {f"friction.{k}": v for k, v in FRICTION.items()} | {"friction.reference_temperature": 35.0}
    values |= overrides
    parameters = {k: np.array([v], dtype=float) for k, v in values.items()}
    parameters["friction.span"], parameters["friction.share"] = SPAN[None], SHARE[None]
    plant = _core.Plant(chain, chain, parameters, inner_rate=inner_rate, seed=seed)
    plant.set_temperatures(np.array([35.0]), np.array([35.0]))
    return plant


def follow(plant, q, rate=500.0, **other):
    """Friction torque and rotor angle along the desired angles q (N,)."""
    q = np.asarray(q)[:, None]
    qd = np.gradient(q, 1 / rate, axis=0)
    names = ("true_rotor_friction_torque", "true_theta", "true_omega", "true_friction_power", "true_deflection")
    out = {name: np.empty((len(q), 1)) for name in names}
    plant.run(q, qd, np.gradient(qd, 1 / rate, axis=0), 1 / rate, out, **other)
    return tuple(out[name][:, 0] for name in names)
