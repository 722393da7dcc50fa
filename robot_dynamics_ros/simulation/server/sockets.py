"""Non-blocking sockets around one selector: listeners, connections with a send buffer, and lines of text."""

from __future__ import annotations

import os
import selectors
import socket
from collections.abc import Callable
from typing import IO, Protocol

from robot_dynamics_ros.errors import ConnectionFailed

RECEIVE_BYTES = 64 * 1024
MAX_WAITING = 16 << 20  # bytes a client may leave unread before it is cut off
MAX_DESCRIPTOR = 1000  # select() serves descriptors below 1024
MAX_LINE = 1 << 20  # bytes of one line (an uploaded script counts line by line)


class Server(Protocol):
    """What a listener needs from a protocol."""

    def opened(self, connection: Connection) -> None: ...
    def received(self, connection: Connection, data: bytes) -> None: ...
    def closed(self, connection: Connection) -> None: ...


class Connection:
    """One accepted socket: sending never blocks, what does not fit waits in `backlog`."""

    def __init__(self, hub: Hub, accepted: socket.socket, server: Server) -> None:
        self.socket = accepted
        self.server = server
        self._hub = hub
        self._waiting = bytearray()
        self.open = True

    @property
    def backlog(self) -> int:
        """Bytes accepted by send() that the peer has not taken yet."""
        return len(self._waiting)

    def send(self, data: bytes) -> None:
        """Queue bytes and write as many as the socket takes now."""
        if not self.open or not data:
            return
        self._waiting += data
        self.flush()
        if len(self._waiting) > MAX_WAITING:
            self.close()

    def flush(self) -> None:
        """Write waiting bytes; a broken connection closes itself."""
        try:
            while self._waiting:
                del self._waiting[: self.socket.send(self._waiting)]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self.close()
        if self.open:
            self._hub.watch(self, writing=bool(self._waiting))

    def close(self) -> None:
        """Close the socket and notify the protocol, once."""
        if self.open:
            self.open = False
            self._hub.forget(self)
            self.server.closed(self)
            self.socket.close()


class Hub:
    """The selector: accepts, reads and writes for every server of the process."""

    def __init__(self) -> None:
        self._selector = selectors.SelectSelector()  # epoll rounds its timeout up to a whole millisecond
        self._writing: set[Connection] = set()

    def listen(self, host: str, port: int, name: str, server: Server) -> int:
        """Listen for a server and return the port (0 asks for a free one); ConnectionFailed names a taken port."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            listener.close()
            raise ConnectionFailed(f"{name} port {host}:{port} cannot be used: {error}") from error
        listener.listen(128)
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ, (self._accept, server))
        return int(listener.getsockname()[1])

    def watch_end(self, stream: IO[str], ended: Callable[[], None]) -> None:
        """Call `ended` when the other end of a pipe is closed."""

        def read(file: IO[str], _: object) -> None:
            if not os.read(file.fileno(), RECEIVE_BYTES):
                self._selector.unregister(file)
                ended()

        self._selector.register(stream, selectors.EVENT_READ, (read, None))

    def poll(self, timeout: float) -> None:
        """Handle what is ready, waiting at most timeout seconds for something to be."""
        for key, events in self._selector.select(timeout):
            handle, subject = key.data
            if isinstance(subject, Connection):
                handle(subject, events)
            else:
                handle(key.fileobj, subject)

    def watch(self, connection: Connection, writing: bool) -> None:
        """Request a call when the socket takes bytes again."""
        if writing != (connection in self._writing):
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if writing else 0)
            self._selector.modify(connection.socket, events, (self._ready, connection))
            (self._writing.add if writing else self._writing.discard)(connection)

    def forget(self, connection: Connection) -> None:
        """Stop watching a connection."""
        self._selector.unregister(connection.socket)
        self._writing.discard(connection)

    def close(self) -> None:
        """Close every socket."""
        for key in list(self._selector.get_map().values()):
            subject = key.data[1]
            if isinstance(subject, Connection):
                subject.close()
            else:
                key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()

    def _accept(self, listener: socket.socket, server: Server) -> None:
        while True:
            try:
                accepted, _ = listener.accept()
            except OSError:  # no connection waits, or it has gone
                return
            if accepted.fileno() >= MAX_DESCRIPTOR:
                accepted.close()
                continue
            accepted.setblocking(False)
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(self, accepted, server)
            self._selector.register(accepted, selectors.EVENT_READ, (self._ready, connection))
            server.opened(connection)

    @staticmethod
    def _ready(connection: Connection, events: int) -> None:
        if events & selectors.EVENT_WRITE and connection.open:
            connection.flush()
        if events & selectors.EVENT_READ and connection.open:
            try:
                data = connection.socket.recv(RECEIVE_BYTES)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                data = b""
            if data:
                connection.server.received(connection, data)
            else:
                connection.close()


class LineServer:
    """A server of text lines: `on_line` gets each complete line without its end, `greeting` goes out first."""

    def __init__(self, on_line: Callable[[Connection, str], None], greeting: str = "") -> None:
        self.connections: dict[Connection, bytearray] = {}
        self._on_line = on_line
        self._greeting = greeting.encode()

    def opened(self, connection: Connection) -> None:
        self.connections[connection] = bytearray()
        connection.send(self._greeting)

    def received(self, connection: Connection, data: bytes) -> None:
        buffer = self.connections[connection]
        buffer += data
        while connection.open and (end := buffer.find(b"\n")) >= 0:
            line = bytes(buffer[:end]).rstrip(b"\r").decode("utf-8", "replace")
            del buffer[: end + 1]
            self._on_line(connection, line)
        if len(buffer) > MAX_LINE:
            connection.close()

    def closed(self, connection: Connection) -> None:
        self.connections.pop(connection, None)

    def broadcast(self, data: bytes) -> None:
        """Send to every client that keeps up."""
        for connection in list(self.connections):
            if connection.backlog <= 1 << 20:
                connection.send(data)
