"""The splits that C4.5 considers, with their information gain and gain ratio: `choose` returns the best one.

Values are codes in ascending order. Rows have weights: a row with a missing value goes to every branch with a part of
its weight. Comparisons have a tolerance of 1e-6, like Quinlan's program and Weka, so that rounding decides nothing. The
functions of this file and of `c45_tree` run as they are, or compiled by Numba (``compiled/c45.py``).
"""

from typing import Any, NamedTuple

import numpy as np

#: Tolerance for equal weights, gains and errors.
TOLERANCE = 1e-6


class Training(NamedTuple):
    """Coded data, and the options of growing a tree."""

    #: Position of a number among the levels of its feature, or the category of a nominal feature; -1 if missing; array
    #: of int32, shape (d, n).
    codes: Any
    #: array of int64, shape (n,).
    label: Any
    #: The distinct numbers of all features, one feature after another.
    levels: Any
    #: Position of the first level of each feature; array of int64, shape (d,).
    starts: Any
    #: Mask of the levels that occur in the training rows.
    present: Any
    #: The number of categories, 0 for numbers; array of int64, shape (d,).
    n_codes: Any
    #: Mask of the features whose gains count in the mean gain; array of bool, shape (d,).
    counted: Any
    #: The number of classes, and of those that the training rows have.
    n_classes: int
    n_trained: int
    #: The fewest rows, by weight, that at least two branches of a split must have.
    least: float
    #: The level of the bounds of errors, and its normal quantile.
    confidence: float
    z: float


def bits(count: float) -> Any:
    """``x log2 x``, 0 for nearly 0."""
    return count * np.log2(count) if count >= TOLERANCE else 0.0


def information(counts: Any) -> Any:
    """Return the information of class counts, times their sum."""
    total, parts = 0.0, 0.0
    for count in counts:
        total += count
        parts += bits(count)
    return bits(total) - parts


def _ratio(gain: float, branch_bits: float, known: float, total: float) -> Any:
    """Return the gain divided by the information of the split, in which rows with a missing value are one more branch.

    `branch_bits`: the sum of `bits` over the other branches; `known`: their weight.
    """
    split_bits = bits(total) - branch_bits - bits(total - known)
    return 0.0 if abs(split_bits) < TOLERANCE else gain / (split_bits / total)


def nominal_split(data: Training, feature: int, rows: Any, weights: Any, total: float) -> Any:
    """Return the gain and the gain ratio of a branch for each category; a negative gain if there is no split."""
    codes, labels = data.codes[feature], data.label
    counts = np.zeros((data.n_codes[feature], data.n_classes))
    classes = np.zeros(data.n_classes)
    for position in range(len(rows)):
        code = codes[rows[position]]
        if code >= 0:
            counts[code, labels[rows[position]]] += weights[position]
    large, known, branch_bits, after = 0, 0.0, 0.0, 0.0
    for code in range(len(counts)):
        branch = 0.0
        for label in range(data.n_classes):
            branch += counts[code, label]
            classes[label] += counts[code, label]
        known += branch
        large += branch > data.least - TOLERANCE
        branch_bits += bits(branch)
        after += information(counts[code])
    if large < 2:
        return -1.0, 0.0
    gained = known / total * (information(classes) - after)
    gain = 0.0 if abs(gained) < TOLERANCE else gained / known
    return gain, _ratio(gain, branch_bits, known, total)


def _sorted_keys(keys: Any, lowest: Any, highest: Any) -> Any:
    """Sort keys, which have a code in the high 32 bits and the position of a row, already in order, in the low 32."""
    if highest - lowest > 2 * len(keys):
        return np.sort(keys)
    # With few codes, counting them is faster and leaves the positions in order.
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
    """Return the gain, gain ratio and codes of both sides of the best cut. Without a cut the gain is negative."""
    codes, labels = data.codes[feature], data.label
    n_known, known, lowest, highest = 0, 0.0, np.int64(2**31), np.int64(-1)
    right = np.zeros(data.n_classes)
    for position in range(len(rows)):
        code = np.int64(codes[rows[position]])
        if code >= 0:
            keys[n_known] = (code << 32) | position
            n_known += 1
            known += weights[position]
            right[labels[rows[position]]] += weights[position]
            lowest, highest = min(lowest, code), max(highest, code)
    smallest = min(max(0.1 * known / data.n_trained, data.least), max(25.0, data.least))
    if n_known == 0 or n_known < 2 * smallest - TOLERANCE:
        return -1.0, 0.0, 0, 0
    order = _sorted_keys(keys[:n_known], lowest, highest)
    left = np.zeros(data.n_classes)
    undivided, below = information(right), 0.0
    best, cuts, lower, upper, best_below = 0.0, 0, -1, -1, 0.0
    for place in range(n_known - 1):
        position = order[place] & 0xFFFFFFFF
        label = labels[rows[position]]
        left[label] += weights[position]
        right[label] -= weights[position]
        below += weights[position]
        code, following = order[place] >> 32, order[place + 1] >> 32
        if code == following or below <= smallest - TOLERANCE or known - below <= smallest - TOLERANCE:
            continue
        cuts += 1
        lefts, of_left, rights, of_right = 0.0, 0.0, 0.0, 0.0
        for label in range(data.n_classes):  # `information` of both, without two calls
            lefts += left[label]
            of_left += bits(left[label])
            rights += right[label]
            of_right += bits(right[label])
        gained = known / total * (undivided - (bits(lefts) - of_left) - (bits(rights) - of_right))
        gain = 0.0 if abs(gained) < TOLERANCE else gained / known
        if gain > best + TOLERANCE:
            best, lower, upper, best_below = gain, code, following, below
    if lower < 0:
        return -1.0, 0.0, 0, 0
    gain = best - np.log2(float(cuts)) / total
    if gain < TOLERANCE:
        return -1.0, 0.0, 0, 0
    return gain, _ratio(gain, bits(best_below) + bits(known - best_below), known, total), lower, upper


def _last_code_below(data: Training, feature: int, lower: int, upper: int) -> int:
    """Return the last code below the cut between the codes `lower` and `upper` of a node.

    The cut is the middle of the two numbers; numbers between them may occur in training rows that are not in the node.
    """
    start = data.starts[feature]
    low, high = data.levels[start + lower], data.levels[start + upper]
    middle = (low + high) / 2
    threshold = low if middle >= high else middle
    for code in range(upper - 1, lower, -1):
        if data.present[start + code] and data.levels[start + code] <= threshold:
            return code
    return lower


def choose(data: Training, rows: Any, weights: Any, counts: Any, keys: Any) -> Any:
    """Return the feature of the best split and the last code of its first branch; -1 if the node becomes a leaf."""
    total, most = counts.sum(), counts.max()
    if total < 2 * data.least - TOLERANCE or abs(most - total) < TOLERANCE:
        return -1, 0
    d = len(data.codes)
    gains, ratios = np.empty(d), np.empty(d)
    neighbours = np.zeros((d, 2), dtype=np.int64)
    mean, counted = 0.0, 0
    for feature in range(d):
        if data.n_codes[feature]:
            gains[feature], ratios[feature] = nominal_split(data, feature, rows, weights, total)
        else:
            gains[feature], ratios[feature], neighbours[feature, 0], neighbours[feature, 1] = numeric_split(
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
    return best, _last_code_below(data, best, neighbours[best, 0], neighbours[best, 1])
