r"""Tests of one row of a comparison: means of answers, marks, losses and chances, and ratios of sums.

A mean is bounded as in `sigstats.unseen_row.means`: rows (or groups) get random weights, and one more row, as bad as
the limits allow, is added. `with_bound` leaves a row unfinished (`Pending`), and `bounded` computes the bounds of all
such rows together. If limits are unknown, the largest observed difference replaces them, and the row cannot pass.

Word error rate, micro-F1 of documents and the cost of a success are ratios of sums over rows; a mean of the ratios of
rows is a score instead. Let model A have numerators :math:`e_i` and denominators :math:`w_i`, and :math:`R_A = \sum e_i
/ \sum w_i`. If the values of both models for a row (or group) are exchangeable, all :math:`2^n` exchanges are equally
likely (Pitman 1937), and a share of them has a difference of the two ratios at least as large as the observed one.
Ratios may be equal without exchangeability: a rare large gain against many small losses. So p is the larger of this
share and of p of the mean of :math:`R_A + (e_i - R_A w_i) / \bar w`, whose difference has the same first-order
distribution (Cochran 1977, section 6.3), bounded as above. The interval is that of this mean.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr

from ..._common.extreme import TIE_TOLERANCE, difference
from ..._common.random_streams import as_generator
from ..._common.time_order import blocks_in_time
from ..._common.validation import FloatArray, IntArray
from ...measures.score_formulas import ratio_of_sums
from ...ranking.means import share_units, standard_error, student_interval
from ...unseen_row.means import Units, UnseenGroup, mean_intervals, mean_pvalues, row_of_groups, sums_by, units_of
from ..evidence import Attempts, Ratios, Values
from ..paired_predictions import ItemTotals
from ..rows import ComparisonRow
from ..rule import ComparisonRule, RowTest

_LIMITS = "score_range names limits of probabilities, such as 0.001 0.999"
#: A number of rows that fits in a processor's cache.
_PIECE = 2**13
#: Up to this many differing units, all exchanges are listed; with more, exchanges are drawn.
_MOST_LISTED = 14
_CHUNK = 2**24


def unseen_unit(
    grouped: bool, units: int, unseen_group: UnseenGroup
) -> tuple[RowTest, UnseenGroup, UnseenGroup | None]:
    """Return the test with one more unit, the assumption about this unit, and the other assumption for groups."""
    if not grouped:
        return RowTest("unseen row", "unseen"), "any", None
    if row_of_groups(units, unseen_group) < math.inf:
        return RowTest("unseen group like those seen", "unseen", like_seen=True), "like-seen", "any"
    return RowTest("unseen group of any kind", "unseen"), "any", "like-seen"


class Pending(NamedTuple):
    """A row whose bounds `bounded` has to compute: the units of its mean, and the most that one unit can add.

    `other`: the units with the other assumption about one more group; None without groups. `answers`: the units for the
    shares of right answers of baseline and candidate, if their intervals are wanted too.
    """

    row: ComparisonRow
    units: Units
    limit: float
    other: Units | None = None
    answers: tuple[Units, ...] = ()


#: A row whose test is done, or that `bounded` finishes.
Tested = ComparisonRow | Pending


def bounded(tested: Sequence[Tested], rule: ComparisonRule) -> list[ComparisonRow]:
    """Return the rows with the bounds of all mean differences, which are computed together."""
    wanted = [row for row in tested if isinstance(row, Pending)]
    units, limits = [pending.units for pending in wanted], [pending.limit for pending in wanted]
    of_means = zip(
        mean_intervals(units, [(-limit, limit) for limit in limits], rule.confidence_level),
        mean_pvalues(units, limits),
        mean_pvalues(units, limits, margins=[rule.margin_of(pending.row) for pending in wanted]),
        strict=True,
    )
    others = [(pending.other, (-pending.limit, pending.limit)) for pending in wanted if pending.other]
    of_others = iter(mean_intervals([o for o, _ in others], [ends for _, ends in others], rule.confidence_level))
    shares = [units for pending in wanted for units in pending.answers]
    of_shares = iter(mean_intervals(shares, [(0.0, 1.0)] * len(shares), rule.confidence_level))

    def with_bounds(row: ComparisonRow, other: Units | None, answers: tuple[Units, ...]) -> ComparisonRow:
        if answers:
            row = replace(row, baseline_interval=next(of_shares), candidate_interval=next(of_shares))
        (interval, pvalues, beyond), pvalue = next(of_means), row.pvalue or 0.0
        ends = [end for end in (row.difference or 0.0, row.low, row.high) if end is not None]
        return replace(
            row,
            low=min(interval.low, *ends),
            high=max(interval.high, *ends),  # one weight above all others may lie beyond
            other_interval=None if other is None else next(of_others),
            # The larger of this p-value and that of the row's own test. For blocks in time, 1 - p is the p-value of
            # the other side: of two values on one side of 1/2 the nearer one is used, otherwise 1/2.
            pvalue=max(pvalue, pvalues[0]) if row.low is None else float(np.median([pvalue, pvalues[0], 0.5])),
            pvalue_error=row.pvalue_error if pvalue > pvalues[0] else None,
            two_sided_pvalue=max(min(1.0, 2 * min(pvalues)), row.two_sided_pvalue or 0.0),
            equivalence_pvalue=max(*beyond, row.equivalence_pvalue or 0.0) if row.test.limited else 1.0,
        )

    return [with_bounds(test.row, test.other, test.answers) if isinstance(test, Pending) else test for test in tested]


def test_mean(row: ComparisonRow, part: Values, rule: ComparisonRule) -> Tested:
    """Test a mean over rows, weighted if there are weights; an unseen row weighs as much as the heaviest."""
    if row.n < 2:
        return replace(row, note="only one row: nothing can be tested")
    if part.totals is not None:
        return _test_averages(row, part, part.totals, rule)
    a, b = part.values
    infinite = [int(np.isinf(side).sum()) for side in (a, b)]
    if any(infinite):
        return infinite_loss(row, infinite, "rows")
    group, what, after, span, note = part.units.group, part.units.what, "", part.span, part.note
    answers: tuple[Units, ...] = ()
    if part.units.weights is not None:
        means = [float(np.average(side, weights=part.units.weights)) for side in (a, b)]
        row = replace(row, baseline=means[0], candidate=means[1])
    elif part.units.in_time:
        row, after = _by_blocks(row, a, b, group, rule), "t of blocks in time"
        group, what = (None, "rows") if len(np.unique(group)) == row.n else (group, "times")  # type: ignore[arg-type]
        note = "; ".join(filter(None, [row.note, note]))
    else:
        row = with_means(row, (a, b), group, rule)
        if part.answers and group is not None:
            codes = np.unique(group, return_inverse=True)[1]
            answers = tuple(share_units(right, codes, rule.unseen_group) for right in (a, b))
    tested = with_bound(row, (a, b), group, span, what, rule, weights=part.units.weights, note=note, after=after)
    return tested._replace(answers=answers) if isinstance(tested, Pending) else tested


def _by_blocks(row: ComparisonRow, a: FloatArray, b: FloatArray, times: Any, rule: ComparisonRule) -> ComparisonRow:
    """Return the row with its means, tested by Student's t of blocks of times, as `mean_score_test` does."""
    differences = b - a
    blocks, note = blocks_in_time(differences, times)
    row = with_means(row, (a, b), blocks, rule)
    mean, error, margin = differences.mean(), max(row.standard_error or 0.0, 1e-300), rule.margin_of(row)
    low, high = student_interval(differences, blocks, rule.confidence_level)
    z = np.array([mean, -abs(mean), -margin - mean, mean - margin]) / error
    worse, differs, *beyond = stdtr(blocks.max(), z).tolist()
    pvalues: dict[str, Any] = {"pvalue": worse, "two_sided_pvalue": 2 * differs, "equivalence_pvalue": max(beyond)}
    return replace(row, low=low, high=high, note=note, **pvalues)


