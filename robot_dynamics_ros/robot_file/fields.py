"""The blocks of a robot file in their order."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from robot_dynamics_ros.robot_file import blocks as b


class RobotFields(b.Block):
    """Fields of a robot file, without the checks between them."""

    schema_version: Literal[1] = Field(alias="schema", description="version of this format")
    name: b.Name = Field(description="short name, as in `--robot NAME`")
    manufacturer: b.Text = Field(description="who builds it")
    model: b.Text = Field(description="type, series, controller generation")
    sources: dict[str, b.Text] = Field(description="key -> citation; keys starting with `estimate` mark estimates")
    kinematics: b.Kinematics
    links: b.Links | None
    drives: b.Drives
    limits: b.Limits
    friction: b.Friction | None = None
    hysteresis: b.ModelBlock | None = None
    thermal: b.ModelBlock | None = None
    stiffness: b.ModelBlock | None = None
    residuals: b.Residuals | None = None
    sensing: b.Sensing
    payload: b.Payload = b.Payload()
    provenance: tuple[b.ProvenanceEntry, ...] = Field(
        default=(), description="appended by every command that writes the file"
    )
