"""What a live node learned is kept when it ends, with the law it was learned by, and taken up when it starts again."""

import json

import pytest
import yaml
from diagnostic_msgs.msg import DiagnosticArray

from bench.faults.graph_bench import GraphBench
from robot_dynamics_ros.robot_file import load_robot

pytestmark = [pytest.mark.long, pytest.mark.realtime]

JOINTS = load_robot("ur5e").joint_names


def coulomb_scales(graph):
    """Scales the node reports in its diagnostics, once it has seen states."""
    found = {}

    def on_message(message):
        for entry in message.status:
            if entry.name.endswith(": adaptation"):
                values = {v.key: v.value for v in entry.values}
                found.update({name: float(values[f"coulomb {name}"]) for name in JOINTS})

    subscription = graph.node.create_subscription(DiagnosticArray, "/diagnostics", on_message, 10)
    graph.spin(lambda: len(found) == len(JOINTS), "what adaptation found")
    graph.node.destroy_subscription(subscription)
    return [found[name] for name in JOINTS]


def move_until_something_is_learned(graph):
    """Track the path; a machine that does something else for too long ends torque mode, which begins again then."""
    while max(abs(scale - 1.0) for scale in coulomb_scales(graph)) < 0.06:
        if not graph.torque_mode:
            graph.enable("enable_tracking")
        graph.run(1.0)


def path_around(graph, file):
    position = dict(zip(graph.state.name, graph.state.position, strict=True))
    here = [position[name] for name in JOINTS]
    points = [here, [q + 0.25 for q in here], [q - 0.25 for q in here]]
    file.write_text(yaml.safe_dump({"unit": "rad", "joint_names": list(JOINTS), "waypoints": points}))


def test_learned_friction_outlives_the_node(tmp_path):
    kept, path = tmp_path / "learned.json", tmp_path / "path.yaml"
    given = {"adaptation_file": str(kept), "waypoints": str(path), "control.adaptation_time": 0.5}
    with GraphBench(publishes=False, parameters=given) as graph:
        path_around(graph, path)
        move_until_something_is_learned(graph)
        graph.node_process.terminate()
        graph.node_process.wait(20)
        learned = json.loads(kept.read_text())
        assert learned["robot"] == "ur5e" and learned["law"] == "scales"
        assert max(abs(scale - 1.0) for scale in learned["coulomb"]) > 0.05
        graph.state = None
        graph.node_process = graph.start_node()
        graph.spin(lambda: graph.state is not None, "the restarted node")
        graph.run(0.25)
        assert not graph.torque_mode
        assert coulomb_scales(graph) == pytest.approx(learned["coulomb"], abs=1e-3)
