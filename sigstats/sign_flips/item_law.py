"""The law of how far one model is ahead of the other in an item that each answers several times."""

from typing import Any

import numpy as np
from scipy.special import betaln, gammaln, xlogy

from .._common.validation import FloatArray, as_real, as_reals, refuse
from ..mcnemar.power import discordant_probabilities

_MOST_GIVEN = 10**5


def item_law(
    only_a: Any, only_b: Any, accuracy_a: Any, accuracy_b: Any, discordance: Any, answers: int, correlation: Any
) -> FloatArray:
    """The probabilities that A is ahead in an item by -K, ..., K answers, from the parameters of `paired_power`.

    Raises ValueError if the parameters do not go together or are out of range.

    >>> item_law(0.2, 0.1, None, None, None, 2, 1.0).round(3).tolist()  # both answers count the same
    [0.1, 0.0, 0.7, 0.0, 0.2]
    """
    if _are_several(accuracy_a) or _are_several(accuracy_b):
        for name, value in (("only_a", only_a), ("only_b", only_b), ("discordance", discordance)):
            if value is not None:
                raise refuse(name, value, "None together with the accuracies of items")
        if correlation is not None:
            raise refuse("correlation", correlation, "None together with the accuracies of items, which determine it")
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


def _are_several(given: Any) -> bool:
    try:
        return np.ndim(given) > 0
    except Exception:  # an object that may raise anything
        return False


def _chances(given: Any, name: str) -> FloatArray:
    found = as_reals(given, name, ndim=1)
    wrong = (found < 0) | (found > 1)
    if wrong.any():
        raise refuse(name, found[wrong][0], "numbers from 0 to 1")
    if len(found) > _MOST_GIVEN:
        raise refuse(f"{name} (length)", len(found), f"at most {_MOST_GIVEN}")
    return found


def _of_items(a: FloatArray, b: FloatArray, answers: int) -> FloatArray:
    """The mean law of items at which the answers of each model are independent."""
    if len(a) != len(b):
        raise refuse("accuracy_b (length)", len(b), f"{len(a)}, one for each item of accuracy_a")
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
    """The law of how many more answers favour A than B, where two answers to an item have a correlation."""
    law = np.zeros(2 * answers + 1)
    tie = max(0.0, 1 - p_a - p_b)
    if correlation > 1 - 1e-12:
        law[[0, answers, -1]] = p_b, tie, p_a
        return law
    x, y = np.meshgrid(np.arange(answers + 1), np.arange(answers + 1), indexing="ij")
    possible = x + y <= answers
    x, y = x[possible], y[possible]
    counts, shares = (x, y, answers - x - y), (p_a, p_b, tie)
    logs = gammaln(answers + 1) - sum(gammaln(each + 1) for each in counts)
    if correlation < 1e-9:
        logs = logs + sum(xlogy(each, share) for each, share in zip(counts, shares, strict=True))
    else:
        strength = (1 - correlation) / correlation
        logs = logs + gammaln(strength) - gammaln(answers + strength)
        for each, share in zip(counts, shares, strict=True):
            logs = logs + _rising(share * strength, each)
    np.add.at(law, answers + x - y, np.exp(logs))
    return np.asarray(law / law.sum())


def _rising(start: float, steps: Any) -> Any:
    """The logarithm of ``start (start + 1) ... (start + steps - 1)``; of 0 it is that of no way, but for no step."""
    if start == 0:
        return np.where(steps == 0, 0.0, -np.inf)
    return np.where(steps == 0, 0.0, gammaln(np.maximum(steps, 1)) - betaln(start, np.maximum(steps, 1)))
