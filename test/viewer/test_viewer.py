"""The viewer: geometry, words, the .rrd file, who can reach it, a picture of it, and the node on a live graph."""

import io
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rerun", reason="rerun-sdk is in the viewer extra")

from browser import EXECUTABLE, Browser
from driver_waits import happens
from force_bench import UR5E, measured, moving

from robot_dynamics_ros.errors import ConnectionFailed, DataError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.identification.excitation.limits import Box, Limits
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.viewer import files
from robot_dynamics_ros.viewer.files import write_motion_rrd, write_rrd
from robot_dynamics_ros.viewer.scene import TEXT_EVERY, Health, Scene, between, deviation_along, state_text
from robot_dynamics_ros.viewer.stream import WebViewer, finish, open_stream


def pushed(seconds=3.0, rate=250, force=(-30.0, 0.0, 45.0)):
    """A moving UR5e that is pushed from the middle on, with all estimates."""
    motion = moving(seconds, rate=rate)
    wrench = np.zeros((len(motion[0]), 6))
    wrench[len(wrench) // 2 :, :3] = force
    log = measured(motion, wrench, rate=rate)
    Pipeline(UR5E).run(log)
    return log


def absent(file, *names):
    """Of these entities those that rerun itself does not find in a file."""
    command = [sys.executable, "-m", "rerun", "rrd", "print", "-v", str(file)]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    return [name for name in names if name not in printed]


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return write_rrd(pushed(), UR5E, tmp_path_factory.mktemp("rrd") / "run.rrd")


@pytest.mark.parametrize("end", [(0, 0, 0.3), (0, 0, -0.3), (0.2, 0, 0), (0.1, -0.2, 0.05)])
def test_a_capsule_points_from_start_to_end(end):
    start, end = np.array([0.1, 0.2, 0.3]), np.array([0.1, 0.2, 0.3]) + end
    length, (x, y, z, w) = between(start, end)
    axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    np.testing.assert_allclose(start + length * axis, end, atol=1e-12)


def test_deviation_is_that_of_the_size():
    rng, force, std = np.random.default_rng(0), np.array([30.0, -20.0, 50.0]), np.array([1.0, 3.0, 2.0])
    sizes = np.linalg.norm(force + std * rng.normal(size=(200_000, 3)), axis=1)
    assert deviation_along(force, std) == pytest.approx(sizes.std(), rel=0.02)


def test_words_answer_contact_how_hard_how_sure_and_health():
    sample = Sample(UR5E.joint_names)
    assert "no estimate yet" in state_text(sample, UR5E.joint_names, ())
    sample.external_wrench, sample.external_wrench_std, sample.contact = [30, 0, 40, 0, 0, 0], [4] * 6, [0] * 7
    assert state_text(sample, UR5E.joint_names, ()).startswith("# free")
    sample.contact = [0, 0, 1, 0, 0, 0, 1]
    health = [Health("driver", 0, "ok"), Health("joint stiffness", 2, "elbow_joint: 35 % softer")]
    text = state_text(sample, UR5E.joint_names, health)
    assert text.startswith("# CONTACT") and "50.0 ± 4.0 N" in text and "elbow_joint" in text
    assert text.index("**ERROR**") < text.index("driver") and "**ERROR** from 1 of 2 checks" in text
    assert "robot: healthy" in state_text(sample, UR5E.joint_names, health[:1])


def test_the_file_holds_robot_force_and_plots(recording):
    names = "/robot/link_6/body /force/arrow /force/uncertainty /plot/friction /plot/force /event/contact /state"
    assert absent(recording, *names.split()) == []


def test_a_log_whose_clock_was_set_back_is_shown_whole(monkeypatch):
    stream, log = Calls(), pushed()
    log.stamp_ns[len(log) // 2 :] -= 5_000_000_000
    stream.send_blueprint = stream.flush = stream.disconnect = lambda *_: None
    monkeypatch.setattr(files, "open_stream", lambda file: stream)
    write_rrd(log, UR5E, None)
    shown = {round(now["timestamp"], 3) for now, entity, _ in stream.logged if entity == "robot/link_6"}
    assert len(shown) > 80  # of 3 s at 30 Hz


class Calls:
    """A stream that keeps what is logged: (time, entity, kind)."""

    def __init__(self):
        self.now, self.logged = {}, []

    def set_time(self, _, **now):
        self.now = now

    def log(self, entity, what, static=False):
        if not static:
            self.logged.append((dict(self.now), entity, type(what).__name__))


def shown(*seconds, begin=1_700_000_000, contact=0.0):
    stream = Calls()
    scene, sample = Scene(stream, UR5E), Sample(UR5E.joint_names)
    for second in seconds:
        sample.clear()
        sample.q, sample.external_wrench, sample.external_wrench_std = [0.0] * 6, [20.0] * 6, [1.0] * 6
        sample.contact, sample.stamp_ns = [contact] * 7, round(1e9 * (begin + second))
        scene.show(sample)
    return stream.logged


def test_a_curve_ends_where_samples_are_missing():
    cleared = [now for now, entity, kind in shown(0, 0.1, 5, 5.1) if (entity, kind) == ("plot/force", "Clear")]
    assert len(cleared) == 1 and 0.1 <= cleared[0]["timestamp"] - 1_700_000_000 < 0.2
    assert not any(kind == "Clear" for *_, kind in shown(0, 0.1, 0.2))


def test_a_state_that_goes_on_is_logged_once_and_stamps_that_are_no_dates_are_seconds():
    logged = shown(0, 0.1, 0.2, begin=0)
    assert [entity for _, entity, kind in logged if kind == "StateChange"] == ["event/contact"]
    assert {name for now, *_ in logged for name in now} == {"duration"}


def test_the_motion_of_excite_is_shown_among_its_boxes(tmp_path):
    t = np.linspace(0, 2, 100)
    q = 0.2 * np.sin(t)[:, None] * np.ones(6)
    motion = SimpleNamespace(time=t, q=q, qd=np.gradient(q, t, axis=0), qdd=0 * q)
    limits = Limits.of(UR5E, floor=0.0, outside=(Box((0.4, -1, -1), (np.inf, 1, 1)),))
    file = write_motion_rrd(motion, UR5E, limits, tmp_path / "motion.rrd")
    assert absent(file, "/space/floor", "/space/outside_1", "/plot/qdd", "/robot/link_6") == []


def listening(port):
    """Local addresses (hex) that listen on a TCP port, from the kernel."""
    rows = Path("/proc/net/tcp").read_text().splitlines()[1:]
    if Path("/proc/net/tcp6").exists():
        rows += Path("/proc/net/tcp6").read_text().splitlines()[1:]
    local = [row.split()[1].split(":") for row in rows if row.split()[3] == "0A"]
    return {address for address, number in local if int(number, 16) == port}


@pytest.mark.long
@pytest.mark.realtime
@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs the kernel's table of sockets")
def test_the_web_viewer_listens_on_this_machine_only():
    with WebViewer() as viewer:
        ports = {int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", viewer.url)}
        assert len(ports) == 2
        for port in ports:
            assert listening(port) == {"0100007F"}  # 127.0.0.1
    assert all(not listening(port) for port in ports)


@pytest.mark.long
@pytest.mark.realtime
def test_a_browser_that_takes_nothing_does_not_hold_up_the_end(tmp_path):
    with WebViewer() as viewer:
        stream = open_stream(tmp_path / "run.rrd", viewer.target)
        viewer._process.send_signal(signal.SIGSTOP)
        scene, sample = Scene(stream, UR5E), Sample(UR5E.joint_names)
        sample.q, sample.external_wrench, sample.contact = [0.0] * 6, [1.0] * 6, [0.0] * 7
        for k in range(200):
            sample.stamp_ns = k
            scene.show(sample)
        finish(stream, viewer)
    assert absent(tmp_path / "run.rrd", "/force/arrow") == []


def reddish(png):
    """Share of pixels that are the arrow's red, and number of colours."""
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(png)).convert("RGB")
    pixels = np.asarray(image).reshape(-1, 3).astype(int)
    red = (pixels[:, 0] > 120) & (pixels[:, 1] < 90) & (pixels[:, 2] < 80)
    return red.mean(), len(np.unique(pixels[::7], axis=0))


@pytest.mark.skipif(EXECUTABLE is None, reason="no Chromium on this machine")
@pytest.mark.long
@pytest.mark.realtime
def test_the_first_screen_shows_robot_and_force(recording):
    with WebViewer(files=(recording,)) as viewer, Browser(viewer.url + "&renderer=webgl") as browser:
        png = browser.picture_when(lambda png: reddish(png)[0] > 1e-3)
    share, colours = reddish(png)
    assert share < 0.2 and colours > 300


@pytest.mark.parametrize("name", ["web_port", "data_port"])
def test_a_port_of_another_program_is_refused_by_name(name):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConnectionFailed, match=f"{name} {port} cannot be used: address already in use; 0 takes"):
            WebViewer(**{name: port}).close()


def test_the_node_keeps_a_file_that_is_there_already(tmp_path):
    rclpy = pytest.importorskip("rclpy", reason="rclpy is not installed")
    from robot_dynamics_ros.nodes.viewer_node import ViewerNode

    file, context = tmp_path / "earlier.rrd", rclpy.Context()
    file.write_text("of yesterday")
    rclpy.init(args=[], context=context)
    values = {"robot": "ur5e", "web": False, "file": str(file)}
    given = [rclpy.Parameter(name, value=value) for name, value in values.items()]
    node = ViewerNode(parameter_overrides=given, context=context)
    assert not node.bring_up() and node.failure.startswith(f"file: {file}: exists already")
    node.destroy_node()
    rclpy.shutdown(context=context)
    assert file.read_text() == "of yesterday"


@pytest.mark.parametrize(("namespace", "shown"), [("left", ["left/n: a", "driver: b"]), ("", ["driver: b", "n: c"])])
def test_the_health_of_another_robot_in_the_graph_is_not_shown(namespace, shown, monkeypatch):
    rclpy = pytest.importorskip("rclpy", reason="rclpy is not installed")
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

    from robot_dynamics_ros.nodes import viewer_node
    from robot_dynamics_ros.nodes.viewer_node import ViewerNode

    now = [1000.0]
    monkeypatch.setattr(viewer_node, "time", SimpleNamespace(monotonic=lambda: now[0]))
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    node = ViewerNode(context=context, namespace=namespace)
    names = "left/n: a", "driver: b", "right/n: a", *([] if namespace else ["n: c"])
    tared = [KeyValue(key="tare", value="tared")]
    node._diagnosed(DiagnosticArray(status=[DiagnosticStatus(name=name, values=tared) for name in names[2:]]))
    assert node._tared == ("" if namespace else "tared")
    node._diagnosed(DiagnosticArray(status=[DiagnosticStatus(name=name) for name in names]))
    assert sorted(node._health) == sorted(shown)
    now[0] += 4.0
    node._diagnosed(DiagnosticArray(status=[DiagnosticStatus(name="driver: b")]))
    now[0] += 4.0  # the others are of a node that has ended; they stayed "ok"
    assert {check.name for check in node._checks() if check.level != 3} == {"driver: b"}
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_of_a_robot_that_is_silent_no_force_is_shown_and_the_checks_go_on(monkeypatch):
    """The last force, and checks that all were ok, stayed in the picture for as long as no joint states came."""
    pytest.importorskip("rclpy", reason="rclpy is not installed")
    from robot_dynamics_ros.nodes import viewer_node

    now, shown, states = [1000.0], [], []
    monkeypatch.setattr(viewer_node, "time", SimpleNamespace(monotonic=lambda: now[0]))
    sample = Sample(UR5E.joint_names, 5)
    sample.q, sample.external_wrench = [0.0] * 6, [7.0] * 6
    scene = SimpleNamespace(
        show=lambda s: shown.append((s.q[0], s.external_wrench[0])),
        log_status=lambda s, checks: states.append([check.level for check in checks]),
        set_state=lambda *_: None,
    )
    node = SimpleNamespace(_scene=scene, _sample=sample, _heard=0.0, _pictures=0, _tared="", _raw={}, _health={})
    node._decode, node._age = (lambda *_: None), (lambda: None)
    node._checks = lambda: viewer_node.ViewerNode._checks(node)
    node._health["n: estimates"] = Health("n: estimates", 0, "ok"), now[0]
    draw = lambda: viewer_node.ViewerNode._draw(node)  # noqa: E731
    draw()
    assert not shown and not states  # nothing has come yet
    node._raw = {("joint_states", None): b""}
    draw()
    assert shown == [(0.0, 7.0)] and states == [[0]]
    now[0] += 0.5  # less than a silence
    draw()
    assert len(shown) == 1
    for _ in range(2 * TEXT_EVERY):
        now[0] += 1.0
        draw()
    assert len(states) == 3 and states[-1] == [3]  # those of a node that has ended are stale
    assert all(q == 0.0 and np.isnan(force) for q, force in shown[1:]) and len(shown) == 3


def test_bytes_that_are_no_message_do_not_end_the_viewer():
    pytest.importorskip("rclpy", reason="rclpy is not installed")
    from robot_dynamics_ros.nodes.viewer_node import ViewerNode

    ViewerNode._decode(SimpleNamespace(_readers={}), ("joint_states", None), b"garbage")


@pytest.mark.long
@pytest.mark.realtime
def test_the_node_shows_a_live_graph(tmp_path):
    pytest.importorskip("rclpy", reason="rclpy is not installed")
    from ros_graph import Process

    from robot_dynamics_ros.simulation.server.launcher import SimulatedController, loopback_address

    host, file = loopback_address(), tmp_path / "live.rrd"
    names = "/robot/link_1", "/force/arrow", "/plot/friction", "/state"
    with SimulatedController("ur5e", host=host):
        parameters = tmp_path / "viewer.yaml"
        parameters.write_text(f"viewer_node:\n  ros__parameters:\n    file: {file}\n")
        arguments = ("--robot", "ur5e", "--ip", host, "--view", "--params", str(parameters))
        graph = Process("robot_dynamics_ros.cli.main", "up", *arguments)
        line = next((line for line in graph.process.stdout if "viewer:" in line), "")
        happens(lambda: not absent(file, *names))
        status, output = graph.end()
    assert status == 0, output
    assert re.search(r"viewer: http://127\.0\.0\.1:\d+/", line), output
    assert absent(file, *names) == []


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no directory in which nobody can make a file")
def test_a_file_that_cannot_be_made_is_one_line():
    with pytest.raises(DataError, match=r"/proc/x\.rrd: cannot be written"):
        open_stream(Path("/proc/x.rrd"))
