"""The law of the values that people would see in all rows of a judge, and the labels that would decide a test.

A judge marks the answers of one model or of two in all rows, and people label some of these rows. Rows are split by the
judge's verdict, and the labelled rows of a verdict represent all of them: `rows_of_two` and `rows_of_one` make these
counts (`JudgedRows`), whose `law` gives p-values and intervals (`Law`). Values are differences, A minus B, or those of
one model.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._common.extreme import monte_carlo_pvalue
from .._common.random_streams import as_generator
from .._common.validation import FloatArray, IntArray
from .law import MOST_ATOMS

#: Largest number of random weights in memory.
_PIECE = 2**22

#: The verdicts of a judge of two models, in the order of the rows.
PREFERS = ("the judge prefers the baseline", "it prefers neither", "it prefers the candidate")


class Law(NamedTuple):
    """Random draws of the value, with one more labelled row that does A, or B, the most harm."""

    against_a: FloatArray
    against_b: FloatArray

    def low(self, share: float) -> float:
        """Return the lower end of an interval: at most this share of the law is below it."""
        return float(np.quantile(self.against_a, share))

    def high(self, share: float) -> float:
        """Return the upper end of an interval: at most this share of the law is above it."""
        return float(np.quantile(self.against_b, 1 - share))

    def pvalue(self, null: float, way: str) -> float:
        """Return the p-value of a null hypothesis: the share of the law on its other side. `way`: the alternative."""
        if way == "two-sided":
            return min(1.0, 2 * min(self.pvalue(null, "greater"), self.pvalue(null, "less")))
        values = self.against_a if way == "greater" else self.against_b
        sign = 1 if way == "greater" else -1
        return monte_carlo_pvalue(int(np.count_nonzero(sign * (values - null) <= 0)), len(values))


class _Groups(NamedTuple):
    """Groups of rows: their rows, labelled rows and summed differences by verdict, and how often each group occurs."""

    rows: FloatArray
    labels: FloatArray
    differences: FloatArray
    counts: FloatArray


class JudgedRows(NamedTuple):
    """Rows and human labels by the judge's verdict: B is better, neither, or A is; for one model: wrong, or right.

    Attributes
    ----------
    rows : int64 array of shape (verdicts,)
    stated : float64 array of shape (verdicts,)
        The value that each verdict states, in ascending order.
    values : float64 array of shape (k,)
        The possible values, in ascending order; those of `stated` are among them.
    table : int64 array of shape (verdicts, k)
        The labelled rows by verdict and value.
    groups : _Groups or None
        If rows are grouped; arrays of shape (groups, verdicts), and the counts of shape (groups,).
    """

    rows: IntArray
    stated: FloatArray
    values: FloatArray
    table: IntArray
    groups: _Groups | None

    @property
    def labels(self) -> IntArray:
        """The labelled rows by verdict."""
        return np.asarray(self.table.sum(axis=1))

    @property
    def estimate(self) -> float:
        """The post-stratified mean value; for a verdict without labels, the judge's value is used."""
        means = np.where(self.labels > 0, self.table @ self.values / np.maximum(self.labels, 1), self.stated)
        return float(self.rows @ means / self.rows.sum())

    def law(self, size: int, generator: np.random.Generator) -> Law:
        """Return the law of the mean value that people would see, from this many draws."""
        by_row = self.groups is None
        return self._law_of_rows(self.table, size, generator) if by_row else self._law_of_groups(size, generator)

    def _law_of_rows(self, table: FloatArray | IntArray, size: int, generator: np.random.Generator) -> Law:
        """Return the law of independent rows, with the labels of `table`."""
        of_verdict = generator.standard_gamma(self.rows, (size, len(self.rows)))

        def drawn(number: int) -> tuple[FloatArray, FloatArray]:
            weights = generator.standard_gamma(table, (number, *table.shape))
            return weights @ self.values, weights.sum(axis=2)

        sums, totals = _in_pieces(drawn, size, table.size)
        return self._with_worst_row(of_verdict, sums, totals, generator.standard_exponential((size, 1)))

    def _law_of_groups(self, size: int, generator: np.random.Generator, more_labels: float | None = None) -> Law:
        """Return the law with random weights of groups; `more_labels`: as if with this many times the labels."""
        assert self.groups is not None
        rows, labels, differences, counts = self.groups

        def drawn(number: int) -> tuple[FloatArray, ...]:
            weights = generator.standard_gamma(counts, (number, len(counts)))
            of_verdict = weights @ rows
            if more_labels is not None:
                weights = generator.standard_gamma(more_labels * counts, weights.shape)
            return of_verdict, weights @ differences, weights @ labels

        of_verdict, sums, totals = _in_pieces(drawn, size, len(rows))
        largest = labels.sum(axis=1).max()
        return self._with_worst_row(of_verdict, sums, totals, largest * generator.standard_exponential((size, 1)))

    def _with_worst_row(self, of_verdict: FloatArray, sums: FloatArray, totals: FloatArray, more: FloatArray) -> Law:
        """Return the law with one more labelled row, divided among the verdicts so that it does the most harm.

        By draw and verdict: the weights of the rows, `of_verdict`, of the labels, `totals`, and the weighted sums of
        their values, `sums`. The row has the weight `more`. A part x of it in a verdict with the weight w of labels,
        the share s of rows and the mean m moves the value by ``s |worst - m| x / (w + x)``. So ``w + x`` is in
        proportion to the square root of ``s |worst - m| w`` in all verdicts that get a part.
        """
        shares, sides = of_verdict / of_verdict.sum(axis=1, keepdims=True), []
        for worst in (self.values[0], self.values[-1]):
            means = np.divide(sums, totals, out=np.full_like(sums, worst), where=totals > 0)
            roots = np.sqrt(shares * np.abs(worst - means) * totals)
            added = np.zeros_like(sums)
            for _ in range(3):  # at most three verdicts; one with a negative part gets none
                level = more + (totals * (roots > 0)).sum(axis=1, keepdims=True)
                level /= np.maximum(roots.sum(axis=1, keepdims=True), 1e-300)
                added = np.maximum(roots * level - totals, 0.0)
                roots[added == 0] = 0.0
            means += (worst - means) * np.divide(added, totals + added, out=np.zeros_like(added), where=added > 0)
            sides.append((shares * means).sum(axis=1))
        return Law(*sides)

    def labels_wanted(self, null: float, way: str, share: float) -> IntArray | None:
        """Return the fewest labels by verdict with which the test decides, or None if labels of all rows do not.

        They are allocated as by Neyman (1934), in proportion to the spread of the values; for groups, in the present
        proportions. `way`: the alternative; `share`: the level of one tail.
        """
        level = 2 * share if way == "two-sided" else share
        rows, labels = self.rows, self.labels
        if self.groups is None:
            spread, shares = self._spread_and_shares()
            low, high = 0.0, float(rows.sum() / spread[spread > 0].min())
        else:
            spread, pooled = labels.astype(np.float64), self._replace(groups=_pooled(self.groups))
            low, high = 1.0, float(rows.sum() / labels.sum())

        def wanted(times: float) -> IntArray:
            return np.ceil(np.clip(times * spread, labels, rows) - 1e-9).astype(np.int64)

        def decides(times: float) -> bool:
            if self.groups is None:
                law = self._law_of_rows(wanted(times)[:, np.newaxis] * shares, 2_000, as_generator(1))
            else:
                law = pooled._law_of_groups(2_000, as_generator(1), times)
            return law.pvalue(null, way) <= level

        if decides(low):
            return labels
        if not decides(high):
            return None
        while wanted(high).sum() - wanted(low).sum() > 1 and high - low > 1e-9 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if decides(middle) else (middle, high)
        return wanted(high)

    def _spread_and_shares(self) -> tuple[FloatArray, FloatArray]:
        """Return, by verdict, the rows times the standard deviation of their values, and the shares of the values."""
        rows, table, labels = self.rows, self.table, self.labels
        prior = np.isin(self.values, self.stated) / len(self.stated)
        smoothed = table + prior * (rows > 0)[:, np.newaxis]
        chance = smoothed / np.maximum(smoothed.sum(axis=1, keepdims=True), 1e-300)
        spread = rows * np.sqrt(np.maximum(chance @ self.values**2 - (chance @ self.values) ** 2, 0.0))
        return spread, np.where(labels[:, np.newaxis] > 0, table / np.maximum(labels, 1)[:, np.newaxis], chance)

    def labels_to_get(self, share: float) -> str:
        """Return the number of labels that would show a difference of two models, and the rows to label, in words."""
        wanted = self.labels_wanted(0.0, "two-sided", share)
        if wanted is None:
            return "judge more rows: labels of all present rows would probably not show a difference"
        more = np.maximum(wanted - self.labels, 0).tolist()
        where = ", ".join(f"{count:,} where {who}" for count, who in zip(more, PREFERS, strict=True) if count)
        if not where:
            return "the present labels show a difference"
        return f"label {sum(more):,} more, enough to show the difference if the new labels are like the others: {where}"


