"""Writes the typed face of the compiled core, OUT/robot_dynamics_ros/_core.pyi. `make stub` calls it with OUT = ."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

MODULE = "robot_dynamics_ros._core"
BARE_NONE = re.compile(
    r"(\w+: [\w.]+) = None(?=[,)])"
)  # a pointer argument: pybind11 does not print that it is optional
MEMBER = re.compile(r"^    (\w+): typing\.ClassVar\[(\w+)\].*$", re.MULTILINE)
# methods of the enum classes of Python: they have no types
ENUM_METHODS = re.compile(r"^(    @classmethod\n)?    def __\w+__\([\w, ]*\):\n        \.\.\.\n", re.MULTILINE)


def enum_members(text: str) -> str:
    """Members with their values, as an enum is written in Python; methods that every enum has are left out."""
    core = importlib.import_module(MODULE)
    text = MEMBER.sub(lambda m: f"    {m[1]} = {int(getattr(core, m[2])[m[1]])}", text)
    return ENUM_METHODS.sub("", text)


def write(out: str) -> None:
    """Fails, naming the signature, where one mentions a C++ type that is not bound, or bound only later."""
    enums = rf"\w+:{MODULE}"  # every enumeration is a member of the module itself
    options = ["-o", out, "--exit-code", "--enum-class-locations", enums]
    subprocess.run([sys.executable, "-m", "pybind11_stubgen", MODULE, *options], check=True)
    path = Path(out, *MODULE.split(".")).with_suffix(".pyi")
    text = BARE_NONE.sub(r"\1 | None = None", path.read_text(encoding="utf-8"))
    path.write_text(enum_members(text), encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1])
