"""Positions of models in votes: whether some stood first more often than others, and what that may explain."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, ndtr, ndtri

from .._common.messages import Note, some_of
from .._common.numerals import p_number
from .._common.validation import FloatArray

#: Positions are unbalanced if more than 60% are alike, significantly at this level over all models and pairs.
_SHARE, _LEVEL = 0.6, 0.001
#: The names of the note, by what position explains: not the best models, perhaps them, or shown to matter and perhaps.
HARMLESS, UNKNOWN, MATTERS = "positions", "positions-unknown", "positions-matter"
#: The error probability of the limits of margins, and the quantiles of one limit and of two.
_ALPHA, _ONE, _TWO = 0.05, 1.645, 1.96


def position_note(
    names: list[str], sides: FloatArray, preferred: NDArray[np.bool_], adjusted_pvalues: FloatArray
) -> tuple[Note, ...]:
    """A note if a model was model_a, or model_b, more often than chance allows.

    `sides`: numbers of votes that model_a won, tied and lost, by the two models. Pairs that met in both orders show how
    much position adds to the margin of a pair, with 95% limits from the largest possible variance. A preference is in
    doubt if the lower limit of its margin, by its p-value, does not exceed what position may add to it, taken as the
    same for all pairs.
    """
    shown, decided, net = sides.sum(axis=0), sides[0] + sides[2], sides[0] - sides[2]
    # The first column counts the votes with all other models.
    firsts, of = (np.column_stack([table.sum(axis=1), table]) for table in (shown, shown + shown.T))
    fewer, tests = np.minimum(firsts, of - firsts), len(names) + np.count_nonzero(shown + shown.T) / 2
    odd = (2 * bdtr(fewer, of.astype(np.int64), 0.5) <= _LEVEL / tests) & (of - fewer > _SHARE * of)
    if not odd.any():
        return ()
    games = np.maximum(decided + decided.T, 1)
    weights, means = decided * decided.T / games, net / np.maximum(decided, 1)
    weight = float(weights.sum()) / 2
    effect, error = (weights * means).sum() / max(2 * weight, 0.1), 0.5 / np.sqrt(weight) if weight else np.inf
    limits = np.clip([effect - _TWO * error, effect + _TWO * error], -1, 1)
    added = np.multiply.outer(limits, (decided - decided.T) / games).max(axis=0)
    lower = (net - net.T) / games * (1 + _ONE / ndtri(np.minimum(adjusted_pvalues, _ALPHA)))
    sure = preferred & ((lower > added) | ~(odd[:, 1:] | odd[:, :1] | odd[:, 0]))
    name = MATTERS if limits[0] > 0 or limits[1] < 0 else UNKNOWN
    name = HARMLESS if (sure.any(axis=0) == preferred.any(axis=0)).all() else name

    ahead, others = odd & (2 * firsts > of), ["", *(f" with {name}" for name in names)]
    counts = [
        f"{names[i]} was model_a in {firsts[i, j]:,.0f} of {of[i, j]:,.0f} votes{others[j]}"
        for i, j in np.argwhere(next(cells for cells in (ahead[:, :1], ahead, odd) if cells.any()))
    ]
    effects = "no two models met in both orders, which would show whether position matters"
    if weight:
        both = f"in the {decided[weights > 0].sum():,.0f} decided votes of pairs that met in both orders, model_a wins"
        effects = f"{both} {50 * (1 + effect):.1f}% at equal positions (p = {p_number(2 * ndtr(-abs(effect) / error))})"
    end = "if voters saw model_a first or on one side, ask again in random order"
    return (Note(name, f"{some_of(counts, 2)}; {effects}; {end}"),)
