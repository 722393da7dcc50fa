"""Hook of mkdocs: the reference pages, written from the code at every build, and the result pages of bench/results.

Run as a program it prints one of them: `python docs/generators/site.py parameters`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import architecture  # noqa: E402
import commands  # noqa: E402
import concepts  # noqa: E402
import graph  # noqa: E402
import nodes  # noqa: E402
import papers  # noqa: E402
import robot_file  # noqa: E402
import simulation  # noqa: E402

PAGES: dict[str, Callable[[], str]] = {
    "reference/parameters.md": nodes.parameters,
    "reference/topics.md": nodes.topics,
    "reference/commands.md": commands.commands,
    "reference/laboratory.md": commands.laboratory,
    "reference/robot_file.md": robot_file.fields,
    "reference/robots.md": robot_file.robots,
    "reference/plant.md": simulation.plant,
    "reference/controller.md": simulation.controller,
    "reference/papers.md": papers.page,
    "architecture.svg": architecture.picture,
    "nodes.svg": graph.picture,
    "observer.svg": concepts.observer,
    "frames.svg": concepts.frames,
    "standstill.svg": concepts.standstill,
}


def result_pages() -> dict[str, Path]:
    """Name on the site -> page of bench/results or picture beside it."""
    return {f"results/{path.name}": path for path in sorted((ROOT / "bench" / "results").glob("*.*"))}


def on_files(files: Any, config: Any) -> Any:
    """Add what is not committed, and what is kept with the laboratory."""
    from mkdocs.structure.files import File

    for name, make in PAGES.items():
        files.append(File.generated(config, name, content=make()))
    for name, path in result_pages().items():
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


# what most users look for
FIRST = {"your_bag.md", "trouble.md", "force.md", "force_how.md", "friction.md", "control.md"}
# what the repository shows in place of a page of the site: the tables that it is written from
SOURCES = {
    "../robot_dynamics_ros/nodes/tables.py": "reference/parameters.md",
    "../robot_dynamics_ros/topics.py": "reference/topics.md",
    "../robot_dynamics_ros/cli/main.py": "reference/commands.md",
    "../bench/__main__.py": "reference/laboratory.md",
    "../robot_dynamics_ros/robot_file/blocks.py": "reference/robot_file.md",
    "../robot_dynamics_ros/robot_file/capabilities.py": "reference/robots.md",
    "../robot_dynamics_ros/simulation/plant/plant_file.py": "reference/plant.md",
    "../robot_dynamics_ros/simulation/ur/process.py": "reference/controller.md",
    "../robot_dynamics_ros/simulation/ur/commands.py": "reference/controller.md#commands-of-the-control-script",
    "../robot_dynamics_ros/simulation/server/scenario.py": "reference/controller.md#scenarios",
    "../robot_dynamics_ros/simulation/server/control_channel.py": "reference/controller.md#control-channel",
    "generators/papers.py": "reference/papers.md",
}
PICTURE = re.compile(r"<!-- (!\[[^\]]*\]\(\w+\.svg\)) -->")  # one that a build draws; the repository has none


def for_site(markdown: str) -> str:
    """The text as on the site, where results/ is a folder of docs, with the pages and pictures that are made."""
    for source, page in SOURCES.items():
        markdown = markdown.replace(f"]({source})", f"]({page})")
    return PICTURE.sub(r"\1", markdown).replace("../bench/results/", "results/").replace("../../docs/", "../")


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links as on the site. Order of its search: pages that most users look for, other pages, tables and results."""
    uri = page.file.src_uri
    boost = 4.0 if uri in FIRST else 0.5 if uri.startswith(("reference/", "results/")) else 1.0
    page.meta.setdefault("search", {"boost": boost})
    return for_site(markdown)


def printed(name: str) -> str:
    """A reference page as text. Raises SystemExit with the names where there is none of that name."""
    names = [page.split("/")[1].removesuffix(".md") for page in PAGES if page.startswith("reference/")]
    if name not in names:
        raise SystemExit(f"usage: python docs/generators/site.py {'|'.join(names)}")
    return PAGES[f"reference/{name}.md"]()


if __name__ == "__main__":
    print(printed(" ".join(sys.argv[1:])))
