"""The splits that C4.5 considers, with their information gain and gain ratio.

Rows have weights: a row whose value is missing goes to every branch with a part of its own. Comparisons allow for 1e-6,
as Quinlan's program and Weka's do, so that rounding decides nothing.
"""

from typing import NamedTuple

import numpy as np

from sigstats._common.validation import FloatArray, IntArray

#: What two weights, gains or errors may differ by and be equal.
TOLERANCE = 1e-6


class Split(NamedTuple):
    """One way to part the rows of a node."""

    feature: int
    #: Numbers up to it take the first branch, others the second; NaN for a nominal feature.
    threshold: float
    #: Information gain in bits a unit of weight, and that over the information of the split itself.
    gain: float
    ratio: float


def bits(counts: FloatArray) -> FloatArray:
    """``x log2 x`` of each count, 0 where there is next to nothing."""
    safe = np.where(counts < TOLERANCE, 1.0, counts)
    return np.asarray(safe * np.log2(safe))


def information(counts: FloatArray) -> FloatArray:
    """The information of class counts along the last axis, times their sum."""
    return np.asarray(bits(counts.sum(axis=-1)) - bits(counts).sum(axis=-1))


def _ratio(gain: float, branches: FloatArray, total: float) -> float:
    """The gain over the information of the branches, of which the rows with a missing value are one more."""
    own = float(bits(np.array([total]))[0] - bits(branches).sum() - bits(np.array([total - branches.sum()]))[0])
    return 0.0 if abs(own) < TOLERANCE else gain / (own / total)


def nominal_split(
    feature: int, codes: FloatArray, y: IntArray, weights: FloatArray, n_classes: int, n_codes: int, least: float
) -> Split | None:
    """A branch for each category, if two or more of them have at least `least` rows."""
    total, known = float(weights.sum()), ~np.isnan(codes)
    cell = codes[known].astype(np.int64) * n_classes + y[known]
    flat: FloatArray = np.asarray(np.bincount(cell, weights[known], minlength=n_codes * n_classes), dtype=np.float64)
    counts = flat.reshape(n_codes, n_classes)
    branches = counts.sum(axis=1)
    if (branches > least - TOLERANCE).sum() < 2:
        return None
    found = float(branches.sum())
    gained = found / total * float(information(counts.sum(axis=0)) - information(counts).sum())
    gain = 0.0 if abs(gained) < TOLERANCE else gained / found
    return Split(feature, np.nan, gain, _ratio(gain, branches, total))


def numeric_split(
    feature: int, values: FloatArray, y: IntArray, weights: FloatArray, n_classes: int, least: float
) -> Split | None:
    """The cut of greatest gain, less what it costs to say which of the cuts it is (Quinlan 1996, section 3)."""
    total, known = float(weights.sum()), np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    member = np.zeros((len(order), n_classes))
    member[np.arange(len(order)), y[order]] = weights[order]
    below = np.cumsum(member, axis=0)
    if not len(order):
        return None
    whole, found = below[-1], float(below[-1].sum())
    smallest = min(max(0.1 * found / n_classes, least), max(25.0, least))
    if len(order) < 2 * smallest - TOLERANCE:
        return None
    ascending = values[order]
    cuts = np.flatnonzero(ascending[:-1] < ascending[1:])
    left = below[cuts].sum(axis=1)
    cuts = cuts[(left > smallest - TOLERANCE) & (found - left > smallest - TOLERANCE)]
    if not len(cuts):
        return None
    gained = found / total * (information(whole) - information(below[cuts]) - information(whole - below[cuts]))
    gains = np.where(np.abs(gained) < TOLERANCE, 0.0, gained) / found
    best, at = 0.0, -1
    while len(later := np.flatnonzero(gains[at + 1 :] > best + TOLERANCE)):
        at += 1 + int(later[0])
        best = float(gains[at])
    gain = best - np.log2(len(cuts)) / total
    if at < 0 or gain < TOLERANCE:
        return None
    cut = cuts[at]
    branches = np.array([below[cut].sum(), found - below[cut].sum()])
    middle = (ascending[cut] + ascending[cut + 1]) / 2
    threshold = ascending[cut] if middle >= ascending[cut + 1] else middle
    return Split(feature, float(threshold), float(gain), _ratio(float(gain), branches, total))


def best_split(candidates: "list[Split]", exempt: IntArray) -> Split | None:
    """The split of greatest gain ratio among those whose gain is at least the mean; the first of equals.

    Features in `exempt` have too many categories for their gain to count in that mean.
    """
    counted = [split.gain for split in candidates if split.feature not in exempt]
    if not candidates:
        return None
    mean = sum(counted) / len(counted) if counted else np.inf
    best: Split | None = None
    for split in candidates:
        if split.gain >= mean - 1e-3 and split.ratio > (0.0 if best is None else best.ratio) + TOLERANCE:
            best = split
    return best
