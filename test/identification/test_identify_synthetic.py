"""Identification of logs made from known parameters: recovery, meaning of the effort, and refusals in one line."""

from dataclasses import astuple, replace

import numpy as np
import pytest
from prepared import TRUTH, UR5E, identified, r2, run, steps
from synthetic import Truth, carrying, coupled, synthetic_log, torque, with_signals

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.effort_meaning import recognise
from robot_dynamics_ros.identification.arm.identify import choose_structure, identify_recordings
from robot_dynamics_ros.identification.arm.load_differences import load_differences
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.models.inertia import is_consistent

CONSTANTS = np.array([10.61, 10.61, 10.61, 7.68, 7.68, 7.68])  # of the robot file


def test_a_word_that_no_effort_has_is_refused_whatever_the_robot_file_knows():
    for robot in (UR5E, UR5E.with_updates({"links": None})):
        with pytest.raises(DataError, match="amps.*gravity-free"):
            recognise(robot, None, "amps")


# -- the whole, every choice left to the data -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def clean():
    return identify_recordings(UR5E, [run(1, duration=20.0)], [run(2)])


def test_errors_of_parameters_are_what_their_deviations_say(clean):
    # through the filters of [Madsen2020 ch5 4.1]
    solution, base = clean.solution, clean.fit.rigid.base
    error = solution.x[: base.size] - base.from_standard(TRUTH.phi)
    sure = solution.separable[: base.size]
    z = error[sure] / solution.std[: base.size][sure]
    assert sure.sum() >= 33
    assert np.mean(np.abs(z) < 3) > 0.95 and 0.2 < np.sqrt((z**2).mean()) < 1.6
    for j in range(2, 6):
        i = clean.structure.index(base.size)[j][base.size + clean.structure.laws[j].terms.index("ia")]
        assert abs(solution.x[i] - TRUTH.rotor[j]) < 4 * solution.std[i]


def test_sums_that_cannot_be_distinguished_are_marked(clean):
    names = np.flatnonzero(~clean.solution.separable[: clean.fit.rigid.base.size])
    assert [clean.fit.rigid.base.independent[k] for k in names] == [5, 15]  # ZZ1 and ZZ2, each with its rotor


def test_consistent_links_and_prediction(clean):
    assert all(is_consistent(p) for p in clean.consistent.phi.reshape(-1, 10))
    assert r2(clean).min() > 0.99


@pytest.mark.parametrize(
    ("first", "share", "seen"), [(1, 1.0, {1, 2}), (1, 0.01, set()), (4, 1.0, {4, 5}), (4, 0.01, {5})]
)
def test_coupled_motors_are_found_and_little_that_turns_with_a_neighbour_is_one_in_a_wrist_alone(first, share, seen):
    """The hundredth part saves 0.3 to 0.5 of the error; friction that the law lacks saves up to 0.25 on serial arms."""
    log = coupled(synthetic_log(UR5E, TRUTH, 1, duration=12.0), first, share)
    found = steps([recording(log, "a")], until="recognise_effort")
    choose_structure(found)
    assert {j for j, law in enumerate(found.structure.laws) if any(t[0] == "c" for t in law.terms)} == seen


# -- rotors and more recordings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("heavier", [1.0, 30.0])
def test_rotors_that_the_initial_model_does_not_know_keep_their_size(heavier):
    """As of a URDF: the physically consistent model predicts as well as the least squares, with their rotors."""
    truth = Truth(*(heavier * x for x in astuple(replace(TRUTH, rotor=np.linspace(2.5, 0.3, 6)))))
    links = {"links.values": None, "links.parameters": truth.phi.reshape(6, 10).tolist()}
    robot = UR5E.with_updates({"drives.rotor_inertia": None, "limits.torque": None} | links)
    found = steps([run(1, truth=truth)], [run(2, truth=truth)], robot, until="fit_together")
    m = found.filtered(found.validation[0])
    free, possible = (np.std(m.effort - model.predict(m), axis=0) for model in (found.fit, found.consistent))
    assert np.all(possible < 1.02 * free)
    np.testing.assert_allclose(found.rotor[2:], truth.rotor[2:], rtol=0.1)


def test_a_poor_recording_beside_a_good_one_does_no_harm():
    """Errors on a third one: of the good one alone, and of both."""
    good, poor, judge = run(1, noise=0.1), run(3, amplitude=0.2, noise=0.1), run(2, noise=0.0)
    alone, both = (1 - r2(steps(runs, [judge], until="fit_together")) for runs in ([good], [good, poor]))
    assert both.mean() < 1.05 * alone.mean()


