r"""Means of answers, marks, losses and chances, and ratios of sums, by the bounds that one more row does not undo.

A mean of values without limits has no bound: the largest difference that was seen stands in for one, and no such row
passes.

Ratios of sums over rows are as the word error rate, the micro-F1 of documents or the cost of a success are; a mean of
the ratios of rows is a score. Let model A have numerators :math:`e_i` and denominators :math:`w_i`, and
:math:`R_A = \sum e_i / \sum w_i`. If what both models gave a row (a group of rows) can be exchanged, all :math:`2^n`
exchanges are equally likely (Pitman 1937), and a share of them has a difference of the two ratios as far as the one
observed. Ratios may be equal where nothing can be exchanged: a rare large gain against many small losses. So p is the
larger one of this share and of p of the mean of :math:`R_A + (e_i - R_A w_i) / \bar w`, whose difference has the same
first-order law (Cochran 1977, section 6.3), by the bound that one more row does not undo. The interval is that of this
mean.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from .._common.extreme import TIE_TOLERANCE, difference
from .._common.random_streams import as_generator
from .._common.validation import FloatArray, IntArray
from ..intervals import Interval
from ..measures.score_formulas import pass_at, ratio_of_sums
from ..measures.table import MEASURES, MeasureSpec
from ..ranking.means import mean_interval, standard_error
from ..unseen_row.means import Units, mean_intervals, mean_pvalues, sums_by, units_of
from .paired_predictions import ItemTotals
from .part import Part
from .rows import WITHOUT_LIMITS, ComparisonRow
from .rule import ComparisonRule

INFINITE_LOSS = "infinite loss"
_LIMITS = "score_range names limits of probabilities, such as 0.001 0.999"
#: So many rows stay in a cache.
_PIECE = 2**13


class Unbounded(NamedTuple):
    """A row that lacks the bounds of its mean difference, the units of the mean, and what none of them can exceed."""

    row: ComparisonRow
    units: Units
    limit: float


#: A row whose test is done, or that `bounded` finishes.
Tested = ComparisonRow | Unbounded


def bounded(tested: Sequence[Tested], rule: ComparisonRule) -> list[ComparisonRow]:
    """The rows with the bounds of all mean differences, which are found together."""
    wanted = [each for each in tested if isinstance(each, Unbounded)]
    units, limits = [each.units for each in wanted], [each.limit for each in wanted]
    found = zip(
        mean_intervals(units, [(-limit, limit) for limit in limits], rule.confidence_level),
        mean_pvalues(units, limits),
        mean_pvalues(units, limits, margins=[rule.margin_of(each.row) for each in wanted]),
        strict=True,
    )
    return [_with_bounds(each.row, *next(found)) if isinstance(each, Unbounded) else each for each in tested]


def _with_bounds(
    row: ComparisonRow, interval: Interval, pvalues: tuple[float, float], beyond: tuple[float, float]
) -> ComparisonRow:
    return replace(
        row,
        low=interval.low,
        high=interval.high,
        # Not below that of a test of its own.
        pvalue=max(pvalues[0], row.pvalue or 0.0),
        two_sided_pvalue=max(min(1.0, 2 * min(pvalues)), row.two_sided_pvalue or 0.0),
        equivalence_pvalue=1.0 if row.test.endswith(WITHOUT_LIMITS) else max(beyond),
    )


def test_mean(row: ComparisonRow, part: Part, rule: ComparisonRule) -> Tested:
    """A mean of a value a row."""
    if row.n < 2:
        return replace(row, note="one row alone: nothing can be tested")
    spec = MEASURES[row.measure]
    if part.marks is not None and spec.needs == "marks":
        a, b = part.marks.sums
        marks = replace(part.marks, sums=(part.sign * a, part.sign * b))
        return test_averages(row, part, marks, part.span(spec), rule)
    a, b = part.values(spec)
    infinite = [int(np.isinf(each).sum()) for each in (a, b)]
    if any(infinite):
        return replace(row, note=infinite_loss(infinite, "rows"))
    if part.weights is not None:
        return weighted_mean(row, (a, b), part, part.span(spec), note=_outside(part, spec))
    row = with_means(row, (a, b), part.group, rule)
    return with_bound(row, (a, b), part.group, part.span(spec), part.what, note=_outside(part, spec))


def weighted_mean(
    row: ComparisonRow, values: tuple[FloatArray, FloatArray], part: Part, span: float | None, *, note: str = ""
) -> Tested:
    """A mean of a value a row, each of which counts for its weight; a row not seen weighs as much as any."""
    assert part.weights is not None
    baseline, candidate = (float(np.average(each, weights=part.weights)) for each in values)
    row = replace(row, baseline=baseline, candidate=candidate)
    return with_bound(row, values, part.group, span, part.what, weights=part.weights, note=note)


def infinite_loss(counts: Sequence[int], what: str) -> str:
    """The note on a log loss that is infinite in so many rows or runs of baseline and candidate."""
    who = " and ".join(
        f"{count:,} {what} of the {name}"
        for count, name in zip(counts, ("baseline", "candidate"), strict=True)
        if count
    )
    return f"{INFINITE_LOSS}: the true class has probability 0 in {who}; {_LIMITS}"


def _outside(part: Part, spec: MeasureSpec) -> str:
    """A note on probabilities that count as the nearest limit."""
    if spec.name != "neg-log-loss" or part.score_range is None or part.scores is None:
        return ""
    low, high = part.score_range
    outside = sum(int(np.count_nonzero((each < low) | (each > high))) for each in part.scores)
    return f"{outside:,} probabilities outside of {low:g} to {high:g} count as these limits" if outside else ""


def test_averages(
    row: ComparisonRow, part: Part, totals: ItemTotals, span: float | None, rule: ComparisonRule
) -> Tested:
    """The mean over items of the mean of all answers to each, of which baseline and candidate have unlike numbers."""
    of_items, group = part.of_items(totals)
    if len(of_items.means[0]) < 2:
        return replace(row, note="one item alone: nothing can be tested")
    row = replace(row, n=len(of_items.means[0]), items=len(of_items.means[0]))
    row = with_means(row, of_items.means, group, rule)
    what = "items' averages" if group is None else "groups of items' averages"
    return with_bound(row, of_items.means, group, span, what)


def test_pass_at(row: ComparisonRow, part: Part, rule: ComparisonRule) -> Tested:
    """The mean chance that one of k answers to an item is right; the groups are the items."""
    k = MEASURES[row.measure].answers
    totals, group = right_answers(part)
    fewest = np.minimum(*totals.counts)
    if fewest.min() < k:
        return replace(row, note=f"items of fewer than {k} answers: {np.count_nonzero(fewest < k):,}")
    chance = cache(lambda answers, right: float(pass_at(k, answers, right)))
    a, b = (
        np.array([chance(n, int(right)) for n, right in zip(answers.tolist(), rights.tolist(), strict=True)])
        for answers, rights in zip(totals.counts, totals.sums, strict=True)
    )
    row = with_means(row, (a, b), group, rule)
    return with_bound(row, (a, b), group, 1.0, "items" if group is None else "groups of items")


def right_answers(part: Part) -> tuple[ItemTotals, IntArray | None]:
    """The number of right answers to each item, and its group; without items the groups are the items."""
    if part.right is not None:
        return part.of_items(part.right)
    units = part.group if part.items is None else part.items
    assert units is not None
    _, codes, answers = np.unique(units, return_inverse=True, return_counts=True)
    a, b = (np.bincount(codes, said == part.label).astype(np.float64) for said in (part.a, part.b))
    return ItemTotals((a, b), (answers, answers)), part.group_of_items()


def with_means(
    row: ComparisonRow, values: tuple[FloatArray, FloatArray], group: IntArray | None, rule: ComparisonRule
) -> ComparisonRow:
    """The row with both means, their intervals by Student's t, and the standard error of their difference."""
    intervals = [mean_interval(each, group, rule.confidence_level) for each in values]
    return replace(
        row,
        baseline=float(np.sort(values[0]).mean()),
        candidate=float(np.sort(values[1]).mean()),
        baseline_interval=intervals[0],
        candidate_interval=intervals[1],
        standard_error=standard_error(values[1] - values[0], group),
    )


