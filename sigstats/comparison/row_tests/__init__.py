"""The tests of the measures of a comparison.

Accuracy is tested by McNemar's exact test with Tango's interval. Every other measure, and rows in groups, is tested by
a bound that one more row (group) does not undo: means by `mean_tests`, areas under the curve by their placements, and
functions of counts by random weights of the joint outcomes.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..._common.time_order import FEWEST
from ..._common.validation import IntArray
from ...effects import accuracy_difference, score_equivalence
from ...intervals import clopper_pearson, quantile_interval
from ...mcnemar.mcnemar_test import mcnemar_test
from ...measures.table import MEASURES
from ...measures.weighted import POWERS
from ..evidence import Attempts, Classes, Evidence, Judged, Ratios, Runs, Scores, Values
from ..rows import ComparisonRow
from ..rule import ComparisonRule, RowTest
from .mean_tests import Tested, test_mean, test_pass_at, test_ratio, unseen_unit


def uses_random_weights(measure: str, evidence: Evidence | None = None) -> bool:
    """Return True if a measure, or the evidence for it, is tested by random weights."""
    return MEASURES[measure].test in ("counts", "ratios") or isinstance(evidence, Judged)


def stages(measure: str, first: int, few: int, most: int, level: float) -> tuple[int, int, int]:
    """Return the sizes of `in_stages`: `first`, `few` and `most` for counts, fewer for a formula, which takes longer.

    A user's function is called several times for each weighting. It gets 250 weightings if these are clear, otherwise
    1,000, or in the last stage twice as many as a p-value of `level` needs.
    """
    if not uses_random_weights(measure):
        return most, most, most
    if MEASURES[measure].is_slow:
        return min(few, 250), min(few, 1000), min(most, max(1000, math.ceil(2 / level)))
    formula = MEASURES[measure].of_weights and measure not in POWERS
    return (*(min(few, 1000),) * 2, most) if formula else (first, few, most)


def test_part(row: ComparisonRow, everything: Evidence, rows: IntArray | None, *, rule: ComparisonRule) -> Tested:
    """Test the measure of a row on some rows (None: all); `bounded` adds missing bounds."""
    size, what = (row.n, "rows") if row.items is None else (row.items, "items")
    if size < rule.smallest_slice:
        return replace(row, note=f"too small to test: {size} of at least {rule.smallest_slice} {what}")
    part = everything if rows is None or row.n == everything.units.n else everything.take(rows)
    group, in_time = part.units.group, part.units.in_time
    if group is not None and len(np.unique(group)) < (FEWEST if in_time else 2):
        return replace(row, note=f"{'too few times' if in_time else 'one group alone'}: nothing can be tested")
    match part:
        case Values(share=0.0) | Attempts() | Ratios() if part.units.candidates is not None:
            from .weighted import test_samples  # here and below: most comparisons need none

            return test_samples(row, part, rule)
        case Values():
            return _test_values(row, part, rule)
        case Attempts():
            return test_pass_at(row, part, rule)
        case Scores():
            return _test_area(row, part, rule)
        case Ratios():
            return test_ratio(row, part, rule)
        case Runs():
            from .runs import test_runs

            return test_runs(row, part, rule, None)
        case Judged():
            from .judged import test_judged

            return test_judged(row, part, rule, None)
    from .weighted import by_weights

    assert isinstance(part, Classes)
    return by_weights(row, part, rule)


def _test_values(row: ComparisonRow, part: Values, rule: ComparisonRule) -> Tested:
    if part.share:
        return _test_quantile(row, part, rule)
    if part.answers and part.units.single and part.totals is None:
        a, b = part.values
        return _test_counts(row, np.bincount((a * 2 + b).astype(np.int64), minlength=4).tolist(), rule)
    return test_mean(row, part, rule)


def _test_counts(row: ComparisonRow, outcomes: Sequence[int], rule: ComparisonRule) -> ComparisonRow:
    """Test the accuracy, from the numbers of rows that neither, the candidate, the baseline and both got right."""
    _, only_b, only_a, both = outcomes
    n, confidence, right = row.n, rule.confidence_level, (both + only_a, both + only_b)
    intervals = [clopper_pearson(value, n, confidence_level=confidence) for value in right]
    interval = accuracy_difference(only_b, only_a, n, confidence_level=confidence).confidence_interval
    squares = only_a + only_b - (only_b - only_a) ** 2 / n
    return replace(
        row,
        baseline=right[0] / n,
        candidate=right[1] / n,
        baseline_interval=intervals[0],
        candidate_interval=intervals[1],
        difference=(right[1] - right[0]) / n,
        low=interval.low,
        high=interval.high,
        test=RowTest("McNemar, exact", "mcnemar"),
        pvalue=mcnemar_test(only_a, only_b, alternative="greater").pvalue,
        two_sided_pvalue=mcnemar_test(only_a, only_b).pvalue,
        equivalence_pvalue=score_equivalence(only_a, only_b, n, rule.margin_of(row)),
        standard_error=math.sqrt(squares / (n * (n - 1))) if n > 1 else None,
        differing=only_a + only_b,
        note=f"only baseline right: {only_a:,}, only candidate right: {only_b:,}",
    )


def _test_quantile(row: ComparisonRow, part: Values, rule: ComparisonRule) -> ComparisonRow:
    """Return a quantile of rows, tested by McNemar at each threshold, or by two binomials for different rows."""
    from ...mcnemar.quantile_difference import quantile_difference
    from .weighted import samples_in_words

    (a, b), ours, differing = part.values, part.units.candidates, None
    if ours is None:
        test, differing = RowTest("McNemar, exact, at every threshold"), int(np.count_nonzero(a != b))
        note = f"rows that differ: {differing:,} of {row.n:,}"
    else:
        (a, b), (note, few) = (a[~ours], a[ours]), samples_in_words(None, ours)
        test = RowTest("two binomial tests at every threshold, combined by Fisher's method", "unpaired")
        if few:
            return replace(row, note=f"{note}: too few to test")
    result = quantile_difference(a, b, part.share, rule.confidence_level, paired=ours is None)
    baseline, candidate = (float(np.quantile(side, part.share, method="inverted_cdf")) for side in (a, b))
    intervals = [quantile_interval(side, part.share, confidence_level=rule.confidence_level) for side in (a, b)]
    known = np.isfinite([end for interval in (*intervals, result.interval) for end in interval]).all()
    return replace(
        row,
        baseline=baseline,
        candidate=candidate,
        baseline_interval=intervals[0] if known else None,
        candidate_interval=intervals[1] if known else None,
        difference=candidate - baseline,
        low=result.interval.low if known else None,
        high=result.interval.high if known else None,
        test=test,
        pvalue=result.p_not_below,
        two_sided_pvalue=result.p_equal,
        differing=differing,
        note=note + ("" if known else "; too few rows for an interval"),
    )


def _test_area(row: ComparisonRow, part: Scores, rule: ComparisonRule) -> ComparisonRow:
    """Return the area under the ROC curve, by the gains of positives and negatives."""
    from ...scores.auc import auc_test  # four modules, for those who have no scores too
    from ...unseen_row.areas import area_equivalence, area_interval, area_pvalue, gains_of

    group = part.units.group
    if min(part.units.count(part.positive), part.units.count(~part.positive)) < 2:
        of = "" if group is None else ", of two groups each,"
        return replace(row, note=f"too few of one class to test: two positives and two negatives{of} are needed")
    areas = auc_test(part.positive, *part.scores, groups=group, confidence_level=rule.confidence_level)
    count, differing = part.units.count(), part.units.count(part.scores[0] != part.scores[1])
    unit, one, other = unseen_unit(group is not None, count, rule.unseen_group)
    gains = gains_of(part.positive, part.scores, group, one)
    pvalues = area_pvalue(gains, "greater"), area_pvalue(gains, "less")
    tested = replace(
        row,
        baseline=areas.value_a,
        candidate=areas.value_b,
        baseline_interval=areas.interval_a,
        candidate_interval=areas.interval_b,
        difference=0.0 - areas.estimate,
        standard_error=areas.standard_error,
        test=unit.named(f"{unit} beside {count:,} {part.units.what}"),
        pvalue=pvalues[0],
        two_sided_pvalue=min(1.0, 2 * min(pvalues)),
        differing=differing,
        note=f"{part.units.what} that differ: {differing:,} of {count:,}",
    )
    if part.draws is not None:
        return tested
    interval = area_interval(gains, rule.confidence_level)
    others = other and area_interval(gains_of(part.positive, part.scores, group, other), rule.confidence_level)
    beyond = area_equivalence(gains, rule.margin_of(row))
    return replace(tested, low=interval.low, high=interval.high, other_interval=others, equivalence_pvalue=beyond)
