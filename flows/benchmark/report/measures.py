"""The performance of each classifier, and the better one of two, by the measures of the study."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import isclose

from sigstats._common.messages import join_words
from sigstats._common.numerals import adjusted_p, count_of
from sigstats.tasks.schema import Hypothesis

from ...report import usual_columns as usual
from ...report import verdicts
from ...report.evidence import Evidence, Section, Verdict
from ...report.rows import group_by, less_is_better, not_rejected, rejected


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    """Return the best classifier by each measure, and on how many data sets."""
    sentences = [_by(measure or "?", group) for measure, group in group_by(rows, lambda row: row.measure).items()]
    return Verdict(sentences[0], tuple(sentences[1:]))


def _by(measure: str, rows: Sequence[Hypothesis]) -> str:
    measured = [row for row in rows if row.estimate is not None]
    if not measured:
        return f"By {measure} no classifier is compared: {rows[0].note or 'its results are missing'}."
    unfinished = {row.dataset for row in rows if row.decision == "missing"}
    groups = group_by([row for row in measured if row.dataset not in unfinished], lambda row: row.dataset)
    if not groups:
        return f"The best classifier by {measure} is known once all classifiers of a data set are measured."
    first = Counter(_best(group) for group in groups.values())
    named = [f"{name} on {count}" for name, count in first.most_common()]
    best = f"the best is {join_words(named)} of {count_of(len(groups), 'data set')}"
    if len(groups) == 1:
        one = max(*groups.values(), key=_gain)
        on = f" on {one.dataset}" if unfinished else ""
        verb = "is" if (names := _best(*groups.values())) == one.classifier else "are"
        best = f"{names} {verb} the best{on}, with {usual.measured(one, one.estimate)}"
    return f"By {measure} {best}."


def _best(rows: Sequence[Hypothesis]) -> str:
    most = max(map(_gain, rows))
    names = [row.classifier or "?" for row in rows if isclose(_gain(row), most, rel_tol=1e-12)]
    return join_words(names) + " (tied)" * (len(names) > 1)


def _gain(row: Hypothesis) -> float:
    return (-1 if less_is_better(row) else 1) * (row.estimate or 0.0)


_COLUMNS = (
    usual.SLICE,
    usual.MEASURE,
    usual.DATASET,
    usual.CLASSIFIER,
    usual.ROWS,
    usual.estimate("Value", "of all cross-validated predictions, or scores, together; repeated, the mean over folds"),
    usual.interval("95% interval of the value before"),
    usual.NOTE,
)

_METHOD = (
    "Each measure is computed from the cross-validated predictions, or scores, of all folds together. Intervals are "
    "Clopper and Pearson's for accuracies (Gaffke's with groups), DeLong's for areas under the ROC curve, and "
    "Student's for means of losses. All other measures, and all differences except those of accuracies, have bounds "
    "that one more row of an unseen kind would not undo (Gaffke's for means, random weights of rows for functions of "
    "counts). Scores of different folds come from different fits, so an area over all folds also depends on whether "
    "these agree."
)

_GAFFKE = (
    "Gaffke, Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable, "
    "Mathematical Methods of Statistics 14 (2005)"
)

_OF_ALL_ROWS = Section(
    order=5,
    test="measures",
    name="Measures",
    question="How good is each classifier by other measures?",
    verdict=verdict,
    columns=_COLUMNS,
    method=_METHOD,
    source=f"{_GAFFKE}; DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988)",
)


def _lowest(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:  # noqa: ARG001
    groups = group_by([row for row in rows if row.estimate is not None], lambda row: row.measure)
    if not groups:
        return Verdict("There is no result: every slice is missing, or too small.")
    sentences = []
    for measure, group in groups.items():
        worst = min(group, key=_gain)
        where = f"{worst.classifier} on {worst.dataset} where {worst.slice} ({count_of(worst.n or 0, 'row')})"
        value, interval = usual.measured(worst, worst.estimate), usual.INTERVAL.text(worst)
        sentences.append(
            f"By {measure} the worst of {len(group)} is {where}: {value} ({interval}). The lowest of many values is "
            "low partly by chance."
        )
    return Verdict(sentences[0], tuple(sentences[1:]))


_ON_SLICES = replace(
    _OF_ALL_ROWS,
    order=6,
    test="slices",
    name="Slices",
    question="Where is each classifier better or worse?",
    verdict=_lowest,
    method=(
        "The cross-validated predictions of all folds, divided by the value of a feature. Each interval is valid "
        "only for its own slice: the lowest of many values is low partly by chance. " + _METHOD
    ),
)

_REPEATED = replace(
    _OF_ALL_ROWS,
    order=43,
    test="resampled-measures",
    name="Measures, repeated",
    question="How good is each algorithm by other measures over all repetitions?",
    method=(
        "Each measure is computed on every fold of every repetition of the cross-validation and averaged. The "
        "interval, for the mean over other training sets of this size, is that of Nadeau and Bengio's corrected t, "
        "which allows for overlapping training sets. It is a heuristic whose coverage is near 95%."
    ),
    source="Nadeau and Bengio, Inference for the generalization error, Machine Learning 52 (2003)",
)


def _pairs_verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    hypotheses = group_by(rows, _measure_of)
    by_measure = [(name, verdicts.verdict(group, evidence, by=name)) for name, group in hypotheses.items()]
    details = [f"{name}: {sentence}" for name, one in by_measure for sentence in one.details]
    return Verdict(by_measure[0][1].headline, (*(one.headline for _, one in by_measure[1:]), *details))


_METHOD_OF_PAIRS = (
    "Accuracies are tested by McNemar's exact test. Other measures, and rows in groups, are tested by bounds that "
    "one more row, or group, of an unseen kind would not undo: Gaffke's for means of losses, the same for areas "
    "under the ROC curve, and random weights of rows for functions of counts. The null hypothesis is that both have "
    "the same value. "
)

_PAIRS = Section(
    order=46,
    test="measured-pairs",
    name="Pairs by measures",
    question="Which of two classifiers is better by other measures?",
    verdict=_pairs_verdict,
    columns=(
        usual.SLICE,
        usual.MEASURE,
        *usual.SUBJECT,
        usual.ROWS,
        *usual.difference("95% interval of the difference"),
        *usual.CLOSING,
    ),
    method=_METHOD_OF_PAIRS + "The p-values are adjusted over all data sets and measures of one method.",
    source=_GAFFKE,
)


def _pairs_on_slices(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    different, alike = rejected(rows), not_rejected(rows)
    compared, name = count_of(len(different) + len(alike), "comparison"), adjusted_p(evidence.adjust)
    if not different:
        smallest = f" ({verdicts.smallest_p(alike, name)})" if alike else ""
        return Verdict(f"{compared} of two classifiers on a slice; none differs{smallest}.")
    details = []
    for row in different:
        better, worse = verdicts.better_and_worse(row)
        measure, p = _measure_of(row), verdicts.decision_p_in_words(row, verdicts.p_name(evidence))
        details.append(f"On {row.dataset} where {row.slice}, {better} is better than {worse} by {measure} ({p}).")
    sentence = f"{compared} of two classifiers on a slice; {len(different):,} differ"
    return Verdict(f"{sentence} ({verdicts.largest_p(different, name)}).", tuple(details))


def _measure_of(row: Hypothesis) -> str:
    return (row.measure or "").removeprefix("difference of ").removesuffix(" (a - b)")


_PAIRS_ON_SLICES = replace(
    _PAIRS,
    verdict=_pairs_on_slices,
    order=51,
    test="sliced-pairs",
    name="Pairs by slices",
    question="Which of two classifiers is better on which rows?",
    method=(
        "Rows are divided by the values of a feature. A slice of fewer than 10 rows is not tested. "
        + _METHOD_OF_PAIRS
        + "The p-values are adjusted over all data sets, slices and measures of one method."
    ),
)

_PAIRS_REPEATED = replace(
    _PAIRS,
    order=44,
    test="resampled-pairs",
    name="Algorithms by measures",
    question="Would the algorithm do better by other measures on other training sets of this size?",
    method=(
        "The differences of each measure on the folds of all repetitions are tested by Nadeau and Bengio's corrected "
        "t. The null hypothesis is that both algorithms have the same value when they are trained on as many other "
        "rows of the same kind. The test is a heuristic whose level is near the stated one. The p-values are "
        "adjusted over all data sets and measures."
    ),
    source="Nadeau and Bengio, Inference for the generalization error, Machine Learning 52 (2003)",
)

SECTIONS = (_OF_ALL_ROWS, _ON_SLICES, _REPEATED, _PAIRS, _PAIRS_ON_SLICES, _PAIRS_REPEATED)