def with_bound(
    row: ComparisonRow,
    values: tuple[FloatArray, FloatArray],
    group: IntArray | None,
    span: float | None,
    what: str,
    *,
    weights: FloatArray | None = None,
    note: str = "",
) -> Tested:
    """The row with the mean difference of values, none of which is larger than `span`, still without its bounds."""
    a, b = values
    pieces = (slice(start, start + _PIECE) for start in range(0, len(a), _PIECE))
    differences = np.concatenate([difference(b[piece], a[piece]) for piece in pieces])
    limit = float(np.abs(differences).max()) if span is None else span
    sums, counts = by_group(differences if weights is None else weights * differences, group)
    sizes = counts if weights is None else by_group(weights, group)[0]
    differing = int(np.count_nonzero(sums if group is None else by_group(np.abs(differences), group)[0]))
    row = replace(row, differing=differing, test=f"unseen row beside {len(sums):,} {what}")
    notes = [f"{what} that differ: {differing:,} of {len(sums):,}", note]
    if span is None and not differing:
        notes[0] = f"no difference in {row.n:,} rows, and none is excluded: no limit of them is known"
        row = replace(row, difference=0.0, low=None, high=None, standard_error=None)
        return replace(row, pvalue=1.0, two_sided_pvalue=1.0, note="; ".join(filter(None, notes)))
    if span is None:
        row = replace(row, test=f"{row.test}, {WITHOUT_LIMITS}")
        notes.insert(1, "limits of a row are not known")
    units = units_of(sums, sizes)
    if row.standard_error is None and len(sums) > 1:
        row = replace(row, standard_error=units.standard_error)
    return Unbounded(replace(row, difference=units.mean, note="; ".join(filter(None, notes))), units, limit)


