"""The simulated robot as others use it: determinism, batches, sensors, modes, and that every feature has an effect."""

from functools import cache

import numpy as np
import pytest

from robot_dynamics_ros import _core
from robot_dynamics_ros.robot_file import load_robot, shipped_robots
from robot_dynamics_ros.simulation.plant.build import WITHOUT, load_plant, without
from robot_dynamics_ros.simulation.robot import TRUTH, SimulatedRobot
from robot_dynamics_ros.trajectories import motions

Q = np.array([0.3, -1.2, 1.5, -1.9, -1.57, 0.4])
MOTION = motions.fourier(Q, duration=2.0, base=np.pi, seed=1)


def run(seed=0, **kw):
    robot = SimulatedRobot("ur5e", seed=seed, q=MOTION[0][0], **kw)
    return robot.run(*MOTION)


@cache
def reference(*overrides):
    """A run with overrides of the plant as (name, value); not to be changed."""
    return run(overrides=dict(overrides))


def test_same_seed_same_bits_other_seed_other_noise():
    (a, ta), (b, tb), (c, tc) = run(), run(), run(seed=1)
    assert np.array_equal(a.current, b.current) and all(np.array_equal(ta[k], tb[k]) for k in TRUTH)
    assert not np.array_equal(a.current, c.current)
    assert np.array_equal(ta["q"], tc["q"]), "noise is measured, it does not move the machine"


def test_single_cycles_equal_the_batch_bit_for_bit():
    log, truth = run()
    robot = SimulatedRobot("ur5e", q=MOTION[0][0])
    for k in range(300):
        record = robot.step_position(*(x[k] for x in MOTION))
        assert record.stamp_ns == log.stamp_ns[k]
        for name in ("q", "qd", "current", "temperature", "effort"):
            assert np.array_equal(getattr(record, name), getattr(log, name)[k]), (k, name)
        assert np.array_equal(record.target_moment, log.tau_d[k])
        assert np.array_equal(robot.truth()["friction_torque"], truth["friction_torque"][k])


def test_keep_stores_every_kth_cycle_of_the_same_run():
    log, truth = run()
    robot = SimulatedRobot("ur5e", q=MOTION[0][0])
    thin, thin_truth = robot.run(*MOTION, keep=7)
    assert np.array_equal(thin.q, log.q[6::7]) and np.array_equal(thin.stamp_ns, log.stamp_ns[6::7])
    assert np.array_equal(thin_truth["deflection"], truth["deflection"][6::7])


CHANGED = {"drive.current_lag": 2e-3, "friction.attraction": 20.0, "transmission.bearing_friction": 0.0}
CHANGED |= {"thermal.copper_loss": 1.0, "sensing.link_offset": 1e-3, "sensing.encoder_skew": 3e-3}
CHANGED |= {"sensing.velocity_bandwidth": 50.0}


ADDITIVE = ("friction.additive_stribeck", 1.0)  # a UR5e has no such feature to leave out
EFFECTS = {name: ((), {name: value}) for name, value in CHANGED.items()}
EFFECTS |= {name: ((ADDITIVE,), dict([ADDITIVE]) | without(name)) for name in sorted(WITHOUT)}


@pytest.mark.parametrize("name", EFFECTS)
def test_every_feature_and_parameter_has_an_effect(name):
    given, overrides = EFFECTS[name]
    (a, ta), (b, tb) = reference(*given), run(overrides=overrides)
    same = [np.array_equal(a.get(k), b.get(k)) for k in a.signals] + [np.array_equal(ta[k], tb[k]) for k in TRUTH]
    assert not all(same)


def test_encoders_and_temperature_are_quantised():
    log, truth = run()
    true = load_plant("ur5e").true
    steps = log.q / true["sensing.link_quantum"]
    assert np.abs(steps - np.round(steps)).max() < 1e-6
    assert np.abs(log.q - truth["q"]).max() <= 0.5 * true["sensing.link_quantum"].max() * 1.001
    steps = log.temperature / true["sensing.temperature_quantum"]
    assert np.abs(steps - np.round(steps)).max() < 1e-6


