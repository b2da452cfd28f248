"""The report of a regression study: the last verdict, the trend of each measure, flips, and the history as a table.

It is made from the history only, without network access. Another page shows several models, from their histories.
"""

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pyarrow as pa
from markupsafe import Markup

from sigstats._common.messages import some_of
from sigstats._common.numerals import count_of, p_number, significant
from sigstats.comparison.cells import difference_in_words, interval_of, named, titles_of
from sigstats.comparison.paired_predictions import PairedPredictions
from sigstats.comparison.result import ComparisonResult, rule_in_words
from sigstats.comparison.rows import ComparisonRow
from sigstats.tasks.storage import history
from sigstats.tasks.storage.history import Record
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

from ..comparison.changed import Changed, items_of
from ..comparison.page import answer_of
from ..errors import BadInput
from ..pages.page import Answer, page
from ..report.evidence import Figure
from .fresh import from_history
from .ledger import episodes_of
from .pair import made_by
from .study import ColumnNames, RegressionStudy
from .trends import last_evaluations, trends_of, trends_of_evidence


def write_regression_report(
    store: Store, study: RegressionStudy, records: Sequence[Record], damaged: Sequence[str]
) -> str:
    """Write ``report.html``, and ``flips.csv`` if answers are kept; return the location of the page.

    `records`: in the order of time, at least one. `damaged`: a line for each file of the history that cannot be used.
    """
    flips = _flips_of(store, records, of_baseline=study.bar is None)
    if flips is not None:
        store.files.write("flips.csv", flips.as_csv().encode())
    latest = records[-1].evaluation
    notes: Sequence[Any] = ()
    with contextlib.suppress(FileNotFoundError, Damaged):  # the history has the verdict, and only this file the notes
        notes = store.read_json(f"comparisons/{latest.evaluation[:16]}.json").get("notes") or []
    comparison = comparison_of(records[-1], study)
    answer, fresh = answer_of(comparison), study.looks.rows == "fresh"
    reference = comparison.rows[0].reference
    trends, *more = trends_of(records, reference, fresh=fresh)
    drawing = Markup('<div class="newest">{}</div>').format(answer.figure)
    newest = Figure("The newest candidate", answer.caption, drawing)
    evidence = [trends_of_evidence(records, comparison.rule)] if fresh else []
    content = page(
        "regression.html.j2",
        name=study.name,
        title=f"{study.name}: {answer.title}",
        answer=replace(answer, figure=trends.body, caption=trends.caption),
        latest=latest,
        # Older versions wrote the text only.
        notes=[note if isinstance(note, str) else note["text"] for note in notes],
        looks=f"Look {latest.look} at {study.looks.rows_in_words} had the level {significant(latest.level, 3)}. "
        f"Promise: {study.looks.promise(study.alpha)}.",
        episodes=episodes_in_words(records),
        windows=[windows_of(row) for row in comparison.ranked] if fresh else [],
        reasons=latest.reasons.splitlines(),
        rule=rule_in_words(comparison),
        damaged=damaged,
        figures=[newest, *evidence, *more],
        flips=flips,
        reference=reference,
        header=[
            (title, name in ("difference", "adjusted p", "look", "level"))
            for name, title in zip(_COLUMNS, titles_of(_COLUMNS, comparison.rows), strict=True)
        ],
        rows=[_cells(record, study) for record in reversed(records)],
    )
    store.files.write("report.html", content.encode("utf-8", "replace"))
    return f"{store.root.rstrip('/')}/report.html"


def opened(store: Store) -> tuple[RegressionStudy, Sequence[Record], Sequence[str]]:
    """Open the study of an output and its history, with a line for each damaged file.

    Raises FileNotFoundError without a history, and sigstats.tasks.storage.seal.Damaged if it is unusable.
    """
    try:
        study = RegressionStudy.model_validate(store.read_json("study.json")["study"], strict=False)
    except (KeyError, ValueError):
        raise Damaged("study.json is not that of a regression study") from None
    records, damaged = history.read(store)
    if not records:
        raise FileNotFoundError(f"{store.root}/history has no evaluation")
    if not any(made_by(study, record) for record in records):
        raise Damaged("study.json was altered: no evaluation of history/ was made by its rules")
    return study, records, damaged


