"""How each measure of a comparison is tested.

Accuracy by McNemar's exact test, and by its extension to groups of rows, the sign-flip test; areas under the curve by
DeLong's, means of marks and losses by Student's t, all other measures by the bootstrap of joint outcomes. Rows in
groups are tested as groups.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.validation import FloatArray, IntArray
from ..bootstrap.grouped import FEW_GROUPS, grouped_replicates
from ..bootstrap.replicates import bootstrap_replicates
from ..bootstrap.test import bootstrap_summary
from ..effects import accuracy_difference
from ..intervals import clopper_pearson
from ..joint.events import JointEvents
from ..mcnemar.power import detectable_difference
from ..mcnemar.test import mcnemar_test
from ..measures.table import MEASURES, PairedTest
from ..scores.auc import auc_test
from ..scores.mean_score import mean_score_test
from ..scores.result import ScoreResult
from ..sign_flips.test import sign_flip_test
from .paired_predictions import PairedPredictions
from .result import ComparisonRow
from .rule import ComparisonRule


@dataclass(frozen=True)
class _Part:
    """The rows of one slice; `positive` says which are of the class whose probability the scores are."""

    label: IntArray
    a: IntArray
    b: IntArray
    group: IntArray | None
    positive: NDArray[np.bool_]
    scores: tuple[FloatArray, FloatArray] | None


def uses_bootstrap(measure: str) -> bool:
    """Whether a measure is tested by a bootstrap."""
    return MEASURES[measure].test == "bootstrap"


def test_part(
    row: ComparisonRow,
    paired: PairedPredictions,
    where: IntArray,
    *,
    positive: int | None,
    rule: ComparisonRule,
    level: float,
) -> ComparisonRow:
    """The row with its measure on the rows `where`, tested; its p-value is not adjusted yet.

    `positive` is the code of the class whose probability the scores are; `level` is what one test has among all.
    """
    if row.n < rule.smallest_slice:
        return replace(row, note=f"too small to test: {row.n} of at least {rule.smallest_slice} rows")
    group = None if paired.group is None else paired.group[where]
    if group is not None and len(np.unique(group)) < 2:
        return replace(row, note="one group alone: nothing can be tested")
    label = paired.label[where]
    scores = None if paired.scores is None else (paired.scores[0][where], paired.scores[1][where])
    part = _Part(
        label, paired.a[where], paired.b[where], group, label == (-1 if positive is None else positive), scores
    )
    return _TESTS[MEASURES[row.measure].test](row, part, rule, level)


def _test_accuracy(row: ComparisonRow, part: _Part, rule: ComparisonRule, level: float) -> ComparisonRow:
    """The accuracy, by McNemar's exact test."""
    n, confidence = row.n, rule.confidence
    right_a, right_b = part.a == part.label, part.b == part.label
    counts = int(right_a.sum()), int(right_b.sum())
    intervals = [clopper_pearson(count, n, confidence_level=confidence) for count in counts]
    row = replace(
        row,
        baseline=counts[0] / n,
        candidate=counts[1] / n,
        baseline_interval=(intervals[0].low, intervals[0].high),
        candidate_interval=(intervals[1].low, intervals[1].high),
        difference=(counts[1] - counts[0]) / n,
    )
    if part.group is not None:
        return _test_accuracy_of_groups(row, right_a, right_b, part.group, rule)
    only_a, only_b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    interval = accuracy_difference(only_b, only_a, n, confidence_level=confidence).confidence_interval
    detectable = None
    if only_a + only_b:
        with contextlib.suppress(ValueError):  # so few rows that no drop is found often enough
            detectable = detectable_difference(n, (only_a + only_b) / n, alpha=level, alternative="greater")
    return replace(
        row,
        low=interval.low,
        high=interval.high,
        test="McNemar, exact",
        p_worse=mcnemar_test(only_a, only_b, alternative="greater").pvalue,
        p_differs=mcnemar_test(only_a, only_b).pvalue,
        detectable=detectable,
        note=f"only baseline right: {only_a:,}, only candidate right: {only_b:,}",
    )


def _test_accuracy_of_groups(
    row: ComparisonRow, right_a: NDArray[np.bool_], right_b: NDArray[np.bool_], group: IntArray, rule: ComparisonRule
) -> ComparisonRow:
    """The accuracy of rows in groups, by the sign-flip test of the groups' differences."""
    _, codes, sizes = np.unique(group, return_inverse=True, return_counts=True)
    ahead = np.zeros(len(sizes), dtype=np.int64)
    np.add.at(ahead, codes, right_b.astype(np.int64) - right_a)
    options: dict[str, Any] = {"sizes": sizes, "limit": 1.0, "confidence_level": rule.confidence}
    both = sign_flip_test(ahead.tolist(), **options)
    return replace(
        row,
        low=both.confidence_interval.low,
        high=both.confidence_interval.high,
        test=f"sign flips of {both.items} groups, exact",
        p_worse=sign_flip_test(ahead.tolist(), alternative="less", **options).pvalue,
        p_differs=both.pvalue,
        note=f"groups in which one model has more rows right: {both.differing} of {both.items}",
    )


