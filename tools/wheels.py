"""`wheels.py [--python 3.11] [--machine aarch64]`: manylinux_2_28 wheels of a release in dist/, and the sdist.

zig (package ziglang) compiles for either machine against glibc 2.28 and links its own C++ library; auditwheel judges
the result. For each Python from 3.10 to 3.13 that this machine has, by default; its headers do for both machines.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
MACHINES = ("x86_64", "aarch64")
GLIBC = "2.28"  # of RHEL 8 and Debian 10


def environment(python: str, machine: str) -> dict[str, str]:
    """What makes the build of setup.py one for another machine: compilers, platform and suffix of the extension."""
    zig = f"{sys.executable} -m ziglang"
    target = f"-target {machine}-linux-gnu.{GLIBC}"
    compilers = {"CC": "cc", "CXX": "c++", "LDSHARED": "c++", "LDCXXSHARED": "c++"}
    return (
        os.environ
        | {name: f"{zig} {tool} {target}" + " -shared" * ("SHARED" in name) for name, tool in compilers.items()}
        | {
            "AR": f"{zig} ar",
            "CFLAGS": "-g0",
            "LDFLAGS": "-Wl,-s",
            "_PYTHON_HOST_PLATFORM": f"manylinux_{GLIBC.replace('.', '_')}_{machine}",
            "SETUPTOOLS_EXT_SUFFIX": f".cpython-{python.replace('.', '')}-{machine}-linux-gnu.so",
        }
    )


def build(python: str, machine: str) -> Path:
    """The wheel of one Python and machine. Raises CalledProcessError where the build or auditwheel refuses."""
    tag = python.replace(".", "")
    command = [f"python{python}", "-m", "pip", "wheel", ".", "-q", "--no-deps", "-w", str(DIST)]
    subprocess.run(command, cwd=ROOT, env=environment(python, machine), check=True)
    wheel = max(DIST.glob(f"*-cp{tag}-*{machine}.whl"), key=lambda path: path.stat().st_mtime)
    report = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    said = subprocess.run(report, check=True, capture_output=True, text=True).stdout
    constrained = f"manylinux_{GLIBC.replace('.', '_')}_{machine}"
    if f'"{constrained}"' not in said.replace("\n", " ") and "manylinux_2_17" not in said:
        raise SystemExit(f"{wheel.name}: auditwheel does not find it to be {constrained}:\n{said}")
    return wheel


def main() -> None:
    """Build what is asked for; one line per file."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--python", action="append", choices=PYTHONS)
    asked.add_argument("--machine", action="append", choices=MACHINES)
    given = asked.parse_args()
    for python in given.python or [p for p in PYTHONS if shutil.which(f"python{p}")]:
        for machine in given.machine or MACHINES:
            print(build(python, machine).name, flush=True)
    subprocess.run([sys.executable, "setup.py", "-q", "sdist", "-d", str(DIST)], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
