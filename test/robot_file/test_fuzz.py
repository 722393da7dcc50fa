"""Whatever stands in a robot file: it loads, or one line says what is wrong. Seeded."""

import copy
import math
import random

import yaml
from fuzz import SEED, mutated, tries
from robot_text import TWO_JOINTS, write

from robot_dynamics_ros.robot_file import capabilities, load_robot
from robot_dynamics_ros.robot_file.gaps import unknown_numbers
from robot_dynamics_ros.robot_file.store import dump, examine_robot

TRIES = tries(40)
JUNK = [None, True, -1, 0, 1e300, -1e-300, math.nan, math.inf, -math.inf, "", "x", "1.0", [], {}, [[]], [None]]
JUNK += [{"a": 1}, [1.0], [1.0, 2.0], [[1.0], [2.0]], ["a", "b"], {"*": "here"}, "here", 10**400, "\n\t: {", "é"]


def leaves(node, path=()):
    """Paths of everything in a nested structure, containers included."""
    yield path
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield from leaves(value, (*path, key))


def changed(rng):
    """The valid robot with one to three places replaced, removed or added."""
    raw = copy.deepcopy(TWO_JOINTS)
    for _ in range(rng.randint(1, 3)):
        *parents, last = rng.choice([path for path in leaves(raw) if path])
        node = raw
        for part in parents:
            node = node[part]
        action = rng.randrange(4)
        if action == 0:
            del node[last]
        elif action == 1 and isinstance(node, dict):
            node[f"{last}x"] = node[last]
        else:
            node[last] = copy.deepcopy(rng.choice(JUNK))
    return raw


def test_any_content_loads_or_is_explained(tmp_path, tried):
    tried("robot files", TRIES)
    for seed in range(SEED, SEED + TRIES):
        file = write(tmp_path, yaml.safe_dump(changed(random.Random(seed))))
        problems, robot = examine_robot(file)
        assert (robot is None) == bool(problems), seed
        assert all("\n" not in str(p) and str(p).startswith(str(file)) for p in problems), seed
        if robot is not None:
            capabilities(robot), unknown_numbers(robot)
            assert load_robot(write(tmp_path, dump(robot))) == robot, seed


def test_damaged_text_loads_or_is_explained(tmp_path, tried):
    tried("robot files", TRIES)
    for seed in range(SEED, SEED + TRIES):
        rng = random.Random(seed)
        (tmp_path / "robot.yaml").write_bytes(mutated(yaml.safe_dump(TWO_JOINTS).encode(), rng))
        problems, robot = examine_robot(tmp_path / "robot.yaml")
        assert (robot is None) == bool(problems) and all("\n" not in str(p) for p in problems), seed
