"""What the viewer logs: the robot as capsules, the contact force with its uncertainty, plots, states and words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.bags.rows import FIRST_DATE_NS
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.urdf_writer import drawn_radius
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.viewer.meshes import meshes_of

TEXT_EVERY = 6  # pictures between two texts
ARROW = 0.01  # m/N
GREY, RED, BLUE, HAZE = [170, 176, 184], [225, 60, 40], [70, 130, 230], [230, 160, 60, 60]
GAP_NS = 500_000_000  # without a sample, after which curves are interrupted
JOINT_PLOTS = {  # plot -> signal, unit; one curve per joint
    "friction": ("friction_torque", "Nm"),
    "external_torque": ("external_joint_torque", "Nm"),
    "temperature": ("temperature_estimate", "°C"),
    "stiffness": ("stiffness", "Nm/rad"),
    "feedforward": ("feedforward_torque", "Nm"),
}
# distinguishable with colour blindness [Okabe and Ito 2008], then greys
COLOURS = ([0, 114, 178], [230, 159, 0], [0, 158, 115], [213, 94, 0], [204, 121, 167], [86, 180, 233], [120, 120, 120])
FORCE_CURVES = {  # name -> colour, width
    "|F|": (COLOURS[0], 2.0),
    "+2 std": ([150, 190, 215], 1.0),
    "-2 std": ([150, 190, 215], 1.0),
    "Fx": (COLOURS[1], 1.0),
    "Fy": (COLOURS[2], 1.0),
    "Fz": (COLOURS[3], 1.0),
}
CONTACT = {"free": [0, 158, 115], "contact": [213, 94, 0]}  # state -> colour
CHECKS = {"ok": [0, 158, 115], "warn": [230, 159, 0], "error": [213, 94, 0], "no data": [150, 150, 150]}


class Health(NamedTuple):
    """One entry of the diagnostics: level 0 ok, 1 warn, 2 error, 3 stale."""

    name: str
    level: int
    message: str


LEVELS = ("ok", "**warn**", "**ERROR**", "no data")


def between(start: np.ndarray, end: np.ndarray) -> tuple[float, np.ndarray]:
    """Length of a capsule from start to end (3,) and the quaternion xyzw that turns z onto it."""
    length = float(np.linalg.norm(end - start))
    if length < 1e-9:
        return 0.0, np.array([0.0, 0.0, 0.0, 1.0])
    z = (end - start) / length
    quaternion = np.array([-z[1], z[0], 0.0, 1.0 + z[2]])  # half-way rotation from z
    if np.linalg.norm(quaternion) < 1e-6:
        quaternion = np.array([1.0, 0.0, 0.0, 0.0])
    return length, quaternion / np.linalg.norm(quaternion)


def deviation_along(force: np.ndarray, std: np.ndarray) -> float:
    """Standard deviation of |F| [N] from those of its components (3,), taken as independent."""
    size = float(np.linalg.norm(force))
    return float(np.linalg.norm(std) / np.sqrt(3)) if size == 0 else float(np.linalg.norm(force * std) / size)


class Scene:
    """Logs one robot's samples to a rerun recording stream. Raises CapabilityError for a robot without kinematics."""

    def __init__(self, stream: Any, robot: RobotFile) -> None:
        import rerun as rr

        self._rr, self._stream, self.robot = rr, stream, robot
        self._model = RobotModel(robot.kinematic_chain(), robot.joint_names)
        self._drawn: set[str] = set()  # plots with a curve that goes on
        self._states: dict[str, str] = {}
        self._last_ns = 0
        self._draw_robot()
        for plot in JOINT_PLOTS:
            self.curves(plot, robot.joint_names)
        colours, widths = zip(*FORCE_CURVES.values(), strict=True)
        self._static("plot/force", rr.SeriesLines(names=list(FORCE_CURVES), colors=colours, widths=widths))
        self._static("event/contact", rr.StateConfiguration(values=list(CONTACT), colors=list(CONTACT.values())))

    def curves(self, plot: str, names: Sequence[str]) -> None:
        """Names and colours of the curves of a plot."""
        colours = [COLOURS[k % len(COLOURS)] for k in range(len(names))]
        self._static(f"plot/{plot}", self._rr.SeriesLines(names=list(names), colors=colours))

    def _static(self, entity: str, what: Any) -> None:
        self._stream.log(entity, what, static=True)

    def _draw_robot(self) -> None:
        """Links, fixed in their joint's frame: meshes of the URDF, else capsules from each joint to the next."""
        rr, poses = self._rr, self._model.fk(np.zeros(self.robot.n_joints))
        self._static("robot", rr.ViewCoordinates.RIGHT_HAND_Z_UP)
        if meshes := meshes_of(self.robot.kinematics.urdf, self._model):
            for k, mesh in enumerate(meshes):
                entity = f"robot/{f'link_{mesh.link}' if mesh.link else 'base'}/mesh_{k}"
                self._static(entity, rr.Transform3D(translation=mesh.placement[:3, 3], mat3x3=mesh.placement[:3, :3]))
                self._static(entity, rr.Asset3D(path=mesh.file))
            return
        self._capsule("robot/base", np.zeros(3), poses[0][:3, 3], 1.3 * drawn_radius(0, 1))
        for i in range(self.robot.n_joints):
            inside = np.linalg.inv(poses[i]) @ poses[i + 1]
            radius = drawn_radius(i, self.robot.n_joints)
            self._capsule(f"robot/link_{i + 1}/body", np.zeros(3), inside[:3, 3], radius)

    def _capsule(self, entity: str, start: np.ndarray, end: np.ndarray, radius: float) -> None:
        length, quaternion = between(start, end)
        shape = self._rr.Capsules3D(
            lengths=[length],
            radii=[radius],
            translations=[start],
            quaternions=[quaternion],
            colors=[GREY],
            fill_mode="solid",
        )
        self._static(entity, shape)

    @property
    def reach(self) -> float:
        """Longest distance [m] of the TCP from the base: the sum of the links."""
        origins = self._model.fk(np.zeros(self.robot.n_joints))[:, :3, 3]
        return float(np.linalg.norm(np.diff(origins, axis=0), axis=1).sum())

    def show(self, sample: Sample) -> None:
        """Robot, force and plots of one sample; curves end where values are absent (NaN) or samples are missing."""
        if self._last_ns and sample.stamp_ns - self._last_ns > GAP_NS:
            self.set_time(self._last_ns + 1)
            for plot in tuple(self._drawn):
                self._end(plot)
            self.set_state("contact", "")
        self._last_ns = sample.stamp_ns
        self.set_time(sample.stamp_ns)
        if sample.has("q"):
            self._show_force(sample, self.place(sample.q))
        for plot, (signal, _) in JOINT_PLOTS.items():
            self.plot(plot, getattr(sample, signal))

    def set_time(self, stamp_ns: int) -> None:
        """Place what follows at a stamp: on a date, or where it is none at seconds of a motion."""
        kind = "timestamp" if stamp_ns > FIRST_DATE_NS else "duration"
        self._stream.set_time("time", **{kind: 1e-9 * stamp_ns})

    def place(self, q: np.ndarray) -> np.ndarray:
        """Draw the links at positions q (n,) [rad]; returns the TCP (3,) [m]."""
        poses = self._model.fk(q)
        for i, pose in enumerate(poses[:-1]):
            place = self._rr.Transform3D(translation=pose[:3, 3], mat3x3=pose[:3, :3])
            self._stream.log(f"robot/link_{i + 1}", place)
        return np.asarray(poses[-1][:3, 3])

    def plot(self, name: str, values: np.ndarray) -> None:
        """One point of each curve of a plot; nothing where all are NaN."""
        if np.isfinite(values).any():
            self._drawn.add(name)
            self._stream.log(f"plot/{name}", self._rr.Scalars(values))
        elif name in self._drawn:
            self._end(name)

    def _end(self, plot: str) -> None:
        self._drawn.remove(plot)
        self._stream.log(f"plot/{plot}", self._rr.Clear(recursive=False))

    def set_state(self, lane: str, state: str) -> None:
        """A bar of the event view from now on; empty: none. States that go on are logged once."""
        if self._states.get(lane, "") != state:
            self._states[lane] = state
            values: Any = [state or None]  # None ends the bar
            self._stream.log(f"event/{lane}", self._rr.StateChange(state=values))

    def _show_force(self, sample: Sample, tcp: np.ndarray) -> None:
        rr, force, std = self._rr, sample.external_wrench[:3], sample.external_wrench_std[:3]
        size = float(np.linalg.norm(force))
        along = deviation_along(force, std)
        self.plot("force", np.array([size, size + 2 * along, max(size - 2 * along, 0.0), *force]))
        if not np.isfinite(force).all():
            self._stream.log("force", rr.Clear(recursive=True))
            self.set_state("contact", "")
            return
        contact = bool(sample.contact[-1] > 0.5)
        self.set_state("contact", "contact" if contact else "free")
        arrow, colour = force * ARROW, RED if contact else BLUE
        # the arrow ends at the TCP; the ellipsoid at its tail is two standard deviations
        self._stream.log(
            "force/arrow", rr.Arrows3D(vectors=[arrow], origins=[tcp - arrow], colors=[colour], radii=[0.016])
        )
        if np.isfinite(std).all():
            cloud = rr.Ellipsoids3D(
                half_sizes=[2 * std * ARROW], centers=[tcp - arrow], colors=[HAZE], fill_mode="solid"
            )
            self._stream.log("force/uncertainty", cloud)

    def log_status(self, sample: Sample, health: Iterable[Health]) -> None:
        """Text of the first screen: is there contact, how hard, how sure, is the robot healthy; events of checks."""
        found = list(health)
        self.set_time(sample.stamp_ns)
        text = state_text(sample, self.robot.joint_names, found)
        self._stream.log("state", self._rr.TextDocument(text, media_type="text/markdown"))
        for check in found:
            lane = check.name.split(": ")[-1].replace(" ", "_")
            if lane not in self._states:
                configured = self._rr.StateConfiguration(values=list(CHECKS), colors=list(CHECKS.values()))
                self._static(f"event/{lane}", configured)
            self.set_state(lane, list(CHECKS)[min(check.level, 3)])


