"""Reading YAML that others wrote: size cap, no aliases, no duplicate keys, YAML 1.2 floats, one-line errors."""

from __future__ import annotations

import copy
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from robot_dynamics_ros.errors import ConfigError

MAX_BYTES = 1_000_000  # the largest shipped file has 12 kB
MAX_DEPTH = 20


class _Loader(yaml.SafeLoader):
    """SafeLoader that reads 1e-3 and 010 as YAML 1.2 does and refuses duplicate keys, aliases and deep nesting."""

    depth = 0

    def _mark(self) -> Any:
        """Place of the next event."""
        return self.peek_event().start_mark  # type: ignore[no-untyped-call]

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not supported", problem_mark=self._mark())
        if self.depth >= MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem=f"nested deeper than {MAX_DEPTH}", problem_mark=self._mark())
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag != "tag:yaml.org,2002:str":
                raise yaml.MarkedYAMLError(problem="a key must be text", problem_mark=key.start_mark)
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"duplicate key '{key.value}'", problem_mark=key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regex) for tag, regex in entries if not tag.endswith((":timestamp", ":int", ":float"))]
    for first, entries in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9]+$"), list("-+0123456789"))
_Loader.add_constructor("tag:yaml.org,2002:int", lambda _, node: int(node.value))  # not octal
_FLOAT = (
    r"^(?:[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+"
    r"|[-+]?\.(?:inf|Inf)|\.(?:nan|NaN))$"
)
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(_FLOAT), list("-+0123456789."))
RESOLVERS = _Loader.yaml_implicit_resolvers  # first character -> what a plain text is read as


def read_yaml(path: Path) -> Any:
    """Plain content of a YAML file; ConfigError names file, line and reason for anything malformed."""
    text = _read_text(path)
    try:
        return copy.deepcopy(_parsed(text))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}" if mark is not None else ""
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
        raise ConfigError(str(path), line, f"malformed YAML: {' '.join(str(reason).split())}") from None
    except ValueError as error:
        raise ConfigError(str(path), "", f"malformed YAML: {' '.join(str(error).split())}") from None


@lru_cache(maxsize=32)
def _parsed(text: str) -> Any:
    """Content of a YAML text, kept: parsing takes most of the time of loading a robot or a plant."""
    return yaml.load(text, Loader=_Loader)  # a SafeLoader


def _read_text(path: Path) -> str:
    if path.exists() and not path.is_file():
        raise ConfigError(str(path), "", "is no file")  # a FIFO would wait for a writer
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(str(path), "", f"cannot be read: {error.strerror or error}") from None
    if len(data) > MAX_BYTES:
        raise ConfigError(str(path), "", f"larger than {MAX_BYTES} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError(str(path), f"line {line}", "not UTF-8 text") from None
