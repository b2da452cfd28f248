"""Every result is a table: as text, HTML, Markdown, LaTeX and a data frame, of the same cells."""

import re
from html import unescape
from itertools import chain

import pandas as pd
import pytest

import sigstats
from sigstats._common.tabular import Table, Tabular

from ..test_public_fuzz import CALLS


@pytest.fixture(scope="module")
def results():
    """Each kind of result once, by its name: made by the first test, and not wherever tests are collected."""
    found = {}
    for calls in CALLS.values():
        for function, arguments in calls:
            if not isinstance(function, sigstats.Measure):
                answer = function(**arguments)
                if isinstance(answer, Tabular):
                    found.setdefault(type(answer).__name__, answer)
    return found


@pytest.mark.long
def test_every_result_is_a_table(results):
    kinds = {name for name in sigstats.__all__ if name.endswith("Result") and name != "TestResult"}
    assert results.keys() >= (kinds - {"SequentialResult"}) | {
        "RankSets",
        "Ranking",
        "DatasetsComparison",
        "Possibility",
    }


def test_every_form_has_the_same_cells(results):
    for result in results.values():
        check_forms(result)


def check_forms(result):
    table = result._table()
    rows = [list(table.columns), *map(list, table.rows)]
    html = result._repr_html_()
    assert [unescape(cell) for cell in re.findall(r"<t[hd]>(.*?)</t[hd]>", html)] == [
        " ".join(cell.split()) for cell in chain(*rows)
    ]
    assert table.title in unescape(html)
    lines = str(result).splitlines()
    assert lines[0] == table.title
    assert [line.split() for line in lines[1 : 1 + len(rows)]] == [" ".join(row).split() for row in rows]
    markdown = [line for line in result.to_markdown().splitlines() if line.startswith("| ")]
    assert len(markdown) == len(rows) + 1
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in markdown} == {len(table.columns) + 1}
    latex = [line for line in result.to_latex().splitlines() if line.endswith("\\\\")]
    assert [len(re.findall(r"(?<!\\)&", line)) for line in latex] == [len(table.columns) - 1] * len(rows)


def test_a_frame_is_typed(results):
    for name, result in results.items():
        frame = result.to_pandas()
        assert isinstance(frame, pd.DataFrame)
        assert len(frame) >= 1
        numbers = {"pvalue", "estimate", "low", "high", "statistic", "n_resamples"} & set(frame)
        assert all(pd.api.types.is_numeric_dtype(frame[column]) for column in numbers), name


def test_what_a_document_would_obey_is_text():
    class Odd(Tabular):
        def _table(self):
            return Table("100% & <b>|", {"a_b": ["x|y", "#1 {}"], "n": ["−2 × 10⁻⁵", "1"]})

    assert r"x\|y" in Odd().to_markdown()
    assert r"\#1 \{\} & 1 \\" in Odd().to_latex()
    assert r"x\textbar{}y & " in Odd().to_latex()  # in OT1, LaTeX's own encoding, | is a dash, and < a turned !
    assert r"$-$2 $\times$ 10\textsuperscript{$-$5}" in Odd().to_latex()
    assert "<b>" not in Odd()._repr_html_()
