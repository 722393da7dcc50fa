"""Contact force of a servo arm that reports positions and currents only, as SO-101 or Dynamixel arms: simulated.

    python examples/servo_arm.py [RATE]          # Hz at which the bus is read, default 100

A recording of a minute identifies the arm, a second one judges it: in free motion, at rest and with pushes of 3 N. The
arm is no vendor's: five joints, 0.36 m, 0.6 kg. What a servo does to a measurement is in SERVO; the numbers are assumed
but for the steps of position (4096 per turn) and current (2.7 mA, Dynamixel XM).
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from robot_dynamics_ros import LiveForce, Log, identify, load_robot, write_bag
from robot_dynamics_ros.identification.arm.export import write_outputs
from robot_dynamics_ros.identification.arm.identify import Options
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions

ARM = """
schema: 1
name: servo_arm
manufacturer: none
model: five servos on brackets
sources: {example: "dimensions and masses of this example, not of a product"}
kinematics:
  source: example
  convention: placements
  joints:
    - {name: shoulder_pan, xyz: [0.0, 0.0, 0.06], rpy: [0.0, 0.0, 0.0]}
    - {name: shoulder_lift, xyz: [0.03, 0.0, 0.05], rpy: [-1.5707963267948966, 0.0, 0.0]}
    - {name: elbow_flex, xyz: [0.11, 0.0, 0.0], rpy: [0.0, 0.0, 0.0]}
    - {name: wrist_flex, xyz: [0.13, 0.0, 0.0], rpy: [0.0, 0.0, 0.0]}
    - {name: wrist_roll, xyz: [0.06, 0.0, 0.0], rpy: [0.0, 1.5707963267948966, 0.0]}
  tool: {xyz: [0.0, 0.0, 0.06], rpy: [0.0, 0.0, 0.0]}
  gravity: [0.0, 0.0, -9.80665]
  base_frame: base_link
  tip_frame: gripper
links:
  source: example
  values:
    - {mass: 0.12, com: [0.0, 0.0, 0.02], inertia: [4.0e-5, 0.0, 0.0, 4.0e-5, 0.0, 4.0e-5]}
    - {mass: 0.13, com: [0.06, 0.0, 0.0], inertia: [3.0e-5, 0.0, 0.0, 2.0e-4, 0.0, 2.0e-4]}
    - {mass: 0.13, com: [0.07, 0.0, 0.0], inertia: [3.0e-5, 0.0, 0.0, 2.0e-4, 0.0, 2.0e-4]}
    - {mass: 0.1, com: [0.03, 0.0, 0.0], inertia: [3.0e-5, 0.0, 0.0, 5.0e-5, 0.0, 5.0e-5]}
    - {mass: 0.12, com: [0.0, 0.0, 0.03], inertia: [6.0e-5, 0.0, 0.0, 6.0e-5, 0.0, 4.0e-5]}
drives:
  source: example
  torque_side: motor
  effort: {unit: A, includes_gravity: true, sign: 1}
  torque_constant: TORQUE_CONSTANT
  torque_command: {available: false}
limits:
  source: example
  position_lower: -1.9
  position_upper: 1.9
  velocity: 5.0
  torque: 3.0
sensing:
  source: example
  sample_rate: 100.0
  temperature: false
  rotor_encoder: false
  joint_torque_sensor: false
  motor_torque: true
  current: true
"""
CONSTANT = 1.1  # Nm/A at the output, assumed, as are the next: the stall torque of a servo over its stall current
SERVO = {
    "drive.torque_constant": CONSTANT,
    "drive.rotor_inertia": 0.01,  # kg m2, reflected
    "friction.coulomb": 0.06,  # Nm
    "friction.stribeck": 0.09,
    "friction.viscous": 0.05,  # Nm s/rad
    "friction.load": 0.15,
    "friction.load_torque": 0.5,
    "transmission.stiffness": 60.0,  # Nm/rad
    "transmission.backlash": 0.004,  # rad, half width: 0.5 degrees from end to end
    "sensing.link_quantum": 2 * np.pi / 4096,
    "sensing.current_noise": 0.01,  # A
}
STEP = 2.7e-3  # A, of Present_Current
CYCLE = 1000.0  # Hz, of the simulated servos
HOME = (0.0, -0.6, 0.8, 0.4, 0.0)
PUSH = 3.0  # N


def robot_file(directory: Path, constant: float | None):
    """The arm as its owner knows it; the torque constant is a data sheet's stall torque over stall current."""
    path = directory / "servo_arm.yaml"
    path.write_text(ARM.replace("TORQUE_CONSTANT", "null" if constant is None else str(constant)))
    return load_robot(path)


