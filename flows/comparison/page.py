"""A comparison, with one candidate or several, as one page of HTML that needs no network.

Its first screen says where the candidate is worse and by how much, what was not shown, and what to do.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sigstats._common.numerals import NBSP
from sigstats.comparison.candidates import CandidatesResult, overall
from sigstats.comparison.cells import (
    cells_of,
    difference_of,
    interval_of,
    loss,
    sort_keys_of,
    value_of,
    verdict_of,
    with_unit,
)
from sigstats.comparison.paired_predictions import ALL_ROWS
from sigstats.comparison.result import (
    ComparisonResult,
    ComparisonRow,
    apart_in_sign,
    hint,
    not_worse_and_cheaper,
    reasons,
    rule_in_words,
)

from ..pages.page import Answer, page
from ..pages.wording import count_of, some_of
from . import OVERVIEW, overview, rows_in_words, subjects_in_words
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


def as_html(found: ComparisonResult, baseline: str, candidate: str, changed: "Changed | None" = None) -> str:
    """The page: the answer with its figure, the table, the worst rows first, and the rest folded."""
    # No line break divides a number.
    said = [reason.replace(" × ", f"{NBSP}×{NBSP}") for reason in reasons(found)]
    several = len(found.rows) > MOST_INTERVALS
    answer = answer_of(found)
    return page(
        "comparison.html.j2",
        answer=answer,
        baseline=baseline,
        candidate=candidate,
        rows_in_words=rows_in_words(found),
        subjects=subjects_in_words(found),
        rule=rule_in_words(found),
        reasons=said[:_MOST_REASONS],
        more=max(0, len(said) - _MOST_REASONS),
        notes=found.notes,
        figure=forest_plots(found.ranked[:_MOST_INTERVALS], found.rule.margin, "all") if several else "",
        header=table_header(found),
        rows=[] if found.identical else table_rows(found),
        changed=changed,
    )


def table_header(found: ComparisonResult) -> list[tuple[str, str]]:
    """The columns of the table, each with how it is set: words, a number, or neither."""
    names = ("verdict", *_shown_columns(found), "test")
    return [
        (_TITLES.get(name, name), "words" if name in _WORDS else "number" if name != "verdict" else "")
        for name in names
    ]


def table_rows(found: ComparisonResult) -> list[list[tuple[str, str]]]:
    """The cells of each row with their sort keys, the worst row first."""
    return [_cells(row, _shown_columns(found)) for row in found.ranked]


def _shown_columns(found: ComparisonResult) -> list[str]:
    return [name for name in _COLUMNS if name != "measure" or len(found.names) > 1]


def _cells(row: ComparisonRow, columns: Sequence[str]) -> list[tuple[str, str]]:
    how = "; ".join(filter(None, [row.test, row.note]))
    cells, keys = cells_of(row), sort_keys_of(row)
    return [(verdict_of(row), ""), *((cells[name], keys[name]) for name in columns), (how, "")]


def candidates_as_html(found: CandidatesResult) -> str:
    """The page: which to take, the candidates, and for each its reasons and its table."""
    first = found.results[0]
    answer = answer_of_candidates(found)
    numbers = ["" if name in ("verdict", "candidate", "rows") else "number" for name in OVERVIEW]
    return page(
        "candidates.html.j2",
        answer=answer,
        baseline=found.baseline,
        rule=rule_in_words(first),
        overview_header=list(zip(OVERVIEW, numbers, strict=True)),
        overview=[[(cell, "") for cell in row] for row in overview(found)],
        candidates=[
            {
                "name": name,
                "verdict": each.verdict,
                "reasons": reasons(each)[:_MOST_REASONS],
                "notes": each.notes,
                "header": table_header(each),
                "rows": table_rows(each),
            }
            for name, each in zip(found.candidates, found.results, strict=True)
        ],
    )


#: The first figure holds at most this many intervals.
MOST_INTERVALS = 16
CAPTION = (
    "Candidate less baseline, with its interval. Squares: worse. Diamonds: undecided. Discs: not worse. "
    "Dotted: the drop that a pass excludes."
)


def answer_of(found: ComparisonResult) -> Answer:
    """The first screen of a comparison of two files."""
    if found.identical:
        return Answer(headline="Both are the same thing: there is nothing to test", verdict=found.verdict)
    return Answer(
        headline=_headline(found),
        verdict=found.verdict,
        numbers=_numbers(found),
        shown=[*_shown(found), *(("Beware:", f"{words}.") for words in apart_in_sign(found))],
        to_do=_to_do(found),
        figure=forest_plots(found.ranked[:MOST_INTERVALS], found.rule.margin),
        caption=CAPTION,
    )


def answer_of_candidates(found: CandidatesResult) -> Answer:
    """The first screen of a comparison of several candidates: which to take, and the verdict of each."""
    pairs = list(zip(found.candidates, found.results, strict=True))
    words = {"pass": "Not worse:", "inconclusive": "Undecided:", "fail": "Worse:"}
    named = {verdict: [name for name, each in pairs if each.verdict == verdict] for verdict in words}
    first = found.take or next(names for names in named.values() if names)[0]
    shown, titles = dict(pairs)[first], {"baseline": found.baseline, "candidate": first}
    return Answer(
        headline=f"{found.recommendation[:1].upper()}{found.recommendation[1:]}",
        numbers=[(titles.get(what, what), value, below) for what, value, below in _numbers(shown)],
        shown=[(words[verdict], f"{some_of(names)}.") for verdict, names in named.items() if names],
        to_do=_to_do(shown),
        figure=forest_plots([replace(overall(each), slice=name) for name, each in pairs], found.results[0].rule.margin),
        caption=f"Of all rows. {CAPTION}",
    )


def _overall(found: ComparisonResult) -> ComparisonRow:
    """The first measure on all rows, which is decided where any measure is."""
    return next((row for row in found.rows if row.slice == ALL_ROWS and row.verdict), found.rows[0])


def _headline(found: ComparisonResult) -> str:
    kind = "slice" if len(found.names) == 1 else "test"
    first, fails = _overall(found), [row for row in found.ranked if row.verdict == "fail"]
    if fails:
        worst = first if first in fails else fails[0]
        rest = [row for row in fails if row is not worst]
        size = f"Worse on {worst.slice} by {_size(worst, worst.difference)}{_of(found, worst)}"
        more = "" if worst.slice == ALL_ROWS and kind == "slice" else "more "
        return f"{size}, and {'on' if kind == 'slice' else 'in'} {count_of(len(rest), more + kind)}" if rest else size
    if found.verdict == "pass":
        change = with_unit(first, first.difference) if first.difference else "no difference"
        return f"Not worse anywhere: {change} on all rows{_of(found, first)}"
    if first.verdict == "pass":
        places = _places(found, "inconclusive")
        undecided = f"{places[0]} is" if len(places) == 1 else f"{len(places):,} {kind}s are"
        return f"Not worse on all rows{_of(found, first)}; {undecided} undecided"
    if first.worst is None or first.without_limits:
        return f"No {loss(first)} is shown, and none is excluded{_of(found, first)}"
    up_to = f"one of up to {_size(first, first.worst)}{_of(found, first)}"
    return f"No {loss(first)} is shown on all rows, but {up_to} is not excluded"


def _numbers(found: ComparisonResult) -> list[tuple[str, str, str]]:
    row = _overall(found)
    if row.difference is None:
        return []
    measure = row.name.replace("-", " ")
    values = [(name, value_of(row, getattr(row, name)), measure) for name in ("baseline", "candidate")]
    between = interval_of(row)
    return [*values, ("difference", difference_of(row, row.difference), "" if between == "–" else between)]


def _shown(found: ComparisonResult) -> Iterator[tuple[str, str]]:
    """What is worse, what is not, what is undecided, and what was not tested."""
    if places := _places(found, "fail"):
        yield "Worse:", f"{some_of(places)}."
    if places := _places(found, "pass"):
        passing = [row for row in found.rows if row.verdict == "pass"]
        row = max(passing, key=found.rule.margin_of)
        yield (
            "Not worse:",
            f"{some_of(places)}; a {loss(row)} of more than {_size(row, found.rule.margin_of(row))} is excluded.",
        )
    if places := _places(found, "inconclusive"):
        open_ = [row for row in found.rows if row.verdict == "inconclusive"]
        limited = [
            row for row in open_ if row.worst is not None and not row.without_limits and row.unit == open_[0].unit
        ]
        largest = max(limited, key=lambda row: abs(row.worst or 0), default=None)
        possible = ""
        if largest is not None:
            possible = f"; a {loss(largest)} of up to {_size(largest, largest.worst)} is possible on {largest.slice}"
        yield "Undecided:", f"{some_of(places)}{possible}."
    if together := not_worse_and_cheaper(found):
        yield "Together:", f"{together}."
    if places := _places(found, None):
        reason = next(row.note for row in found.rows if row.verdict is None)
        yield "Not tested:", f"{some_of(places)} ({reason})."


def _to_do(found: ComparisonResult) -> str:
    fails = [row for row in found.ranked if row.verdict == "fail"]
    open_ = [row for row in found.ranked if row.verdict == "inconclusive"]
    if fails:
        parts = [row.slice for row in fails if row.slice != ALL_ROWS]
        return "Keep the baseline." + (f" Begin with {parts[0]}: the evidence is clearest there." if parts else "")
    if open_:
        first = open_[0]
        leaning = "" if first.silent else f" On {first.slice}: {hint(first)}."
        if first.without_limits:
            return f"Name the limits of a row (--score-range LOW HIGH): without them no number of rows passes.{leaning}"
        size = f"sigstats size with the same files and options, and --measure {first.measure}"
        return f"Compare on more rows{'' if first.silent else f': {size}, says how many show a drop'}.{leaning}"
    return "The candidate may replace the baseline."


def _places(found: ComparisonResult, verdict: str | None) -> list[str]:
    """The slices with this verdict, the worst first, with the measure where there are several."""
    rows = [row for row in found.ranked if row.verdict == verdict]
    return [row.slice if len(found.names) == 1 else f"{row.name} on {row.slice}" for row in rows]


def _of(found: ComparisonResult, row: ComparisonRow) -> str:
    return f" ({row.name})" if len(found.names) > 1 or row.measure != "accuracy" else ""


def _size(row: ComparisonRow, value: float | None) -> str:
    """An amount of a drop, without its sign."""
    return with_unit(row, value).lstrip("−+")
