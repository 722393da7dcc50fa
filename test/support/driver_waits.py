"""Waiting in tests: for what a driver gives or for a condition, no fixed time; the timeout is for busy machines."""

import time


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
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, (driver.motion, driver.last_error, driver.status, driver.statistics())
        driver.read(0.05)


def happens(condition):
    """Wait until the condition holds, by itself."""
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.002)
