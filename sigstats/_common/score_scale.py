"""One scale of the scores of several models: fractions beside percentages are not on one, nor is a wild mark."""

from collections.abc import Sequence

import numpy as np

from .messages import shown
from .validation import FloatArray

#: Of percentages, and of marks from 0 to 10, at most this share of the positive ones is 1 or less.
_SMALL = 0.15
#: At most this share of the scores is wild: each is so many times as large as the largest of the others, in size.
_WILD_SHARE, _WILD_TIMES = 0.01, 500
#: Fewer scores suggest no scale.
_FEW = 20


def require_one_scale(scores: Sequence[FloatArray], names: Sequence[str], *, wanted: str) -> None:
    """Refuse scores of one model between 0 and 1 beside others between 0 and 100, or 0 and 10; and wild scores.

    One score of 9e18 among zeros and ones makes every difference of means uncertain, and so hides each regression.

    `scores` (sequence of array of float, shape (n,)): those of each model.
    `names`: what a complaint calls the models.
    `wanted`: what a complaint asks for.

    Raises ValueError, one line that names the first model of each kind, or the wild score.

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats._common.score_scale import require_one_scale
    >>> f1 = np.array([0.0, 0.4, 0.7, 1.0])
    >>> require_one_scale([f1, f1 / 2], "ab", wanted="one unit")
    >>> require_one_scale([f1, f1 * 100], "ab", wanted="one unit")
    Traceback (most recent call last):
    ValueError: scores: 0 to 1 of 'a' and 0 to 100 of 'b' look like two units; expected one unit
    >>> require_one_scale([np.tile(f1, 9), np.r_[np.tile(f1, 9)[1:], 9e18]], "ab", wanted="one unit")
    Traceback (most recent call last):
    ValueError: scores: 9e+18 of 'b' is beyond the scale of the others (at most 1 in size); expected one unit
    """
    _refuse_wild(scores, names, wanted)
    fractions = next((place for place, each in enumerate(scores) if _are_fractions(each)), None)
    if fractions is None:
        return
    for name, each in zip(names, scores, strict=True):
        if _are_percentages(each):
            low, high = scores[fractions].min(), scores[fractions].max()
            raise ValueError(
                f"scores: {low:g} to {high:g} of {shown(names[fractions])} and {each.min():g} to {each.max():g} of "
                f"{shown(name)} look like two units; expected {wanted}"
            )


def _refuse_wild(scores: Sequence[FloatArray], names: Sequence[str], wanted: str) -> None:
    sizes = np.abs(np.concatenate(scores))
    if len(sizes) < _FEW:
        return
    first = len(sizes) - 1 - max(1, int(_WILD_SHARE * len(sizes)))
    largest = np.sort(np.partition(sizes, first)[first:])
    gaps = np.flatnonzero((largest[:-1] > 0) & (largest[1:] >= _WILD_TIMES * largest[:-1]))
    if len(gaps):
        usual = largest[gaps[0]]
        beyond = ((name, each[np.abs(each) > usual]) for name, each in zip(names, scores, strict=True))
        who, wild = next((name, values[0]) for name, values in beyond if len(values))
        raise ValueError(
            f"scores: {wild:g} of {shown(who)} is beyond the scale of the others (at most {usual:g} in size); "
            f"expected {wanted}"
        )


def _are_fractions(scores: FloatArray) -> bool:
    """Whether scores lie between 0 and 1. Scores that are all 1, or all 0, are on any scale."""
    return bool(len(scores) and 0 <= scores.min() < 1 and 0 < scores.max() <= 1)


def _are_percentages(scores: FloatArray) -> bool:
    """Whether scores lie between 0 and 100, some at 10 or more, hardly any of them between 0 and 1."""
    if not len(scores) or scores.min() < 0 or not 10 <= scores.max() <= 100:
        return False
    return bool(np.count_nonzero((scores > 0) & (scores <= 1)) <= _SMALL * np.count_nonzero(scores))
