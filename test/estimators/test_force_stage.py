"""The force stage over whole motions: recovery of wrenches, contact decisions, tare, payload, sensor faults."""

import numpy as np
import pytest
from chains import random_chain
from force_bench import POSE, UR5E, estimated, measured, model, moving, still, through

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.estimators.external_force import ForceStage
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.robot_file import RobotFile, load_robot, shipped_robots
from robot_dynamics_ros.signals import Log, Sample

WRENCH = np.array([12.0, -25.0, -60.0, 1.0, 2.0, -0.5])  # environment on robot
WIDE = {"expected_force": 1e6, "expected_moment": 1e6}  # nothing is expected: no shrinkage


@pytest.mark.parametrize("method", ["momentum", "simoni"])
def test_constant_wrench_at_standstill_is_recovered_with_its_sign(method):
    log = measured(still(seconds=12), WRENCH)
    estimated(log, method=method, **WIDE)
    np.testing.assert_allclose(log.external_wrench[-1], WRENCH, atol=1e-3)
    np.testing.assert_allclose(log.external_joint_torque[-1], model().jacobian(POSE).T @ WRENCH, atol=1e-3)


FORCE_ONLY = WRENCH * [1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(("wrench", "prior"), [(WRENCH, WIDE), (FORCE_ONLY, {})], ids=["wide", "default"])
def test_wrench_is_recovered_in_motion_within_its_band(wrench, prior):
    log = measured(moving(seconds=6), wrench, noise=0.2)
    _, status = estimated(log, **prior)
    late = log.time > 0.5
    error = log.external_wrench - wrench
    assert np.sqrt((error[late, :3] ** 2).mean(axis=0)).max() < 2.5
    inside = np.abs(error[late]) < 3 * log.external_wrench_std[late]
    assert inside.mean() > 0.99 and (status[late] == int(Status.ok)).all()


def test_friction_has_an_effect():
    log, without = measured(moving()), measured(moving(), friction=False)
    estimated(log), estimated(without)
    assert np.abs(log.external_joint_torque[500:]).mean() < 0.1 * np.abs(without.external_joint_torque[500:]).mean()


def test_band_is_wide_at_rest_and_narrow_in_motion():
    """Stiction: at rest the motor may hold anything within +-fc."""
    rest, slide = measured(still()), measured(moving())
    estimated(rest), estimated(slide)
    fc = UR5E.array("friction.parameters.fc")
    assert (rest.external_joint_torque_std[-1] > 0.57 * fc).all()
    assert (slide.external_joint_torque_std[200:].min(axis=0) < 0.9 * rest.external_joint_torque_std[-1]).all()


def push(seconds=6.0, start=2.0, stop=4.0, wrench=WRENCH, rate=500):
    t = np.arange(int(seconds * rate)) / rate
    return np.where((t >= start) & (t < stop), 1.0, 0.0)[:, None] * wrench


def test_contact_begins_and_ends_with_the_push():
    log = measured(moving(seconds=6), push(wrench=2 * WRENCH), noise=0.1)
    estimated(log)
    t, tcp = log.time, log.contact[:, -1]
    assert not tcp[t < 2].any() and not tcp[t > 4.4].any()
    assert tcp[(t > 2.3) & (t < 4)].all()
    assert log.contact[(t > 2.3) & (t < 4), 1].all()  # the shoulder feels it too


def test_free_motion_with_noise_is_no_contact():
    log = measured(moving(seconds=10), noise=0.5)
    estimated(log)
    assert not log.contact.any() and not log.payload_or_bias.any()


def test_contact_threshold_follows_the_uncertainty():
    """The same small push is seen when friction is known well, not when it is not."""
    small = push(wrench=np.array([0.0, 0.0, 25.0, 0, 0, 0]))
    seen = []
    for relative in (0.02, 0.5):
        log = measured(moving(seconds=6), small)
        Pipeline(UR5E, {"friction": {"relative_error": relative}, "force": {"model_error": relative / 3}}).run(log)
        seen.append(log.contact[(log.time > 2.5) & (log.time < 4), -1].mean())
    assert seen[0] > 0.8 and seen[1] < 0.2


# ---- tare


def stepped(pipeline, log):
    sample, last = Sample(log.joint_names), Status.ok
    for row in range(len(log)):
        log.read(row, sample)
        last = pipeline.step(sample)
    return sample, last


def test_tare_removes_a_sensor_bias():
    log = measured(still(seconds=3))
    log.effort = log.effort + np.array([4.0, -3.0, 2.0, 0.5, 0.5, -0.5])
    pipeline = Pipeline(UR5E)
    before, _ = stepped(pipeline, log)
    done, text = pipeline.stage("force").tare()
    assert done and "bias" in text and np.abs(before.external_wrench).max() > 3
    log.stamp_ns = log.stamp_ns + 3_000_000_000
    after, _ = stepped(pipeline, log)
    assert np.abs(after.external_joint_torque).max() < 0.01 and np.abs(after.external_wrench).max() < 0.05
    pipeline.stage("force").clear_tare()
    log.stamp_ns = log.stamp_ns + 3_000_000_000
    np.testing.assert_allclose(stepped(pipeline, log)[0].external_wrench, before.external_wrench, atol=0.1)


def swing(seconds=4):
    return 60 * np.cos(np.arange(seconds * 500) / 80.0)[:, None] * np.array([0, 0, 1.0, 0, 0, 0])


@pytest.mark.parametrize(
    ("log", "why"),
    [
        (measured(still(seconds=1)), "not enough"),
        (measured(moving(seconds=6), push(start=2, stop=9, wrench=2 * WRENCH)), "contact"),
        (measured(still(seconds=4), swing()), "changing"),
        (measured(still(seconds=4), np.array([0, 0, 300.0, 0, 0, 0])), "too large"),
    ],
    ids=["early", "contact", "unsteady", "large"],
)
def test_tare_is_refused_when_it_would_hide_something(log, why):
    pipeline = Pipeline(UR5E)
    pipeline.run(log)
    done, text = pipeline.stage("force").tare()
    assert not done and why in text
    assert not pipeline.stage("force").core.bias.any()


# ---- fault 18: wrong payload is not contact

ORIENTATIONS = [POSE, POSE + [0, 0, 0, 0.9, 0, 0], POSE + [0, 0, 0, 0, 0.9, 0], POSE + [0.5, 0.2, -0.3, -0.8, 0, 1.0]]


@pytest.mark.parametrize("mass", [3.0, -3.0])
def test_wrong_payload_is_flagged_as_payload_not_contact(mass):
    actual, believed = (4.0, 4.0 - mass)
    com, inertia = (0.0, 0.0, 0.05), (0.0,) * 6
    log = measured(through(ORIENTATIONS), payload=(actual, com, inertia))
    robot = UR5E.with_updates({"payload.mass": believed, "payload.com": list(com)}, {"test": "test"})
    pipeline = Pipeline(robot)
    pipeline.run(log)
    force = pipeline.stage("force")
    last = log.time > log.time[-1] - 1.0
    assert log.payload_or_bias[last].all() and not log.contact[last].any()
    assert force.core.payload_error[0] == pytest.approx(mass, abs=0.15)
    assert f"{mass:+.1f}"[:4] in force.payload_message()


def test_contact_on_top_of_a_wrong_payload_is_still_contact():
    motion = through([*ORIENTATIONS, ORIENTATIONS[0]], rest=1.5)
    t = np.arange(len(motion[0])) / 500
    extra = np.where(t > t[-1] - 0.5, 1.0, 0.0)[:, None] * np.array([0, -120.0, 0, 0, 0, 0])
    log = measured(motion, extra, payload=(3.0, (0, 0, 0.05), (0,) * 6))
    estimated(log)
    assert not log.contact[(t > t[-1] - 1.4) & (t < t[-1] - 0.5)].any()
    assert log.payload_or_bias[-1] and log.contact[t > t[-1] - 0.2, -1].all()


def test_sensor_bias_is_flagged_as_bias():
    log = measured(through(ORIENTATIONS))
    log.effort = log.effort + np.array([30.0, -35.0, 30.0, 9.0, 9.0, -9.0])
    pipeline, _ = estimated(log)
    assert log.payload_or_bias[-1] and "bias" in pipeline.stage("force").payload_message()


def test_a_push_that_does_not_hang_is_never_called_payload():
    motion = through([pose + [1.5 * k, 0.2 * k, 0, 0, 0, 0] for k, pose in enumerate(ORIENTATIONS)])
    sideways = np.tile([60.0, 40.0, 0, 0, 0, 0], (len(motion[0]), 1))
    log = measured(motion, sideways)
    pipeline, _ = estimated(log)
    assert pipeline.stage("force").payload_message() == ""
    assert not log.payload_or_bias.any() and log.contact[-1, -1]


# ---- fault 16: torque signal stuck, garbage


def test_stuck_torque_isolates_the_joint_and_widens_the_band():
    log, healthy = measured(moving()), measured(moving())
    log.effort[1000:, 1] = log.effort[1000, 1]
    pipeline, status = estimated(log)
    estimated(healthy)
    assert pipeline.stage("force").core.isolated == [False, True, False, False, False, False]
    assert status[-1] == int(Status.degraded)
    assert log.external_joint_torque_std[-1, 1] > 1000 and log.external_joint_torque_std[-1, 0] < 10
    assert (log.external_wrench_std[-1] > healthy.external_wrench_std[-1]).all()
    assert log.external_wrench_std[-1, :3].max() > 1.5 * healthy.external_wrench_std[-1, :3].max()
    assert (np.abs(log.external_wrench[1600:]) < 3 * log.external_wrench_std[1600:]).all()
    assert not log.contact[1600:, -1].any()


def test_garbage_torque_of_one_joint_does_not_reach_the_others():
    log, healthy = measured(moving()), measured(moving())
    log.effort[1000:1200, 4] = 5e4
    _, status = estimated(log)
    estimated(healthy)
    assert (status[1000:1200] == int(Status.degraded)).all() and status[-1] == int(Status.ok)
    others = [0, 1, 2, 3, 5]
    np.testing.assert_array_equal(log.external_joint_torque[:, others], healthy.external_joint_torque[:, others])
    assert np.abs(log.external_joint_torque[:, 4] - healthy.external_joint_torque[:, 4]).max() < 3


# ---- fault 19


def test_singular_pose_is_finite_wide_and_flagged():
    pose = POSE.copy()
    pose[4] = 0.0
    log = measured(still(pose), WRENCH)
    _, status = estimated(log)
    assert np.isfinite(log.external_wrench).all() and status[-1] == int(Status.degraded)
    assert (np.abs(log.external_wrench[-1] - WRENCH) < 3 * log.external_wrench_std[-1]).all()
    assert log.singular_value[-1, 0] < 1e-6 and log.external_wrench_std[-1, 3:].max() > 1.9  # of the expected 2 Nm


def test_reset_forgets_and_configure_rejects_bad_parameters_whole():
    stage = ForceStage()
    stage.configure(UR5E)
    core = stage.core
    for bad in ({"bandwidth": float("nan")}, {"contact_on_ratio": 1.0, "contact_off_ratio": 2.0}, {"nonsense": 1}):
        with pytest.raises(Exception, match="bandwidth|ratio|nonsense"):
            stage.configure(UR5E, bad)
        assert stage.core is core


@pytest.mark.parametrize("n", range(1, 17))
def test_one_to_sixteen_joints(n):
    """External torque of a static push is recovered on any chain; with fewer than six joints the wrench says so."""
    chain = random_chain(n, n)
    core = _core.Chain(chain.placements, chain.parameters(), chain.tool, chain.gravity)
    force = _core.ExternalForce(core, torque_std=np.full(n, 0.1), model_error=0.0, force_cutoff=np.inf)
    q, zero = np.linspace(-1, 1, n), np.zeros(n)
    J, push = chain.model().jacobian(q), np.array([30.0, -20, 10, 0, 0, 0])
    g = chain.model().gravity(q)
    out = [np.zeros(k) for k in (n, n, 6, 6, 1, n + 1, 1, n, 6, 6)]
    for k in range(1000):
        status = force.step(k * 2_000_000, q, zero, g, g - J.T @ push, zero, zero, zero, *out)
    np.testing.assert_allclose(out[0], J.T @ push, atol=1e-3 * np.abs(J).max() * 30)
    assert np.isfinite(np.concatenate(out)).all()
    if n < 6:
        assert status == Status.degraded and out[3][3:].max() > 1.0  # of the expected 2 Nm
    else:
        assert out[4] > 0 and (np.abs(out[2] - push) < 4 * out[3] + 0.1).all()


LEG = """<robot name="leg"><link name="hip"/>
<link name="thigh"><inertial><mass value="3"/><origin xyz="0.2 0 0"/>
 <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.03"/></inertial></link>
<link name="shank"><inertial><mass value="2"/><origin xyz="0.2 0 0"/>
 <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link><link name="foot"/>
<joint name="hip_joint" type="continuous"><parent link="hip"/><child link="thigh"/><axis xyz="0 1 0"/></joint>
<joint name="knee_joint" type="continuous"><parent link="thigh"/><child link="shank"/><origin xyz="0.4 0 0"/>
 <axis xyz="0 1 0"/></joint>
<joint name="ankle" type="fixed"><parent link="shank"/><child link="foot"/><origin xyz="0.4 0 0"/></joint></robot>"""


def test_a_two_joint_leg_estimates_a_force_without_moments_by_itself(tmp_path):
    """F = J^-T tau in the plane of the leg, as its two joints show it; the rest has the deviation of the prior."""
    pytest.importorskip("pinocchio")
    from robot_dynamics_ros.models.urdf_import import robot_from_urdf

    (tmp_path / "leg.urdf").write_text(LEG)
    robot = robot_from_urdf(tmp_path / "leg.urdf", torque_side="motor", effort_unit="Nm", tip="foot")
    rigid, n = RobotModel(robot.chain(), robot.joint_names), 2000
    q, push = np.tile([0.7, -1.1], (n, 1)), np.array([30.0, 0, -50.0])
    J = rigid.jacobian(q[0])[:3]
    effort = rigid.gravity(q) - J.T @ push
    log = Log(robot.joint_names, np.arange(n) * 2_000_000, {"q": q, "qd": 0 * q, "effort": effort})
    given = {"force": {"torque_std": 0.001, "unknown_friction": 0.001, "model_error": 1e-6}}
    status = Pipeline(robot, given).run(log)
    plane = np.linalg.solve(J[[0, 2]].T, log.external_joint_torque[-1])
    np.testing.assert_allclose(log.external_wrench[-1, [0, 2]], plane, atol=0.05)
    np.testing.assert_allclose(plane, push[[0, 2]], atol=0.05)
    assert not log.external_wrench[-1, 3:].any() and not log.external_wrench_std[-1, 3:].any()
    assert log.external_wrench_std[-1, 1] == pytest.approx(200.0) and status[-1] == int(Status.degraded)  # no friction


@pytest.mark.parametrize("name", [n for n in shipped_robots() if load_robot(n).links is not None])
def test_every_shipped_robot_feels_a_push_at_rest(name):
    robot = load_robot(name)
    rigid = RobotModel(robot.chain(), robot.joint_names)
    rng, best = np.random.default_rng(0), (0.0, None)
    for q in rng.uniform(-2, 2, (50, robot.n_joints)):
        best = max(best, (np.linalg.svd(rigid.jacobian(q), compute_uv=False)[-1], tuple(q)))
    q = np.tile(best[1], (2000, 1))
    push = np.array([10.0, -20, 40, 0.5, 0, 0])
    friction = 0.0 if robot.friction is None else FrictionModel.from_robot(robot).torque(0 * q, 0 * q)
    effort = robot.drives.effort.sign * (rigid.gravity(q) - rigid.jacobian(q[0]).T @ push + friction)
    log = Log(robot.joint_names, np.arange(2000) * 2_000_000, {"q": q, "qd": 0 * q, "effort": effort})
    pipeline = Pipeline(robot, {"force": WIDE})
    pipeline.run(log)
    np.testing.assert_allclose(log.external_wrench[-1], push, atol=0.05)
    if robot.drives.torque_side == "link":
        assert not any("friction" in note for note in pipeline.notes)


def link_torque_robot() -> RobotFile:
    """An FR3 whose torque sensors see the friction of its output bearings."""
    span, level, zero = [1e-4], [0.6], [0.0] * 7
    names = ("load_limit", "fv1", "fv2", "fv0", "fo")
    hysteresis = {
        "source": "test",
        "model": "presliding",
        "parameters": {"span": [span] * 7, "level": [level] * 7, "load": [[0.0]] * 7}
        | dict.fromkeys(names, zero)
        | {"load_power": [1.0] * 7, "sliding_ratio": [1.0] * 7, "stribeck_velocity": [0.1] * 7, "v0": [0.3] * 7},
    }
    friction = {"source": "test", "model": "viscous_coulomb", "parameters": {"fc": [0.6] * 7, "fv": zero}}
    updates = {"friction": friction, "hysteresis": hysteresis}
    return load_robot("fr3").with_updates(updates, {"test": "bearings of 0.6 Nm"})


def test_friction_that_a_torque_sensor_sees_is_taken_off():
    robot, t = link_torque_robot(), np.arange(4000) * 1e-3
    rigid = RobotModel(robot.chain(), robot.joint_names)
    start = np.array([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8])
    q = start + 0.2 * np.sin(2.0 * t)[:, None]
    qd, qdd = 0.4 * np.cos(2.0 * t)[:, None] * np.ones(7), -0.8 * np.sin(2.0 * t)[:, None] * np.ones(7)
    bearing, seen = np.zeros(7), []
    for step in np.diff(q, axis=0, prepend=q[:1]):
        bearing = np.clip(bearing + 0.6 / 1e-4 * step, -0.6, 0.6)
        seen.append(bearing)
    effort = rigid.rnea(q, qd, qdd) + np.array(seen)
    theta = q + 0.05  # friction behind the gear moves with the link, whatever the rotor does
    theta[2000:] -= 0.01
    log = Log(robot.joint_names, np.arange(4000) * 1_000_000, {"q": q, "qd": qd, "effort": effort, "theta": theta})
    Pipeline(robot).run(log)
    late = log.time > 1.0
    assert np.abs(log.external_joint_torque[late]).max() < 0.05
    other = Log(robot.joint_names, log.stamp_ns, {"q": q, "qd": qd, "effort": effort})
    Pipeline(robot, {"force": {"subtract_friction": False}}).run(other)
    assert np.abs(other.external_joint_torque[late]).max() > 0.5


def test_friction_before_a_torque_sensor_is_not_taken_off():
    changes = {"sensing.motor_torque": True, "drives.torque_side": "link", "sensing.joint_torque_sensor": True}
    robot = load_robot("fr3").with_updates(changes)
    q = np.tile([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8], (1000, 1))
    gravity = RobotModel(robot.chain(), robot.joint_names).gravity(q)
    rotor = {"theta": q, "omega": 0 * q, "motor_torque": gravity + 5.0}
    log = Log(robot.joint_names, np.arange(1000) * 1_000_000, {"q": q, "qd": 0 * q, "effort": gravity, **rotor})
    Pipeline(robot, {"friction": {"model": "observer"}}).run(log)
    np.testing.assert_allclose(log.friction_torque[-1], 5.0, atol=0.01)
    np.testing.assert_allclose(log.external_joint_torque, 0.0, atol=1e-9)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_an_arm_with_good_torque_sensors_flags_5_newton(axis):
    noise = np.array([0.05] * 4 + [0.015] * 3)  # Nm
    residuals = {"source": "test", "moving": 3 * noise, "rest": 3 * noise, "significance": 4.0}
    robot = load_robot("fr3").with_updates({"residuals": residuals}, {"test": "a recording"})
    rigid, t = RobotModel(robot.chain(), robot.joint_names), np.arange(3000) * 1e-3
    q = np.tile([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8], (3000, 1))
    push = np.zeros((3000, 6))
    push[:, axis] = np.where(t > 2.0, 5.0, 0.0)
    effort = rigid.gravity(q) - push @ rigid.jacobian(q[0]) + noise * np.random.default_rng(7).normal(size=q.shape)
    log = Log(robot.joint_names, np.arange(3000) * 1_000_000, {"q": q, "qd": 0 * q, "effort": effort})
    Pipeline(robot).run(log)
    flagged = log.contact[:, -1] > 0.5
    assert not flagged[t < 2.0].any() and flagged[t > 2.1].all()


@pytest.mark.parametrize(("noise", "flagged"), [(0.0, False), (0.0005, True)])
def test_the_least_contact_of_an_arm_without_residuals_is_in_proportion_to_its_noise(noise, flagged):
    """4 N lie below the 5 N of an unknown arm; torque_std says that this one sees a twentieth of the usual noise."""
    robot = load_robot("fr3").with_updates({"friction": None})
    rigid, t = RobotModel(robot.chain(), robot.joint_names), np.arange(3000) * 1e-3
    q = np.tile([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8], (3000, 1))
    push = np.where(t > 2.0, 4.0, 0.0)[:, None] * np.eye(6)[2]
    effort = rigid.gravity(q) - push @ rigid.jacobian(q[0])
    log = Log(robot.joint_names, np.arange(3000) * 1_000_000, {"q": q, "qd": 0 * q, "effort": effort})
    Pipeline(robot, {"force": {"torque_std": noise, "model_error": 1e-6}}).run(log)
    contact = log.contact[:, -1] > 0.5
    assert not contact[t < 2.0].any() and contact[t > 2.2].all() == flagged and contact[t > 2.2].any() == flagged
