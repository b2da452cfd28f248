"""One model against a bar, on all rows and on every slice of them.

Of single rows, accuracy, precision, recall, specificity, Jaccard's index and F1 rest on a number of hits that is
binomial given the rows that count, so that their p-values and intervals (Clopper and Pearson 1934) are exact. Means of
marks, and rows in groups, have the bounds of `sigstats.unseen_row.means`, of which these are the special case.

A model that is below the bar on no slice is reported to be below it on any with a probability of at most alpha (Holm
1979). That it is at least as good everywhere is claimed where every interval says so, which needs no adjustment (Berger
1982, Technometrics 24, 295-300).

When not to use: two models on the same rows (`sigstats.compare`), which tell a difference with fewer of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from .._common.scores import unit_of
from .._common.validation import FloatArray, IntArray, as_choice, as_real, refuse
from ..intervals import clopper_pearson
from ..measures.score_formulas import pass_at
from ..measures.table import MEASURES, in_our_words, is_pass_at
from ..multiplicity import adjust_pvalues
from ..unseen_row.means import mean_interval, mean_pvalue, units_of
from .check_result import BINOMIAL, CheckedRow, CheckResult
from .mean_tests import by_group, right_answers
from .paired_predictions import PairedPredictions
from .part import Part, whole
from .requirements import default_measures, positive_code, require
from .rule import ComparisonRule, Verdict

Mask = NDArray[np.bool_]

#: The rows that count, and the hits among them, by what is true and what is predicted of the positive class.
_HITS: dict[str, Callable[[Mask, Mask], tuple[Mask, Mask]]] = {
    "precision": lambda true, said: (said, true),
    "recall": lambda true, said: (true, said),
    "specificity": lambda true, said: (~true, ~said),
    "jaccard": lambda true, said: (true | said, true & said),
    "f1": lambda true, said: (true | said, true & said),
}
#: The measures with an exact test of one model.
CHECKED_MEASURES = ("accuracy", *_HITS, "mean-score", "neg-brier")


def check_predictions(
    paired: PairedPredictions,
    at_least: float,
    rule: ComparisonRule | None = None,
    measures: Sequence[str] | None = None,
    *,
    positive: str | None = None,
) -> CheckResult:
    """Test whether one model, both of the pair, reaches a bar by every measure, on all rows and every slice.

    `at_least`: the least value that is good enough, in the unit of the measure: a share for the accuracy.
    `rule`: its level, adjustment, confidence and smallest slice.
    `measures`: of `CHECKED_MEASURES`, or ``pass@k``; by default the accuracy, or the mean of marks.
    `positive`: the class of precision, recall, specificity, Jaccard's index and F1.

    Raises ValueError if the predictions do not hold what a measure needs, or no value of it could be below the bar,
    or nothing can be tested.
    """
    rule = ComparisonRule() if rule is None else rule
    names = _measures(paired, measures)
    code = None
    if any(name in _HITS or MEASURES[name].needs == "probabilities" for name in names):
        code = positive_code(paired, positive, among_several=True)
    everything = whole(paired, positive=code, with_numbers=False)
    limits = {name: _limits(paired, name) for name in names}
    for name, (low, high) in limits.items():
        as_real(at_least, "at_least", low=low, high=high)
        if at_least == low:
            raise refuse("at_least", at_least, f"more than {low:g}, the least that {name} can be")
    rows = []
    for slice_, where in paired.parts():
        part = everything.rows(where())
        n, items = len(part.label), None if part.items is None else len(np.unique(part.items))
        for name in names:
            unit = unit_of(paired.score_column) if MEASURES[name].needs == "marks" else ""
            row = CheckedRow(slice=slice_, measure=name, n=n, items=items, unit=unit)
            rows.append(_tested(row, part, limits[name], at_least, code, rule))
    if all(row.pvalue is None for row in rows):
        raise ValueError(f"rows: {paired.n:,} are not enough; nothing can be tested ({rows[0].note})")
    return CheckResult(
        rows=_decided(rows, at_least, rule), rule=rule, at_least=at_least, n=paired.n, notes=tuple(paired.notes)
    )


def _measures(paired: PairedPredictions, measures: Sequence[str] | None) -> tuple[str, ...]:
    """The measures, each of which the predictions hold the data of."""
    if measures is None:
        names = ("mean-score",) if paired.scores is not None and not paired.graded else default_measures(paired)
    elif not isinstance(measures, Sequence) or not measures:
        raise refuse("measures", measures, "the name of a measure, or several")
    else:
        known = (*CHECKED_MEASURES, "pass@1")
        names = tuple(
            each if isinstance(each, str) and is_pass_at(each) else as_choice(in_our_words(each), "measures", known)
            for each in ([measures] if isinstance(measures, str) else measures)
        )
    if len(set(names)) < len(names):
        raise refuse("measures", ", ".join(names), "each measure once")
    for name in names:
        require(paired, name)
        if MEASURES[name].needs == "marks" and paired.lower:
            raise refuse("score", paired.score_column, "a score of which the higher is better, for a least value")
    return names


def _limits(paired: PairedPredictions, measure: str) -> tuple[float, float]:
    """The least and the greatest value of the measure."""
    if MEASURES[measure].needs == "probabilities":
        return -1.0, 0.0
    if MEASURES[measure].needs != "marks":
        return 0.0, 1.0
    if paired.bounds is None:
        raise ValueError("score_range: is missing; expected the least and the greatest mark, where some are not 0 to 1")
    return paired.bounds


def _tested(
    row: CheckedRow, part: Part, limits: tuple[float, float], bar: float, code: int | None, rule: ComparisonRule
) -> CheckedRow:
    """The row with its measure tested; its p-value is not adjusted yet."""
    units = row.n if part.group is None else len(np.unique(part.group))
    what = "rows" if part.group is None else "items" if units == row.items else "groups"
    if (row.n if row.items is None else row.items) < rule.smallest_slice:
        return replace(row, note=f"too small to test: fewer than {rule.smallest_slice} {what}")
    if units < 2:
        return replace(row, note="one group alone: nothing can be tested")
    if row.measure == "accuracy" or row.measure in _HITS:
        true, said = part.label == code, part.a == code
        hit = part.a == part.label
        counted, hits = (
            (np.ones(row.n, dtype=bool), hit) if row.measure == "accuracy" else _HITS[row.measure](true, said)
        )
        hit, group = hits[counted], None if part.group is None else part.group[counted]
        row = replace(row, counted=len(hit))
        if not len(hit):
            return replace(row, note=f"no row counts for {row.measure}: nothing can be tested")
        # F1 = 2 J / (1 + J) rises with Jaccard's index J.
        share = bar / (2 - bar) if row.measure == "f1" else bar
        row = (
            _of_hits(row, hit, share, rule)
            if group is None
            else _of_mean(row, *by_group(hit.astype(np.float64), group), limits, share, rule, what)
        )
        if row.measure == "f1":
            value, *ends = (None if each is None else 2 * each / (1 + each) for each in (row.value, row.low, row.high))
            row = replace(row, value=value, low=ends[0], high=ends[1])
        return row
    if MEASURES[row.measure].answers:
        return _of_mean(row, *by_group(*_chances(part, MEASURES[row.measure].answers)), limits, bar, rule, what)
    return _of_mean(row, *by_group(part.values(MEASURES[row.measure])[0], part.group), limits, bar, rule, what)


def _of_hits(row: CheckedRow, hit: Mask, bar: float, rule: ComparisonRule) -> CheckedRow:
    """The row with the exact test of a binomial share."""
    hits, n = int(hit.sum()), len(hit)
    low, high = clopper_pearson(hits, n, confidence_level=rule.confidence_level)
    return replace(
        row,
        value=hits / n,
        low=low,
        high=high,
        pvalue=float(bdtr(hits, n, bar)),
        test=BINOMIAL,
        note=f"{hits:,} of {n:,}",
    )


def _of_mean(
    row: CheckedRow,
    sums: FloatArray,
    sizes: IntArray | None,
    limits: tuple[float, float],
    bar: float,
    rule: ComparisonRule,
    what: str,
) -> CheckedRow:
    """The row with the bounds of a mean of values within limits."""
    size = np.ones(len(sums)) if sizes is None else sizes
    low, high = mean_interval(units_of(sums, sizes), limits, rule.confidence_level)
    return replace(
        row,
        value=float(sums.sum() / size.sum()),
        low=low,
        high=high,
        pvalue=mean_pvalue(units_of(sums - bar * size, sizes), limits[1] - bar, "less"),
        test=f"mean of {len(sums):,} {what}, with an unseen one",
    )


def _chances(part: Part, k: int) -> tuple[FloatArray, IntArray | None]:
    """The chance that one of k answers to each item is right, and the group of each item."""
    totals, group = right_answers(part)
    pairs = zip(totals.counts[0].tolist(), totals.sums[0].tolist(), strict=True)
    return np.array([float(pass_at(k, n, int(right))) for n, right in pairs]), group


def _decided(rows: Sequence[CheckedRow], bar: float, rule: ComparisonRule) -> tuple[CheckedRow, ...]:
    """The rows with adjusted p-values and verdicts, where they were tested."""
    pvalues = [row.pvalue for row in rows if row.pvalue is not None]
    adjusted = iter(pvalues if rule.adjust == "none" else adjust_pvalues(pvalues, method=rule.adjust).tolist())

    def decided(row: CheckedRow) -> CheckedRow:
        if row.pvalue is None or row.low is None:
            return row
        adjusted_pvalue = next(adjusted)
        verdict: Verdict = "fail" if adjusted_pvalue <= rule.alpha else "pass" if row.low >= bar else "inconclusive"
        level = rule.confidence_level
        return replace(row, adjusted_pvalue=adjusted_pvalue, verdict=verdict, confidence_level=level)

    return tuple(map(decided, rows))