def state_text(sample: Sample, joints: Iterable[str], health: Iterable[Health]) -> str:
    """Markdown of the state panel."""
    force, std = sample.external_wrench[:3], sample.external_wrench_std[:3]
    contact = sample.contact[-1]
    head = "no estimate yet" if not np.isfinite(contact) else "CONTACT" if contact > 0.5 else "free"
    if np.isfinite(force).all():
        head += f" · {np.linalg.norm(force):.1f} ± {deviation_along(force, std):.1f} N"
    found = sorted(health, key=lambda entry: -entry.level)
    touched = [name for name, on in zip(joints, sample.contact[:-1], strict=True) if on > 0.5]
    parts = [f"robot: {_verdict(found)}"] if found else []
    parts += ["contact at " + ", ".join(touched)] if touched else []
    rows = [f"| {LEVELS[min(h.level, 3)]} | {h.name} | {h.message} |" for h in found]
    table = "\n".join(["| | | |", "|---|---|---|", *rows]) if rows else ""
    return "\n\n".join(part for part in (f"# {head}", " · ".join(parts), table) if part)


def _verdict(found: Sequence[Health]) -> str:
    """Worst level and how many entries have it."""
    worst = found[0].level
    if worst == 0:
        return "healthy"
    count = sum(entry.level == worst for entry in found)
    return f"{LEVELS[min(worst, 3)]} from {count} of {len(found)} checks"
