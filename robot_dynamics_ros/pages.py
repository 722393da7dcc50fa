"""HTML pages for people, from the templates of data/."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.outputs import write_atomically

TEMPLATES = Path(__file__).resolve().parent / "data"


def write_html(template: str, path: Path, **values: Any) -> Path:
    """A template of data/ filled with values, as one HTML file without external resources; returns its path.

    Raises CapabilityError without jinja2, DataError when the file cannot be written.
    """
    try:
        import jinja2
    except ImportError:
        raise CapabilityError('the report needs jinja2: pip install "robot_dynamics_ros[reports]"') from None
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters["n"] = number
    text = environment.from_string((TEMPLATES / template).read_text(encoding="utf-8")).render(**values)
    try:
        write_atomically(path, text)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error})") from error
    return path


def number(x: Any, digits: int = 4) -> str:
    """A number for a table; a dash where there is none."""
    return "–" if x is None else f"{x:.{digits}g}"
