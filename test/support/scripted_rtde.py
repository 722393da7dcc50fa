"""A scripted RTDE server in a thread: it sends exactly the packages a test asks for, when it asks for them."""

import contextlib
import queue
import socket
import struct
import threading

import numpy as np

from robot_dynamics_ros import _core

DEFAULT_TYPES = {1: "DOUBLE", 3: "VECTOR3D", 6: "VECTOR6D"}
TYPES = {"robot_mode": "INT32", "safety_mode": "INT32", "runtime_state": "UINT32"}
CODES = {"DOUBLE": "d", "VECTOR3D": "3d", "VECTOR6D": "6d", "INT32": "i", "UINT32": "I", "VECTOR6INT32": "6i"}
SETTLE = 25  # samples the clock map listens to before it stamps
RESTING = {"robot_mode": 7, "safety_mode": 1, "runtime_state": 2}


class ScriptedRtde:
    """Answers the handshake by itself; data leaves through send()."""

    def __init__(self, version=(5, 26, 0, 1), accept=True, missing=(), silent=False, types=None, before_start=b""):
        self.version, self.accept, self.missing, self.silent = version, accept, set(missing), silent
        self.types = {**TYPES, **(types or {})}
        self.before_start = before_start
        self.requests: list[list[str]] = []
        self.rate = None
        self.started = threading.Event()
        self.inputs = queue.Queue()  # packages that clients have written, in order
        self._peer: socket.socket | None = None
        self._opened: list[socket.socket] = []  # listeners and connections, all that there were
        self._listen()

    def _listen(self, port: int = 0) -> None:
        self._server = socket.create_server(("127.0.0.1", port))
        self._opened.append(self._server)
        self.port = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, args=(self._server,), daemon=True)
        self._thread.start()

    def _accept(self, server) -> None:
        while True:
            try:
                peer, _ = server.accept()
            except OSError:
                return
            self._opened.append(peer)
            try:
                self._serve(peer)
            except OSError:
                peer.close()

    def _serve(self, peer) -> None:
        while True:
            kind, payload = self._read(peer)
            if self.silent:
                continue
            if kind == b"V":
                self._write(peer, kind, bytes([self.accept]))
            elif kind == b"v":
                self._write(peer, kind, struct.pack(">4I", *self.version))
            elif kind == b"O":
                self._setup(peer, payload)
            elif kind == b"I":
                types = ["DOUBLE" if "double" in name else "INT32" for name in payload.decode().split(",")]
                self._write(peer, b"I", b"\x01" + ",".join(types).encode())
            elif kind == b"U":
                self.inputs.put(payload)
            elif kind == b"S":
                self._peer = peer
                peer.sendall(self.before_start)
                self._write(peer, kind, b"\x01")
                self.started.set()

    def _setup(self, peer, payload) -> None:
        self.rate = struct.unpack(">d", payload[:8])[0]
        self.names = payload[8:].decode().split(",")
        self.requests.append(self.names)
        layout = _core.RTDE_LAYOUT
        known = {n: self.types.get(n, DEFAULT_TYPES[layout[n][1]]) for n in self.names if n not in self.missing}
        self.reply = [known.get(n, "NOT_FOUND") for n in self.names]
        self._write(peer, b"O", b"\x01" + ",".join(self.reply).encode())

    @staticmethod
    def _read(peer):
        def exactly(n):
            data = b""
            while len(data) < n:
                part = peer.recv(n - len(data))
                if not part:
                    raise OSError("closed")
                data += part
            return data

        size, kind = struct.unpack(">Hc", exactly(3))
        return kind, exactly(size - 3)

    @staticmethod
    def _write(peer, kind, payload) -> None:
        peer.sendall(framed(kind, payload))

    def send(self, timestamp: float, **values) -> None:
        """One data package; what is not given is at rest, or zero."""
        self.send_bytes(self.package(timestamp, **values))

    def send_bytes(self, data: bytes) -> None:
        """As they are."""
        self._peer.sendall(data)

    def package(self, timestamp: float, **values) -> bytes:
        """The bytes that send() sends."""
        values = {**RESTING, **values, "timestamp": timestamp}
        payload = b"\x01"
        for name, kind in zip(self.names, self.reply, strict=True):
            code = CODES[kind]
            value = np.atleast_1d(values.get(name, np.zeros(int(code[:-1] or 1))))
            payload += struct.pack(">" + code, *(value.astype(int) if code[-1] in "iI" else value))
        return framed(b"U", payload)

    def stream(self, start: int, stop: int, rate: float = 500.0, **values) -> None:
        """Consecutive samples start..stop-1 whose measured values all differ (q[0] = sample number)."""
        for k in range(start, stop):
            q = np.full(6, float(k))
            self.send(k / rate, **{"actual_q": q, **values})

    def drop_client(self) -> None:
        """Close the connection, keep listening."""
        self.started.clear()
        self._peer.shutdown(socket.SHUT_RDWR)

    def kill(self) -> None:
        """Gone: no listener, no connection."""
        self.started.clear()
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        if self._peer is not None:
            self._peer.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """The end, in whatever state a test has left it: no listener, no connection, no thread."""
        while self._thread.is_alive():
            for end in self._opened:
                with contextlib.suppress(OSError):  # it has ended already
                    end.shutdown(socket.SHUT_RDWR)
            self._thread.join(0.1)
        for end in self._opened:
            end.close()

    def restart(self) -> None:
        """Back on the same port."""
        self._listen(self.port)


def framed(kind, payload) -> bytes:
    """A package: size, kind, payload."""
    return struct.pack(">Hc", 3 + len(payload), kind) + payload


def field(values, name):
    start, width = _core.RTDE_LAYOUT[name]
    return values[start : start + width]


def take(reader, n, timeout=60.0):
    """n samples as (meta, values); fails when they do not come."""
    out = []
    for _ in range(n):
        assert reader.wait(timeout), f"only {len(out)} of {n} samples came"
        values, meta = np.empty(_core.RTDE_WIDTH), np.empty(4, dtype=np.int64)
        assert reader.pop(values, meta)
        out.append((meta, values))
    return out
