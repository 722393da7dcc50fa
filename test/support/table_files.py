"""Recordings of a simple motion as files of numbers."""

import numpy as np

RATE = 100.0
N = 300


def motion(n):
    """t (N,), q, qd, effort (N, n): every joint with a speed and an effort of its own."""
    t = np.arange(N) / RATE
    w = 1.0 + 0.3 * np.arange(n)
    return t, np.sin(np.outer(t, w)), w * np.cos(np.outer(t, w)), 10.0 * np.cos(np.outer(t, w)) + np.arange(n)


def assert_holds(log, **signals):
    """The log has these signals, to the digits of a text."""
    for name, expected in signals.items():
        np.testing.assert_allclose(getattr(log, name), expected, atol=1e-9, err_msg=name)


def write_csv(path, columns, delimiter=",", first=0, header=True):
    """A file of columns (N,) by name, and of several (N, n) by a pattern of their names, numbered from `first`."""
    blocks = {name: np.reshape(x, (len(x), -1)) for name, x in columns.items()}
    names = [name.format(k + first) for name, x in blocks.items() for k in range(x.shape[1])]
    rows = [delimiter.join(names)] if header else []
    rows += [delimiter.join(f"{x:.12g}" for x in row) for row in np.hstack(list(blocks.values()))]
    path.write_text("\n".join(rows) + "\n")
    return path


def numbers(log, path):
    """The joint states of a log as `path`.npz: read as the same numbers as a bag, and written at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, time=log.stamp_ns, **{name: log.get(name) for name in ("q", "qd", "effort") if log.has(name)})
    return path.with_name(f"{path.name}.npz")
