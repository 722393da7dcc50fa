"""Stages that a node runs, and their topics: the stages requested, and those before them whose signals no topic has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.pipeline import STAGES
from robot_dynamics_ros.estimators.stage import Stage
from robot_dynamics_ros.parameters import Parameter
from robot_dynamics_ros.topics import MAIN, PAYLOAD, TOPICS

OF_NODE = ("frame_id",)  # parameters of a stage that are the node's own
PER_JOINT = tuple(t.name for t in TOPICS.values() if t.per_joint)


@dataclass(frozen=True)
class Selection:
    """wanted: stages requested; stages: those that run; topics: published; companions, held: subscribed."""

    wanted: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    topics: list[str] = field(default_factory=list)
    companions: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    tables: dict[str, tuple[Parameter, ...]] = field(default_factory=dict)

    @property
    def all(self) -> bool:
        """True for `all`: then stages that the robot file does not support are left out."""
        return self.wanted == tuple(STAGES)


def select(text: str) -> Selection:
    """Selection for `all`, `none` or stage names separated by commas. Raises ConfigError for an unknown name."""
    wanted = _names(text)
    if not wanted:
        return Selection()
    made = {name: STAGES[name]() for name in STAGES}
    stages = _with_producers(wanted, made)
    written = {signal for name in wanted for signal in made[name].writes}
    inside = {signal for name in stages for signal in made[name].writes}
    read = {signal for name in stages for signal in (*made[name].reads, *made[name].optional)} - inside
    sources = [t.name for t in TOPICS.values() if t.name not in (MAIN, PAYLOAD) and read & set(t.fields.values())]
    return Selection(
        wanted=wanted,
        stages=stages,
        topics=[t.name for t in TOPICS.values() if written & set(t.fields.values())],
        companions=tuple(n for n in sources if _is_companion(n, made, stages)),
        held=tuple(n for n in sources if not _is_companion(n, made, stages)),
        tables={name: tuple(p for p in made[name].parameters if p.name not in OF_NODE) for name in stages},
    )


def _names(text: str) -> tuple[str, ...]:
    given = [name.strip() for name in text.split(",") if name.strip()]
    if given == ["all"]:
        return tuple(STAGES)
    if given in ([], ["none"]):
        return ()
    for name in given:
        if name not in STAGES:
            raise ConfigError("stages", name, f"is no stage; known: {', '.join(STAGES)}")
    return tuple(name for name in STAGES if name in given)


def _with_producers(wanted: Sequence[str], made: dict[str, Stage]) -> tuple[str, ...]:
    """The stages and, before them, those whose signals no topic carries."""
    carried = {signal for topic in TOPICS.values() for signal in topic.fields.values()}
    needed = set(wanted)
    for name in reversed(tuple(STAGES)):
        if name not in needed:
            continue
        missing = set(made[name].reads) - carried
        needed |= {other for other in STAGES if missing & set(made[other].writes)}
    return tuple(name for name in STAGES if name in needed)


def _is_companion(topic: str, made: dict[str, Stage], stages: Sequence[str]) -> bool:
    """True for a topic of an earlier stage, which follows joint_states with the same stamp.

    Slow topics, the driver's, and those of later stages (feedback of the cycle before) are used as they last came.
    """
    order = list(STAGES)
    signals = set(TOPICS[topic].fields.values())
    writers = [order.index(name) for name, stage in made.items() if signals & set(stage.writes)]
    return topic not in PER_JOINT and bool(writers) and max(writers) < max(order.index(name) for name in stages)
