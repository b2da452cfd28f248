"""The tests of one model against a bar: of hits, of means and ratios of sums, and of runs of a recipe.

Ratios of sums reach the bar b if the mean of e - b w does, with numerators e and denominators w, so that the bounds of
that mean are exact for them too (Fieller 1954). The mean over all runs that a recipe could have is tested by Student's
t, which assumes nearly normal runs. No p-value is below that of runs that all lie on one side of the bar, and there is
no interval if that p-value is too large.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc

from ..._common.numerals import significant
from ..._common.random_streams import as_generator
from ..._common.validation import FloatArray, IntArray, Limits
from ...intervals import Interval, clopper_pearson, quantile_interval
from ...ranking.means import standard_error, task_weights
from ...unseen_row.means import Units, UnseenGroup, mean_interval, mean_pvalues, row_of_groups, units_of
from ..evidence import Attempts, Classes, Evidence, Judged, Ratios, Runs, Values
from ..row_tests import stages
from ..row_tests.judged import JudgedTasks, by_task
from ..row_tests.mean_tests import by_group, unseen_unit
from ..row_tests.runs import runs_test
from ..row_tests.weighted import by_weights
from ..rows import ComparisonRow
from ..rule import ComparisonRule, RowTest
from .result import CheckedRow

Mask = NDArray[np.bool_]
#: The rows that count, and the hits among them, given masks of the truly positive and the predicted positive rows.
HITS: dict[str, Callable[[Mask, Mask], tuple[Mask, Mask]]] = {
    "precision": lambda true, predicted: (predicted, true),
    "recall": lambda true, predicted: (true, predicted),
    "specificity": lambda true, predicted: (~true, ~predicted),
    "jaccard": lambda true, predicted: (true | predicted, true & predicted),
    "f1": lambda true, predicted: (true | predicted, true & predicted),
}
#: Denominators below this share of the largest one count as 0.
_NEARLY_0 = 1e-12


def test_row(row: CheckedRow, part: Evidence, bar: float, rule: ComparisonRule, tasks: IntArray | None) -> CheckedRow:
    """Return the row with its measure tested and its p-value not adjusted yet.

    `part`: the evidence of the row. `tasks`: the task of each row, if all tasks have the same weight.
    """
    group, limits = part.units.group, part.limits
    units = row.n if group is None else len(np.unique(group))
    what = "rows" if group is None else "items" if units == row.items else "groups"
    if (row.n if row.items is None else row.items) < rule.smallest_slice:
        return replace(row, note=f"too small to test: fewer than {rule.smallest_slice} {what}")
    if units < 2:
        return replace(row, note="only one group: nothing can be tested")
    match part:
        case Runs():
            return _of_runs(row, part, bar, rule, tasks)
        case Judged():
            return _of_judged(row, part, bar, rule, tasks)
        case Values() if tasks is not None:
            weights, what = task_weights(tasks), f"{what} of {tasks.max() + 1:,} tasks"
            return _of_mean(row, weights * part.values[0], weights, group, limits, bar, rule, what)
        case Values(share=share) if share:
            return _of_quantile(row, part.values[0], share, bar, rule)
        case Values(answers=True):
            return _of_shares(row, part.values[0] == 1, group, bar, rule, what)
        case Classes() if row.measure not in HITS:
            return _of_weights(row, part, bar, rule)
        case Classes():
            counted, hits = HITS[row.measure](part.label == part.code, part.a == part.code)
            return _of_shares(row, hits[counted], None if group is None else group[counted], bar, rule, what)
        case Ratios():
            return _of_mean(row, part.sign * part.scores[0], part.per[0], group, limits, bar, rule, what)
        case Attempts():
            totals, group = part.by_item()
            return _of_mean(row, part.chances(totals)[0], None, group, limits, bar, rule, what)
    assert isinstance(part, Values)
    return _of_mean(row, part.values[0], None, group, limits, bar, rule, what)


def _of_shares(
    row: CheckedRow, hit: Mask, group: IntArray | None, bar: float, rule: ComparisonRule, what: str
) -> CheckedRow:
    row = replace(row, counted=len(hit))
    if not len(hit):
        return replace(row, note=f"no row counts for {row.measure}: nothing can be tested")
    # F1 = 2 J / (1 + J) rises with Jaccard's index J.
    share = bar / (2 - bar) if row.measure == "f1" else bar
    if group is None:
        row = _of_hits(row, hit, share, rule)
    else:
        row = _of_mean(row, hit.astype(np.float64), None, group, (0.0, 1.0), share, rule, what)
    if row.measure == "f1":
        value, low, high = (None if j is None else _f1_of_jaccard(j) for j in (row.value, row.low, row.high))
        row = replace(row, value=value, low=low, high=high, standard_error=None)
        if row.other_interval is not None:
            low, high = map(_f1_of_jaccard, row.other_interval)
            row = replace(row, other_interval=Interval(low, high, rule.confidence_level))
    return row


def _f1_of_jaccard(jaccard: float) -> float:
    return 2 * jaccard / (1 + jaccard)


def _of_judged(row: CheckedRow, part: Judged, bar: float, rule: ComparisonRule, tasks: IntArray | None) -> CheckedRow:
    if tasks is not None and part.units.crossed:
        return replace(row, note="a group has rows of several tasks")
    data, share = JudgedTasks([of.of_one(0) for of in by_task(part, tasks)]), (1 - rule.confidence_level) / 2
    labels = data.labels
    if not labels:
        return replace(row, note="no row has a label of people: nothing can be tested")
    law = data.law(rule.n_resamples, as_generator(rule.rng))
    return replace(
        row,
        counted=labels,
        value=data.estimate,
        low=law.low(share),
        high=law.high(share),
        standard_error=float(np.std(law.against_a + law.against_b) / 2),
        pvalue=law.pvalue(bar, "less"),
        test=RowTest("verdicts of a judge, corrected by labels of people, with an unseen label", "judged"),
        note=f"{labels:,} labels of people",
    )


def _of_weights(row: CheckedRow, part: Classes, bar: float, rule: ComparisonRule) -> CheckedRow:
    rule = rule.with_resamples(stages(row.measure, 0, rule.n_resamples, rule.n_resamples, rule.alpha)[1])
    tested = by_weights(ComparisonRow(slice=row.slice, measure=row.measure, n=row.n), part, rule, bar)
    low, high = tested.baseline_interval or (None, None)
    return replace(
        row,
        value=tested.baseline,
        low=low,
        high=high,
        standard_error=tested.standard_error,
        other_interval=tested.other_interval,
        pvalue=tested.pvalue,
        test=tested.test,
        note=tested.note if tested.pvalue is None else "",
    )


def _of_hits(row: CheckedRow, hit: Mask, bar: float, rule: ComparisonRule) -> CheckedRow:
    hits, n = int(hit.sum()), len(hit)
    low, high = clopper_pearson(hits, n, confidence_level=rule.confidence_level)
    return replace(
        row,
        value=hits / n,
        low=low,
        high=high,
        pvalue=float(bdtr(hits, n, bar)),
        test=RowTest("binomial, exact", "binomial"),
        note=f"{hits:,} of {n:,}",
    )


def _of_quantile(row: CheckedRow, values: FloatArray, share: float, bar: float, rule: ComparisonRule) -> CheckedRow:
    """Return the row with the limits of a quantile: the number of rows below it is at most binomial."""
    n, below = len(values), int(np.count_nonzero(values < bar))
    low, high = quantile_interval(values, share, confidence_level=rule.confidence_level)
    known = math.isfinite(high - low)
    return replace(
        row,
        value=float(np.quantile(values, share, method="inverted_cdf")),
        low=low if known else None,
        high=high if known else None,
        pvalue=float(bdtrc(below - 1, n, share)) if below else 1.0,
        test=RowTest("binomial, exact, of the rows beyond the bar"),
        note=f"{below:,} of {n:,} rows are beyond the bar" + ("" if known else ": too few rows for an interval"),
    )


def _of_mean(
    row: CheckedRow,
    terms: FloatArray,
    weights: FloatArray | None,
    group: IntArray | None,
    limits: Limits,
    bar: float,
    rule: ComparisonRule,
    what: str,
) -> CheckedRow:
    """Return the row with the bounds of the sum of terms divided by the sum of weights; the weights of a mean are 1.

    If the limits of a row's ratio are unknown, the largest observed distance is used instead.
    """
    sums, counts = by_group(terms, group)
    group_sizes = counts if weights is None else by_group(weights, group)[0]
    sizes = np.ones(len(sums)) if group_sizes is None else group_sizes.astype(np.float64)
    if sizes.max() <= 0:
        return replace(row, note="the denominators add up to 0: the ratio is undefined")
    heaviest = float(sizes.max())
    sizes = np.maximum(sizes, _NEARLY_0 * heaviest)  # a cost without a success has no ratio of its own
    value = float(sums.sum() / sizes.sum())
    spread, room = (float(np.abs(sums - at * sizes).max()) / heaviest for at in (value, bar))
    if limits is None and spread == 0:
        return replace(row, note="all values are equal and have no known limits: nothing can be tested")
    ends = (value - spread, value + spread) if limits is None else limits
    unit, unseen_group, other_group = unseen_unit(group is not None, len(sums), rule.unseen_group)

    def units(values: FloatArray, unseen_group: UnseenGroup) -> Units:
        row_weight = row_of_groups(len(sums), unseen_group, 1.0 if weights is None else float(weights.max()))
        return units_of(values, None if group_sizes is None else sizes, row_weight)

    low, high = mean_interval(units(sums, unseen_group), ends, rule.confidence_level)
    statistic = "ratio of sums" if row.measure == "ratio" else "mean"
    test = unit.named(f"{statistic} of {len(sums):,} {what}, with an {unit}")
    above = room if limits is None else ends[1] - bar
    ((pvalue, *_),) = mean_pvalues([units(sums - bar * sizes, unseen_group)], [above])
    return replace(
        row,
        value=value,
        low=low,
        high=high,
        standard_error=units(sums, unseen_group).standard_error,
        other_interval=other_group and mean_interval(units(sums, other_group), ends, rule.confidence_level),
        pvalue=pvalue,
        test=test.without_limits() if limits is None else test,
        note="limits of a row are not known" if limits is None else "",
    )


def _of_runs(row: CheckedRow, part: Runs, bar: float, rule: ComparisonRule, tasks: IntArray | None) -> CheckedRow:
    values = part.values(0, tasks)
    k = len(values)
    if not np.isfinite(values).all():
        return replace(row, note="a run has no such value: nothing can be tested")
    if k < 2:
        return replace(row, note="only one run: nothing can be tested")
    level, (least, most) = rule.confidence_level, part.limits or (-math.inf, math.inf)
    result = runs_test(np.full(k, bar), values, confidence_level=level, divisions=2**k)
    notes = [f"{k} runs", "assumed nearly normal"]
    if rule.alpha * result.divisions < 1:
        notes.append(f"p is at least 1/{result.divisions}")
    ends: tuple[float | None, float | None] = max(bar + result.low, least), min(bar + result.high, most)
    if math.isinf(result.low):
        fewest, ends = math.ceil(math.log2(2 / (1 - level))), (None, None)
        notes.append(f"{fewest} are the fewest with an interval of {significant(100 * level)}%")
    return replace(
        row,
        value=float(values.mean()),
        low=ends[0],
        high=ends[1],
        standard_error=standard_error(values, None),
        pvalue=result.pvalue,
        test=RowTest(f"Student's t of {k} runs", "runs"),
        note="; ".join(notes),
    )