def test_current_carries_noise_ripple_and_a_constant_that_is_not_the_nominal_one():
    robot = SimulatedRobot("ur5e", q=Q)
    log, truth = robot.run(*motions.hold(Q, 2.0))
    true, nominal = robot.machine.true, robot.robot.array("drives.torque_constant")
    still = log.current[-500:]
    assert still.std(0) == pytest.approx(true["sensing.current_noise"], rel=0.15)
    exact = truth["motor_torque"][-500:].mean(0) / true["drive.torque_constant"]
    assert np.all(np.abs(still.mean(0) - exact) < 0.02)
    np.testing.assert_allclose(log.effort, log.current * nominal, 1e-6)
    assert 1e-4 < np.abs(true["drive.torque_constant"] / nominal - 1).max() < 0.06


def test_tau_d_is_the_nominal_model_with_rotor_inertia_and_without_friction():
    log, _ = run(overrides=without("deviation"))
    import pinocchio as pin

    from bench.speed.setup import pinocchio_model

    robot = load_robot("ur5e")
    model = pinocchio_model(robot.chain())
    data = model.createData()
    B = robot.array("drives.rotor_inertia")
    for k in range(0, len(log), 50):
        expected = pin.rnea(model, data, MOTION[0][k], MOTION[1][k], MOTION[2][k]) + B * MOTION[2][k]
        assert log.tau_d[k] == pytest.approx(expected, abs=1e-9)


def test_position_control_tracks_and_settles():
    robot = SimulatedRobot("ur5e", q=Q)
    log, _ = robot.run(*motions.join(motions.quintic(Q, Q + 0.5, velocity=1.5), motions.hold(Q + 0.5, 4.0)))
    assert np.abs(log.q - log.q_d).max() < 0.02
    assert np.abs(log.q[-1] - Q - 0.5).max() < 3e-4


def under_torque(robot, torque, *scales):
    """Positions after 500 cycles of a constant torque (n,) [Nm]."""
    for _ in range(500):
        record = robot.step_torque(torque, *scales)
    return record.q


def test_zero_torque_stays_and_torque_beyond_friction_moves_that_joint():
    robot = SimulatedRobot("ur5e", q=Q)
    assert np.abs(under_torque(robot, np.zeros(6)) - Q).max() < 1e-3
    assert under_torque(robot, [20.0, 0, 0, 0, 0, 0])[0] - Q[0] > 0.3


def test_friction_scales_make_direct_torque_lighter():
    scales, torque = ((0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.5, 0.5)), [15.0, 0, 0, 0, 0, 0]  # viscous, Coulomb
    travel = [under_torque(SimulatedRobot("ur5e", q=Q), torque, *scale)[0] for scale in scales]
    assert travel[0] < travel[1] < travel[3] and travel[0] < travel[2] < travel[3]


def test_torque_limit_saturates_and_says_so():
    robot = SimulatedRobot("ur5e", q=Q)
    record = robot.step_torque([1000.0, 0, 0, 0, 0, 0])
    assert record.status == _core.Status.saturated
    for _ in range(20):
        robot.step_torque([1000.0, 0, 0, 0, 0, 0])
    assert robot.truth()["motor_torque"][0] <= 150.0 * 1.06


def test_joint_torque_feedback_hides_motor_friction_on_a_link_side_robot():
    stand = np.array([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8])
    push = [0, 0, 0, 0, 0, 0, 1.0]  # above the bearing's friction, below the drive's
    robots = [SimulatedRobot("fr3", q=stand, overrides={"control.torque_feedback": gain}) for gain in (0.0, 4.0)]
    moved = [abs(under_torque(robot, push)[6] - stand[6]) for robot in robots]
    assert moved[0] < 2e-3 < moved[1]


def test_payload_known_to_the_controller_costs_no_tracking_and_an_unknown_one_does():
    def start_error(configured):
        robot = SimulatedRobot("ur5e", q=Q)
        robot.set_payload(4.0, (0, 0, 0.05), configured=configured)
        log, _ = robot.run(*motions.hold(Q, 0.5))
        return np.abs(log.q - Q).max(), log.tau_d[-1, 1]

    (known, with_load), (unknown, without) = start_error(True), start_error(False)
    assert unknown > 3 * known
    assert abs(with_load - without) > 10.0


