"""The law of the difference that people would see, and how many labels would decide."""

from typing import NamedTuple

import numpy as np

from .._common.extreme import monte_carlo_pvalue
from .._common.random_streams import as_generator
from .._common.validation import FloatArray, IntArray


class Law(NamedTuple):
    """Random values of the difference with one more labelled row at its worst (with each verdict), for A and for B."""

    against_a: tuple[FloatArray, ...]
    against_b: tuple[FloatArray, ...]

    def low(self, share: float) -> float:
        """The lower end: this share of each law is below it, or less."""
        return min(float(np.quantile(values, share)) for values in self.against_a)

    def high(self, share: float) -> float:
        """The upper end."""
        return max(float(np.quantile(values, 1 - share)) for values in self.against_b)

    def pvalue(self, null: float, way: str) -> float:
        """The largest share of a law on the other side of the null hypothesis."""
        if way == "two-sided":
            return min(1.0, 2 * min(self.pvalue(null, "greater"), self.pvalue(null, "less")))
        values = self.against_a if way == "greater" else self.against_b
        sign = 1 if way == "greater" else -1
        beyond = max(int(np.count_nonzero(sign * (each - null) <= 0)) for each in values)
        return monte_carlo_pvalue(beyond, len(values[0]))


def law_of(rows: IntArray, table: IntArray, size: int, generator: np.random.Generator) -> Law:
    """The law of the difference that people would see, of rows by verdict and labelled rows by verdict and label."""
    of_verdict = generator.standard_gamma(rows, (size, 3))
    shares = of_verdict / of_verdict.sum(axis=1, keepdims=True)
    weights = generator.standard_gamma(table, (size, 3, 3))
    sums, totals = weights[:, :, 2] - weights[:, :, 0], weights.sum(axis=2)
    more = generator.standard_exponential((size, 1))
    sides = []
    for worst in (-1.0, 1.0):
        means = np.divide(sums, totals, out=np.full_like(sums, worst), where=totals > 0)
        harm = shares * ((sums + worst * more) / (totals + more) - means)
        base = (shares * means).sum(axis=1)
        sides.append(tuple(base + harm[:, each] for each in range(3) if rows[each]))
    return Law(*sides)


def estimate_of(rows: IntArray, table: IntArray) -> float:
    """The post-stratified difference."""
    labels = table.sum(axis=1)
    means = np.where(labels > 0, (table[:, 2] - table[:, 0]) / np.maximum(labels, 1), (-1, 0, 1))
    return float(rows @ means / rows.sum())


def labels_wanted(rows: IntArray, table: IntArray, null: float, way: str, share: float) -> IntArray | None:
    """The least number of labels, best spread over the verdicts, that would decide."""
    lengthened = table + 1 / 3 * (rows > 0)[:, np.newaxis]
    found = lengthened / np.maximum(lengthened.sum(axis=1, keepdims=True), 1e-300)
    means = found[:, 2] - found[:, 0]
    spread = rows * np.sqrt(np.maximum(found[:, 2] + found[:, 0] - means**2, 0.0))
    labels: IntArray = table.sum(axis=1)

    def spread_over(number: int) -> IntArray:
        """So many labels, as Neyman (1934) spreads them, none of those that are there taken back."""
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
        mean = np.where(labels[:, np.newaxis] > 0, table / np.maximum(labels, 1)[:, np.newaxis], found)
        law = law_of(rows, want[:, np.newaxis] * mean, 2_000, as_generator(1))
        return law.pvalue(null, way) <= (2 * share if way == "two-sided" else share)

    low, high = int(labels.sum()), int(rows.sum())
    if not decides(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle + 1, high)
    return spread_over(high)
