"""Accuracy on public logs, raw measured effort, fitted on one run and judged on the other.

`python test/identification/test_real_accuracy.py` prints the figures by cause (docs/identification.md).
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from robot_dynamics_ros.estimators.motion import MotionStage, effort_inertia
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.identify import identify
from robot_dynamics_ros.identification.arm.presliding import clock
from robot_dynamics_ros.identification.arm.residuals import for_repaired, replayed
from robot_dynamics_ros.identification.arm.written_file import file_effort, live_torques
from robot_dynamics_ros.identification.metrics import metrics
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

# RMSE per joint of viscous + Coulomb tanh(v / 0.02) + offset + rotor inertia, the same split: the peers' best
TANH = {
    ("id1", "id2"): [1.720, 1.824, 1.139, 0.409, 0.457, 0.622],
    ("id2", "id1"): [1.242, 1.659, 1.083, 0.401, 0.410, 0.418],
}


def written(found, motion):
    """Figures of the written file on a motion."""
    predict = file_effort(identified_robot(found), found.rigid.gravity, found.structure.filters)
    return metrics(motion.effort, predict(motion))


def by_cause(found):
    """Mean R2 of the live nodes on a validation recording of one piece, and what each of their differences from the
    report costs; but for the first three rows on the samples that the filters' edges leave.
    """
    robot, motion = for_repaired(identified_robot(found)), found.filtered(found.validation[0])
    y, p = live_torques(robot, found.validation[0])
    rows = {"live nodes, all samples": r2(y, p), "without the last 10 samples": r2(y[:-10], p[:-10])}
    every = found.judged(found.validation[0])
    rows["report, all samples"] = written(found, every)["r2"].mean()
    (piece,) = found.validation[0].pieces
    logs = list(replayed(robot, piece, ["motion", "friction"]))
    seen = np.isin(np.concatenate([log.stamp_ns for log in logs]), np.round(1e9 * (motion.t - piece.t[0])).astype(int))
    names = ("q", "qd", "qdd", "friction_torque", "model_torque")
    q, qd, qdd, friction, load = (np.concatenate([getattr(log, k) for log in logs])[seen] for k in names)
    model = RobotModel(robot.chain(), robot.joint_names).with_gravity(found.rigid.gravity)
    smooth = model.rnea(q, qd, np.ascontiguousarray(motion.qdd)) + effort_inertia(robot) * motion.qdd
    stage = MotionStage()
    stage.configure(robot)
    late = Log(robot.joint_names, clock(motion.start, motion.rate), {"q": motion.q, "qd": motion.qd})
    stage.run(late)
    behind = model.rnea(q, qd, late.qdd) + effort_inertia(robot) * late.qdd
    unfiltered = file_effort(robot, found.rigid.gravity, ())(motion)
    rows["live nodes, without the edges"] = r2(motion.effort, load + friction)
    rows["with the report's velocity differentiated live"] = r2(motion.effort, behind + friction)  # latency, no noise
    rows["with the acceleration of the report"] = r2(motion.effort, smooth + friction)
    rows["report without the filter of the recorded effort"] = r2(motion.effort, unfiltered)
    rows["report, without the edges"] = written(found, motion)["r2"].mean()
    return rows


def r2(y, p):
    return float(metrics(y, p)["r2"].mean())


@pytest.mark.parametrize(
    ("fitted", "judged", "floor"), [("id1", "id2", 0.975), pytest.param("id2", "id1", 0.978, marks=pytest.mark.long)]
)
def test_ur3_predicts_the_other_trajectory(real_data, fitted, judged, floor):
    folder = real_data / "ur3"
    found = identify(load_robot("ur3"), [folder / f"{fitted}.bag"], [folder / f"{judged}.bag"])
    motion = found.filtered(found.validation[0])
    consistent = metrics(motion.effort, found.consistent.predict(motion))
    free = metrics(motion.effort, found.fit.predict(motion))
    assert written(found, motion)["r2"].mean() >= floor
    every = found.judged(found.validation[0])
    assert written(found, every)["r2"].mean() >= floor - (0.01 if judged == "id2" else 0.0)  # it ends in a stop
    assert np.all(consistent["rmse"] <= 1.02 * np.array(TANH[fitted, judged]))
    assert consistent["r2"].mean() > free["r2"].mean() - 0.005
    rows = by_cause(found)  # what live nodes lose is the noise of their acceleration, and the stop
    assert rows["with the acceleration of the report"] > rows["report, without the edges"] - 0.001
    assert rows["live nodes, without the edges"] > rows["without the last 10 samples"] - 0.001
    assert rows["live nodes, without the edges"] > rows["report, without the edges"] - 0.003


@pytest.mark.long
def test_ur10_predicts_the_last_30_percent(real_data):
    found = identify(load_robot("ur10"), [real_data / "ur10" / "ur10_exciting_trajectory.db3"])
    assert written(found, found.judged(found.validation[0]))["r2"].mean() >= 0.994
    assert "first 70%" in found.split
    rows = by_cause(found)  # what live nodes lose is the filter that the recorded effort has passed
    assert rows["live nodes, without the edges"] > rows["report without the filter of the recorded effort"] - 0.001


if __name__ == "__main__":
    data = Path(os.environ["ROBOT_DYNAMICS_DATA"])
    first, second, ten = (data / x for x in ("ur3/id1.bag", "ur3/id2.bag", "ur10/ur10_exciting_trajectory.db3"))
    for robot, fitted, judged in (("ur3", first, [second]), ("ur3", second, [first]), ("ur10", ten, [])):
        found = identify(load_robot(robot), [fitted], judged)
        print(robot, fitted.name, "live acceleration [rad/s]:", found.acceleration_cutoff)
        for name, value in by_cause(found).items():
            print(f"  {name:50s} {value:.4f}")
