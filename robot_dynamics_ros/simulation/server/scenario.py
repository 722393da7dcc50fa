"""What the environment does to the robot over controller time: wrench schedules and walls, known exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.simulation.server.arm import Arm

FRICTION = 0.1  # Coulomb coefficient of a scenario's plane
STICTION_SPEED = 0.005  # m/s: below it drag grows linearly with the speed


@dataclass(frozen=True)
class Contact:
    """Something presses on the tool for a while: smooth ramps, then a steady normal force with drag."""

    begin: float  # s after the scenario's start
    duration: float  # s, ramps included
    force: float  # N, normal
    ramp: float = 0.5  # s, raised cosine
    drag: float = 0.0  # tangential force per normal force, against the tool's motion
    direction: tuple[float, float, float] = (0.0, 0.0, -1.0)  # of the normal force, tool frame: against its z axis

    def strength(self, t: float) -> float:
        """Share of the full force at time t."""
        edge = min(t - self.begin, self.begin + self.duration - t)
        if not 0 < edge:
            return 0.0
        return 0.5 * (1 - float(np.cos(np.pi * min(edge / self.ramp, 1.0))))


@dataclass(frozen=True)
class Schedule:
    """A scenario: contacts that repeat with a period (0 = once), and perhaps a compliant horizontal plane."""

    help: str
    contacts: tuple[Contact, ...] = ()
    period: float = 0.0  # s
    wall: float | None = None  # m below the place where the tool is when the scenario starts


def _work(text: str, forces: tuple[float, float, float]) -> Schedule:
    """Two contacts against the tool axis and a push from the side [N], every 24 s."""
    first, second, push = forces
    contacts = (
        Contact(begin=6.0, duration=6.0, force=first, drag=0.15),
        Contact(begin=15.0, duration=5.0, force=second, ramp=1.0, drag=0.15),
        Contact(begin=21.3, duration=1.6, force=push, ramp=0.2, direction=(1.0, 0.0, 0.0)),
    )
    return Schedule(text, contacts, period=24.0)


SCENARIOS: dict[str, Schedule] = {
    "idle": Schedule("nothing touches the robot"),
    "polishing": _work(
        "free motion, a 30 N and a 20 N contact against the tool axis with light drag, a 25 N push from the side, "
        "repeating every 24 s",
        (30.0, 20.0, 25.0),
    ),
    "grinding": _work(
        "as polishing, with 200, 120 and 150 N: for arms that carry their own weight in friction", (200.0, 120.0, 150.0)
    ),
    "push": Schedule(
        "a sideways push of 25 N at the tool for 2 s, repeating every 8 s",
        contacts=(Contact(begin=4.0, duration=2.0, force=25.0, direction=(1.0, 0.0, 0.0)),),
        period=8.0,
    ),
    "wall": Schedule("a compliant plane 50 mm below the tool's first position", wall=0.05),
}


class Scenario:
    """A running schedule plus the wrench commanded over the control channel."""

    def __init__(self, name: str) -> None:
        self.commanded = np.zeros(6)
        self._walled = False  # the plane that stands is of a scenario
        self.start(name, 0.0)

    def start(self, name: str, time: float) -> None:
        """Begin a scenario at controller time [s]. Raises RobotDynamicsError for an unknown one."""
        if name not in SCENARIOS:
            raise RobotDynamicsError(f"scenario {name!r} is unknown; there are {', '.join(SCENARIOS)}")
        self.name, self._schedule = name, SCENARIOS[name]
        self._begin, self._begun = time, False

    def apply(self, arm: Arm, time: float) -> None:
        """Set what acts on the arm during the cycle that begins at controller time [s]."""
        if not self._begun:
            self._begun = True
            self._set_wall(arm, self._schedule.wall)
        wrench = self.commanded.copy()
        t = time - self._begin
        for contact in self._schedule.contacts:
            share = contact.strength(t % self._schedule.period if self._schedule.period > 0 else t)
            if share > 0:
                wrench[:3] += share * _force(contact, arm)
        arm.set_wrench(wrench)

    def _set_wall(self, arm: Arm, below: float | None) -> None:
        """The plane of the scenario; without one that of the scenario before goes."""
        if below is not None:
            arm.simulated.set_wall(arm.flange(arm.q)[:3, 3] - [0, 0, below], (0, 0, 1), friction=FRICTION)
        elif self._walled:
            arm.simulated.clear_wall()
        self._walled = below is not None


def _force(contact: Contact, arm: Arm) -> np.ndarray:
    """Full normal force of a contact plus its drag, base frame."""
    q, qd = arm.q, arm.qd
    normal = arm.flange(q)[:3, :3] @ np.array(contact.direction)
    force = contact.force * normal
    if contact.drag > 0:
        velocity = (arm.jacobian(q) @ qd)[:3]
        tangential = velocity - (velocity @ normal) * normal
        speed = float(np.linalg.norm(tangential))
        force = force - contact.drag * contact.force * tangential / max(speed, STICTION_SPEED)
    return force