# -- meaning of the effort ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "kind", "word"),
    [
        (1 / CONSTANTS, "current", "current in A"),
        (-np.ones(6), "torque", "opposite sign"),
        (np.array([1, 1, -1, 1, 1, 1]), "torque", "effort of elbow_joint has the opposite sign"),
    ],
)
def test_meaning_of_the_effort_is_recognised_and_stated(log, scale, kind, word):
    found = steps([recording(with_signals(log, effort=scale * log.effort), "a")], until="recognise_effort")
    assert found.effort.meaning.word == kind
    assert any(word in text for text in found.statements)
    np.testing.assert_allclose(found.training[0].stacked("effort"), log.effort, rtol=0.02)


@pytest.mark.parametrize(("unit", "said"), [("Nm", "looks like a current in A"), ("A", "is a current in A")])
def test_a_current_is_a_warning_only_where_the_robot_file_does_not_declare_it(log, unit, said):
    robot = UR5E.with_updates({"drives.effort.unit": unit})
    rec = recording(with_signals(log, effort=log.effort / CONSTANTS), "a")
    found = steps([rec], robot=robot, until="recognise_effort")
    assert found.effort.meaning.word == "current"
    assert any(said in text for text in found.statements)
    assert any("current" in text for text in found.warnings) == (unit == "Nm")


def test_effort_without_gravity():
    found = steps([run(1, gravity=np.zeros(3))], until="recognise_effort")
    assert found.effort.meaning.word == "gravity-free" and not found.effort.meaning.includes_gravity
    assert not found.rigid.gravity.any()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (1.0 / CONSTANTS, "effort looks like a torque in Nm in a, like a current in A in b"),
        (np.array([-1.0, 1.0, 1.0, 1.0, 1.0, 1.0]), "effort of shoulder_pan_joint has the other sign in b than in a"),
        (np.array([1.0, 1.2, 1.0, 1.0, 1.0, 1.0]), ""),
    ],
)
def test_recordings_whose_efforts_are_not_the_same_are_refused(log, change, text):
    """They were taken for another load, or for contact; a file of two signs of the first joint was good."""
    other = recording(synthetic_log(UR5E, TRUTH, 2, duration=12.0), "b").with_effort(lambda e: e * change)
    if text:
        with pytest.raises(DataError, match=text):
            steps([recording(log, "a"), other], until="recognise_effort")
    else:
        steps([recording(log, "a"), other], until="recognise_effort")


