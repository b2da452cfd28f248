"""The splits that C4.5 considers, with their information gain and gain ratio, from values as codes in ascending order.

Rows have weights: a row with a missing value goes to every branch with a part of its weight. Comparisons have a
tolerance of 1e-6, like Quinlan's program and Weka, so that rounding decides nothing. The functions of this file and of
`c45_tree` run as they are, or compiled by Numba (``compiled/c45.py``).
"""

from typing import Any, NamedTuple

import numpy as np

#: Tolerance for equal weights, gains and errors.
TOLERANCE = 1e-6


class Training(NamedTuple):
    """Coded data, and the options of growing a tree."""

    #: For a number the place among the levels of its feature, for a nominal feature the category; -1 is missing; array
    #: of int32, shape (d, n).
    codes: Any
    #: array of int64, shape (n,).
    label: Any
    #: The distinct numbers of all features, one feature after another.
    levels: Any
    #: Position of the first of each feature; array of int64, shape (d,).
    starts: Any
    #: Mask of the levels that occur in the training rows.
    present: Any
    #: The number of categories, 0 for numbers; array of int64, shape (d,).
    n_codes: Any
    #: Whose gains count in the mean; array of bool, shape (d,).
    counted: Any
    #: The number of classes, and of those that the training rows have.
    n_classes: int
    n_trained: int
    least: float
    #: The level of the bounds of errors, and its normal quantile.
    confidence: float
    z: float


def bits(count: float) -> Any:
    """``x log2 x``, 0 for nearly 0."""
    return count * np.log2(count) if count >= TOLERANCE else 0.0


def information(counts: Any) -> Any:
    """The information of class counts, times their sum."""
    total, parts = 0.0, 0.0
    for count in counts:
        total += count
        parts += bits(count)
    return bits(total) - parts


def _ratio(gain: float, of_branches: float, value: float, total: float) -> Any:
    """The gain divided by the information of the branches, with rows with a missing value as one more branch."""
    own = bits(total) - of_branches - bits(total - value)
    return 0.0 if abs(own) < TOLERANCE else gain / (own / total)


def nominal_split(data: Training, feature: int, rows: Any, weights: Any, total: float) -> Any:
    """The gain and the gain ratio of a branch for each category; a negative gain if there is no split."""
    codes, labels = data.codes[feature], data.label
    counts = np.zeros((data.n_codes[feature], data.n_classes))
    whole = np.zeros(data.n_classes)
    for at in range(len(rows)):
        code = codes[rows[at]]
        if code >= 0:
            counts[code, labels[rows[at]]] += weights[at]
    enough, value, of_branches, after = 0, 0.0, 0.0, 0.0
    for code in range(len(counts)):
        own = 0.0
        for label in range(data.n_classes):
            own += counts[code, label]
            whole[label] += counts[code, label]
        value += own
        enough += own > data.least - TOLERANCE
        of_branches += bits(own)
        after += information(counts[code])
    if enough < 2:
        return -1.0, 0.0
    gained = value / total * (information(whole) - after)
    gain = 0.0 if abs(gained) < TOLERANCE else gained / value
    return gain, _ratio(gain, of_branches, value, total)


def _in_order(keys: Any, lowest: Any, highest: Any) -> Any:
    """Codes and, below them, places, sorted by counts where codes are few; they come in the order of places."""
    if highest - lowest > 2 * len(keys):
        return np.sort(keys)
    ends = np.zeros(highest - lowest + 2, dtype=np.int64)
    for key in keys:
        ends[(key >> 32) - lowest + 1] += 1
    for code in range(1, len(ends)):
        ends[code] += ends[code - 1]
    order = np.empty_like(keys)
    for key in keys:
        code = (key >> 32) - lowest
        order[ends[code]] = key
        ends[code] += 1
    return order


