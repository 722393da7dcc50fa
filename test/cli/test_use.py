"""Commands as a person meets them: one line for what is wrong, plain text in a pipe, Ctrl-C keeps what was recorded."""

import itertools
import os
import signal
import subprocess
import sys

import pytest
from command_line import robot_dynamics

from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.cli.demo_robots import working_pose
from robot_dynamics_ros.cli.replay import carrying
from robot_dynamics_ros.identification.excitation import FourierSearch, joint_motions
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.robot_file.store import dump
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories.files import few_points, write_trajectory

UNIDENTIFIED = dict.fromkeys(("friction", "hysteresis", "drives.rotor_inertia"))
UNIDENTIFIED = dump(load_robot("ur5e").with_updates(UNIDENTIFIED))
COMMAND = [sys.executable, "-m", "robot_dynamics_ros.cli.main"]
PLAIN = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}


def run(*words, cwd, **environment):
    command, env = [*COMMAND, *map(str, words)], PLAIN | environment
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("text", ["0", "1.5,0,0,0.05"])
def test_a_payload_that_is_given_has_not_the_inertia_of_the_one_in_the_file(text):
    """No payload was refused: its mass must be > 0 when inertia is given."""
    loaded = {"payload": {"mass": 2.0, "com": (0.0, 0.0, 0.1), "inertia": (0.01, 0.0, 0.0, 0.01, 0.0, 0.01)}}
    payload = carrying(load_robot("ur5e").with_updates(loaded), text).payload
    assert (payload.mass, *payload.com) == tuple(map(float, text.split(","))) + (0.0,) * (3 * (text == "0"))
    assert not any(payload.inertia)


