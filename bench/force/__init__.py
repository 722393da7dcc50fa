"""Contact force judged on many simulated robots, each of another friction: `python -m bench force`."""
