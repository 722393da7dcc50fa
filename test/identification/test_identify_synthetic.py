"""Identification of logs made from known parameters: recovery, meaning of the effort, and refusals in one line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from synthetic import synthetic_log, truth_of

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.effort_meaning import recognise
from robot_dynamics_ros.identification.arm.friction_columns import JointFriction
from robot_dynamics_ros.identification.arm.identify import Options, UserChoices, identify, identify_recordings
from robot_dynamics_ros.identification.dataset.initial_model import any_robot
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.identification.metrics import metrics
from robot_dynamics_ros.models.inertia import is_consistent
from robot_dynamics_ros.models.urdf_writer import write_urdf
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

ROBOT = load_robot("ur5e")
TRUTH = truth_of(ROBOT)
# The laws and filters of tests that are about something else.
LAWS = (JointFriction(0.02, ("fv1", "fo", "ia", "fc")),) * 6
SIMPLE = Options(choices=UserChoices(cutoff=8.0, delay=0.0, laws=LAWS, effort_filter=False))


@pytest.fixture(scope="module")
def logs():
    return synthetic_log(ROBOT, TRUTH, 1, duration=20.0), synthetic_log(ROBOT, TRUTH, 2, duration=20.0)


def changed(log: Log, **signals) -> Log:
    return Log(log.joint_names, signals.pop("stamp", log.stamp_ns), {**log.signals, **signals}, log.receive_ns)


def bag(log: Log, folder, name: str):
    return write_bag(log, folder / name, topics=["joint_states"])


def test_a_word_that_no_effort_has_is_refused_whatever_the_robot_file_knows():
    for robot in (ROBOT, ROBOT.with_updates({"links": None})):
        with pytest.raises(DataError, match="amps.*gravity-free"):
            recognise(robot, None, "amps")


def validated(found):
    motion = found.filtered(found.validation[0])
    return metrics(motion.effort, found.consistent.predict(motion))["r2"]


@pytest.fixture(scope="module")
def clean(logs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("clean")
    return identify(ROBOT, [bag(logs[0], folder, "a")], [bag(logs[1], folder, "b")])


def test_parameters_within_three_standard_deviations(clean):
    # through the filters of [Madsen2020 ch5 4.1]
    solution, base = clean.solution, clean.fit.rigid.base
    error = solution.x[: base.size] - base.from_standard(TRUTH.phi)
    sure = solution.separable[: base.size]
    assert sure.sum() >= 33
    assert np.mean(np.abs(error[sure]) < 3 * solution.std[: base.size][sure]) > 0.95
    for j in range(2, 6):
        i = clean.structure.index(base.size)[j][base.size + clean.structure.laws[j].terms.index("ia")]
        assert abs(solution.x[i] - TRUTH.rotor[j]) < 4 * solution.std[i]


def test_sums_that_cannot_be_distinguished_are_marked(clean):
    names = np.flatnonzero(~clean.solution.separable[: clean.fit.rigid.base.size])
    assert [clean.fit.rigid.base.independent[k] for k in names] == [5, 15]  # ZZ1 and ZZ2, each with its rotor


def test_consistent_links_and_prediction(clean):
    assert all(is_consistent(p) for p in clean.consistent.phi.reshape(-1, 10))
    assert validated(clean).min() > 0.99


def test_rotors_that_the_initial_model_does_not_know_keep_their_size():
    """As of a URDF: the physically consistent model predicts as well as the least squares, with their rotors."""
    truth = replace(TRUTH, rotor=np.linspace(2.5, 0.3, 6))
    robot = ROBOT.with_updates({"drives.rotor_inertia": None})
    runs = [recording(synthetic_log(ROBOT, truth, seed, duration=20.0), str(seed)) for seed in (1, 2)]
    found = identify_recordings(robot, runs[:1], runs[1:], SIMPLE)
    m = found.filtered(found.validation[0])
    free, possible = (np.std(m.effort - model.predict(m), axis=0) for model in (found.fit, found.consistent))
    assert np.all(possible < 1.02 * free)
    np.testing.assert_allclose(found.rotor[2:], truth.rotor[2:], rtol=0.1)


def test_simple_friction_gets_a_simple_law(clean):
    assert sum(len(law.terms) for law in clean.structure.laws) <= 6 * 4 + 3


@pytest.mark.parametrize(
    ("change", "kind", "word"),
    [
        (lambda tau: tau / np.array([10.6, 10.6, 10.6, 7.7, 7.7, 7.7]), "current", "current in A"),
        (lambda tau: -tau, "torque", "opposite sign"),
        (lambda tau: tau * np.array([1, 1, -1, 1, 1, 1]), "torque", "effort of elbow_joint has the opposite sign"),
    ],
)
def test_meaning_of_the_effort_is_recognised_and_stated(logs, tmp_path, change, kind, word):
    a, b = (changed(log, effort=change(log.effort)) for log in logs)
    found = identify(ROBOT, [bag(a, tmp_path, "a")], [bag(b, tmp_path, "b")], options=SIMPLE)
    assert found.effort.kind == kind
    assert any(word in text for text in found.statements)
    assert validated(found).min() > 0.99


def test_effort_without_gravity(tmp_path):
    logs = [synthetic_log(ROBOT, TRUTH, seed, duration=20.0, gravity=np.zeros(3)) for seed in (1, 2)]
    found = identify(ROBOT, [bag(logs[0], tmp_path, "a")], [bag(logs[1], tmp_path, "b")], options=SIMPLE)
    assert found.effort.kind == "gravity-free" and not found.effort.includes_gravity
    assert validated(found).min() > 0.99


def test_effort_that_lags_is_shifted_back(logs, tmp_path):
    bags = []
    for k, log in enumerate(logs):
        late = {"q": log.q[3:], "qd": log.qd[3:], "effort": log.effort[:-3]}
        bags.append(bag(Log(log.joint_names, log.stamp_ns[3:], late, log.stamp_ns[3:]), tmp_path, str(k)))
    found = identify(ROBOT, bags[:1], bags[1:])
    assert found.structure.delay == pytest.approx(0.024, abs=0.002)
    assert validated(found).min() > 0.99


def garbage(log):
    q, tau = log.q.copy(), log.effort.copy()
    rows = np.random.default_rng(3).integers(0, len(q), 60)
    tau[rows[:20]], q[rows[20:40]], tau[rows[40:], 2] = 1e300, np.nan, 1e12
    return changed(log, q=q, effort=tau)


def reordered(log):
    return log.reordered([log.joint_names[i] for i in (3, 1, 0, 5, 4, 2)])


def duplicated(log):
    return log[np.sort(np.r_[np.arange(len(log)), np.random.default_rng(4).integers(0, len(log), len(log) // 16)])]


def jittered(log):
    stamp = np.sort(log.stamp_ns + np.random.default_rng(5).normal(0, 2e6, len(log)).astype(np.int64))
    return changed(log, stamp=stamp)


def with_gaps(log):
    return log[np.r_[0:800, 1000:1700, 1800 : len(log)]]


def backwards(log):
    return changed(log, stamp=np.concatenate([log.stamp_ns[:1500], log.stamp_ns[: len(log) - 1500]]))


@pytest.mark.parametrize("spoil", [garbage, reordered, duplicated, jittered, with_gaps, backwards])
def test_spoiled_logs_still_identify(logs, tmp_path, spoil):
    found = identify(ROBOT, [bag(spoil(logs[0]), tmp_path, "a")], [bag(logs[1], tmp_path, "b")], options=SIMPLE)
    assert validated(found).min() > 0.985


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda log: changed(log, effort=1000 * log.effort), "1000 times too large"),
        (lambda log: changed(log, effort=log.effort / 1e5), "times too small"),
        (lambda log: changed(log, q=np.degrees(log.q), qd=np.degrees(log.qd)), "not radians"),
        (lambda log: changed(log, qd=1000 * log.qd), "wrong unit of velocity"),
        (lambda log: changed(log, q=0 * log.q, qd=0 * log.qd), "does not move"),
        (lambda log: log.reordered(log.joint_names[:5]), "'wrist_3_joint' is missing"),
        (lambda log: Log(log.joint_names, log.stamp_ns, {"q": log.q, "qd": log.qd}), "no effort"),
        (lambda log: log[:100], "usable samples"),
        (lambda log: changed(log, effort=np.full_like(log.effort, np.nan)), ""),
    ],
)
def test_unusable_logs_are_refused_in_one_line(logs, tmp_path, spoil, words):
    with pytest.raises(DataError) as caught:
        identify(ROBOT, [bag(spoil(logs[0]), tmp_path, "a")])
    text = str(caught.value)
    assert words in text and "\n" not in text


def test_weak_excitation_is_reported(tmp_path):
    weak = synthetic_log(ROBOT, TRUTH, 1, duration=12.0, amplitude=0.15)
    found = identify(
        ROBOT, [bag(weak, tmp_path, "a")], [bag(synthetic_log(ROBOT, TRUTH, 2), tmp_path, "b")], options=SIMPLE
    )
    assert any("weak excitation" in w for w in found.warnings)
    assert any("faster than what was identified" in w for w in found.warnings)


def test_unknown_choice_of_semantics(logs, tmp_path):
    with pytest.raises(DataError, match="none of auto"):
        identify(ROBOT, [bag(logs[0], tmp_path, "a")], options=Options(effort="volts"))


def test_joints_with_other_names_are_taken_in_order_with_a_warning(logs, tmp_path):
    a, b = (Log([f"arm_{i}" for i in range(6)], x.stamp_ns, x.signals, x.receive_ns) for x in logs)
    found = identify(ROBOT, [bag(a, tmp_path, "a")], [bag(b, tmp_path, "b")], options=SIMPLE)
    assert any("please check" in w for w in found.warnings)
    assert validated(found).min() > 0.99


def test_urdf_with_a_gripper_follows_the_joints_of_the_bag(logs, tmp_path):
    path = tmp_path / "arm.urdf"
    write_urdf(ROBOT, path)
    fingers = "".join(
        f'<link name="finger{k}"/><joint name="finger_joint{k}" type="prismatic"><parent link="wrist_3_link"/>'
        f'<child link="finger{k}"/><axis xyz="0 1 0"/><limit lower="0" upper="0.04" effort="1" velocity="1"/></joint>'
        for k in (1, 2)
    )
    path.write_text(path.read_text().replace("</robot>", fingers + "</robot>"))
    robot = any_robot(str(path), bags=[bag(logs[0], tmp_path, "a")])
    assert robot.joint_names == ROBOT.joint_names


@pytest.mark.parametrize("gravity", [[0.0, 0.0, 9.80665], [9.80665, 0.0, 0.0], [0.0, 6.934, -6.934]])
def test_mounting_is_found_and_reported(tmp_path, gravity):
    logs = [synthetic_log(ROBOT, TRUTH, seed, duration=20.0, gravity=np.array(gravity)) for seed in (1, 2)]
    found = identify(ROBOT, [bag(logs[0], tmp_path, "a")], [bag(logs[1], tmp_path, "b")], options=SIMPLE)
    assert np.allclose(found.robot.gravity, gravity, atol=0.5)
    assert any("gravity acts along" in w for w in found.warnings)
    assert validated(found).min() > 0.985


def test_sign_is_found_without_masses(logs, tmp_path):
    massless = ROBOT.with_updates({"links": None})
    a, b = (changed(x, effort=-x.effort) for x in logs)
    found = identify(massless, [bag(a, tmp_path, "a")], [bag(b, tmp_path, "b")], options=SIMPLE)
    assert any("friction would drive the joints" in w for w in found.warnings)
    assert validated(found).min() > 0.99 and np.all(found.effort.scale == -1)


def coupled(log: Log) -> Log:
    """The log of a wrist whose last motor turns with the sum of the last two joints and loads both."""
    v = log.qd[:, 4] + log.qd[:, 5]
    extra = 1.2 * np.tanh(v / 0.02) + 1.0 * v
    return changed(log, effort=log.effort + np.outer(extra, [0, 0, 0, 0, 1, 1]))


def test_coupled_wrist_is_found_only_where_there_is_one(clean, logs, tmp_path):
    a, b = (coupled(log) for log in logs)
    found = identify(ROBOT, [bag(a, tmp_path, "a")], [bag(b, tmp_path, "b")])
    assert any("coupled wrist" in s for s in found.statements)
    assert validated(found).min() > 0.99
    assert not any("coupled wrist" in s for s in clean.statements)
