"""Learning from ordinary work judged on simulated robots: `python -m bench learning`."""
