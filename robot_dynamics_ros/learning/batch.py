"""Learning beside a running robot: samples are collected by the minute, and a process of its own learns from them.

The loop only copies a sample into rows that are there already. A full batch is written by a thread and learned by a
child process of low priority, so that neither the loop nor its interpreter waits for a QR.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from robot_dynamics_ros.effort.joint_state import refuse
from robot_dynamics_ros.errors import DataError, RobotDynamicsError
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.learning.session import Session
from robot_dynamics_ros.learning.store import Store
from robot_dynamics_ros.learning.triangles import UNREADABLE
from robot_dynamics_ros.outputs import write_arrays
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.store import file_sha256
from robot_dynamics_ros.signals import Log, Sample, width

SIGNALS = ("q", "qd", "effort", "temperature", "payload")
NICE = 15  # of the child process
LOOK = 0.2  # s between two looks whether it has ended
HERE = "learn_state"  # parameter of the node, before each line on its console


class Collector:
    """Rows of q, qd, effort, temperature, payload for `minutes`; each full batch is learned into the state directory.

    robot: name or file for the child process; rate [Hz] of the samples. Raises DataError like Store.
    """

    def __init__(self, robot: RobotFile, state: str | Path, minutes: float, rate: float) -> None:
        self.state, self.learned, self.busy = Path(state), 0, False
        Store(self.state, robot)  # refused at the start, not after the first batch
        self._names, self._rows = list(robot.joint_names), max(int(60 * minutes * rate), 1)
        self._thread, self._ended = ThreadPoolExecutor(1, thread_name_prefix="learn"), threading.Event()
        self._begin()

    def _begin(self) -> None:
        n = len(self._names)
        self._stamp = np.zeros(self._rows, np.int64)
        self._data = {name: np.zeros((self._rows, width(name, n))) for name in SIGNALS}
        self._count = 0

    def on_sample(self, sample: Sample) -> None:
        """Copy one sample; a full batch goes to the thread, unless the one before is still being learned."""
        k = self._count
        self._stamp[k] = sample.stamp_ns
        for name, rows in self._data.items():
            rows[k] = getattr(sample, name)
        self._count = k + 1
        if self._count < self._rows:
            return
        if self.busy:
            self._count = 0
            _warn(f"{self.state}: the machine is too slow to learn all that is recorded: a batch is left out")
            return
        self.busy = True
        stamp, data = self._stamp, self._data
        self._begin()
        self._thread.submit(self._learn, stamp, data)

    def close(self, wait: bool = False) -> None:
        """End; an unfinished batch is dropped, one that is being learned goes on by itself, or is waited for."""
        if not wait:
            self._ended.set()
        self._thread.shutdown(wait=wait)

    def _learn(self, stamp: np.ndarray, data: dict[str, np.ndarray]) -> None:
        try:
            path = self.state / "batches" / f"{stamp[0]}.npz"
            try:
                write_arrays(path, stamp_ns=stamp, names=np.array(self._names), **data)
            except OSError as error:
                return _warn(f"{self.state}: a batch cannot be written and is not learned: {error}")
            learns = [sys.executable, "-m", "robot_dynamics_ros.learning.batch", str(self.state), str(path)]
            command = ["nice", "-n", str(NICE), *learns]
            child = subprocess.Popen(command, start_new_session=True)  # Ctrl-C is for the node
            while child.poll() is None and not self._ended.wait(LOOK):
                pass
            self.learned += child.returncode == 0
        finally:
            self.busy = False


def _warn(text: str) -> None:
    """On the console of the node."""
    print(f"{HERE}: {text}", file=sys.stderr, flush=True)


def read_batch(path: Path) -> Log:
    """The log of a batch; temperatures that were not reported are left out. Raises DataError naming the file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            data = dict(file)
        stamp, names = data.pop("stamp_ns"), data.pop("names").tolist()
    except UNREADABLE as error:
        raise DataError(f"{path}: is no batch of a node ({error})") from None
    if np.isnan(data["temperature"]).all():
        data.pop("temperature")
    return Log(names, stamp, data)


def learn_batch(state: str | Path, path: Path) -> list[str]:
    """Learn one batch, offer a better robot file where there is one, and remove the batch, also where it is not
    learned: batches would fill the disk. Raises DataError.
    """
    try:
        store = Store(state)
        session, log = Session.of(store), read_batch(path)
        try:
            refuse(log, store.columns.robot, path.stem)
            session.add(recording(log, path.stem, store.columns.robot), file_sha256(path))
            if session.propose().robot is not None:
                session.lines.append(f"a better robot file waits: robot-dynamics learn ROBOT --state {state} --apply")
        except RobotDynamicsError as error:
            session.store.note("refused", f"{path.stem}: {error}")
            raise
        return session.lines
    finally:
        path.unlink(missing_ok=True)


def main() -> None:
    """STATE BATCH of the command line."""
    state, path = sys.argv[1], Path(sys.argv[2])
    try:
        print(*(f"{HERE}: {line}" for line in learn_batch(state, path)), sep="\n")
    except (RobotDynamicsError, OSError) as error:
        sys.exit(f"{HERE}: {state}: the batch {path.stem} is not learned: {error}")


if __name__ == "__main__":
    main()
