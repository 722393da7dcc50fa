"""Set-up behind make: `environment.py demo | vendor | mujoco | viewer | dev | peers` fills $VENV.

demo: what `make demo` runs with. vendor: client and server of Franka for its demo. mujoco: that plant. viewer: rerun.
dev: what `make test`, `make lint` and `make docs` need besides. peers: the package and the libraries that
`bench --peers` compares with, in an environment of their own. Uses uv where it is installed.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / os.environ.get("VENV", ".venv")
PYTHON = VENV / "bin" / "python"
BUILD_TOOLS = ("setuptools>=64,<80", "wheel", "pybind11>=3.0")
UNBUILT = {"ROBOT_DYNAMICS_CORE_BUILT_IN_PLACE": "1", "PYTHONWARNINGS": "ignore"}  # make builds the core
PEERS = ("casadi>=3.6", "figaroh>=0.5")  # casadi's wheel has the headers of Eigen, against which Pinocchio compiles
EXPECTED = {  # s on two quiet cores
    "environment": 5,
    "build tools": 5,
    "packages": 40,
    "C++ core": 90,
    "vendor packages": 15,
    "MuJoCo": 10,
    "viewer": 15,
    "test packages": 60,
}
# imported beside the compiler: the first import writes byte code, for which the demo would wait
IMPORTED = (
    "numpy",
    "scipy.optimize",
    "scipy.signal",
    "scipy.ndimage",
    "pydantic",
    "yaml",
    "click",
    "rich.live",
    "rosbags.rosbag2",
    "clarabel",
    "matplotlib.pyplot",
    "rclpy",
    "sensor_msgs.msg",
    "geometry_msgs.msg",
    "visualization_msgs.msg",
)
FIRST_IMPORT = f"""
from contextlib import suppress
from importlib import import_module
for name in {IMPORTED}:
    with suppress(ImportError):
        import_module(name)
