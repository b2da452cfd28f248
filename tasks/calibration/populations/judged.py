"""Rows that a judge rates, some with human labels, and intervals of the difference by human labels.

The difficulty of an item applies to all answers to it, and is mostly the same for both models. The judge accepts a
right answer with a probability equal to its sensitivity, and a wrong answer with one minus its specificity. If an item
has several answers, the judge errs in the same way on equal answers. On some items B may give the same answer as A, so
that people and the judge treat both answers alike.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from scipy.special import ndtri

from sigstats._common.validation import FloatArray, IntArray
from sigstats.unseen_row.judged import rows_of_two

from ..work import AppliedTest, Described, Estimate

#: The share of items that are equally difficult for both models.
_ALIKE = 0.6


@dataclass(frozen=True)
class Sample:
    """All rows of a test set. The first `n` have human labels."""

    #: 1 for right and 0 for wrong, or marks from 0 to 1, of A and of B; ndarrays of float64, shape (2, rows).
    judge: FloatArray
    people: FloatArray
    #: The number of labels.
    n: int
    #: The item of each row, or None if every row has a different item.
    items: IntArray | None


def _interval(options: Mapping[str, Any], sample: Sample, rng: np.random.Generator, *, judge: bool = True) -> Estimate:
    """Return the interval of `sigstats.judged_test`, from the labels only if `judge` is false."""
    a, b = sample.judge if judge else np.zeros_like(sample.judge)
    of_a, of_b = np.where(np.arange(len(a)) < sample.n, sample.people, np.nan)
    data = rows_of_two((b, a), (of_b, of_a), 1.0, sample.items)
    law, share = data.law(options["resamples"], rng), (1 - options["confidence"]) / 2
    return Estimate(data.estimate, law.low(share), law.high(share), float(law.against_a.std()), undefined=False)


def _normal(options: Mapping[str, Any], estimate: float, error: float) -> Estimate:
    away = float(-ndtri((1 - options["confidence"]) / 2)) * error
    return Estimate(estimate, max(-1.0, estimate - away), min(1.0, estimate + away), error, undefined=False)


def _ppi(options: Mapping[str, Any], sample: Sample, rng: np.random.Generator) -> Estimate:  # noqa: ARG001
    """Return the interval of PPI++ (Angelopoulos, Duchi and Zrnic 2023) with lambda from 0 to 1."""
    n, verdict = sample.n, sample.judge[1] - sample.judge[0]
    seen, rest = (sample.people[1] - sample.people[0])[:n], verdict[n:]
    spread, few = verdict.var(), n / max(len(rest), 1)
    weight = min(max(float(np.cov(verdict[:n], seen, bias=True)[0, 1] / (spread * (1 + few))), 0), 1) if spread else 0
    if not len(rest):
        return _normal(options, float(seen.mean()), float(seen.std() / math.sqrt(n)))
    residual = seen - weight * verdict[:n]
    error = math.sqrt(residual.var() / n + weight**2 * rest.var() / len(rest))
    return _normal(options, float(weight * rest.mean() + residual.mean()), error)


def _rogan_gladen(options: Mapping[str, Any], sample: Sample, rng: np.random.Generator) -> Estimate:  # noqa: ARG001
    """Return the interval of Rogan and Gladen's (1978) corrected accuracies, with errors assumed to be independent.

    The interval is the whole range if the judge's verdicts on a model carry no information, or if no label shows how
    often the judge errs.
    """
    accuracies, variances = [], []
    for called, truth in zip(sample.judge, sample.people[:, : sample.n], strict=True):
        positive, negative = called[: sample.n][truth == 1], 1 - called[: sample.n][truth == 0]
        sensitivity, specificity = (float(value.mean()) if len(value) else 0.5 for value in (positive, negative))
        share, slope = float(called.mean()), sensitivity + specificity - 1
        if slope <= 0 or not len(positive) or not len(negative):
            return Estimate(0.0, -1.0, 1.0, 1.0, undefined=True)
        accuracy = (share + specificity - 1) / slope
        variance = share * (1 - share) / len(called)
        variance += accuracy**2 * sensitivity * (1 - sensitivity) / len(positive)
        variance += (1 - accuracy) ** 2 * specificity * (1 - specificity) / len(negative)
        accuracies.append(accuracy)
        variances.append(variance / slope**2)
    return _normal(options, accuracies[1] - accuracies[0], math.sqrt(sum(variances)))


def _judge(options: Mapping[str, Any], sample: Sample, rng: np.random.Generator) -> Estimate:  # noqa: ARG001
    """Return the interval of the difference by the judge's verdicts only."""
    verdict = sample.judge[1] - sample.judge[0]
    return _normal(options, float(verdict.mean()), float(verdict.std() / math.sqrt(len(verdict))))


