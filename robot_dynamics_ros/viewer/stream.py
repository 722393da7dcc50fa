"""Where the viewer's data go: an .rrd file, and a web viewer that listens on this machine alone."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from robot_dynamics_ros.drivers.child_process import end
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed, DataError
from robot_dynamics_ros.supervisor import end_with_parent

HOST = "127.0.0.1"
APPLICATION = "robot_dynamics_ros"
MEMORY = "512MB"  # what the web viewer keeps of the past
START_TIMEOUT = 20.0  # s


def require_rerun() -> None:
    """Raises CapabilityError saying what to install."""
    try:
        import rerun  # noqa: F401
    except ImportError as error:
        raise CapabilityError('the viewer needs rerun: pip install "robot_dynamics_ros[viewer]"') from error


def executable() -> str:
    """rerun's own program: `python -m rerun` would be a parent that leaves it behind when ended."""
    import rerun_cli

    name = "rerun.exe" if os.name == "nt" else "rerun"
    return str(Path(str(rerun_cli.__file__)).with_name(name))


def free_port() -> int:
    """A free TCP port."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _refuse_taken(name: str, port: int) -> None:
    """Raises ConnectionFailed where another program listens: its page would be taken for the viewer's."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise ConnectionFailed(f"{name} {port} cannot be used: {why}; 0 takes a free one") from error


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_TIMEOUT
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise ConnectionFailed(f"the web viewer does not listen on {HOST}:{port}")


class WebViewer:
    """rerun's web viewer in a process of its own, bound to 127.0.0.1; `files` are opened at once.

    web_port, data_port: 0 takes a free one. url: what to open in a browser. Raises ConnectionFailed, for example where
    another program has a port.
    """

    def __init__(self, web_port: int = 0, data_port: int = 0, files: tuple[Path, ...] = ()) -> None:
        require_rerun()
        _refuse_taken("web_port", web_port)
        _refuse_taken("data_port", data_port)
        web_port, data_port = web_port or free_port(), data_port or free_port()
        self.target = f"rerun+http://{HOST}:{data_port}/proxy"
        self.url = f"http://{HOST}:{web_port}/?url={self.target.replace('+', '%2B').replace('/', '%2F')}"
        ports = ["--port", str(data_port), "--web-viewer-port", str(web_port)]
        options = ["--serve-web", "--bind", HOST, "--server-memory-limit", MEMORY, "--hide-welcome-screen"]
        self._process = subprocess.Popen(
            [executable(), *map(str, files), *options, *ports],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"RUST_LOG": "off"},
            preexec_fn=end_with_parent,
        )
        try:
            for port in (data_port, web_port):
                _wait_for(port, self._process)
        except ConnectionFailed:
            self.close()
            raise

    def close(self) -> None:
        """End it; may be repeated."""
        self._process.terminate()
        end(self._process, 2.0)

    def __enter__(self) -> WebViewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_stream(file: Path | None, target: str = "") -> Any:
    """A recording stream into an .rrd file, to a web viewer's `target`, or both.

    Raises DataError where the file cannot be written.
    """
    require_rerun()
    import rerun as rr

    stream = rr.RecordingStream(APPLICATION)
    sinks: list[Any] = []
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        sinks.append(rr.FileSink(str(file)))
    if target:
        sinks.append(rr.GrpcSink(target))
    if sinks:
        try:
            stream.set_sinks(*sinks)
        except RuntimeError as error:
            raise DataError(f"{file or target}: cannot be written ({error})") from None
    return stream


def finish(stream: Any, web: WebViewer | None) -> None:
    """End the web viewer, then complete the file: a slow or stopped browser would block the end."""
    if web is not None:
        web.close()
    with contextlib.suppress(RuntimeError):  # the web viewer has ended
        stream.flush()
    stream.disconnect()
