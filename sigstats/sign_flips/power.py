r"""The power of the exact test of repeated answers, and the number of items that gives a power.

Two models answer n items K times each; A gets :math:`D_i` more answers right at item i. Items are independent, so the
numbers of items with :math:`|D_i| = 1, \dots, K` are multinomial, and given these the signs are independent. Given
these numbers, the critical value and the probability of exceeding it are computed by Fourier transforms, then summed
over the multinomial distribution if it has few outcomes, or integrated. With one answer this is McNemar's test
(`sigstats.mcnemar.power`).

When not to use: with the accuracies observed on the very data that are to be tested ("observed" power adds nothing to
the p-value).
"""

import math
from typing import Any, SupportsIndex

import numpy as np

from .._common.calls import renamed
from .._common.validation import Alternative, as_count, as_real, refuse
from ..mcnemar.mcnemar_test import McNemarMethod
from ..mcnemar.power import MAX_N, Rule, as_rule, exact_power
from ..mcnemar.sample_size import reaches, sample_size, smallest_enough
from .power_of_flips import item_law, power_of_flips

_MOST_ITEMS, _MOST_ANSWERS = 10**6, 100
#: Below this, 1 minus a power cannot be distinguished from 0.
_LEAST_MISS = 1e-14
#: The least level: the rounding of a transform is a ten-thousandth of it.
_LEAST_ALPHA = 1e-9
#: Further numbers of items that `sample_size` examines: this part of the smallest number, but at most the second.
_AHEAD, _MOST_AHEAD = 0.1, 24


def paired_power(
    n: SupportsIndex,
    *,
    only_a: float | None = None,
    only_b: float | None = None,
    accuracy_a: Any = None,
    accuracy_b: Any = None,
    discordance: float | None = None,
    answers: int = 1,
    correlation: float | None = None,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    method: McNemarMethod = "exact",
    correction: bool = False,
) -> float:
    """Compute the power of McNemar's test, or with several answers to an item of `sigstats.sign_flip_test`.

    `sigstats.compare` tests several answers per item, and groups, by another bound; ``compare --power`` has its power.

    Parameters
    ----------
    n : int
        The number of items on which both classifiers are tried, up to 10**8; with several answers up to 10**6.
    only_a, only_b : float
        The probabilities that only A, and only B, is right about an answer. Their difference is the difference of the
        accuracies, their sum at most 1.
    accuracy_a, accuracy_b, discordance : float
        Instead of these: the probabilities that A is right, that B is right, and that exactly one of them is. If errors
        are independent, with accuracies s and t, the discordance is ``s * (1 - t) + t * (1 - s)``; usually they are
        dependent, and it is smaller.
    accuracy_a, accuracy_b : array_like of float, shape (k,)
        Or, without `discordance`: the accuracies of A and B at each of k items, for instance of a pilot. The n items
        are drawn at random from these, and given the item all answers are independent.
    answers : int
        The number of answers of each classifier to each item, from 1 to 100.
    correlation : float, optional
        With several answers and without accuracies of items: the correlation, from 0 to 1, of the differences (1, 0 or
        -1) of two answers to the same item. With 0 an answer is worth an item, with 1 all answers are worth one.
    alpha : float
        The level, between 0 and 1/2: reject if the p-value is at most this.
    alternative, method, correction
        As in `sigstats.mcnemar_test`; with several answers only the exact test. Two-sided rejections in favour of the
        worse classifier count, too.

    Returns
    -------
    float
        With one answer exact except for rounding. With several, exact except for rounding if n items have at most 5,000
        possible numbers of differences of each size; otherwise an integral over 4,096 points (256 for very large n),
        accurate to about 0.001. The probability is unconditional: the number of items that differ is random.

    Raises
    ------
    ValueError
        If a number is out of its range or an option unknown.

    Notes
    -----
    With one answer, ``sum_m P(M = m) P(reject | m)`` with M binomial (n, only_a + only_b) and, given m, the number of
    pairs that favour A binomial (m, only_a / (only_a + only_b)). With several and a correlation r, the numbers of an
    item's answers that only A, neither or both, and only B got right are Dirichlet-multinomial, of which any two
    answers have that correlation.

    References
    ----------
    Duffy, Biometrics 40 (1984). Mosimann, Biometrika 49 (1962). Hoenig and Heisey, American Statistician 55 (2001).

    Examples
    --------
    >>> import sigstats
    >>> round(sigstats.paired_power(200, only_a=0.155, only_b=0.205), 4)
    0.185
    >>> round(sigstats.paired_power(200, accuracy_a=0.65, accuracy_b=0.70, discordance=0.36, method="mid-p"), 4)
    0.2145

    Five answers to each of these items, two of which have a correlation of 0.1:

    >>> round(sigstats.paired_power(200, only_a=0.155, only_b=0.205, answers=5, correlation=0.1), 2)
    0.59

    Items of which half are hard and half are easy, answered once and eight times:

    >>> hard_and_easy = {"accuracy_a": [0.4, 0.9], "accuracy_b": [0.5, 0.95]}
    >>> [round(sigstats.paired_power(100, answers=k, **hard_and_easy), 2) for k in (1, 8)]
    [0.2, 0.96]
    """
    count = as_count(answers, "answers", minimum=1, maximum=_MOST_ANSWERS)
    law = item_law(only_a, only_b, accuracy_a, accuracy_b, discordance, count, correlation)
    if count == 1:
        rows = as_count(n, "n", minimum=1, maximum=MAX_N)
        return exact_power(rows, float(law[2]), float(law[0]), as_rule(alpha, alternative, method, correction))
    items = as_count(n, "n", minimum=1, maximum=_MOST_ITEMS)
    return power_of_flips(items, law, _exact_rule(alpha, alternative, method, correction))


