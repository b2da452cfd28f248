"""The agreement of a judge with people, the law of the difference that they would see, and labels that would decide."""

from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._common.extreme import monte_carlo_pvalue
from .._common.random_streams import as_generator
from .._common.validation import FloatArray, IntArray
from ..intervals import Interval, clopper_pearson
from ..unseen_row.law import MOST_ATOMS


class Law(NamedTuple):
    """Random values of the difference with one more labelled row that does A, or B, the most harm."""

    against_a: FloatArray
    against_b: FloatArray

    def low(self, share: float) -> float:
        """The lower end: this share of the law is below it, or less."""
        return float(np.quantile(self.against_a, share))

    def high(self, share: float) -> float:
        """The upper end."""
        return float(np.quantile(self.against_b, 1 - share))

    def pvalue(self, null: float, way: str) -> float:
        """The share of a law on the other side of the null hypothesis."""
        if way == "two-sided":
            return min(1.0, 2 * min(self.pvalue(null, "greater"), self.pvalue(null, "less")))
        values = self.against_a if way == "greater" else self.against_b
        sign = 1 if way == "greater" else -1
        return monte_carlo_pvalue(int(np.count_nonzero(sign * (values - null) <= 0)), len(values))


#: At most so many random weights are held at a time.
_PIECE = 2**22


class Judged(NamedTuple):
    """The rows, and the labels by people, by the judge's verdict (B, neither, A).

    Attributes
    ----------
    rows : int64 array of shape (3,)
    values : float64 array of shape (k,)
        The possible differences, in ascending order; one of them is 0.
    table : int64 array of shape (3, k)
        The labelled rows by verdict and difference.
    groups : tuple of float64 arrays of shape (groups, 3), the last of shape (groups,), or None
        If rows are grouped: the rows of each group, its labelled rows, their summed differences, and its count.
    """

    rows: IntArray
    values: FloatArray
    table: IntArray
    groups: tuple[FloatArray, FloatArray, FloatArray, FloatArray] | None

    @property
    def labels(self) -> IntArray:
        """The labelled rows by verdict."""
        return np.asarray(self.table.sum(axis=1))

    @property
    def estimate(self) -> float:
        """The post-stratified difference; of a verdict without labels the judge's word is taken."""
        judge = np.array([self.values[0], 0.0, self.values[-1]])
        means = np.where(self.labels > 0, self.table @ self.values / np.maximum(self.labels, 1), judge)
        return float(self.rows @ means / self.rows.sum())

    def law(self, size: int, generator: np.random.Generator) -> Law:
        """The law of the difference that people would see."""
        if self.groups is not None:
            return self._law_of_groups(size, generator, None)
        return self._law_of_rows(self.table, size, generator)

    def _law_of_rows(self, table: FloatArray | IntArray, size: int, generator: np.random.Generator) -> Law:
        of_verdict = generator.standard_gamma(self.rows, (size, 3))

        def drawn(number: int) -> tuple[FloatArray, FloatArray]:
            weights = generator.standard_gamma(table, (number, *table.shape))
            return weights @ self.values, weights.sum(axis=2)

        sums, totals = _in_pieces(drawn, size, table.size)
        more = generator.standard_exponential((size, 1))
        return self._worst(of_verdict, sums, totals, more)

    def _law_of_groups(self, size: int, generator: np.random.Generator, more_labels: float | None) -> Law:
        """The same with weights of groups, as if there were so many times as many labelled ones where that is said."""
        assert self.groups is not None
        rows, labels, differences, often = self.groups

        def drawn(number: int) -> tuple[FloatArray, ...]:
            weights = generator.standard_gamma(often, (number, len(often)))
            of_verdict = weights @ rows
            if more_labels is not None:
                weights = generator.standard_gamma(more_labels * often, weights.shape)
            return of_verdict, weights @ differences, weights @ labels

        of_verdict, sums, totals = _in_pieces(drawn, size, len(rows))
        largest = labels.sum(axis=1).max()
        more = largest * generator.standard_exponential((size, 1))
        return self._worst(of_verdict, sums, totals, more)

    def _worst(self, of_verdict: FloatArray, sums: FloatArray, totals: FloatArray, more: FloatArray) -> Law:
        """The law of weighted rows, with a row of the weight `more` that is divided as it does most harm.

        A part x of it in a verdict with the weight w of labels, the share s of rows and the mean m moves the difference
        by ``s |worst - m| x / (w + x)``. So ``w + x`` is in proportion to the square root of ``s |worst - m| w`` in all
        verdicts that get a part.
        """
        shares, sides = of_verdict / of_verdict.sum(axis=1, keepdims=True), []
        for worst in (self.values[0], self.values[-1]):
            means = np.divide(sums, totals, out=np.full_like(sums, worst), where=totals > 0)
            roots = np.sqrt(shares * np.abs(worst - means) * totals)
            added = np.zeros_like(sums)
            for _ in range(3):  # a verdict without a part leaves it to the others
                level = more + (totals * (roots > 0)).sum(axis=1, keepdims=True)
                level /= np.maximum(roots.sum(axis=1, keepdims=True), 1e-300)
                added = np.maximum(roots * level - totals, 0.0)
                roots[added == 0] = 0.0
            means += (worst - means) * np.divide(added, totals + added, out=np.zeros_like(added), where=added > 0)
            sides.append((shares * means).sum(axis=1))
        return Law(*sides)

    def labels_wanted(self, null: float, way: str, share: float) -> IntArray | None:
        """The least number of labels by verdict that would decide, best spread over the verdicts; of groups as now."""
        level = 2 * share if way == "two-sided" else share
        if self.groups is None:
            return self._rows_wanted(lambda law: law.pvalue(null, way) <= level)
        labels, most = self.labels, float(self.rows.sum() / self.labels.sum())

        def decides(times: float) -> bool:
            return self._law_of_groups(2_000, as_generator(1), times).pvalue(null, way) <= level

        if not decides(most):
            return None
        low, high = 1.0, most
        if decides(low):
            return labels
        while (high - low) * labels.sum() > 1:
            middle = (low + high) / 2
            low, high = (low, middle) if decides(middle) else (middle, high)
        wanted: IntArray = np.minimum(np.ceil(high * labels).astype(np.int64), self.rows)
        return wanted

    def _rows_wanted(self, enough: Callable[[Law], bool]) -> IntArray | None:
        rows, table, labels = self.rows, self.table, self.labels
        smoothed = np.isin(self.values, (self.values[0], 0.0, self.values[-1])) / 3
        lengthened = table + smoothed * (rows > 0)[:, np.newaxis]
        value = lengthened / np.maximum(lengthened.sum(axis=1, keepdims=True), 1e-300)
        means = value @ self.values
        spread = rows * np.sqrt(np.maximum(value @ self.values**2 - means**2, 0.0))

        def spread_over(number: int) -> IntArray:
            """This many labels, allocated as by Neyman (1934), with none of the existing ones taken back."""
            if number <= labels.sum() or not spread.any():
                return labels
            low, high = 0.0, float(rows.sum() / spread[spread > 0].min())
            for _ in range(60):
                middle = (low + high) / 2
                few = np.clip(middle * spread, labels, rows).sum() < number
                low, high = (middle, high) if few else (low, middle)
            spreads: IntArray = np.ceil(np.clip(high * spread, labels, rows) - 1e-9).astype(np.int64)
            return spreads

        def decides(number: int) -> bool:
            want = spread_over(number)
            mean = np.where(labels[:, np.newaxis] > 0, table / np.maximum(labels, 1)[:, np.newaxis], value)
            return enough(self._law_of_rows(want[:, np.newaxis] * mean, 2_000, as_generator(1)))

        low, high = int(labels.sum()), int(rows.sum())
        return spread_over(low + bisect_left(range(low, high), True, key=decides)) if decides(high) else None


