"""Presliding friction identified from a joint's samples: what drives it, speed beside history, and encoder steps."""

from dataclasses import replace

import numpy as np
import pytest

from robot_dynamics_ros import _core
from robot_dynamics_ros.identification.arm.friction_columns import (
    BEARING_SPAN,
    SPANS,
    STRIBECK_RISE,
    Shape,
    stribeck_step,
)
from robot_dynamics_ros.identification.arm.friction_samples import FrictionSamples
from robot_dynamics_ros.identification.arm.presliding import PreslidingProblem
from robot_dynamics_ros.identification.arm.presliding_shape import BEARING, fit_presliding, presliding_problems
from robot_dynamics_ros.identification.arm.written_law import choose_law, load_of_others
from robot_dynamics_ros.identification.dataset.motion import ROTOR_TIME
from robot_dynamics_ros.signals.runs import runs

RATE, N = 200.0, 12_000
STEP = 2.4e-5  # rad, of an encoder behind the gear
LEVEL, SPAN, FS, FV, VS = 4.0, 1e-3, 2.0, 3.0, 0.1


def samples(quantum=0.0, stiffness=np.inf, span=SPAN, seed=0, sweep=0.0, widening=(0.0, 0.0), step=0.0, ratio=1.0):
    """One joint in strokes and stands: friction of the rotor's angle; the position is the link's, read in steps. The
    strokes wander by `sweep` [rad] to and fro. step: it gives way gradually; ratio: sliding fast over slow.
    """
    draw, t = np.random.default_rng(seed), np.arange(N) / RATE
    envelope = np.clip(1.5 * np.sin(0.35 * t), 0, 1)  # half of the time it stands
    v = envelope * (0.25 * np.sin(1.3 * t) + 0.15 * np.sin(3.1 * t + 1) + 0.2 * sweep * np.cos(0.1 * t))
    theta = np.cumsum(v) / RATE
    load = 25 * np.sin(theta + 0.9 * np.sin(0.5 * t))
    H = _core.presliding_elements(theta, np.array([span]), t < 0, widening, step)[:, 0]
    fall = 1 / (1 + (v / VS) ** 2)
    y = LEVEL * (ratio + (1 - ratio) * fall) * H + FS * v / (np.abs(v) + STRIBECK_RISE) * fall + FV * v
    link = theta - load / stiffness
    if quantum:
        link = quantum * np.round(link / quantum)
    folds = [np.arange(N) // 500 % 4]
    y = y + draw.normal(0, 0.05, N)
    return FrictionSamples(y, v, load, link, np.ones(N), np.arange(N) == 0, folds, None, RATE, t, theta)


def elements_of(theta, span):
    return _core.presliding_elements(theta, np.array([span]), np.arange(len(theta)) == 0)[:, 0]


def fitted(data):
    return fit_presliding(*presliding_problems([data])).parameters


@pytest.mark.parametrize("jitter", [0.0, 0.4])
def test_uneven_stamps_are_no_noise_of_the_positions(jitter):
    """Eight deviations of 5e-5 rad: spans below 4e-4 rad have no elements."""
    draw, data = np.random.default_rng(1), replace(samples(), rotor=None)
    t = data.t + draw.uniform(-jitter, jitter, N) / RATE
    q = 0.3 * np.sin(1.3 * t) + draw.normal(0, 5e-5, N)
    shown = PreslidingProblem(replace(data, t=t, position=q)).H.any(axis=0)
    np.testing.assert_array_equal(shown, np.array(SPANS) > 4e-4)


@pytest.mark.parametrize("ratio", [1.0, 0.55])
def test_stribeck_friction_of_speed_alone_is_distinguished_from_elements(ratio):
    found = fitted(samples(ratio=ratio))
    assert found["sliding_ratio"] == ratio
    near = [k for k, span in enumerate(SPANS) if 0.4 < span / SPAN < 2.5]
    assert found["fs"] == pytest.approx(FS, rel=0.1)
    assert sum(np.array(found["level"])[near]) > 0.8 * LEVEL
    assert sum(found["level"]) == pytest.approx(LEVEL, rel=0.1)
    assert found["fv1"] == pytest.approx(FV, rel=0.1)


def test_a_law_that_fails_where_nothing_was_fitted_is_not_written():
    """One stroke, in which friction falls with speed, but not in the samples before the elements are known."""
    t = np.arange(1000) / RATE
    v = 0.02 + 0.15 * t
    falls = np.where(v > 0.13, stribeck_step(v, VS), 0.0)
    y = 1.0 + 1.5 * v + falls + 0.02 * np.sin(900 * t)
    folds = [np.arange(1000) // 50 % 4]
    data = FrictionSamples(y, v, 0 * v, np.cumsum(v) / RATE, np.ones(1000), t == 0, folds, None, RATE, t)
    problem = PreslidingProblem(data)
    assert fit_presliding(problem).errors.sum() < 0.2 * problem.static()[1].sum()
    assert choose_law(problem).presliding is None


def test_a_joint_that_hardly_moves_keeps_its_static_law():
    """Elements that never slip are springs of any level, which the live stage would refuse."""
    data = samples()
    q = 1e-6 * np.sin(1.3 * data.t)
    data = replace(data, v=np.gradient(q, 1 / RATE), position=q, rotor=q, y=3e7 * q)
    assert choose_law(PreslidingProblem(data)).presliding is None


def test_a_joint_gives_way_gradually_unless_it_visibly_slips():
    """dH/dtheta = (1 - H sgn dtheta) / D [Dahl1968] against elements that stick up to their level."""
    slips, gradual = samples(), samples(step=1e-9)
    noisy = replace(slips, y=slips.y + 10.0 * np.sin(np.arange(N)))
    found = [fitted(data)["dahl_step"] for data in (slips, gradual, noisy)]
    assert found[0] == 0.0 < min(found[1:])


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_a_joint_that_shows_no_load_gains_half_of_what_the_others_do(power):
    """In proportion to the torque limits: 10 Nm under 100 on a joint of 200 Nm, 0.75 Nm under 15 on one of 30 Nm."""
    limit, few = np.array([200.0, 30.0]), samples(seed=1)
    few = replace(few, load=0.01 * few.load)
    shown, reference = samples(), 100.0
    load = reference * np.abs(shown.load / reference) ** power
    shown = replace(shown, y=shown.y + 0.1 * load * elements_of(shown.rotor, SPAN))
    problems = presliding_problems([shown, few])
    found = [law.presliding for law in load_of_others(problems, [choose_law(p) for p in problems], limit)]
    under = reference * limit / limit[0]
    friction = [sum(x.parameters["load"]) * tau**power for x, tau in zip(found, under, strict=True)]
    assert [x.parameters["load_power"] for x in found] == [power] * 2
    assert friction[0] == pytest.approx(0.1 * reference, rel=0.2)
    assert friction[1] / friction[0] == pytest.approx(0.5 * limit[1] / limit[0])
    first, last = (x.parameters for x in found)
    assert last["load_limit"] / limit[1] == pytest.approx(first["load_limit"] / limit[0])
    assert last["load"] == pytest.approx([found[1].shape.share * c for c in last["level"]])


def test_a_share_of_the_load_is_taken_over_where_new_samples_hardly_show_a_load():
    """Bodies that are solved again leave less load, or contact that is left out had most of it."""
    data = samples()
    shape = replace(fit_presliding(PreslidingProblem(data)).shape, share=0.02)
    again = fit_presliding(PreslidingProblem(replace(data, load=0.01 * data.load)), shape)
    shares = [0.02 * level for level in again.parameters["level"]]
    assert again.shape.share == 0.02 and again.parameters["load"] == pytest.approx(shares)


def test_damping_of_the_bristles_in_fast_reversals_is_no_slip():
    """LuGre's sigma_1 dz/dt beside friction that gives way gradually; slow strokes follow fast ones."""
    t, noise = np.arange(N) / RATE, np.random.default_rng(0).normal(0, 0.05, N)
    stroke = np.clip(1.5 * np.sin(0.35 * t), 0, 1) * (0.25 * np.sin(1.3 * t) + 0.15 * np.sin(3.1 * t + 1))
    v = np.where(t < 40, 6.0, 0.05) * stroke
    theta = np.cumsum(v) / RATE
    H = _core.presliding_elements(theta, np.array([SPAN]), t == 0, step=1e-9)[:, 0]
    y = LEVEL * (H + 0.05 * np.gradient(H) * RATE) + FV * v + noise
    folds = [np.arange(N) // 500 % 4]
    data = FrictionSamples(y, v, 0 * v, theta, np.ones(N), t == 0, folds, None, RATE, t, theta)
    assert fitted(data)["dahl_step"] > 0.0


def test_the_level_of_a_joint_without_travel_before_breakaway_is_that_of_its_sliding():
    """Standing, friction goes from one side to the other and back: to a fit of all samples it has no level."""
    draw, data = np.random.default_rng(1), samples()
    v = np.sign(data.v) * np.maximum(np.abs(data.v) - 0.03, 0.0)
    y, theta = LEVEL * np.sign(v) + FV * v + draw.normal(0, 0.05, N), np.cumsum(v) / RATE
    for a, b in runs(v == 0.0):
        turn, before, after = min(20, (b - a) // 2), np.sign(v[a - 1]), np.sign(v[b % N])
        held = np.interp(np.arange(a, b), [a, a + turn, b - turn, b], [before, -before, -after, after])
        y[a:b] += LEVEL * held
    dry = replace(data, y=y, v=v, position=theta, rotor=theta)
    found = fitted(dry)
    assert found["level"] == pytest.approx([LEVEL, *[0.0] * (len(SPANS) - 1)], rel=0.1) and found["fs"] == 0.0
    assert not presliding_problems([samples()])[0].data.kind.dry
    stepped = replace(dry, position=STEP * np.round(theta / STEP), rotor=None)
    assert fitted(stepped)["level"] == pytest.approx([LEVEL, *[0.0] * (len(SPANS) - 1)], rel=0.1)


def test_elements_within_the_encoder_steps_get_no_level():
    fine, coarse = (fitted(replace(samples(quantum, span=SPANS[0]), rotor=None)) for quantum in (0.0, STEP))
    assert fine["level"][0] + fine["load"][0] > 0.1 * LEVEL
    assert coarse["level"][0] == coarse["load"][0] == 0.0
    assert sum(coarse["level"]) > 0.5 * LEVEL


def test_spans_that_widen_over_a_turn_are_found_where_the_joint_has_gone_far_enough():
    truth = (0.25, -0.3)
    found, level = (fitted(samples(sweep=1.5, widening=w))["widening"] for w in (truth, (0.0, 0.0)))
    assert found == pytest.approx(truth, abs=0.1) and level == [0.0, 0.0]
    assert fitted(samples(sweep=0.3, widening=truth))["widening"] == [0.0, 0.0]


def test_the_joints_of_an_arm_show_together_that_spans_widen():
    """A joint whose noise hides the 3 % that a widening has to save gets one beside joints that show theirs clearly."""
    truth = (0.25, -0.3)
    clear, noisy = (samples(sweep=1.5, widening=truth, seed=seed) for seed in (0, 1))
    noisy = replace(noisy, y=noisy.y + np.random.default_rng(2).normal(0, 2.0, N))
    alone, beside = (presliding_problems(arm)[-1] for arm in ([noisy], [clear, clear, noisy]))
    found = [fit_presliding(problem).parameters["widening"] for problem in (alone, beside)]
    assert found[0] == [0.0, 0.0] and found[1] == pytest.approx(truth, abs=0.15)


SHAPES = Shape(2.0, 0.7, 0.1, share=1e-3), Shape(1.0, 1.0, 0.03, share=0.01), Shape(1.0, 0.7, 0.1, widening=(0.2, 0.3))


@pytest.mark.parametrize("shape", SHAPES)
def test_gram_matrices_of_a_shape_are_those_of_its_columns(shape):
    data = samples(STEP)
    data = replace(data, folds=[*data.folds, np.arange(N) * 3 // N])
    problem = PreslidingProblem(data)
    v, rows = data.v[problem.rows], problem.rows
    fall = 1 / (1 + (v / shape.velocity) ** 2)
    H = _core.presliding_elements(data.rotor, np.array(SPANS), data.start, shape.widening, problem.step)[rows]
    level = H * (shape.ratio + (1 - shape.ratio) * fall)[:, None]
    load = (np.abs(data.load[rows]) / problem.scale) ** shape.power
    one, speed = np.ones_like(v), fall * v / (np.abs(v) + STRIBECK_RISE)
    fixed = v, v / (1 + np.abs(v) / 0.3), one, -one
    loaded = level * (1 + shape.share * problem.scale**shape.power * load)[:, None]
    A = np.column_stack([loaded, *fixed, speed, data.y[rows]])
    parts = [A[fold[rows] == k] for fold in data.folds for k in range(fold.max() + 1)]
    grams = problem.grams(shape)
    assert len(grams) == len(parts) == 7
    assert all(G == pytest.approx(B.T @ B, rel=1e-9, abs=1e-6) for G, B in zip(grams, parts, strict=True))


def bent(seed, bearing):
    """A joint whose gear bends, with friction of a bearing that follows the link."""
    data = samples(stiffness=1e4, seed=seed)
    data = replace(data, load=np.cos(seed) * data.load, position=data.rotor - np.cos(seed) * data.load / 1e4)
    return replace(data, y=data.y + bearing * elements_of(data.position, BEARING_SPAN))


def test_bearings_have_a_share_where_the_rotors_drive_and_all_positions_show_their_span():
    """Of friction, 5.3 Nm in the median; not where held-out friction shows clearly that there is none."""
    data = [bent(seed, 0.5) for seed in range(2)]
    coarse = replace(data[1], position=2e-4 * np.round(data[1].position / 2e-4))
    none, link = [bent(seed, 0.0) for seed in range(2)], [replace(d, rotor=None) for d in data]
    for joints, share in ((data, BEARING), (none, 0.0), ([data[0], coarse], 0.0), (link, 0.0)):
        found = [fit_presliding(problem) for problem in presliding_problems(joints)]
        assert [fit.parameters["bearing"] for fit in found] == [share * np.median(np.abs(d.y)) for d in data]
        if share:
            bare = PreslidingProblem(data[0]).of_kind(power=found[0].shape.power)
            assert found[0].errors.sum() < 0.9 * fit_presliding(bare).errors.sum()


def test_all_elements_of_a_joint_grow_with_its_load_alike():
    """Two elements, of which only one moves while the load is high: the other is loaded by the same share."""
    data = samples()
    y = data.y + 0.02 * np.abs(data.load) * LEVEL * elements_of(data.rotor, SPAN)
    found = fitted(replace(data, y=y))
    level, load = np.array([found["level"], found["load"]])
    share = load[level > 0] / level[level > 0]
    assert np.ptp(share) < 1e-12 and share[0] == pytest.approx(0.02, rel=0.2) and found["load_power"] == 1.0


def rotor_drives(joints):
    return all(problem.data.rotor is not None for problem in presliding_problems(joints))


def test_the_rotor_drives_where_the_gear_bends_and_not_where_the_velocity_is_wrong():
    data = samples(STEP, stiffness=1e4)
    assert rotor_drives([data, data])
    drifting = replace(data, rotor=data.rotor + 3e-4 * np.arange(N) / RATE, position=data.rotor)
    assert not rotor_drives([drifting])
    assert not rotor_drives([data, replace(data, rotor=None)])
    assert fitted(data)["rotor_time"] == ROTOR_TIME
    assert fitted(replace(data, rotor=None))["rotor_time"] == 0.0


def test_a_fold_that_a_joint_does_not_show_is_a_fold_all_the_same():
    """Of two joints of a wrist one travels later: their errors are added fold by fold."""
    data = samples()
    late = np.where(np.arange(N) < 20, 6, np.arange(N) * 6 // N)
    problem = PreslidingProblem(replace(data, folds=[late]))
    assert (problem.rows >= 20).all() and len(problem.held_out(Shape(1.0, 1.0, 0.1))) == 7


def test_a_joint_that_never_moves_has_no_friction_beside_those_that_do():
    still = np.zeros(N)
    first = samples()
    locked = replace(first, v=still, position=still, rotor=None, load=still, y=1e-12 * first.y)
    static, _ = PreslidingProblem(locked).static()
    assert static["fc"] == static["fv"] == 0.0 and np.isfinite(list(static.values())).all()
