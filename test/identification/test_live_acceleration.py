"""The cut-off of the live acceleration: chosen from recordings, against the variance that theory gives."""

from dataclasses import replace

import numpy as np
import prepared
import pytest
from prepared import UR5E, steps, structure
from presliding_joint import elements
from scipy.signal import lfilter
from synthetic import MODEL, excitation, log_at, torque

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.motion import MotionStage
from robot_dynamics_ros.identification.arm.export import identified_robot, write_outputs
from robot_dynamics_ros.identification.arm.residuals import for_repaired
from robot_dynamics_ros.identification.arm.written_file import CANDIDATES, choose_live_motion, live_errors, live_torques
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.identification.metrics import metrics
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

TRUTH = replace(prepared.TRUTH, fc=np.zeros(6))  # Coulomb friction is not linear in noise of the velocity
EFFORT_NOISE = 0.02  # of each joint's effort
USUAL = 150.0


def reported(seed: int, rate: float, noise: float, slower: float = 1.0) -> Log:
    """24 s of what a robot reports: positions, velocities with white noise [rad/s], effort."""
    t, q, qd, qdd = excitation(6, 24.0, rate, seed, period=10.0 * slower)
    rng = np.random.default_rng(seed)
    effort = torque(UR5E, TRUTH, q, qd, qdd)
    effort = effort + EFFORT_NOISE * effort.std(0) * rng.standard_normal(q.shape)
    signals = {"q": q + 2e-5 * rng.standard_normal(q.shape), "qd": qd + noise * rng.standard_normal(q.shape)}
    return log_at(t, signals | {"effort": effort}, UR5E.joint_names)


def identified(rate: float, noise: float, robot=UR5E, **slower):
    runs = [recording(reported(seed, rate, noise, **slower), str(seed)) for seed in (1, 2)]
    return steps(runs[:1], runs[1:], robot, structure(), "choose_live_motion", contact="off")


@pytest.fixture(scope="module", params=[pytest.param(0.005, marks=pytest.mark.long), 0.02])
def noisy(request):
    return identified(125.0, request.param), request.param


def gains(cutoff: float, dt: float) -> tuple[float, float]:
    """Variance of the live acceleration, and its covariance with the newest velocity, per variance of white noise on
    the velocity: y += w ((v - v before) / dt - y) has the impulse response w/dt (1, -w, -w a, -w a^2, ..), a = 1 - w.
    """
    w = 1 - np.exp(-cutoff * dt)
    return (w / dt) ** 2 * 2 / (2 - w), w / dt


def theory(cutoff: float, rate: float, noise: float, seed: int) -> np.ndarray:
    """1 - R2 (n,) of the live prediction with the true parameters: noise of velocity and effort, latency."""
    t, q, qd, qdd = excitation(6, 24.0, rate, seed)
    M = MODEL.mass_matrix(q) + np.diag(TRUTH.rotor)
    variance, covariance = gains(cutoff, 1 / rate)
    own = np.einsum("tjj->tj", M)
    noisy = (M**2).sum(axis=2) * variance + 2 * own * TRUTH.fv * covariance + TRUTH.fv**2
    w = covariance / rate
    late = lfilter([w], [1, w - 1], np.diff(qd, axis=0, prepend=qd[:1]) * rate, axis=0) - qdd
    lost = np.einsum("tjk,tk->tj", M, late)[round(0.2 * rate) :] ** 2
    effort = torque(UR5E, TRUTH, q, qd, qdd)
    return (noise**2 * noisy.mean(0) + lost.mean(0)) / effort.var(0) + EFFORT_NOISE**2


def live_r2(found, cutoff=None) -> np.ndarray:
    """R2 (n,) of the live nodes on the recording that was not identified from, by its file, or with another cut-off."""
    robot = for_repaired(identified_robot(found))
    if cutoff is not None:
        robot = robot.with_updates({"drives.acceleration_cutoff": cutoff, "drives.source": "found"}, {"found": "test"})
    return np.asarray(metrics(*live_torques(robot, found.validation[0]))["r2"])


