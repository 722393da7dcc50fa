"""Datagrams of the Comau link, mutated: read or refused as DataError; none ends the receiving thread."""

import random
import struct

import numpy as np
import pytest
from comau_rig import ROBOT
from fuzz import SEED, tries

from robot_dynamics_ros.drivers.comau import wire
from robot_dynamics_ros.drivers.comau.states import ComauStates
from robot_dynamics_ros.drivers.stream import Stream
from robot_dynamics_ros.errors import DataError

TRIES = tries(3000)
N = ROBOT.n_joints
EXTREME = [0, 1, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
GOOD = wire.State(7, 10**9, (10.0,) * 10, (20.0,) * 10, (20.0,) * 10, (0.0,) * 10, (1.0,) * 10, n_axes=N, modality=1)


def mutated(data, rng):
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) - 8)
        kind = rng.randrange(4)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            struct.pack_into("<Q", data, at, rng.choice(EXTREME))
        elif kind == 2:
            struct.pack_into("<d", data, at, rng.choice([np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324]))
        else:
            del data[rng.randrange(len(data)) :]
            break
        if rng.random() < 0.5:  # the fields themselves
            struct.pack_into("<Q", data, 16, rng.choice(EXTREME))
    return bytes(data)


def test_a_time_that_no_controller_has_is_refused():
    for time_us in (2**63, 2**64 - 1, wire.MAX_TIME_US + 1):
        GOOD.time_us, before = time_us, GOOD.time_us
        with pytest.raises(DataError, match="no time"):
            wire.unpack_state(wire.pack_state(GOOD), N)
        GOOD.time_us = before
    assert wire.unpack_state(wire.pack_state(GOOD), N).time_us == 10**9


def test_mutated_datagrams_are_read_or_refused_and_the_stream_goes_on(tried):
    tried("Comau datagrams", TRIES)
    rng, stream, states = random.Random(SEED + 5), Stream(500.0), ComauStates(ROBOT, 500.0)
    good, read = wire.pack_state(GOOD), 0
    for k in range(TRIES):
        try:
            state = wire.unpack_state(mutated(good, rng), N)
        except DataError:
            continue
        read += 1
        with np.errstate(all="ignore"):
            target = states.take(state)
            if target is None:
                continue
            watched = np.concatenate([states.sample.q, np.nan_to_num(states.sample.current)])
        stream.take(1000 * state.time_us, watched, False, 1, 10**18 + 2_000_000 * k, 2_000_000 * k)
    assert TRIES // 20 < read < TRIES
