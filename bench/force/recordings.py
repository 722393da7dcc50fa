"""What a user records and what is then asked: motions to identify from, and motions with rests, pushes and moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from bench.arms.zoo import arms
from bench.force import EXCITE
from bench.force.zoo import Individual
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.wrench_metrics import moving_mask
from robot_dynamics_ros.identification.excitation import Limits, design_fourier
from robot_dynamics_ros.identification.excitation.space import usual_clearance
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions

RATE, DURATION = 500.0, 60.0  # Hz, s
TRIALS = ("moves", "singular")  # replays with pushes
REACH, VELOCITY, ACCELERATION = 0.7, 1.0, 3.0  # rad, rad/s, rad/s2
REST = (1.0, 3.0)  # s
LEVELS = (10.0, 20.0, 40.0)  # N, of the pushes
PLACES, ABOVE, GRIP = 0.06, -0.12, 0.3  # rad: places of a tray differ, height above them; s before and after a grip
PAYLOAD_COM = (0.02, 0.0, 0.06)  # m, of an undeclared payload, from the flange
MOMENT = 4.0  # Nm, largest at the tool beside the force
RARE = (3.0, 5.0)  # s between pushes in recordings to identify from
QUIET, LEARNS = 4.0, 30.0  # s without a push at the beginning; where parts come and go
AFTERGLOW = 0.2  # s after a push that still count as contact
SINGULAR = (0.01, 0.06)  # smallest singular value of the Jacobian, moments over a quarter of the arm
POSES, ROOM = 400, 0.05  # rad, between positions and limits
REPORTED = ("q", "qd", "effort", "temperature")  # what the bag of a driver holds


@dataclass(frozen=True)
class Since:
    """What differs from the recordings to identify from: temperature [K], an undeclared payload [kg], Coulomb and
    breakaway friction (share); whether the tool is a ball finger, whose pushes have no moment; mass [kg] of undeclared
    parts that the arm carries from place to place.
    """

    warmer: float = 0.0
    payload: float = 0.0
    worn: float = 0.0
    finger: bool = False
    parts: float = 0.0

    def who(self, recorded: Individual) -> Individual:
        """The individual since then."""
        levels = ("friction.coulomb", "friction.stribeck")
        worn = {name: (1.0 + self.worn) * recorded.overrides[name] for name in levels}
        return replace(recorded, temperature=recorded.temperature + self.warmer, overrides=recorded.overrides | worn)

    def robot(self, name: str) -> RobotFile:
        """The robot file to begin with: of an arm of bench/arms, a shipped one, or a file."""
        robot = arms().get(name) or load_robot(name)
        return robot.with_updates({"kinematics.tool.expected_moment": 0.0}) if self.finger else robot

    def pushes(self, draw: np.random.Generator) -> np.ndarray:
        """Wrenches (N, 6) of 60 s, see `pushes`."""
        moment = 0.0 if self.finger else MOMENT
        return pushes(draw, moment, RARE, LEARNS) if self.parts else pushes(draw, moment)


SAME = Since()
Pushed = Callable[[np.random.Generator], np.ndarray]


@dataclass
class Trial:
    """A replayed recording: what was reported, what was so, when the arm was to move and when it was touched."""

    name: str
    log: Log
    truth: dict[str, np.ndarray]
    moving: np.ndarray
    contact: np.ndarray


def simulated(robot: RobotFile, who: Individual, seed: int) -> SimulatedRobot:
    """The machine of an individual, warm; seed: of the noise and of the day's temperature (within 4 K)."""
    if who.tilt:
        turn = Rotation.from_rotvec([0.0, who.tilt, 0.0])
        robot = robot.with_updates({"kinematics.gravity": tuple(turn.apply(robot.gravity).tolist())})
    machine = SimulatedRobot(robot, seed=seed, overrides=who.overrides, rate=RATE, plant=who.plant)
    today = who.temperature + float(np.random.default_rng((who.seed, who.index, 1, seed)).uniform(-4, 4))
    machine.set_ambient(today - 10.0)
    machine.set_temperatures(today, today - 3.0)
    return machine


def recorded(robot: RobotFile, who: Individual, number: int) -> tuple[Log, str]:
    """Recording `number` (0, 1, ..) of 60 s, free or `pushed`, and its kind: of DRAWN, or EXCITE of 100 s."""
    kind, draw = who.kinds[number], who.draw(10 + number)
    centre = home(robot, draw)
    if kind == "moves":
        motion = moves(robot, centre, draw)
    elif kind == EXCITE:
        motion = excited(robot, int(draw.integers(2**31)))
    else:
        speed = VELOCITY if kind == "fourier" else 0.3 * VELOCITY
        noise = int(draw.integers(2**31))
        motion = motions.fourier(centre, DURATION, RATE, amplitude=REACH, velocity=speed, seed=noise)
    machine = simulated(robot, who, 10 + number)
    machine.reset(motion[0][0])
    wrench = np.zeros((len(motion[0]), 6))
    if who.pushed:
        wrench[: round(DURATION * RATE)] = pushes(who.draw(30 + number), pause=RARE)
    return noisy(reported(machine.run(*motion, wrench=wrench)[0]), who, 10 + number), kind