def rows_of_two(
    judge: Sequence[FloatArray], people: Sequence[FloatArray], span: float, units: IntArray | None
) -> JudgedRows:
    """Return two models' rows by the judge's preference, and the human differences, NaN without a label."""
    seen = people[0] - people[1]
    labelled, verdict = ~np.isnan(seen), np.sign(judge[0] - judge[1]).astype(np.int64) + 1
    return judged_rows(verdict, labelled, seen[labelled], np.array([-span, 0.0, span]), units)


def rows_of_one(
    judge: FloatArray, people: FloatArray, limits: tuple[float, float], units: IntArray | None
) -> JudgedRows:
    """Return the rows of one model that the judge calls wrong and right, or marks below and above its mean mark."""
    labelled = ~np.isnan(people)
    middle = 0.5 if np.isin(judge, (0.0, 1.0)).all() else judge.mean()
    return judged_rows((judge > middle).astype(np.int64), labelled, people[labelled], np.array(limits), units)


def judged_rows(
    verdict: IntArray, labelled: NDArray[np.bool_], seen: FloatArray, stated: FloatArray, units: IntArray | None
) -> JudgedRows:
    """Return the counts of rows. `verdict`: a code from 0 for each row; `seen`: the values of the labelled rows."""
    values, n_verdicts = np.unique(np.concatenate([seen, stated])), len(stated)
    cells = len(values) * verdict[labelled] + np.searchsorted(values, seen)
    table = np.bincount(cells, minlength=n_verdicts * len(values)).reshape(n_verdicts, -1)
    groups: _Groups | None = None
    if units is not None:
        codes = np.unique(units, return_inverse=True)[1]
        size, cell = n_verdicts * (codes.max() + 1), n_verdicts * codes + verdict
        sums = np.bincount(cell, None, size), np.bincount(cell, labelled, size), np.bincount(cell[labelled], seen, size)
        rows, labels, differences = (array.reshape(-1, n_verdicts).astype(np.float64) for array in sums)
        groups = _Groups(rows, labels, differences, np.ones(len(rows)))
        groups = _pooled(groups) if len(groups.counts) > MOST_ATOMS else groups
    return JudgedRows(np.bincount(verdict, minlength=n_verdicts), stated, values, table, groups)


def _pooled(groups: _Groups) -> _Groups:
    """Return the distinct groups and their counts: equal groups share one gamma weight, and the law is the same."""
    distinct, places = np.unique(np.hstack(groups[:3]), axis=0, return_inverse=True)
    rows, labels, differences = np.hsplit(distinct, 3)
    return _Groups(rows, labels, differences, np.bincount(places.ravel(), groups.counts).astype(np.float64))


def _in_pieces(drawn: Callable[[int], tuple[FloatArray, ...]], size: int, width: int) -> list[FloatArray]:
    """Return random arrays of `size` rows, drawn within a limit of memory: `width` numbers for each row."""
    step = max(1, _PIECE // max(1, width))
    pieces = [drawn(min(step, size - start)) for start in range(0, size, step)]
    return [np.concatenate(value) for value in zip(*pieces, strict=True)]
