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
# methods of the enum classes of Python: they have no types, and from Python 3.13 on a docstring
ENUM_METHODS = re.compile(
    r'^(    @classmethod\n)?    def __\w+__\([\w, ]*\):\n        (\.\.\.|"""[^"]*""")\n', re.MULTILINE
)
ALIASES = {  # names at the top of the file for what pybind11 accepts
    "Real": "typing.SupportsFloat | typing.SupportsIndex",
    "Integer": "typing.SupportsInt | typing.SupportsIndex",
    "Reals": "typing.Annotated[numpy.typing.ArrayLike, numpy.float64]",
    "Integers": "typing.Annotated[numpy.typing.ArrayLike, numpy.int64]",
    "RealArray": "numpy.typing.NDArray[numpy.float64]",
    "Codes": "numpy.typing.NDArray[numpy.int32]",
}
ALL = re.compile(r"^__all__: .*$", re.MULTILINE)  # a stub offers what it defines
DOCSTRING = re.compile(r'^( *)"""\n(.*?)\n *"""', re.MULTILINE | re.DOTALL)
WIDTH = 120  # of a line
# a property of one number that can be set
NUMBER = re.compile(
    r"    @property\n    def (\w+)\(self\) -> (bool|float|int):\n( +\"\"\".*\"\"\"\n|        \.\.\.\n)"
    r"    @\1\.setter\n    def \1\(self, \w+: .*\) -> None:\n        \.\.\.\n"
)


def enum_members(text: str) -> str:
    """Members with their values, as an enum is written in Python; methods that every enum has are left out."""
    core = importlib.import_module(MODULE)
    text = MEMBER.sub(lambda m: f"    {m[1]} = {int(getattr(core, m[2])[m[1]])}" if hasattr(core, m[2]) else m[0], text)
    return ENUM_METHODS.sub("", text)


def docstring(found: re.Match[str]) -> str:
    """On one line if it fits."""
    line = f'{found[1]}"""{found[2].strip()}"""'
    return found[0] if "\n" in line or len(line) > WIDTH else line


def shorten(text: str) -> str:
    """Long types by their aliases, docstrings of one line on one line, numbers that can be set as attributes."""
    for name, value in ALIASES.items():
        text = text.replace(value, name)
    text = DOCSTRING.sub(docstring, text)
    text = NUMBER.sub(lambda m: f"    {m[1]}: {m[2]}\n" + re.sub(r"^    ( *\.\.\.\n)?", "", m[3]), text)
    head = "".join(f"{name}: typing.TypeAlias = {value}\n" for name, value in ALIASES.items())
    text = ALL.sub(head, text, count=1).replace("typing.Any", "Any")
    return text.replace("import typing\n", "import typing\nfrom typing import Any\n", 1)


def write(out: str) -> None:
    """Fails, naming the signature, where one mentions a C++ type that is not bound, or bound only later."""
    enums = rf"\w+:{MODULE}"  # every enumeration is a member of the module itself
    options = ["-o", out, "--exit-code", "--enum-class-locations", enums]
    subprocess.run([sys.executable, "-m", "pybind11_stubgen", MODULE, *options], check=True)
    path = Path(out, *MODULE.split(".")).with_suffix(".pyi")
    text = BARE_NONE.sub(r"\1 | None = None", path.read_text(encoding="utf-8"))
    path.write_text(shorten(enum_members(text)), encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1])
