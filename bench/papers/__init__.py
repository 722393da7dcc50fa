"""The papers' protocols on the simulated robot, each with the paper's numbers beside ours."""
