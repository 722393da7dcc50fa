"""Damage to inputs. From the environment (make fuzz TRIES=... SEED=...): how often each test tries, and the seed."""

import os
import random

import numpy as np

SEED = int(os.environ.get("FUZZ_SEED", "0"))
NUMBERS = [0.0, -1.0, 1e300, -1e300, 5e-324, np.nan, np.inf, -np.inf]


def tries(short: int) -> int:
    """Inputs of one test: `short` of them in the short tier."""
    return int(os.environ.get("FUZZ_TRIES", short))


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Truncated, or with one to eight places overwritten."""
    changed = bytearray(data)
    if rng.random() < 0.3:
        return bytes(changed[: rng.randrange(len(changed))])
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(changed))
        filler = rng.choice([b"\0", b"\xff", rng.randbytes(1)])
        changed[at : at + rng.choice([1, 1, 4, 8])] = filler * rng.choice([1, 4, 8])
    return bytes(changed)
