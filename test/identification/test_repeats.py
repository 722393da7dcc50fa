"""A recording whose last part repeats the rest does not judge the model, and the verdict says so."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from synthetic import TRUTH, UR5E, excitation, log_at, torque

from robot_dynamics_ros.identification.arm import identify
from robot_dynamics_ros.identification.arm.identify import identify_recordings
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.identification.dataset.split import repeats, set_apart
from robot_dynamics_ros.identification.reports.result import summarise

RATE = 125.0


def runs(*motions):
    """A recording of periodic motions (seed, period [s], count) one after another, a smooth passage of 2 s between."""
    parts = [excitation(6, count * T, RATE, seed, amplitude=0.6, period=T)[1] for seed, T, count in motions]
    t = np.cumsum([0, *(250 + len(p) for p in parts)]) / RATE
    times = np.concatenate([a + np.arange(len(p)) / RATE for a, p in zip(t, parts, strict=False)])
    curve = CubicSpline(times, np.vstack(parts))
    t = np.arange(0, times[-1], 1 / RATE)
    q, qd, qdd = (np.ascontiguousarray(curve(t, k)) for k in range(3))
    rng = np.random.default_rng(9)
    tau = torque(UR5E, TRUTH, q, qd, qdd) + 0.2 * rng.standard_normal(q.shape)
    return recording(log_at(t, {"q": q, "effort": tau}, UR5E.joint_names), "run")


REPEATED = [((1, 5.0, 3),), ((1, 15.0, 1.7),), ((1, 5.0, 6), (2, 4.0, 9)), ((1, 3.1234, 5),)]
OF_ITS_OWN = [((1, 12.0, 1),), ((1, 5.0, 6), (2, 4.0, 3))]  # one period; a motion that begins where the first ends


@pytest.mark.parametrize("motions", [*REPEATED, *OF_ITS_OWN], ids=str)
def test_a_last_part_repeats_what_is_before_it_or_is_of_its_own(motions):
    """Whole periods, less than two, or the second of two motions repeat."""
    first, last, _ = set_apart([runs(*motions)], [])
    assert repeats(first, last) == [motions in REPEATED]


def test_pieces_that_a_recording_may_have_are_not_lost_where_it_is_cut():
    """Of a log of 50 samples between gaps nothing was left to identify from."""
    t = np.concatenate([10 * k + np.arange(50) / 40.0 for k in range(10)])
    log = log_at(t, {"q": np.sin(t)[:, None] * np.ones(6), "effort": np.cos(t)[:, None] * np.ones(6)}, UR5E.joint_names)
    rec = recording(log, "run")
    first, last, _ = set_apart([rec], [])
    assert [len(parts[0].pieces) for parts in (first, last)] == [7, 3]


def test_noise_of_positions_hides_no_repeat_and_rest_is_none():
    rec = runs((1, 5.0, 4))
    (piece,) = rec.pieces
    piece.q = piece.q + 0.01 * piece.q.std(0) * np.random.default_rng(2).standard_normal(piece.q.shape)
    first, last, _ = set_apart([rec], [])
    assert repeats(first, last) == [True]
    last[0].pieces[0].q[:] = last[0].pieces[0].q[0]
    assert repeats(first, last) == [False]


def test_the_verdict_says_that_a_repeat_judges_nothing(given_structure):
    result = summarise(identify_recordings(UR5E, [runs((1, 5.0, 3))], []), "ur5e")
    assert any("repeats the first" in text for text in result["warnings"])
    assert "cannot be judged" in " ".join(result["verdict"]) and "--validate" in " ".join(result["verdict"])
    assert result["grade"] == "fair"
    other = identify_recordings(UR5E, [runs((1, 5.0, 3))], [runs((2, 4.0, 3))])
    assert summarise(other, "ur5e")["grade"] == "good"


def test_a_last_part_that_stands_leaves_the_judgement_to_one_that_repeats(given_structure):
    """Nothing could be validated, and a file that errs by 2 N in motion was not usable."""
    stands = runs((3, 12.0, 1))
    (piece,) = stands.pieces
    at = round(0.69 * len(piece.t))
    piece.q[at:], piece.effort[at:] = piece.q[at], piece.effort[at]
    found = identify_recordings(UR5E, [runs((1, 5.0, 3)), stands], [])
    assert found.repeated and len(found.validation) == len(found.repeats) == 1 and not found.repeats[0].moves
    assert summarise(found, "ur5e")["grade"] == "fair"


def test_recordings_that_repeat_nothing_are_judged_on_and_all_give_residuals(given_structure, monkeypatch):
    seen, real = [], identify.residuals
    monkeypatch.setattr(identify, "residuals", lambda robot, recs, *rest: seen.extend(recs) or real(robot, recs, *rest))
    recorded = [runs((1, 5.0, 3)), runs((3, 12.0, 1))]
    found = identify_recordings(UR5E, recorded, [])
    assert not found.repeated and [len(found.training), len(found.validation)] == [2, 1]
    assert len(seen) == 4 and sum(rec.samples for rec in seen) == sum(rec.samples for rec in recorded)
    result = summarise(found, "ur5e")
    assert any("repeats the first, so it is not validated on" in text for text in result["statements"])
    assert "cannot be judged: the data repeat" not in " ".join(result["verdict"])
