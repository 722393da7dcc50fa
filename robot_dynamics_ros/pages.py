"""HTML pages for people, from the templates of data/; page.html.j2 is their common design."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from robot_dynamics_ros import __version__
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.outputs import command_line, write_atomically, writing
from robot_dynamics_ros.verdict import change

TEMPLATES = Path(__file__).resolve().parent / "data"


def write_html(template: str, path: Path, **values: Any) -> Path:
    """A template of data/ filled with values, as one HTML file without external resources; returns its path.

    Raises CapabilityError without jinja2, DataError when the file cannot be written.
    """
    try:
        import jinja2
    except ImportError:
        raise CapabilityError('the report needs jinja2: pip install "robot_dynamics_ros[reports]"') from None
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    environment.globals |= {
        "version": __version__,
        "command": command_line(),
        "date": f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M}",
    }
    environment.filters |= {"n": number, "change": change}
    text = environment.get_template(template).render(**values)
    with writing(path):
        write_atomically(path, text)
    return path


def number(x: Any, digits: int = 4) -> str:
    """A number for a table; a dash where there is none."""
    return "–" if x is None else f"{x:.{digits}g}"
