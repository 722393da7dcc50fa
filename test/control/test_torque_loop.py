"""The composed loop with a clock of our own: state in, torque out, every fault ends at zero."""

import resource

import numpy as np
import pytest
from closed_rig import ROBOT, START, Closed

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import EnableResult, FreezeReason, GuardReason, GuardState, TorqueMode
from robot_dynamics_ros.control import torque
from robot_dynamics_ros.control.adaptation_store import friction_id, load_adaptation, save_adaptation, wear
from robot_dynamics_ros.drivers.guard import guard_limits
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.robot_file import load_robot


def test_tracks_with_learned_friction_better_than_with_the_robot_file_s():
    # [Madsen2020 ch6 23-29]
    errors = {}
    for law in ("fixed", "scales"):
        rig = Closed({"law": law}).enabled()
        worst = []
        for k in range(6000):
            rig.cycle()
            if k > 4500:
                worst.append(rig.error())
        errors[law] = np.mean(worst)
        assert rig.loop.state == GuardState.ok
    assert errors["scales"] < 0.6 * errors["fixed"]
    assert not np.allclose(rig.record["coulomb"], 1.0)


def test_torque_that_begins_between_two_states_desires_no_more_than_to_be_here():
    """Until the next state nothing of the session before is left in the record."""
    rig = Closed().enabled()
    rig.cycle(300)
    rig.loop.trip(GuardReason.publisher)
    rig.cycle(200)
    rig.loop.rearm()
    rig.cycle(200)
    assert rig.error() > 0.1  # the path went on
    rig.loop.enable(TorqueMode.guide)
    record = rig.loop.idle(rig.now + 1_000_000)
    assert rig.loop.enabled == EnableResult.done and record["run"]
    assert (record["q_d"] == record["q"]).all() and not record["wanted"].any() and not record["torque"].any()


def learned(law, cycles=9000, restored=None):
    """Tracking error [rad] and error of the predicted friction [Nm] by cycle, and the last record."""
    rig = Closed({"law": law})
    if restored is not None:
        rig.loop.restore(*restored)
    rig.enabled()
    error, friction = np.empty((cycles, 6)), np.empty((cycles, 6))
    for k in range(cycles):
        record = rig.cycle()
        error[k] = record["q"] - record["q_d"]
        friction[k] = record["friction"] - rig.plant.truth()["friction_torque"]
    assert rig.loop.state == GuardState.ok
    return rms(error), rms(friction), record


def rms(x):
    return [np.sqrt(np.mean(x[part] ** 2, axis=0)) for part in (slice(0, 2000), slice(-2000, None))]


@pytest.mark.long
def test_scales_and_rls_learn_the_friction_in_closed_loop_and_rls_begins_where_it_left_off():
    # [Madsen2020 appB eq. 14-20]
    fixed, scales, rls = learned("fixed"), learned("scales"), learned("rls")
    for law in (scales, rls):
        assert (law[0][1] < [0.5, 1.0, 1.2, 0.2, 0.2, 0.2] * fixed[0][1]).all()  # gravity hides friction in joints 2, 3
    assert scales[1][1].mean() < 0.5 * fixed[1][1].mean()
    assert (rls[1][1] < 0.95 * fixed[1][1]).all() and rls[1][1].mean() < 0.5 * fixed[1][1].mean()
    kept = rls[2]["coulomb"], rls[2]["viscous"]
    assert (kept[0] > 1.0).all() and (kept[0] < 20.0).all()
    again = learned("rls", cycles=2000, restored=kept)
    assert again[0][0][3:].mean() < 0.7 * rls[0][0][3:].mean()  # without the error of the first seconds


