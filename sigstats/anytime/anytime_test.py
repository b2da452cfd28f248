"""Tests of paired differences that accumulate over time, valid however often they are looked at.

If a series is looked at often enough, an ordinary p-value of all rows so far usually becomes small at some look, even
if the two models are equal. The p-value and the interval here are valid at all looks together: the probability that p
is ever at most alpha is at most alpha, whenever and for whatever reason one stops.

When not to use: the number of rows is fixed before the first look (`sigstats.mcnemar_test` and
`sigstats.sign_flip_test` need fewer rows for the same decision); the same rows are tested again for each candidate
(``[looks] spending`` of a regression study); rows depend on each other, within groups or on earlier answers.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from .._common.data_frames import refuse_summary_rows, require_same_index
from .._common.time_order import refuse_other_order
from .._common.validation import (
    ALTERNATIVES,
    LARGEST_SQUARABLE,
    Alternative,
    FloatArray,
    IntArray,
    as_array,
    as_choice,
    as_counts,
    as_differences,
    as_real,
    refuse,
    refuse_where,
)
from ..intervals import Interval
from ..test_result import TestResult
from .bets import log_evalue_of_any_start, nats_lost, rows_of, running_interval


class AnytimeLook(NamedTuple):
    """The state after one look.

    Attributes
    ----------
    look : object
        Its label.
    n : int
        The number of rows so far.
    estimate : float
        The mean difference of these rows.
    log10_evalue : float
        The decimal logarithm of the e-value of these rows; with `run_length`, of the sum of bets.
    pvalue : float
        The smallest ``1 / evalue`` up to this look, at most 1. With `run_length`, the number of looks
        over the sum of bets, which is valid only at a look that is chosen beforehand.
    confidence_interval : Interval
        The interval of the average expected difference of these rows, each expectation given the rows before.
    """

    look: Any
    n: int
    estimate: float
    log10_evalue: float
    pvalue: float
    confidence_interval: Interval


#: Relative error of the integral for each natural logarithm of an e-value, without the rounding of sums over rows.
_ROUNDING = 1e-12
_ASSUMED = (
    "exact at all looks together if the mean of each row, given the earlier rows, agrees with the null hypothesis"
)


@dataclass(frozen=True, kw_only=True)
class AnytimeResult(TestResult):
    """The result of `anytime_test`.

    Attributes
    ----------
    statistic : float
        The e-value after the last look: its expectation under the null hypothesis is at most 1. E-values of
        independent series may be multiplied, those of any series averaged. Infinite beyond the largest double. With
        `run_length`, the sum of the bets that began at each look, which is not an e-value.
    pvalue : float
        The p-value of the last look.
    estimate : float
        The mean difference of all rows.
    confidence_interval : Interval
        The interval of the last look, for the average of the rows' expected differences, which may change over time. It
        contains the estimate. The intervals of all looks cover together with the stated probability. One-sided if the
        alternative is.
    n : int
        The number of rows.
    looks : tuple of AnytimeLook
        The state after each look, in order.
    run_length : float or None
        As given.
    reason : str
        The assumption of the guarantee.
    """

    _question = "Anytime test: are A and B equally good?"
    _null = "they are"

    estimate: float
    confidence_interval: Interval
    n: int
    looks: tuple[AnytimeLook, ...]
    run_length: float | None = None

    @property
    def decided(self) -> AnytimeLook | None:
        """The first look whose p-value is at most one minus the confidence level, or whose sum reaches `run_length`."""
        if self.run_length is not None:
            return next((look for look in self.looks if look.log10_evalue >= math.log10(self.run_length)), None)
        alpha = 1 - self.confidence_interval.confidence_level
        return next((look for look in self.looks if look.pvalue <= alpha), None)


def anytime_test(
    differences: Any,
    *,
    counts: Any = None,
    looks: Any = None,
    limit: float = 1.0,
    margin: float = 0.0,
    start: Literal["first", "any"] = "first",
    run_length: float | None = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> AnytimeResult:
    """Test whether the mean of paired differences is 0, at any time and as often as you like.

    Null hypothesis: given the earlier rows, each row has an expected difference of `margin` (or on the untested side).

    Parameters
    ----------
    differences : array_like, shape (n,)
        The score of A minus that of B in each row: -1, 0 or 1 for right and wrong, or a difference of marks.
    counts : array_like of int, shape (n,), optional
        The number of times that each difference occurred; 1 by default.
    looks : array_like, shape (n,), optional
        The look at which each row first appeared, such as its night: numbers, dates (of any library, or ISO 8601 text),
        or texts that differ in one number, padded with zeros (01, 02, ..., 10). Looks are taken in ascending order; the
        order of rows within a look does not matter. By default there is one look.
    limit : float
        The largest possible difference of a row, in either direction: 1 for right and wrong and for marks between 0
        and 1. It is a property of the scores, not of the observed rows.
    margin : float
        The mean difference of the null hypothesis. With ``alternative="greater"`` and a margin of -0.02, a small
        p-value says that A is not worse than B by 0.02 or more.
    start : {"first", "any"}
        ``"first"``: bets begin with the first look. ``"any"``: also at each later look, which detects a difference that
        begins late much sooner, and one that exists from the first look a little later.
    run_length : float, optional
        For monitors that run for years: under the null hypothesis, at least this many looks are expected until a false
        alarm, `decided`. Bets begin at each look and are added up (`start` is not used); late differences are detected
        sooner than with either `start`.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: A is ahead by more than `margin`.
    confidence_level : float
        Of the interval, strictly between 0 and 1.

    Returns
    -------
    AnytimeResult

    Raises
    ------
    ValueError
        If there are no rows, a difference or `margin` exceeds `limit`, lengths differ, or an option is out of range.

    Notes
    -----
    The e-value is the average wealth of bets on the rows (``sigstats.anytime.bets``), two-sided the mean of both
    sides. For right and wrong without a margin it depends only on the numbers ``a`` and ``b`` of rows that favour A and
    B, and is ``2**(a + b) * B(a + 1/2, b + 1/2) / B(1/2, 1/2)``, the Bayes factor of a Beta(1/2, 1/2) prior, which is
    about ``sqrt(n)`` times smaller than the largest wealth in hindsight. Rows that are sampled independently from one
    population meet the null hypothesis if its mean difference does.

    With ``start="any"`` the e-value is the average of bets that begin at look j, with the weight ``1 / (j (j + 1))``;
    the stake of bets that have not begun is kept. The guarantee is the same. With 200 rows per look, 10% of them
    discordant, a difference of 3 points that begins at look 101 is detected after about 14 looks instead of 30, and one
    that begins at look 1 after 6 instead of 5.

    With `run_length` N, the sum of bets that begin at each look, less the number of looks, is a supermartingale under
    the null hypothesis, so that the expected number of looks until the sum reaches N is at least N, for rows of any
    law. The difference of 3 points is detected after about 8 looks with N = 1000, whenever it begins.

    The interval is not that of the margins that are not rejected, which is sharper with few rows but means nothing if
    the mean difference changes. More than 2048 distinct differences are rounded to both neighbours on a grid, in a way
    that makes the e-value smaller.

    Holm's and Benjamini and Hochberg's adjustment (`sigstats.adjust_pvalues`) of ``1 / evalue`` are e-Holm and e-BH;
    e-BH is valid under any dependence of e-values after the same number of looks (Wang and Ramdas 2022, False discovery
    rate control with e-values, Journal of the Royal Statistical Society B 84, 822-852).

    References
    ----------
    Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, Journal of the Royal
    Statistical Society B 86, 1-27. Ramdas, Gruenwald, Vovk and Shafer (2023), Game-theoretic statistics and safe
    anytime-valid inference, Statistical Science 38, 576-601.

    Examples
    --------
    Three nights with 200 new rows each; only A is right in 9, 11 and 12 of them, only B in 4, 3 and 2:

    >>> import sigstats
    >>> result = sigstats.anytime_test(
    ...     [1, -1, 0] * 3, counts=[9, 4, 187, 11, 3, 186, 12, 2, 186], looks=[1, 1, 1, 2, 2, 2, 3, 3, 3]
    ... )
    >>> [round(look.pvalue, 4) for look in result.looks]
    [1.0, 0.2519, 0.0086]
    >>> result.decided.look, round(result.estimate, 4)
    (3, 0.0383)
    """
    require_same_index(differences=differences, counts=counts, looks=looks)
    refuse_summary_rows(differences=differences)
    largest = as_real(limit, "limit", low=1 / LARGEST_SQUARABLE, high=LARGEST_SQUARABLE)
    null = as_real(margin, "margin", low=-largest, high=largest, open_ends=True)
    way = as_choice(alternative, "alternative", ALTERNATIVES)
    begin = as_choice(start, "start", ("first", "any"))
    if run_length is not None:
        begin, run_length = "each", as_real(run_length, "run_length", low=1, high=LARGEST_SQUARABLE)
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    values = as_differences(differences)
    refuse_where(np.abs(values) > largest, values, "differences", f"at most limit = {largest:g} in size")
    times = np.ones(len(values), dtype=np.int64) if counts is None else as_counts(counts, "counts", ndim=1)
    labels = np.zeros(len(values), dtype=np.int64) if looks is None else as_array(looks, "looks", "a label of each row")
    for name, array in (("counts", times), ("looks", labels)):
        if array.shape != values.shape:
            raise refuse(name, array.size, f"{len(values)}, one for each difference", quantity="length")
    try:
        names, of_look = np.unique(labels, return_inverse=True)
        text = {"U": str, "S": bytes}.get(labels.dtype.kind, object)  # NumPy makes texts of numbers beside them
        known = not (labels != labels).any() and (looks is None or all(isinstance(look, text) for look in looks))
    except TypeError:  # what cannot be sorted
        known = False
    if not known:
        raise refuse("looks", looks, "labels of one kind that can be sorted, none of them missing")
    if isinstance(names[0], str | bytes):
        refuse_other_order(
            "looks", [name.decode("latin-1") if isinstance(name, bytes) else str(name) for name in names]
        )
    if not times.any():
        raise refuse("counts", 0, "one row or more")
    differing, totals = _totals(values, times, names, of_look)
    states, lost = zip(*_states(differing, totals, largest, null, way, level, begin), strict=True)
    last = states[-1]
    nats = max(-math.log(last.pvalue), last.log10_evalue * math.log(10))
    return AnytimeResult(
        statistic=math.inf if last.log10_evalue > 308 else 10**last.log10_evalue,
        pvalue=last.pvalue,
        method="betting",
        alternative=way,
        error_bound=min(1.0, max(lost) + _ROUNDING * (1 + nats)) if last.pvalue > 1e-307 else 1.0,
        estimate=last.estimate,
        confidence_interval=last.confidence_interval,
        n=last.n,
        looks=states,
        run_length=run_length,
        reason=_ASSUMED,
    )


class _Total(NamedTuple):
    """The label of a look, and the number of rows up to this look with each distinct difference, shape (d,)."""

    look: Any
    counts: FloatArray


def _totals(values: FloatArray, times: Any, names: Any, of_look: IntArray) -> tuple[FloatArray, list[_Total]]:
    """Return the distinct differences, and the totals of each look from the first that has rows."""
    distinct, place = np.unique(values, return_inverse=True)
    counts, totals = np.zeros(len(distinct)), []
    for number, name in enumerate(names):
        new = of_look == number
        counts = counts + np.bincount(place[new], times[new], len(distinct))
        if counts.any():
            totals.append(_Total(name.item() if hasattr(name, "item") else name, counts))
    return distinct, totals


def _states(
    differences: FloatArray,
    totals: Sequence[_Total],
    limit: float,
    margin: float,
    way: Alternative,
    level: float,
    start: str,
) -> Iterator[tuple[AnytimeLook, float]]:
    """Yield the state after each look, and a bound of its log e-value's rounding. `start`: "first", "any" or "each"."""
    values, mean, best = differences / limit, margin / limit, 0.0
    for number, (look, counts) in enumerate(totals):
        all_rows = rows_of(values, counts)
        later = [] if start == "first" else [counts - before for _, before in totals[:number]]
        rows = [all_rows, *(rows_of(values, window) if window.any() else None for window in later)]
        evidence = log_evalue_of_any_start(rows, mean, way, added=start != "any")
        best = max(best, evidence)
        low, high = running_interval(all_rows, mean, way, level)
        interval = Interval(low * limit, high * limit, level)
        most = evidence - math.log(len(rows)) if start == "each" else best
        pvalue = min(1.0, max(math.exp(-most), math.ulp(0.0)))
        lost = max(nats_lost(row, mean) for row in rows if row is not None)
        yield AnytimeLook(look, all_rows.n, all_rows.mean * limit, evidence / math.log(10), pvalue, interval), lost
