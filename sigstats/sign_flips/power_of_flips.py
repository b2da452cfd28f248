"""Power of the sign-flip test of repeated answers, from the distribution of one model's lead in an item.

`item_law` is this distribution, from rates and a correlation, or from the accuracies of the items of a pilot, and
`power_of_flips` the power (`sigstats.sign_flips.power` describes the method).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from .._common.data_frames import require_same_index
from .._common.validation import FloatArray, as_real, as_reals, refuse, refuse_where
from ..mcnemar.power import Rule, discordant_probabilities

#: The most items whose accuracies may be given.
_MOST_ITEMS = 10**5
#: The most outcomes of the multinomial law that are summed over.
_MOST_OUTCOMES = 5000
#: If there are more: the most and fewest points of an integral, the work that limits them, and numbers in a batch.
_POINTS, _FEWEST_POINTS, _WORK, _BATCH = 4096, 256, 2**26, 2**21
#: A sum has no mass beyond this many standard deviations (Hoeffding 1963); mass that a transform may round away.
_REACH, _ROUNDING = 8.6, 1e-13


def item_law(
    only_a: Any, only_b: Any, accuracy_a: Any, accuracy_b: Any, discordance: Any, answers: int, correlation: Any
) -> FloatArray:
    """Return the probabilities that A leads by -K, ..., K answers in an item, from `paired_power`'s parameters."""
    if _are_several(accuracy_a) or _are_several(accuracy_b):
        for name, value in (("only_a", only_a), ("only_b", only_b), ("discordance", discordance)):
            if value is not None:
                raise refuse(name, value, "None together with the accuracies of items")
        if correlation is not None:
            raise refuse("correlation", correlation, "None together with the accuracies of items, which determine it")
        require_same_index(accuracy_a=accuracy_a, accuracy_b=accuracy_b)
        return _of_items(_chances(accuracy_a, "accuracy_a"), _chances(accuracy_b, "accuracy_b"), answers)
    p_a, p_b = discordant_probabilities(only_a, only_b, accuracy_a, accuracy_b, discordance)
    if answers == 1:
        if correlation is not None:
            as_real(correlation, "correlation", low=0, high=1)
        return np.array([p_b, max(0.0, 1 - p_a - p_b), p_a])
    if correlation is None:
        raise ValueError(
            f"correlation: is missing; expected a number from 0 to 1 with answers={answers}, that of two answers to an "
            "item, or accuracy_a= and accuracy_b= of each item of a pilot"
        )
    return _dirichlet_multinomial(p_a, p_b, answers, as_real(correlation, "correlation", low=0, high=1))


def _are_several(accuracy: Any) -> bool:
    try:
        return np.ndim(accuracy) > 0
    except Exception:  # an object that may raise anything
        return False


def _chances(accuracies: Any, name: str) -> FloatArray:
    reals = as_reals(accuracies, name, ndim=1)
    refuse_where((reals < 0) | (reals > 1), reals, name, "numbers from 0 to 1")
    if len(reals) > _MOST_ITEMS:
        raise refuse(name, len(reals), f"at most {_MOST_ITEMS}", quantity="length")
    return reals


def _of_items(a: FloatArray, b: FloatArray, answers: int) -> FloatArray:
    """Return the mean law over items, if each model's answers to an item are independent."""
    if len(a) != len(b):
        raise refuse("accuracy_b", len(b), f"{len(a)}, one for each item of accuracy_a", quantity="length")
    if answers == 1:
        p_a, p_b = float(np.mean(a * (1 - b))), float(np.mean(b * (1 - a)))
        return np.array([p_b, max(0.0, 1 - p_a - p_b), p_a])
    k = np.arange(answers + 1)
    ways = gammaln(answers + 1) - gammaln(k + 1) - gammaln(answers - k + 1)

    def binomial(p: FloatArray) -> FloatArray:
        return np.asarray(np.exp(ways + xlogy(k, p[:, None]) + xlogy(answers - k, 1 - p[:, None])))

    joint = binomial(a).T @ binomial(b) / len(a)  # how probable x right answers of A and y of B are
    return np.array([joint.trace(-ahead) for ahead in range(-answers, answers + 1)])


def _dirichlet_multinomial(p_a: float, p_b: float, answers: int, correlation: float) -> FloatArray:
    """Return the law of A's lead over B in the answers to an item, given the correlation of two answers."""
    law = np.zeros(2 * answers + 1)
    tie = max(0.0, 1 - p_a - p_b)
    if correlation > 1 - 1e-12:
        law[[0, answers, -1]] = p_b, tie, p_a
        return law
    x, y = np.meshgrid(np.arange(answers + 1), np.arange(answers + 1), indexing="ij")
    possible = x + y <= answers
    x, y = x[possible], y[possible]
    counts, shares = (x, y, answers - x - y), (p_a, p_b, tie)
    logs = gammaln(answers + 1) - sum(gammaln(array + 1) for array in counts)
    for count, share in zip(counts, shares, strict=True):
        logs = logs + _urn(share, correlation, answers)[count]
    logs = logs - _urn(1.0, correlation, answers)[answers]
    np.add.at(law, answers + x - y, np.exp(logs))
    return np.asarray(law / law.sum())


