"""Contact and hand guiding in recordings to identify from: found, left out, named or refused."""

import numpy as np
import pytest
from click.testing import CliRunner
from prepared import identified as free
from prepared import steps
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from synthetic import Truth, synthetic_log, truth_of

from robot_dynamics_ros import _core
from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.cli.identify import _interval, command
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.contact import (
    _stretches,
    contact_stretches,
    far_rotors,
    lost_rotors,
    touched,
    without,
)
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.hand_guiding import LATE, friction_lag, guided_joints
from robot_dynamics_ros.identification.arm.identify import (
    Options,
    leave_out_contact,
    read,
    read_moving,
    recognise_effort,
    slow_motion,
)
from robot_dynamics_ros.identification.arm.state import Identification
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.recording import Piece, folded, recording
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.robot_file.gaps import identified as known
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.simulation.plant.build import load_plant
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions

UR5E = load_robot("ur5e")
TRUTH = truth_of(UR5E)
MODEL = RobotModel(UR5E.chain())
SPANS = [(5.0, 6.5), (14.0, 15.0), (22.0, 24.0)]


def pushed(log, spans, level=80.0):
    """The log with a push of `level` [N] in a direction of its own in every span [s]; the direction repeats."""
    rng, w, t = np.random.default_rng(2), np.zeros((len(log), 6)), log.time
    for begin, end in spans:
        direction = rng.normal(size=3)
        level_at = np.clip(np.minimum(t - begin, end - t) / 0.1, 0, 1)
        w[:, :3] += level * level_at[:, None] * direction / np.linalg.norm(direction)
    log.effort = log.effort - np.einsum("kij,ki->kj", MODEL.jacobian(log.q), w)
    return log


def prepared(log, **options):
    state = Identification(UR5E, Options(**options), [recording(log, "run")], [], "")
    recognise_effort(state)
    return state


def guided(share=0.2, late=0.035, seconds=30.0, seed=1):
    """What a controller in freedrive reports: weight, and a share of the friction that comes late."""
    log = synthetic_log(UR5E, TRUTH, seed, seconds, noise=0.0)
    before = np.column_stack([np.interp(log.time - late, log.time, v) for v in log.qd.T])
    log.effort = MODEL.gravity(log.q) + share * (TRUTH.fc * np.tanh(before / 0.02) + TRUTH.fv * before)
    return log


def test_free_motion_is_left_alone():
    state = prepared(synthetic_log(UR5E, TRUTH, 1, 30.0))
    leave_out_contact(state)
    assert state.training[0].duration == pytest.approx(30.0, abs=0.1)
    assert not state.warnings and not state.friction_invalid_reason


@pytest.mark.parametrize("kind", ["stop and go", "fourier"])
def test_soft_transmissions_are_no_contact(kind):
    """Seven axes, a tenth of the stiffness, 250 Hz: gears bend by milliradians."""
    robot = load_robot("panda")
    stiffness = load_plant(robot).true["transmission.stiffness"]
    machine = SimulatedRobot(robot, seed=2, rate=250.0, overrides={"transmission.stiffness": stiffness / 10})
    centre, draw = np.array([0.0, -0.3, 0.0, -1.8, 0.0, 1.7, 0.5]), np.random.default_rng(2)
    if kind == "fourier":
        motion = motions.fourier(centre, 30.0, 250.0, amplitude=0.7, velocity=1.0, seed=2)
    else:
        points = [centre + draw.uniform(-0.6, 0.6, 7) for _ in range(12)]
        motion = motions.path([centre, *points, centre], velocity=1.0, acceleration=4.0, rate=250.0)
    machine.reset(motion[0][0])
    log = machine.run(*motion)[0]
    state = Identification(robot, Options(), [recording(log, kind)], [], "")
    recognise_effort(state)
    leave_out_contact(state)
    assert not state.warnings


def test_contact_is_found_left_out_and_reported():
    state = prepared(pushed(synthetic_log(UR5E, TRUTH, 1, 30.0), SPANS))
    found = contact_stretches(state.rigid, state.training)
    assert len(found) == len(SPANS)
    for stretch, (begin, end) in zip(found, SPANS, strict=True):
        assert stretch.begin < begin + 0.3 and stretch.end > end - 0.3 and stretch.duration < end - begin + 1.5
    leave_out_contact(state)
    assert 30.0 - 10.0 < state.training[0].duration < 30.0 - 4.0
    assert any("contact" in text and "--exclude FROM:TO" in text for text in state.warnings)
    assert all(
        not (s.begin + 0.1 < p.begin + t < s.end - 0.1) for s in found for p in state.training[0].pieces for t in p.t
    )
    assert [r.samples for r in without(state.training, [])] == [r.samples for r in state.training]


