"""Which views the viewer opens with: one arrangement per task, the camera framed on the arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robot_dynamics_ros.viewer.scene import JOINT_PLOTS

LEGEND = 0.35  # of a recording's length, left free for the legend
Span = tuple[int, int] | None  # first and last stamp [ns]


def camera(reach: float) -> Any:
    """The eye of a 3D view from where an arm of so much reach [m] fills it."""
    import rerun.blueprint as rrb

    look, away = (0.0, 0.0, 0.4 * reach), 1.25 * reach
    position = (0.75 * away, -0.75 * away, look[2] + 0.45 * away)
    return rrb.EyeControls3D(position=position, look_target=look, eye_up=(0.0, 0.0, 1.0))


def robot_view(name: str, reach: float, more: Sequence[str]) -> Any:
    """The robot in 3D, and entities besides it."""
    import rerun.blueprint as rrb

    return rrb.Spatial3DView(
        origin="/", contents=["/robot/**", *more], name=name, eye_controls=camera(reach), line_grid=True
    )


def beside_legend(span: Span) -> Any:
    """The time axis of a recording that lasts over `span`: it begins beside the legend; None of a live view."""
    import rerun.blueprint as rrb

    if span is None:
        return None
    at, left = rrb.TimeRangeBoundary.absolute, span[0] - round(LEGEND * (span[1] - span[0]))
    return rrb.TimeAxis(view_range=rrb.TimeRange(at(nanos=left), at(nanos=span[1])))


def curves(plot: str, title: str, span: Span = None) -> Any:
    """A plot over time with its legend on the left."""
    import rerun.blueprint as rrb

    legend = rrb.PlotLegend(corner=rrb.Corner2D.LeftTop)
    return rrb.TimeSeriesView(origin=f"plot/{plot}", name=title, plot_legend=legend, axis_x=beside_legend(span))


def force_views(name: str, reach: float, span: Span = None) -> Any:
    """Left the robot with its force; right state, force, contact and other events; below, in tabs, the joints."""
    import rerun.blueprint as rrb

    joints = [curves(plot, f"{plot.replace('_', ' ')} [{unit}]", span) for plot, (_, unit) in JOINT_PLOTS.items()]
    right = rrb.Vertical(
        rrb.TextDocumentView(origin="state", name="State"),
        curves("force", "contact force [N]", span),
        rrb.StateTimelineView(origin="event", name="events", time_view=beside_legend(span)),
        rrb.Tabs(*joints, active_tab=0),
        row_shares=[3, 4, 2, 4],
    )
    robot = robot_view(name, reach, ["/force/**"])
    return rrb.Blueprint(rrb.Horizontal(robot, right, column_shares=[5, 6]), collapse_panels=True)


def motion_views(name: str, reach: float, span: Span) -> Any:
    """A designed motion: the arm among its boxes; positions, velocities and accelerations with their limits."""
    import rerun.blueprint as rrb

    plots = (("q", "position [rad]"), ("qd", "velocity [rad/s]"), ("qdd", "acceleration [rad/s2]"))
    right = rrb.Vertical(*(curves(plot, f"{title}, thin: limits", span) for plot, title in plots))
    robot = robot_view(name, reach, ["/space/**"])
    return rrb.Blueprint(rrb.Horizontal(robot, right, column_shares=[5, 6]), collapse_panels=True)
