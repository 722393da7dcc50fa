"""The zoo of `python -m bench force`: split, draw, figures against closed forms, and one robot from end to end."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from bench.__main__ import cli
from bench.force import DRAWN, ELASTIC, EXCITE, MUJOCO, baseline, hour, judge, recordings, table, zoo
from bench.force.judge import METHODS, Verdict
from bench.page import markdown_table
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators import wrench_metrics as metrics
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.simulation.plant.build import without
from robot_dynamics_ros.simulation.robot import SimulatedRobot


@pytest.fixture(scope="module")
def ur5e():
    return load_robot("ur5e")


def test_halves_share_no_family_no_load_and_no_pair_of_sliding_laws():
    seen = {side: {"family": set(), "load": set(), "pair": set()} for side in zoo.HALVES}
    for family in zoo.FAMILIES:
        for visit in range(12):
            laws = zoo.laws_of(family, visit)
            kinds = seen[zoo.half_of(family)]
            kinds["family"].add(laws["family"])
            kinds["load"].add(laws["load"])
            kinds["pair"].add((laws["stribeck"], laws["viscosity"]))
    for kind in ("family", "load", "pair"):
        tuning, held_out = (seen[side][kind] for side in zoo.HALVES)
        assert tuning and held_out and not tuning & held_out
    assert seen["tuning"]["family"] == {"lugre", "gms", "maxwell", "dry"}
    assert seen["held-out"]["load"] == {"quadratic", "saturating"}
    assert len(seen["tuning"]["pair"]) == len(seen["held-out"]["pair"]) == 3


def test_families_by_half_name_and_mistake():
    halves = {*zoo.families("tuning"), *zoo.families("held-out")}
    assert halves | {*zoo.BY_NAME} == {*zoo.FAMILIES} and not halves & {*zoo.BY_NAME}
    assert zoo.families("held-out") == ["dahl", "elasto-plastic"] and zoo.families("drift") == ["drift"]
    assert zoo.families("dahl, gms") == ["dahl", "gms"]
    with pytest.raises(ConfigError, match="coulomb.*known: lugre"):
        zoo.families("dahl,coulomb")


def test_dry_friction_is_asked_for_by_name_and_has_no_travel_before_breakaway(ur5e):
    assert zoo.half_of("dry") == "tuning" and "dry" not in zoo.families("all")
    (who,) = zoo.individuals(ur5e, 1, 0, zoo.families("dry"))
    machine = recordings.simulated(ur5e, who, 0)
    q = np.tile(recordings.home(ur5e, who.draw(0)), (200, 1))
    machine.reset(q[0])
    push = np.tile([0.0, 0, -20, 0, 0, 0], (200, 1))
    _, truth = machine.run(q, 0 * q, 0 * q, wrench=push)
    turned = np.abs(truth["theta"][-1] - truth["theta"][20])
    changed = np.abs(truth["friction_torque"][-1] - truth["friction_torque"][20])
    assert turned.max() < 1e-4 and changed.max() > 0.5  # usual presliding: 1e-3 rad


def test_a_longer_draw_begins_as_a_shorter_and_robots_differ(ur5e):
    few, many = (zoo.individuals(ur5e, n, 5, ["lugre", "gms"]) for n in (2, 5))
    for a, b in zip(few, many, strict=False):
        assert a.laws == b.laws and a.overrides.keys() == b.overrides.keys()
        assert all(np.array_equal(a.overrides[k], b.overrides[k]) for k in a.overrides)
    coulomb = [who.overrides["friction.coulomb"] for who in many]
    assert len({c.tobytes() for c in coulomb}) == 5
    assert all(len(set((c / coulomb[0]).tolist())) > 1 for c in coulomb[1:])
    assert not np.array_equal(coulomb[0], zoo.individuals(ur5e, 1, 6, ["lugre"])[0].overrides["friction.coulomb"])


def test_individuals_stay_within_15_percent_and_10_mm(ur5e):
    exact = SimulatedRobot(ur5e, overrides=without("deviation")).machine.link_parameters
    mass, com = [], []
    for who in zoo.individuals(ur5e, 8, 0, zoo.families("all")):
        links = recordings.simulated(ur5e, who, 0).machine.link_parameters
        mass += (links[:, 9] / exact[:, 9] - 1).tolist()
        com += (links[:, 6:9] / links[:, 9:] - exact[:, 6:9] / exact[:, 9:]).ravel().tolist()
    assert 0.08 < np.abs(mass).max() <= 0.15 + 1e-9
    assert 0.005 < np.abs(com).max() <= 0.01 + 1e-9


def test_bags_and_kinds_do_not_go_with_the_family(ur5e):
    people = zoo.individuals(ur5e, 9, 0, zoo.families("tuning"))
    for family in zoo.families("tuning"):
        mine = [who for who in people if who.laws["family"] == family]
        assert {who.bags for who in mine} == {1, 2, 3} and {who.kinds[0] for who in mine} == {*DRAWN}


def test_recordings_noise_and_tilt_are_those_asked_for_and_no_file_names_the_tilt(ur5e):
    drawn = zoo.individuals(ur5e, 1, 0, ["lugre"])
    (who,) = zoo.on_plant(drawn, ELASTIC, "slow,slow", 0.01, 0.2)
    assert who.kinds == ("slow", "slow") and who.bags == 2
    log = Log(ur5e.joint_names, np.arange(2000), {"q": np.zeros((2000, 6)), "qd": np.zeros((2000, 6))})
    noise = recordings.noisy(log, who, 3).qd
    assert noise.std() == pytest.approx(0.01, rel=0.05) and not log.q.any()
    machine = recordings.simulated(ur5e, who, 0)
    gravity = machine.robot.gravity
    assert np.arccos(gravity @ ur5e.gravity / (gravity @ gravity)) == pytest.approx(0.2)
    pose = np.array([0.3, -1.2, 1.5, -1.0, -1.4, 0.4])
    machine.reset(pose)
    held = machine.step_position(pose).target_moment
    assert np.abs(held - RobotModel(ur5e.chain()).gravity(pose[None])[0]).max() > 1.0
    with pytest.raises(ConfigError, match=f"fast: unknown; known: fourier, moves, slow, {EXCITE}"):
        zoo.on_plant(drawn, ELASTIC, "fast", 0.0, 0.0)
    with pytest.raises(ConfigError, match="gms.*is not in mujoco, which has lugre, dry"):
        zoo.on_plant(zoo.individuals(ur5e, 1, 0, ["gms"]), MUJOCO, None, 0.0, 0.0)


def test_a_number_of_the_plant_is_times_a_factor_whether_the_zoo_draws_it_or_not(ur5e):
    people = zoo.individuals(ur5e, 2, 0, ["lugre"])
    factors = {"transmission.bearing_friction": 2.0, "friction.coulomb": 0.5}
    for who, other in zip(people, zoo.scaled(ur5e, people, factors), strict=True):
        before, after = (recordings.simulated(ur5e, one, 0).machine.true for one in (who, other))
        for name, value in before.items():
            np.testing.assert_allclose(after[name], factors.get(name, 1.0) * np.asarray(value), err_msg=name)
    with pytest.raises(ConfigError, match="--times.*nothing: unknown; known: .*transmission.backlash"):
        zoo.scaled(ur5e, people, {"nothing": 1.0})


@pytest.mark.parametrize(
    "names", [recordings.TRIALS[:1], pytest.param(recordings.TRIALS[1:], marks=pytest.mark.long)], ids=["one", "others"]
)
def test_trials_have_rests_creep_pushes_at_rest_and_moments(ur5e, names):
    who = zoo.individuals(ur5e, 1, 0, ["maxwell"])[0]
    for name in names:
        t = recordings.trial(ur5e, who, name)
        force, moment = (np.linalg.norm(x, axis=1) for x in np.hsplit(t.truth["external_wrench"], 2))
        assert force.max() == pytest.approx(max(recordings.LEVELS))
        assert 1.0 < moment.max() <= recordings.MOMENT + 1e-9
        assert min((t.contact & t.moving).sum(), (t.contact & ~t.moving).sum()) > 5 * recordings.RATE
        assert (~t.contact & ~t.moving).sum() > 3 * recordings.RATE and not (~t.contact & (force > 0)).any()
        assert set(t.log.signals) <= set(recordings.REPORTED)


def test_a_ball_finger_pushes_with_the_same_forces_without_a_moment_and_its_robot_file_says_so():
    finger = recordings.Since(finger=True)
    with_moment, without = (s.pushes(np.random.default_rng(3)) for s in (recordings.SAME, finger))
    np.testing.assert_array_equal(without[:, :3], with_moment[:, :3])
    assert not without[:, 3:].any() and with_moment[:, 3:].any()
    assert finger.robot("ur5e").kinematics.tool.expected_moment == 0.0


def test_a_worn_robot_has_more_coulomb_friction_and_the_same_noise(ur5e):
    who = zoo.individuals(ur5e, 1, 0, ["lugre"])[0]
    same, worn = (recordings.Since(worn=share).who(who) for share in (0.0, 0.2))
    for name in ("friction.coulomb", "friction.stribeck"):
        np.testing.assert_array_equal(same.overrides[name], who.overrides[name])
        np.testing.assert_allclose(worn.overrides[name] / who.overrides[name], 1.2)
    assert worn.draw(3).random() == who.draw(3).random()


def test_the_singular_trial_comes_near_singular_poses(ur5e):
    who = zoo.individuals(ur5e, 1, 0, ["maxwell"])[0]
    draw = who.draw(0)
    q = recordings.singular_pose(ur5e, draw, recordings.home(ur5e, draw))
    J = RobotModel(ur5e.chain()).jacobian(q)
    J[3:] *= 0.25
    assert np.linalg.svd(J, compute_uv=False)[-1] < 0.1


def test_the_damped_inverse_is_the_inverse_away_from_singular_poses(ur5e):
    model = RobotModel(ur5e.chain())
    q = np.array([[0.3, -1.2, 1.5, -1.9, -1.4, 0.4], [0.3, -1.2, 1.5, -1.9, 0.0, 0.4]])
    wrench = np.array([10.0, -20.0, 5.0, 1.0, -2.0, 0.5])
    inverse = baseline.damped_inverse(ur5e, q)
    torque = model.jacobian(q).transpose(0, 2, 1) @ wrench
    assert inverse[0] @ torque[0] == pytest.approx(wrench, abs=1e-9)
    assert np.linalg.norm(inverse[1], 2) < 40.0  # damped: 1/(2 * 0.08) in scaled units
    assert np.linalg.norm(inverse[1] @ torque[1]) <= 2.0 * np.linalg.norm(wrench)


def test_baseline_recovers_the_law_it_assumes():
    rng = np.random.default_rng(0)
    v, tau = rng.normal(size=5000), 20 * rng.normal(size=5000)
    law = np.array([0.3, 4.0, 5.0, 0.08])
    sign = np.tanh(v / 0.03)
    target = law[0] + law[1] * v + (law[2] + law[3] * np.abs(tau)) * sign
    results = [baseline._fitted(v, tau, target, eps) for eps in baseline.EPSILONS]
    best = min(results, key=lambda r: r[0])
    assert best[1] == 0.03 and best[2] == pytest.approx(law, abs=1e-9)


def test_debouncing_begins_after_10_ms_and_ends_after_50_ms():
    over = np.zeros(200, bool)
    over[50:52] = True  # 4 ms: ignored
    over[100:140] = True
    assert metrics.runs(baseline.debounced(over, 0.002)) == [(104, 164)]


def verdict(index, **values):
    row = {r.key: 0.0 for r in table.ROWS} | {f"axes_{s}": [0.0] * 6 for s in metrics.STATES} | values
    return Verdict(index, zoo.laws_of("lugre", 0), ["moves"], {m: row for m in METHODS})


def test_a_plant_that_stays_as_warm_as_it_is_does_not_work_for_an_hour():
    result = CliRunner().invoke(cli, ["force", "--plant", MUJOCO, "--families", "lugre", "--hour"])
    assert result.exit_code and "only the elastic plant warms up" in result.output


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_hour_of_work_keeps_its_files_and_takes_several_robots_at_a_time(tmp_path, monkeypatch, jobs):
    """Both options were read and did nothing."""
    keys = ("kelvin", "false_share", "found_10", *(f"force_{s}" for s in metrics.STATES))
    rows, made, pools = [dict.fromkeys(keys, 0.0)] * len(hour.ENDS), [], []

    def pool(jobs, mp_context):
        pools.append(jobs)
        return ThreadPoolExecutor(jobs)

    monkeypatch.setattr(hour, "judge", lambda name, who, work, since: made.append((who.index, work)) or rows)
    monkeypatch.setattr(judge, "ProcessPoolExecutor", pool)
    options = ["--robots", "2", "--families", "lugre", "--hour", "--work", tmp_path, "--jobs", jobs]
    result = CliRunner().invoke(cli, ["force", *map(str, options)], catch_exceptions=False)
    assert not result.exit_code and sorted(made) == [(0, tmp_path), (1, tmp_path)] and pools == [2][: jobs - 1]


def test_the_summary_takes_the_worst_by_its_own_sense():
    people = [verdict(k, force_rest=float(k), within_1_rest=0.5 + 0.05 * k, found_20=0.1 * k) for k in range(8)]
    found = table.summary(people)["ours"]
    assert found["force_rest"] == {"median": 3.5, "worst quarter": 6.5, "worst": 7.0}
    assert found["within_1_rest"]["worst"] == pytest.approx(50.0)  # farthest from 68.3 %
    assert found["within_1_rest"]["worst quarter"] == pytest.approx((18.3 + 16.7) / 2)  # distances of 50 and 85 %
    assert found["found_20"]["worst quarter"] == pytest.approx(5.0)
    lone = table.summary([verdict(0, delay_10=float("nan"))])["ours"]["delay_10"]
    assert all(np.isnan(v) for v in lone.values())
    lines = markdown_table(table.cells(people)).splitlines()
    assert len({line.replace("\\|", "").count("|") for line in lines}) == 1


@pytest.mark.long
def test_the_command_judges_a_robot_from_end_to_end(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bench.page.RESULTS", tmp_path)
    words = "force --robots 1 --families maxwell --recorded slow --seed 3 --work work --json a.json --save"
    runs = []
    for _ in range(2):
        result = CliRunner().invoke(cli, words.split(), catch_exceptions=False)
        assert result.exit_code == 0, result.output
        runs.append(json.loads((tmp_path / "a.json").read_text())["robots"][0])
    assert runs[0]["figures"] == runs[1]["figures"]
    figures = runs[0]["figures"]
    for state in metrics.STATES:
        assert figures["oracle"][f"force_{state}"] < 6.0
        assert figures["true_inertia"][f"force_{state}"] < 4.0
    for state in ("contact", "contact_rest"):  # free, ours learns what bodies leave, which err together with friction
        assert figures["true_inertia"][f"force_{state}"] < figures["ours"][f"force_{state}"]
    assert (tmp_path / "work" / "robot_0").is_dir()
    page = (tmp_path / "force.md").read_text()
    assert "force RMS at rest" in page and "python -m bench force --robot ur5e --robots 1 --seed 3" in page


@pytest.mark.long
def test_a_machine_goes_on_from_where_it_stands_without_a_gap(ur5e):
    (who,) = zoo.individuals(ur5e, 1, 3, zoo.families("maxwell"))
    machine = recordings.simulated(ur5e, who, 0)
    pushes = recordings.SAME.pushes
    first, then = (recordings.touched(ur5e, who, "minute", k, pushes, machine=machine).log for k in (1, 2))
    assert then.stamp_ns[0] - first.stamp_ns[-1] == 2_000_000
    one, whole = np.abs(then.q[0] - first.q[-1]).max(), np.abs(then.q[0] - then.q[-1]).max()
    assert one < 2e-3 < 0.1 < whole  # of a cycle at up to 1 rad/s


def test_a_cold_start_is_at_the_temperature_of_the_air(ur5e):
    """The air was that of another day, up to 4 K off."""
    (who,), still = zoo.individuals(ur5e, 1, 3, zoo.families("lugre")), np.zeros((500, 6))
    warmed = []
    for air in (None, who.temperature - hour.COOL):
        machine = hour.cold(ur5e, who, recordings.SAME)
        truth = machine.run(machine.record().q + still, still, still, ambient=air)[1]
        warmed.append(truth["lubricant_temperature"][-1])
    np.testing.assert_array_equal(*warmed)


@pytest.mark.long
def test_work_from_a_cold_start_warms_the_robot_and_is_judged_by_its_age(ur5e):
    (who,) = zoo.individuals(ur5e, 1, 3, zoo.families("maxwell"))
    rows = hour.judge("ur5e", replace(who, bags=1), None, recordings.SAME, ends=(1, 3))
    assert -hour.COOL < rows[0]["kelvin"] < rows[1]["kelvin"] < 0.0
    assert all(row["force_moving"] < 5.0 and row["false_share"] < 0.05 for row in rows)
    head, *lines = hour.cells([rows, rows], ends=(1, 3))
    assert [line[0] for line in lines] == ["0 to 1", "1 to 3"] and {len(line) for line in lines} == {len(head)}


def test_parts_are_carried_every_other_way_and_weigh_what_inverse_dynamics_says(ur5e):
    """J' times the wrench is minus the torque of a payload of that mass at the TCP."""
    rng = np.random.default_rng(2)
    (q, qd, qdd), carried = recordings.cycles(ur5e, recordings.home(ur5e, rng), rng)
    assert len(q) == len(carried) == recordings.DURATION * recordings.RATE and 0.4 < carried.mean() < 0.6
    assert (np.diff(carried.astype(int)) != 0).sum() > 10 and not np.abs(qd[1:][np.diff(carried)]).max() > 1e-9
    model, wrench = RobotModel(ur5e.chain()), recordings.weights(ur5e, q, 2.0 * carried)
    tcp = ur5e.chain().tool[:3, 3]
    load = model.with_payload(2.0, tcp).rnea(q, qd, qdd) - model.rnea(q, qd, qdd)
    torque = np.einsum("nki,nk->ni", model.jacobian(q), wrench)
    error = np.abs(torque + load * carried[:, None])[5:-5]
    assert np.quantile(error, 0.99) < 0.01 and error.max() < 0.2  # where acceleration jumps, its difference is a mean


def test_work_with_parts_goes_on_from_where_the_arm_stands_and_their_weight_is_no_true_force(ur5e):
    (who,) = zoo.individuals(ur5e, 1, 0, zoo.families("tuning"))
    machine, since = recordings.simulated(ur5e, who, 0), recordings.Since(parts=1.0)
    machine.reset(recordings.home(ur5e, who.draw(0)))
    samples = round(recordings.DURATION * recordings.RATE)
    trial = recordings.touched(ur5e, who, "minute", 31, lambda draw: np.zeros((samples, 6)), since, machine)
    assert len(trial.log) > samples and np.abs(trial.truth["external_wrench"]).max() < 1e-9
