r"""Ratios of sums, by the exchanges of rows and by the bound of the mean of their linear terms.

Word error rate, micro-F1 of documents and the cost of a success are ratios of sums over rows; a mean of the ratios of
rows is a score instead. Let model A have numerators :math:`e_i` and denominators :math:`w_i`, and :math:`R_A = \sum e_i
/ \sum w_i`. If the values of both models for a row (or group) are exchangeable, all :math:`2^n` exchanges are equally
likely (Pitman 1937), and a share of them has a difference of the two ratios at least as large as the observed one.
Ratios may be equal without exchangeability: a rare large gain against many small losses. So p is the larger of this
share and of p of the mean of :math:`R_A + (e_i - R_A w_i) / \bar w`, whose difference has the same first-order
distribution (Cochran 1977, section 6.3), by the bound that one more row does not undo. The interval is that of this
mean.
"""

import math
from dataclasses import replace

import numpy as np

from .._common.extreme import TIE_TOLERANCE
from .._common.random_streams import as_generator
from .._common.validation import FloatArray
from ..measures.score_formulas import ratio_of_sums
from .evidence import Ratios
from .mean_tests import Tested, by_group, with_bound, with_means
from .rows import ComparisonRow
from .rule import ComparisonRule

#: Units that differ, of which all exchanges are listed; of more they are drawn.
_MOST_LISTED = 14
_CHUNK = 2**24


def test_ratio(row: ComparisonRow, part: Ratios, rule: ComparisonRule) -> Tested:
    """The row with both ratios, tested; `part.sign` is -1 if lower is better."""
    if row.n < 2:
        return replace(row, note="only one row: nothing can be tested")
    if not all(array.sum() > 0 for array in part.per):
        return replace(row, note="the denominators of one model add up to 0: the ratio is undefined")
    ratios = [part.sign * ratio_of_sums(w, e) for e, w in zip(part.scores, part.per, strict=True)]
    a, b = (
        ratio + (part.sign * e - ratio * w) / w.mean()
        for ratio, e, w in zip(ratios, part.scores, part.per, strict=True)
    )
    pvalues, how = exchange_pvalues(part, rule)
    row = replace(with_means(row, (a, b), part.units.group, rule), baseline=ratios[0], candidate=ratios[1])
    error = None if how == "exact" else math.sqrt(pvalues[0] * (1 - pvalues[0]) / rule.n_resamples)
    row = replace(row, pvalue=pvalues[0], pvalue_error=error, two_sided_pvalue=pvalues[1])
    span, after = _span(part, ratios), f"exchange of {part.units.what}, {how}"
    return with_bound(row, (a, b), part.units.group, span, part.units.what, rule, after=after)


def exchange_pvalues(part: Ratios, rule: ComparisonRule) -> tuple[tuple[float, float], str]:
    """The p-value of "the candidate is not worse", the two-sided one, and how the exchanges were found."""
    e, other_e, w, other_w = (by_group(array, part.units.group)[0] for array in (*part.scores, *part.per))
    moved = np.column_stack([other_e - e, other_w - w])
    moved = moved[(moved != 0).any(axis=1)]
    # One sign and order of the units, whichever model is first and whatever the order of rows.
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
        gains = np.where(np.isnan(gains), -np.inf, gains)  # without a denominator: as far as can be
        worse += int((gains <= observed + room).sum())
        further += int((np.abs(gains) >= abs(observed) - room).sum())
    more = 0 if listed else 1  # what was observed is one of those that are drawn
    return ((worse + more) / (size + more), (further + more) / (size + more)), "exact" if listed else f"{size:,} drawn"


def _span(part: Ratios, ratios: list[float]) -> float | None:
    """The largest difference of two terms of a row with a ratio within the given range."""
    if part.limits is None:
        return None
    heaviest = max(float(array.max() / array.mean()) for array in part.per)
    several = 1 if np.array_equal(*part.per) else 2
    return several * heaviest * (part.limits[1] - part.limits[0]) + abs(ratios[1] - ratios[0])