@renamed("0.3", target="power")
def paired_sample_size(
    *,
    only_a: float | None = None,
    only_b: float | None = None,
    accuracy_a: Any = None,
    accuracy_b: Any = None,
    discordance: float | None = None,
    answers: int = 1,
    correlation: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    method: McNemarMethod = "exact",
    correction: bool = False,
) -> int:
    """Compute the smallest number of items from which on a test has a given power.

    The test is `sigstats.mcnemar_test`, or with several answers per item `sigstats.sign_flip_test`. `sigstats.compare`
    tests several answers per item, and groups, by another bound; plan that with ``compare --power``.

    Power is a sawtooth in n: it may reach the target, fall below it again and come back. The answer is the smallest n
    such that the power is at least `power` **at n and at every larger number**, so that a few items more than planned
    never make a study weaker than promised. A power that equals the target up to rounding reaches it. With several
    answers, whose teeth are small, the next tenth of the numbers is examined, up to 24 of them.

    Parameters
    ----------
    only_a, only_b, accuracy_a, accuracy_b, discordance, answers, correlation
        As in `paired_power`; the accuracies differ.
    power : float
        The power wanted, strictly between 0 and 1.
    alpha, alternative, method, correction
        As in `paired_power`.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If a number is out of its range, the alternative points the other way than the difference, or the difference
        is so small that more than two million discordant pairs, or 10**8 items (10**6 with several answers), would
        have to be looked at.

    Notes
    -----
    With one answer that no larger n falls below the target is proved, not assumed (``sigstats.mcnemar.sample_size``).

    References
    ----------
    Duffy, Biometrics 40 (1984). Chernick and Liu, American Statistician 56 (2002), on the sawtooth.

    Examples
    --------
    >>> import sigstats
    >>> [sigstats.paired_sample_size(only_a=0.10, only_b=0.05, method=each) for each in ("exact", "mid-p")]
    [498, 461]
    >>> sigstats.paired_sample_size(accuracy_a=0.90, accuracy_b=0.85, discordance=0.15)
    498
    """
    count = as_count(answers, "answers", minimum=1, maximum=_MOST_ANSWERS)
    law = item_law(only_a, only_b, accuracy_a, accuracy_b, discordance, count, correlation)
    goal = as_real(power, "power", low=0, high=1, open_ends=True)
    if goal > 1 - _LEAST_MISS:
        raise refuse("power", power, f"at most 1 - {_LEAST_MISS:g}")
    if count == 1:
        return sample_size(float(law[2]), float(law[0]), goal, as_rule(alpha, alternative, method, correction))
    rule = _exact_rule(alpha, alternative, method, correction)
    ahead = float(law @ np.arange(-count, count + 1))
    if abs(ahead) < 1e-12 or (ahead < 0 and alternative == "greater") or (ahead > 0 and alternative == "less"):
        wanted = {"greater": "A the more accurate", "less": "B the more accurate"}.get(alternative, "two that differ")
        raise refuse("accuracy of A minus that of B", ahead / count, f"{wanted}, with alternative={alternative!r}")
    return _smallest(lambda n: reaches(power_of_flips(n, law, rule), goal))


def _smallest(enough: Any) -> int:
    """Return the smallest number from which on the power stays at its target, among the numbers examined."""
    n = smallest_enough(enough, _MOST_ITEMS)
    if n is None:
        raise ValueError(f"the accuracies differ too little: over {_MOST_ITEMS:,} items are needed")
    behind = n
    while behind < n + min(math.ceil(_AHEAD * n), _MOST_AHEAD):
        behind += 1
        if not enough(behind):
            n = behind + 1
    return n


def _exact_rule(alpha: Any, alternative: Any, method: Any, correction: Any) -> Rule:
    rule = as_rule(alpha, alternative, method, correction)
    if method != "exact":
        raise refuse("method", method, "'exact', the only method for several answers")
    if rule.alpha < _LEAST_ALPHA:
        raise refuse("alpha", alpha, f"at least {_LEAST_ALPHA:g} with several answers")
    return rule
