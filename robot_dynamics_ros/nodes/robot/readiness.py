"""What a node without a driver observes, as one line on the console; an error while nothing arrives."""

from __future__ import annotations

import time

from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.nodes.topics.inputs import TopicInputs
from robot_dynamics_ros.signals import Sample

TERMS = {
    "temperature": "lubricant temperature",
    "friction": "friction",
    "force": "contact force",
    "stiffness": "stiffness estimator",
    "power": "power and energy",
}
MEASURED = {"q": "position", "qd": "velocity", "effort": "effort", "current": "current", "temperature": "temperature"}
SILENCE = 5.0  # s without a usable message that are an error
REPEAT = 60.0  # s between two errors
COUNTED = 1.0  # s over which the rate is counted


def estimated(pipeline: Pipeline) -> str:
    """What is estimated and what is not, with the reason: `estimating friction; stiffness estimator disabled: ...`."""
    passed_on = ["temperature"] * (pipeline.robot.heat_balance is None)  # a reading
    running = [TERMS[s.name] for s in pipeline.stages if s.name in TERMS and s.name not in passed_on]
    found, robot = [f"estimating {', '.join(running)}"] * bool(running), f"{pipeline.robot.name}: "
    for name, why in pipeline.left_out.items():
        if name in TERMS:  # the reason without the robot's name and without what stands in parentheses or follows
            found.append(f"{TERMS[name]} disabled: {why.removeprefix(robot).partition(' (')[0].partition('; ')[0]}")
    return "; ".join(found)


class Readiness:
    """on_sample() with every joined sample; look() once a second."""

    def __init__(self, node: LifecycleBase, inputs: TopicInputs, pipeline: Pipeline) -> None:
        self._node, self._inputs, self._pipeline = node, inputs, pipeline
        self._arrived = time.monotonic()  # of the last sample, or the start
        self._logged_at = 0.0
        self._first: float | None = None
        self._count, self._ready, self._signals = 0, False, ""

    def on_sample(self, sample: Sample, judged: bool = True) -> None:
        """Count a sample; while samples are not judged yet, or estimates are withheld, nothing is ready."""
        self._arrived = time.monotonic()
        self._inputs.last_refusal = ""  # of before, which does not explain a silence that follows
        if not judged:
            self._first, self._count = None, 0
        if self._ready or not judged:
            return
        if self._first is None:
            self._first = self._arrived
            self._signals = ", ".join(text for name, text in MEASURED.items() if sample.has(name))
        self._count += 1
        if self._arrived - self._first >= COUNTED:
            self._ready = True
            rate = (self._count - 1) / (self._arrived - self._first)
            what = f"observing {self._inputs.main} at {rate:.0f} Hz ({self._signals})"
            self._node.get_logger().info("; ".join(filter(None, (f"ready: {what}", estimated(self._pipeline)))))

    def check(self) -> str:
        """An error text while nothing has arrived for SILENCE, also on the console; else empty."""
        now = time.monotonic()
        if now - self._arrived < SILENCE:
            return ""
        text = self._why()
        if not self._logged_at or now - self._logged_at > REPEAT:
            self._logged_at = now
            self._node.get_logger().error(text)
        return text

    def _why(self) -> str:
        main = self._inputs.main
        if not self._node.count_publishers(main):
            advice = (
                "start the robot's driver, or name its topic (joint_states:=TOPIC in a launch, up --joint-states TOPIC)"
            )
            return f"no publisher on {main} for {SILENCE:g} s: {advice}"
        refused = self._inputs.last_refusal
        if refused:
            return f"no usable message on {main} for {SILENCE:g} s: {refused}"
        return f"nothing arrives on {main} for {SILENCE:g} s, although it has a publisher: is the robot connected?"
