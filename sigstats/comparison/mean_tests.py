"""Means of marks, losses and chances: by the exact sign-flip test where it can be, else by Student's t.

A test by changes of sign needs to know how far a row that was not seen might differ, which bounded marks tell. Its law
is exact for whole numbers and fractions, and for few other marks; for more of these it has certified bounds.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from .._common.validation import FloatArray, IntArray
from ..measures.score_formulas import pass_at
from ..measures.table import MEASURES
from ..scores.mean_score import mean_score_test
from ..sign_flips.law import pvalue_of_sum
from ..sign_flips.test import sign_flip_test, whole_units
from .part import Part
from .rows import ComparisonRow
from .rule import ComparisonRule
from .score_rows import with_scores

#: With more rows that differ Student's t takes a hundredth of the time and is as good: of whole numbers and fractions,
#: and of other marks, whose bounds of p are wider the more there are.
_MOST_FLIPS, _MOST_REALS = 100_000, 10_000


def test_mean(row: ComparisonRow, part: Part, rule: ComparisonRule) -> ComparisonRow:
    """A mean of a value a row."""
    if row.n < 2:
        return replace(row, note="one row alone: nothing can be tested")
    spec = MEASURES[row.measure]
    a, b = part.values(spec)
    student = mean_score_test(a, b, groups=part.group, confidence_level=rule.confidence)
    row = replace(with_scores(row, student), differing=_differing(a, b, part.group))
    span = part.span(spec)
    if span is None:
        why = "marks outside of 0 to 1, whose range is not given" if spec.needs == "marks" else "losses have no bound"
        return replace(row, note=_joined(f"Student's t: {why}", row.note))
    sums, sizes = by_group(b - a, part.group)
    if not _has_law(sums):
        why = f"the law of {np.count_nonzero(sums):,} {part.what} that differ takes too long to be summed"
        return replace(row, note=_joined(f"Student's t: {why}", row.note))
    return with_sign_flips(row, sums, sizes, span, rule, part.what)


def test_pass_at(row: ComparisonRow, part: Part, rule: ComparisonRule) -> ComparisonRow:
    """The mean chance that one of k answers to an item is right; the groups are the items."""
    k = MEASURES[row.measure].answers
    assert part.group is not None
    _, items, answers = np.unique(part.group, return_inverse=True, return_counts=True)
    if answers.min() < k:
        return replace(row, note=f"items of fewer than {k} answers: {np.count_nonzero(answers < k):,}")
    chance = cache(pass_at)
    chances: list[list[Fraction]] = [
        [
            chance(k, n, int(right))
            for n, right in zip(answers.tolist(), np.bincount(items, said == part.label).tolist(), strict=True)
        ]
        for said in (part.a, part.b)
    ]
    floats = [np.array([float(each) for each in values]) for values in chances]
    row = with_scores(row, mean_score_test(*floats, confidence_level=rule.confidence))
    differences = [candidate - baseline for baseline, candidate in zip(*chances, strict=True)]
    return with_sign_flips(row, differences, None, 1.0, rule, "items")


def with_sign_flips(
    row: ComparisonRow, differences: Any, sizes: IntArray | None, span: float, rule: ComparisonRule, what: str
) -> ComparisonRow:
    """The row with the sign-flip test of the differences, candidate less baseline, of each row, group or item."""
    both = sign_flip_test(differences, sizes=sizes, limit=span, confidence_level=rule.confidence)
    magnitudes, positive, negative = whole_units(differences)
    # The law is symmetric: where the candidate is behind, one side is half of both.
    worse = both.pvalue / 2 if negative > positive else pvalue_of_sum(magnitudes, positive, negative, "less").high
    how = "exact" if both.pvalue_interval is None else "certified"
    return replace(
        row,
        difference=both.estimate,
        low=both.confidence_interval.low,
        high=both.confidence_interval.high,
        standard_error=both.standard_error,
        test=f"sign flips of {both.items:,} {what}, {how}",
        p_worse=worse,
        p_differs=both.pvalue,
        differing=both.differing,
        note=f"{what} that differ: {both.differing:,} of {both.items:,}",
    )


def by_group(values: FloatArray, group: IntArray | None) -> tuple[FloatArray, IntArray | None]:
    """The sum of each group and its number of rows; without groups the values themselves."""
    if group is None:
        return values, None
    _, codes, sizes = np.unique(group, return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(codes, values), dtype=np.float64), sizes


def _has_law(sums: FloatArray) -> bool:
    """Whether the law of the sum with random signs can be found closely enough, in a second."""
    magnitudes = sums[sums != 0]
    if len(magnitudes) <= _MOST_REALS:
        return True
    return len(magnitudes) <= _MOST_FLIPS and isinstance(whole_units(magnitudes)[0], list)


def _differing(a: FloatArray, b: FloatArray, group: IntArray | None) -> int:
    differs = a != b
    return int(differs.sum()) if group is None else len(np.unique(group[differs]))


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))