@pytest.mark.parametrize("change", [1.0 / CONSTANTS, np.array([1.0, 1.0, 1.0, 1.0, 1.0, -1.0])])
@pytest.mark.parametrize("moving", [[0], [5], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("first", [True, False])
def test_what_a_recording_does_not_show_is_no_difference(log, change, moving, first):
    """One in which a single joint moves took unit and signs of the file, and was refused beside one of all joints."""
    part = synthetic_log(UR5E, TRUTH, 2, duration=12.0)
    qd = np.where(np.isin(range(6), moving), part.qd, 0.0)
    q = np.where(np.isin(range(6), moving), part.q, part.q[0])
    part = with_signals(part, q=q, qd=qd, effort=torque(UR5E, TRUTH, q, qd, np.gradient(qd, part.time, axis=0)))
    both = [recording(one, name).with_effort(lambda e: e * change) for one, name in ((log, "a"), (part, "b"))]
    found = steps(both if first else both[::-1], until="recognise_effort")
    assert (found.effort.scale * change > 0).all()


def test_sign_is_found_without_masses(log):
    massless = UR5E.with_updates({"links": None})
    found = steps([recording(with_signals(log, effort=-log.effort), "a")], robot=massless, until="recognise_effort")
    assert any("friction would drive the joints" in w for w in found.warnings)
    assert np.all(found.effort.scale == -1)


@pytest.mark.parametrize("gravity", [[0.0, 0.0, 9.80665], [9.80665, 0.0, 0.0], [0.0, 6.934, -6.934]])
def test_mounting_is_found_and_reported(gravity):
    found = steps([run(1, gravity=np.array(gravity))], until="recognise_effort")
    assert np.allclose(found.robot.gravity, gravity, atol=0.5)
    assert "gravity acts along" in found.mounting


def test_masses_of_the_file_that_are_wrong_turn_no_tilted_base_of_joint_torque_sensors():
    """Found with these masses, its direction is 0.8 degrees off."""
    wrong = np.random.default_rng(3).normal(1.0, 0.1, (UR5E.n_joints, 1)) * UR5E.inertial_parameters.reshape(-1, 10)
    changed = {"links": {"source": "wrong", "parameters": wrong}, "drives.torque_side": "link"}
    robot = UR5E.with_updates(changed, {"wrong": "another individual"})
    gravity = np.array([-2.0124, 2.6833, -9.2152])  # 20 degrees
    until = "recognise_effort", "fit_parameters"
    found = [steps([run(1, gravity=gravity)], robot=robot, until=step) for step in until]
    off = [np.rad2deg(np.arccos(state.robot.gravity @ gravity / 9.80665**2)) for state in found]
    assert off[0] > 0.5 and off[1] < 0.3
    assert f"[{found[1].robot.gravity[0]:.2f}, " in found[1].mounting


def test_a_sensor_of_a_wrist_that_is_off_by_far_more_than_its_torque_varies_costs_nothing(log):
    """Its offset was held at 0, and the mean R2 of such joints below it."""
    effort = log.effort.copy()
    effort[:, 5] += 40.0 * effort[:, 5].std()
    found = steps([recording(with_signals(log, effort=effort), "a")], until="fit_parameters")
    free = steps([recording(log, "a")], until="fit_parameters")
    offset = found.fit.coefficient(5, "fo") - free.fit.coefficient(5, "fo")
    assert offset == pytest.approx(40.0 * log.effort[:, 5].std(), rel=0.02)


def test_offsets_of_joint_torque_sensors_are_found_beside_a_tool_that_no_file_names():
    """Held to 0.05 of the mean that the file leaves, they were off by up to 1.7 Nm, and gravity was turned instead."""
    offset = np.random.default_rng(2).normal(size=UR5E.n_joints)
    truth = replace(carrying(1.5), offset=offset, fc=0.1 * TRUTH.fc, fv=0.1 * TRUTH.fv)
    sensors = UR5E.with_updates({"drives.torque_side": "link"})
    rec = recording(synthetic_log(UR5E, truth, 3, duration=20.0), "a")
    found = steps([rec], robot=sensors, until="fit_parameters").fit
    np.testing.assert_allclose([found.coefficient(j, "fo") for j in range(UR5E.n_joints)], offset, atol=0.1)


def test_an_arm_that_stands_carries_no_other_load(log):
    """Friction held its weight: 1.4 kg were named of a UR5e that stood for most of a recording."""
    stands = synthetic_log(UR5E, TRUTH, 3, duration=40.0)
    held = torque(UR5E, replace(TRUTH, fc=0 * TRUTH.fc), stands.q[[300]], 0 * stands.q[[300]], 0 * stands.q[[300]])
    stands.q[300:], stands.qd[300:], stands.effort[300:] = stands.q[300], 0.0, held + 2.0 * TRUTH.fc * np.sign(held)
    recordings = [recording(log, "a"), recording(stands, "b")]
    assert steps(recordings, until="leave_out_contact").load_differences == ""


def test_a_recording_with_another_load_is_named_with_its_mass():
    """1.5 kg that no file names: it was contact of the other recording, and the file was called good."""
    loaded = recording(synthetic_log(UR5E, carrying(1.5), 2, duration=12.0), "loaded")
    first, same = run(1), run(2)
    said, none = (steps([first, second], until="leave_out_contact").load_differences for second in (loaded, same))
    assert "loaded 1.5 +- " in said and "kg more than 1" in said and none == ""
    assert "loaded 1.5 +- " in steps([first], [loaded], until="leave_out_contact").load_differences


def test_another_load_is_named_whatever_mass_the_data_give_to_links_that_show_none():
    """3 % of the identified mass, 43 instead of 18 kg: 0.9 +- 0.02 kg were not named, and the file was called good."""
    loaded = recording(synthetic_log(UR5E, carrying(1.0), 2, duration=12.0), "loaded")
    state = steps([run(1), loaded], until="fit_together")
    heavy = state.consistent.phi.reshape(-1, 10).copy()
    heavy[0, 9] += 60.0
    state.consistent = replace(state.consistent, phi=heavy.ravel())
    assert "loaded 1 +- " in load_differences(state)


def test_weak_excitation_is_reported():
    found = steps([run(1, amplitude=0.05)], [run(2)])
    assert found.solution.condition > 2700
    assert any("do not use it for other motions" in text for text in found.warnings)
    assert any("weak excitation" in w for w in found.warnings)
    assert any("faster than what was identified" in w for w in found.warnings)
    assert not any("weak excitation" in w for w in identified().warnings)


def test_a_solution_without_its_uncertainty_has_no_covariance():
    fit = identified().fit
    assert fit.covariance.shape == (len(fit.solution.x),) * 2
    with pytest.raises(ValueError, match="see with_uncertainty"):
        replace(fit, solution=replace(fit.solution, covariance=None)).covariance  # noqa: B018