def test_smaller_contact_shows_beside_identified_friction():
    spans = [(a, a + 1.5) for a in np.arange(3.0, 27.0, 5.0)]
    log = pushed(synthetic_log(UR5E, TRUTH, 1, 30.0), spans, 8.0)
    first = prepared(log)
    assert len(contact_stretches(first.rigid, first.training)) < 3
    found = steps([recording(log, "run")], until="leave_out_more_contact")
    t = np.concatenate([piece.begin + piece.t for piece in found.training[0].pieces])
    inside = [((t > begin + 0.3) & (t < end - 0.3)).any() for begin, end in spans]
    assert sum(inside) <= 1 and 30.0 - 14.0 < found.training[0].duration < 30.0 - 6.0
    assert found.touched and any("contact" in text and "--exclude" in text for text in found.warnings)
    assert len(set(found.statements)) == len(found.statements)
    ignored = steps([recording(log, "run")], contact="ignore", until="choose_live_motion")
    assert not free().touched and not ignored.touched


@pytest.mark.parametrize(("joints", "found"), [((1,), False), ((1, 2), True), ((0,), True)])
def test_contact_beside_known_friction_loads_several_joints(joints, found):
    """An error of friction of one joint is none; an arm of one joint has no second one."""
    n = 1 if joints == (0,) else 4
    residual = np.random.default_rng(0).normal(0.0, 0.01, (3000, n))
    residual[1000:1100, list(joints)] += np.array([2.0, 1.5])[: len(joints)]
    (rows,) = touched([residual], [np.ones_like(residual)], np.full(n, 4.0), 50.0)
    assert rows[1015:1085].all() == found and rows.any() == found and rows.sum() < 200


def test_leaving_contact_out_gives_back_the_friction():
    """A recording with pushes predicts free motion better than when contact is ignored."""
    errors = []
    for contact in ("auto", "ignore"):
        log = pushed(synthetic_log(UR5E, TRUTH, 1, 30.0), SPANS, 120.0)
        judge = recording(synthetic_log(UR5E, TRUTH, 2, 15.0), "judge")
        found = steps([recording(log, "run")], [judge], until="fit_parameters", contact=contact)
        motion = found.filtered(found.validation[0])
        errors.append(
            np.sqrt(((motion.effort - found.consistent.predict(motion)) ** 2).mean(axis=0)) / motion.effort.std(0)
        )
    assert errors[0].mean() < 0.7 * errors[1].mean()


def test_a_recording_full_of_contact_does_not_give_identified_friction():
    log = pushed(synthetic_log(UR5E, TRUTH, 1, 30.0), [(a, a + 1.7) for a in np.arange(1.0, 28.0, 2.0)], 100.0)
    found = steps([recording(log, "run")], until="choose_live_motion")
    assert "contact" in found.friction_invalid_reason and any("not identified" in text for text in found.warnings)
    assert not known(identified_robot(found).friction)
    assert not free().friction_invalid_reason and known(identified_robot(free()).friction)


def test_rotor_inertias_far_below_the_initial_model_are_named():
    initial = UR5E.array("drives.rotor_inertia")
    low = lost_rotors(UR5E, 0.01 * initial, 0.05 * initial)
    assert len(low) == 6 and low[0].startswith("shoulder_pan_joint")
    assert lost_rotors(UR5E, 0.9 * initial, 0.05 * initial) == []
    assert lost_rotors(UR5E, 0.01 * initial, initial) == []  # not known well enough to say so


def test_rotors_a_factor_of_three_off_the_initial_model_are_named():
    initial = UR5E.array("drives.rotor_inertia")
    factor = np.array([1.0, 3.5, 0.5, 0.2, 2.5, np.nan])
    text = far_rotors(UR5E, factor * initial)
    named = [name for name in UR5E.joint_names if name in text]
    assert named == [UR5E.joint_names[1], UR5E.joint_names[3]] and "3.5" in text and "0.2" in text
    assert far_rotors(UR5E, 2.0 * initial) == ""


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_hand_guiding_is_refused(share):
    with pytest.raises(DataError, match=r"run: the arm was guided by hand: .*--contact ignore"):
        prepared(guided(share))
    assert guided_joints(UR5E, slow_motion([recording(synthetic_log(UR5E, TRUTH, 1, 30.0), "driven")])) == []


