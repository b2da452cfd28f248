"""The glossary: a page names the words that it uses, and the page of the documents is made from it."""

import importlib.util
from pathlib import Path

from sigstats.flows.pages.glossary import words_of

ROOT = Path(__file__).parents[3]


def test_a_page_explains_the_words_that_it_shows_and_no_others():
    html = (
        "<title>a fold</title><style>.cell{}</style><p>Two <b>slices</b>; p-values of replicates; a rapid answer.</p>"
    )
    assert [term for term, _ in words_of(html)] == ["p-value", "replicate", "slice"]


def test_symbols_are_found_as_they_are_written():
    assert [term for term, _ in words_of("<p>PD 0.4, and a pd of nothing</p>")] == ["PD"]


def test_the_page_of_the_documents_is_the_glossary():
    spec = importlib.util.spec_from_file_location("glossary", ROOT / "tools" / "glossary.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.PAGE.read_text() == tool.written(), "run python tools/glossary.py"
