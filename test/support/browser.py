"""Pictures of a page from headless Chromium, over the browser's own debugging pipe (no port, no extra package)."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
EXECUTABLE = next((path for path in map(shutil.which, NAMES) if path), None)
OPTIONS = "--headless=new --no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader --hide-scrollbars".split()
OPTIONS += "--ignore-gpu-blocklist --remote-debugging-pipe --window-size=1400,900".split()


class Browser:
    """Context manager: one page of headless Chromium."""

    def __init__(self, url: str) -> None:
        self.url, self._count = url, 0

    def __enter__(self) -> "Browser":
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def wire() -> None:  # Chromium reads commands from descriptor 3 and answers on 4
            a, b = os.dup(to_browser), os.dup(from_browser)
            os.dup2(a, 3)
            os.dup2(b, 4)

        command = [EXECUTABLE, *OPTIONS, f"--user-data-dir={self._home.name}"]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, preexec_fn=wire, close_fds=False, **silent)
        os.close(to_browser)
        os.close(from_browser)
        self._reader = os.fdopen(self._in, "rb", buffering=0)
        self._rest = b""
        target = self.ask("Target.createTarget", url=self.url)["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        self._reader.close()
        self._home.cleanup()

    def ask(self, method: str, session: str = "", **parameters: object) -> dict:
        """Send a command and wait for its answer."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        message |= {"sessionId": session} if session else {}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._rest:
                data = self._reader.read(1 << 20)
                assert data, f"the browser ended during {method}"
                self._rest += data
            line, _, self._rest = self._rest.partition(b"\0")
            answer = json.loads(line)
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]

    def picture(self) -> bytes:
        """PNG of the page as it is now."""
        return base64.b64decode(self.ask("Page.captureScreenshot", self._session, format="png")["data"])

    def picture_when(self, ready) -> bytes:
        """PNG once `ready(png)`; fails after two minutes."""
        end = time.monotonic() + 120.0
        while not ready(png := self.picture()):
            assert time.monotonic() < end, "the page never looked as expected"
            time.sleep(1.0)
        return png
