"""The report of a regression study: the last verdict, the trend of each measure, and the history as a table.

It is made from the history alone, and needs no network.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from sigstats._common.scores import is_lower_better, unit_of
from sigstats.comparison.cells import difference_in_words
from sigstats.comparison.result import ComparisonResult
from sigstats.comparison.rows import ComparisonRow, measure_and_score
from sigstats.comparison.sentences import rule_in_words
from sigstats.tasks.storage.history import Record
from sigstats.tasks.storage.store import Store

from ..comparison.answer import answer_of
from ..pages.page import page
from ..pages.wording import count_of, p_number, significant
from ..report.section import Figure
from .study import RegressionStudy
from .trends import trends_of_measures, trends_of_slices


def write_regression_report(
    store: Store, study: RegressionStudy, records: Sequence[Record], damaged: Sequence[str]
) -> str:
    """Write ``report.html``; return its location.

    `records`: in the order of time, at least one. `damaged`: a line for each file of the history that cannot be used.
    """
    store.files.write("report.html", render(study, records, damaged).encode("utf-8", "replace"))
    return f"{store.root.rstrip('/')}/report.html"


def render(study: RegressionStudy, records: Sequence[Record], damaged: Sequence[str]) -> str:
    """The page."""
    latest = records[-1].evaluation
    rule = study.rule_at(latest.level)
    found = ComparisonResult(rows=tuple(map(_as_row, records[-1].rows)), rule=rule, n=records[-1].rows[0]["n"])
    trends, more = trends_of_measures(records), trends_of_slices(records)
    answer = answer_of(found)
    newest = Figure("The newest candidate", answer.caption, answer.figure)
    return page(
        "regression.html.j2",
        name=study.name,
        title=f"{study.name}: {answer.title}",
        answer=replace(answer, figure=trends.body, caption=trends.caption),
        latest=latest,
        looks=looks_in_words(records),
        reasons=latest.reasons.splitlines(),
        rule=rule_in_words(rule, study.measures),
        damaged=damaged,
        figures=[newest, *more],
        header=_HEADER,
        rows=[_cells(record) for record in reversed(records)],
    )


def _as_row(row: Mapping[str, Any]) -> ComparisonRow:
    kept = ("slice", "n", "difference", "low", "high", "p_worse", "p_adjusted", "pd", "nsd", "note")
    measure, score = measure_and_score(row["measure"])
    return ComparisonRow(
        **{name: row[name] for name in kept},
        measure=measure,
        score=score,
        baseline=row["baseline_value"],
        candidate=row["candidate_value"],
        verdict=row["row_verdict"],
        lower_is_better=is_lower_better(score) is True,
        unit=unit_of(score),
    )


def looks_in_words(records: Sequence[Record]) -> str:
    """The number of candidates that were compared on the rows of the last evaluation, and the level."""
    latest = records[-1].evaluation
    level = significant(latest.level, 3)
    if latest.look == 1:
        return f"The first candidate that these rows have judged; this look had the level {level}."
    return (
        f"These rows have judged {count_of(latest.look, 'candidate')}; this look had the level {level}. "
        "Every candidate that is tested on the same rows is one more chance of a false alarm."
    )


_HEADER = (
    ("evaluated", False),
    ("verdict", False),
    ("difference there", True),
    ("where", False),
    ("smallest adjusted p", True),
    ("candidate", False),
    ("baseline", False),
    ("look", True),
    ("level", True),
    ("candidate dated", False),
)


def _cells(record: Record) -> tuple[str, list[tuple[str, str]]]:
    """The page of an evaluation, and its cells with their sort keys."""
    about = record.evaluation
    # Measures have different units, so the row that is most clearly worse is found by p.
    worst = min((row for row in record.rows if row["row_verdict"]), key=lambda row: (row["p_worse"], row["difference"]))
    return f"comparisons/{about.evaluation[:16]}.html", [
        (f"{about.evaluated_at:%Y-%m-%d %H:%M}", ""),
        (about.verdict, ""),
        (difference_in_words(_as_row(worst)), repr(worst["difference"])),
        (f"{worst['measure']} on {worst['slice']}", ""),
        (p_number(worst["p_adjusted"]), repr(worst["p_adjusted"])),
        (PurePath(about.candidate).name, ""),
        (PurePath(about.baseline).name, ""),
        (str(about.look), str(about.look)),
        (significant(about.level, 3), repr(about.level)),
        (f"{about.dated:%Y-%m-%d %H:%M}" if about.dated else "–", ""),
    ]