@pytest.fixture
def place(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "empty.bag").touch()
    (tmp_path / "empty.mcap").touch()
    (tmp_path / "mine.csv").write_text("time,q1\n0,1\n")
    (tmp_path / "unidentified.yaml").write_text(UNIDENTIFIED)
    (tmp_path / "directory").mkdir()
    for name in ("drawn.png", "seen.rrd", "prior.npz"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("check nosuch", "no such robot"),
        ("check file", "mapping"),
        ("export ur5e --format urdf --out file/x", "file is a file, not a directory"),
        ("export ur5e --format urdf --out directory", "is a directory"),
        ("new nosuch.urdf --effort-from motor-torque --out a.yaml", "no such file"),
        ("new file --effort-from motor-torque --out a.yaml", "not XML"),
        ("simulate nosuch", "no such robot"),
        ("simulate ur5e --set scenario=nosuch --set rtde_port=0 --set dashboard_port=0 --set script_port=0", "nosuch"),
        ("simulate ur5e --set rtde_port=70000", "70000"),
        ("simulate ur5e --set rtde_port=x", "must be a whole number"),
        ("simulate fr3 --set rtde_port=0", "unknown key"),
        pytest.param("up --robot nosuch", "no such robot", marks=pytest.mark.ros),
        pytest.param("up --robot ur5e --params file", "ros__parameters", marks=pytest.mark.ros),
        pytest.param("play mine.csv --robot ur5e --node left/", "node: 'left/' is no ROS name", marks=pytest.mark.ros),
        ("record --out file/x --duration 1", "file is a file"),
        ("record --out directory", "exists already"),
        ("record --out bag --recover file", "not an mcap file"),
        ("record --out bag --recover directory", "no mcap file"),
        ("excite --robot nosuch --out a.csv", "no such robot"),
        ("excite --robot ur5e --out directory", "is a directory"),
        ("excite --robot ur5e --out file", "must end in .csv"),
        ("excite --robot ur5e --out mine.csv", "--out: mine.csv: exists already; choose another name, or remove it"),
        ("excite --robot ur5e --out drawn.csv", "--out: drawn.png: exists already; choose another name, or remove it"),
        ("excite stiffness --robot ur5e --out mine.csv", "--out: mine.csv: exists already; choose another name"),
        ("replay empty.bag --robot ur5e --out out --view-file file", "must end in .rrd"),
        ("replay empty.bag --robot ur5e --out out --view-file seen.rrd", "--view-file: seen.rrd: exists already"),
        ("learn-fleet directory --out prior.npz", "--out: prior.npz: exists already; choose another name"),
        ("export fr3 --format ur-friction-scales --out scales.json", "only UR has friction scales"),
        ("import mine.csv --unit Nm --unit A --out bag", "choose one of Nm, A, mA"),
        ("learn unidentified.yaml mine.csv --state state", "null in unidentified.yaml"),
        ("health mine.csv --robot unidentified.yaml --out out", "friction is null in unidentified.yaml"),
        ("identify nosuch --robot ur5e --out out", "no such file"),
        ("identify empty.bag --robot ur55 --out out", "did you mean"),
        ("identify empty.bag --robot none.urdf --out out", "none.urdf"),
        ("identify mine.csv --robot ur5e --validate ./mine.csv --out out", "mine.csv is identified from"),
        ("identify directory --robot ur5e --out out", "no bag in this directory"),
        ("identify empty.mcap --robot ur5e --out out", "cannot be read as a bag"),
        ("identify empty.mcap --robot ur5e --out file", "is a file, expected a directory"),
        ("identify nosuch --robot ur5e --what friction --out out", "no such file"),
        ("identify empty.bag --what drives --robot ur5e --out out", "cannot be read as a bag"),
        ("identify nosuch --what compare --robot ur5e --out out", "no such file"),
        ("identify nosuch --what drives --joint 1 --robot ur5e --out out", "no option of --what drives"),
        ("excite reversals --robot ur5e --seed 2 --out m.csv", "--seed: is no option"),
        ("replay nosuch --robot ur5e --out out", "no such file"),
        ("replay empty.bag --robot ur5e --out out", "cannot be read as a bag"),
        ("replay empty.bag --robot ur5e --out out --params file", "ros__parameters"),
        pytest.param("demo --robot nosuch", "no such robot", marks=pytest.mark.ros),
        ("replay mine.csv --robot directory --out out", "directory: is a directory, expected a robot file"),
        ("replay mine.csv --robot ur5e --out out --payload=-1", "--payload: -1: is no mass"),
        (f"replay {300 * 'x'} --robot ur5e --out out", "xxx: File name too long"),
        ("identify nosuch --robot ur5e --out out --payload-from absent", "absent: No such file"),
        ("identify nosuch --robot ur5e --out out --payload-from absent,mass=nan", "mass=nan is not one number above 0"),
    ],
)
def test_what_is_wrong_is_one_line(place, monkeypatch, capsys, words, message):
    """In this process, as a person's shell would see it."""
    from robot_dynamics_ros.cli import main

    there = {path.name for path in place.iterdir()}
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "argv", ["robot-dynamics", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main.main()
    lines = capsys.readouterr().err.strip().splitlines()
    assert ended.value.code == 1
    assert len(lines) == 1 and lines[0].startswith("error: ") and message in lines[0], lines
    assert {path.name for path in place.iterdir()} == there and (place / "mine.csv").stat().st_size == 12


@pytest.mark.parametrize(("words", "code"), [("check nosuch", 1), ("import mine.csv --time 9 --out bag", 0)])
def test_no_next_command_is_named_that_cannot_work(place, monkeypatch, words, code):
    (place / "mine.csv").write_text("q1\n0\n1\n2\n")
    monkeypatch.chdir(place)
    done = robot_dynamics(*words.split())
    assert done.exit_code == code and "next:" not in f"{done.output} {done.exception}"


def test_a_joint_needs_some_travel(place, monkeypatch):
    monkeypatch.chdir(place)
    done = robot_dynamics(*"excite velocity-steps --robot ur5e --travel 0 --out m.csv".split())
    assert done.exit_code == 2 and "--travel" in done.output


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_may_not_be_written_is_refused_before_the_work(place):
    (place / "directory").chmod(0o555)
    code, _, error = run("export", "ur5e", "--format", "urdf", "--out", "directory/x", cwd=place)
    assert code == 1 and error == "error: --out: directory/x: cannot be written: permission denied\n"


def test_a_pipe_gets_plain_text_and_colours_can_be_had_through_it_and_refused(tmp_path):
    code, out, err = run("check", "ur5e", cwd=tmp_path)
    assert code == 0 and "ur5e" in out and "\x1b" not in out + err
    assert "\x1b[" in run("check", "ur5e", cwd=tmp_path, FORCE_COLOR="1")[1]
    colour = run("check", "ur5e", cwd=tmp_path, FORCE_COLOR="1", NO_COLOR="1")[1]
    assert "\x1b[3" not in colour.replace("\x1b[3m", "")  # bold and italic are no colours


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    command = f"{' '.join(COMMAND)} check | head -n 1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=PLAIN, capture_output=True, text=True, timeout=120)
    assert done.stderr == "" and len(done.stdout.splitlines()) == 1


@pytest.fixture
def interrupted(monkeypatch, tmp_path, capsys):
    """interrupted(words, owner, name, call): Ctrl-C in that call of owner.name: exit status, stdout, stderr."""

    def run_in_this_process(words, owner, name, call):
        from robot_dynamics_ros.cli import main

        function, calls = getattr(owner, name), itertools.count(1)

        def interrupting(*arguments, **options):
            if next(calls) == call:
                signal.raise_signal(signal.SIGINT)
            return function(*arguments, **options)

        monkeypatch.setattr(owner, name, interrupting)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["robot-dynamics", *words.split()])
        try:
            main.main()
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
        assert next(calls) > call
        return code, *capsys.readouterr()

    return run_in_this_process


