"""What a release states about itself, in one version: both packages, citation, changelog, conda recipe."""

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
VERSION = ElementTree.parse(ROOT / "package.xml").findtext("version")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
RECIPE = (ROOT / "recipe.yaml").read_text(encoding="utf-8")
ELSEWHERE = {"rosbags", "ur-rtde"}  # on the Python index only
CONDA = {"pin": "pinocchio"}


def test_everything_states_the_same_version():
    stated = {
        "broadcaster": ElementTree.parse(ROOT / "contact_force_broadcaster" / "package.xml").findtext("version"),
        "citation": CITATION["version"],
        "changelog": re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1],
        "recipe": yaml.safe_load(RECIPE)["context"]["version"],
    }
    assert stated == dict.fromkeys(stated, VERSION)


def test_the_least_version_of_a_package_stands_in_one_place():
    texts = [(ROOT / name).read_text() for name in ("setup.py", "Makefile", "tools/environment.py")]
    named = Counter(name for text in texts for name in re.findall(r'"([a-z0-9-]+)>=', text))
    assert named["mujoco"] == named["rerun-sdk"] == 1 == max(named.values())


def test_the_citation_has_what_an_archive_needs_for_a_doi():
    """Zenodo reads CITATION.cff; `cffconvert --validate` judges it by the schema of its version."""
    needed = {"cff-version", "message", "title", "abstract", "authors", "version", "license", "keywords", "type"}
    assert set(CITATION) == needed and all(CITATION.values())
    assert CITATION["license"] == ElementTree.parse(ROOT / "package.xml").findtext("license")


def test_the_conda_recipe_renders_and_has_what_the_package_needs():
    rattler_build = pytest.importorskip("rattler_build")
    variant = rattler_build.VariantConfig({"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"], "python": ["3.12.*"]})
    (rendered,) = rattler_build.Stage0Recipe.from_yaml(RECIPE).render(variant)
    recipe = rendered.recipe.to_dict()
    assert recipe["package"]["version"] == VERSION
    listed = re.search(r"install_requires=\[(.*?)\n    \]", (ROOT / "setup.py").read_text(), re.DOTALL)[1]
    needed = set(re.findall(r"""^\s*["']([\w-]+(?:>=[\d.]+)?)""", listed, re.MULTILINE))
    given = {line.lower().replace(" ", "") for line in recipe["requirements"]["run"]}
    for requirement in needed:
        name, _, least = requirement.lower().partition(">=")
        assert name in ELSEWHERE or f"{CONDA.get(name, name)}>={least}" in given, requirement
    assert len(needed) > 8
