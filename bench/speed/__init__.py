"""Benchmarks against peers, both sides in one run.

A section is a module of this package with `cases(setup) -> Iterator[Case]`; listing it here is all it takes to add one.
"""

SECTIONS = ("rigid_body", "least_squares", "estimators", "joints", "control", "cycles")
