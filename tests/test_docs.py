"""What the pages promise: their examples run, their links lead somewhere, and every public name is explained."""

import doctest
import re
import runpy
import sys
import types
from collections import Counter
from pathlib import Path

import pytest

import sigstats

ROOT = Path(__file__).resolve().parents[1]
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
#: Pages whose examples take more than a second.
LONG = {"own-models.md", "benchmark.md", "results.md"}
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def name(page):
    return page.relative_to(ROOT).as_posix()


def failures(text, where):
    """What the examples of a page print in place of what they should, and how many examples there are."""
    test = doctest.DocTestParser().get_doctest(text, {}, where, where, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    report: list[str] = []
    runner.run(test, out=report.append)
    return "".join(report), len(test.examples)


def anchors(text):
    """The fragments that GitHub gives the headings of a page."""
    seen: Counter[str] = Counter()
    out = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *$", FENCED.sub("", text), flags=re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        out.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return out


def broken_links(page):
    prose = re.sub(r"`[^`\n]*`", "", FENCED.sub("", page.read_text(encoding="utf-8")))
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", target):
            continue  # another site
        path, _, fragment = target.partition("#")
        file = (page.parent / path) if path else page
        if not file.exists() or (fragment and fragment not in anchors(file.read_text(encoding="utf-8"))):
            yield target


@pytest.mark.parametrize("page", DOCS, ids=name)
def test_code_fits_a_screen(page):
    """118 columns are what the site shows of code between its two lists on a screen of 1280 pixels."""
    code = [line for _, block in FENCED.findall(page.read_text(encoding="utf-8")) for line in block.splitlines()]
    assert [line for line in code if len(line) > 118] == []


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.long] if page.name in LONG else []) for page in DOCS],
    ids=lambda page: name(page),
)
def test_examples_run(page):
    text = page.read_text(encoding="utf-8")
    report, _ = failures(text, name(page))
    assert report == ""
    for language, block in FENCED.findall(text):
        run_elsewhere = page.name == "prefect.md"  # by flows/orchestration/test_prefect_page.py, on a server
        assert language != "python" or ">>> " in block or run_elsewhere, f"Python that is not run:\n{block}"


def test_wrong_examples_and_links_are_found(tmp_path):
    report, count = failures("```python\n>>> 1 + 1\n3\n\n```\n", "page")
    assert count == 1
    assert "Expected:\n    3\nGot:\n    2" in report
    page = tmp_path / "page.md"
    page.write_text("# A `b`, *c*\n[x](#a-b-c) [y](#d) [z](no.md) [w](page.md#a-b-c) `[v](no.md)`\n", encoding="utf-8")
    assert list(broken_links(page)) == ["#d", "no.md"]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    assert list(broken_links(page)) == []


def test_links_to_pages_outside_of_the_docs_are_pages_of_the_site(monkeypatch):
    """Sphinx, which the tests have not, makes a download of a link with `path:`, and a page of what is copied."""
    for module, names in {"sphinx": {}, "sphinx.application": {"Sphinx": object}}.items():
        monkeypatch.setitem(sys.modules, module, types.SimpleNamespace(**names))
    conf = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    for page in DOCS:
        source = [page.read_text(encoding="utf-8")]
        linked = {link[2] for link in conf["OUTSIDE"].finditer(source[0])}
        assert linked == set(re.findall(r"\]\(\.\./([^)#]+\.md)", source[0]))
        conf["as_myst"](None, page.stem, source)
        assert not re.search(r"path:[^)]*\.md", source[0])
        assert all(f"(/{conf['COPIES']}/{name}" in source[0] for name in linked)


def test_the_reference_lists_every_public_name_once():
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    listed = {}
    for space, names in re.findall(r"<!-- names of (\S+) -->\n\n((?:- .*\n)+)", text):
        listed.setdefault(space, []).extend(re.findall(r"^- \[`(\w+)`\]", names, flags=re.MULTILINE))
    rooms = {"fuzzy", "possibilistic", "results"}
    spaces = {"sigstats": sigstats, **{f"sigstats.{room}": getattr(sigstats, room) for room in rooms}}
    wanted = {name: sorted({*space.__all__} - rooms) for name, space in spaces.items()}
    wanted["sigstats.results"] = sorted({*sigstats.results.__all__} - {*sigstats.__all__})  # described there
    assert {space: sorted(names) for space, names in listed.items()} == wanted


def test_the_decision_table_names_every_test():
    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    table = text[: text.index("## Conventions")]
    tests = [each for each in sigstats.__all__ if each.endswith("_test")]
    tests += [f"fuzzy.{each}" for each in sigstats.fuzzy.__all__]
    assert [each for each in tests if f"`{each}`" not in table] == []