@pytest.mark.parametrize("joint", [2, 4])
@pytest.mark.parametrize(("noise", "reason"), [(0.0, GuardReason.state_frozen), (1e-5, GuardReason.tracking)])
def test_torque_ends_when_a_joint_does_not_follow(joint, noise, reason):
    """Its sensor is stuck, or the joint is held: it was driven on with all torque, a wrist to 57 rad/s.

    One that repeats to the last digit is not held; it reached 18 rad/s before.
    """
    rig = Closed().enabled()
    rig.cycle(500)
    stuck, speed = rig.state.q[joint], []
    for k in range(1500):
        q, qd = rig.state.q.copy(), rig.state.qd.copy()
        q[joint], qd[joint] = stuck + noise * (k % 2), 0.0
        rig.cycle(q=q, qd=qd)
        speed.append(abs(rig.state.qd[joint]))
    assert (rig.loop.state, rig.loop.reason) == (GuardState.safe, reason)
    assert max(speed) < (25.0 if noise else 6.0)


def test_a_coarse_position_of_a_joint_with_twice_the_friction_is_no_frozen_one():
    """Steps of 12 bit, 1.5 mrad, speeds of zero while it creeps, and friction that is never learned."""
    twice = dict.fromkeys(["friction.coulomb", "friction.stribeck"], 2.0 * ROBOT.array("friction.parameters.fc"))
    rig = Closed({"law": "fixed"}, overrides=twice).enabled()
    for _ in range(3000):
        q, qd = 1.5e-3 * np.round(rig.state.q / 1.5e-3), rig.state.qd
        rig.cycle(q=q, qd=np.where(np.abs(qd) < 0.01, 0.0, qd))
    assert rig.loop.state == GuardState.ok


def test_nothing_is_learned_while_the_controller_carries_another_payload_than_the_robot_file():
    rig, mass = Closed().enabled(), ROBOT.payload.mass
    rig.cycle(1000, payload=mass)
    kept = rig.cycle(10, payload=mass + 1.0)["coulomb"].copy()
    record = rig.cycle(1500, payload=mass + 1.0)
    assert record["frozen"] & FreezeReason.payload and (record["coulomb"] == kept).all()
    record = rig.cycle(1000, payload=mass)
    assert not record["frozen"] and (record["coulomb"] != kept).any()


def test_a_deflection_without_stiffness_is_no_source_of_joint_torque():
    ones = np.ones(6)
    parts = torque.tracking(ROBOT), torque.guiding(ROBOT), torque.friction_feedforward(ROBOT), guard_limits(ROBOT)
    feedback = _core.JointTorqueFeedback(kp=ones, ki=ones, correction_limit=ones)
    with pytest.raises(ValueError, match=r"a1\[0\] = 0.0"):
        _core.TorqueLoop(*parts, source=_core.JointTorqueSource.deflection, feedback=feedback)


def test_enable_is_refused_away_from_the_trajectory_and_without_a_state():
    rig = Closed()
    far = _core.TorqueTrajectory(rig.path.q + 0.2, rig.path.qd, rig.path.qdd)
    rig.cycle(3)
    rig.loop.enable(TorqueMode.track, far)
    assert not rig.cycle()["run"] and rig.loop.enabled == EnableResult.start_mismatch
    rig.silence(60)
    rig.loop.enable(TorqueMode.guide)
    rig.silence(2)
    assert rig.loop.enabled == EnableResult.no_state


def test_silence_degrades_then_ramps_out_and_stays_out_until_rearmed():
    rig = Closed().enabled()
    rig.cycle(300)
    before = np.abs(rig.record["torque"]).max()
    assert before > 1.0
    assert rig.silence(30)["state"] == GuardState.degraded
    assert rig.silence(14)["state"] == GuardState.safe
    assert not rig.silence(104)["run"] and not rig.record["torque"].any()
    rig.loop.enable(TorqueMode.guide)
    rig.cycle(2)
    assert rig.loop.enabled == EnableResult.latched and not rig.record["run"]
    rig.loop.rearm()
    assert rig.cycle()["state"] == GuardState.idle and not rig.record["run"]


def test_a_robot_that_was_stopped_gets_no_torque_in_the_same_cycle():
    rig = Closed().enabled()
    rig.cycle(100)
    record = rig.cycle(stopped=True)
    assert (record["state"], record["reason"], record["run"]) == (GuardState.fault, GuardReason.robot_stopped, False)
    assert not record["torque"].any()


