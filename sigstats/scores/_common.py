"""Shared by the tests of scores: the scores of a pair, sums over groups, and the warning of few rows or groups."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.class_names import label_name
from .._common.data_frames import opened
from .._common.messages import printable
from .._common.validation import (
    LARGEST_SQUARABLE,
    FloatArray,
    IntArray,
    as_array,
    as_labels,
    as_reals,
    refuse,
    same_kind_of_labels,
)
from ..joint.outcomes import positive_of

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


def truth_and_scores(
    y: Any, score_a: Any, score_b: Any, positive: Any
) -> tuple[NDArray[np.bool_], tuple[FloatArray, FloatArray]]:
    """A mask of the rows of the positive class, and both scores of each row for it; or ValueError."""
    labels = as_labels(y, "y")
    classes = np.unique(labels)
    if positive is None and set(classes.tolist()) <= {0, 1}:
        chosen, classes = 1, np.array([0, 1])
    else:
        chosen = positive_of(y, positive)
        same_kind_of_labels(labels[:1], as_labels([chosen], "positive"), "positive")
        if chosen not in classes:
            raise refuse(
                "positive", chosen, f"a label that occurs, one of {', '.join(map(printable, map(str, classes[:8])))}"
            )
    place = int(np.flatnonzero(classes == chosen)[0])
    names = [label_name(each) for each in classes]
    scores = (_of_class(score_a, "score_a", names, place), _of_class(score_b, "score_b", names, place))
    return labels == chosen, pair_of_scores(*scores, len(labels), "y")


def _of_class(score: Any, name: str, classes: list[str], place: int) -> Any:
    """The column of a class, by its name or in the order of the classes, where there is one for each of them."""
    frame, table = opened(score), as_array(score, name, "a sequence of finite numbers")
    if table.ndim != 2:
        return score
    if table.shape[1] == 1:
        return table[:, 0]
    if table.shape[1] != len(classes):
        raise refuse(f"{name} (columns)", table.shape[1], f"one, or {len(classes)}: one for each class")
    named = [] if frame is None else [str(each) for each in frame.columns]
    return table[:, named.index(classes[place]) if sorted(named) == sorted(classes) else place]


def group_sums(values: FloatArray, codes: IntArray) -> FloatArray:
    """The sum of each group, added up in pairs."""
    order = np.argsort(codes, kind="stable")
    return np.asarray(np.add.reduceat(values[order], np.flatnonzero(np.diff(codes[order], prepend=-1))))


def few_warning(count: int, what: str, least: int) -> str:
    """A warning where there are fewer than `least` of `what`; else empty."""
    return f"only {count} {what}: the test wants {least} or more" if count < least else ""
