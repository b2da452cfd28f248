"""Populations of a few kinds of rows, and the interval of a comparison of two models on their test sets.

A kind of row is given by its true label, the outputs of A and B, and its frequency. A single line can therefore
describe a rare disaster, a rare class or a group of rows that is lost as a whole, for any measure. The interval is the
one that `sigstats.compare` reports, or the usual one of the literature.

When not to use: for the eight joint outcomes of two classes, which need no rows (`population`).
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sigstats._common.class_spelling import is_finite_number
from sigstats.bootstrap.bootstrap_test import bootstrap_test
from sigstats.comparison.compare import compare_pair
from sigstats.comparison.measure_names import is_of_scores
from sigstats.comparison.paired_predictions import PairedPredictions, pair_arrays
from sigstats.comparison.rule import ComparisonRule
from sigstats.joint.events import JointEvents
from sigstats.joint.outcomes import JointOutcomes
from sigstats.measures.table import MEASURES, refers_to_one_class
from sigstats.scores.auc import auc_test
from sigstats.scores.mean_score import mean_score_test

from ..work import AppliedTest, Described, Estimate

#: The positive class.
_POSITIVE = "1"


def _is_share(text: str) -> bool:
    return is_finite_number(text) and 0 <= float(text) <= 1


def _compare(rows: PairedPredictions, measure: str, rule: ComparisonRule) -> Any:
    """Return the row of the comparison of B (the candidate) with A (the baseline)."""
    positive = _POSITIVE if refers_to_one_class(measure) else None
    return compare_pair(rows, rule, [measure], positive=positive).rows[0]


def _by_compare(rows: PairedPredictions, measure: str, options: Mapping[str, Any], seed: int) -> Estimate:
    """Return the interval that `sigstats.compare` reports."""
    rule = ComparisonRule(
        confidence_level=options["confidence"], n_resamples=options["resamples"], rng=seed, smallest_slice=1
    )
    row = _compare(rows, measure, rule)
    if row.low is None or row.difference is None:
        raise ValueError(row.note)
    return Estimate(row.difference, row.low, row.high, row.standard_error or math.nan, False)


def _usual(rows: PairedPredictions, measure: str, options: Mapping[str, Any], seed: int) -> Estimate:
    """Return Student's interval of a mean (Liang and Zeger's for groups), DeLong's of an area, or the bootstrap's."""
    test, level = MEASURES[measure].test, options["confidence"]
    predicted = rows.predicted
    assert predicted is not None
    label, a, b = (np.array(rows.classes)[codes] for codes in (predicted.label, predicted.a, predicted.b))
    scores = None if rows.scored is None else rows.scored.scores
    if scores is not None and test == "areas":
        of_a, of_b = scores
        area = auc_test(label == _POSITIVE, of_b, of_a, groups=rows.units.group, confidence_level=level)
        low, high = area.confidence_interval
        return Estimate(area.estimate, low, high, area.standard_error, False)
    if test in ("means", "mcnemar"):
        of_a, of_b = _values_of_rows(measure, label, (a, b), scores)
        mean = mean_score_test(of_b, of_a, groups=rows.units.group, confidence_level=level)
        low, high = mean.confidence_interval
        return Estimate(mean.estimate, low, high, mean.standard_error, False)
    joint: JointOutcomes | JointEvents
    if refers_to_one_class(measure):
        joint = JointOutcomes.from_predictions(label, a, b, positive=_POSITIVE)
    else:
        joint = JointEvents.from_predictions(label, a, b)
    result = bootstrap_test(joint, measure=measure, n_resamples=options["resamples"], confidence_level=level, rng=seed)
    low, high = -result.confidence_interval  # of B - A
    return Estimate(-result.estimate, low, high, result.standard_error, False)


def _values_of_rows(measure: str, label: Any, outputs: tuple[Any, Any], scores: tuple[Any, Any] | None) -> list[Any]:
    """Return the value of each row for A and for B, by a measure that is the mean of such values."""
    of_rows = MEASURES[measure].of_rows
    if of_rows is None:
        return [(output == label) * 1.0 for output in outputs]
    if scores is None:
        return [of_rows(label.astype(np.float64), output.astype(np.float64)) for output in outputs]
    return [of_rows(label == _POSITIVE, score) for score in scores]


class Kinds(Described):
    """A population of a few kinds of rows. The tuples have one value per kind."""

    TEST: ClassVar[str] = "difference-interval"

    shares: tuple[float, ...]
    labels: tuple[str, ...]
    a: tuple[str, ...]
    b: tuple[str, ...]
    #: Number of rows in a group, all of one kind, and for each kind a factor by which its groups are larger.
    group: int = 1
    times: tuple[int, ...] = ()

    def fits(self, test: AppliedTest) -> bool:
        """Return True if the measure and the method of its interval can be applied to rows of these kinds."""
        measure, labels, outputs = test.compared, {*self.labels}, {*self.a, *self.b}
        spec, of_one_class, grouped = MEASURES[measure], refers_to_one_class(measure), self._sizes.max() > 1
        if test.options["method"] == "usual" and (spec.of_weights or (grouped and spec.test == "counts")):
            return False
        if is_of_scores(measure):
            return all(map(_is_share, outputs)) and labels == ({""} if spec.needs == "marks" else {"0", _POSITIVE})
        if of_one_class:
            return labels == {"0", _POSITIVE} and outputs <= labels
        unknown = outputs - labels
        return len(labels) > 1 and not (unknown and (spec.needs == "numbers" or any(map(_is_share, unknown))))

    def draw(self, n: int, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """Draw the number of groups of each kind in `size` test sets of n rows (about n if groups differ in size)."""
        groups = int(n / float(self._sizes @ np.array(self.shares)) + 1e-6)
        return rng.multinomial(groups, self.shares, size).astype(np.int64)

    @property
    def _sizes(self) -> NDArray[np.int64]:
        """The number of rows in a group of each kind."""
        return self.group * np.array(self.times or (1,) * len(self.shares), np.int64)

    def truth(self, measure: str) -> float:
        """Return the difference in the measure, B - A, over all rows."""
        shares = np.array(self.shares) * (self._sizes // self.group)  # of the rows; the field has those of the groups
        if measure != "auc":
            kinds = {name: np.array(getattr(self, name)) for name in ("labels", "a", "b")}
            rows = self._paired(kinds, measure, weights=shares)
            return float(_compare(rows, measure, ComparisonRule(n_resamples=99, smallest_slice=1)).difference)
        positive = np.array(self.labels) == _POSITIVE
        weights = np.outer(shares[positive], shares[~positive])
        a, b = (np.array(side, dtype=np.float64) for side in (self.a, self.b))
        gained = [np.sign(np.subtract.outer(side[positive], side[~positive])) for side in (a, b)]
        return float((weights * (gained[1] - gained[0])).sum() / (2 * weights.sum()))

    def run_interval(self, test: AppliedTest, counts: Any, rng: np.random.Generator) -> Estimate:
        """Return the interval on one test set, or the whole range of the difference if the method refuses the set."""
        options, measure, seed = test.options, test.compared, int(rng.integers(2**31))
        drawn = self.rows_of(counts)
        try:
            rows = self._paired(drawn, measure, groups=drawn["group"] if self._sizes.max() > 1 else None)
            interval = _usual if options["method"] == "usual" else _by_compare
            return interval(rows, measure, options, seed)
        except ValueError:
            return Estimate(math.nan, -1.0, 1.0, math.nan, True)

    def rows_of(self, counts: Any) -> dict[str, Any]:
        """Return the columns of the rows of one test set: true label, outputs of A and B, and group."""
        groups = np.repeat(np.arange(len(counts)), counts)
        sizes = self._sizes[groups]
        kind = np.repeat(groups, sizes)
        columns = {name: np.array(getattr(self, name))[kind] for name in ("labels", "a", "b")}
        return columns | {"group": np.repeat(np.arange(len(groups)), sizes)}

    def _paired(
        self, columns: Mapping[str, Any], measure: str, *, groups: Any = None, weights: Any = None
    ) -> PairedPredictions:
        """Return rows in the form that a comparison by the measure takes."""
        label, a, b = columns["labels"], columns["a"], columns["b"]
        if MEASURES[measure].needs == "numbers":
            numbers = [float(name) for name in self.labels]
            return pair_arrays(label, a, b, groups=groups, weights=weights, score_range=(min(numbers), max(numbers)))
        if not is_of_scores(measure):
            return pair_arrays(label, a, b, groups=groups, weights=weights)
        scores = a.astype(np.float64), b.astype(np.float64)
        # Kinds of marks have the empty label.
        pair = pair_arrays(label, label, label.copy(), scores=scores, groups=groups, weights=weights, listed=[""])
        return replace(pair, scored=pair.scored and replace(pair.scored, limits=(0.0, 1.0)))
