"""Open benchmark of the contact force without a force sensor: `python -m bench wrench`, scored by score.py alone."""
