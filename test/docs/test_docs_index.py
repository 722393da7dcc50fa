"""The documentation as a whole: every page is in the navigation and can be reached, every link leads somewhere."""

import os
import re
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {path.relative_to(DOCS).as_posix(): path for path in sorted(DOCS.rglob("*.md"))}
LINK = re.compile(r"\]\(([^)#\s]+)?(?:#([^)\s]*))?\)")


def text_of(path):
    """Without fenced code."""
    return re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def anchors(path):
    """Anchors of a page as the site makes them from its headings."""
    headings = re.findall(r"^#+ (.*)$", text_of(path), re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower())).strip("-") for heading in headings}


def navigation(entry):
    for item in entry if isinstance(entry, list) else entry.values() if isinstance(entry, dict) else ():
        yield from [item] if isinstance(item, str) else navigation(item)


def test_every_page_is_in_the_navigation():
    listed = list(navigation(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    assert sorted(listed) == sorted(PAGES)


def test_every_source_file_that_a_page_names_is_there():
    folders = [path for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "." and path.name != "build"]
    sources = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".hpp", ".cpp")]
    files = ["/" + path.relative_to(ROOT).as_posix() for path in [*sources, *ROOT.glob("*.py")]]
    for path in [*PAGES.values(), ROOT / "README.md"]:
        text = text_of(path)
        new = set(re.findall(r"New file `([^`]+)`", text))  # worked examples
        for name in set(re.findall(r"`([a-z_/]+\.(?:py|hpp|cpp))`", text)) - new:
            assert any(file.endswith("/" + name) for file in files), f"{path.name}: {name}"


def test_every_page_is_reached_from_the_first():
    reached, waiting = set(), ["index.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        targets = (target for target, _ in LINK.findall(text_of(PAGES[page])) if target.endswith(".md"))
        inside = (os.path.normpath(os.path.join(os.path.dirname(page), target)) for target in targets)
        waiting += [target for target in inside if target in PAGES]
    assert reached == set(PAGES)


def test_links_lead_somewhere():
    for path in [*PAGES.values(), ROOT / "README.md", ROOT / "CHANGELOG.md"]:
        for target, anchor in LINK.findall(text_of(path)):
            if target.startswith(("http://", "https://", "mailto:")):
                continue
            there = (path.parent / target).resolve() if target else path
            assert there.exists(), f"{path.name}: {target}"
            if anchor and there.suffix == ".md":
                assert anchor in anchors(there), f"{path.name}: {target}#{anchor}"


def test_the_picture_of_the_architecture_is_todays():
    sys.path.insert(0, str(DOCS))
    import architecture_picture as drawing

    assert (DOCS / "architecture.svg").read_text(encoding="utf-8") == drawing.picture(), "docs/architecture_picture.py"
    for *_, colour, lines in drawing.BOXES.values():
        name = lines[0].replace("<name>", "ur5e")
        places = (ROOT / "robot_dynamics_ros" / name, ROOT / name)
        assert colour == drawing.OUTSIDE or any(place.exists() for place in places), name
