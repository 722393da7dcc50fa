"""Verdict of a replay: forces that may not be of contact are not good, and nothing recommends going live with them."""

import json
import re
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import robot_dynamics
from force_bench import COM, ORIENTATIONS, POSE, UR5E, carrying, measured, moving, push, still, through, with_residuals
from stepwise import gated
from table_files import numbers

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.effort.lag import binned, lags, late
from robot_dynamics_ros.estimators.replay import UNTRUSTED, replay
from robot_dynamics_ros.estimators.replay_changes import _least_size
from robot_dynamics_ros.estimators.replay_verdict import STATES, judged
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

LIVE, AGAIN = "robot-dynamics up", "robot-dynamics identify"


@pytest.fixture(autouse=True)
def identified(monkeypatch):
    """The friction of every robot file counts as identified."""
    monkeypatch.setattr("robot_dynamics_ros.estimators.replay_verdict.identified", lambda friction: True)


RESIDUALS = [0.5, 0.8, 0.5, 0.15, 0.15, 0.15], [1.0, 1.0, 1.0, 0.3, 0.3, 0.3]  # Nm
STATED = with_residuals(*RESIDUALS)
VISCOUS = np.array([10.0, 10.0, 8.0, 2.0, 2.0, 2.0])  # Nm s/rad


def replayed(log, folder, robot=STATED, **options):
    return replay([numbers(log, folder / "bag")], robot, **options)


@pytest.fixture
def free(tmp_path):
    """Replay of a free motion."""
    return replayed(measured(moving(), noise=0.1), tmp_path, UR5E)


def verdict_of(result, **changes):
    return judged(result, result.summary() | changes, None, "ur5e")


def test_a_free_motion_is_good_and_may_go_live(free):
    said = verdict_of(free)
    assert said["level"] == "good" and said["next"].startswith(LIVE)


def test_a_file_that_was_never_identified_is_fair_at_best(free, monkeypatch):
    monkeypatch.setattr("robot_dynamics_ros.estimators.replay_verdict.identified", lambda friction: False)
    said = verdict_of(free)
    assert said["level"] == "fair" and "Friction of ur5e was not identified" in said["verdict"][1]
    assert said["next"].startswith(AGAIN)


@pytest.mark.parametrize(("share", "level", "then"), [(0.25, "good", LIVE), (0.5, "fair", AGAIN)])
def test_contact_much_of_the_time_is_a_doubt(free, share, level, then):
    said = verdict_of(free, contact_share=share)
    assert said["level"] == level and said["next"].startswith(then)


LASTED = [([1], [], "good"), ([1], [1], "good"), ([1, 1], [1, 1], "good"), ([1, 1], [1], "fair")]
LASTED += [(4 * [0.05], [5], "good")]  # one push at the TCP and short claims


@pytest.mark.parametrize(("beside", "at_tcp", "level"), LASTED)
def test_contact_of_which_most_was_beside_the_tcp_has_a_wrong_force(free, beside, at_tcp, level):
    lasted = {"contacts": [{"seconds": s} for s in beside + at_tcp], "seconds_beside_tcp": sum(beside)}
    said = verdict_of(free, **lasted, contacts_beside_tcp=len(beside))
    assert said["level"] == level and ("Push at the TCP" in " ".join(said["verdict"])) == (level == "fair")


def test_messages_that_were_lost_have_no_force_and_those_of_a_gripper_are_no_loss(free):
    free.report.drop("message of other joints", 4000)
    assert verdict_of(free)["level"] == "good"
    free.report.drop("q NaN, infinite or absent", 1000)
    said = verdict_of(free)
    assert said["level"] == "fair" and "of 3000 samples" in said["verdict"][0]


def test_a_stand_behind_closed_brakes_is_no_loss(tmp_path):
    log = measured(through([POSE, POSE + 0.3], rest=4.0), noise=0.1)
    log.effort[log.time < 3.5] = 0.0
    result = replayed(log, tmp_path, UR5E)
    assert verdict_of(result)["level"] == "good" and "contact" not in " ".join(verdict_of(result)["verdict"][1:])
    assert any("for 3.5 s no drive carried the arm" in note for note in result.notes)