def test_torque_ends_with_the_program_that_takes_it():
    rig = Closed().enabled(TorqueMode.guide)
    record = rig.cycle(program=False)
    assert (record["state"], record["reason"]) == (GuardState.fault, GuardReason.program_ended)
    assert not record["run"] and not record["torque"].any()
    rig.loop.rearm()
    rig.cycle(1, program=False)
    rig.loop.enable(TorqueMode.guide)
    assert not rig.cycle(1, program=False)["run"] and rig.loop.enabled == EnableResult.no_program


@pytest.mark.parametrize(("law", "push", "kept"), [("scales", -120.0, 0.05), ("rls", 120.0, 1.0)])
def test_contact_freezes_adaptation_and_takes_back_what_was_learned(law, push, kept):
    rig = Closed({"law": law}).enabled()
    rig.cycle(3000)
    learned = rig.record["coulomb"].copy()
    rig.plant.set_wrench(np.array([0, 0, push, 0, 0, 0]))
    frozen = [rig.cycle()["frozen"] & int(_core.FreezeReason.contact) for _ in range(150)]
    assert any(frozen)
    assert np.abs(rig.record["coulomb"] - learned).max() < kept


def test_trajectories_that_are_no_longer_followed_are_released():
    rig = Closed()
    rig.cycle(5)
    long = [np.tile(x, (2000, 1)) for x in (START, np.zeros(6), np.zeros(6))]  # 288 kB each
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(300):
        rig.loop.enable(TorqueMode.track, _core.TorqueTrajectory(*long))
        rig.cycle(2)
        rig.loop.disable()
        rig.cycle(1)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000  # kB, of 86 MB made


def test_a_trajectory_that_was_completed_says_nothing_of_the_next_motion():
    loop = Closed().loop
    still, now = np.zeros(6), 10**9

    def cycles(count):
        nonlocal now
        for _ in range(count):
            now += 2_000_000
            loop.cycle(now, now, START, still, still)

    for mode in (TorqueMode.track, TorqueMode.guide):
        rows = [np.tile(row, (1000, 1)) for row in (START, still, still)]
        cycles(1)
        loop.enable(TorqueMode.track, _core.TorqueTrajectory(*(row[:3] for row in rows)))
        cycles(10)
        assert loop.finished
        loop.disable()
        cycles(100)
        loop.enable(mode, _core.TorqueTrajectory(*rows) if mode == TorqueMode.track else None)
        loop.idle(now + 1_000_000)
        assert loop.enabled == EnableResult.done and not loop.finished
        loop.disable()
        cycles(100)


def test_a_lost_connection_is_seen_at_once():
    rig = Closed().enabled(TorqueMode.guide)
    rig.cycle(10)
    while rig.loop.pop() is not None:
        continue
    rig.loop.lost()
    assert (rig.loop.state, rig.loop.reason) == (GuardState.fault, GuardReason.state_gap)
    assert not rig.loop.running and not rig.loop.pop()["torque"].any()


def test_hand_guiding_moves_where_it_is_pushed_and_rests_when_released():
    rig = Closed().enabled(TorqueMode.guide)
    rig.cycle(500)
    drift = np.abs(rig.record["q"] - START).max()
    assert drift < 0.01
    rig.plant.set_wrench(np.array([0, 60.0, 0, 0, 0, 0]))
    rig.cycle(500)
    assert np.abs(rig.record["q"] - START).max() > 0.05
    rig.plant.set_wrench(np.zeros(6))
    rig.cycle(1000)
    assert np.abs(rig.record["qd"]).max() < 0.02


def test_a_slow_arm_that_is_pushed_hard_is_braked_and_goes_on():
    file = ROBOT.with_updates({"limits.velocity": [0.5] * 6})
    rig = Closed({"guide_share": 0.8, "law": "fixed"}, robot=file).enabled(TorqueMode.guide)
    rig.plant.set_wrench(np.array([0, 50.0, 0, 0, 0, 0]))
    fastest = max(np.abs(rig.cycle()["qd"]).max() for _ in range(500))
    assert rig.loop.state == GuardState.ok and not rig.loop.count(GuardReason.velocity)
    assert fastest < 0.5


