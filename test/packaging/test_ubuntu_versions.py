"""numpy 1.26 and scipy 1.11 of Ubuntu 24.04, in a folder that stands before the environment's own: the same results."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PINNED = ("numpy==1.26.4", "scipy==1.11.4")
TESTED = ("models", "bags", "effort", "estimators/test_pipeline.py", "estimators/test_replay.py")
TESTED += ("identification/test_identify_synthetic.py",)
APART = "not parquet and not lerobot"  # the pyarrow of the Python index needs numpy 2
VERSIONS = "import numpy, scipy; print(numpy.__version__, scipy.__version__)"


@pytest.mark.long
@pytest.mark.timeout(3000)
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="numpy 1.26 has wheels up to Python 3.12")
def test_the_short_tier_passes_with_the_versions_of_the_distribution(tmp_path):
    install = ("install", "-q", "--no-deps", "--only-binary=:all:", "--target", str(tmp_path))
    subprocess.run([sys.executable, "-m", "pip", *install, *PINNED], check=True)
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "OPENBLAS_NUM_THREADS": "1"}
    seen = subprocess.check_output([sys.executable, "-c", VERSIONS], env=environment, text=True)
    assert seen.split() == [name.partition("==")[2] for name in PINNED]
    files = [str(ROOT / "test" / name) for name in TESTED]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tier", "short", "-k", APART, *files]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
