"""Trials: test sets drawn from a population, each tested once.

A population is what two classifiers do on all rows there are, as eight joint outcomes in the order of
`sigstats.outcomes.JointOutcomes`: counts of rows, from which test sets are drawn without replacement, or probabilities,
from which any number is drawn. Where nothing but accuracy matters, all rows count as truly positive.

A test is a mapping: ``test`` (``mcnemar``, ``proportion``, ``dcf`` or ``bootstrap``) and the options of the function of
`sigstats` of that name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats.bootstrap import bootstrap_test
from sigstats.bootstrap_replicates import evaluate
from sigstats.finite_power import finite_power
from sigstats.measure_registry import Measure, as_measure
from sigstats.outcomes import JointOutcomes
from sigstats.paired import mcnemar_test
from sigstats.power import power
from sigstats.proportions import dcf_test, proportion_test
from sigstats.subsampling import draw_samples, draw_subsamples

#: The outcomes that an exchange of the two outputs turns into each other; it leaves the others as they are.
_EXCHANGED = ((1, 2), (5, 6))


@dataclass(frozen=True, kw_only=True)
class Population:
    """Two classifiers on all rows there are.

    Attributes
    ----------
    outcomes : tuple of int or of float
        How many rows have each of the eight joint outcomes; or, if `endless`, with which probability a row has it.
    endless : bool
        Whether `outcomes` are probabilities.
    swapped : bool
        Whether the outputs of the two are exchanged in each row with probability 1/2, so that neither is better.
    """

    outcomes: tuple[float, ...]
    endless: bool = False
    swapped: bool = False

    def draw(self, n: int, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """The eight counts of each of `size` test sets of n rows."""
        draw = draw_samples if self.endless else draw_subsamples
        drawn = draw(self.outcomes, n, rng=rng, size=size)
        if self.swapped:
            for first, second in _EXCHANGED:
                both = drawn[:, first] + drawn[:, second]
                drawn[:, first] = rng.binomial(both, 0.5)
                drawn[:, second] = both - drawn[:, first]
        return drawn

    @property
    def discordant(self) -> tuple[float, float]:
        """How many rows only A, and only B, gets right; or with which probability."""
        _, e2, e3, _, _, e6, e7, _ = self.outcomes
        return e3 + e6, e2 + e7

    def difference(self, measure: str | Measure) -> float:
        """The true difference B - A of a measure."""
        if self.swapped:
            return 0.0
        weights = np.array([self.outcomes], dtype=np.float64)  # measures are ratios: probabilities do as well as counts
        return float(evaluate(JointOutcomes(e1=1), as_measure(measure), weights).differences[0])


def random_classifiers(classes: int, right: float) -> Population:
    """Sturm's two systems: I assigns a random class, II is right for a part of its predictions and random otherwise.

    Parameters
    ----------
    classes : int
        The number of classes, all equally likely.
    right : float
        The part of the rows for which system II is made to be right.

    Returns
    -------
    Population
        Endless; A is system I, B is system II, and all rows count as truly positive.

    Examples
    --------
    >>> from tasks.trials import random_classifiers
    >>> random_classifiers(2, 0.5).outcomes
    (0.375, 0.375, 0.125, 0.125, 0.0, 0.0, 0.0, 0.0)
    """
    a = 1 / classes
    b = right + (1 - right) / classes
    outcomes = (a * b, (1 - a) * b, a * (1 - b), (1 - a) * (1 - b), 0.0, 0.0, 0.0, 0.0)
    return Population(outcomes=outcomes, endless=True)


@dataclass(frozen=True)
class Answers:
    """What a test says of each of several test sets.

    Attributes
    ----------
    p_value : ndarray of float64
    covers : ndarray of bool, or None
        Whether the test's interval holds the true difference; None for a test without one.
    """

    p_value: NDArray[np.float64]
    covers: NDArray[np.bool_] | None = None


def tested(
    test: Mapping[str, Any], drawn: NDArray[np.int64], population: Population, rng: np.random.Generator
) -> Answers:
    """A test, as the module says, of each test set.

    Parameters
    ----------
    test : mapping
    drawn : ndarray of int64, shape (m, 8)
        The test sets, which come from `population`.
    population : Population
    rng : numpy.random.Generator
        For a test that draws.

    Raises
    ------
    ValueError
        If an option is not valid.
    """
    options = dict(test)
    name = options.pop("test")
    if name == "bootstrap":
        return _bootstrapped(drawn, population, rng, options)
    pvalue = _PVALUES[name]
    distinct, which = np.unique(drawn, axis=0, return_inverse=True)  # equal test sets are tested once
    found = [pvalue(JointOutcomes(*counts), **options) for counts in distinct.tolist()]
    return Answers(np.array(found, dtype=np.float64)[which.ravel()])


def _mcnemar(joint: JointOutcomes, **options: Any) -> float:
    return mcnemar_test(*joint.discordant, **options).pvalue


def _proportion(joint: JointOutcomes, **options: Any) -> float:
    return proportion_test(joint, **options).pvalue


def _dcf(joint: JointOutcomes, **options: Any) -> float:
    if not joint.positives or not joint.negatives:
        return 1.0  # a test set without rows of one class says nothing
    return dcf_test(joint, **options).pvalue


_PVALUES: dict[str, Callable[..., float]] = {"mcnemar": _mcnemar, "proportion": _proportion, "dcf": _dcf}


def _bootstrapped(
    drawn: NDArray[np.int64], population: Population, rng: np.random.Generator, options: Mapping[str, Any]
) -> Answers:
    truth = population.difference(options["measure"])
    results = [bootstrap_test(JointOutcomes(*counts), rng=rng, **options) for counts in drawn.tolist()]
    covers = [result.interval.low <= truth <= result.interval.high for result in results]
    return Answers(np.array([result.pvalue for result in results]), np.array(covers, dtype=np.bool_))


def needs_classes(test: Mapping[str, Any]) -> bool:
    """Whether a test needs rows of both classes, not only which answers are right."""
    return test["test"] == "dcf" or test.get("measure", "accuracy") not in ("accuracy", "error")


def measure_of(test: Mapping[str, Any]) -> Measure:
    """The measure in which a test compares the two classifiers."""
    if test["test"] == "dcf":
        return as_measure("dcf", **{key: test[key] for key in ("cost_fn", "cost_fp", "prior")})
    return as_measure(test.get("measure", "accuracy"))


def advantage(test: Mapping[str, Any], drawn: NDArray[np.int64]) -> NDArray[np.float64]:
    """By how much B is better than A on each test set, in the measure of a test."""
    measure = measure_of(test)
    found = evaluate(JointOutcomes(e1=1), measure, drawn.astype(np.float64)).differences
    return found if measure.greater_is_better else -found


def confidence(test: Mapping[str, Any], joint: JointOutcomes, rng: np.random.Generator) -> float:
    """How sure a test is, on one test set, that the classifier which is better on it is better in truth; B in a tie.

    The bootstrap says with which probability (eq. (13) of Keller, Mariethoz and Bengio); any other test stands for one
    minus its p-value against that one side.
    """
    better = float(advantage(test, np.array([joint.counts]))[0])
    options = {key: value for key, value in test.items() if key not in ("test", "alternative")}
    if test["test"] == "bootstrap":
        return bootstrap_test(joint if better >= 0 else joint.swapped(), rng=rng, **options).probability
    return 1 - _PVALUES[test["test"]](joint, alternative="less" if better >= 0 else "greater", **options)


def null_holds(population: Population, test: Mapping[str, Any]) -> bool:
    """Whether a test's null hypothesis is true in a population."""
    return population.swapped or population.difference(measure_of(test)) == 0


def exact_rate(population: Population, n: int, test: Mapping[str, Any], alpha: float) -> float | None:
    """How often a test rejects on test sets of n rows, exactly; None where that is no sum over two counts."""
    options = dict(test)
    if options.pop("test") != "mcnemar":
        return None
    only_a, only_b = population.discordant
    if not population.endless:
        rows = (int(only_a), int(only_b), int(sum(population.outcomes)))
        return finite_power(n, *rows, swapped=population.swapped, alpha=alpha, **options)
    if population.swapped:
        only_a = only_b = (only_a + only_b) / 2
    return power(n, only_a, only_b, alpha=alpha, **options)