def report_again(store: Store) -> str:
    """Write the report of the history again; return its location. Raises the errors of `opened`."""
    return write_regression_report(store, *opened(store))


def models_page(outputs: Sequence[str], target: str) -> str:
    """Return the page of several models, worst first: latest verdict, open fault and trends.

    `target`: file of the page; links to the reports of the models are relative to its folder.
    """
    models: list[dict[str, Any]] = []
    for number, output in enumerate(outputs):
        store = Store(output)
        if store.read_json("study.json")["study"].get("kind") != "regression":
            raise BadInput(f"--report: {output} is not the output of a regression study")
        study, records, damaged = opened(store)
        comparison, latest = comparison_of(records[-1], study), records[-1].evaluation
        trends = trends_of(records, comparison.rows[0].reference, fresh=study.looks.rows == "fresh", name=f"m{number}")
        report = f"{output.rstrip('/')}/report.html"
        models.append(
            {
                "name": study.name,
                "verdict": comparison.verdict,
                "finding": comparison.answer.finding,
                "latest": latest,
                "link": report if "://" in output else os.path.relpath(report, Path(target).parent),
                "faults": [line for line in episodes_in_words(records)[:1] if line.endswith("; open.")],
                "damaged": damaged,
                "trends": next(trends),
            }
        )
    models.sort(key=lambda model: ("fail", "inconclusive", "pass").index(model["verdict"]))
    worst = models[0]["verdict"]
    named = [model["name"] for model in models if model["verdict"] == worst]
    words = {"fail": "worse", "inconclusive": "undecided", "pass": "not worse"}[worst]
    headline = f"{len(named)} of {count_of(len(models), 'model')} {words}: {some_of(named)}"
    return page("models.html.j2", answer=Answer(headline=headline, verdict=worst), models=models)


def comparison_of(record: Record, study: RegressionStudy) -> ComparisonResult:
    """Return the comparison of an evaluation, from the parts that the history has."""
    fresh, of_bar = study.looks.rows == "fresh", study.bar is not None
    rule = study.rule_at(record.evaluation.level)
    rows = tuple(replace(from_history(row, study.columns, fresh=fresh), against_bar=of_bar) for row in record.rows)
    if usual := rule.margin * (not rule.margins):  # the history has the margin of a row, not its range
        rows = tuple(row if row.relative else replace(row, span=(row.margin or usual) / usual) for row in rows)
    return ComparisonResult(rows=rows, rule=rule, n=rows[0].n)


def episodes_in_words(records: Sequence[Record]) -> list[str]:
    """Return a sentence for each fault, the last one first."""

    def named_look(record: Record) -> str:
        return f"evaluation {records.index(record) + 1}, {record.evaluation.at:%Y-%m-%d}"

    sentences = []
    for episode in reversed(episodes_of(records)):
        alarm, end = episode.alarm, episode.end
        row = next(row for row in alarm.rows if row["row_verdict"] == "fail")
        since = ", worse since look {change} ({change_low} to {change_high})".format(**row) if row["change"] else ""
        outcome = f"{'repaired' if episode.repaired else 'ended by a change'} ({named_look(end)})" if end else "open"
        failed = f"{row['measure']} on {row['slice']} failed ({named_look(alarm)}){since}"
        value, deepest = _deepest(records[records.index(alarm) : records.index(end) if end else None], row)
        sentences.append(f"{failed}, deepest {value} ({named_look(deepest)}); {outcome}.")
    return sentences


def _deepest(records: Sequence[Record], failed: Mapping[str, Any]) -> tuple[str, Record]:
    """Return the worst difference of a row over evaluations (over looks if rows are fresh), and its evaluation."""
    sign = -1 if failed["lower_is_better"] else 1
    values = [
        (sign * (row["difference"] if row["night_difference"] is None else row["night_difference"]), number)
        for number, record in enumerate(records)
        for row in record.rows
        if (row["slice"], row["measure"]) == (failed["slice"], failed["measure"])
        if row["difference"] is not None
    ]
    value, number = min(values)
    return difference_in_words(replace(from_history(failed, ColumnNames()), difference=sign * value)), records[number]


