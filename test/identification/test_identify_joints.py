"""Properties of joints from recordings of the simulated robot: what is found, what is refused, what is written."""

import json

import numpy as np
import pytest
from command_line import printed, robot_dynamics
from force_bench import with_residuals
from presliding_joint import elements
from synthetic import UR5E
from table_files import numbers

from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.identification.excitation.joint_motions import (
    duty_cycles,
    joined,
    reversals,
    stiffness,
    velocity_steps,
)
from robot_dynamics_ros.identification.joint.fits import JointFit
from robot_dynamics_ros.identification.joint.identify import (
    JointsFound,
    _refuse_created_energy,
    identify_joints,
    with_fits,
)
from robot_dynamics_ros.identification.joint.thermal import ThermalFit
from robot_dynamics_ros.identification.reports.joint import judged
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import hysteresis_from_robot
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.plant.build import FAST, without
from robot_dynamics_ros.simulation.rehearsal import rehearse
from robot_dynamics_ros.simulation.robot import SimulatedRobot

START = np.array([0.0, -1.2, 1.5, -1.9, -1.57, 0.4])
PAN, LIFT = UR5E.joint_names[:2]


def simulated(plan, overrides=None, keep=1, temperature=35.0, **options):
    machine = SimulatedRobot(UR5E, overrides=FAST | (overrides or {}), rate=plan.rate, **options)
    machine.set_temperatures(temperature, temperature)
    return rehearse(machine, plan.motion, keep=keep)


@pytest.fixture(scope="module")
def steps():
    return simulated(joined(UR5E, [velocity_steps(UR5E, j, START, count=10, slowest=0.03) for j in (0, 1)]))


@pytest.fixture(scope="module")
def bag(steps, tmp_path_factory):
    return numbers(steps, tmp_path_factory.mktemp("bags") / "steps")


@pytest.fixture(scope="module")
def slow_turn():
    plan = reversals(UR5E, 0, START - [np.pi, 0, 0, 0, 0, 0], count=50)
    return simulated(plan, {"outputs.rotor_encoder": True}, keep=4)


@pytest.fixture(scope="module")
def found(steps):
    return identify_joints(steps, UR5E, "friction")


def test_friction_of_the_joints_that_moved_and_a_reason_for_the_others(found):
    assert set(found.fits) == {PAN, LIFT} and set(found.refused) == set(UR5E.joint_names[2:])
    assert all("velocity-steps" in why for why in found.refused.values())
    (reason,) = found.reasons()
    assert reason.startswith(f"{', '.join(UR5E.joint_names[2:])}: no stretch of constant velocity")
    assert all(f.numbers["nrmse"] > 98 for f in found.fits.values())
    before, after = FrictionModel.from_robot(UR5E), FrictionModel.from_robot(found.robot)
    v = np.full((1, 6), 0.7)
    assert np.allclose(before.torque(v)[0, 2:], after.torque(v)[0, 2:], rtol=1e-2)  # the others keep theirs
    assert abs(before.torque(v)[0, 0] - after.torque(v)[0, 0]) > 0.2
    assert found.robot.hysteresis == UR5E.hysteresis


def test_the_found_friction_predicts_another_motion(found):
    other = simulated(velocity_steps(UR5E, 0, START + 0.4, count=10, slowest=0.05, fastest=1.4), seed=5)
    again = identify_joints(other, UR5E, "friction", [0])
    x = np.linspace(0.05, 1.4, 9)[:, None] * np.ones(6)
    a, b = (FrictionModel.from_robot(r).torque(x)[:, 0] for r in (found.robot, again.robot))
    assert np.abs(a - b).max() < 0.02 * np.abs(a).max()


def test_load_shows_on_the_shoulder_only(found):
    pan, lift = found.fits[PAN], found.fits[LIFT]
    assert lift.parameters["fl"] > 0 and not any("load spans" in note for note in lift.notes)
    assert pan.parameters["fl"] == 0 and any("load spans" in note for note in pan.notes)


MISSING = {"thermal": "temperature spans|no run", "kinematic-error": "no rotor angle .* either side"}
MISSING |= {"stiffness": "no rotor angle .* force-gauge"}


@pytest.mark.parametrize(("what", "words"), MISSING.items())
def test_data_that_cannot_show_it_is_refused_with_what_to_record(steps, what, words):
    with pytest.raises(DataError, match=words):
        identify_joints(steps, UR5E, what, [0])