"""
SILENCE = 10.0  # s between progress lines where the output is no terminal
SMALL = 200_000  # bytes of a library below which a copy stays


def installer(*arguments: str) -> list[str]:
    """Command that installs packages; without byte code, which Python writes for what is used."""
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", str(PYTHON), *arguments]
    quiet = ("--disable-pip-version-check", "--no-compile", "--progress-bar", "off")
    return [str(PYTHON), "-m", "pip", "install", *quiet, *arguments]


class Step:
    """A running command, its log and its seconds."""

    def __init__(self, name: str, command: list[str], **environment: str) -> None:
        self.name, self.log, self.start = name, VENV / f"{name.replace(' ', '_')}.log", time.monotonic()
        self.wall, self.status = 0.0, None
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=os.environ | environment, stdout=log, stderr=subprocess.STDOUT
            )

    def running(self) -> bool:
        """Whether it still runs; notes status and seconds."""
        if self.status is None:
            self.wall, self.status = time.monotonic() - self.start, self.process.poll()
        return self.status is None

    def text(self) -> str:
        """What it does at the moment."""
        if self.status is not None:
            return f"{self.name}: done in {self.wall:.0f} s"
        return f"{self.name}: {self.wall:.0f} s of about {EXPECTED[self.name]}{self._detail()}"

    def _detail(self) -> str:
        if self.name == "C++ core":
            units = len(list(ROOT.glob("cpp_core/bindings/unit_*.cpp"))) + 2  # and dispatch.cpp, and one set of kernels
            return f", {len(list((ROOT / 'build').rglob('cpp_core/**/*.o')))} of {units} files compiled"
        lines = self.log.read_text(errors="replace").split("\n")
        words = next((line.split() for line in reversed(lines) if line.startswith(("Collecting", "Installing"))), [])
        return f", {words[0].lower()} {words[1] if words[0] == 'Collecting' else 'packages'}" if len(words) > 1 else ""


def run(*steps: Step) -> None:
    """Wait for steps with progress; ends this program with the last lines of the log where one fails."""
    terminal, printed = sys.stdout.isatty(), 0.0
    while any([step.running() for step in steps]):
        if terminal or time.monotonic() - printed > SILENCE:
            printed = time.monotonic()
            line = "  " + " | ".join(step.text() for step in steps)
            print(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}" if terminal else line, end="", flush=True)
            print("" if terminal else "\n", end="", flush=True)
        time.sleep(0.2)
    if terminal:
        print("\r\x1b[K", end="")
    for step in steps:
        print(f"  {step.text()}" if not step.status else f"  {step.name} failed", flush=True)
        if step.status:
            print("\n".join(step.log.read_text(errors="replace").split("\n")[-30:]), f"whole log: {step.log}", sep="\n")
            sys.exit(1)


def editable(extra: str) -> list[str]:
    """Command that installs this tree with an extra; ROS 2 from the Python index unless one is sourced."""
    extras = extra if os.environ.get("ROS_DISTRO") else f"{extra},ros"
    return installer("--no-build-isolation", "-e", f".[{extras}]")


def demo() -> None:
    """Environment, packages of the demo, and the C++ core beside them."""
    busy, cores = os.getloadavg()[0], os.cpu_count() or 1
    tool = "uv" if shutil.which("uv") else "pip"
    print(
        f"setting up {VENV.name} with {tool}: about 2 minutes the first time (about 200 MB are downloaded)", flush=True
    )
    if busy > 0.5 * cores:
        print(f"  this machine is busy (load {busy:.1f} on {cores} cores): it will take longer", flush=True)
    if not PYTHON.exists():
        VENV.mkdir(exist_ok=True)
        site = ["--system-site-packages"] if os.environ.get("ROS_DISTRO") else []
        run(Step("environment", [sys.executable, "-m", "venv", *site, str(VENV)]))
    run(Step("build tools", installer(*BUILD_TOOLS)))
    core = Step("C++ core", [str(PYTHON), "setup.py", "-q", "build_ext", "--inplace"], ROBOT_DYNAMICS_KERNELS="one")
    packages = f"{shlex.join(editable('demo'))} && {shlex.join([str(PYTHON), '-c', FIRST_IMPORT])}"
    run(core, Step("packages", ["sh", "-c", packages], **UNBUILT))
    for headers in VENV.glob("lib/python*/site-packages/cmeel.prefix/include"):
        shutil.rmtree(headers)  # C++ headers of Pinocchio and Boost, 200 MB: only `bench --peers` compiles against them
    share_libraries()


def share_libraries() -> None:
    """Hard links among identical shared libraries: wheels hold no links, so every soname is a copy (120 MB)."""
    first: dict[tuple[int, bytes], Path] = {}
    for file in sorted(p for p in (VENV / "lib").rglob("*.so*") if p.is_file() and not p.is_symlink()):
        size = file.stat().st_size
        if size < SMALL:
            continue
        known = first.setdefault((size, hashlib.sha256(file.read_bytes()).digest()), file)
        if not known.samefile(file):
            link = file.with_name(file.name + ".link")
            link.unlink(missing_ok=True)
            os.link(known, link)
            link.replace(file)


def vendor() -> None:
    """Client of the Franka controller, where this Python has one, and the server that the simulated Franka uses."""
    print("installing the vendor client of Franka (once) ...", flush=True)
    run(Step("vendor packages", editable("franka"), **UNBUILT))
    run(Step("vendor packages", installer("--no-deps", "franka-sim>=1.1")))


def mujoco() -> None:
    """MuJoCo with `dcmotor`; an older one is removed first, because its files overlap with those of version 4."""
    known = [str(PYTHON), "-c", "from mujoco import mjtBias; mjtBias.mjBIAS_DCMOTOR"]
    if subprocess.run(known, stderr=subprocess.DEVNULL, check=False).returncode:
        subprocess.run([str(PYTHON), "-m", "pip", "uninstall", "-qqy", "mujoco", "mujoco-core"], check=False)
        run(Step("MuJoCo", editable("mujoco"), **UNBUILT))


def viewer() -> None:
    """The viewer of `make demo VIEW=1`."""
    run(Step("viewer", editable("viewer"), **UNBUILT))


def dev() -> None:
    """What tests, linters and documentation need."""
    print("installing the packages of tests, lint and docs (once) ...", flush=True)
    vendor()
    mujoco()
    run(Step("test packages", editable("dev"), **UNBUILT))


def peers() -> None:
    """The package and the peers of the benchmarks, with the C++ headers that `demo` removes."""
    print(f"setting up {VENV.name} for the comparison (once): about 2 minutes, 300 MB are downloaded", flush=True)
    if not PYTHON.exists():
        VENV.mkdir(exist_ok=True)
        run(Step("environment", [sys.executable, "-m", "venv", str(VENV)]))
    run(Step("build tools", installer(*BUILD_TOOLS)))
    run(Step("packages", installer("--no-build-isolation", "-e", ".", *PEERS), **UNBUILT))


if __name__ == "__main__":
    steps = (demo, vendor, mujoco, viewer, dev, peers)
    {step.__name__: step for step in steps}[sys.argv[1]]()
