"""Waiting in tests: for what a driver gives or for a condition, no fixed time; the timeout is for busy machines."""

import time

from robot_dynamics_ros.waiting import wait_until


def collect(driver, count):
    """Copies of the next samples."""
    samples, end = [], time.monotonic() + 120.0
    while len(samples) < count:
        assert time.monotonic() < end, (len(samples), driver.last_error, driver.statistics())
        sample = driver.read(0.2)
        if sample is not None:
            samples.append(sample.copy())
    return samples


def until(driver, condition, timeout=120.0):
    """Read on until the condition holds."""
    came = wait_until(condition, timeout, lambda: driver.read(0.05))
    assert came, (driver.motion, driver.last_error, driver.status, driver.statistics())


def settled(driver):
    """The state in which the motion ends."""
    until(driver, lambda: not driver.motion.active)
    return driver.motion.state


def happens(condition):
    """Wait until the condition holds, by itself."""
    assert wait_until(condition, 60.0), "did not happen"