def test_steps_are_no_reversals(steps):
    with pytest.raises(DataError, match="reversals"):
        identify_joints(steps[: len(steps) // 6], UR5E, "hysteresis", [0])


def test_hysteresis_from_slow_reversals(slow_turn):
    found = identify_joints(slow_turn, UR5E, "hysteresis", [0])
    fit = found.fits[PAN]
    assert fit.numbers["nrmse"] > 75 and np.dot(fit.parameters["d"], fit.parameters["k"]) == pytest.approx(1.0)
    core = hysteresis_from_robot(found.robot)
    assert len(core.valid) == 6
    assert found.robot.array("hysteresis.parameters.fc0")[1] == UR5E.array("hysteresis.parameters.fc0")[1]


def test_residuals_of_other_friction_are_left_out(slow_turn):
    judged = with_residuals([1.0] * 6, [1.0] * 6)
    found, kept = (identify_joints(slow_turn, judged, what, [0]) for what in ("hysteresis", "kinematic-error"))
    assert found.robot.residuals is None and any("residuals" in note for note in found.notes)
    assert kept.robot.residuals == judged.residuals and not kept.notes


def test_kinematic_error_and_its_use(slow_turn):
    found = identify_joints(slow_turn, UR5E, "kinematic-error", [0])
    numbers = found.fits[PAN].numbers
    assert 2e-4 < numbers["error_peak_to_peak"] < 1e-3 and numbers["rms_after"] < numbers["rms_before"]
    table = found.robot.array("hysteresis.parameters.kinematic_error")
    assert np.all(table[1:] == 0) and np.ptp(table[0]) > 2e-4
    better = identify_joints(slow_turn, found.robot, "hysteresis", [0])
    assert np.array_equal(better.robot.array("hysteresis.parameters.kinematic_error"), table)


def test_stiffness_of_the_base_joint():
    arm = np.array([0.0, -0.3, 0.3, -1.57, -1.57, 0.0])
    quick = UR5E.with_updates({"limits.acceleration": 14.0, "limits.tcp_speed": None})
    plan = stiffness(quick, 0, arm, duration=12.0)
    rotors = {"outputs.rotor_encoder": True, "integration.inner_rate": 4000.0}
    log = simulated(plan, without("kinematic_error") | rotors)
    found = identify_joints(log, UR5E, "stiffness", [0])
    assert 5e3 < found.fits[PAN].numbers["stiffness"] < 5e4 and found.robot.stiffness.model == "odd_polynomial"


def test_thermal_model_of_a_joint_that_warms():
    free = UR5E.with_updates({"limits.tcp_speed": None})
    plan = duty_cycles(free, 0, START, duties=(1.0, 0.3), minutes=5.0, amplitude=1.4, period=2.5)
    small = {"thermal.lubricant_capacity": 15.0, "thermal.housing_capacity": 150.0, "thermal.idle_power": 0.0}
    log = simulated(plan, small, keep=10, temperature=22.0)
    cold = simulated(velocity_steps(UR5E, 0, START, count=10), temperature=22.0)
    known = identify_joints(cold, UR5E, "friction", [0])
    found = identify_joints(log, known.robot, "thermal", [0])
    fit = found.fits[PAN]
    assert fit.parameters["alpha"] < 0 and fit.numbers["nrmse"] > fit.numbers["nrmse_without"]
    assert found.robot.thermal.model == fit.model
    # of one joint: the file runs, without a heat balance until the others are identified, too
    assert any("once those of all joints are known" in note for note in fit.notes)
    assert found.robot.heat_balance is None
    part = log[:50]
    assert not (Pipeline(found.robot).run(part) == int(Status.unavailable)).any()
    np.testing.assert_array_equal(part.temperature_estimate, part.temperature)
    robot = found.robot
    for joint in range(1, 6):
        robot = with_fits(robot, {joint: fit}, "this test")
    np.testing.assert_array_equal(robot.heat_balance.parameters["alpha"], [fit.parameters["alpha"]] * 6)


def test_what_duty_cycles_do_not_determine_is_named():
    numbers = {"alpha": -0.01, "gamma": 0.0499999, "heat_transfer": 999.9999, "heat_capacity": 30.0}
    std = {"alpha": 0.001, "gamma": 0.01, "heat_transfer": 1.0, "heat_capacity": 40.0}
    fit = ThermalFit("two_node", numbers, std, 90.0, 85.0, 12.0)
    assert fit.loose == ["gamma", "heat_transfer", "heat_capacity"]


def test_mixed_laws_are_refused(steps):
    law = {"source": "x", "model": "luo", "parameters": {"fv1": 1.0, "fv2": 0.0, "fv3": 0.0, "fc": 2.0}}
    with pytest.raises(DataError, match="identify all joints together"):
        identify_joints(steps, UR5E.with_updates({"friction": law}, {"x": "test"}), "friction", [0])


@pytest.mark.parametrize("joints, parameters", [((1,), {"k": [1.0, 1.0]}), (range(6), {"kinematic_error": [0.0] * 8})])
def test_the_memory_that_identify_wrote_is_not_replaced_in_joints_that_were_not_fitted(joints, parameters):
    fits = {j: JointFit(UR5E.joint_names[j], "hysteresis", "egms", parameters, {}, None) for j in joints}
    with pytest.raises(DataError, match=f"presliding for {PAN}, .*which egms cannot carry"):
        with_fits(UR5E.with_updates({"hysteresis": elements([1e-3], [5.0])}, {"test": "this test"}), fits, "this test")


def test_the_command_writes_robot_file_and_report(bag, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    arguments = ["identify", str(bag), "-r", "ur5e", "--what", "friction", "--joint", "1"]
    arguments += ["--out", str(tmp_path / "out")]
    done = printed(*arguments)
    numbers = json.loads((tmp_path / "out" / "friction.json").read_text())
    robot = load_robot(numbers["files"]["robot_file"])
    assert robot.friction.model == "madsen" and "identify --what friction" in robot.sources["identify_joint"]
    assert "friction" in robot.provenance[-1].changed
    page = (tmp_path / "out" / "friction.html").read_text()
    assert page.count("<svg") == 1 and PAN in page
    assert all(head in page and head in done for head in ("fit %", "rmse Nm"))
    assert numbers["level"] == "good" and [row["joint"] for row in numbers["matrix"]["rows"]] == [PAN]
    assert "<td>Nm s/rad</td>" in page


@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize("unit", ["A", "%"])
def test_friction_in_another_unit_is_not_written_into_a_file_in_newton_metres(steps, tmp_path, unit, imported):
    """Ampere of the columns became Nm of the robot file without a word."""
    signals = (("q", "rad", steps.q), ("effort", unit, steps.effort))
    columns = {f"{name}{j} [{of}]": x[:, j] for name, of, x in signals for j in range(6)}
    np.savetxt(
        tmp_path / "run.csv",
        np.column_stack([steps.time, *columns.values()]),
        delimiter=",",
        header=",".join(["time [s]", *columns]),
        comments="",
    )
    out, recorded = tmp_path / "out", tmp_path / "run.csv"
    if imported:
        recorded = tmp_path / "bag"
        robot_dynamics("import", tmp_path / "run.csv", "-r", "ur5e", "--out", recorded, catch_exceptions=False)
    with pytest.raises(DataError, match=f"in {unit}, ur5e declares Nm: convert"):
        robot_dynamics(
            *("identify", recorded, "-r", "ur5e", "--what", "friction", "--joint", "1", "--out", out),
            catch_exceptions=False,
        )
    assert not out.exists()


def test_the_command_says_that_temperatures_were_left_out(steps, tmp_path, no_pictures):
    kelvin = np.full_like(steps.q, 300.0)
    np.savez(tmp_path / "steps.npz", time=steps.time, q=steps.q, qd=steps.qd, effort=steps.effort, temperature=kelvin)
    arguments = [tmp_path / "steps.npz", "-r", "ur5e", "--what", "friction", "--joint", "1", "--out", tmp_path / "out"]
    done = robot_dynamics("identify", *arguments, catch_exceptions=False)
    (said,) = json.loads((tmp_path / "out" / "friction.json").read_text())["notes"]
    assert "left out (kelvin?)" in said and said in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("fits", "misfit", "level"),
    [((98, 97), 5, "good"), ((98, 30), 5, "fair"), ((70, 65), 5, "fair"), ((40, 30), 5, "bad"), ((98, 97), 40, "fair")],
)
def test_the_grade_is_that_of_most_joints_and_others_are_excepted(fits, misfit, level):
    numbers = {"misfit": 3.0, "misfit_share": float(misfit), "rmse": 0.1}
    figures = {name: {"nrmse": float(fit), **numbers} for name, fit in zip((PAN, LIFT), fits, strict=True)}
    found = {name: JointFit(name, "hysteresis", "egms", {"fc0": 1.0}, of, None) for name, of in figures.items()}
    said = judged(JointsFound("hysteresis", found, {}, UR5E), "x.yaml", "mine.yaml")
    assert said["level"] == level and any("3 Nm" in text for text in said["verdict"])
    assert (LIFT in said["verdict"][0]) == (fits == (98, 30))


def test_refusal_on_the_command_line_is_one_line_and_writes_nothing(bag, tmp_path):
    line = f"identify {bag} -r ur5e --what stiffness --out {tmp_path}/o"
    done = robot_dynamics(*line.split())
    assert isinstance(done.exception, DataError) and "no joint could be identified" in str(done.exception)
    assert not (tmp_path / "o").exists()


def test_a_motion_is_designed_rehearsed_and_identified(tmp_path):
    start = ",".join(map(str, START))
    lines = (
        f"excite reversals -r ur5e --joint 6 --start={start} --count 8 --travel 0.2 --floor=-1 --out {tmp_path}/m.csv",
        f"rehearse {tmp_path}/m.csv -r ur5e --out {tmp_path}/bag",
        f"identify {tmp_path}/bag -r ur5e --what hysteresis --joint wrist_3_joint --out {tmp_path}/o",
    )
    for line in lines:
        printed(*line.split())
    assert (tmp_path / "m.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    "arguments,words",
    [
        (["--start=1,2"], "6 numbers"),
        (["--joint", "elbow"], "none of"),
        (["--joint", "²"], "none of"),
        (["--start=0,-1,1,-1,-1,0", "--count", "8"], "madsen needs 55"),
        (["--start=9,0,0,0,0,0"], "choose another start"),
        (["--duration", "5"], "--duration: is no option of velocity-steps"),
        (["--floor", "0.9"], "floor"),
        (["--inside", "-0.1", "-0.1", "0", "0.1", "0.1", "inf"], "box to stay in"),
        (["--outside", "-0.8", "-0.5", "0", "-0.1", "0.5", "1"], "box to stay out of"),
    ],
)
def test_wrong_motions_of_a_joint_are_one_line(arguments, words, tmp_path):
    line = ["excite", "velocity-steps", "-r", "ur5e", "--out", str(tmp_path / "x.csv"), *arguments]
    done = robot_dynamics(*line)
    assert done.exception is not None and words in str(done.exception) and not list(tmp_path.iterdir())


def test_a_law_with_fixed_parameters_goes_into_a_file_that_has_none_of_them(steps):
    """luo_load as `identify` writes it has no velocity_floor; the joints that were not fitted need one above zero."""
    law = {"fc": [1.0] * 6, "fv1": [1.0] * 6, "eps": [0.01] * 6}
    robot = UR5E.with_updates({"friction": {"source": "x", "model": "luo_load", "parameters": law}}, {"x": "test"})
    fit = JointFit(LIFT, "friction", "luo_load", {"fc": 2.0, "fv1": 3.0, "velocity_floor": 0.01}, {}, None)
    written = with_fits(robot, {1: fit}, "test")
    assert written.friction.parameters["velocity_floor"][0] > 0
    FrictionModel.from_robot(written).torque(np.ones(6))


def test_a_law_that_creates_energy_beyond_the_recorded_speeds_is_refused():
    parameters = {"fc": [5.0] * 6, "fv1": [8.0] * 6, "fv2": [0.0] * 6, "fv3": [-30.0, *[0.0] * 5], "fb": [0.0] * 6}
    fitted = UR5E.with_updates({"friction": {"source": "t", "model": "luo", "parameters": parameters}}, {"t": "test"})
    text = f"{PAN}: identified friction creates energy.*nothing is written: record speeds"
    with pytest.raises(DataError, match=text):
        _refuse_created_energy(fitted, {PAN})
    _refuse_created_energy(fitted, {UR5E.joint_names[1]})
