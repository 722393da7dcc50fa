"""Health of simulated robots over a year: one that ages, and a fleet with one that is worn.

The ageing spring is only a part of what gives way between rotor and link: measured stiffness falls about a third as
much. The joints' heat capacities are a ninetieth of the plant's, so that 40 s of motion are a warming-up of an hour.
"""

import json

import numpy as np
import pytest
from command_line import printed

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.robot_file import load_robot, save_robot
from robot_dynamics_ros.simulation.plant.build import load_plant
from robot_dynamics_ros.simulation.robot import SimulatedRobot

pytestmark = [pytest.mark.long, pytest.mark.timeout(1500)]

MONTHS, RATE, SECONDS, FASTER = 10, 125, 40.0, 90  # warming up
START = 1_750_000_000
TOPICS = ("joint_states", "motor_states", "joint_temperatures", "motor_currents")
FREQUENCY = np.array([0.9, 1.3, 1.7, 2.1, 2.5, 2.9])
POSE = np.array([0.0, -1.2, 1.3, -1.5, -1.4, 0.3])
TWO_ENCODERS = load_robot("ur5e").with_updates({"sensing.rotor_encoder": True})
TRUE = load_plant(TWO_ENCODERS).true
LIFT, ELBOW, WRIST = 1, 2, 4
PARTS = ("housing", "lubricant")


def scaled(name, joint, factor):
    values = np.array(TRUE[name])
    values[joint] *= factor
    return values


def recorded(bag, month, seed, individual=None, friction=1.0, stiffness=1.0, cooling=1.0, amplitude=0.35):
    """One recording of a UR5e with two encoders.

    As shares: friction of the elbow, stiffness of the shoulder lift, cooling of a wrist.
    """
    rng = np.random.default_rng(1000 * seed + month)
    ambient = 22.0 + 5.0 * np.sin(2 * np.pi * month / 12) + rng.normal()
    overrides = {f"thermal.{part}_capacity": TRUE[f"thermal.{part}_capacity"] / FASTER for part in PARTS}
    aged = dict.fromkeys(("friction.coulomb", "friction.stribeck"), (ELBOW, friction))
    aged |= dict.fromkeys(("transmission.stiffness", "transmission.hardening"), (LIFT, stiffness))
    aged["thermal.outer_conductance"] = (WRIST, cooling)
    overrides |= {name: scaled(name, *of) for name, of in aged.items()} | {"outputs.rotor_encoder": True}
    if individual is not None:
        overrides = {k: v for k, v in overrides.items() if v.__class__ is bool or "capacity" in k or friction != 1.0}
        overrides["deviation.individual"] = individual
    robot = SimulatedRobot(TWO_ENCODERS, seed=1000 * seed + month, overrides=overrides, rate=RATE)
    t, w = np.arange(int(SECONDS * RATE))[:, None] / RATE, FREQUENCY
    size = amplitude * rng.uniform(0.85, 1.15)
    q, qd, qdd = POSE + size * (1 - np.cos(w * t)), size * w * np.sin(w * t), size * w**2 * np.cos(w * t)
    robot.stamp_ns = int(START + month * 30 * 86400) * 10**9
    robot.set_temperatures(ambient)
    robot.reset(q[0])
    log, _ = robot.run(q, qd, qdd, ambient=ambient)
    return str(write_bag(log, bag, topics=TOPICS))


@pytest.fixture(scope="module")
def robot_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("robot") / "two_encoders.yaml"
    save_robot(TWO_ENCODERS, path)
    return str(path)


def judged(robot_file, bags, out, *more):
    arguments = [*bags, "--robot", robot_file, "--out", str(out), *more]
    done = printed("health", *arguments)
    return json.loads((out / "health.json").read_text()), done, (out / "health.html").read_text()


def test_a_robot_that_ages_is_seen_where_it_ages(robot_file, tmp_path):
    cooling = [1.0] * 6 + [0.55] * (MONTHS - 6)
    bags = [recorded(tmp_path / f"m{m}", m, 1, None, 1 + 0.09 * m, 1 - 0.07 * m, cooling[m]) for m in range(MONTHS)]
    result, output, page = judged(robot_file, bags, tmp_path)
    (robot,) = result["robots"].values()
    rows = robot["quantities"]
    off = {(q, row["joint"]) for q in rows for row in rows[q] if row["level"] in ("warn", "error")}
    lift, elbow, wrist = (TWO_ENCODERS.joint_names[j] for j in (LIFT, ELBOW, WRIST))
    aged = {("coulomb", elbow), ("stiffness", lift), ("thermal_time", wrist), ("thermal_resistance", wrist)}
    assert off == aged, output
    assert rows["coulomb"][ELBOW]["significant"] and rows["coulomb"][ELBOW]["slope_per_month"] > 0
    assert rows["thermal_resistance"][WRIST]["changes"] == [robot["dates"][6]]
    assert "thermal" in page and elbow in page


def test_a_fleet_shows_who_deviates(robot_file, tmp_path):
    bags = []
    for k, name in enumerate(("north", "south", "east", "west", "hall")):
        worn = {"friction": 1.9} if name == "east" else {}
        warm = 6 if name == "hall" else k  # another season, another temperature
        bags += [recorded(tmp_path / name / f"m{m}", m + warm, 10 + k, individual=k + 1, **worn) for m in range(2)]
    result, output, page = judged(robot_file, bags, tmp_path, "--fleet")
    rows = [r for r in result["fleet"] if r["quantity"] == "coulomb"]  # stiffness differs from arm to arm
    off = {(r["robot"], r["joint"]) for r in rows if r["level"] in ("warn", "error")}
    assert off == {("east", TWO_ENCODERS.joint_names[ELBOW])}, output
    assert {r["level"] for r in rows} >= {"ok"} and "unknown" not in {r["level"] for r in rows}
    assert 'href="health_east.html"' in page and (tmp_path / "health_east.html").exists()
