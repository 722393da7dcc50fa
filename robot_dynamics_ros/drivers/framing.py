"""Messages between a driver and its own process: one JSON object and, where needed, one (N, n) array; no pickle."""

from __future__ import annotations

import json
from multiprocessing.connection import Connection
from typing import Any

import numpy as np


def send(pipe: Connection, message: dict[str, Any], array: np.ndarray | None = None) -> None:
    """Send a message, then the array's rows if there are any."""
    rows, columns = (0, 0) if array is None else array.shape
    pipe.send_bytes(json.dumps({**message, "rows": rows, "columns": columns}).encode())
    if rows:
        pipe.send_bytes(np.ascontiguousarray(array, dtype=np.float64).tobytes())


def receive(pipe: Connection) -> tuple[dict[str, Any], np.ndarray]:
    """The next message and its array (0 or more rows). Raises EOFError when the other end is gone."""
    message = json.loads(pipe.recv_bytes())
    rows, columns = message.pop("rows", 0), message.pop("columns", 0)
    data = pipe.recv_bytes() if rows else b""
    return message, np.frombuffer(data, dtype=np.float64).reshape(rows, columns)
