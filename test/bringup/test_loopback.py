"""What `up` starts cannot be reached from another machine: seen from a second network namespace, and in the sockets."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from robot_dynamics_ros.bringup import environment, find_config

SPACE, HERE, THERE = "rdr_stranger", "10.213.77.1", "10.213.77.2"
VARIABLES = (
    "ROS_AUTOMATIC_DISCOVERY_RANGE",
    "FASTDDS_DEFAULT_PROFILES_FILE",
    "FASTRTPS_DEFAULT_PROFILES_FILE",
    "RMW_FASTRTPS_USE_QOS_FROM_XML",
)
NODE = """
import sys, rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node(sys.argv[1])
publisher = node.create_publisher(String, "sent_by_" + sys.argv[1], 1)
node.create_timer(0.1, lambda: publisher.publish(String(data="x")))
print("up", flush=True)
rclpy.spin(node)
"""
OTHER_MACHINE = """
import sys, time, rclpy
rclpy.init()
node = rclpy.create_node("stranger")
end = time.monotonic() + 60
while "open_node" not in node.get_node_names() and time.monotonic() < end:
    time.sleep(0.1)
later = time.monotonic() + 4  # more than ten announcements of either
while time.monotonic() < later:
    time.sleep(0.1)
print(" ".join(sorted(node.get_node_names())))
"""


def plain():
    return {k: v for k, v in os.environ.items() if k not in VARIABLES}


@pytest.fixture
def closed(monkeypatch):
    """Environment of a graph of `up` whose user has set nothing."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return plain() | environment()


@pytest.fixture
def started():
    running = []

    def start(name, env):
        running.append(subprocess.Popen([sys.executable, "-c", NODE, name], env=env, stdout=subprocess.PIPE, text=True))
        assert running[-1].stdout.readline() == "up\n"
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.communicate()


def bound(pid):
    """(address, port) of the UDP sockets of a process."""
    inodes = set()
    for entry in (Path("/proc") / str(pid) / "fd").iterdir():
        target = os.readlink(entry)
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    found = set()
    for line in (Path("/proc") / str(pid) / "net/udp").read_text().splitlines()[1:]:
        words = line.split()
        if words[9] in inodes:
            address, port = words[1].split(":")
            found.add((".".join(str(int(address[i : i + 2], 16)) for i in (6, 4, 2, 0)), int(port, 16)))
    return found


def listening(pid):
    """Addresses at the ports where discovery and data of our domain are received [DDSI-RTPS, 9.6.1.1]."""
    base = 7400 + 250 * int(os.environ["ROS_DOMAIN_ID"])
    return {address for address, port in bound(pid) if base <= port < base + 250}


@pytest.mark.skipif(not Path("/proc/self/net/udp").exists(), reason="no /proc/net: sockets cannot be listed")
def test_the_sockets_that_receive_are_on_the_loopback(started, closed):
    assert listening(started("closed_node", closed).pid) == {"127.0.0.1"}


def test_another_range_of_the_user_keeps_its_interfaces(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
    assert set(environment().values()) == {str(find_config("fastdds.xml")), "1"}
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    assert set(environment().values()) == {str(find_config("fastdds_loopback.xml")), "1"}


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True)


@pytest.fixture
def stranger():
    """Runs OTHER_MACHINE on what is another machine for the network: a namespace behind a pair of veth interfaces."""
    if shutil.which("ip") is None:
        pytest.skip("no ip command: no second network namespace")
    made = ip("netns", "add", SPACE)
    if made.returncode:
        pytest.skip(f"no second network namespace: {made.stderr.strip()}")
    try:
        made = ip("link", "add", "rdr_here", "type", "veth", "peer", "name", "rdr_there", "netns", SPACE)
        if made.returncode:
            pytest.skip(f"no veth pair: {made.stderr.strip()}")
        ip("addr", "add", f"{HERE}/24", "dev", "rdr_here")
        ip("link", "set", "rdr_here", "up")
        for words in (
            ("addr", "add", f"{THERE}/24", "dev", "rdr_there"),
            ("link", "set", "rdr_there", "up"),
            ("link", "set", "lo", "up"),
        ):
            ip("-n", SPACE, *words)
        env = plain() | {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "ROS_STATIC_PEERS": HERE}
        command = ["ip", "netns", "exec", SPACE, sys.executable, "-c", OTHER_MACHINE]
        yield lambda: subprocess.run(command, env=env, capture_output=True, text=True, timeout=120).stdout.split()
    finally:
        ip("netns", "del", SPACE)
        ip("link", "del", "rdr_here")


@pytest.mark.long
def test_an_unknown_participant_with_static_peers_finds_an_open_node_and_not_ours(stranger, started, closed):
    started("closed_node", closed)
    started("open_node", plain() | {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET", "ROS_STATIC_PEERS": THERE})
    seen = stranger()
    assert "open_node" in seen, "the control is not seen: this test shows nothing"
    assert "closed_node" not in seen