def excited(robot: RobotFile, seed: int) -> motions.JointMotion:
    """The motion that `robot-dynamics excite` designs."""
    limits = Limits.of(robot)
    clearance = usual_clearance(RobotModel(robot.chain()), limits)
    found = design_fourier(robot, replace(limits, clearance=clearance), rate=RATE, seed=seed)
    return found.q, found.qd, found.qdd


def trial(robot: RobotFile, who: Individual, name: str, since: Since = SAME) -> Trial:
    """A recording with pushes while moving and while standing."""
    number = 20 + TRIALS.index(name)
    return touched(robot, who, name, number, since.pushes, since)


def touched(
    robot: RobotFile,
    who: Individual,
    name: str,
    number: int,
    pushed: Pushed,
    since: Since = SAME,
    machine: SimulatedRobot | None = None,
) -> Trial:
    """Moves and rests under the wrenches (N, 6) that `pushed` draws; number: of the random numbers; machine: one that
    goes on from where it stands, as warm as it is.
    """
    draw = who.draw(number)
    centre = home(robot, draw)
    if since.parts:
        motion, carried = cycles(robot, centre, draw)
    else:
        motion, carried = moves(robot, centre, draw, near_singular=name == "singular"), np.zeros(round(DURATION * RATE))
    wrench, weight = pushed(draw), weights(robot, motion[0], since.parts * carried)
    if machine is None:
        machine = simulated(robot, since.who(who), number)
        machine.reset(motion[0][0])
    else:
        way = motions.quintic(machine.record().q, motion[0][0], RATE, VELOCITY, ACCELERATION)
        motion = motions.join(way, motion)
        wrench, weight = (np.vstack([np.zeros((len(way[0]), 6)), x]) for x in (wrench, weight))
    machine.set_payload(since.payload, PAYLOAD_COM, configured=False)
    log, truth = machine.run(*motion, wrench=wrench + weight)
    truth["external_wrench"] = truth["external_wrench"] - weight
    after = int(AFTERGLOW * RATE)
    near = np.convolve((wrench != 0).any(axis=1), np.ones(after + 1))[: len(wrench)] > 0
    return Trial(name, noisy(reported(log), who, number), truth, moving_mask(motion[1], log.time), near)


def reported(log: Log) -> Log:
    """What a bag holds of it."""
    return Log(log.joint_names, log.stamp_ns, {k: v for k, v in log.signals.items() if k in REPORTED})


def replayed(robot: RobotFile, log: Log, stages: Sequence[str] | None = None) -> Log:
    """A copy of a log after the live pipeline of a robot file, or after some of its stages."""
    done = Log(log.joint_names, log.stamp_ns, {k: v.copy() for k, v in log.signals.items()})
    Pipeline(robot, stages=stages).run(done)
    return done


def noisy(log: Log, who: Individual, number: int) -> Log:
    """With the noise of the individual's velocities and of its stamps, which stay in order."""
    draw = np.random.default_rng((who.seed, who.index, 2, number))
    log.qd = log.qd + who.noise * draw.normal(size=log.qd.shape) if who.noise else log.qd
    late = np.clip(who.jitter * draw.normal(size=len(log)), -0.45, 0.45)
    log.stamp_ns = log.stamp_ns + np.round(1e9 / RATE * late).astype(np.int64)
    return log


def moves(
    robot: RobotFile, centre: np.ndarray, draw: np.random.Generator, near_singular: bool = False
) -> motions.JointMotion:
    """60 s from point to point with rests, at several speeds; every fifth move creeps at 1 mrad/s."""
    lower, upper = limits(robot)
    parts, here, length, count = [motions.hold(centre, 1.0, RATE)], centre, 1.0, 0
    while length < DURATION:
        rest = motions.hold(here, draw.uniform(*REST), RATE)
        if count % 5 == 4:
            there = np.clip(here + 4e-3 * draw.choice([-1.0, 1.0], len(here)), lower, upper)
            move = motions.trapezoid(here, there, RATE, 1e-3, 0.1)
        else:
            near = singular_pose(robot, draw, here) if near_singular and count % 2 == 0 else None
            there = np.clip(centre + draw.uniform(-REACH, REACH, len(here)), lower, upper) if near is None else near
            move = motions.quintic(here, there, RATE, VELOCITY * draw.uniform(0.2, 1.0), ACCELERATION)
        parts += [rest, move]
        length += (len(rest[0]) + len(move[0])) / RATE
        here, count = there, count + 1
    return motions.part(motions.join(*parts), slice(0, round(DURATION * RATE)))


