"""Models of votes: Bradley and Terry's scores (1952, Biometrika 39, 324-345), and the effect of a model's position.

`wins[i, j]` counts the votes that model i won against j, half of each tie, and `votes` has the first model, the second
model and the sign (1, 0 or -1) of each vote. `sigstats.ranking.votes` tests the pairs themselves.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, chdtrc, expit, ndtr, ndtri

from .._common.messages import Note, some_of
from .._common.numerals import p_number
from .._common.validation import FloatArray, IntArray, shown

_MOST_STEPS, _SMALL_STEP = 100, 1e-10
#: Positions are unbalanced if more than 60% are alike, significantly at this level over all models and pairs.
_SHARE, _LEVEL = 0.6, 0.001
#: The names of the note: the same models are beaten whether position matters or not; otherwise, it is unknown whether
#: position matters, or it is shown to matter.
HARMLESS, UNKNOWN, MATTERS = "positions", "positions-unknown", "positions-matter"
#: The error probability of the limits of margins, and the quantiles of one limit and of two.
_ALPHA, _ONE, _TWO = 0.05, 1.645, 1.96


def check_connected(models: NDArray[Any], first: IntArray, second: IntArray) -> None:
    """Refuse votes if none of them connects one part of the models with the rest."""
    count, part = _components(len(models), first, second, strong=False)
    if count > 1:
        one, other = (", ".join(shown(str(model)) for model in models[part == side][:3]) for side in (0, 1))
        raise ValueError(f"model_b: no vote connects {one} with {other}; expected votes that connect all models")


def scores_with_errors(
    models: NDArray[Any], wins: FloatArray, votes: IntArray, units: Sequence[IntArray]
) -> tuple[FloatArray, FloatArray, str]:
    """Bradley and Terry's scores with standard errors by one or two kinds of units; or the reason why there are none.

    `votes`: the first and the second model of each vote, and its sign.
    """
    if reason := _why_not_finite(models, wins):
        return np.full(len(models), np.nan), np.full(len(models), np.nan), reason
    scores, (first, second, signs) = scores_of(wins), votes.T
    return scores, _standard_errors(scores, first, second, signs, units), ""


def _components(k: int, first: IntArray, second: IntArray, *, strong: bool) -> tuple[int, IntArray]:
    """Return the number of parts into which edges divide the `k` models, and the part of each model."""
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(first)), (first, second)), shape=(k, k))
    count, part = connected_components(graph, connection="strong" if strong else "weak")
    return int(count), part.astype(np.int64)


def _why_not_finite(models: NDArray[Any], wins: FloatArray) -> str:
    """Return the reason why Bradley and Terry's scores are not finite; empty if they are (Ford 1957)."""
    winners, losers = np.nonzero(wins)
    count, part = _components(len(models), winners, losers, strong=True)
    if count == 1:
        return ""
    beaten = [side for side in range(count) if not wins[np.ix_(part != side, part == side)].any()]
    names = ", ".join(str(model) for model in models[part == beaten[0]][:3])
    return f"no scores of Bradley and Terry: {names} never lost to the other models"


def scores_of(wins: FloatArray) -> FloatArray:
    """Return the maximum of the likelihood, by Newton's steps; the mean score is 0."""
    k, games = len(wins), wins + wins.T
    scores = np.zeros(k)
    for _ in range(_MOST_STEPS):
        chances = expit(scores[:, np.newaxis] - scores)
        slope = (wins - games * chances).sum(axis=1)
        step = np.linalg.solve(_information(games, chances) + 1 / k, slope)
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        scores += step
        if np.abs(step).max() < _SMALL_STEP:
            break
    return np.asarray(scores - scores.mean())


def _information(games: FloatArray, chances: FloatArray) -> FloatArray:
    weights = games * chances * (1 - chances)
    return np.asarray(np.diag(weights.sum(axis=1)) - weights)


def sums_of(values: IntArray, units: IntArray) -> IntArray:
    """Return the sum of each unit's values."""
    return np.bincount(np.unique(units, return_inverse=True)[1], values).astype(np.int64)


def _standard_errors(
    scores: FloatArray, first: IntArray, second: IntArray, signs: IntArray, units: Sequence[IntArray]
) -> FloatArray:
    """Return the standard errors of the scores, by sums of slopes of one or two kinds of units (Huber's sandwich)."""
    residuals = (1 + signs) / 2 - expit(scores[first] - scores[second])
    games = np.zeros((len(scores), len(scores)))
    np.add.at(games, (first, second), 1.0)
    inverse = np.linalg.pinv(_information(games + games.T, expit(scores[:, np.newaxis] - scores)))

    def variances(codes: IntArray) -> FloatArray:
        slopes = _slopes(len(scores), first, second, residuals, codes)
        clusters = slopes.shape[0]
        middle = (slopes.T @ slopes).toarray() * (clusters / max(1, clusters - 1))
        return np.diag(inverse @ middle @ inverse)

    arrays = [variances(unit) for unit in units]
    if len(units) == 2:  # Cameron, Gelbach and Miller 2011
        arrays.append(arrays[0] + arrays[1] - variances(units[0] * (units[1].max() + 1) + units[1]))
    # The combined variance may be too small, even negative: the largest is on the safe side.
    return np.asarray(np.sqrt(np.max(arrays, axis=0).clip(0)))