def _test_area(row: ComparisonRow, part: _Part, rule: ComparisonRule, level: float) -> ComparisonRow:  # noqa: ARG001
    """The area under the ROC curve, by DeLong's test, or Obuchowski's for groups."""
    units = np.arange(row.n) if part.group is None else part.group
    if min(len(np.unique(units[part.positive])), len(np.unique(units[~part.positive]))) < 2:
        of = "" if part.group is None else ", of two groups each,"
        return replace(row, note=f"too few of one class to test: two positives and two negatives{of} are needed")
    assert part.scores is not None
    options: dict[str, Any] = {"groups": part.group, "confidence_level": rule.confidence}
    worse = auc_test(part.positive, *part.scores, alternative="greater", **options)
    return _with_scores(row, auc_test(part.positive, *part.scores, **options), worse)


def _test_mean(row: ComparisonRow, part: _Part, rule: ComparisonRule, level: float) -> ComparisonRow:  # noqa: ARG001
    """A mean of marks or losses, by Student's t of the differences."""
    of_rows = MEASURES[row.measure].of_rows
    assert of_rows is not None
    assert part.scores is not None
    values = [of_rows(part.positive, score) for score in part.scores]
    options: dict[str, Any] = {"groups": part.group, "confidence_level": rule.confidence}
    worse = mean_score_test(*values, alternative="greater", **options)
    return _with_scores(row, mean_score_test(*values, **options), worse)


def _with_scores(row: ComparisonRow, both: ScoreResult, worse: ScoreResult) -> ComparisonRow:
    """The row with the two-sided and the one-sided test of two areas or means."""
    return replace(
        row,
        baseline=both.value_a,
        candidate=both.value_b,
        baseline_interval=both.interval_a[:2],
        candidate_interval=both.interval_b[:2],
        difference=both.estimate,
        low=both.confidence_interval.low,
        high=both.confidence_interval.high,
        test=both.method,
        p_worse=worse.pvalue,
        p_differs=both.pvalue,
        note=both.reason,
    )


def _test_by_bootstrap(row: ComparisonRow, part: _Part, rule: ComparisonRule, level: float) -> ComparisonRow:  # noqa: ARG001
    """Any other measure of predictions: the bootstrap of joint outcomes, or of whole groups of them."""
    label, a, b, group = part.label, part.a, part.b, part.group
    if all((each == label[0]).all() for each in (label, a, b)):
        return replace(row, note="one class alone: nothing can be tested")
    groups = 0 if group is None else len(np.unique(group))
    few = f"only {groups} groups: the bootstrap wants {FEW_GROUPS} or more" if 0 < groups < FEW_GROUPS else ""
    options: dict[str, Any] = {"measure": row.measure}
    if group is None:
        events = JointEvents.from_predictions(label, a, b)
        replicates = bootstrap_replicates(events, row.measure, rng=rule.seed, size=rule.resamples)
    else:
        events, replicates = grouped_replicates(
            label, a, b, group, measure=row.measure, n_resamples=rule.resamples, rng=rule.seed
        )
        options["discordant_groups"] = len(np.unique(group[a != b]))
    options["undefined"] = int(replicates.undefined.sum())
    both = bootstrap_summary(events, replicates.differences, confidence_level=rule.confidence, **options)
    worse = bootstrap_summary(events, replicates.differences, alternative="greater", **options)
    tails = [(1 - rule.confidence) / 2, (1 + rule.confidence) / 2]
    intervals = [tuple(np.quantile(values, tails).tolist()) for values in (replicates.a, replicates.b)]
    return replace(
        row,
        baseline=both.value_a,
        candidate=both.value_b,
        baseline_interval=intervals[0],
        candidate_interval=intervals[1],
        difference=both.estimate,
        low=both.confidence_interval.low,
        high=both.confidence_interval.high,
        test="bootstrap" if group is None else f"bootstrap of {groups} groups",
        p_worse=worse.pvalue,
        p_differs=both.pvalue,
        note="; ".join(filter(None, [both.reason, few])),
    )


_TESTS: dict[PairedTest, Callable[[ComparisonRow, _Part, ComparisonRule, float], ComparisonRow]] = {
    "mcnemar": _test_accuracy,
    "bootstrap": _test_by_bootstrap,
    "delong": _test_area,
    "student-t": _test_mean,
}