def cycles(robot: RobotFile, centre: np.ndarray, draw: np.random.Generator) -> tuple[motions.JointMotion, np.ndarray]:
    """60 s of pick and place between two trays, and when (N,) the arm carries a part."""
    lower, upper = limits(robot)
    trays = np.clip(centre + draw.uniform(-REACH, REACH, (2, len(centre))), lower, upper)
    parts, carried, here, samples, count = [motions.hold(centre, 1.0, RATE)], [False], centre, RATE, 0
    while samples < DURATION * RATE:
        there = np.clip(trays[count % 2] + PLACES * draw.uniform(-1, 1, len(centre)), lower, upper)
        above = np.clip(there + ABOVE * np.isin(np.arange(len(centre)), (1, 2)), lower, upper)
        ways = [(here, above, VELOCITY), (above, there, 0.4 * VELOCITY), (there, above, 0.4 * VELOCITY)]
        moved = [motions.quintic(a, b, RATE, speed, ACCELERATION) for a, b, speed in ways]
        held = motions.hold(there, GRIP, RATE)
        parts += [*moved[:2], held, held, moved[2]]
        carried += [count % 2 == 1] * 3 + [count % 2 == 0] * 2
        samples += sum(len(part[0]) for part in parts[-5:])
        here, count = above, count + 1
    rows = slice(0, round(DURATION * RATE))
    return motions.part(motions.join(*parts), rows), np.repeat(carried, [len(part[0]) for part in parts])[rows]


def weights(robot: RobotFile, q: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Wrench (N, 6) at the TCP of masses (N,) [kg] there, weight and inertia, on a motion q (N, n)."""
    place = RobotModel(robot.chain()).fk(q)[:, -1, :3, 3]
    acceleration = np.gradient(np.gradient(place, 1 / RATE, axis=0), 1 / RATE, axis=0)
    return np.hstack([mass[:, None] * (robot.gravity - acceleration), np.zeros((len(q), 3))])


def pushes(
    draw: np.random.Generator, moment: float = MOMENT, pause: tuple[float, float] = (1.0, 2.5), quiet: float = QUIET
) -> np.ndarray:
    """Wrenches (N, 6) over 60 s: a force of LEVELS in any direction, beside it 0 to `moment` [Nm]; then a pause [s]."""
    wrench, t = np.zeros((round(DURATION * RATE), 6)), quiet
    levels: list[float] = []
    while t < DURATION - 3.0:
        levels = levels or list(draw.permutation(LEVELS))
        begin, end = t, t + draw.uniform(0.8, 2.0)
        force, axis = (v / np.linalg.norm(v) for v in draw.normal(size=(2, 3)))
        wrench += _pulse(begin, end, draw.uniform(0.05, 0.2))[:, None] * np.concatenate(
            [levels.pop() * force, draw.uniform(0, 1) * moment * axis]
        )
        t = end + draw.uniform(*pause)
    return wrench


def collisions(draw: np.random.Generator) -> np.ndarray:
    """Wrenches (N, 6) over 60 s: every 1 to 1.4 s half a sine of 10 to 100 N and 2 to 100 ms at the TCP."""
    wrench, t = np.zeros((round(DURATION * RATE), 6)), QUIET
    while t < DURATION - 1.0:
        peak, seconds = np.exp(draw.uniform(np.log([10.0, 2e-3]), np.log([100.0, 0.1])))
        direction = draw.normal(size=3)
        begin, count = round(t * RATE), max(1, round(seconds * RATE))
        pulse = peak * np.sin(np.pi * (np.arange(count) + 0.5) / count)
        wrench[begin : begin + count, :3] = pulse[:, None] * direction / np.linalg.norm(direction)
        t += draw.uniform(1.0, 1.4)
    return wrench


def _pulse(begin: float, end: float, ramp: float) -> np.ndarray:
    """Level (N,) 0..1 with smooth ramps of `ramp` seconds inside begin..end."""
    t = motions.times(DURATION, RATE)
    x = np.clip(np.minimum(t - begin, end - t) / ramp, 0, 1)
    return x * x * (3 - 2 * x)


def limits(robot: RobotFile) -> tuple[np.ndarray, np.ndarray]:
    """The robot's pose_range (n,), with room for the controller."""
    lower, upper = robot.pose_range
    return lower + ROOM, upper - ROOM


def home(robot: RobotFile, draw: np.random.Generator) -> np.ndarray:
    """A pose from which the arm moves well: of random ones above the table the farthest from singular."""
    q, smallest, height = _poses(robot, draw)
    return q[np.argmax(np.where(height > 0.15, smallest, -1.0))]


def singular_pose(robot: RobotFile, draw: np.random.Generator, here: np.ndarray) -> np.ndarray:
    """A pose near a singular one: of random ones the nearest to where the arm is."""
    q, smallest, height = _poses(robot, draw)
    usable = (smallest > SINGULAR[0]) & (smallest < SINGULAR[1]) & (height > 0.0)
    return q[np.argmin(np.where(usable, np.abs(q - here).max(axis=1), np.inf))]


def _poses(robot: RobotFile, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random poses (POSES, n) with room for the motion, smallest singular value and height of the TCP [m]."""
    lower, upper = limits(robot)
    q = draw.uniform(lower + 0.5 * REACH, upper - 0.5 * REACH, (POSES, robot.n_joints))
    model = RobotModel(robot.chain())
    J, tcp = model.jacobian(q), model.fk(q)[:, -1, :3, 3]
    J[:, 3:] *= 0.25 * np.linalg.norm(tcp, axis=1).max()
    return q, np.linalg.svd(J, compute_uv=False)[:, -1], tcp[:, 2]
