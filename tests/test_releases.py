"""What a release says of itself: one version everywhere, results that changed, each extra tried and named."""

import importlib.util
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = PROJECT["version"]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("try_extras", ROOT / "tools" / "try_extras.py")
    made = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    spec.loader.exec_module(made)
    sys.path[:] = before
    return made


def test_the_changelog_begins_with_the_version_and_the_citation_has_it():
    versions = re.findall(r"^## (\S+)", CHANGELOG, re.MULTILINE)
    assert versions[0] == VERSION
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_each_version_says_which_results_changed():
    for version in re.split(r"^## ", CHANGELOG, flags=re.MULTILINE)[1:]:
        _, found, said = version.partition("### Results that changed\n")
        assert found, version.splitlines()[0]
        assert said.partition("\n### ")[0].strip(), version.splitlines()[0]


def test_the_pythons_that_are_named_are_those_that_are_allowed(tool):
    first, last = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PROJECT["requires-python"]).groups()
    assert tuple(f"3.{minor}" for minor in range(int(first), int(last))) == tool.PYTHONS
    assert f"Python {tool.PYTHONS[0]} to {tool.PYTHONS[-1]}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_each_extra_is_tried_and_named_in_the_readme(tool):
    assert set(tool.USES) == set(tool.EXTRAS)
    _, _, said = (ROOT / "README.md").read_text(encoding="utf-8").partition("| extra |")
    assert all(f"`{extra}`" in said[:500] for extra in PROJECT["optional-dependencies"])


def test_links_of_the_readme_are_absolute_where_a_release_is_built(tmp_path):
    workflow = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    step = workflow.partition("name: Make the links of the README")[2].partition("run: |\n")[2].partition("      - ")[0]
    before = (ROOT / "README.md").read_text(encoding="utf-8")
    (tmp_path / "README.md").write_text(before, encoding="utf-8")
    home = {"GITHUB_SERVER_URL": "https://example.org", "GITHUB_REPOSITORY": "one/sigstats", "GITHUB_SHA": "abc123"}
    subprocess.run(["bash", "-ec", textwrap.dedent(step)], cwd=tmp_path, env=os.environ | home, check=True)
    after = (tmp_path / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"(!?)\[[^]]*\]\(([^)]+)\)", before)
    assert links
    assert re.findall(r"(!?)\[[^]]*\]\(([^)]+)\)", after) == [
        (image, link if ":" in link else f"https://example.org/one/sigstats/{'raw' if image else 'blob'}/abc123/{link}")
        for image, link in links
    ]


@pytest.mark.parametrize(
    ("code", "said", "problem"),
    [
        (2, "sigstats[s3]", None),
        (0, "sigstats[s3]", "ended with 2, expected 0 and 'sigstats[s3]': needs sigstats[s3]"),
        (2, "sigstats[stem]", "ended with 2, expected 2 and 'sigstats[stem]': needs sigstats[s3]"),
    ],
)
def test_an_environment_that_does_another_thing_has_failed(tool, tmp_path, code, said, problem):
    program = tmp_path / "sigstats"
    program.write_text("#!/bin/sh\necho needs sigstats[s3] >&2\nexit 2\n")
    program.chmod(0o755)
    place = tool.Place(tmp_path, tmp_path)
    if problem is None:
        place.expect(code, said, "sigstats", "run")
    else:
        with pytest.raises(tool.Failed, match=re.escape(f"sigstats run: {problem}")):
            place.expect(code, said, "sigstats", "run")