def recording(robot, rate: float, seed: int, pushed: bool = False) -> tuple[Log, np.ndarray]:
    """A minute at `rate` [Hz]: Fourier motion, then moves with stops; and the true wrench (N, 6)."""
    machine, draw = SimulatedRobot(robot, seed=seed, overrides=SERVO, rate=CYCLE), np.random.default_rng(seed)
    machine.set_temperatures(30.0)
    parts = [motions.fourier(HOME, 30.0, CYCLE, amplitude=0.7, velocity=1.5, seed=seed)]
    while sum(len(p[0]) for p in parts) < 60 * CYCLE:
        there = np.array(HOME) + draw.uniform(-0.6, 0.6, 5)
        parts += [motions.quintic(parts[-1][0][-1], there, CYCLE, 1.0, 4.0), motions.hold(there, 2.0, CYCLE)]
    motion = motions.join(*parts)
    wrench = np.zeros((len(motion[0]), 6))
    if pushed:
        t = np.arange(len(wrench)) / CYCLE
        for begin in np.arange(6.0, 58.0, 6.0):
            force = draw.normal(size=3)
            wrench[(t >= begin) & (t < begin + 2.0), :3] = PUSH * force / np.linalg.norm(force)
    machine.reset(motion[0][0])
    log, _ = machine.run(*motion, wrench=wrench, keep=round(CYCLE / rate))
    steps = STEP * np.round(log.effort / STEP)
    true = wrench[round(CYCLE / rate) - 1 :: round(CYCLE / rate)][: len(log)]
    return Log(log.joint_names, log.stamp_ns, {"q": log.q, "effort": steps}), true


def judged(robot, log: Log, true: np.ndarray) -> dict[str, tuple[float, float, float]]:
    """State -> RMS error of the force per axis, of its deviation [N], share of the axes within two deviations."""
    force = LiveForce(robot)
    found = [force.update(q, effort=i, stamp=t) for t, q, i in zip(log.time, log.q, log.effort, strict=True)]
    error = np.array([e.wrench[:3] for e in found]) - true[:, :3]
    std, contact = np.array([e.wrench_std[:3] for e in found]), (true != 0).any(axis=1)
    still = np.abs(np.gradient(log.q, log.time, axis=0)).max(axis=1) < 0.05
    near = np.convolve(contact, np.ones(round(1.0 / np.median(np.diff(log.time)))))[: len(log)] > 0  # within a second
    late = (log.time > 2.0) & np.isfinite(error).all(axis=1)
    states = {"moving": ~still & ~near, "at rest": still & ~near, "pushed": contact}
    flagged = np.array([e.contact for e in found])
    figures = {
        name: (
            float(np.sqrt((error[rows & late] ** 2).mean())),
            float(np.sqrt((std[rows & late] ** 2).mean())),
            float((np.abs(error) <= 2 * std)[rows & late].mean()),
        )
        for name, rows in states.items()
    }
    figures["contact"] = (float(flagged[contact & late].mean()), float(flagged[~near & late].mean()), np.nan)
    return figures


def main(rate: float = 100.0, constant: float | None = CONSTANT):
    """Identify, judge and print."""
    rate = CYCLE / round(CYCLE / rate)  # samples are whole cycles apart
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        arm = robot_file(directory, constant)
        bag = write_bag(recording(arm, rate, seed=1)[0], directory / "first")
        found = identify(arm, [bag], options=Options(effort="current"))  # 1.1 Nm/A is too near to 1 to tell
        identified = load_robot(write_outputs(found, directory / "out", [bag])["robot_file"])
    figures = judged(identified, *recording(arm, rate, seed=2, pushed=True))
    print(f"{rate:g} Hz, current in steps of {1e3 * STEP:g} mA, force per axis [N]:")
    for name in ("moving", "at rest", "pushed"):
        rms, std, within = figures[name]
        print(f"{name:>8}: RMS error {rms:.2f}, deviation {std:.2f}, within two deviations {100 * within:.0f} %")
    seen, false, _ = figures["contact"]
    print(f"contact: {100 * seen:.0f} % of the time with a push of {PUSH:g} N, {100 * false:.1f} % of the time without")
    return figures


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("rate", type=float, nargs="?", default=100.0, help="Hz, 20 to 500")
    rate = arguments.parse_args().rate
    if not 20.0 <= rate <= 500.0:
        arguments.error(f"rate: {rate:g} Hz must be within 20..500")
    main(rate)
