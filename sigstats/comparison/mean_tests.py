"""Means of marks, losses and chances: by the exact sign-flip test where it can be, else by Student's t.

A test by changes of sign needs to know how far a row that was not seen might differ, which bounded marks tell. Its law
is exact for whole numbers and fractions, and for few other marks; for more of these it has certified bounds.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from .._common.extreme import TIE_TOLERANCE
from .._common.validation import FloatArray, IntArray
from ..measures.score_formulas import pass_at
from ..measures.table import MEASURES
from ..scores.mean_score import mean_score_test
from ..sign_flips.law import pvalue_of_sum
from ..sign_flips.test import sign_flip_test
from ..sign_flips.units import whole_units
from .paired_predictions import ItemTotals
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
    if part.marks is not None and spec.needs == "marks":
        a, b = part.marks.sums
        marks = replace(part.marks, sums=(part.sign * a, part.sign * b))
        return test_averages(row, part, marks, part.span(spec), rule)
    a, b = _told_apart(*part.values(spec))
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


def test_averages(
    row: ComparisonRow, part: Part, totals: ItemTotals, span: float | None, rule: ComparisonRule
) -> ComparisonRow:
    """The mean over items of the mean of all answers to each, of which baseline and candidate have unlike numbers."""
    of_items, group = part.of_items(totals)
    a, b = _told_apart(*of_items.means)
    if len(a) < 2:
        return replace(row, note="one item alone: nothing can be tested")
    row = replace(row, n=len(a), items=len(a))
    row = with_scores(row, mean_score_test(a, b, groups=group, confidence_level=rule.confidence))
    row = replace(row, differing=_differing(a, b, group))
    sums, sizes = by_group(b - a, group)
    if span is None:
        return replace(row, note=_joined("Student's t: marks outside of 0 to 1, whose range is not given", row.note))
    if not _has_law(sums):
        return replace(row, note=_joined("Student's t: the law of so many items takes too long to be summed", row.note))
    what = "items' averages" if group is None else "groups of items' averages"
    return with_sign_flips(row, sums, sizes, span, rule, what, symmetric=_are_alike(of_items))


def _are_alike(totals: ItemTotals) -> bool:
    """Whether baseline and candidate have as many answers to each item."""
    return bool((totals.counts[0] == totals.counts[1]).all())


def test_pass_at(row: ComparisonRow, part: Part, rule: ComparisonRule) -> ComparisonRow:
    """The mean chance that one of k answers to an item is right; the groups are the items."""
    k = MEASURES[row.measure].answers
    totals, group = right_answers(part)
    fewest = np.minimum(*totals.counts)
    if fewest.min() < k:
        return replace(row, note=f"items of fewer than {k} answers: {np.count_nonzero(fewest < k):,}")
    chance = cache(pass_at)
    chances: list[list[Fraction]] = [
        [chance(k, n, int(right)) for n, right in zip(answers.tolist(), rights.tolist(), strict=True)]
        for answers, rights in zip(totals.counts, totals.sums, strict=True)
    ]
    floats = [np.array([float(each) for each in values]) for values in chances]
    row = with_scores(row, mean_score_test(*floats, groups=group, confidence_level=rule.confidence))
    differences = [candidate - baseline for baseline, candidate in zip(*chances, strict=True)]
    if group is None:
        return with_sign_flips(row, differences, None, 1.0, rule, "items", symmetric=_are_alike(totals))
    codes, sizes = np.unique(group, return_inverse=True, return_counts=True)[1:]
    sums = [Fraction(0)] * len(sizes)
    for code, difference in zip(codes.tolist(), differences, strict=True):
        sums[code] += difference
    return with_sign_flips(row, sums, sizes, 1.0, rule, "groups of items", symmetric=_are_alike(totals))


def right_answers(part: Part) -> tuple[ItemTotals, IntArray | None]:
    """How many answers to each item are right, and the group of each item; without items the groups are the items."""
    if part.right is not None:
        return part.of_items(part.right)
    units = part.group if part.items is None else part.items
    assert units is not None
    _, codes, answers = np.unique(units, return_inverse=True, return_counts=True)
    a, b = (np.bincount(codes, said == part.label).astype(np.float64) for said in (part.a, part.b))
    return ItemTotals((a, b), (answers, answers)), part.group_of_items()


def with_sign_flips(
    row: ComparisonRow,
    differences: Any,
    sizes: IntArray | None,
    span: float,
    rule: ComparisonRule,
    what: str,
    *,
    symmetric: bool = True,
) -> ComparisonRow:
    """The row with the sign-flip test of the differences, candidate less baseline, of each row, group or item."""
    options: dict[str, Any] = {"sizes": sizes, "limit": span, "symmetric": symmetric}
    both = sign_flip_test(differences, **options, confidence_level=rule.confidence)
    magnitudes, positive, negative = whole_units(differences)
    # The laws are symmetric: where the candidate is behind, one side is half of both.
    if negative > positive:
        worse = both.pvalue / 2
    elif symmetric:
        worse = pvalue_of_sum(magnitudes, positive, negative, "less").high
    else:
        worse = sign_flip_test(differences, **options, alternative="less").pvalue
    how = "exact" if both.pvalue_interval is None else "certified"
    how = how if symmetric else "and a score test"
    return replace(
        row,
        difference=both.estimate,
        low=both.confidence_interval.low,
        high=both.confidence_interval.high,
        standard_error=both.standard_error,
        test=f"sign flips of {both.items:,} {what}{',' if symmetric else ''} {how}",
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


def _told_apart(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The values, equal where they differ by rounding alone."""
    return a, np.where(np.abs(b - a) <= TIE_TOLERANCE * np.maximum(np.abs(a), np.abs(b)), a, b)


def _differing(a: FloatArray, b: FloatArray, group: IntArray | None) -> int:
    differs = a != b
    return int(differs.sum()) if group is None else len(np.unique(group[differs]))


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))