@pytest.mark.parametrize(("rate", "cutoff"), [(125, 20.0), (125, 150.0), (500, 65.0), (500, 500.0)])
def test_noise_of_the_stage_is_that_of_the_formula(rate, cutoff):
    rng, n = np.random.default_rng(0), 20_000
    signals = {"q": np.zeros((n, 6)), "qd": 0.01 * rng.standard_normal((n, 6))}
    log = log_at(np.arange(n) / rate, signals, UR5E.joint_names)
    stage = MotionStage.of(UR5E, {"acceleration_cutoff": cutoff})
    stage.run(log)
    assert (log.qdd[rate:] ** 2).mean() == pytest.approx(1e-4 * gains(cutoff, 1 / rate)[0], rel=0.03)


def test_noisy_velocities_get_the_cutoff_that_theory_finds(noisy):
    found, noise = noisy
    errors = {c: theory(c, 125.0, noise, 1).mean() for c in CANDIDATES}
    assert found.acceleration_cutoff < 50.0
    assert errors[found.acceleration_cutoff] < 1.03 * min(errors.values())


def test_live_accuracy_on_other_motion_rises_by_what_theory_says(noisy):
    found, noise = noisy
    expected = theory(USUAL, 125.0, noise, 2) - theory(found.acceleration_cutoff, 125.0, noise, 2)
    measured = live_r2(found) - live_r2(found, USUAL)
    assert measured.mean() > 0.01
    assert measured.mean() == pytest.approx(expected.mean(), rel=0.05)
    np.testing.assert_allclose(measured, expected, rtol=0.2)


def test_clean_velocities_keep_a_fast_filter():
    found = identified(500.0, 1e-4)
    errors = {c: theory(c, 500.0, 1e-4, 1).mean() for c in CANDIDATES}
    assert found.acceleration_cutoff >= 200.0
    assert errors[found.acceleration_cutoff] < 1.03 * min(errors.values())
    assert (live_r2(found) > live_r2(found, USUAL) - 1e-4).all()


def test_the_file_holds_it_the_nodes_use_it_and_the_report_says_it(noisy, tmp_path):
    found, _ = noisy
    robot = load_robot(write_outputs(found, tmp_path, [])["robot_file"])
    assert robot.drives.acceleration_cutoff == found.acceleration_cutoff
    assert robot.drives.source["acceleration_cutoff"] in robot.sources
    assert any(f"low-pass at {found.acceleration_cutoff:g} rad/s" in text for text in found.statements)
    log = reported(3, 125.0, 0.01)

    def qdd(robot, **parameters):
        stage = MotionStage.of(robot, parameters)
        stage.run(log)
        return log.qdd.copy()

    own = qdd(UR5E, acceleration_cutoff=found.acceleration_cutoff)
    np.testing.assert_array_equal(qdd(robot), own)
    # nodes give a stage its defaults too, once one of its parameters was set
    np.testing.assert_array_equal(qdd(robot, **{p.name: p.default for p in MotionStage.parameters}), own)
    usual = qdd(robot, acceleration_cutoff=USUAL)  # a user's value wins, also where it is the usual one
    np.testing.assert_array_equal(usual, qdd(UR5E))
    assert np.abs(usual - own).max() > 0.1


def test_nothing_is_written_where_the_recording_does_not_show_it(noisy):
    found, _ = noisy
    whole = replace_fields(found)
    choose_live_motion(whole)
    assert whole.acceleration_cutoff == found.acceleration_cutoff
    filtered = replace(found.structure, filters=("1 Hz",) + (None,) * 5)
    for change in ({"friction_invalid_reason": "contact"}, {"structure": filtered}):
        other = replace_fields(found, **change)
        choose_live_motion(other)
        assert other.acceleration_cutoff is None
        assert identified_robot(other).drives.acceleration_cutoff is None


@pytest.mark.parametrize("side", ["motor", "link"])
def test_pieces_in_which_no_joint_settles_show_no_cut_off_and_no_window(noisy, side):
    """The largest of no cut-offs was a ValueError; behind the gear every window left less than no number."""
    found, _ = noisy
    (rec, *_), robot = found.training, found.robot.with_updates({"drives.torque_side": side})
    short = [piece.take(slice(0, round(0.9 / piece.period))) for piece in rec.pieces]
    other = replace_fields(found, training=[replace(rec, pieces=short)], robot=robot)
    choose_live_motion(other)
    assert other.acceleration_cutoff is None and other.velocity_window == 0.0