def judged_rows(
    verdict: IntArray, labelled: NDArray[np.bool_], seen: FloatArray, span: float, units: IntArray | None
) -> Judged:
    """The rows by verdict, and the labels by people."""
    values = np.unique(np.concatenate([seen, [-span, 0.0, span]]))
    cells = len(values) * (verdict[labelled] + 1) + np.searchsorted(values, seen)
    table = np.bincount(cells, minlength=3 * len(values)).reshape(3, -1)
    groups = None
    if units is not None:
        codes = np.unique(units, return_inverse=True)[1]
        size, place = 3 * (codes.max() + 1), 3 * codes + verdict + 1
        counts = (np.bincount(place, weights, size) for weights in (None, labelled))
        sums = np.bincount(place[labelled], seen, size)
        of_rows, of_labels, of_sums = (array.reshape(-1, 3).astype(np.float64) for array in (*counts, sums))
        often = np.ones(len(of_rows))
        if len(often) > MOST_ATOMS:  # equal groups share one gamma weight
            distinct, times = np.unique(np.hstack([of_rows, of_labels, of_sums]), axis=0, return_counts=True)
            (of_rows, of_labels, of_sums), often = np.hsplit(distinct, 3), times.astype(np.float64)
        groups = of_rows, of_labels, of_sums, often
    return Judged(np.bincount(verdict + 1, minlength=3), values, table, groups)


def _in_pieces(drawn: Callable[[int], tuple[FloatArray, ...]], size: int, width: int) -> list[FloatArray]:
    """Random arrays of this many rows, drawn within a limit of memory."""
    step = max(1, _PIECE // max(1, width))
    pieces = [drawn(min(step, size - start)) for start in range(0, size, step)]
    return [np.concatenate(value) for value in zip(*pieces, strict=True)]


class JudgeAgreement(NamedTuple):
    """The agreement of the judge with people, about one model.

    Attributes
    ----------
    both_right, judge_alone_right, people_alone_right, both_wrong : int
        The number of labelled rows by what both say of the model's answer. Of marks, those above the middle of the
        limits count as right.
    """

    both_right: int
    judge_alone_right: int
    people_alone_right: int
    both_wrong: int

    def agreement(self, confidence_level: float = 0.95) -> Interval:
        """Clopper and Pearson's interval of the share of rows on which judge and people agree."""
        return clopper_pearson(self.both_right + self.both_wrong, sum(self), confidence_level=confidence_level)

    def sensitivity(self, confidence_level: float = 0.95) -> Interval:
        """The share that the judge calls right, of the answers that people call right."""
        return _share(self.both_right, self.people_alone_right, confidence_level)

    def specificity(self, confidence_level: float = 0.95) -> Interval:
        """The share that the judge calls wrong, of the answers that people call wrong."""
        return _share(self.both_wrong, self.judge_alone_right, confidence_level)


def agreement_of(judge: NDArray[np.bool_], people: NDArray[np.bool_]) -> JudgeAgreement:
    """The agreement on the labelled rows, right or wrong by each."""
    counts = np.bincount(2 * people.astype(np.int64) + judge, minlength=4)
    wrong, judge_alone, people_alone, right = (int(count) for count in counts)
    return JudgeAgreement(right, judge_alone, people_alone, wrong)


def _share(successes: int, others: int, confidence_level: float) -> Interval:
    if successes + others == 0:
        return Interval(0.0, 1.0, confidence_level)
    return clopper_pearson(successes, successes + others, confidence_level=confidence_level)
