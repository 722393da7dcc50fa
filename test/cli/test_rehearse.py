"""`rehearse`: a motion on the simulated arm as a bag, and what it refuses."""

from pathlib import Path

import numpy as np
import pytest
from command_line import robot_dynamics

from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.trajectories.files import VELOCITY

URDF = Path(__file__).parents[1] / "docs" / "own_arm.urdf"
NAMES = ("turn", "lift", "roll", "bend", "twist", "nod", "spin")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [[t, *(0.3 * np.sin(t + np.arange(7)))] for t in np.arange(0, 3, 0.1)]
    lines = [",".join(("time", *NAMES)), *(",".join(f"{x:.6f}" for x in row) for row in rows)]
    Path("motion.csv").write_text("\n".join(lines) + "\n")
    make = ["new", str(URDF), "--tip", "tool0", "--effort-from", "motor-torque", "--out", "arm-2.yaml"]
    assert robot_dynamics(*make, catch_exceptions=False).exit_code == 0
    return tmp_path


def run(*arguments):
    return robot_dynamics("rehearse", "motion.csv", "--robot", "arm-2.yaml", "--date", "2026-01-31", *arguments)


def test_a_bag_of_the_motion_with_push_and_payload(folder):
    assert "name: arm_2" in Path("arm-2.yaml").read_text()
    for name, extra in (("free", ()), ("pushed", ("--push", "0,0,-30,1,1"))):
        done = run("--out", name, *extra)
        assert done.exit_code == 0, done.output
    assert run("--out", "loaded", "--payload", "2,0,0,0.05").exit_code == 0
    free, pushed, loaded = (load_bag(name)[0] for name in ("free", "pushed", "loaded"))
    assert len(free) == 1450 and list(free.joint_names) == list(NAMES)
    assert np.array_equal(free.effort[:499], pushed.effort[:499])
    assert np.abs(pushed.effort[600:900] - free.effort[600:900]).max() > 3
    assert np.abs(loaded.effort - free.effort).max() > 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "choose one of"),
        (("--out", "a", "--live"), "choose one of"),
        (("--out", "."), "exists already"),
        (("--out", "motion.csv"), "expected a directory"),
        (("--out", "a", "--push", "1,2"), "is not 3 or 5 numbers"),
        (("--out", "a", "--push", "0,0,-1e9,1,1"), "--push: 1e+09 N is more than 10000 N"),
        (("--out", "a", "--push", "0,0,9"), "--push: begins at 5 s, the motion ends at 2.9 s"),
        (("--out", "a", "--payload", "heavy"), "is not 1 or 4 numbers"),
        (("--out", "a", "--payload", "-1"), "--payload: -1: is no mass of 0..10000 kg"),
        (("--out", "a", "--set", "friction.coulomb"), "is not NAME=VALUE"),
        (("--out", "a", "--set", "friction.coulomb=1.2.3"), "is not NAME=VALUE"),
        (("--out", "a", "--set", "friction.columb[2]=x1.4"), "did you mean 'friction.coulomb'"),
        (("--out", "a", "--set", "friction.coulomb[8]=1"), "'8' is none of turn, lift"),
        (("--out", "a", "--set", "friction.coulomb[2]=-1"), "coulomb"),
        (("--out", "a", "--date", "0001-01-01"), "--date 0001-01-01: is outside 1678..2261"),
    ],
)
def test_mistakes_are_one_line(folder, arguments, words):
    done = run(*arguments)
    assert isinstance(done.exception, RobotDynamicsError) and words in str(done.exception)
    assert "\n" not in str(done.exception) and not Path("a").exists()


def test_the_next_command_after_a_push_estimates_its_force(folder):
    printed = run("--out", "pushed", "--push", "0,0,-30,1,1").stdout
    assert "next: robot-dynamics replay pushed --robot arm-2.yaml --out result" in printed
    assert "identify" not in printed


def test_the_next_command_identifies_a_property_where_one_joint_moves_at_a_time(folder):
    assert "identify free --robot arm-2.yaml --out identified" in run("--out", "free").stdout
    header = ",".join(["time", *NAMES, *(name + VELOCITY for name in NAMES)])
    # one after the other; where the second joint begins, the first one is not quite at rest
    points = ((0, 0, 0, 0, 0), (1, 0, 1, 0, 0.01), (1.004, 0, 1, 0.01, 0), (2, 1, 1, 0, 0))
    rows = [f"{t}" + ",0" * 5 + f",{nod},{spin}" + ",0" * 5 + f",{v},{w}" for t, nod, spin, v, w in points]
    Path("motion.csv").write_text("\n".join([header, *rows]) + "\n")
    assert "identify one --robot arm-2.yaml --what friction --out identified" in run("--out", "one").stdout


def test_a_motion_outside_the_limits_is_refused(folder):
    header = Path("motion.csv").read_text().splitlines()[0]
    Path("motion.csv").write_text(header + "\n0" + ",0" * 7 + "\n9" + ",0" * 6 + ",8\n")
    done = run("--out", "a")
    assert isinstance(done.exception, RobotDynamicsError) and "outside" in str(done.exception)
    assert not Path("a").exists()


def test_parameters_of_single_joints_can_be_changed(folder):
    for name, extra in (
        ("new", ()),
        ("worn", ("--set", "friction.coulomb[2]=x1.5", "--set", "friction.stribeck[2]=x1.5")),
        ("short", ("--set", "friction.coulomb[2]=x1.5")),  # the breakaway level goes with it
    ):
        done = run("--out", name, *extra)
        assert done.exit_code == 0, done.output
    new, worn, short = (load_bag(name)[0] for name in ("new", "worn", "short"))
    np.testing.assert_allclose(worn.effort, short.effort, atol=1e-6)
    moving = np.abs(new.qd).min(axis=0) < np.inf
    change = np.abs(worn.effort - new.effort)[100:].mean(axis=0)
    assert moving.all() and change[1] > 10 * np.delete(change, 1).max()
    assert new.stamp_ns[0] // 10**9 == 1769817600


def test_joints_are_named_or_numbered_from_one(folder):
    for joint in ("2", "lift"):
        setting = f"friction.coulomb[{joint}]=0"
        assert run("--out", f"out{joint}", "--set", setting).exit_code == 0
    assert np.array_equal(*(load_bag(f"out{joint}")[0].effort for joint in ("2", "lift")))