def windows_of(row: ComparisonRow) -> list[str]:
    """List differences by measure and slice: in the last look, in the last seven, and since the change or reset."""
    values = (*row.windows, (row.difference, row.low, row.high))
    rows = [replace(row, difference=value, low=low, high=high) for value, low, high in values]
    return [f"{row.slice}: {row.name}", *(f"{difference_in_words(window)} ({interval_of(window)})" for window in rows)]


#: The columns of the table of the history.
_COLUMNS = (
    *("evaluated", "verdict", "difference", "decided by", "adjusted p"),
    *("candidate", "baseline", "look", "level", "candidate dated"),
)


def _cells(record: Record, study: RegressionStudy) -> tuple[str, list[tuple[str, str]]]:
    """Return the comparison file of an evaluation, and a text and a sort key for each of `_COLUMNS`."""
    evaluation, row = record.evaluation, comparison_of(record, study).ranked[0]
    return f"comparisons/{evaluation.evaluation[:16]}.html", [
        (f"{evaluation.evaluated_at:%Y-%m-%d %H:%M}", ""),
        (evaluation.verdict, ""),
        (difference_in_words(row), repr(row.difference)),
        (named(row), ""),
        ("–" if row.adjusted_pvalue is None else p_number(row.adjusted_pvalue), repr(row.adjusted_pvalue)),
        (PurePath(evaluation.candidate).name, ""),
        (PurePath(evaluation.baseline).name, ""),
        (str(evaluation.look), str(evaluation.look)),
        (significant(evaluation.level, 3), repr(evaluation.level)),
        (f"{evaluation.dated:%Y-%m-%d %H:%M}" if evaluation.dated else "–", ""),
    ]


_MODELS = ("baseline", "candidate")
#: Columns of `flips.csv`; the last two only with a baseline.
FLIPS, OF_BASELINE = ("id", "score", "looks", "correct", "flips"), ("broken", "fixed")


def answers_of(pairs: Sequence[PairedPredictions]) -> pa.Table | None:
    """Stored answers: for each item 1 if a model was right, -1 if wrong, 0 if equally often; None for marks."""
    tables = []
    for pair in pairs:
        if pair.compared or pair.predicted is None:
            continue
        if pair.units.items is None:
            ids, right = pair.ids, [1.0 * right for right in pair.predicted.right]
        else:
            _, ids, totals = items_of(pair)
            right = [*totals.means]
        score = pair.scored.column if pair.graded and pair.scored else ""
        signs = (pa.array(np.sign(2 * share - 1).astype(np.int8)) for share in right)
        columns = ids, pa.repeat(score, len(ids)), *signs
        tables.append(pa.table(columns, names=["id", "score", *_MODELS]))
    return pa.concat_tables(tables) if tables else None


def _flips_of(store: Store, records: Sequence[Record], *, of_baseline: bool) -> Changed | None:
    """Return the items that flipped in the last evaluations, most flips first, or None for fewer than two looks."""
    identities = (record.evaluation.evaluation for record in last_evaluations(records))
    tables = [history.read_kept(store, history.OF_ANSWERS, identity) for identity in identities]
    looks = [table for table in tables if table is not None]
    if len(looks) < 2:
        return None
    answers = pa.concat_tables(looks).to_pandas()  # from the oldest look to the newest
    items, candidate = answers.groupby(["id", "score"], sort=False), answers["candidate"]
    decided = answers[candidate != 0].assign(item=items.ngroup())
    flips = decided.groupby("item")["candidate"].diff().fillna(0) != 0
    counts: dict[str, Any] = {
        "looks": 1,
        "correct": candidate > 0,
        "flips": flips.reindex(answers.index, fill_value=False),
    }
    if of_baseline:
        counts |= {"broken": candidate < answers["baseline"], "fixed": candidate > answers["baseline"]}
    per_item = answers.drop(columns=[*_MODELS]).assign(**counts).groupby(["id", "score"], sort=False).sum()
    flipped = per_item[per_item["flips"] > 0].sort_values("flips", ascending=False, kind="stable").reset_index()
    rows = flipped.astype(str).to_numpy().tolist()
    words = f"{count_of(len(rows), 'item')} flipped in {len(looks)} of {count_of(len(records), 'evaluation')}"
    return Changed((*FLIPS, *(OF_BASELINE if of_baseline else ())), rows, words)
