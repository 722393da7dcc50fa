"""Contact force judged on many simulated robots, each of another friction: `robot-dynamics validate force`."""
