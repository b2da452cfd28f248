"""How good each classifier is by the measures that the study names."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import count_of, join_words
from .. import usual_columns as usual
from ..evidence import Evidence, group_by, less_is_better
from ..section import Column, Section, Verdict


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    """Who is best by each measure, and on how many data sets."""
    sentences = [_by(measure or "?", group) for measure, group in group_by(rows, lambda row: row.measure).items()]
    return Verdict(sentences[0], tuple(sentences[1:]))


def _by(measure: str, rows: Sequence[Hypothesis]) -> str:
    measured = [row for row in rows if row.estimate is not None]
    if not measured:
        return f"No classifier can be measured by {measure}."
    unfinished = {row.dataset for row in rows if row.decision == "missing"}
    groups = group_by([row for row in measured if row.dataset not in unfinished], lambda row: row.dataset)
    if not groups:
        return f"The best classifier by {measure} is known once all of a data set are measured."
    first = Counter(_best(group).classifier or "?" for group in groups.values())
    named = [f"{name} on {count}" for name, count in first.most_common()]
    best = f"the best is {join_words(named)} of {count_of(len(groups), 'data set')}"
    if len(groups) == 1:
        one = _best(*groups.values())
        on = f" on {one.dataset}" if unfinished else ""
        best = f"{one.classifier} is the best{on}, with {usual.measured(one, one.estimate)}"
    return f"By {measure} {best}."


def _best(rows: Sequence[Hypothesis]) -> Hypothesis:
    return max(rows, key=_gain)


def _gain(row: Hypothesis) -> float:
    """A value, of which more is better."""
    return (-1 if less_is_better(row) else 1) * (row.estimate or 0.0)


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """The classifier, the measure and its interval."""
    interval = usual.interval("95% interval of the value before")
    return [
        usual.MEASURE,
        usual.DATASET,
        usual.CLASSIFIER,
        usual.ROWS,
        usual.estimate("Value", "of all cross-validated predictions, or scores, together"),
        interval,
        *usual.notes(rows),
    ]


_METHOD = (
    "Each measure is that of the cross-validated predictions, or scores, of all folds together. Intervals: of "
    "accuracies Clopper and Pearson's (in groups Gaffke's), of areas under the ROC curve DeLong's, of means of losses "
    "Student's, of all others, and of all differences but accuracies', bounds that one more row of a kind not seen "
    "does not undo (Gaffke's of means, random weights of rows for functions of counts). Scores of other folds come "
    "from different fits, so that an area over all folds also asks whether these agree."
)

_OF_ALL_ROWS = Section(
    order=5,
    test="measures",
    name="Measures",
    question="How good is each classifier by other measures?",
    verdict=verdict,
    columns=columns,
    method=_METHOD,
    source=(
        "Gaffke, Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable, "
        "Mathematical Methods of Statistics 14 (2005); DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988)"
    ),
)


def _lowest(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    """By each measure the slice on which a classifier is worst."""
    groups = group_by([row for row in rows if row.estimate is not None], lambda row: row.measure)
    if not groups:
        return Verdict("There is no result: every slice is missing, or too small.")
    sentences = []
    for measure, group in groups.items():
        worst = min(group, key=_gain)
        where = f"{worst.classifier} on {worst.dataset} where {worst.slice} ({count_of(worst.n or 0, 'row')})"
        value, interval = usual.measured(worst, worst.estimate), usual.INTERVAL.text(worst)
        sentences.append(
            f"By {measure} the worst of {len(group)} is {where}: {value} ({interval}). The worst of many is low by "
            "chance too."
        )
    return Verdict(sentences[0], tuple(sentences[1:]))


_ON_SLICES = replace(
    _OF_ALL_ROWS,
    order=6,
    test="slices",
    name="Slices",
    question="Where is each classifier better or worse?",
    verdict=_lowest,
    columns=lambda rows: [usual.SLICE, *columns(rows)],
    method=(
        "The cross-validated predictions of all folds, divided by the value of a feature. An interval holds for its "
        "slice alone: the lowest of many is low by chance too. " + _METHOD
    ),
)

_REPEATED = replace(
    _OF_ALL_ROWS,
    order=43,
    test="resampled-measures",
    name="Measures, repeated",
    question="How good is each algorithm by other measures over all repetitions?",
    columns=lambda rows: [
        replace(column, meaning="mean over the folds of all repetitions") if column.header == "Value" else column
        for column in columns(rows)
    ],
    method=(
        "Each measure is computed on every fold of every repetition of the cross-validation and averaged. The interval "
        "is that of Nadeau and Bengio's corrected t, which allows for training sets that overlap: of the mean over "
        "other training sets of this size. It is a heuristic whose coverage is near 95%."
    ),
    source="Nadeau and Bengio, Inference for the generalization error, Machine Learning 52 (2003)",
)

SECTIONS = (_OF_ALL_ROWS, _ON_SLICES, _REPEATED)
