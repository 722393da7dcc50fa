"""How the driver enters an MQTT broker: user and password, TLS, certificate of the client."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from robot_dynamics_ros.errors import ConfigError


class Login(NamedTuple):
    """How to enter the MQTT broker: user and file of the password; ca_file: TLS, with the broker checked against it;
    certificate and key: files of ours, where the broker asks for them. Empty: without.
    """

    user: str = ""
    password_file: str = ""
    ca_file: str = ""
    certificate: str = ""
    key: str = ""


ANONYMOUS = Login()


def enter(client: Any, login: Login) -> None:
    """Give an MQTT client its user, password and certificates. Raises ConfigError for a file that cannot be used."""
    if login.user:
        client.username_pw_set(login.user, _password(login.password_file))
    elif login.password_file:
        raise ConfigError("mqtt_password_file", "", "is given without mqtt_user")
    if login.ca_file:
        try:
            client.tls_set(login.ca_file, login.certificate or None, login.key or None)
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            raise ConfigError("mqtt_ca_file", login.ca_file, f"TLS cannot be set up: {error}") from error
    elif login.certificate or login.key:
        raise ConfigError("mqtt_certificate", "", "is given without mqtt_ca_file")


def _password(file: str) -> str | None:
    """The first line of a file that only its owner may read. Raises ConfigError."""
    if not file:
        return None
    try:
        if os.stat(file).st_mode & 0o077:
            raise ConfigError("mqtt_password_file", file, "others may read it: chmod 600")
        with open(file, encoding="utf-8") as text:
            return text.readline(1024).rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("mqtt_password_file", file, f"cannot be read: {error}") from error