def infinite_loss(row: ComparisonRow, counts: Sequence[int], what: str) -> ComparisonRow:
    """Return the row with a note on the number of rows or runs of baseline and candidate with an infinite log loss."""
    who = " and ".join(
        f"{count:,} {what} of the {name}"
        for count, name in zip(counts, ("baseline", "candidate"), strict=True)
        if count
    )
    note = f"infinite loss: the true class has probability 0 in {who}; {_LIMITS}"
    return replace(row, test=RowTest(kind="infinite"), note=note)


def _test_averages(row: ComparisonRow, part: Values, totals: ItemTotals, rule: ComparisonRule) -> Tested:
    """Return the mean over items of their mean answers, if the models answered them different numbers of times."""
    means, group = totals.take(np.unique(part.units.items)).means, part.units.group_of_items()  # type: ignore[arg-type]
    if len(means[0]) < 2:
        return replace(row, note="only one item: nothing can be tested")
    row = with_means(replace(row, n=len(means[0]), items=len(means[0])), means, group, rule)
    what = "items' averages" if group is None else "groups of items' averages"
    return with_bound(row, means, group, part.span, what, rule)


def test_pass_at(row: ComparisonRow, part: Attempts, rule: ComparisonRule) -> Tested:
    """Return the mean chance that one of k answers to an item is right; the groups are the items."""
    totals, group = part.by_item()
    fewest = np.minimum(*totals.counts)
    if fewest.min() < part.k:
        return replace(row, note=f"items with fewer than {part.k} answers: {np.count_nonzero(fewest < part.k):,}")
    chances = part.chances(totals)
    row = with_means(row, chances, group, rule)
    return with_bound(row, chances, group, 1.0, "items" if group is None else "groups of items", rule)


