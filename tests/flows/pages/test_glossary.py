"""The glossary: a page names the words that it uses."""

from sigstats.flows.pages.page import words_of


def test_a_page_explains_the_words_that_it_shows_and_no_others():
    html = (
        "<title>a fold</title><style>.cell{}</style><p>Two <b>slices</b>; p-values of replicates; a rapid answer.</p>"
    )
    assert [term for term, _ in words_of(html)] == ["p-value", "replicate", "slice"]


def test_symbols_are_found_as_they_are_written():
    assert [term for term, _ in words_of("<p>PD 0.4, and a pd of nothing</p>")] == ["PD"]