def _slopes(k: int, first: IntArray, second: IntArray, residuals: FloatArray, units: IntArray) -> Any:
    """Return the sum of the slopes of each unit's votes by each score; a sparse matrix of shape (units, k)."""
    from scipy.sparse import coo_array  # slow to import

    names, codes = np.unique(units, return_inverse=True)
    places = np.concatenate([codes, codes]), np.concatenate([first, second])
    return coo_array((np.concatenate([residuals, -residuals]), places), shape=(len(names), k)).tocsr()


def fit_pvalue(decided: FloatArray) -> float | None:
    """Return the p-value of the scores against a model with a separate probability for each pair."""
    games = decided + decided.T
    k, pairs = len(games), int(np.count_nonzero(np.triu(games)))
    if pairs < k or _why_not_finite(np.arange(k), decided):
        return None
    scores = scores_of(decided)
    played = decided > 0
    expected = (games * expit(scores[:, np.newaxis] - scores))[played]
    deviance = 2 * float(decided[played] @ np.log(decided[played] / expected))
    return float(chdtrc(pairs - k + 1, deviance))


def position_note(
    names: list[str], sides: FloatArray, preferred: NDArray[np.bool_], adjusted_pvalues: FloatArray
) -> tuple[Note, ...]:
    """Return a note if a model was model_a, or model_b, more often than chance allows.

    `sides`: numbers of votes that model_a won, tied and lost, by the two models. Pairs that met in both orders show how
    much position adds to the margin of a pair, with 95% limits from the largest possible variance. A preference is in
    doubt if the lower limit of its margin, by its p-value, does not exceed what position may add to it, taken as the
    same for all pairs.
    """
    shown, decided, net = sides.sum(axis=0), sides[0] + sides[2], sides[0] - sides[2]
    # The first column counts the votes with all other models.
    firsts, votes = (np.column_stack([table.sum(axis=1), table]) for table in (shown, shown + shown.T))
    fewer, tests = np.minimum(firsts, votes - firsts), len(names) + np.count_nonzero(shown + shown.T) / 2
    is_significant = 2 * bdtr(fewer, votes.astype(np.int64), 0.5) <= _LEVEL / tests
    odd = is_significant & (votes - fewer > _SHARE * votes)
    if not odd.any():
        return ()

    games = np.maximum(decided + decided.T, 1)
    position = _position_effect(decided, net)
    limits = np.clip([position.effect - _TWO * position.error, position.effect + _TWO * position.error], -1, 1)
    # The most that position may add to the margin.
    added = np.multiply.outer(limits, (decided - decided.T) / games).max(axis=0)
    lower = (net - net.T) / games * (1 + _ONE / ndtri(np.minimum(adjusted_pvalues, _ALPHA)))
    balanced = ~(odd[:, 1:] | odd[:, :1] | odd[:, 0])  # neither the pair nor its models have odd positions
    sure = preferred & ((lower > added) | balanced)
    if (sure.any(axis=0) == preferred.any(axis=0)).all():  # the same models are beaten without those in doubt
        note = HARMLESS
    else:
        note = MATTERS if limits[0] > 0 or limits[1] < 0 else UNKNOWN

    ahead, others = odd & (2 * firsts > votes), ["", *(f" with {name}" for name in names)]
    counts = [
        f"{names[i]} was model_a in {firsts[i, j]:,.0f} of {votes[i, j]:,.0f} votes{others[j]}"
        for i, j in np.argwhere(next(cells for cells in (ahead[:, :1], ahead, odd) if cells.any()))
    ]
    cure = "if voters saw model_a first or on one side, ask again in random order"
    return (Note(note, f"{some_of(counts, 2)}; {position.in_words()}; {cure}"),)


class _Position(NamedTuple):
    """The effect of being model_a on the margin of a pair, its standard error, and the number of votes that show it."""

    effect: float
    error: float
    votes: int

    def in_words(self) -> str:
        if not self.votes:
            return "no two models met in both orders, which would show whether position matters"
        both = f"in the {self.votes:,} decided votes of pairs that met in both orders, model_a wins"
        p = p_number(2 * ndtr(-abs(self.effect) / self.error))
        return f"{both} {50 * (1 + self.effect):.1f}% at equal positions (p = {p})"


def _position_effect(decided: FloatArray, net: FloatArray) -> _Position:
    """Return the mean margin of model_a over pairs that met in both orders, weighted by the inverse variance."""
    weights, margins = decided * decided.T / np.maximum(decided + decided.T, 1), net / np.maximum(decided, 1)
    weight = float(weights.sum()) / 2
    effect = float((weights * margins).sum() / max(2 * weight, 0.1))
    return _Position(effect, 0.5 / math.sqrt(weight) if weight else math.inf, int(decided[weights > 0].sum()))
