"""Recordings of a synthetic and a simulated UR5e, and `identify` up to a step with filters and friction laws that the
test gives.
"""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from synthetic import TRUTH, UR5E, synthetic_log

from robot_dynamics_ros.identification.arm import identify as procedure
from robot_dynamics_ros.identification.arm import live_model, presliding_shape
from robot_dynamics_ros.identification.arm.friction_columns import JointFriction
from robot_dynamics_ros.identification.arm.friction_samples import Kind
from robot_dynamics_ros.identification.arm.model import Structure
from robot_dynamics_ros.identification.arm.presliding import PreslidingProblem
from robot_dynamics_ros.identification.arm.state import Identification, Options
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.identification.metrics import metrics
from robot_dynamics_ros.identification.reports.result import summarise
from robot_dynamics_ros.simulation.rehearsal import rehearse
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions


def laws(*more, n=6):
    """Viscous and Coulomb friction, offset and rotor inertia of every joint, and more terms."""
    return (JointFriction().with_terms(more),) * n


COUPLED = (*laws(n=4), *laws("cv@5", "ca@5", "cc@5+", n=1), *laws("cv@4", "ca@4", "cc@4+", n=1))  # of a wrist


def structure(chosen=None, cutoff=8.0):
    """State from positions below 8 Hz, no delay and no effort filter; unless other laws are chosen, those above."""
    chosen = chosen or laws()
    return Structure(cutoff, 0.0, chosen, (None,) * len(chosen))


# a model of 50 joints that predicts nothing: the effort is its residual
NO_TORQUE = SimpleNamespace(rigid=SimpleNamespace(n=50), predict=lambda motion: np.zeros_like(motion.q))
ONE_SHAPE = {"SLIDING_RATIOS": (1.0,), "STRIBECK_VELOCITIES": (0.3,)}


def of_one_kind(joints):
    """Instead of presliding_problems: links drive elements that slip gradually, their level grows with the load."""
    return [PreslidingProblem(replace(samples, rotor=None, kind=Kind(power=1.0))) for samples in joints]


def given(chosen, search=False):
    """The steps of `identify` with a given structure instead of the choice from the data, and presliding friction of
    one kind and shape, a level that does not fall with speed. search: those are chosen, and after contact a structure.
    """

    tuner = patch.object(procedure, "Tuner", lambda *_: SimpleNamespace(run=lambda: chosen))
    instead = {procedure.choose_structure: tuner(procedure.choose_structure)}
    if not search:
        kind = patch.object(live_model, "presliding_problems", of_one_kind)
        shape = patch.multiple(presliding_shape, **ONE_SHAPE)
        instead |= {s: tuner(kind(shape(s))) for s in (procedure.fit_together, procedure.leave_out_contact)}
    return tuple((text, instead.get(step, step)) for text, step in procedure.STEPS)


def run(seed, robot=UR5E, truth=TRUTH, **changes):
    """A recording of 12 s."""
    return recording(synthetic_log(robot, truth, seed, **({"duration": 12.0} | changes)), str(seed))


def moves(seed, count, pause=0.0, keep=1, pose=(0.0, -1.6, 1.4, -1.4, -1.57, 0.0)):
    """What the simulated robot reports from one random place around a pose to the next, and no contact."""
    points = pose + np.random.default_rng(seed).uniform(-0.9, 0.9, (count, 6))
    path = [motions.quintic(a, b, 500.0, 1.0, 3.0) for a, b in pairwise([pose, *points, pose])]
    if pause:
        path = [motions.join(move, motions.hold(move[0][-1], pause)) for move in path]
    return rehearse(SimulatedRobot(UR5E, seed=seed), motions.join(*path), keep=keep)


def fourier(seed, robot=UR5E, celsius=40.0, payload=None, overrides=None, began=None):
    """What a simulated robot at one temperature reports of 20 s of motion, every fourth cycle.

    payload: mass and centre that the robot's controller does not know; began: stamp [ns].
    """
    machine = SimulatedRobot(robot, seed=seed, overrides=overrides or {})
    machine.set_ambient(celsius)
    machine.set_temperatures(celsius)
    machine.stamp_ns = began or machine.stamp_ns
    if payload:
        machine.set_payload(*payload, configured=False)
    start = [0.0, -1.2, 1.5, -1.9, -1.57, 0.4]
    motion = motions.fourier(start, 20.0, 500.0, base=0.12 * np.pi, amplitude=0.9, velocity=1.5, seed=seed)
    return rehearse(machine, motion, keep=4)


def steps(training, validation=(), robot=UR5E, chosen=None, until="check_data", search=False, **options):
    """The state of `identify` after the step of that name, with the given structure; search: see `given`."""
    state = Identification(robot, Options(**options), list(training), list(validation), "given")
    for _, step in given(chosen or structure(), search):
        step(state)
        if step.__name__ == until:
            return state
    raise LookupError(until)


@cache
def identified():
    """Run 1 identified and run 2 to judge it on; once per process, not to be changed."""
    return steps([run(1)], [run(2)])


@cache
def reported():
    """The result of `identified` as the report and the verdict have it; once per process, not to be changed."""
    return summarise(identified(), "ur5e")


def sliding(motor, v):
    """Friction (N,) [Nm] of an entry of hysteresis.motors that slides at v (N,) [rad/s]."""
    p, fall = motor.values, 1 / (1 + (v / motor.values["stribeck_velocity"]) ** 2)
    level = sum(p["level"]) * (p["sliding_ratio"] + (1 - p["sliding_ratio"]) * fall) + p["fs"] * fall
    return level + p["fv1"] * v + p["fv2"] * v**2 + p["fv0"] * v / (1 + v / p["v0"])


def r2(found, predict=None):
    """R2 (n,) of the first validation recording; of the consistent model unless another prediction is given."""
    motion = found.filtered(found.validation[0])
    return np.asarray(metrics(motion.effort, (predict or found.consistent.predict)(motion))["r2"])
