"""An MQTT broker of its own process: mosquitto where it is installed, else the embedded one from the Python index."""

import asyncio
import shutil
import socket
import subprocess
import sys
import time

import pytest


class Broker:
    """Broker on 127.0.0.1 at a free port, or the given one."""

    def __init__(self, port=0):
        self.port = port or _free_port()
        if shutil.which("mosquitto"):
            command = ["mosquitto", "-p", str(self.port)]
        else:
            pytest.importorskip("amqtt", reason="neither mosquitto nor amqtt is installed")
            command = [sys.executable, __file__, str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while not _answers(self.port):
            assert self.process.poll() is None and time.monotonic() < end, "the broker does not start"
            time.sleep(0.05)

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def stop(self):
        self.process.kill()
        self.process.wait()


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def _serve(port):
    from amqtt.broker import Broker as Embedded

    listener = {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}}
    broker = Embedded({"listeners": listener, "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {}}})
    await broker.start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