def test_joint_torque_sensors_show_no_rotors_and_no_hand():
    panda = load_robot("panda")
    sensors = Truth(panda.inertial_parameters, *np.zeros((4, 7)))
    driven = [slow_motion([recording(synthetic_log(panda, sensors, seed, 30.0), "driven")]) for seed in (1, 2, 3)]
    assert not any(guided_joints(panda, motion) for motion in driven)


def test_links_that_other_joints_accelerate_against_their_own_joint_show_no_hand():
    """The wrist turns against what the shoulder does to its links, and its rotors, in no robot file, outweigh these."""
    robot, t = UR5E.with_updates({"drives.rotor_inertia": None}), np.arange(0.0, 20.0, 0.01)
    wave = sum(a * np.sin(w * t + p) for a, w, p in ((0.5, 1.0, 0.0), (0.25, 2.1, 1.0), (0.12, 3.9, 2.0)))
    q = np.array([0.3, -1.2, 1.5, -1.0, -1.4, 0.4]) + np.outer(wave, [0.0, 0.8, 0.9, -0.3, 0.1, -0.4])
    qd = np.gradient(q, 0.01, axis=0)
    qdd = np.gradient(qd, 0.01, axis=0)
    inertial = MODEL.rnea(q, qd, qdd) - MODEL.gravity(q)
    along = (inertial * qdd).sum(axis=0)
    assert np.flatnonzero(along < 0).tolist() == [3, 4]
    driven = MODEL.rnea(q, qd, qdd) + np.array([0.0, 0.1, 0.1, 0.75, 0.13, 0.0]) * qdd
    driven += np.array([0.0, 60.0, 60.0, 0.0, 0.0, 0.0]) * np.tanh(qd / 0.02)
    assert guided_joints(robot, Motion(t, q, qd, qdd, driven, t == 0.0, 100.0)) == []


def test_travel_before_breakaway_is_no_lag_of_friction():
    t = np.arange(0.0, 40.0, 0.01)
    q = 0.2 * np.sin(0.5 * t)
    v, a = (np.gradient(x, 0.01) for x in (q, np.gradient(q, 0.01)))
    start = t == 0.0
    effort = 8.0 * _core.presliding_elements(q, np.array([2e-3]), start)[:, 0] + 10.0 * v
    motion = Motion(t, *(x[:, None] for x in (q, v, a, effort)), start, 100.0)
    assert abs(friction_lag(motion, np.cos(q), np.sin(3 * t), 0)) < LATE


def test_what_one_noisy_recording_does_not_show_of_a_hand_several_do():
    seeds = (1, 2, 3, 5, 7, 8, 9, 10, 11, 12)
    hand = [guided(seconds=4.0, seed=seed) for seed in seeds]
    driven = [synthetic_log(UR5E, TRUTH, seed, 4.0, noise=0.0) for seed in seeds]
    for seed, *logs in zip(seeds, hand, driven, strict=True):
        for log in logs:
            log.effort += 2.0 * np.random.default_rng(seed).normal(size=log.effort.shape)
    states = [
        Identification(UR5E, Options(), [recording(x, f"run {k}") for k, x in enumerate(logs)], [], "")
        for logs in (hand, driven)
    ]
    assert all(guided_joints(UR5E, slow_motion([rec])) == [] for rec in states[0].training)
    with pytest.raises(DataError, match="run 0, .*guided by hand"):
        recognise_effort(states[0])
    recognise_effort(states[1])


def test_friction_in_phase_with_the_motion_is_not_taken_for_contact():
    """Effort that leaves out all inertia, with friction that does not come late: a meaning of effort, not a hand."""
    assert guided_joints(UR5E, slow_motion([recording(guided(0.2), "late")]))
    assert guided_joints(UR5E, slow_motion([recording(guided(0.2, late=0.0), "in step")])) == []


