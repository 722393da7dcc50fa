"""Joint-torque feedback and flexible feedforward in the torque loop, in closed loop with the simulated robot."""

import numpy as np
import pytest
from closed_rig import ROBOT, START, Closed

from robot_dynamics_ros._core import EnableResult, GuardState, Status, TorqueMode, TorqueTrajectory
from robot_dynamics_ros.control.torque import torque_loop
from robot_dynamics_ros.drivers.guard import guard_limits
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.plant.build import load_plant, without
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories.smooth import through

STRAIGHT = without("kinematic_error", "backlash")
SOURCES = ("deflection", "sensor")


def both_sides(overrides=STRAIGHT, **more):
    """The UR5e with rotor encoders, joint torque sensors and the stiffness the simulated one was given."""
    true = load_plant(ROBOT, overrides).true
    k, h, d = (true[f"transmission.{name}"] for name in ("stiffness", "hardening", "damping"))
    block = {
        "model": "odd_polynomial",
        "parameters": {"a": np.column_stack([k, h]).tolist(), "damping": d.tolist()},
        "source": {"*": "estimate_gms"},
    }
    has = {"sensing.rotor_encoder": True, "sensing.joint_torque_sensor": True, "stiffness": block}
    return ROBOT.with_updates(has | more)


def tracked(parameters, robot=None, path=None, overrides=STRAIGHT):
    """Root mean square error of each joint [mrad] and the largest change of the correction in a cycle [Nm]."""
    robot = robot or both_sides()
    rig = Closed({"law": "fixed"} | parameters, robot=robot, overrides=overrides)
    rig.path = path or rig.path
    rig.enabled()
    error, correction = [], []
    for _ in range(1500):
        record = rig.cycle()
        error.append(record["q"] - record["q_d"])
        correction.append(record["correction"].copy())
    assert rig.loop.state == GuardState.ok
    return 1e3 * np.sqrt(np.mean(np.square(error[300:]), 0)), np.abs(np.diff(correction[300:], axis=0)).max()


@pytest.fixture(scope="module")
def plain():
    return tracked({})[0]


@pytest.mark.parametrize("source", SOURCES)
def test_feedback_of_joint_torque_takes_friction_s_part_of_the_error(source, plain):
    # [Madsen2020 appB]: the base joint carries no gravity, so that friction is all of its error
    error, _ = tracked({"feedback": source})
    assert error[0] < 0.6 * plain[0]
    assert (error[3:] < 0.95 * plain[3:]).all()


@pytest.mark.parametrize("source", SOURCES)
def test_the_default_gain_has_a_margin_of_two(source, plain):
    error, change = tracked({"feedback": source, "feedback_gain": 1.4})
    assert change < 4.0  # Nm in a cycle; the guard's rate limit, which ringing reaches, is 6 Nm and more
    assert error[0] < 0.5 * plain[0]


def kinematic_error_of(robot, points=256):
    """The table a slow turn would give: theta - q - deflection at rest."""
    sim, rows = SimulatedRobot(robot, rate=500), []
    for k in range(points):
        sim.reset(np.full(6, 2 * np.pi * k / points))
        rows.append(sim.core.get("true_theta") - sim.core.get("true_q") - sim.core.get("true_deflection"))
    return np.array(rows).T


def test_deflection_is_what_is_left_without_the_kinematic_error():
    tight = without("backlash")
    blind = tracked({"feedback": "deflection"}, both_sides(tight), overrides=tight)[0]
    table = {"hysteresis.parameters.kinematic_error": kinematic_error_of(ROBOT)}
    seeing = tracked({"feedback": "deflection"}, both_sides(tight, **table), overrides=tight)[0]
    assert (seeing[:3] < 0.6 * blind[:3]).all()


def test_a_signal_that_is_lost_leaves_computed_torque_and_says_so():
    rig = Closed({"feedback": "deflection"}, robot=both_sides(), overrides=STRAIGHT).enabled()
    assert rig.cycle(300)["correction"].any() and rig.record["status"] in (Status.ok, Status.saturated)
    rig.blind = True
    record = rig.cycle()
    assert record["status"] == Status.unavailable and not record["correction"].any()
    assert np.isnan(record["joint_torque"]).all() and np.isfinite(record["torque"]).all()
    rig.blind = False
    assert rig.cycle(5)["correction"].any()


def test_feedback_acts_in_tracking_alone():
    rig = Closed({"feedback": "sensor"}, robot=both_sides()).enabled(TorqueMode.guide)
    assert not rig.cycle(200)["correction"].any()


def test_moving_the_rotors_ahead_helps_a_soft_robot_on_a_quick_path():
    # twenty times softer than a UR5e, without friction, whose error would hide the rotors'
    soft = STRAIGHT | without("friction", "deviation", "hardening", "ripple", "noise", "quantisation")
    soft |= {"transmission.stiffness": 0.05 * load_plant(ROBOT).true["transmission.stiffness"]}
    none = {"friction.parameters.fc": 1e-6, "friction.parameters.fv": 1e-6, "hysteresis": None}
    robot = both_sides(soft, **none, **{"limits.velocity": [6.0] * 6})
    turns = START + np.array([0, 0.5, -0.5, 0.3, -0.2, 0.4, 0])[:, None]
    path = through(turns, velocity=2.5, acceleration=8.0)
    laws = [{"feedforward": f, "bandwidth": 4.0} for f in ("rigid", "flexible")]
    errors = [tracked(law, robot, path=path, overrides=soft)[0] for law in laws]
    moved = [0, 2, 3]  # joints whose rotor inertia counts against their link's
    assert errors[1][moved].sum() < 0.95 * errors[0][moved].sum()


def test_a_trajectory_without_jerk_and_snap_is_refused_by_the_loop():
    rig = Closed({"feedforward": "flexible"}, robot=both_sides())
    rig.cycle(5)
    rig.loop.enable(TorqueMode.track, TorqueTrajectory(rig.path.q, rig.path.qd, rig.path.qdd))
    assert rig.cycle()["state"] == GuardState.idle and rig.loop.enabled == EnableResult.not_smooth


@pytest.mark.parametrize(
    ("robot", "parameters", "reason"),
    [
        (ROBOT, {"feedback": "deflection"}, "no rotor encoder"),
        (ROBOT, {"feedback": "sensor"}, "no joint torque sensor"),
        (ROBOT, {"feedforward": "flexible"}, "stiffness is null"),
        (ROBOT.with_updates({"sensing.rotor_encoder": True}), {"feedback": "deflection"}, "stiffness is null"),
        (both_sides(**{"drives.torque_side": "link"}), {"feedforward": "flexible"}, "behind the transmission"),
        (load_robot("fr3"), {"feedback": "sensor"}, "behind the transmission"),
    ],
)
def test_what_the_robot_file_does_not_have_is_refused_with_the_reason(robot, parameters, reason):
    with pytest.raises(CapabilityError, match=reason):
        torque_loop(robot, guard_limits(robot), parameters)


def test_the_robot_s_own_limit_on_changes_of_torque_is_the_guard_s():
    franka = load_robot("fr3")
    assert guard_limits(franka).torque_rate == pytest.approx(np.full(7, 1000.0))
    ours = guard_limits(ROBOT)
    assert ours.torque_rate == pytest.approx(20.0 * ours.torque)  # from one end to the other in 0.1 s