@pytest.mark.parametrize("source", ["estimate_test", "run"])
def test_a_guided_arm_stays_where_it_is_left_though_its_friction_is_less_than_the_files(source):
    file = ROBOT.with_updates({f"{block}.source": source for block in ("friction", "hysteresis")}, {source: "of it"})
    rig = Closed({"guide_share": 0.8, "law": "fixed"}, robot=file).enabled(TorqueMode.guide)
    rig.cycle(1500)
    assert np.abs(rig.state.q - START).max() < 1e-3 and np.abs(rig.state.qd).max() < 1e-3


def test_what_was_learned_survives_a_restart(tmp_path):
    path = tmp_path / "ur5e.json"
    assert load_adaptation(path, ROBOT) is None
    save_adaptation(path, ROBOT, np.full(6, 1.2), np.full(6, 0.9))
    rig = Closed()
    rig.loop.restore(*load_adaptation(path, ROBOT).arrays)
    record = rig.cycle()
    assert record["coulomb"] == pytest.approx(np.full(6, 1.2)) and record["viscous"] == pytest.approx(np.full(6, 0.9))
    kept = load_adaptation(path, ROBOT)
    assert kept.law == "scales" and kept.friction == friction_id(ROBOT)
    again = ROBOT.with_updates({"friction.parameters.fc": [9.0] * 6})
    assert friction_id(again) != kept.friction
    save_adaptation(path, ROBOT, np.full(6, 4.0), np.full(6, 7.0), "rls")
    kept = load_adaptation(path, ROBOT)
    other = Closed({"law": "rls"})
    other.loop.restore(*kept.arrays)
    record = other.cycle()
    assert (record["coulomb"] == 4.0).all() and (record["viscous"] == 7.0).all()
    written = path.read_text()
    with pytest.raises(ValueError, match="^coulomb: Input should be a finite number[^\n]*$"):
        save_adaptation(path, ROBOT, np.full(6, np.nan), np.full(6, 7.0), "rls")
    assert path.read_text() == written
    for wrong, why in (
        ('{"robot": "ur5e"}', "no adaptation file: joint_names"),
        (written.replace("4.0", "1e999", 1), "no adaptation file: coulomb: Input should be a finite number"),
        (written.replace("4.0", '"4.0"', 1), "no adaptation file: coulomb: Input should be a valid number"),
        (written.replace("4.0", "true", 1), "no adaptation file: coulomb: Input should be a valid number"),
        (written.replace("7.0,", "", 1), "viscous: needs 6 numbers"),
        (written.replace('"ur5e"', '"ur3e"'), "belongs to ur3e"),
        (written.replace("4.0", "400.0", 1), "shoulder_pan_joint: friction of 422 Nm at its speed limit is beyond"),
    ):
        path.write_text(wrong)
        with pytest.raises(ConfigError, match=why):
            load_adaptation(path, ROBOT)


def test_a_clock_that_went_back_does_not_stop_the_learning_for_as_long():
    rig = Closed()
    rig.now += 10**12
    rig.cycle(50)
    rig.now -= 10**12
    rig.cycle(5)
    assert rig.record["frozen"] == 0


def test_coulomb_growth_is_wear():
    assert wear(ROBOT, np.ones(6))[0] == 0
    assert wear(ROBOT, np.array([1, 1.3, 1, 1, 1, 1]))[0] == 1
    assert "elbow_joint" in wear(ROBOT, np.array([1, 1, 1.5, 1, 1, 1]))[1]


@pytest.mark.parametrize("name", ["fr3", "panda"])
def test_no_wear_is_seen_behind_joint_torque_sensors(name):
    assert wear(load_robot(name), np.full(7, 2.0)) == (0, "ok")
