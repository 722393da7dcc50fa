"""Learning from ordinary work: a triangle per recording, a posterior per parameter, a robot file that gets better."""
