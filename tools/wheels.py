"""`wheels.py [--python 3.11] [--machine aarch64]`: manylinux_2_28 wheels of a release in dist/, and the sdist.

zig (package ziglang) compiles for either machine against glibc 2.28 and links its own C++ library; auditwheel judges
the result. For each Python from 3.10 to 3.13 that this machine has, by default; its headers do for both machines.
"""

from __future__ import annotations

import argparse
import os
import re
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


def keep_kernels(tag: str, machine: str) -> None:
    """Objects that know no Python, from the build for another one."""
    for built in (ROOT / "build").glob(f"temp.manylinux*_{machine}-cpython-*"):
        wanted = built.with_name(f"{built.name.rpartition('-')[0]}-{tag}") / "cpp_core" / "src"
        if not wanted.exists():
            shutil.copytree(built / "cpp_core" / "src", wanted)


def build(python: str, machine: str) -> Path:
    """The wheel of one Python and machine. Raises CalledProcessError where the build or auditwheel refuses."""
    tag = python.replace(".", "")
    keep_kernels(tag, machine)
    command = [f"python{python}", "-m", "pip", "wheel", ".", "-q", "--no-deps", "-w", str(DIST)]
    subprocess.run(command, cwd=ROOT, env=environment(python, machine), check=True)
    wheel = max(DIST.glob(f"*-cp{tag}-*{machine}.whl"), key=lambda path: path.stat().st_mtime)
    report = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    said = subprocess.run(report, check=True, capture_output=True, text=True).stdout
    needed = re.search(rf'manylinux_2_(\d+)_{machine}"', said)
    if not needed or int(needed[1]) > int(GLIBC.partition(".")[2]):
        raise SystemExit(f"{wheel.name} needs a newer glibc than {GLIBC}:\n{said}")
    return wheel


def runs(python: str) -> bool:
    """Whether this machine has that Python; a shim of pyenv is none until PYENV_VERSION names it."""
    command = shutil.which(f"python{python}")
    return command is not None and subprocess.run([command, "-c", ""], capture_output=True).returncode == 0


def main() -> None:
    """Build what is asked for; one line per file."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--python", action="append", choices=PYTHONS)
    asked.add_argument("--machine", action="append", choices=MACHINES)
    given = asked.parse_args()
    for python in given.python or [p for p in PYTHONS if runs(p)]:
        for machine in given.machine or MACHINES:
            print(build(python, machine).name, flush=True)
    subprocess.run([sys.executable, "setup.py", "-q", "sdist", "-d", str(DIST)], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
