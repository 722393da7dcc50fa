"""A listener that counts what it hears, and nodes as processes."""

import contextlib
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from bench.ros_probe import Probe

ROOT = Path(__file__).resolve().parents[2]
HUNG = 200.0  # s; nothing that a test waits for takes as long, also beside other work
os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")  # also of nodes that tests start before a listener
os.environ.setdefault("FASTDDS_DEFAULT_PROFILES_FILE", str(ROOT / "config" / "fastdds.xml"))


class Process:
    """A command in a process of its own; SIGINT ends it."""

    def __init__(self, *arguments: str) -> None:
        paths = os.pathsep.join(p for p in (str(ROOT), os.environ.get("PYTHONPATH", "")) if p)
        command, env = [sys.executable, "-m", *arguments], os.environ | {"PYTHONPATH": paths}
        printed = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        self.process = subprocess.Popen(command, env=env, **printed)

    def end(self, number: int = 2, timeout: float = HUNG) -> tuple[int, str]:
        """Send the signal, wait, and return (exit status, output)."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            output, _ = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            output, _ = self.process.communicate()
            raise AssertionError(f"did not end on signal {number}: {output}") from None
        return self.process.returncode, output

    def wait(self, timeout: float = HUNG) -> tuple[int, str]:
        """(exit status, output) of a process that ends by itself."""
        output, _ = self.process.communicate(timeout=timeout)
        return self.process.returncode, output


class Listener(Probe):
    """A node in this process: messages by topic, services by name."""

    def __init__(self, name: str = "listener") -> None:
        super().__init__(name, HUNG)
        self.heard = defaultdict(list)

    def hear(self, kind, topic: str, qos=10) -> None:
        """Collect the messages of a topic."""
        self.node.create_subscription(kind, topic, self.heard[topic].append, qos)

    def spin(self, condition, timeout: float = HUNG, step: float = 0.05) -> bool:
        """Until the condition holds; fails with what was heard when it does not."""
        assert super().spin(condition, timeout, step), {topic: len(found) for topic, found in self.heard.items()}
        return True

    def ended(self, process: Process, timeout: float = HUNG) -> tuple[int, str]:
        """(exit status, output) of a process that ends by itself; what is heard meanwhile does not pile up."""
        self.spin(lambda: process.process.poll() is not None, timeout)
        return process.wait()

    def fresh(self, topic: str):
        """The next message of a topic that is heard."""
        self.heard[topic].clear()
        self.spin(lambda: self.heard[topic])
        return self.heard[topic][-1]

    def publisher(self, kind, topic: str, robot_node: str):
        """A publisher that the node `robot_node` hears: one that it does not know yet would lose a message.

        The node learns of publishers and clients in the order in which they were made, so its answer to a client that
        was made later shows that it knows the publisher.
        """
        from lifecycle_msgs.srv import GetState

        publisher = self.node.create_publisher(kind, topic, 5)
        self.spin(lambda: publisher.get_subscription_count() > 0)
        client, answers = self.node.create_client(GetState, f"{robot_node}/get_state"), []
        self.spin(client.service_is_ready)
        while not answers:  # a node answers into the void while it does not know the client
            client.call_async(GetState.Request()).add_done_callback(answers.append)
            with contextlib.suppress(AssertionError):
                self.spin(lambda: bool(answers), 2.0)
        self.node.destroy_client(client)
        return publisher

    @staticmethod
    def decode(raw: bytes, kind):
        """A message out of its serialised bytes."""
        from rclpy.serialization import deserialize_message

        return deserialize_message(raw, kind)


def motion_file(names, path, start, seconds: float, travel: float) -> str:
    """A CSV file of a motion of the sixth joint from where the robot stands."""
    import numpy as np

    t = np.linspace(0.0, seconds, 40)
    q = np.tile(start, (len(t), 1))
    q[:, 5] += travel * 0.5 * (1 - np.cos(2 * np.pi * t / seconds))
    rows = [",".join(["time", *names]), *(",".join(map(repr, map(float, row))) for row in np.c_[t, q])]
    path.write_text("\n".join(rows) + "\n")
    return str(path)
