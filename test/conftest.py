"""What every test process starts from."""

from __future__ import annotations

import signal
import threading

# A shell's background job ignores SIGINT and passes that on: processes that tests interrupt would never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
