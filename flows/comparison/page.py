"""A comparison, with one candidate or several, as one page of HTML that needs no network.

Its first screen is the answer: the test that decides, its effect, and the advice.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sigstats._common.messages import some_of
from sigstats._common.numerals import NBSP
from sigstats.comparison.answer import reasons
from sigstats.comparison.cells import (
    cells_of,
    difference_of,
    effect_of,
    interval_of,
    named,
    sort_keys_of,
    titles_of,
    value_of,
    verdict_of,
)
from sigstats.comparison.result import CandidatesResult, ComparisonResult, ComparisonRow, rule_in_words

from ..pages.page import Answer, page
from . import OVERVIEW, deciding_rows, overview, rows_in_words, subjects_in_words
from .forest_plot import forest_plots

if TYPE_CHECKING:
    from .changed import Changed

#: At most this many reasons and intervals are shown; the table has all rows.
_MOST_REASONS, _MOST_INTERVALS = 20, 200
#: The columns of the table, those first that a phone shows, with how they are set.
_COLUMNS = (
    "slice", "measure", "difference", "interval", "baseline", "candidate", "rows", "p adjusted", "p", "PD", "NSD",
)  # fmt: skip
_TITLES = {"PD": "possible (PD)", "NSD": "certain (NSD)"}
_WORDS = ("slice", "measure", "test")


def as_html(result: ComparisonResult, baseline: str, candidate: str, changed: "Changed | None" = None) -> str:
    """Write the page: the answer with its figure, then the table with the worst rows first and the rest folded."""
    # No line break divides a number.
    texts = [reason.replace(" × ", f"{NBSP}×{NBSP}") for reason in reasons(result)]
    several = len(result.rows) > MOST_INTERVALS
    answer = answer_of(result)
    return page(
        "comparison.html.j2",
        answer=answer,
        baseline=baseline,
        candidate=candidate,
        rows_in_words=rows_in_words(result),
        subjects=subjects_in_words(result),
        rule=rule_in_words(result),
        reference=result.rows[0].reference,
        reasons=texts[:_MOST_REASONS],
        more=max(0, len(texts) - _MOST_REASONS),
        notes=result.notes,
        figure=forest_plots(result.ranked[:_MOST_INTERVALS], "all") if several else "",
        changed=changed,
        **_table(result),
    )


def _table(result: ComparisonResult) -> dict[str, Any]:
    """Return columns with their alignment (words, a number, or neither), and cells with sort keys, worst row first."""
    columns = [name for name in _COLUMNS if name != "measure" or len(result.names) > 1]
    names = ("verdict", *columns, "test")
    header = [
        (_TITLES.get(title, title), "words" if name in _WORDS else "number" if name != "verdict" else "")
        for name, title in zip(names, titles_of(names, result.rows), strict=True)
    ]
    rows = []
    for row in result.ranked:
        cells, keys, how = cells_of(row), sort_keys_of(row), "; ".join(filter(None, [row.test, row.note]))
        rows.append([(verdict_of(row), ""), *((cells[name], keys[name]) for name in columns), (how, "")])
    return {"header": header, "rows": rows}


def candidates_as_html(result: CandidatesResult) -> str:
    """Write the page: the recommendation, the candidates, and the reasons and table of each."""
    first = result.results[0]
    answer = answer_of_candidates(result)
    numbers = ["" if name in ("verdict", "candidate", "decided by", "rows") else "number" for name in OVERVIEW]
    return page(
        "candidates.html.j2",
        answer=answer,
        baseline=result.baseline,
        rule=rule_in_words(first),
        overview_header=list(zip(OVERVIEW, numbers, strict=True)),
        overview=[[(cell, "") for cell in row] for row in overview(result)],
        candidates=[
            {
                "name": name,
                "verdict": comparison.verdict,
                "reasons": reasons(comparison)[:_MOST_REASONS],
                "notes": comparison.notes,
                **_table(comparison),
            }
            for name, comparison in zip(result.candidates, result.results, strict=True)
        ],
    )


#: The first figure holds at most this many intervals.
MOST_INTERVALS = 16
_CAPTION = (
    "Candidate minus {}, with its interval. Squares: worse. Diamonds: undecided. Discs: not worse. "
    "Dotted: the drop that a pass excludes."
)


def answer_of(result: ComparisonResult) -> Answer:
    """Return the first screen of a comparison of two files."""
    answer = result.answer
    screen = Answer(headline=f"{answer.finding[:1].upper()}{answer.finding[1:]}", verdict=result.verdict)
    if answer.row is None:
        return screen
    return replace(
        screen,
        numbers=_numbers(answer.row),
        shown=[*answer.also, *_places_by_verdict(result)],
        to_do=answer.advice,
        figure=forest_plots(result.ranked[:MOST_INTERVALS]),
        caption=_CAPTION.format(answer.row.reference),
    )


def answer_of_candidates(result: CandidatesResult) -> Answer:
    """Return the first screen for several candidates: which one to choose, and the deciding test of each."""
    words = {"pass": "Not worse:", "inconclusive": "Undecided:", "fail": "Worse:"}
    named_rows = list(zip(result.candidates, result.results, result.deciding, strict=True))
    tests_by_verdict = {
        verdict: [f"{name}: {named(row)} {effect_of(row)}" for name, one, row in named_rows if one.verdict == verdict]
        for verdict in words
    }
    first = result.take or min(named_rows, key=lambda value: [*words].index(value[1].verdict))[0]
    titles = {"baseline": result.baseline, "candidate": first}
    row = next(row for name, _, row in named_rows if name == first)
    return Answer(
        headline=result.recommendation,
        numbers=[(titles.get(what, what), value, below) for what, value, below in _numbers(row)],
        shown=[(words[verdict], f"{'; '.join(tests)}.") for verdict, tests in tests_by_verdict.items() if tests],
        figure=forest_plots(deciding_rows(result)),
        caption=f"The test that decides the verdict of each candidate. {_CAPTION.format(row.reference)}",
    )


def _numbers(row: ComparisonRow) -> list[tuple[str, str, str]]:
    if row.difference is None:
        return []
    sides = ((row.reference, row.baseline), ("candidate", row.candidate))
    values = [(name, value_of(row, value), named(row)) for name, value in sides]
    between = interval_of(row)
    return [*values, ("difference", difference_of(row, row.difference), "" if between == "–" else between)]


def _places_by_verdict(result: ComparisonResult) -> Iterator[tuple[str, str]]:
    for words, verdict in (("Worse:", "fail"), ("Undecided:", "inconclusive"), ("Not worse:", "pass")):
        if places := _places(result, verdict):
            yield words, f"{some_of(places)}."
    if places := _places(result, None):
        yield "Not tested:", f"{some_of(places)} ({next(row.note for row in result.rows if row.verdict is None)})."


def _places(result: ComparisonResult, verdict: str | None) -> list[str]:
    rows = [row for row in result.ranked if row.verdict == verdict]
    return [row.slice if len(result.names) == 1 else named(row) for row in rows]
