"""The CMake project of the core in build/ctest: configured once, kept between runs, and only what changed compiles."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "cpp_core"
FOLDER = ROOT / "build" / "ctest" / Path(os.environ.get("CXX", "c++")).name
CMAKE = shutil.which("cmake")


def run(*command: object) -> None:
    """Run a command; its output is the message when it fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def options() -> list[str]:
    """Options of a configuration: little optimisation, as only results are tested; ccache where it is installed."""
    ccache = shutil.which("ccache")
    return ["-DCMAKE_CXX_FLAGS_RELEASE=-O1", *([f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}"] if ccache else [])]


def configure(source: Path, folder: Path, *more: str) -> None:
    """Make the files of a build of the core, or of a package around it, at `source` in a folder."""
    run(CMAKE, "-S", source, "-B", folder, "-G", "Unix Makefiles", *options(), *more)


def build(target: str) -> Path:
    """Compile a target and return the folder it is in; one test process at a time."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        configure(CORE, FOLDER)  # cmake refuses a folder that was copied from another tree
        run(CMAKE, "--build", FOLDER, "--target", target, "--parallel", min(2, os.cpu_count() or 1))
    return FOLDER


def take_kernels(folder: Path) -> None:
    """The kernels compile for minutes: their objects go into another configured build of the core."""
    objects = Path("CMakeFiles/core.dir/src")
    shutil.copytree(build("core") / objects, folder / objects, copy_function=shutil.copy, dirs_exist_ok=True)
