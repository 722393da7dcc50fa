"""Open benchmark of the contact force without a force sensor: `python -m bench wrench`, scored by score.py alone."""

# of the entries
NAMES = ("ours", "ours_collision", "tanh_least_squares", "momentum_observer_coulomb", "joint_torque_formula", "zero")
