"""What the tests of scores share: the scores of a pair, sums over groups, and the warning of few rows or groups."""

from typing import Any

import numpy as np

from .._common.validation import LARGEST_SQUARABLE, FloatArray, IntArray, as_reals, refuse

#: A result warns where there are fewer positives, negatives or rows, and fewer groups.
FEW, FEW_GROUPS = 10, 20

#: Differences that are equal but for this, relative to the scores, are equal: what rounded scores leave of a constant.
ROUNDING = 16 * np.finfo(np.float64).eps


def pair_of_scores(score_a: Any, score_b: Any, length: int | None, other: str) -> tuple[FloatArray, FloatArray]:
    """Two sequences of as many finite scores whose squares can be added, or ValueError."""
    a, b = as_reals(score_a, "score_a", ndim=1), as_reals(score_b, "score_b", ndim=1)
    for name, scores in (("score_a", a), ("score_b", b)):
        if len(scores) != (len(a) if length is None else length):
            raise refuse(f"{name} (length)", len(scores), f"{len(a) if length is None else length}, that of {other}")
        if np.abs(scores).max(initial=0.0) > LARGEST_SQUARABLE:
            raise refuse(
                name,
                float(np.abs(scores).max()),
                f"scores of at most {LARGEST_SQUARABLE:g}, whose squares can be added",
            )
    return a, b


def group_sums(values: FloatArray, codes: IntArray) -> FloatArray:
    """The sum of each group, added up in pairs."""
    order = np.argsort(codes, kind="stable")
    return np.asarray(np.add.reduceat(values[order], np.flatnonzero(np.diff(codes[order], prepend=-1))))


def few_warning(count: int, what: str, least: int) -> str:
    """A warning where there are fewer than `least` of `what`; else empty."""
    return f"only {count} {what}: the test wants {least} or more" if count < least else ""