def test_an_arm_that_has_not_moved_yet_is_said_to_be_less_sure(tmp_path):
    """Of a simulated UR5e parked for 5 min, 2 of 4 pushes of 20 N and 1 of 4 of 40 N were not flagged."""
    for rest, level in ((4.0, "good"), (20.0, "fair")):
        log = measured(through([POSE, POSE + 0.3], rest=rest), noise=0.1)
        log = log[log.time < 1.5 * rest + 3.0]
        said = verdict_of(replayed(log, tmp_path / level, UR5E))
        assert said["level"] == level and ("until it moves" in " ".join(said["verdict"])) == (level == "fair")
        assert said["next"].startswith(LIVE)
    link = UR5E.with_updates({"drives.torque_side": "link"})
    assert "until it moves" not in " ".join(verdict_of(replay([tmp_path / "fair" / "bag.npz"], link))["verdict"])


def test_of_a_recording_behind_closed_brakes_alone_nothing_can_be_used(tmp_path):
    log = measured(still())
    log.effort = 0.05 * np.random.default_rng(0).normal(size=log.effort.shape)
    result = replayed(log, tmp_path, UR5E, effort="torque")
    assert verdict_of(result)["level"] == "bad"


def test_a_payload_that_is_named_raises_no_doubt_about_the_effort(tmp_path):
    log = carrying(5.0)
    log.allocate("payload")[:] = 5.0, *COM
    result = replay([write_bag(log, tmp_path / "bag", topics=["joint_states", "payload"])], UR5E)
    assert not result.doubts


def test_estimates_that_cannot_be_trusted_are_no_force(free):
    assert verdict_of(free, degraded={"near singular poses": 1500})["level"] == "good"
    said = verdict_of(free, degraded={UNTRUSTED: 1500, "near singular poses": 300})
    assert said["level"] == "bad" and said["next"].startswith(AGAIN)


def test_a_lasting_torque_is_a_sentence_of_its_own(free):
    said = verdict_of(free, payload_or_bias="a lasting torque looks like a bias of the measured torques")
    assert said["level"] == "fair" and "A lasting torque looks like a bias of the measured torques." in said["verdict"]


def test_a_payload_that_came_and_went_may_have_been_a_push(free):
    free.recognised = "A payload was recognised for 50 s."
    said = verdict_of(free)
    assert said["level"] == "fair" and said["verdict"][1:] == [free.recognised]


def test_a_payload_beyond_the_robots_is_a_doubt(free):
    free.robot = UR5E.with_updates({"payload.mass": 50.0})
    said = verdict_of(free)
    assert "The payload of 50 kg is beyond limits.payload, 5 kg: check --payload." in said["verdict"]
    assert said["level"] == "fair" and said["next"].startswith(AGAIN)


@pytest.mark.parametrize("other", ["ur3e", "ur10e"])
def test_the_file_of_an_arm_of_another_size_does_not_describe_the_robot(tmp_path, other):
    file = with_residuals(*RESIDUALS, load_robot(other))
    said = verdict_of(replayed(measured(moving(12.0, 1.0), noise=0.1), tmp_path, file))
    assert said["level"] == "bad" and "does not describe this robot" in said["verdict"][1]
    assert said["next"].startswith(AGAIN)


@pytest.mark.parametrize(("payload", "viscous", "force"), [(None, 0, 0), (3.0, 0, 0), (None, -0.4, 0), (None, 0.5, 40)])
def test_a_payload_a_warm_a_cold_or_a_pushed_robot_is_the_one_of_the_file(tmp_path, payload, viscous, force):
    motion = moving(12.0, 1.0)
    log = measured(motion, payload=payload and (payload, COM, (0.0,) * 6), noise=0.1)
    log.effort = log.effort + viscous * VISCOUS * log.qd
    pushed = (log.time > 4.0) & (log.time < 11.0)
    push(log, np.outer(force * pushed, [0.0, 0.0, -1.0, 0.0, 0.0, 0.0]))
    assert "does not describe" not in " ".join(verdict_of(replayed(log, tmp_path))["verdict"])


