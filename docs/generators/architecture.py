"""The picture of the architecture page: the path of a sample and of a bag. Stages and folders are the code's own."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape

from robot_dynamics_ros.estimators.pipeline import STAGES

Box = tuple[int, int, int, int, str, tuple[str, ...]]
Arrow = tuple[tuple[tuple[int, int], ...], str, tuple[int, int]]
SIZE = (960, 470)
LIVE, OFFLINE, FILE, CORE, OUTSIDE = "#dbe9f6", "#e6f2e1", "#fdebd0", "#ececec", "#ffffff"

# key -> (x, y, width, height, colour, lines; the first is a name of the tree where the colour is not OUTSIDE)
BOXES: dict[str, Box] = {
    "robot": (20, 60, 110, 80, OUTSIDE, ("robot", "or simulation/")),
    "drivers": (180, 60, 150, 80, LIVE, ("drivers/", "receive thread in C++,", "ring without locks")),
    "pipeline": (390, 30, 200, 140, LIVE, ("estimators/", *STAGES)),
    "nodes": (650, 60, 140, 80, LIVE, ("nodes/", "parameters, services,", "diagnostics")),
    "topics": (840, 60, 100, 80, OUTSIDE, ("ROS topics", "rviz, viewer,", "your nodes")),
    "control": (180, 195, 150, 70, LIVE, ("control/", "and guard, stepped in", "the driver's thread")),
    "bags": (840, 290, 100, 70, OFFLINE, ("bags/", "any recording", "into a Log")),
    "replay": (650, 205, 140, 60, OFFLINE, ("estimators/replay.py", "the same stages", "over a Log")),
    "identification": (630, 290, 160, 70, OFFLINE, ("identification/", "masses, friction, heat,", "stiffness, drives")),
    "file": (390, 290, 200, 70, FILE, ("config/robots/<name>.yaml", "every number of a robot,", "with its source")),
    "core": (20, 405, 920, 45, CORE, ("cpp_core/", "one implementation of each equation: live node, replay, fits")),
}
# (points, text, where the text stands)
ARROWS: tuple[Arrow, ...] = (
    (((130, 85), (180, 85)), "state", (155, 78)),
    (((330, 100), (390, 100)), "Sample", (360, 93)),
    (((590, 100), (650, 100)), "estimates", (620, 93)),
    (((790, 100), (840, 100)), "", (0, 0)),
    (((255, 140), (255, 195)), "state", (273, 170)),
    (((180, 230), (75, 230), (75, 140)), "torque", (125, 223)),
    (((890, 140), (890, 290)), "record", (912, 220)),
    (((840, 312), (815, 312), (815, 235), (790, 235)), "", (0, 0)),
    (((840, 335), (790, 335)), "Log", (815, 329)),
    (((630, 325), (590, 325)), "fits", (610, 318)),
    (((490, 290), (490, 170)), "numbers", (520, 240)),
    (((390, 325), (255, 325), (255, 265)), "numbers", (320, 318)),
)


def _box(x: int, y: int, width: int, height: int, colour: str, lines: tuple[str, ...]) -> list[str]:
    dash = ' stroke-dasharray="4 3"' if colour == OUTSIDE else ""
    out = [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{colour}" stroke="#555"{dash}/>']
    step = 15
    first = y + height / 2 - step * (len(lines) - 1) / 2 + 4
    for k, line in enumerate(lines):
        weight = ' font-weight="bold"' if k == 0 else ' fill="#333"'
        place = f'x="{x + width / 2:g}" y="{first + step * k:g}"'
        out.append(f'<text {place} text-anchor="middle"{weight}>{escape(line)}</text>')
    return out


def _arrow(points: tuple[tuple[int, int], ...], text: str, where: tuple[int, int]) -> list[str]:
    path = " ".join(f"{x},{y}" for x, y in points)
    out = [f'<polyline points="{path}" fill="none" stroke="#333" stroke-width="1.5" marker-end="url(#head)"/>']
    if text:
        out.append(f'<text x="{where[0]}" y="{where[1]}" text-anchor="middle" font-size="11">{escape(text)}</text>')
    return out


def drawn(size: tuple[int, int], boxes: Iterable[Box], arrows: Iterable[Arrow]) -> str:
    """Boxes and arrows as SVG."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" font-family="sans-serif"'
        ' font-size="12">',
        '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        '<path d="M0,1 L7,4 L0,7 z" fill="#333"/></marker></defs>',
        f'<rect width="{size[0]}" height="{size[1]}" fill="white"/>',
    ]
    for box in boxes:
        lines += _box(*box)
    for arrow in arrows:
        lines += _arrow(*arrow)
    return "\n".join([*lines, "</svg>", ""])


def picture() -> str:
    """The drawing as SVG."""
    return drawn(SIZE, BOXES.values(), ARROWS)
