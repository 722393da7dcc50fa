"""The package's one exception tree: every error a user can cause derives from RobotDynamicsError."""

from __future__ import annotations


class RobotDynamicsError(Exception):
    """Root of all errors a user can cause; its text is one clear line."""


class ConfigError(RobotDynamicsError):
    """A robot or node file is wrong; names file, field, value and bound."""

    def __init__(self, file: str, field: str, message: str) -> None:
        super().__init__(f"{file}: {field}: {message}" if field else f"{file}: {message}")
        self.file, self.field = file, field


class DataError(RobotDynamicsError):
    """A bag or log cannot be used; names the file and what to record instead."""


class ConnectionFailed(RobotDynamicsError):
    """A controller refuses, is absent or speaks another version."""


class CapabilityError(RobotDynamicsError):
    """The robot does not support the request; names the field of the robot file that is the reason."""
