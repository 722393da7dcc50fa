"""What the viewer shows: the robot as capsules, the contact force with its uncertainty, plots, the state in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.signals import Sample

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

ARROW = 0.01  # m/N
THICKNESS = 0.045  # m, radius of the first link; later ones are thinner
GREY, RED, BLUE, HAZE = [170, 176, 184], [225, 60, 40], [70, 130, 230], [230, 160, 60, 60]
JOINT_PLOTS = {  # plot -> signal, unit; one curve per joint
    "friction": ("friction_torque", "Nm"),
    "external_torque": ("external_joint_torque", "Nm"),
    "temperature": ("temperature_estimate", "°C"),
    "stiffness": ("stiffness", "Nm/rad"),
    "feedforward": ("feedforward_torque", "Nm"),
}
# distinguishable with colour blindness [Okabe and Ito 2008], then greys
COLOURS = ([0, 114, 178], [230, 159, 0], [0, 158, 115], [213, 94, 0], [204, 121, 167], [86, 180, 233], [120, 120, 120])
FORCE_CURVES = ("|F|", "std of |F|", "Fx", "Fy", "Fz")


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
        self._model = RobotModel(robot.kinematic_chain())
        self._draw_robot()
        for plot in JOINT_PLOTS:
            self._curves(plot, robot.joint_names)
        self._curves("force", FORCE_CURVES)
        self._curves("contact", ("contact",))
        stream.send_blueprint(blueprint(robot.name))

    def _curves(self, plot: str, names: Sequence[str]) -> None:
        colours = [COLOURS[k % len(COLOURS)] for k in range(len(names))]
        self._stream.log(f"plot/{plot}", self._rr.SeriesLines(names=list(names), colors=colours), static=True)

    def _draw_robot(self) -> None:
        """Capsules of the links, fixed in their joint's frame: from each joint to the next, last to the TCP."""
        rr, poses = self._rr, self._model.fk(np.zeros(self.robot.n_joints))
        self._stream.log("robot", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
        self._capsule("robot/base", np.zeros(3), poses[0][:3, 3], THICKNESS * 1.3)
        for i in range(self.robot.n_joints):
            inside = np.linalg.inv(poses[i]) @ poses[i + 1]
            radius = THICKNESS * (1.0 - 0.5 * i / self.robot.n_joints)
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
        self._stream.log(entity, shape, static=True)

    def show(self, sample: Sample) -> None:
        """Robot, force and plots of one sample; absent values (NaN) are left out."""
        rr, stream = self._rr, self._stream
        stream.set_time("time", timestamp=1e-9 * sample.stamp_ns)
        if sample.has("q"):
            poses = self._model.fk(sample.q)
            for i, pose in enumerate(poses[:-1]):
                place = rr.Transform3D(translation=pose[:3, 3], mat3x3=pose[:3, :3])
                stream.log(f"robot/link_{i + 1}", place)
            self._show_force(sample, poses[-1][:3, 3])
        for plot, (signal, _) in JOINT_PLOTS.items():
            values = getattr(sample, signal)
            if np.isfinite(values).any():
                stream.log(f"plot/{plot}", rr.Scalars(values))

    def _show_force(self, sample: Sample, tcp: np.ndarray) -> None:
        rr, force, std = self._rr, sample.external_wrench[:3], sample.external_wrench_std[:3]
        if not np.isfinite(force).all():
            self._stream.log("force", rr.Clear(recursive=True))
            return
        contact = bool(sample.contact[-1] > 0.5)
        arrow, colour = force * ARROW, RED if contact else BLUE
        # the arrow ends at the TCP; the ellipsoid at its tail is two standard deviations
        self._stream.log(
            "force/arrow", rr.Arrows3D(vectors=[arrow], origins=[tcp - arrow], colors=[colour], radii=[0.012])
        )
        if np.isfinite(std).all():
            cloud = rr.Ellipsoids3D(
                half_sizes=[2 * std * ARROW], centers=[tcp - arrow], colors=[HAZE], fill_mode="solid"
            )
            self._stream.log("force/uncertainty", cloud)
        size = float(np.linalg.norm(force))
        self._stream.log("plot/force", rr.Scalars([size, deviation_along(force, std), *force]))
        self._stream.log("plot/contact", rr.Scalars([float(contact)]))

    def log_status(self, sample: Sample, health: Iterable[Health]) -> None:
        """The text of the first screen: is there contact, how hard, how sure, is the robot healthy."""
        self._stream.set_time("time", timestamp=1e-9 * sample.stamp_ns)
        text = state_text(sample, self.robot.joint_names, health)
        self._stream.log("state", self._rr.TextDocument(text, media_type="text/markdown"))


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


def blueprint(name: str) -> Any:
    """Left the robot with its force; right state, force, contact; below, in tabs, the joints."""
    import rerun.blueprint as rrb

    joints = [
        rrb.TimeSeriesView(origin=f"plot/{plot}", name=f"{plot.replace('_', ' ')} [{unit}]")
        for plot, (_, unit) in JOINT_PLOTS.items()
    ]
    right = rrb.Vertical(
        rrb.TextDocumentView(origin="state", name="State"),
        rrb.TimeSeriesView(origin="plot/force", name="contact force [N]"),
        rrb.TimeSeriesView(
            origin="plot/contact",
            name="contact",
            axis_y=rrb.ScalarAxis(range=(-0.2, 1.2), zoom_lock=True),
            plot_legend=rrb.PlotLegend(visible=False),
        ),
        rrb.Tabs(*joints, active_tab=0),
        row_shares=[3.5, 4, 1.4, 4],
    )
    robot = rrb.Spatial3DView(origin="/", contents=["/robot/**", "/force/**"], name=name)
    return rrb.Blueprint(rrb.Horizontal(robot, right, column_shares=[5, 6]), collapse_panels=True)
