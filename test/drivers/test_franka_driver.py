"""Franka driver in lockstep with its client's process and the simulated arm; the vendor's library is not needed."""

import numpy as np
import pytest

pytest.importorskip("franka_sim", reason="franka-sim is not installed")

from driver_waits import collect, settled, until
from franka_rig import ROBOT, Rig

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.simulation.franka.controller import RATE, START, PlantPhysics
from robot_dynamics_ros.simulation.server.arm import Arm
from robot_dynamics_ros.simulation.server.arm_server import ArmServer, Settings

MODEL = RobotModel(ROBOT.chain(), ROBOT.joint_names)


@pytest.fixture
def rig(monkeypatch):
    made = Rig(monkeypatch)
    yield made
    made.close()


def test_states_come_with_robot_time_also_to_a_late_reader(rig, driver):
    samples = collect(driver, 20)
    rig.cycles(500)
    assert driver.statistics().pending == 500
    samples += [rig._read(0.0).copy() for _ in range(500)]
    assert rig._read(0.0) is None
    assert set(np.diff([s.stamp_ns for s in samples])) == {1_000_000}
    counts = driver.statistics()
    assert counts.overruns == counts.missed == counts.backwards == counts.non_finite == counts.pending == 0


def test_states_beyond_the_ring_are_counted_as_lost(rig, driver):
    collect(driver, 20)
    rig.cycles(4200)
    assert driver.statistics().overruns == 4200 - 4096 and driver.statistics().pending == 4096


def test_units_and_sides(driver):
    sample = collect(driver, 200)[-1]
    assert np.allclose(sample.effort, MODEL.gravity(sample.q), atol=2.5)  # link side, gravity included
    assert np.allclose(sample.theta - sample.q, 0, atol=5e-3) and np.abs(sample.theta - sample.q).max() > 1e-4
    assert np.isnan(sample.temperature).all() and np.isnan(sample.current).all()


def test_the_vendors_force_estimate_has_our_sign(rig, driver):
    rig.command("set_wrench", wrench=[0, 0, -25, 0, 0, 0])
    collect(driver, 400)
    samples = collect(driver, 100)
    assert np.mean([s.vendor_external_wrench[2] for s in samples]) == pytest.approx(-25, abs=4)
    torque = MODEL.jacobian(samples[-1].q).T @ [0, 0, -25, 0, 0, 0]
    assert np.allclose(samples[-1].vendor_external_joint_torque, torque, atol=3)


def test_the_vendors_force_estimate_knows_the_payload_of_the_robot_file():
    loaded = ROBOT.with_updates({"payload.mass": 2.0, "payload.com": [0.0, 0.0, 0.05]})
    server = ArmServer(Settings(robot="fr3"), Arm(loaded, START, 0, RATE))
    try:
        physics = PlantPhysics(server)
        for _ in range(500):
            physics._cycle()
        assert abs(physics.get_robot_state()["O_F_ext_hat_K"][2]) < 5.0  # N of 19.6
    finally:
        server.hub.close()


def test_moves_through_waypoints_and_streams(driver):
    start = collect(driver, 50)[-1].q_d.copy()
    driver.play([start + 0.1, start], speed=0.8, acceleration=3.0)
    assert settled(driver) == "done", driver.motion
    goal = start + 0.05 * np.sin(np.linspace(0, np.pi, 1000))[:, None] ** 2
    driver.play(start[None], goal, 1000.0)
    assert settled(driver) == "done", driver.motion
    assert np.allclose(collect(driver, 50)[-1].q, start, atol=0.01)


def test_a_motion_stops_on_its_path(driver):
    start = collect(driver, 50)[-1].q_d.copy()
    driver.play([start + [0.5, 0, 0, 0, 0, 0, 0]], speed=0.3)
    until(driver, lambda: driver.motion.state == "moving" and driver.motion.progress > 0.2)
    driver.stop()
    assert settled(driver) == "stopped", driver.motion
    samples = collect(driver, 300)
    moved = samples[-1].q[0] - start[0]
    assert 0.02 < moved < 0.45 and np.abs(samples[-1].qd).max() < 0.02
    driver.play([start], speed=0.8, acceleration=3.0)
    settled(driver)


def test_a_stream_that_starts_elsewhere_is_refused(driver):
    here = collect(driver, 50)[-1].q_d.copy()
    driver.play(None, np.tile(here + 0.3, (100, 1)), 1000.0)
    assert settled(driver) == "failed" and "starts 0.3" in driver.motion.reason


def test_settings_recovery_and_payload(rig, driver):
    collect(driver, 50)
    driver.set_payload(0.7, [0, 0, 0.05])
    driver.set_collision_thresholds([40.0] * 7, [50.0] * 6)
    assert driver.recover() == "recovered"
    assert rig.vendor.thresholds == ([20.0] * 7, [40.0] * 7, [25.0] * 6, [50.0] * 6)  # contact, then collision
    until(driver, lambda: driver.status.payload == pytest.approx(0.7))
    driver.set_payload(0.0, [0, 0, 0])
    assert "control_command_success_rate" in driver.details()


def test_the_answer_to_a_setting_that_was_sent_again_is_none_to_a_request(rig, driver):
    """Settings are sent with every new connection; a recovery that the robot refused then counted as done."""

    def refuse():
        raise rig.vendor.CommandException("not in this mode")

    collect(driver, 5)
    rig.vendor.automatic_error_recovery = refuse
    rig.send({"do": "load", "mass": 0.5, "com": [0.0] * 3, "inertia": [0.0] * 6})
    with pytest.raises(CapabilityError, match="not in this mode"):
        driver.recover()
