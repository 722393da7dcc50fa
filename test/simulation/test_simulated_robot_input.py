"""Parameters and commands of the simulated robot: what is refused, and with which message."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.plant.build import load_plant, without
from robot_dynamics_ros.simulation.plant.plant_file import load_plant_file
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.simulation.server.launcher import controller_of, settings_of
from robot_dynamics_ros.trajectories import motions

Q = np.array([0.3, -1.2, 1.5, -1.9, -1.57, 0.4])


def test_errors_name_what_is_wrong():
    with pytest.raises(ConfigError, match="no such robot"):
        SimulatedRobot("ur7")
    with pytest.raises(ConfigError, match="nonsense"):
        without("noise", "nonsense")
    with pytest.raises(ConfigError, match="does not fit"):
        load_plant("ur5e", {"friction.coulomb": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"q_d has shape \(10, 5\)"):
        SimulatedRobot("ur5e").run(*[np.zeros((10, 5))] * 3)
    with pytest.raises(ConfigError, match="ur5e: rate: 0 Hz is outside"):
        SimulatedRobot("ur5e", rate=0)
    with pytest.raises(ConfigError, match="ur5e: sensing.sample_rate: 5 Hz is outside"):  # of slow servos
        SimulatedRobot(load_robot("ur5e").with_updates({"sensing.sample_rate": 5.0}))
    with pytest.raises(ValueError, match="normal"):
        SimulatedRobot("ur5e").set_wall([0, 0, 0], [0, 0, 0])


@pytest.mark.parametrize(
    ("name", "setting", "message"),
    [
        ("ur5e", "seed=-1", "seed: '-1' must be >= 0"),
        ("comau_ns16", "rate=1e9", "rate: '1e9' must be <= 10000"),
        ("comau_ns16", "udp_port=70000", "udp_port: '70000' must be <= 65535"),
        ("ur5e", "truth_period=0", "truth_period: '0' must be >= 1"),
        ("ur5e", "speed=nan", "speed: 'nan' must be a finite number"),
        ("ur5e", "seed=five", "seed: 'five' must be a whole number"),
        ("fr3", "rtde_port=0", "rtde_port: unknown key"),
    ],
)
def test_a_controller_refuses_settings_out_of_range_before_it_starts(name, setting, message):
    with pytest.raises(ConfigError, match=message):
        settings_of(controller_of(robot := load_robot(name)), robot, name, [setting])


BAD = {"transmission.stiffness": ("stiffness: 1.0e4", "stiffness: -1.0"), "no such type 'b'": ("[a]", "[b]")}
BAD |= {"friction.coulomb": ("coulomb: 6.0", "coulomb: .nan"), "unknown key": ("schema: 1", "schema: 1\nspeed: 3")}


@pytest.mark.parametrize(("expected", "edit"), BAD.items())
def test_bad_plant_files_are_refused_with_the_field(tmp_path, edit, expected):
    import yaml

    whole = load_plant_file("ur5e")
    joint = whole.types["size3"].model_dump(mode="json")
    for block in joint.values():
        block["source"] = "here"
    joint["transmission"]["stiffness"], joint["friction"]["coulomb"] = "STIFF", "FC"
    raw = {"schema": 1, "robot": "ur5e", "sources": {"here": "a test"}, "types": {"a": joint}, "joints": ["a"]}
    text = yaml.safe_dump(raw, default_flow_style=None, sort_keys=False)
    text = text.replace("STIFF", "1.0e4").replace("coulomb: FC", "coulomb: 6.0")
    path = tmp_path / "plant.yaml"
    path.write_text(text)
    assert load_plant_file(path).joints == ("a",)
    path.write_text(text.replace(*edit))
    with pytest.raises(ConfigError, match=expected):
        load_plant_file(path)


def test_overrides_of_blocks_are_checked_too():
    with pytest.raises(ConfigError, match="inner_rate"):
        load_plant("ur5e", {"integration.inner_rate": 1.0})
    with pytest.raises(ConfigError, match="unknown key"):
        load_plant("ur5e", {"deviation.colour": 1.0})


@pytest.mark.parametrize(
    "call, name",
    [
        (lambda r: r.set_wrench([0, 0, np.nan, 0, 0, 0]), "wrench"),
        (lambda r: r.set_ambient(np.inf), "ambient"),
        (lambda r: r.set_temperatures(np.nan), "lubricant"),
        (lambda r: r.reset([0, 0, np.nan, 0, 0, 0]), "q"),
        (lambda r: r.set_payload(-1.0), "mass"),
        (lambda r: r.set_payload(np.nan), "mass"),
        (lambda r: r.set_wall([0, 0, 0], [0, 0, 1], stiffness=np.nan), "stiffness"),
        (lambda r: r.run(*motions.hold(Q, 0.1), wrench=np.full((50, 6), np.nan)), "wrench"),
    ],
)
def test_numbers_that_are_none_are_refused_by_name_and_leave_the_robot_as_it_is(call, name):
    robot = SimulatedRobot("ur5e", q=Q)
    before = robot.truth()
    with pytest.raises(ValueError, match=rf"^{name}"):
        call(robot)
    assert all(np.array_equal(before[k], v) for k, v in robot.truth().items())


def test_random_commands_walls_and_payloads_never_leave_the_finite_numbers():
    rng = np.random.default_rng(11)
    for name in ("ur5e", "fr3"):
        robot = SimulatedRobot(name)
        n, limit = robot.n_joints, robot.machine.true["drive.torque_limit"]
        for trial in range(6):
            robot.reset(rng.uniform(-2, 2, n))
            stiffness, damping = 10 ** rng.uniform(3, 7), 10 ** rng.uniform(0, 4)
            place = robot.truth()["tcp_position"] + rng.normal(0, 0.01, 3)
            robot.set_wall(place, rng.normal(size=3), stiffness, damping, rng.uniform(0, 1))
            robot.set_payload(rng.uniform(0, 3), rng.normal(0, 0.05, 3), configured=False)
            torque, wrench = rng.uniform(-0.3, 0.3, (200, n)) * limit, rng.normal(0, 20, (200, 6))
            for k in range(200):
                robot.set_wrench(wrench[k])
                robot.step_torque(torque[k])
                truth = robot.truth()
                assert all(np.isfinite(v).all() for v in truth.values()), (name, trial)
                assert np.abs(truth["qd"]).max() < 100.0, (name, trial)


COPIED = [(np.zeros((6, 3)).T, ValueError), (np.broadcast_to(0.0, (3, 6)), ValueError)]


@pytest.mark.parametrize(("wrong", "error"), [(np.zeros((3, 6), np.float32), TypeError), *COPIED])
def test_output_arrays_that_would_lose_the_result_are_refused(wrong, error):
    zero = np.zeros((3, 6))
    with pytest.raises(error, match="^out\\['q'\\]"):
        load_plant("ur5e").core.run(zero, zero, zero, 0.002, {"q": wrong})