_METHODS: dict[str, Callable[..., Estimate]] = {
    "judged-test": _interval,
    "labels-alone": partial(_interval, judge=False),
    "ppi++": _ppi,
    "rogan-gladen": _rogan_gladen,
    "judge-alone": _judge,
}


class JudgedRows(Described):
    """A population of rows that a judge rates and people label in part."""

    TEST: ClassVar[str] = "judged-interval"
    UNIT: ClassVar[str] = "label"

    @property
    def in_words(self) -> str:
        """Description of the rows for reports."""
        return f"{self.rows:,} rows that a judge rates; a size is the number of rows that people label"

    #: Number of rows that the judge rates.
    rows: int
    #: For A and B: the mean human label, and the sensitivity and specificity of the judge.
    accuracy: tuple[float, ...]
    sensitivity: tuple[float, ...]
    specificity: tuple[float, ...]
    #: Number of rows per item.
    answers: int = 1
    #: Highest mark.
    marks: int = 1
    #: Share of items to which both models give the same answer.
    same: float = 0.0

    def fits(self, test: AppliedTest) -> bool:
        """Return True if the method can be applied to these rows."""
        return self.marks == 1 or test.options["method"] != "rogan-gladen"

    def truth(self, measure: str) -> float:  # noqa: ARG002
        """Return the true difference B - A by human labels."""
        return (1 - self.same) * (self.accuracy[1] - self.accuracy[0])

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        """Draw all rows of a test set, n of them with labels."""
        rows, steps = self.rows, self.marks
        item = np.arange(rows) // self.answers
        count = int(item[-1]) + 1
        right, sensitivity, specificity = (
            np.array([rates]).T for rates in (self.accuracy, self.sensitivity, self.specificity)
        )
        luck = np.where(rng.random(count) < _ALIKE, rng.random(count), rng.random((2, count)))
        # Uniform luck becomes the expected mark of an item, from 0 to 1 with the accuracy as its mean.
        ease = np.clip((luck - 1 + right) / (2 * np.minimum(right, 1 - right)) + 0.5, 0, 1)[:, item]
        # Adding a uniform number rounds to a whole mark at random, with the same mean.
        people = np.floor(steps * ease + rng.random((2, rows))) / steps
        passed = people * sensitivity + (1 - people) * (1 - specificity)
        judge = np.floor(steps * passed + rng.random((2, count))[:, item]) / steps
        if self.same:
            same = (rng.random(count) < self.same)[item]
            judge[1, same], people[1, same] = judge[0, same], people[0, same]
        return Sample(judge, people, n, item if self.answers > 1 else None)

    def run_interval(self, test: AppliedTest, sample: Sample, rng: np.random.Generator) -> Estimate:
        """Return the interval of a method on one sample. `rng` is for methods that draw random numbers."""
        return _METHODS[test.options["method"]](test.options, sample, rng)

    def rows_of(self, sample: Sample) -> dict[str, Any]:
        """Return the columns of the rows of one sample. Labels may be missing."""
        labelled = np.arange(sample.judge.shape[1]) < sample.n
        columns: dict[str, Any] = {} if sample.items is None else {"item": sample.items}
        for side, judge, people in zip("ab", sample.judge, sample.people, strict=True):
            columns |= {f"judge_{side}": judge, f"label_{side}": pa.array(people, mask=~labelled)}
        return columns
