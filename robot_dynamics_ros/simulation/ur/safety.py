"""Robot mode, safety mode, what may happen in each of them, and what makes a robot stop by itself."""

from enum import IntEnum

import numpy as np

from robot_dynamics_ros.simulation.ur.arm import Arm

DEVIATION_LIMIT = 0.15  # rad between target and measured position
FORCE_LIMIT = 250.0  # N at the tool, the least restricted setting of the safety configuration
UNLOCK_DELAY = 5.0  # s after a protective stop before it may be unlocked [UR dashboard server manual]


class RobotMode(IntEnum):
    """robot_mode, those that occur here."""

    POWER_OFF = 3
    IDLE = 5
    RUNNING = 7


class SafetyMode(IntEnum):
    """safety_mode, those that occur here."""

    NORMAL = 1
    PROTECTIVE_STOP = 3
    ROBOT_EMERGENCY_STOP = 7


# bit numbers of safety_status_bits set in each safety mode
STATUS_BITS: dict[SafetyMode, tuple[int, ...]] = {
    SafetyMode.NORMAL: (0,),
    SafetyMode.PROTECTIVE_STOP: (2, 10),
    SafetyMode.ROBOT_EMERGENCY_STOP: (6, 7, 10),
}


class Safety:
    """The safety state: stops latch until they are released the way the robot's operator would."""

    def __init__(self) -> None:
        self.robot_mode = RobotMode.RUNNING
        self.mode = SafetyMode.NORMAL
        self._since = 0.0
        self._button_pressed = False

    @property
    def may_move(self) -> bool:
        """True when programs may run and the robot may move."""
        return self.robot_mode == RobotMode.RUNNING and self.mode == SafetyMode.NORMAL

    @property
    def status_bits(self) -> int:
        """safety_status_bits."""
        return sum(1 << bit for bit in STATUS_BITS[self.mode])

    def protective_stop(self, now: float) -> None:
        """Stop with the brakes open; a graver stop stays."""
        if self.mode == SafetyMode.NORMAL:
            self.mode, self._since = SafetyMode.PROTECTIVE_STOP, now

    def emergency_stop(self, pressed: bool) -> None:
        """Press or release the emergency stop button: pressing cuts the power, releasing leaves it off."""
        self._button_pressed = pressed
        if pressed:
            self.mode, self.robot_mode = SafetyMode.ROBOT_EMERGENCY_STOP, RobotMode.POWER_OFF
        elif self.mode == SafetyMode.ROBOT_EMERGENCY_STOP:
            self.mode = SafetyMode.NORMAL

    def unlock(self, now: float) -> str:
        """Dashboard reply to 'unlock protective stop', which it also carries out when allowed."""
        if self.mode != SafetyMode.PROTECTIVE_STOP:
            return "Protective stop releasing"
        if now - self._since < UNLOCK_DELAY:
            return (
                "Cannot unlock protective stop until 5s after occurrence. "
                "Always inspect cause of protective stop before unlocking"
            )
        self.mode = SafetyMode.NORMAL
        return "Protective stop releasing"

    def power(self, on: bool) -> None:
        """Dashboard 'power on' (brakes stay closed) and 'power off'."""
        if not on:
            self.robot_mode = RobotMode.POWER_OFF
        elif not self._button_pressed and self.robot_mode == RobotMode.POWER_OFF:
            self.robot_mode = RobotMode.IDLE

    def release_brakes(self) -> None:
        """Dashboard 'brake release': powers up if needed and opens the brakes."""
        self.power(True)
        if self.robot_mode == RobotMode.IDLE:
            self.robot_mode = RobotMode.RUNNING


def violation(arm: Arm, target: np.ndarray, force: float) -> str:
    """Why the arm must stop protectively, empty where it need not: target (n,) [rad], force at the tool [N]."""
    deviation = float(np.max(np.abs(target - arm.q)))
    if not deviation <= DEVIATION_LIMIT:
        return f"position deviates {deviation:.3f} rad from its target"
    if not force <= FORCE_LIMIT:
        return f"tool force {force:.0f} N exceeds {FORCE_LIMIT:.0f} N"
    if not np.all(np.abs(arm.qd) <= 1.05 * arm.velocity_limit + 0.05):
        return "a joint exceeds its speed limit"
    return "" if arm.within_limits(arm.q) else "a joint is outside its position limits"
