"""URDFs that were damaged: a chain whose dynamics are finite, or one line that says what is wrong."""

import random
import re

import numpy as np
import pytest
from fuzz import SEED, tries

pytest.importorskip("pinocchio")

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.urdf import MAX_DEPTH, read_urdf

TRIES = tries(300)
LINK = '<link name="l{k}"><inertial><origin xyz="0 0 0.1" rpy="0 0 0"/><mass value="2"/>'
LINK += '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>'
JOINT = '<joint name="j{k}" type="revolute"><parent link="l{p}"/><child link="l{k}"/><axis xyz="0 1 0"/>'
JOINT += '<origin xyz="0 0 1" rpy="0 0.1 0"/><limit lower="-1" upper="1" effort="10" velocity="1"/></joint>'
ODD = ["", " ", "0 0 0", "1e9 1e9 1e9"]
ODD += "nan inf -inf 1e308 1e-320 x 0 -1 1,5 revolute l0 l1".split()


def arm(joints=3):
    links = [LINK.format(k=k) for k in range(joints + 1)]
    parts = links + [JOINT.format(k=k, p=k - 1) for k in range(1, joints + 1)]
    return f'<robot name="arm">{"".join(parts)}</robot>'


def read(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_urdf(path)


def test_a_chain_of_thousands_of_links_is_refused(tmp_path):
    for fixed in ("fixed", "revolute"):
        with pytest.raises(ConfigError, match=f"over {MAX_DEPTH} joints"):
            read(tmp_path / "a.urdf", arm(5000).replace("revolute", fixed))


def test_a_loop_beside_the_root_is_refused(tmp_path):
    text = arm(3).replace('<parent link="l1"/>', '<parent link="l3"/>')
    with pytest.raises(ConfigError, match="or in a loop"):
        read(tmp_path / "a.urdf", text)


SHORT = "j1: axis xyz = .* is not 3 finite numbers"


@pytest.mark.parametrize(
    ("axis", "why"),
    [("0 0 0", "j1.*axis must be three"), ("1e-300 0 0", "j1.*axis must be three"), ("0", SHORT), ("1 2", SHORT)],
)
def test_an_axis_without_direction_is_refused(tmp_path, axis, why):
    with pytest.raises(ConfigError, match=why):
        read(tmp_path / "a.urdf", arm().replace("0 1 0", axis, 1))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-7", "nothing", "utf-32", "idna", "rot13", "hex", "big5"])
def test_odd_encodings_are_read_or_refused_in_one_line(tmp_path, encoding):
    try:
        read(tmp_path / "a.urdf", f'<?xml version="1.0" encoding="{encoding}"?>{arm()}')
    except ConfigError as error:
        assert "\n" not in str(error)


def test_damaged_urdfs_have_finite_dynamics_or_are_refused(tmp_path, tried):
    rng, good, read_well = random.Random(SEED + 9), arm(), 0
    places = [m.span(1) for m in re.finditer(r'="([^"]*)"', good)]
    tried("URDFs", TRIES)
    for _ in range(TRIES):
        text = good
        if rng.random() < 0.8:
            a, b = rng.choice(places)
            text = good[:a] + rng.choice(ODD) + good[b:]
        else:
            at = rng.randrange(len(good))
            text = good[:at] + rng.choice(["<", ">", '"', "\0", "é", good[at : at + 60], ""])
            text += good[at + rng.randrange(9) :]
        try:
            chain, names = read(tmp_path / "a.urdf", text)
        except ConfigError:
            continue
        model, q = RobotModel(chain, names), np.full(len(names), 0.3)
        assert np.isfinite(model.gravity(q)).all() and np.isfinite(model.fk(q)[-1]).all(), text
        read_well += 1
    assert read_well > TRIES // 20