def test_ctrl_c_ends_the_search_of_a_motion_and_leaves_nothing_half_written(interrupted, tmp_path):
    code, _, err = interrupted("excite --robot ur5e --out motion.csv", FourierSearch, "lagrangian", 5)
    assert code == 1 and "Aborted" in err
    assert not list(tmp_path.iterdir())


def test_ctrl_c_keeps_the_part_of_a_rehearsal_that_was_run(interrupted, tmp_path):
    arm = load_robot("ur5e")
    plan = joint_motions.stiffness(arm, 0, working_pose(arm))
    write_trajectory(tmp_path / "m.csv", arm.joint_names, few_points(plan.motion, plan.rate))
    code, out, err = interrupted("rehearse m.csv --robot ur5e --out bag", SimulatedRobot, "run", 3)
    assert code == 0 and "bag: bag" in out, (out, err)
    assert len(load_bag([tmp_path / "bag"], arm)[0]) == 10_000  # two of the pieces of 10 s


@pytest.mark.long
@pytest.mark.realtime
def test_ctrl_c_ends_a_simulated_controller(tmp_path):
    words = "simulate ur5e --set rtde_port=0 --set dashboard_port=0 --set script_port=0"
    child = subprocess.Popen([*COMMAND, *words.split()], cwd=tmp_path, env=PLAIN, stdout=-1, stderr=-1, text=True)
    while not (line := child.stdout.readline()).startswith("ready"):
        assert line, child.communicate()
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 0 and not errors


@pytest.mark.ros
def test_a_recording_of_nothing_fails_and_leaves_no_bag(tmp_path):
    pytest.importorskip("rclpy")
    code, out, err = run("record", "--out", "bag", "--topics", "no_such_topic", "--duration", 1, cwd=tmp_path)
    assert code == 1 and out == ""
    assert err == "error: nothing was recorded: no topic matches --topics no_such_topic; no bag is written\n"
    assert not list(tmp_path.iterdir())
