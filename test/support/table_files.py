"""Recordings of a simple motion as files of numbers."""

import numpy as np

RATE = 100.0
N = 300


def motion(n):
    """t (N,), q, qd, effort (N, n): every joint with a speed and an effort of its own."""
    t = np.arange(N) / RATE
    w = 1.0 + 0.3 * np.arange(n)
    return t, np.sin(np.outer(t, w)), w * np.cos(np.outer(t, w)), 10.0 * np.cos(np.outer(t, w)) + np.arange(n)


def write_csv(path, names, columns, delimiter=",", header=True):
    rows = [delimiter.join(names)] if header else []
    rows += [delimiter.join(f"{x:.12g}" for x in row) for row in np.column_stack(columns)]
    path.write_text("\n".join(rows) + "\n")
    return path


def each(pattern, n, first=0):
    return [pattern.format(k + first) for k in range(n)]