def by_group(values: FloatArray, group: IntArray | None) -> tuple[FloatArray, IntArray | None]:
    """The sum of each group and its number of rows; without groups the values themselves."""
    if group is None:
        return values, None
    _, codes, sizes = np.unique(group, return_inverse=True, return_counts=True)
    return sums_by(codes, values), sizes


#: Units that differ, of which all exchanges are listed; of more they are drawn.
_MOST_LISTED = 14
_CHUNK = 2**24


def test_ratio(row: ComparisonRow, part: Part, rule: ComparisonRule) -> Tested:
    """The row with both ratios, tested; `part.sign` is -1 where the lower is better."""
    assert part.scores is not None
    assert part.per is not None
    if row.n < 2:
        return replace(row, note="one row alone: nothing can be tested")
    if not all(each.sum() > 0 for each in part.per):
        return replace(row, note="the denominators of one model add up to 0: there is no ratio")
    ratios = [part.sign * ratio_of_sums(w, e) for e, w in zip(part.scores, part.per, strict=True)]
    a, b = (
        ratio + (part.sign * e - ratio * w) / w.mean()
        for ratio, e, w in zip(ratios, part.scores, part.per, strict=True)
    )
    pvalues, how = exchange_pvalues(part, rule)
    row = replace(with_means(row, (a, b), part.group, rule), baseline=ratios[0], candidate=ratios[1])
    row = replace(row, pvalue=pvalues[0], two_sided_pvalue=pvalues[1])
    found = with_bound(row, (a, b), part.group, _span(part, ratios), part.what)
    row = found if isinstance(found, ComparisonRow) else found.row
    row = replace(row, test=f"exchange of {part.what}, {how}; {row.test}")
    return row if isinstance(found, ComparisonRow) else found._replace(row=row)


def exchange_pvalues(part: Part, rule: ComparisonRule) -> tuple[tuple[float, float], str]:
    """The p-value of "the candidate is not worse", the two-sided one, and how the exchanges were found."""
    assert part.scores is not None
    assert part.per is not None
    e, other_e, w, other_w = (by_group(each, part.group)[0] for each in (*part.scores, *part.per))
    moved = np.column_stack([other_e - e, other_w - w])
    moved = moved[(moved != 0).any(axis=1)]
    totals = [np.array([each.sum(), size.sum()]) for each, size in ((e, w), (other_e, other_w))]
    listed = len(moved) <= _MOST_LISTED
    rng, size = as_generator(rule.rng), 2 ** len(moved) if listed else rule.n_resamples
    worse = further = 0
    observed = part.sign * float(totals[1][0] / totals[1][1] - totals[0][0] / totals[0][1])
    room = TIE_TOLERANCE * max(*(abs(float(each[0] / each[1])) for each in totals), 1e-300)
    step = max(1, _CHUNK // max(1, len(moved)))
    for start in range(0, size, step):
        rows = min(step, size - start)
        if listed:
            swapped = (np.arange(start, start + rows)[:, np.newaxis] >> np.arange(len(moved))) & 1
        else:
            swapped = rng.integers(0, 2, (rows, len(moved)), dtype=np.int8)
        change: FloatArray = swapped.astype(np.float64) @ moved
        of_a, of_b = totals[0] + change, totals[1] - change
        with np.errstate(divide="ignore", invalid="ignore"):
            gains = part.sign * (of_b[:, 0] / of_b[:, 1] - of_a[:, 0] / of_a[:, 1])
        gains = np.where(np.isnan(gains), -np.inf, gains)  # without a denominator: as far as can be
        worse += int((gains <= observed + room).sum())
        further += int((np.abs(gains) >= abs(observed) - room).sum())
    more = 0 if listed else 1  # what was observed is one of those that are drawn
    return ((worse + more) / (size + more), (further + more) / (size + more)), "exact" if listed else f"{size:,} drawn"


def _span(part: Part, ratios: list[float]) -> float | None:
    """The largest difference of two terms of a row whose ratio lies within the range that was given."""
    if part.score_range is None or part.per is None:
        return None
    heaviest = max(float(each.max() / each.mean()) for each in part.per)
    several = 1 if np.array_equal(*part.per) else 2
    return several * heaviest * (part.score_range[1] - part.score_range[0]) + abs(ratios[1] - ratios[0])