def with_means(
    row: ComparisonRow, values: tuple[FloatArray, FloatArray], group: IntArray | None, rule: ComparisonRule
) -> ComparisonRow:
    """Return the row with both means, their intervals by Student's t, and the standard error of their difference."""
    intervals = [student_interval(value, group, rule.confidence_level) for value in values]
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
    rule: ComparisonRule,
    *,
    weights: FloatArray | None = None,
    note: str = "",
    after: str = "",
) -> Tested:
    """Return the row with the mean difference of two values per row, whose bounds are still to be computed.

    `span`: the largest possible difference, if known. `what`: the plural of the units. `after`: the test that the row
    already has, if any.
    """
    a, b = values
    pieces = (slice(start, start + _PIECE) for start in range(0, len(a), _PIECE))
    differences = np.concatenate([difference(b[piece], a[piece]) for piece in pieces])
    limit = float(np.abs(differences).max()) if span is None else span
    sums, counts = by_group(differences if weights is None else weights * differences, group)
    sizes = counts if weights is None else by_group(weights, group)[0]
    differing = int(np.count_nonzero(sums if group is None else by_group(np.abs(differences), group)[0]))
    heaviest = 1.0 if weights is None else float(weights.max())
    unit, kind, other = unseen_unit(group is not None, len(sums), rule.unseen_group)
    row = replace(row, differing=differing, test=unit.named(f"{unit} beside {len(sums):,} {what}").after(after))
    notes = [f"{what} that differ: {differing:,} of {len(sums):,}", note]
    if span is None and not differing:
        notes[0] = f"no difference in {row.n:,} rows, but none is excluded: the limits are unknown"
        row = replace(row, difference=0.0, low=None, high=None, standard_error=None)
        return replace(row, pvalue=1.0, two_sided_pvalue=1.0, note="; ".join(filter(None, notes)))
    if span is None:
        row = replace(row, test=row.test.without_limits())
        notes.insert(1, "limits of a row are not known")
    units = units_of(sums, sizes, row_of_groups(len(sums), kind, heaviest))
    if row.standard_error is None and len(sums) > 1:
        row = replace(row, standard_error=units.standard_error)
    others = other and units._replace(row=row_of_groups(len(sums), other, heaviest))
    return Pending(replace(row, difference=units.mean, note="; ".join(filter(None, notes))), units, limit, others)


def by_group(values: FloatArray, group: IntArray | None) -> tuple[FloatArray, IntArray | None]:
    """Return the sum of each group and its number of rows; without groups the values themselves."""
    if group is None:
        return values, None
    _, codes, sizes = np.unique(group, return_inverse=True, return_counts=True)
    return sums_by(codes, values), sizes