def freedrive_bag(path, on):
    """Joint states at 125 Hz and a Bool topic of the driver, true during `on` [s]."""
    log, store = synthetic_log(UR5E, TRUTH, 1, 20.0), get_typestore(Stores.ROS2_JAZZY)
    write_bag(log, path / "plain", topics=["joint_states"])
    from rosbags.rosbag2 import Reader

    with Reader(path / "plain") as source, Writer(path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as out:
        states = out.add_connection("/joint_states", "sensor_msgs/msg/JointState", typestore=store)
        flag = out.add_connection("/freedrive_mode_controller/enable", "std_msgs/msg/Bool", typestore=store)
        Bool, start = store.types["std_msgs/msg/Bool"], int(log.stamp_ns[0])
        for k in range(200):
            message = Bool(data=bool(on[0] <= 0.1 * k < on[1]))
            out.write(flag, start + k * 10**8, store.serialize_cdr(message, "std_msgs/msg/Bool").tobytes())
        for _, stamp, raw in source.messages():
            out.write(states, stamp, raw)
    return path / "bag"


def test_freedrive_of_the_driver_is_left_out_or_refused(tmp_path):
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    some = read(UR5E, freedrive_bag(tmp_path / "a", (4.0, 9.0)), Options())
    assert some.duration == pytest.approx(15.0, abs=0.3) and some.counts["in freedrive"] == pytest.approx(625, abs=15)
    assert all(not 4.1 < p.begin + t < 8.9 for p in some.pieces for t in p.t)
    with pytest.raises(DataError, match="recorded in freedrive"):
        read(UR5E, freedrive_bag(tmp_path / "b", (1.0, 18.0)), Options())


def test_excluded_seconds_are_not_read(tmp_path):
    bag = write_bag(synthetic_log(UR5E, TRUTH, 1, 20.0), tmp_path / "bag", topics=["joint_states"])
    rec = read(UR5E, bag, Options(), [_interval("5:8"), _interval("18:")])
    assert [round(p.begin + p.t[-1]) for p in rec.pieces] == [5, 18] and rec.duration == pytest.approx(15.0, abs=0.1)
    for text in ("5", "8:5", "a:b", "-1:2", "nan:2"):
        with pytest.raises(DataError, match="FROM:TO"):
            _interval(text)
    done = CliRunner().invoke(command, [str(bag), "--robot", "ur5e", "--out", str(tmp_path / "o"), "--exclude", "0:"])
    assert "nothing is left" in str(done.exception)


def test_a_validation_bag_at_rest_is_skipped_with_a_note(tmp_path):
    log = synthetic_log(UR5E, TRUTH, 1, 10.0)
    still = Log(log.joint_names, log.stamp_ns, {"q": np.tile(log.q[0], (len(log), 1)), "effort": log.effort})
    bags = [write_bag(x, tmp_path / n, topics=["joint_states"]) for x, n in ((still, "rest"), (log, "moves"))]
    found, skipped = read_moving(UR5E, bags, Options())
    assert [r.name for r in found] == [str(bags[1])]
    assert skipped == [f"skipped for validation: {bags[0]}: the robot does not move (largest travel 0 mrad)"]
    with pytest.raises(DataError, match="does not move"):  # to identify from, it stays an error
        read(UR5E, bags[0], Options())


def test_repeated_notes_are_one_line_with_a_count():
    notes = ["stamps are uneven (1.2 ms)", "stamps are uneven (0.9 ms)", "3 gaps", "stamps are uneven (2e-1 ms)"]
    assert folded(notes) == ["stamps are uneven (1.2 ms) (3 times)", "3 gaps"]


def test_the_lag_of_friction_is_the_same_in_every_kth_sample():
    motion = slow_motion([recording(guided(0.2, late=0.06), "late")])
    found = []
    for part in (motion, motion.every(3)):
        q, qd, qdd = (np.ascontiguousarray(x) for x in (part.q, part.qd, part.qdd))
        gravity = MODEL.gravity(q)
        inertial = MODEL.rnea(q, qd, qdd) - gravity
        found.append(friction_lag(part, gravity[:, 1], inertial[:, 1], 1))
        assert part.start.sum() == 1 and part.rate == pytest.approx(1 / np.median(np.diff(part.t)))
    assert found[0] == found[1] == pytest.approx(0.06, abs=0.02)


@pytest.mark.parametrize(("moves", "found"), [(True, True), (False, False)])
def test_a_joint_that_stands_beside_moving_ones_may_be_held_by_friction(moves, found):
    """Twice the level that friction has while it slides: at rest breakaway holds it with either sign."""
    t = np.arange(0.0, 6.0, 0.02)
    speed = np.column_stack([np.full(len(t), 0.3), np.full(len(t), 0.3 if moves else 0.0)])
    zero, start = np.zeros_like(speed), np.arange(len(t)) == 0
    motion = Motion(t, np.cumsum(0.02 * speed, axis=0), speed, zero, zero, start, 50.0)
    residual = np.where((t > 2.0) & (t < 4.0), 2.2, 0.0)[:, None] * [0.0, 1.0]
    assert bool(_stretches(Piece(t, motion.q, None, zero), motion, residual, np.ones(2))) == found
