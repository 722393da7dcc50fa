"""Public recordings of real robots, beside the repository or where ROBOT_DYNAMICS_DATA says."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("ROBOT_DYNAMICS_DATA", Path(__file__).parents[3] / "shared" / "data"))
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"no public recordings in {DATA} (ROBOT_DYNAMICS_DATA)")
