"""SROS 2 policies: what the tables hold is allowed, to observe is not to command, the file shipped is up to date."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from robot_dynamics_ros.bringup import describe
from robot_dynamics_ros.nodes.interfaces import COMMAND_TOPICS, ENABLING_SERVICES, EXTRA_TOPICS, SERVICES
from robot_dynamics_ros.nodes.policies import absolute, enclaves, node_names, policies
from robot_dynamics_ros.nodes.tables import NODES
from robot_dynamics_ros.topics import TOPICS

FILE = Path(__file__).parents[2] / "config" / "security" / "policies.xml"


def allowed(text):
    """enclave -> permission -> names, read from the XML by itself."""
    found = {}
    for enclave in ElementTree.fromstring(text).iter("enclave"):
        name = enclave.get("path").rsplit("/", 1)[1]
        for block in enclave.find("profiles/profile"):
            ((permission, verdict),) = block.attrib.items()
            assert verdict == "ALLOW" and block.tag in ("topics", "services", "actions")
            found.setdefault(name, {})[permission] = {entry.text for entry in block}
    return found


@pytest.fixture(params=["", "left"])
def rules(request):
    return request.param, allowed(policies(request.param))


def test_the_file_is_the_one_of_the_tables():
    assert FILE.read_text(encoding="utf-8") == policies(), (
        "run: python -m robot_dynamics_ros.nodes.policies > config/security/policies.xml"
    )


def test_every_topic_and_service_of_the_tables_is_allowed_to_who_needs_it(rules):
    space, found = rules
    for topic in TOPICS.values():
        name = f"{topic.name}/<joint>" if topic.per_joint else topic.name
        for full in absolute(name, "", space):
            assert full in found["robot"]["publish"] and full in found["observe"]["subscribe"]
    for node in NODES:
        for service, _, _ in SERVICES[node]:
            (full,) = absolute(service, node, space)
            assert full in found["robot"]["reply"] and full in found["command"]["request"]
        for topic, _, text in EXTRA_TOPICS[node] if node != "viewer_node" else ():
            for full in absolute(topic, node, space):
                if text.startswith("published"):
                    assert full in found["robot"]["publish"] and full in found["observe"]["subscribe"]
                elif text.startswith("subscribed"):
                    assert full in found["robot"]["subscribe"] and full in found["command"]["publish"]
                else:
                    assert full in found["robot"]["execute"] and full in found["command"]["call"]


def test_to_observe_is_not_to_command(rules):
    space, found = rules
    observe, robot = found["observe"], found["robot"]
    assert observe["publish"] == {"/rosout", "/parameter_events"} and "call" not in observe and "reply" not in observe
    commands = {full for node in node_names() for name in COMMAND_TOPICS for full in absolute(name, node, space)}
    services = {full for node in NODES for name, _, _ in SERVICES[node] for full in absolute(name, node, space)}
    changing = {name for name in robot["reply"] if name.endswith(("/set_parameters", "/change_state", "_atomically"))}
    assert len(ENABLING_SERVICES) >= 3 and commands and changing
    assert not observe["request"] & (services | changing) and not observe["publish"] & commands
    assert not robot["publish"] & commands and "request" not in robot  # our nodes do not command each other


def test_nothing_is_allowed_by_a_wildcard_but_joints(rules):
    _, found = rules
    for permissions in found.values():
        for names in permissions.values():
            for name in names:
                assert name.startswith("/") and "<" not in name and "~" not in name
                assert name.count("*") == name.endswith("/*")


@pytest.mark.parametrize(("prefix", "topics"), [("arm/one", "/arm/one"), ("~", "/composed_node")])
def test_nodes_below_a_prefix_have_the_names_that_up_gives_them(prefix, topics):
    """The services of arm_one_composed_node were allowed to no enclave, and topics below ~ had the name /~/contact."""
    (node,), found = describe("ur5e", prefix=prefix).nodes, allowed(policies(prefix=prefix))
    assert f"/{node.name}/stop" in found["robot"]["reply"] & found["command"]["request"]
    assert f"{topics}/external_wrench" in found["robot"]["publish"] & found["observe"]["subscribe"]
    assert not any("~" in name for permissions in found.values() for names in permissions.values() for name in names)


def test_a_stage_in_a_process_of_its_own_has_its_name():
    assert {"force_node", "friction_node"} <= set(node_names())
    assert "/force_node/tare" in enclaves()["command"].request