def test_ratio(row: ComparisonRow, part: Ratios, rule: ComparisonRule) -> Tested:
    """Return the row with both ratios, tested; `part.sign` is -1 if lower is better."""
    if row.n < 2:
        return replace(row, note="only one row: nothing can be tested")
    if not all(array.sum() > 0 for array in part.per):
        return replace(row, note="the denominators of one model add up to 0: the ratio is undefined")
    ratios = [part.sign * ratio_of_sums(w, e) for e, w in zip(part.scores, part.per, strict=True)]
    a, b = (
        ratio + (part.sign * e - ratio * w) / w.mean()
        for ratio, e, w in zip(ratios, part.scores, part.per, strict=True)
    )
    (pvalue, two_sided), how = exchange_pvalues(part, rule)
    error = None if how == "exact" else math.sqrt(pvalue * (1 - pvalue) / rule.n_resamples)
    row = replace(with_means(row, (a, b), part.units.group, rule), baseline=ratios[0], candidate=ratios[1])
    row = replace(row, pvalue=pvalue, pvalue_error=error, two_sided_pvalue=two_sided)
    span, after = _span(part, ratios), f"exchange of {part.units.what}, {how}"
    return with_bound(row, (a, b), part.units.group, span, part.units.what, rule, after=after)


def exchange_pvalues(part: Ratios, rule: ComparisonRule) -> tuple[tuple[float, float], str]:
    """Return the p-value of "not worse", the two-sided one, and how exchanges were generated."""
    e, other_e, w, other_w = (by_group(array, part.units.group)[0] for array in (*part.scores, *part.per))
    moved = np.column_stack([other_e - e, other_w - w])
    moved = moved[(moved != 0).any(axis=1)]
    # The sign and order of the units do not depend on which model is first, nor on the order of rows.
    moved *= np.where(moved[:, :1] == 0, np.sign(moved[:, 1:]), np.sign(moved[:, :1])) / 2
    moved = moved[np.lexsort(moved.T)]
    totals = [np.array([array.sum(), size.sum()]) for array, size in ((e, w), (other_e, other_w))]
    middle, listed = (totals[0] + totals[1]) / 2, len(moved) <= _MOST_LISTED
    rng, size = as_generator(rule.rng), 2 ** len(moved) if listed else rule.n_resamples
    worse = further = 0
    observed = part.sign * float(totals[1][0] / totals[1][1] - totals[0][0] / totals[0][1])
    room = TIE_TOLERANCE * max(*(abs(float(total[0] / total[1])) for total in totals), 1e-300)
    step = max(1, _CHUNK // max(1, len(moved)))
    for start in range(0, size, step):
        rows = min(step, size - start)
        if listed:
            swapped = (np.arange(start, start + rows)[:, np.newaxis] >> np.arange(len(moved))) & 1
        else:
            swapped = rng.integers(0, 2, (rows, len(moved)), dtype=np.int8)
        change: FloatArray = (2.0 * swapped - 1) @ moved
        of_a, of_b = middle + change, middle - change
        with np.errstate(divide="ignore", invalid="ignore"):
            gains = part.sign * (of_b[:, 0] / of_b[:, 1] - of_a[:, 0] / of_a[:, 1])
        gains = np.where(np.isnan(gains), -np.inf, gains)  # without a denominator: the largest possible difference
        worse += int((gains <= observed + room).sum())
        further += int((np.abs(gains) >= abs(observed) - room).sum())
    more = 0 if listed else 1  # the observed exchange counts as one of the drawn
    return ((worse + more) / (size + more), (further + more) / (size + more)), "exact" if listed else f"{size:,} drawn"


def _span(part: Ratios, ratios: list[float]) -> float | None:
    """Return the largest difference of two terms of a row with a ratio within the given range."""
    if part.limits is None:
        return None
    heaviest = max(float(array.max() / array.mean()) for array in part.per)
    several = 1 if np.array_equal(*part.per) else 2
    return several * heaviest * (part.limits[1] - part.limits[0]) + abs(ratios[1] - ratios[0])
