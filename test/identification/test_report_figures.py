"""Figures of the report of `identify`: those of the file that is written, by dynamics and replay of the test."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from prepared import TRUTH, UR5E, run, steps, structure
from synthetic import MODEL, Truth, log_at, synthetic_log

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.friction_columns import JointFriction
from robot_dynamics_ros.identification.arm.identify import identify
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.identification.reports.free_force import free_force
from robot_dynamics_ros.identification.reports.grade import judged_r2
from robot_dynamics_ros.identification.reports.result import baselines, summarise
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.rehearsal import rehearse
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions


def test_figures_are_those_of_the_written_file(found, result):
    """By inverse dynamics and friction of the file, without the code that judges."""
    robot, m = identified_robot(found), found.judged[0]
    model = RobotModel(robot.chain(), robot.joint_names)
    log = log_at(m.t, {"q": m.position, "qd": m.qd}, robot.joint_names)
    log.model_torque = model.rnea(*(np.ascontiguousarray(x) for x in (m.q, m.qd, m.qdd)))
    Pipeline(robot, stages=["friction"]).run(log)
    predicted = log.model_torque + log.friction_torque + robot.array("drives.rotor_inertia") * m.qdd
    rmse = np.sqrt(np.mean((m.effort - predicted) ** 2, axis=0))
    np.testing.assert_allclose(result["validation"]["rmse"], rmse, rtol=1e-6)


def test_figures_follow_the_file_when_it_is_worse_than_the_fit(found):
    """Half the friction of one joint in the written file must show in its figures and in front of the verdict."""
    worse = copy.copy(found)
    friction = {k: list(v) for k, v in found.live.friction.items()}
    for name in ("fc", "fv"):
        friction[name][2] *= 0.3
    worse.live = replace(found.live, friction=friction, hysteresis=None)
    r = summarise(worse, "ur5e")
    assert r["validation"]["rmse"][2] > 2 * r["comparison"]["consistent"]["rmse"][2]
    exceptions = r["verdict"][0].split(":")[0]
    assert UR5E.joint_names[2] in exceptions and "constant Coulomb friction" in exceptions


def test_replay_by_the_live_nodes_is_among_the_figures(found, result):
    robot, log = identified_robot(found), synthetic_log(UR5E, TRUTH, 2, duration=12.0)
    Pipeline(robot, stages=["motion", "friction"]).run(log)
    error = (log.drive_torque - log.model_torque - log.friction_torque)[log.time > 0.1]
    rmse = np.sqrt(np.nanmean(error**2, axis=0))
    np.testing.assert_allclose(result["validation"]["live_nodes"]["rmse"], rmse, rtol=0.02)


def test_the_force_where_nothing_touches_is_told_in_newtons(found, result):
    robot, log = identified_robot(found), synthetic_log(UR5E, TRUTH, 2, duration=12.0)
    Pipeline(robot, stages=["motion", "friction", "force"]).run(log)
    force = log.external_wrench[log.time > 1.0, :3]
    told = result["validation"]["force"]
    np.testing.assert_allclose(told["within"], np.quantile(np.abs(force), 0.95, axis=0), rtol=0.1)
    np.testing.assert_allclose(told["std"], np.median(log.external_wrench_std[log.time > 1.0, :3], axis=0), rtol=0.1)
    covered = (np.abs(force) < 2 * log.external_wrench_std[log.time > 1.0, :3]).mean(axis=0)
    np.testing.assert_allclose(told["covered"], covered, atol=0.03)
    text = f"within {', '.join(f'{x:.2g}' for x in told['within'])} N of zero (x, y, z) for 95 % of the time"
    assert told["axes"] == ["x", "y", "z"] and any(text in line for line in result["verdict"])
    assert free_force(robot.with_updates({"residuals": None}), found.validation) is None  # its deviation is a guess


def test_friction_is_reported_under_the_load_of_the_gears():
    """A tenth of |gravity torque| beside the friction of the synthetic arm."""
    logs = [synthetic_log(UR5E, TRUTH, seed, duration=12.0) for seed in (1, 2)]
    for log in logs:
        log.effort += 0.1 * np.abs(MODEL.gravity(log.q)) * np.tanh(log.qd / 0.02)
    found = steps(*([recording(log, "loaded")] for log in logs), search=True)
    told = summarise(found, "ur5e")["parameters"]["sliding_friction"]
    true = TRUTH.fc[1] + TRUTH.fv[1] * np.array(told["speeds"]) + 0.1 * told["load"][1]  # of the joint that bears most
    np.testing.assert_allclose(told["torque"][1], true, rtol=0.1)
    assert told["load"][1] > 20


def test_the_initial_model_is_judged_as_its_file_says(found):
    """A file that was identified, memory and rotors included, predicts as well when it is the initial model."""
    r = summarise(steps([run(3)], [run(4)], identified_robot(found)), "ur5e")
    assert r["comparison"]["initial_model"]["mean_r2"] > 0.995
    assert np.all(np.array(r["comparison"]["initial_model"]["rmse"]) < 1.3 * np.array(r["validation"]["rmse"]))


def test_the_initial_model_of_torque_behind_the_gear_has_no_rotors():
    updates = {"drives.torque_side": "link", "drives.rotor_inertia": [0.5] * 7, "friction": None}
    robot = load_robot("panda").with_updates(updates)
    zero = np.zeros(7)
    truth = Truth(robot.inertial_parameters, zero, zero, zero, zero)
    chosen = structure((JointFriction(("fv1", "fo", "fc")),) * 7)
    made = [run(seed, robot, truth, duration=20.0) for seed in (1, 2)]
    found = steps(made[:1], made[1:], robot, chosen, until="fit_parameters")
    m = found.filtered(found.validation[0])
    error = m.effort - baselines(found)["initial_model"](m)
    assert np.all(error.std(0) < 0.05 * m.effort.std(0))


def test_consistency_that_costs_accuracy_is_a_warning():
    """No possible bodies explain the effort of a payload of -3 kg: what consistency costs is told."""
    body = -np.array([0.3, 0, 0, 0.3, 0, 0, 0, 0, 0.9, 3.0])
    r = summarise(steps([run(1, payload=body)], [run(2, payload=body)], effort="torque"), "ur5e")
    free, possible = (judged_r2(r, r["comparison"][k]) for k in ("unconstrained", "consistent"))
    assert possible < free - 0.01
    assert any(f"costs {free - possible:.3f} of R2" in text for text in r["warnings"])


def test_a_mounted_payload_is_not_written_twice():
    robot = UR5E.with_updates({"payload.mass": 3.0, "payload.com": [0.0, 0.0, 0.1]})
    body = np.array([0.03, 0, 0, 0.03, 0, 0, 0, 0, 0.3, 3.0])
    written = identified_robot(steps([run(1, robot, payload=body)], robot=robot, until="choose_live_motion"))
    q = np.zeros((1, 6))
    model = RobotModel(written.chain(), written.joint_names)
    truth = RobotModel(UR5E.chain_with_links((TRUTH.phi + np.r_[np.zeros(50), body]).reshape(6, 10)))
    np.testing.assert_allclose(model.gravity(q), truth.gravity(q), atol=1.0)


def halting(seed, folder):
    """A run of the simulated robot that stands for half of its time, where stiction leaves it."""
    start = np.array([0.0, -1.2, 1.5, -1.9, -1.57, 0.4])
    q, qd, qdd = motions.fourier(start, 20.0, 500.0, base=0.1 * np.pi, amplitude=0.9, velocity=1.5, seed=seed)
    still = motions.hold(q[-1], 20.0)
    machine = SimulatedRobot("ur5e", seed=seed)
    machine.set_temperatures(40.0)
    log = rehearse(machine, motions.join((q, qd, qdd), still), keep=4)
    return write_bag(log, folder / str(seed), topics=["joint_states"])


@pytest.mark.long
def test_at_rest_for_half_of_the_run(tmp_path):
    """Figures of rest and motion are separate; a stand of 20 s costs the model of motion 0.01 of R2 at most."""
    found = identify(UR5E, [halting(0, tmp_path)], [halting(1, tmp_path)])
    report = summarise(found, "")["validation"]
    assert all(count > 2000 for count in report["at_rest"]["samples"])
    assert all(count > 1500 for count in report["moving"]["samples"])
    assert min(report["moving"]["r2"]) > 0.95 and min(report["r2"]) > 0.7
    assert report["moving"]["rmse"] != report["at_rest"]["rmse"]