def _urn(share: float, correlation: float, answers: int) -> FloatArray:
    """Return logarithms of products of the first 0, 1, ..., `answers` of ``(1 - r) share + r i`` (Pólya's urn)."""
    with np.errstate(divide="ignore"):
        factors = np.log((1 - correlation) * share + correlation * np.arange(answers))
    return np.concatenate([[0.0], np.cumsum(factors)])


def power_of_flips(n: int, law: FloatArray, rule: Rule) -> float:
    """Return the power of the sign-flip test of n items with differences drawn from a law of `item_law`."""
    answers = len(law) // 2
    ahead, behind = law[answers + 1 :], law[answers - 1 :: -1]
    sizes = np.flatnonzero(ahead + behind > 0) + 1
    if not len(sizes):
        return 0.0  # no item differs, and then no rejection
    ahead, behind = ahead[sizes - 1], behind[sizes - 1]
    counts, weights = _configurations(n, ahead + behind, sizes)
    shares = ahead / (ahead + behind)
    length = 2 * math.ceil(_REACH * math.sqrt(float((counts @ sizes**2).max())) / 2) + 2 * int(sizes.max()) + 2
    step = max(1, _BATCH // length)
    arrays = [
        _conditional_power(counts[start : start + step], sizes, shares, rule, length)
        for start in range(0, len(counts), step)
    ]
    return min(1.0, float(np.concatenate(arrays) @ weights))


def _configurations(n: int, shares: FloatArray, sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], FloatArray]:
    """Return numbers of items that differ by each size, and their weights: all of them, or points of equal weight."""
    if math.comb(n + len(sizes), len(sizes)) <= _MOST_OUTCOMES:
        counts = np.array(list(_compositions(n, len(sizes))), dtype=np.int64)
        rest = n - counts.sum(axis=1)
        logs = gammaln(n + 1) - gammaln(counts + 1).sum(axis=1) - gammaln(rest + 1)
        logs = logs + xlogy(counts, shares).sum(axis=1) + xlogy(rest, max(0.0, 1 - float(shares.sum())))
        return counts, np.exp(logs)
    from scipy.stats import binom

    spread = _REACH * math.sqrt(n * float((shares * sizes**2).sum()))
    points = int(min(_POINTS, max(_FEWEST_POINTS, _WORK / spread)))
    uniform = _points(points, len(sizes))
    counts, left, share_left = np.zeros((points, len(sizes)), dtype=np.int64), np.full(points, n), 1.0
    for place, share in enumerate(shares.tolist()):
        drawn = binom.ppf(uniform[:, place], left, min(1.0, share / share_left))
        counts[:, place] = np.clip(drawn, 0, left)
        left, share_left = left - counts[:, place], max(share_left - share, 1e-300)
    return counts, np.full(points, 1 / points)


def _compositions(n: int, parts: int) -> Any:
    """Yield all tuples of this many nonnegative integers with a sum of at most n."""
    if parts == 0:
        yield ()
        return
    for first in range(n + 1):
        for rest in _compositions(n - first, parts - 1):
            yield first, *rest


def _points(points: int, dimensions: int) -> FloatArray:
    """Return points that fill a cube evenly: Kronecker's sequence of the powers of a generalised golden ratio.

    Its base is the positive root of ``x**(d + 1) = x + 1`` (Roberts 2018, "The unreasonable effectiveness of
    quasirandom sequences").
    """
    root = 1.5
    for _ in range(60):
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = root ** -np.arange(1.0, dimensions + 1)
    return (0.5 + np.arange(1, points + 1)[:, None] * steps) % 1


def _conditional_power(
    counts: NDArray[np.int64], sizes: NDArray[np.int64], shares: FloatArray, rule: Rule, length: int
) -> FloatArray:
    """Return the power given how many items differ by each size, with the `shares` that favour A."""
    totals = counts @ sizes
    null, start = _sums(counts, sizes, np.full(len(sizes), 0.5), length)
    upper = null[:, ::-1].cumsum(axis=1)[:, ::-1]
    critical = start + (upper > rule.tail * (1 + 1e-9) + _ROUNDING).sum(axis=1)
    law, start = _sums(counts, sizes, shares, length)
    cumulative = np.concatenate([np.zeros((len(law), 1)), law.cumsum(axis=1)], axis=1)

    def below(threshold: NDArray[np.int64]) -> FloatArray:
        place = np.clip(threshold - start, 0, length)
        return np.asarray(np.take_along_axis(cumulative, place[:, None], axis=1)[:, 0])

    favours_a, favours_b = 1 - below(critical), below(totals - critical + 1)
    values = {"greater": favours_a, "less": favours_b, "two-sided": favours_a + favours_b}[rule.alternative]
    return np.clip(values, 0.0, 1.0)


def _sums(
    counts: NDArray[np.int64], sizes: NDArray[np.int64], shares: FloatArray, length: int
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the distribution of the sum of sizes that favour A on whole numbers, and the first of these."""
    start = np.floor((counts * shares) @ sizes).astype(np.int64) - length // 2
    angles = 2 * math.pi * np.arange(length // 2 + 1) / length
    factors = 1 - shares[:, None] + shares[:, None] * np.exp(-1j * sizes[:, None] * angles)
    factors[np.abs(factors) < 1e-300] = 1e-300
    logs = counts @ np.log(factors) + 1j * start[:, None] * angles
    return np.fft.irfft(np.exp(logs), length, axis=1), start
