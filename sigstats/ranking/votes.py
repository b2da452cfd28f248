r"""Votes between models: the better model of each pair, possible ranks of each, and Bradley and Terry's scores.

When not to use: the answers were graded one by one (`sigstats.rank_models`, which needs fewer rows); votes are the
verdicts of a judge that errs more often for one model than for another; pairs were matched, or voters stopped,
depending on earlier votes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from .._common.class_names import as_class_labels, as_groups
from .._common.data_frames import require_same_index
from .._common.drawing import Drawn, forest
from .._common.messages import Note
from .._common.repeats import check_sides
from .._common.tabular import ArrayRecord, Table, in_words
from .._common.validation import FloatArray, IntArray, as_labels, as_real, refuse
from ..multiplicity import adjust_pvalues
from ..unseen_row.means import mean_pvalues, row_of_groups, units_of
from .rank_sets import is_shown, sign_tests
from .vote_models import check_connected, fit_pvalue, position_note, scores_with_errors, sums_of

#: Words for a win of the first model, of the second, or of neither, in any case.
_FIRST, _SECOND, _NEITHER = (
    {"model_a", "a"},
    {"model_b", "b"},
    {"tie", "tie (bothbad)", "both_bad", "bothbad"},
)
#: The sign of a vote if its winner is neither one of these words nor one of its models.
_UNKNOWN = 3
#: The guarantee for votes that depend on each other in no way, one way or two ways.
_GUARANTEES = (
    "exact, votes independent; scores asymptotic",
    "mean of independent groups and an unseen one; scores asymptotic",
    "asymptotic, voters and items cross",
)
#: Scores are on the scale of chess: 400 points are odds of ten to one.
_ELO = 400 / math.log(10)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class VoteRanking(ArrayRecord, Drawn):
    """The result of `rank_votes`; models are in the order of their shares of won votes, the best first.

    Attributes
    ----------
    models : tuple of str
    low, high : tuple of int
        The lowest and the highest rank that each model may have, 1 for the best: one more than the number of models
        that are preferred to it, at least and at most.
    scores : tuple of float
        Bradley and Terry's, in points of Elo's scale (400 points are odds of ten to one) around a mean of 0; NaN if
        they are not finite.
    score_low, score_high : tuple of float
        The ends of the interval of each score by itself, asymptotic, by the variation of votes or groups.
    preferred : ndarray of bool, shape (k, k)
        Whether the model of the row is shown to be preferred to that of the column.
    pvalues : ndarray, shape (k, k)
        One-sided p-values of that, not adjusted; 1 on the diagonal and of models that never met.
    adjusted_pvalues : ndarray, shape (k, k)
        The same, adjusted by Holm over the ordered pairs that met.
    wins : ndarray, shape (k, k)
        How often the model of the row won against that of the column; half of each tie.
    fit_pvalue : float or None
        The p-value of the likelihood-ratio test that the scores explain how often each model wins against each other
        (chi-square, decided votes); None if there is nothing to test, or votes come in groups.
    confidence_level : float
        Of all ranks at once, and of each score by itself.
    n : int
        The number of votes.
    guarantee : str
        The basis of the ranks, and of the intervals of the scores: ``"exact, votes independent; scores asymptotic"``,
        ``"mean of independent groups and an unseen one; scores asymptotic"``, or ``"asymptotic, voters and items
        cross"`` of both.
    reason : str
        The reason if there are no scores.
    notes : tuple of str
        Remarks about the votes, a line each, with a short name for programs in `.name`.
    """

    models: tuple[str, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    scores: tuple[float, ...]
    score_low: tuple[float, ...]
    score_high: tuple[float, ...]
    preferred: NDArray[np.bool_]
    pvalues: FloatArray
    adjusted_pvalues: FloatArray
    wins: FloatArray
    fit_pvalue: float | None
    confidence_level: float
    n: int
    guarantee: str
    reason: str = ""
    notes: tuple[Note, ...] = ()

    def _columns(self) -> dict[str, list[Any]]:
        names = ("models", "low", "high", "scores", "score_low", "score_high")
        return {name.removesuffix("s"): list(getattr(self, name)) for name in names}

    def _table(self) -> Table:
        fit = None if self.fit_pvalue is None else f"Fit of the scores: p = {in_words(self.fit_pvalue)}."
        title = f"Ranks of {len(self.models)} models by {self.n:,} votes, all at once with confidence "
        notes = [f"Guarantee: {self.guarantee}.", *filter(None, (*self.notes, self.reason, fit))]
        return Table(f"{title}{in_words(self.confidence_level)}", self._in_words(), notes=notes)

    def _draw(self, ax: Any) -> Any:
        unit, ends = "score in points of Elo's scale", (self.scores, self.score_low, self.score_high)
        if self.reason:
            unit, ends = "rank", (tuple(range(1, len(self.models) + 1)), self.low, self.high)
        return forest(ax, list(zip(self.models, *ends, strict=True)), unit=unit, marks=())


def rank_votes(
    model_a: Any, model_b: Any, winner: Any, *, groups: Any = None, items: Any = None, confidence_level: float = 0.95
) -> VoteRanking:
    """Rank models by votes between two of them at a time.

    Null hypothesis of an ordered pair: in the population of the votes (or groups), the first does not win more often.

    Parameters
    ----------
    model_a, model_b : array_like of str, shape (n,)
        The two models of each vote.
    winner : array_like of str, shape (n,)
        ``"model_a"`` (``"a"``), ``"model_b"`` (``"b"``), ``"tie"`` (``"tie (bothbad)"``, ``"both_bad"``), or the name
        of the winner. A word that names the other model is refused.
    groups : array_like of int, shape (n,), optional
        The voter, or the question, of each vote, if votes of one are not independent.
    items : array_like of int, shape (n,), optional
        The question of each vote if `groups` are voters and votes on one question are not independent either. If each
        question was put to one voter only, `groups` are enough.
    confidence_level : float
        Confidence of all ranks together, and of each interval of a score, strictly between 0 and 1.

    Returns
    -------
    VoteRanking

    Raises
    ------
    ValueError
        If lengths differ, a model meets itself, a winner is unknown, votes do not connect all, or an option is wrong.

    Notes
    -----
    Each ordered pair is tested exactly by the signs of its votes without ties. With groups, the test bounds the mean of
    their sums; one more group cannot undo the result (``sigstats.unseen_row``). That group votes for one model only
    and is as large as the largest; larger ones are assumed not to exist (if 1 voter in 22 has 21 votes and the others
    one, 40 voters tell equal models apart in 15% of samples). In a pair with 110 groups or more it resembles those
    seen; kinds of voters rarer than 1 in 25 are assumed not to exist. Holm's adjustment makes all ranks hold together.
    If voters and items cross, no exact test is known: p is the largest of those of voters, of items, and of Student's t
    with two-way clustered variance. In simulations of 8 voters or more it was below 0.05 in at most 5.2%.

    In Bradley and Terry's model i wins against j with log odds :math:`s_i - s_j`; the scores maximise the likelihood,
    with ties as half a win for both. They only summarise: a small `fit_pvalue` shows that one number per model is not
    enough. They are not finite if some models never lost to the others.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm, Review of Economic Studies 91 (2024), section 3. Cameron, Gelbach and Miller,
    Journal of Business and Economic Statistics 29 (2011). Bradley and Terry, Biometrika 39 (1952).

    Examples
    --------
    >>> import numpy as np
    >>> import sigstats
    >>> rng = np.random.default_rng(1)
    >>> strength = {"large": 1.2, "medium": 1.0, "small": 0.0}
    >>> pairs = np.array([rng.choice(list(strength), 2, replace=False) for _ in range(900)])
    >>> odds = [np.exp(strength[b] - strength[a]) for a, b in pairs]
    >>> found = sigstats.rank_votes(*pairs.T, np.where(rng.random(900) < 1 / (1 + np.array(odds)), "a", "b"))
    >>> list(zip(found.models, found.low, found.high, strict=True))
    [('large', 1, 2), ('medium', 1, 2), ('small', 3, 3)]
    """
    require_same_index(model_a=model_a, model_b=model_b, winner=winner, groups=groups, items=items)
    named = {name: as_class_labels(value, name) for name, value in {"model_a": model_a, "model_b": model_b}.items()}
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    n = len(named["model_a"])
    if len(named["model_b"]) != n:
        raise refuse("model_b", len(named["model_b"]), f"{n}, one for each vote", quantity="length")
    models, votes = coded_votes(named["model_a"], named["model_b"], winner)
    first, second, signs = votes.T
    given = {name: value for name, value in {"groups": groups, "items": items}.items() if value is not None}
    units = _crossed([as_groups(value, name, n)[0] for name, value in given.items()])
    if not given:
        check_sides(votes)
    for model in models[second[first == second]][:1]:
        raise refuse("model_b", str(model), "a model other than model_a")
    check_connected(models, first, second)
    k = len(models)
    sides = np.zeros((3, k, k))
    np.add.at(sides, (1 - signs, first, second), 1)
    won, tied, lost = sides  # by the first model
    decided = won + lost.T
    wins = decided + (tied + tied.T) / 2
    best_first = np.argsort(-wins.sum(axis=1) / (wins + wins.T).sum(axis=1), kind="stable")
    pairs = np.ix_(best_first, best_first)
    pvalues = _tests_of_groups(k, first, second, signs, units) if units else sign_tests(decided)
    met = (wins + wins.T) > 0
    adjusted = np.ones((k, k))
    adjusted[met] = adjust_pvalues(pvalues[met], method="holm")
    preferred = is_shown(adjusted, level)

    scores, errors, reason = scores_with_errors(models, wins, votes, units or [np.arange(n)])
    half = float(ndtri((1 + level) / 2)) * errors
    return VoteRanking(
        models=tuple(str(model) for model in models[best_first]),
        low=tuple((1 + preferred.sum(axis=0))[best_first].tolist()),
        high=tuple((k - preferred.sum(axis=1))[best_first].tolist()),
        scores=tuple((_ELO * scores)[best_first].tolist()),
        score_low=tuple((_ELO * (scores - half))[best_first].tolist()),
        score_high=tuple((_ELO * (scores + half))[best_first].tolist()),
        preferred=preferred[pairs],
        pvalues=pvalues[pairs],
        adjusted_pvalues=adjusted[pairs],
        wins=wins[pairs],
        fit_pvalue=None if units else fit_pvalue(decided),
        confidence_level=level,
        n=n,
        guarantee=_GUARANTEES[len(units)],
        reason=reason,
        notes=position_note(models.tolist(), sides, preferred, adjusted),
    )


def coded_votes(model_a: NDArray[Any], model_b: NDArray[Any], winner: Any) -> tuple[NDArray[Any], IntArray]:
    """Return the names of the models, and of each vote the codes of both and its sign: 1, -1 or 0 if neither won."""
    models, codes = np.unique(np.concatenate([model_a.astype(str), model_b.astype(str)]), return_inverse=True)
    first, second = codes.astype(np.int64).reshape(2, -1)
    names, place = np.unique(as_labels(winner, "winner").astype(str), return_inverse=True)
    if len(place) != len(first):
        raise refuse("winner", len(place), f"{len(first)}, one for each vote", quantity="length")
    code = np.where(np.isin(names, models), np.searchsorted(models, names), -1)[place]
    sign_of_word = dict.fromkeys(_FIRST, 1) | dict.fromkeys(_SECOND, -1) | dict.fromkeys(_NEITHER, 0)
    by_word = np.array([sign_of_word.get(str(name).strip().lower(), _UNKNOWN) for name in names])[place]
    by_name = np.where(code == first, 1, np.where(code == second, -1, _UNKNOWN))
    unclear = (code >= 0) & (by_word != _UNKNOWN) & (by_word != by_name)
    for name in names[place[unclear]][:1]:
        raise refuse("winner", str(name), "another name for this model, since the word also states a winner")
    signs = np.where(code < 0, by_word, by_name)
    for name in names[place[signs == _UNKNOWN]][:1]:
        cure = "recode it" if str(name).strip() else "leave out votes without a winner"
        raise refuse("winner", str(name), f"model_a, model_b, tie, or the name of one of the two models; {cure}")
    return models, np.column_stack([first, second, signs]).astype(np.int64)


def _crossed(units: list[IntArray]) -> list[IntArray]:
    """Return the kinds of groups, without one that is nested in another, such as questions of a single voter."""
    if len(units) < 2:
        return units
    both = len(np.unique(units[0] * (units[1].max() + 1) + units[1]))
    for inner, outer in ((1, 0), (0, 1)):
        if len(np.unique(units[inner])) == both:
            return [units[outer]]
    return units


def _tests_of_groups(
    k: int, first: IntArray, second: IntArray, signs: IntArray, units: Sequence[IntArray]
) -> FloatArray:
    """Return the tests of all pairs by the means of groups, and of both kinds of groups if there are two."""
    turned = np.where(first < second, signs, -signs)
    pair = np.minimum(first, second) * k + np.maximum(first, second)
    order = np.argsort(pair, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(pair[order])) + 1)
    i, j = np.divmod(pair[[rows[0] for rows in parts]], k)
    sums = [[sums_of(turned[rows], array[rows]) for rows in parts] for array in units]
    tails = []
    for of_pairs, unit in zip(sums, units, strict=True):
        groups = [
            units_of(values.astype(np.float64), sums_of(np.ones_like(rows), unit[rows]), row_of_groups(len(values)))
            for values, rows in zip(of_pairs, parts, strict=True)
        ]
        tails.append(np.transpose(mean_pvalues(groups, [1.0] * len(groups))))
    if len(units) == 2:
        cells = units[0] * (units[1].max() + 1) + units[1]
        of_both = (sums_of(turned[rows], cells[rows]) for rows in parts)
        tails.append(np.transpose([_two_way(*value) for value in zip(*sums, of_both, strict=True)])[::-1])
    pvalues = np.ones((k, k))  # of models that never met
    pvalues[j, i], pvalues[i, j] = np.max(tails, axis=0)
    return pvalues


def _two_way(of_voters: IntArray, of_items: IntArray, of_both: IntArray) -> tuple[float, float]:
    """Return the p-values of Student's t test of the sum of signs, with the variances of voters and items combined."""
    squares = [float((array**2).sum()) for array in (of_voters, of_items, of_both)]
    variance = max(squares[0], squares[1], squares[0] + squares[1] - squares[2])
    if not variance:
        return 1.0, 1.0
    value, freedom = float(of_voters.sum()) / math.sqrt(variance), min(len(of_voters), len(of_items)) - 1
    return (float(stdtr(freedom, -value)), float(stdtr(freedom, value))) if freedom else (1.0, 1.0)