def numeric_split(data: Training, feature: int, rows: Any, weights: Any, total: float, keys: Any) -> Any:
    """The gain, the gain ratio, and the codes on both sides of the best cut; a negative gain if there is none."""
    codes, labels = data.codes[feature], data.label
    known, value, lowest, highest = 0, 0.0, np.int64(2**31), np.int64(-1)
    right = np.zeros(data.n_classes)
    for at in range(len(rows)):
        code = np.int64(codes[rows[at]])
        if code >= 0:
            keys[known] = (code << 32) | at
            known += 1
            value += weights[at]
            right[labels[rows[at]]] += weights[at]
            lowest, highest = min(lowest, code), max(highest, code)
    smallest = min(max(0.1 * value / data.n_trained, data.least), max(25.0, data.least))
    if known == 0 or known < 2 * smallest - TOLERANCE:
        return -1.0, 0.0, 0, 0
    order = _in_order(keys[:known], lowest, highest)
    left = np.zeros(data.n_classes)
    before, below = information(right), 0.0
    best, cuts, lower, upper, at_best = 0.0, 0, -1, -1, 0.0
    for place in range(known - 1):
        at = order[place] & 0xFFFFFFFF
        label = labels[rows[at]]
        left[label] += weights[at]
        right[label] -= weights[at]
        below += weights[at]
        code, following = order[place] >> 32, order[place + 1] >> 32
        if code == following or below <= smallest - TOLERANCE or value - below <= smallest - TOLERANCE:
            continue
        cuts += 1
        lefts, of_left, rights, of_right = 0.0, 0.0, 0.0, 0.0
        for label in range(data.n_classes):  # `information` of both, without two calls
            lefts += left[label]
            of_left += bits(left[label])
            rights += right[label]
            of_right += bits(right[label])
        gained = value / total * (before - (bits(lefts) - of_left) - (bits(rights) - of_right))
        gain = 0.0 if abs(gained) < TOLERANCE else gained / value
        if gain > best + TOLERANCE:
            best, lower, upper, at_best = gain, code, following, below
    if lower < 0:
        return -1.0, 0.0, 0, 0
    gain = best - np.log2(float(cuts)) / total
    if gain < TOLERANCE:
        return -1.0, 0.0, 0, 0
    return gain, _ratio(gain, bits(at_best) + bits(value - at_best), value, total), lower, upper


def _cut(data: Training, feature: int, lower: int, upper: int) -> int:
    """The largest code of the training rows with a number of at most the middle of two neighbours."""
    start = data.starts[feature]
    low, high = data.levels[start + lower], data.levels[start + upper]
    middle = (low + high) / 2
    threshold = low if middle >= high else middle
    for code in range(upper - 1, lower, -1):
        if data.present[start + code] and data.levels[start + code] <= threshold:
            return code
    return lower


def choose(data: Training, rows: Any, weights: Any, counts: Any, keys: Any) -> Any:
    """The feature of the best split and the last code of its first branch; -1 if the node becomes a leaf."""
    total, most = counts.sum(), counts.max()
    if total < 2 * data.least - TOLERANCE or abs(most - total) < TOLERANCE:
        return -1, 0
    d = len(data.codes)
    gains, ratios = np.empty(d), np.empty(d)
    beside = np.zeros((d, 2), dtype=np.int64)
    mean, counted = 0.0, 0
    for feature in range(d):
        if data.n_codes[feature]:
            gains[feature], ratios[feature] = nominal_split(data, feature, rows, weights, total)
        else:
            gains[feature], ratios[feature], beside[feature, 0], beside[feature, 1] = numeric_split(
                data, feature, rows, weights, total, keys
            )
        if gains[feature] >= 0 and data.counted[feature]:
            mean += gains[feature]
            counted += 1
    if not counted:
        return -1, 0
    mean /= counted
    best, ratio = -1, 0.0
    for feature in range(d):
        if gains[feature] >= 0 and gains[feature] >= mean - 1e-3 and ratios[feature] > ratio + TOLERANCE:
            best, ratio = feature, ratios[feature]
    if best < 0 or data.n_codes[best]:
        return best, 0
    return best, _cut(data, best, beside[best, 0], beside[best, 1])
