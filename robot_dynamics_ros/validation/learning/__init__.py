"""Learning from ordinary work judged on simulated robots: `robot-dynamics validate learning`."""
