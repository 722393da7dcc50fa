"""Joint speeds [rad/s] that tell rest, creep and sliding apart: the one table for all that judge a motion.

Beside it only: parameters of live stages; commanded velocities, which have no noise (drivers: 1e-3); experiments of
single joints, which move at 0.01 rad/s themselves (identification/dataset/segments.py).
"""

STANDING = 0.005  # below it nothing but noise of a measured velocity is left
MOVING = 0.01  # a joint faster than this moves, a slower one rests: twice the noise of differenced positions
STEP = 0.02  # width of tanh(v / STEP), Coulomb friction without memory: above that noise, below speeds of work
SLOW = 0.02  # below it elements stick and creep; the live friction stage goes over from rest to motion there
SLIDING = 0.05  # above it all elements have slipped: the level of sliding friction is judged, elastic torque seen