def test_the_robot_of_the_file_whose_torques_have_another_zero_is_told_of_the_bias(tmp_path):
    log = measured(moving(24.0, 1.0), noise=0.1)
    log.effort += 12.0 * np.array(RESIDUALS[0]) * [1, -1, 1, 1, -1, 1]
    said = verdict_of(replayed(log, tmp_path))
    assert said["level"] == "fair" and "A lasting torque looks like a bias of the measured" in said["verdict"][1]
    assert len(said["verdict"]) == 2  # nothing else has changed


def test_a_robot_that_something_pushes_all_the_time_is_the_one_of_the_file(tmp_path):
    for stands in ([], [0, 3, 4, 5], [1, 2]):
        q, qd, qdd = moving(12.0, 1.0)
        q[:, stands], qd[:, stands], qdd[:, stands] = q[0, stands], 0.0, 0.0
        log = measured((q, qd, qdd), noise=0.1)
        push(log, np.outer(np.ones(len(log)), [30.0, 30.0, 0.0, 0.0, 0.0, 0.0]))
        said = verdict_of(replayed(log, tmp_path / str(stands)))
        assert said["level"] == "fair" and "Contact much of the time" in said["verdict"][-1]
        assert said["verdict"][-1].endswith("identify says more."), said


def test_a_joint_whose_torque_the_model_does_not_explain_is_named(tmp_path):
    log, order = measured(moving(12.0, 1.0), noise=0.1), [5, 1, 2, 3, 4, 0]
    log = Log(log.joint_names, log.stamp_ns, {name: log.get(name)[:, order].copy() for name in ("q", "qd", "effort")})
    said = verdict_of(replayed(log, tmp_path))  # too small beside gravity to be sure of the exchange
    assert (
        "if it was not so, the model explains nothing of the torque of shoulder_pan_joint, and" in said["verdict"][-1]
    )


def test_a_robot_that_changed_since_its_recordings_is_told_of_with_the_joint(tmp_path):

    def said_of(name, change=lambda log: None, robot=STATED, beside=0):
        log = measured(moving(24.0, 1.0), noise=0.1)
        change(log)
        result = replayed(log, tmp_path / name.split()[0], robot)
        lasted = {"contacts": 2 * [{"seconds": 1.0}], "seconds_beside_tcp": float(beside)}
        said = verdict_of(result, **lasted, contacts_beside_tcp=beside)
        assert said["level"] == "good" or said["next"].startswith(AGAIN)
        return said["level"], " ".join(said["verdict"][1:])

    def rub(log, by):  # Nm of Coulomb friction in the elbow
        log.effort[:, 2] += by * np.sign(log.qd[:, 2])

    def heat_motor(log):  # the torque constant of the shoulder lift
        log.effort[:, 1] *= 1.12

    assert said_of("same") == ("good", "")
    level, text = said_of("friction", partial(rub, by=2.5))
    assert level == "fair" and "changed (elbow_joint: Coulomb friction is 1" in text and "wrist" not in text
    level, text = said_of("much", partial(rub, by=9.0))
    assert level == "fair" and "larger than the robot file states (elbow_joint " in text and "wrist" not in text
    assert "friction, a joint's zero" in text
    level, text = said_of("torque constant", heat_motor, beside=2)
    assert level == "fair" and "larger than the robot file states (shoulder_lift_joint " in text
    assert "Push at the TCP" not in text  # false contacts are what has changed
    level, text = said_of("speed", robot=with_residuals(*RESIDUALS, speed=[2.0, 2.0, 2.0, 2.0, 0.3, 2.0]))
    assert level == "fair" and "faster than in the recordings of the robot file (wrist_2_joint 4" in text


def test_the_edges_of_a_push_are_no_free_motion():
    """Of 60 s of polishing 1.4 s, or 0.5 s of each third, had no flag, and the robot was said to have changed."""
    free = np.ones((30_000, 1), bool)
    torque = {"external_joint_torque": 2.0 * free, "external_joint_torque_std": 2.0 * free}
    log, after = SimpleNamespace(qd=0.1 * free, **torque), np.arange(len(free))[:, None]
    for rows, shown in ((free, 1.0), (after < 700, 0.0), (after % 10_000 < 250, 0.0), (after % 10_000 < 1500, 1.0)):
        assert _least_size(log, rows, np.zeros(1)) == shown


