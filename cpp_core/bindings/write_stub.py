"""Writes the typed face of the compiled core, OUT/robot_dynamics_ros/_core.pyi. `make stub` calls it with OUT = ."""

import re
import subprocess
import sys
from pathlib import Path

MODULE = "robot_dynamics_ros._core"
BARE_NONE = re.compile(
    r"(\w+: [\w.]+) = None(?=[,)])"
)  # a pointer argument: pybind11 does not print that it is optional


def write(out: str) -> None:
    """Fails, naming the signature, where one mentions a C++ type that is not bound, or bound only later."""
    enums = rf"\w+:{MODULE}"  # every enumeration is a member of the module itself
    options = ["-o", out, "--exit-code", "--enum-class-locations", enums]
    subprocess.run([sys.executable, "-m", "pybind11_stubgen", MODULE, *options], check=True)
    path = Path(out, *MODULE.split(".")).with_suffix(".pyi")
    path.write_text(BARE_NONE.sub(r"\1 | None = None", path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1])
