"""Scores of two models, ordered in time, with autocorrelated differences, and tests of equal means."""

import math
from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from scipy.signal import lfilter

from sigstats._common.validation import FloatArray
from sigstats.comparison.compare import compare_pair
from sigstats.comparison.paired_predictions import pair_arrays
from sigstats.comparison.rule import ComparisonRule
from sigstats.scores.mean_score import mean_score_test

from ..work import AppliedTest, Described
from .tests import Answers, call_each

OfOrder: TypeAlias = Literal["ordered", "independent", "compare"]


def _pvalue(method: OfOrder, a: FloatArray, b: FloatArray) -> float:
    """Return the two-sided p-value of equal mean scores."""
    time, none = np.arange(len(a)), np.full(len(a), "")
    if method != "compare":
        return mean_score_test(a, b, order=time if method == "ordered" else None).pvalue
    rows = pair_arrays(none, none, none.copy(), scores=(a, b), order=time, listed=[""])
    return compare_pair(rows, ComparisonRule(), ["mean-score"]).rows[0].two_sided_pvalue or 0.0


class Series(Described):
    """A stationary series of normal differences with variance 1."""

    TEST: ClassVar[str] = "time-series"
    ABOUT: ClassVar[str] = "whether the mean scores are equal"

    #: Autocorrelation of neighbouring rows. The autocorrelation of rows k apart is its k-th power.
    correlation: float
    #: Difference between the mean scores, B - A.
    difference: float = 0.0

    def null_holds(self, test: AppliedTest) -> bool:  # noqa: ARG002
        """Return True if the mean scores are equal."""
        return self.difference == 0

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw the scores of A and of B in n rows, as an array of shape (2, n)."""
        noise = rng.standard_normal((2, n)) / math.sqrt(2)
        noise[:, 1:] *= math.sqrt(1 - self.correlation**2)
        scores: FloatArray = np.asarray(lfilter([1.0], [1.0, -self.correlation], noise))
        scores[1] += self.difference
        return scores

    def run_test(self, test: AppliedTest, sets: Iterable[FloatArray], rng: np.random.Generator) -> Answers:  # noqa: ARG002
        """Return the p-values of all test sets."""
        items, problem = call_each(partial(_pvalue, test.options["method"], *scores) for scores in sets)
        return Answers(np.array(items, np.float64), problem=problem)

    def rows_of(self, scores: FloatArray) -> dict[str, Any]:
        """Return the rows of one test set."""
        return {"time": np.arange(1, scores.shape[1] + 1), "score_a": scores[0], "score_b": scores[1]}