def test_lags_that_do_not_agree_say_nothing():
    """As of slow motion, in which friction alone shows: a recording without a lag said 68 +- 7 ms."""
    for width, said in ((0.03, True), (0.1, False)):
        lag = 0.068 + np.linspace(-width, width, 45)
        found = [np.column_stack([lag, np.ones(45)]), np.empty((0, 2))]
        assert bool(late(STATED, [found])) == said


@pytest.mark.parametrize("behind", [0, 24])
def test_noise_shows_no_lag_where_a_bin_is_no_multiple_of_the_samples(behind):
    """Every 8 ms; the effort of a real arm seemed 11 to 13 ms late where bins of 10 ms had one sample or two."""
    log = measured(through(16 * ORIENTATIONS, rest=0.2, travel=0.6), noise=0.3)
    log.effort[behind // 2 :] = log.effort[: len(log) - behind // 2].copy()
    pieces = [lags(binned(STATED, log[np.arange(k, k + 2500, 4)])) for k in range(0, len(log) - 2500, 2500)]
    found = np.concatenate([effort[:, 0] for effort, _ in pieces])
    assert len(found) > 20 and abs(1e3 * np.median(found) - behind) < 2


LATE = [("effort", 4, 0), ("effort", 16, 1), ("effort", 40, 1), ("qd", 2, 0), ("qd", 10, 1)]  # ms, whether it is named


@pytest.mark.parametrize(
    ("name", "behind", "known", "force", "payload"),
    [(*late, 30.0, 3.0) for late in LATE] + [(*LATE[k], 0.0, None) for k in (0, 1, 4)],
)
def test_a_signal_that_comes_later_than_the_file_says_is_named_in_a_replay_and_live(
    tmp_path, name, behind, known, force, payload
):
    """Before, nothing was said of 40 ms under pushes, nor live; they cost 30 N where joints turn round."""
    log = measured(
        through(8 * ORIENTATIONS, rest=0.2, travel=0.6), payload=payload and (payload, COM, (0.0,) * 6), noise=0.1
    )
    push(log, np.outer(force * (np.sin(2 * log.time) > 0.3), [0.6, 0.0, -0.8, 0.0, 0.0, 0.0]))
    signal, rows = log.get(name), behind // 2
    signal[rows:] = signal[: len(log) - rows].copy()
    doubts = replayed(log, tmp_path, with_residuals(*3 * np.array(RESIDUALS))).doubts
    for text in (gated(STATED, log).doubt, " ".join(text for text in doubts if "than the robot file says" in text)):
        found = re.search(r"(effort|velocity) comes (\d+) \+- \d ms later than the robot file says", text)
        assert bool(text) == bool(found) == bool(known)
        assert not found or abs(int(found[2]) - behind) < 12


@pytest.mark.parametrize("viscous", [-0.4, 0.5])
def test_a_warm_or_a_cold_robot_is_as_in_its_recordings(tmp_path, viscous):
    log = measured(moving(24.0, 1.0), noise=0.1)
    log.effort = log.effort + viscous * VISCOUS * log.qd
    assert "robot file" not in " ".join(verdict_of(replayed(log, tmp_path))["verdict"])


def test_what_a_force_sensor_contradicts_is_not_usable(free):
    said = judged(free, free.summary(), SimpleNamespace(figures={f"within_2_{s}": 0.3 for s in STATES}), "ur5e")
    assert said["level"] == "bad" and said["next"].startswith(AGAIN)


def test_a_replay_that_is_not_usable_has_exit_status_3(free, tmp_path, no_pictures, monkeypatch):
    monkeypatch.setattr("robot_dynamics_ros.estimators.replay_verdict.ESTIMATED", (1.1, 1.1))
    arguments = [str(tmp_path / "bag.npz"), "-r", "ur5e", "--out", str(tmp_path / "o")]
    assert robot_dynamics("replay", *arguments).exit_code == 3
    assert json.loads((tmp_path / "o" / "replay.json").read_text())["level"] == "bad"
