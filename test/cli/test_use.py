"""Commands as a person meets them: one line for what is wrong, plain text in a pipe, Ctrl-C keeps what was recorded."""

import os
import signal
import subprocess
import sys
import time

import pytest

from robot_dynamics_ros.simulation.server.launcher import FIXED_PORTS, loopback_address

COMMAND = [sys.executable, "-m", "robot_dynamics_ros.cli.main"]
os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
PLAIN = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}


def run(*words, cwd, **environment):
    done = subprocess.run(
        [*COMMAND, *map(str, words)], cwd=cwd, env=PLAIN | environment, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def place(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "empty.bag").touch()
    (tmp_path / "empty.mcap").touch()
    (tmp_path / "directory").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("check nosuch", "no such robot"),
        ("check file", "mapping"),
        ("check ur5e --json file/x.json", "file is a file, not a directory"),
        ("check ur5e --json directory", "is a directory"),
        ("new nosuch.urdf --torque-side motor --effort-unit Nm --out a.yaml", "no such file"),
        ("new file --torque-side motor --effort-unit Nm --out a.yaml", "not XML"),
        ("simulate nosuch", "no such robot"),
        ("simulate ur5e --scenario nosuch --rtde-port 0 --dashboard-port 0 --script-port 0", "nosuch"),
        ("simulate ur5e --rtde-port 70000", "70000"),
        ("up --robot nosuch", "no such robot"),
        ("up --robot ur5e --params file", "ros__parameters"),
        ("record --out file/x --duration 1", "file is a file"),
        ("record --out directory", "exists already"),
        ("record --out bag --recover file", "not an mcap file"),
        ("record --out bag --recover directory", "no mcap file"),
        ("excite --robot nosuch --out a.csv", "no such robot"),
        ("excite --robot ur5e --out directory", "is a directory"),
        ("identify nosuch --robot ur5e --out out", "no such file"),
        ("identify directory --robot ur5e --out out", "no bag in this directory"),
        ("identify empty.mcap --robot ur5e --out out", "cannot be read as a bag"),
        ("identify empty.mcap --robot ur5e --out file", "is a file, expected a directory"),
        ("identify-joint nosuch --robot ur5e --what friction --out out", "no such file"),
        ("identify-drive empty.bag --robot ur5e --out out", "cannot be read as a bag"),
        ("experiment reversals --robot ur5e --out bag", "--simulated"),
        ("reproduce nosuch", "is no protocol"),
        ("replay nosuch --robot ur5e --out out", "no such file"),
        ("replay empty.bag --robot ur5e --out out", "cannot be read as a bag"),
        ("replay empty.bag --robot ur5e --out out --params file", "ros__parameters"),
        ("demo --robot nosuch", "no such robot"),
        ("latency --robot nosuch", "no such robot"),
    ],
)
def test_what_is_wrong_is_one_line(place, monkeypatch, capsys, words, message):
    """In this process, as a person's shell would see it."""
    from robot_dynamics_ros.cli import main

    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "argv", ["robot-dynamics", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main.main()
    lines = capsys.readouterr().err.strip().splitlines()
    assert ended.value.code == 1
    assert len(lines) == 1 and lines[0].startswith("error: ") and message in lines[0], lines
    assert not {path.name for path in place.iterdir()} - {"file", "empty.bag", "empty.mcap", "directory"}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_may_not_be_written_is_refused_before_the_work(place):
    (place / "directory").chmod(0o555)
    code, _, error = run("check", "ur5e", "--json", "directory/x.json", cwd=place)
    assert code == 1 and error == "error: --json: directory/x.json: cannot be written: permission denied\n"


def test_a_pipe_gets_plain_text(tmp_path):
    code, out, err = run("check", "ur5e", cwd=tmp_path)
    assert code == 0 and "ur5e" in out and "\x1b" not in out + err


def test_colours_can_be_had_through_a_pipe_and_refused_on_a_terminal(tmp_path):
    assert "\x1b[" in run("check", "ur5e", cwd=tmp_path, FORCE_COLOR="1")[1]
    colour = run("check", "ur5e", cwd=tmp_path, FORCE_COLOR="1", NO_COLOR="1")[1]
    assert "\x1b[3" not in colour.replace("\x1b[3m", "")  # bold and italic are no colours


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    command = f"{' '.join(COMMAND)} check | head -n 1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=PLAIN, capture_output=True, text=True, timeout=120)
    assert done.stderr == "" and len(done.stdout.splitlines()) == 1


REVERSALS = "reversals --robot ur5e --simulated --start 0,-1.5,1.5,-1.5,-1.5,0 --travel 0.05"


def interrupt(words, cwd, ready):
    """Start, wait until ready(stdout), a second later SIGINT: exit status, stdout, stderr."""
    out, err = cwd.parent / f"{cwd.name}.out", cwd.parent / f"{cwd.name}.err"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        child = subprocess.Popen([*COMMAND, *words.split()], cwd=cwd, env=PLAIN, stdout=stdout, stderr=stderr)
        end = time.monotonic() + 60.0
        while not ready(out.read_text()) and child.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(1.0)
        child.send_signal(signal.SIGINT)
        child.wait(60)
    assert "Traceback" not in err.read_text(), err.read_text()
    return child.returncode, out.read_text(), err.read_text()


def test_ctrl_c_ends_the_search_of_a_motion_and_leaves_nothing_half_written(tmp_path, monkeypatch, capsys):
    from robot_dynamics_ros.cli import main
    from robot_dynamics_ros.identification import excitation

    search = excitation.design_fourier

    def interrupted(*arguments, progress, **options):
        return search(*arguments, progress=lambda *_: signal.raise_signal(signal.SIGINT), **options)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(excitation, "design_fourier", interrupted)
    monkeypatch.setattr(sys, "argv", "robot-dynamics excite --robot ur5e --out motion.csv".split())
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 1 and "Aborted" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.realtime
def test_ctrl_c_ends_a_simulated_controller(tmp_path):
    words = "simulate ur5e --rtde-port 0 --dashboard-port 0 --script-port 0"
    assert interrupt(words, tmp_path, lambda output: "ready" in output)[0] == 0


def test_ctrl_c_keeps_the_part_of_an_experiment_that_was_recorded(tmp_path):
    words = f"experiment {REVERSALS} --count 1000 --out bag"
    code, out, err = interrupt(words, tmp_path, lambda output: "within all limits" in output)
    assert code == 0 and "bag: bag" in out and " 100 % of" not in out, (out, err)
    assert err == ""  # no progress where nobody watches
    from robot_dynamics_ros.bags import load_bag
    from robot_dynamics_ros.robot_file import load_robot

    assert len(load_bag([tmp_path / "bag"], load_robot("ur5e"))[0]) > 100


@pytest.mark.realtime
def test_ctrl_c_ends_the_graph_and_keeps_the_recording(tmp_path):
    pytest.importorskip("rclpy")
    bag, host = tmp_path / "bag", loopback_address(FIXED_PORTS)
    words = f"simulate ur5e --host {host}"
    controller = subprocess.Popen([*COMMAND, *words.split()], cwd=tmp_path, env=PLAIN, stdout=subprocess.DEVNULL)
    graph = subprocess.Popen(
        [*COMMAND, *f"up --robot ur5e --ip {host}".split()], cwd=tmp_path, env=PLAIN, stderr=subprocess.PIPE
    )
    try:
        words = "record --out bag --topics joint_states,external_wrench"
        recorded = interrupt(words, tmp_path, lambda output: sum(f.stat().st_size for f in bag.glob("*.mcap")) > 1e5)
        assert recorded[0] == 0 and "2 topics" in recorded[1], recorded
    finally:
        for process in (graph, controller):
            process.send_signal(signal.SIGINT)
        errors = graph.communicate(timeout=60)[1].decode()
        controller.wait(60)
    assert (graph.returncode, controller.returncode) == (0, 0) and "Traceback" not in errors, errors


@pytest.mark.ros
def test_a_recording_of_nothing_fails_and_leaves_no_bag(tmp_path):
    pytest.importorskip("rclpy")
    code, out, err = run("record", "--out", "bag", "--topics", "no_such_topic", "--duration", 1, cwd=tmp_path)
    assert code == 1 and out == ""
    assert err == "error: nothing was recorded: no topic matches --topics no_such_topic; no bag is written\n"
    assert not list(tmp_path.iterdir())
