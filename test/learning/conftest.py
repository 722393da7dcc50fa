"""Recordings of one simulated UR5e at work, learned once for all tests of this folder."""

from dataclasses import dataclass
from functools import cache
from hashlib import sha256

import numpy as np
import pytest

from bench.force import zoo
from bench.force.recordings import RATE, home, moves, reported, simulated
from bench.learning.tasks import BEGIN_NS, DAY_NS
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.dataset.recording import Recording, recording
from robot_dynamics_ros.learning.columns import Columns
from robot_dynamics_ros.learning.intake import learn_recording
from robot_dynamics_ros.learning.running import Running
from robot_dynamics_ros.learning.session import Session
from robot_dynamics_ros.learning.store import Store
from robot_dynamics_ros.learning.triangles import Triangle
from robot_dynamics_ros.learning.update import Information, Prior, file_prior
from robot_dynamics_ros.learning.written import written
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.signals import Log

SECONDS = 25.0
DAY = 20  # of a recording that is not learned yet
TORQUE = Options(effort="torque")


@dataclass
class Worker:
    """One individual and what it has learned."""

    robot: RobotFile
    prior: Prior
    who: zoo.Individual
    logs: list[Log]
    triangles: list[Triangle]
    recordings: list[Recording]

    def moves(self, seed: int, seconds: float = SECONDS) -> list[np.ndarray]:
        """Point-to-point moves with rests."""
        whole = moves(self.robot, home(self.robot, self.who.draw(7)), self.who.draw(seed))
        return [x[: round(seconds * RATE)] for x in whole]

    def log(self, day: int = DAY, payload: float = 0.0, height: float = 0.05) -> Log:
        """What it reports of its moves on a day."""
        motion = self.moves(500 + day)
        machine = simulated(self.robot, self.who, 500 + day)
        if payload:
            machine.set_payload(payload, (0.0, 0.0, height))
        machine.reset(motion[0][0])
        log = reported(machine.run(*motion)[0])
        return Log(log.joint_names, log.stamp_ns + BEGIN_NS + day * DAY_NS, log.signals)

    @property
    def state(self) -> Information:
        """What is known from the first recordings."""
        return Running.of(self.prior, self.triangles).state

    def learned(self, log: Log, day: int = DAY, alone: bool = False) -> tuple[Triangle, Recording]:
        """Its triangle, by what is known from the first recordings."""
        state = self.state if self.triangles and not alone else None
        digest = sha256(str(day).encode()).hexdigest()
        return learn_recording(self.prior, recording(log, f"day{day}"), TORQUE, digest, state)


@pytest.fixture(scope="session")
def worker() -> Worker:
    """A UR5e of the tuning families with four days of work."""
    robot = load_robot("ur5e")
    who = zoo.individuals(robot, 2, 3, ["maxwell"])[1]
    found = Worker(robot, file_prior(Columns(robot)), who, [], [], [])
    found.log = cache(found.log)  # a day is simulated once
    for day in range(4):
        log = found.log(day)
        triangle, free = found.learned(log, day)
        found.logs.append(log)
        found.triangles.append(triangle)
        found.recordings.append(free)
    return found


@pytest.fixture(scope="session")
def learned(worker) -> RobotFile:
    """The robot file of its recordings."""
    return written(worker.prior.columns, worker.state, "test")


@pytest.fixture
def session(worker, tmp_path) -> Session:
    """A run of `learn` that knows nothing yet."""
    return Session(Store(tmp_path / "state", worker.robot), worker.prior, TORQUE)


@pytest.fixture(scope="session")
def columns() -> Columns:
    return Columns(load_robot("ur5e"))


@pytest.fixture(scope="session")
def prior(columns) -> Prior:
    return file_prior(columns)


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers of a fixed seed."""
    return np.random.default_rng(0)