@pytest.mark.parametrize("name", shipped_robots())
def test_every_shipped_robot_can_be_simulated(name):
    robot = SimulatedRobot(name)
    lower = np.clip([-3.0 if v is None else v for v in robot.robot.limits.position_lower], -3.0, 3.0)
    upper = np.clip([3.0 if v is None else v for v in robot.robot.limits.position_upper], -3.0, 3.0)
    centre = np.clip([0.0, -1.2, 1.5, -1.9, -1.57, 0.4, 0.3][: robot.n_joints], lower + 0.4, upper - 0.4)
    motion = motions.fourier(centre, duration=2.0, rate=robot.rate, base=np.pi, amplitude=0.3, velocity=0.8)
    robot.reset(motion[0][0])
    log, truth = robot.run(*motion)
    assert np.abs(log.q - motion[0]).max() < 0.02
    assert log.joint_names == tuple(robot.robot.joint_names)
    for signal, sensor in (("temperature", "temperature"), ("current", "current"), ("theta", "rotor_encoder")):
        assert log.has(signal) == getattr(robot.robot.sensing, sensor)
    assert all(np.isfinite(v).all() for v in truth.values())


def test_link_side_robot_reports_joint_torque_and_rotor():
    stand = np.array([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8])
    log, truth = SimulatedRobot("fr3", q=stand).run(*motions.hold(stand, 1.0, 1000.0))
    assert log.effort[-100:].mean(0) == pytest.approx(truth["joint_torque"][-1], abs=0.3)
    assert np.abs(log.theta[-1] - log.q[-1]).max() > 1e-4


def test_rotor_signals_of_a_ur_on_request():
    log, truth = SimulatedRobot("ur5e", q=Q, overrides={"outputs.rotor_encoder": True}).run(*motions.hold(Q, 0.1))
    assert log.has("theta") and log.has("motor_torque")
    np.testing.assert_allclose(log.theta, truth["theta"], 1e-6, 1e-5)


def test_temperatures_can_be_preconditioned():
    cold, warm = SimulatedRobot("ur5e", q=MOTION[0][0]), SimulatedRobot("ur5e", q=MOTION[0][0])
    cold.set_temperatures(10.0)
    warm.set_temperatures(45.0, housing=38.0)
    (_, ta), (b, tb) = cold.run(*MOTION), warm.run(*MOTION)
    assert b.temperature == pytest.approx(38.0, abs=0.5) and tb["lubricant_temperature"] == pytest.approx(45.0, abs=0.5)
    assert np.all(ta["friction_torque"].std(0) > 1.2 * tb["friction_torque"].std(0))


def test_controller_can_believe_another_robot_file_without_the_machine_changing():
    shipped = load_robot("ur5e")
    links = [v.model_dump() for v in shipped.links.values]
    links[1]["mass"] *= 1.3
    identified = shipped.with_updates({"links.values": links, "friction.parameters.fc": [9.0] * 6})
    plain, other = SimulatedRobot("ur5e", q=Q), SimulatedRobot("ur5e", q=Q, controller_model=identified)
    assert np.array_equal(plain.machine.link_parameters, other.machine.link_parameters)
    differ = {k for k, v in plain.machine.true.items() if not np.array_equal(v, other.machine.true[k])}
    assert differ == {"control.coulomb"}
    before, after = (r.run(*motions.hold(Q, 0.1))[0].tau_d[-1] for r in (plain, other))
    assert abs(after[1]) > abs(before[1]) + 1.0


def test_every_parameter_of_a_plant_file_has_a_meaning():
    """The reference of the documentation is made of these texts."""
    from robot_dynamics_ros.simulation.plant.plant_file import JointType, PlantFile

    blocks = JointType.model_fields | {k: PlantFile.model_fields[k] for k in ("deviation", "integration", "outputs")}
    fields = [(block, name, f) for block, outer in blocks.items() for name, f in outer.annotation.model_fields.items()]
    assert [f"{block}.{name}" for block, name, field in fields if name != "source" and not field.description] == []


def test_a_batch_lets_other_threads_run():
    import threading

    motion = [np.tile(x, (5, 1)) for x in MOTION]
    robot = SimulatedRobot("ur5e", q=MOTION[0][0])
    worker, turns = threading.Thread(target=robot.run, args=motion), 0
    worker.start()
    while worker.is_alive():
        turns += 1
    assert turns > 10_000
