"""The documentation as a whole: every page is in the navigation and can be reached, every link leads somewhere."""

import os
import re
import sys
from functools import cache
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"\]\(([^)#\s]+)?(?:#([^)\s]*))?\)")
site = SimpleNamespace(**run_path(str(DOCS / "generators" / "site.py")))
WRITTEN = {path.relative_to(DOCS).as_posix(): path for path in sorted(DOCS.rglob("*.md"))}
RESULTS = {name: path for name, path in site.result_pages().items() if name.endswith(".md")}
PAGES = [*WRITTEN, *RESULTS, *(name for name in site.PAGES if name.endswith(".md"))]


@cache
def source(page):
    """A page of the site; those from the code are made."""
    path = WRITTEN.get(page) or RESULTS.get(page)
    return site.for_site(path.read_text(encoding="utf-8")) if path else site.PAGES[page]()


def text_of(page):
    """Without fenced code."""
    return re.sub(r"```.*?```", "", source(page), flags=re.DOTALL)


def anchors(text):
    """Anchors of a page as the site makes them from its headings."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.lower())).strip("-") for heading in headings}


def navigation(entry):
    for item in entry if isinstance(entry, list) else entry.values() if isinstance(entry, dict) else ():
        yield from [item] if isinstance(item, str) else navigation(item)


def test_every_page_is_in_the_navigation():
    listed = list(navigation(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    assert sorted(listed) == sorted(PAGES)


def test_a_reference_page_is_printed_without_building_the_site():
    assert "`force.contact_on_ratio`" in site.printed("parameters") and "`~/tare`" in site.printed("topics")
    with pytest.raises(SystemExit, match=r"parameters\|topics"):
        site.printed("nosuch")


def test_every_source_file_that_a_page_names_is_there():
    files = [
        "/" + path.relative_to(ROOT).as_posix()
        for suffix in ("py", "hpp", "cpp")
        for folder in ("robot_dynamics_ros", "bench", "cpp_core", "test", "docs", "examples", "launch", "tools")
        for path in (ROOT / folder).rglob(f"*.{suffix}")
    ]
    for name, text in [*((page, text_of(page)) for page in WRITTEN), ("README.md", (ROOT / "README.md").read_text())]:
        new = set(re.findall(r"New file `([^`]+)`", text))  # worked examples
        for file in set(re.findall(r"`([a-z_/]+\.(?:py|hpp|cpp))`", text)) - new:
            assert any(known.endswith("/" + file) for known in files), f"{name}: {file}"


def test_every_page_is_reached_from_the_first():
    reached, waiting = set(), ["index.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        targets = (target for target, _ in LINK.findall(text_of(page)) if target.endswith(".md"))
        inside = (os.path.normpath(os.path.join(os.path.dirname(page), target)) for target in targets)
        waiting += [target for target in inside if target in PAGES]
    assert reached == set(PAGES)


def test_links_lead_somewhere():
    """Pages of the site, and files of the tree; from the repository's own pages to what is in it."""
    for page in [*PAGES, "../README.md", "../CHANGELOG.md"]:
        inside = page in PAGES
        text = text_of(page) if inside else (DOCS / page).read_text(encoding="utf-8")
        for target, anchor in LINK.findall(text):
            if target.startswith(("http://", "https://", "mailto:")):
                continue
            there = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
            if there in PAGES:
                assert not anchor or anchor in anchors(text_of(there)), f"{page}: {target}#{anchor}"
            else:
                known = inside and (there in site.PAGES or there in site.result_pages())
                assert known or (DOCS / there).exists(), f"{page}: {target}"


def test_links_lead_somewhere_in_the_repository_too():
    """What a build makes from the code is not there: its source is linked in its place, and its picture left out."""
    for path in (*WRITTEN.values(), *RESULTS.values()):
        text = re.sub(r"```.*?```|<!--.*?-->", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target, _ in LINK.findall(text):
            if target and not target.startswith(("http://", "https://", "mailto:")):
                assert (path.parent / target).exists(), f"{path}: {target}"


def test_the_site_has_every_page_and_picture_that_it_makes():
    shown = "".join(map(source, WRITTEN))
    for name in site.PAGES:
        assert f"]({name}" in shown, name


def test_the_picture_of_the_architecture_names_what_is_there():
    drawing = sys.modules["architecture"]
    for *_, colour, lines in drawing.BOXES.values():
        name = lines[0].replace("<name>", "ur5e")
        places = (ROOT / "robot_dynamics_ros" / name, ROOT / name)
        assert colour == drawing.OUTSIDE or any(place.exists() for place in places), name


SEARCHED = {"force.md": ("gravity compensation", "collision sensitivity", "TCP force", "set_payload")}
SEARCHED |= {"lerobot.md": ("SO-101", "force feedback"), "ros2_control.md": ("use_currents_as_efforts", "admittance")}
SEARCHED |= {"vendor_force.md": ("O_F_ext_hat_K", "actual_TCP_force", "zero_ftsensor"), "friction.md": ("stiction",)}
SEARCHED |= {"force_how.md": ("momentum observer",), "trouble.md": ("no contact force",)}
SEARCHED |= {"your_bag.md": ("your own bag",)}


@pytest.mark.parametrize(("page", "words"), [(page, words) for page, several in SEARCHED.items() for words in several])
def test_words_that_users_search_for_are_on_the_page_that_answers(page, words):
    assert words.lower() in text_of(page).lower()
