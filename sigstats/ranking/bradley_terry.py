"""Bradley and Terry's scores of models that won and lost against each other (1952, Biometrika 39, 324-345)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, expit

from .._common.validation import FloatArray, IntArray

_MOST_STEPS, _SMALL_STEP = 100, 1e-10


def components_of(k: int, first: IntArray, second: IntArray, *, strong: bool) -> tuple[int, IntArray]:
    """The number of parts that models fall into, by edges from the first to the second, and the part of each of `k`."""
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(first)), (first, second)), shape=(k, k))
    count, part = connected_components(graph, directed=strong, connection="strong" if strong else "weak")
    return int(count), part.astype(np.int64)


def why_not_finite(models: NDArray[Any], wins: FloatArray) -> str:
    """The reason why Bradley and Terry's scores are not finite; empty if they are (Ford 1957)."""
    winners, losers = np.nonzero(wins)
    count, part = components_of(len(models), winners, losers, strong=True)
    if count == 1:
        return ""
    beaten = [side for side in range(count) if not wins[np.ix_(part != side, part == side)].any()]
    names = ", ".join(str(model) for model in models[part == beaten[0]][:3])
    return f"no scores of Bradley and Terry: {names} never lost to the other models"


def scores_of(wins: FloatArray) -> FloatArray:
    """The maximum of the likelihood, by Newton's steps; the mean score is 0."""
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
    """The sum of each unit's values."""
    return np.bincount(np.unique(units, return_inverse=True)[1], values).astype(np.int64)


def standard_errors_of(
    scores: FloatArray, first: IntArray, second: IntArray, signs: IntArray, units: Sequence[IntArray]
) -> FloatArray:
    """The standard errors of the scores, by sums of slopes of one or two kinds of units (Huber's sandwich)."""
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
    return np.asarray(np.sqrt(np.max(arrays, axis=0).clip(0)))


def _slopes(k: int, first: IntArray, second: IntArray, residuals: FloatArray, units: IntArray) -> Any:
    """The sum of the slopes of each unit's votes by each score; a sparse matrix of shape (units, k)."""
    from scipy.sparse import coo_array  # slow to import

    names, codes = np.unique(units, return_inverse=True)
    places = np.concatenate([codes, codes]), np.concatenate([first, second])
    return coo_array((np.concatenate([residuals, -residuals]), places), shape=(len(names), k)).tocsr()


def fit_pvalue(decided: FloatArray) -> float | None:
    """The p-value of the scores against a model with a separate probability for each pair."""
    games = decided + decided.T
    k, pairs = len(games), int(np.count_nonzero(np.triu(games)))
    if pairs < k or why_not_finite(np.arange(k), decided):
        return None
    scores = scores_of(decided)
    played = decided > 0
    expected = (games * expit(scores[:, np.newaxis] - scores))[played]
    deviance = 2 * float(decided[played] @ np.log(decided[played] / expected))
    return float(chdtrc(pairs - k + 1, deviance))
