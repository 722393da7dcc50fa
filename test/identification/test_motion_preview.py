"""The preview of a designed motion: its limits, the path of the TCP and the arm are where they belong."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from synthetic import UR5E

from robot_dynamics_ros import plots
from robot_dynamics_ros.identification.excitation.limits import Box, Limits
from robot_dynamics_ros.identification.reports import motion_preview as module
from robot_dynamics_ros.models import RobotModel

MODEL = RobotModel(UR5E.kinematic_chain(), UR5E.joint_names)


def motion():
    t = np.linspace(0.0, 4.0, 900)
    q = np.linspace(0.1, 0.6, 6) * np.sin(t)[:, None]
    return SimpleNamespace(time=t, q=q, qd=np.gradient(q, t, axis=0), qdd=np.zeros_like(q))


def test_origins_run_from_the_base_to_the_tcp():
    designed = motion()
    origins = module.link_origins(MODEL, designed.q)
    assert len(origins) == module.PATH_POINTS and not origins[:, 0].any()
    np.testing.assert_allclose(origins[-1, -1], MODEL.fk(designed.q[-1])[-1][:3, 3])


def test_the_picture_shows_limits_floor_boxes_path_and_arm(monkeypatch):
    kept = []
    monkeypatch.setattr(module, "png_bytes", lambda drawing: kept.append(drawing) or plots.png_bytes(drawing))
    designed, limits = motion(), Limits.of(UR5E, floor=0.05, outside=(Box((0.5, 0.5, 0.0), (1.0, 1.0, 1.0)),))
    assert module.motion_preview(designed, UR5E, limits).startswith(b"\x89PNG")
    position, velocity, acceleration, top, side = kept[0].axes

    def dashed(axis):
        return {round(float(line.get_ydata()[0]), 6) for line in axis.lines if line.get_linestyle() == "--"}

    assert dashed(acceleration) == {4.0, -4.0}
    assert dashed(position) == {round(float(x), 6) for x in (*limits.lower, *limits.upper)}
    assert dashed(velocity) == {round(float(s * x), 6) for x in limits.velocity for s in (1, -1)}
    assert dashed(side) == {0.05} and not dashed(top)
    path = next(line for line in top.lines if line.get_label() == "TCP")
    tcp = module.link_origins(MODEL, designed.q)[:, -1]
    np.testing.assert_allclose(np.c_[path.get_xdata(), path.get_ydata()], tcp[:, :2])
    assert sum(line.get_linestyle() == ":" for line in side.lines) == 4


def test_a_fast_part_of_a_slow_motion_is_drawn_as_the_arc_that_it_is():
    q = np.zeros((100_000, 6))
    q[-500:, 0] = np.linspace(0.0, 2.0, 500)
    tcp = module.link_origins(MODEL, q)[:, -1]
    assert np.linalg.norm(np.diff(tcp, axis=0), axis=1).max() < 0.02