def replace_fields(found, **changes):
    """The state before the cut-off was chosen, with other fields."""
    other = object.__new__(type(found))
    vars(other).update(vars(found) | {"acceleration_cutoff": None, "statements": []} | changes)
    return other


def test_an_old_number_does_not_outlive_an_identification_that_finds_none():
    old = UR5E.with_updates({"drives.acceleration_cutoff": 33.0, "drives.source": "old"}, {"old": "test"})
    found = identified(125.0, 1e-3, robot=old, slower=7.0)  # the robot hardly accelerates
    assert found.acceleration_cutoff is None
    assert identified_robot(found).drives.acceleration_cutoff is None


@pytest.mark.parametrize("value", [0.5, -3.0, float("nan"), 2e5])
def test_the_number_of_the_file_has_bounds(value):
    with pytest.raises(ConfigError, match=r"drives\.acceleration_cutoff"):
        UR5E.with_updates({"drives.acceleration_cutoff": value})


@pytest.mark.parametrize(("rate", "last"), [(50.0, USUAL), (125.0, USUAL), (250.0, 250.0), (500.0, 500.0)])
def test_the_rate_limits_the_candidates(rate, last):
    cutoffs, errors = live_errors(UR5E, [recording(reported(1, rate, 0.01), "1")])
    assert cutoffs[-1] == last and USUAL in cutoffs
    assert len(errors) == len(cutoffs) and np.isfinite(errors).all()


@pytest.mark.filterwarnings("error")
def test_a_joint_that_stands_all_the_time_counts_nowhere_and_is_no_warning_of_numpy():
    robot = UR5E.with_updates({"hysteresis": elements([1e-4, 1e-3], [1.0, 2.0])}, {"test": "numbers of a test"})
    log = reported(1, 125.0, 0.01)
    log.q[:, 0], log.qd[:, 0] = 0.0, 0.0
    assert np.isfinite(live_errors(robot, [recording(log, "1")])[1]).all()


@pytest.mark.parametrize(
    ("compliance", "noise", "rough"), [(0.0, 5e-6, 0.0), (3e-3, 5e-6, 0.0), (3e-3, 8e-6, 0.0), (3e-3, 5e-6, 0.3)]
)
def test_behind_the_gear_positions_give_the_velocity_where_the_reported_one_is_the_rotors(compliance, noise, rough):
    """compliance [rad/Nm]: the rotor turns further than the link by it times the torque. Noise of positions [rad]: with
    the larger one a short window alone gains nothing. rough: noise of the torque [Nm], beside which a mean over single
    samples shows no gain.
    """
    robot = UR5E.with_updates({"drives.torque_side": "link", "sensing.joint_torque_sensor": True, "friction": None})
    truth, runs = replace(TRUTH, fv=np.zeros(6), rotor=np.zeros(6)), []
    for seed in (1, 2):
        t, q, qd, qdd = excitation(6, 12.0, 500.0, seed)
        effort, rng = torque(robot, truth, q, qd, qdd), np.random.default_rng(seed)
        rotor = qd + compliance * np.gradient(effort, t, axis=0) + 1e-4 * rng.standard_normal(q.shape)
        signals = {"q": q + noise * rng.standard_normal(q.shape), "qd": rotor}
        signals["effort"] = effort + rough * rng.standard_normal(q.shape)
        runs.append(recording(log_at(t, signals, UR5E.joint_names), str(seed)))
    options = {"contact": "off", "effort": "torque"}
    found = steps(runs[:1], runs[1:], robot, structure(), "choose_live_motion", **options)
    assert (found.velocity_window > 0) == (compliance > 0)
    if compliance and not rough:
        written = identified_robot(found)
        files = (written, written.with_updates({"drives.velocity": None}))
        ours, reported = (1 - np.array(metrics(*live_torques(file, found.training[0]))["r2"]) for file in files)
        assert ours[1] < 0.5 * reported[1]
