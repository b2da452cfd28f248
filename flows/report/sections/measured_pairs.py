"""Which of two classifiers is better by the measures that the study names."""

from collections.abc import Sequence
from dataclasses import replace

from sigstats.tasks.schema import Hypothesis

from ...pages.wording import adjusted_p, count_of
from .. import usual_columns as usual
from ..evidence import Evidence, group_by, not_rejected, rejected
from ..section import Column, Section, Verdict
from . import _verdicts


def verdict(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """By each measure how many pairs differ, then who is better than whom on each data set."""
    found = group_by(rows, _measure_of)
    verdicts = [(name, _verdicts.verdict(group, evidence, by=name)) for name, group in found.items()]
    details = [f"{name}: {sentence}" for name, one in verdicts for sentence in one.details]
    return Verdict(verdicts[0][1].headline, (*(one.headline for _, one in verdicts[1:]), *details))


def columns(rows: Sequence[Hypothesis]) -> list[Column]:
    """Both classifiers and the difference of their measures."""
    difference = usual.difference("95% interval of the difference")
    return [usual.MEASURE, *usual.subject_columns(rows), usual.ROWS, *difference, *usual.closing_columns(rows)]


_METHOD = (
    "Accuracies are tested by McNemar's exact test; every other measure, and rows in groups, by the bound that one "
    "more row, or group, of a kind not seen does not undo: Gaffke's of means of losses, the same of areas under "
    "the ROC curve, random weights of rows for functions of counts. The null hypothesis is that both have the same "
    "value. "
)

_OF_ALL_ROWS = Section(
    order=46,
    test="measured-pairs",
    name="Pairs by measures",
    question="Which of two classifiers is better by other measures?",
    verdict=verdict,
    columns=columns,
    method=_METHOD + "The p-values are adjusted over all data sets and measures of one method.",
    source=(
        "Gaffke, Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable, "
        "Mathematical Methods of Statistics 14 (2005)"
    ),
)


def _on_slices(rows: Sequence[Hypothesis], evidence: Evidence) -> Verdict:
    """How many comparisons on a slice differ, and each of them."""
    different, alike = rejected(rows), not_rejected(rows)
    compared, name = count_of(len(different) + len(alike), "comparison"), adjusted_p(evidence.adjust)
    if not different:
        smallest = f" ({_verdicts.smallest_p(alike, name)})" if alike else ""
        return Verdict(f"{compared} of two classifiers on a slice, of which none differs{smallest}.")
    details = []
    for row in different:
        better, worse = _verdicts.better_and_worse(row)
        measure, p = _measure_of(row), _verdicts.decision_p_in_words(row, _verdicts.p_name(evidence))
        details.append(f"On {row.dataset} where {row.slice}, {better} is better than {worse} by {measure} ({p}).")
    found = f"{compared} of two classifiers on a slice, of which {len(different):,} differ"
    return Verdict(f"{found} ({_verdicts.largest_p(different, name)}).", tuple(details))


def _measure_of(row: Hypothesis) -> str:
    """The measure whose difference a row is."""
    return (row.measure or "").removeprefix("difference of ").removesuffix(" (b - a)")


_ON_SLICES = replace(
    _OF_ALL_ROWS,
    verdict=_on_slices,
    order=51,
    test="sliced-pairs",
    name="Pairs by slices",
    question="Which of two classifiers is better on which rows?",
    columns=lambda rows: [usual.SLICE, *columns(rows)],
    method=(
        "The rows of each value of a feature by themselves. A slice of fewer than 10 rows is not tested. "
        + _METHOD
        + "The p-values are adjusted over all data sets, slices and measures of one method."
    ),
)

_REPEATED = replace(
    _OF_ALL_ROWS,
    order=44,
    test="resampled-pairs",
    name="Algorithms by measures",
    question="Would the algorithm do better by other measures on other training sets of this size?",
    method=(
        "The differences of each measure on the folds of all repetitions are tested by Nadeau and Bengio's corrected "
        "t. The null hypothesis is that both algorithms have the same value when they are trained on other rows of the "
        "same kind, as many as here. The test is a heuristic whose level is near the stated one. The p-values are "
        "adjusted over all data sets and measures."
    ),
    source="Nadeau and Bengio, Inference for the generalization error, Machine Learning 52 (2003)",
)

SECTIONS = (_OF_ALL_ROWS, _ON_SLICES, _REPEATED)
