"""How each measure of a comparison is tested.

Accuracy by McNemar's exact test, areas under the curve by DeLong's, means of marks and losses by Student's t, all other
measures by the bootstrap of joint outcomes; rows in groups as groups.
"""

import contextlib
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats._common.validation import Alternative
from sigstats.bootstrap.grouped import FEW_GROUPS, grouped_accuracy_test, grouped_replicates
from sigstats.bootstrap.replicates import bootstrap_replicates
from sigstats.bootstrap.test import bootstrap_summary
from sigstats.effects import accuracy_difference
from sigstats.intervals import clopper_pearson
from sigstats.joint.events import JointEvents
from sigstats.mcnemar.power import detectable_difference
from sigstats.mcnemar.test import mcnemar_test
from sigstats.measures.table import MEASURES
from sigstats.scores.auc import auc_test
from sigstats.scores.mean_score import mean_score_test
from sigstats.scores.result import ScoreResult
from sigstats.tasks.predictions import PairedPredictions

from .rule import SCORE_MEASURES, Row, Rule


def measured(
    joined: PairedPredictions, where: NDArray[np.bool_], row: Row, rule: Rule, positive: str | None, level: float
) -> Row:
    """The row with its measure on the rows `where`, tested; its p-value is not adjusted yet.

    `level` is what one test has among all of them.
    """
    if row.n < rule.smallest_slice:
        return replace(row, note=f"too small to test: {row.n} of at least {rule.smallest_slice} rows")
    label, a, b = joined.label[where], joined.a[where], joined.b[where]
    group = None if joined.group is None else joined.group[where]
    if group is not None and len(np.unique(group)) < 2:
        return replace(row, note="one group alone: nothing can be tested")
    if row.measure in SCORE_MEASURES:
        assert joined.scores is not None
        truth = label == (joined.classes.index(positive) if positive is not None else -1)
        return _scored(row, truth, (joined.scores[0][where], joined.scores[1][where]), group, rule)
    if row.measure == "accuracy":
        return _accuracy(row, a == label, b == label, group, rule, level)
    return _bootstrapped(row, label, a, b, group, rule)


def _scored(row: Row, truth: Any, scores: Any, group: Any, rule: Rule) -> Row:
    """A measure of scores: the test of two areas, or of two means of a loss or mark."""
    of_rows = MEASURES[row.measure].of_rows
    options: dict[str, Any] = {"groups": group, "confidence": rule.confidence}

    def test(alternative: Alternative) -> ScoreResult:
        if of_rows is None:
            return auc_test(truth, *scores, alternative=alternative, **options)
        return mean_score_test(*(of_rows(truth, one) for one in scores), alternative=alternative, **options)

    if of_rows is None:
        units = np.arange(len(truth)) if group is None else group
        if min(len(np.unique(units[truth])), len(np.unique(units[~truth]))) < 2:
            of = "" if group is None else ", of two groups each,"
            return replace(row, note=f"too few of one class to test: two positives and two negatives{of} are needed")
    both = test("two-sided")
    return replace(
        row,
        baseline=both.value_a,
        candidate=both.value_b,
        baseline_interval=both.interval_a[:2],
        candidate_interval=both.interval_b[:2],
        difference=both.estimate,
        low=both.interval.low,
        high=both.interval.high,
        test=both.method,
        p_worse=test("greater").pvalue,
        p_differs=both.pvalue,
        note=both.reason,
    )


def _accuracy(row: Row, right_a: Any, right_b: Any, group: Any, rule: Rule, level: float) -> Row:
    n, confidence = row.n, rule.confidence
    right = [int(flags.sum()) for flags in (right_a, right_b)]
    only_a, only_b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    intervals = [clopper_pearson(count, n, confidence=confidence) for count in right]
    row = replace(
        row,
        baseline=right[0] / n,
        candidate=right[1] / n,
        baseline_interval=(intervals[0].low, intervals[0].high),
        candidate_interval=(intervals[1].low, intervals[1].high),
        difference=(right[1] - right[0]) / n,
    )
    if group is not None:
        options: dict[str, Any] = {"resamples": rule.resamples, "confidence": confidence, "rng": rule.seed}
        worse = grouped_accuracy_test(right_a, right_b, group, alternative="greater", **options)
        both = grouped_accuracy_test(right_a, right_b, group, **options)
        return replace(
            row,
            low=both.interval.low,
            high=both.interval.high,
            test=f"bootstrap of {both.groups} groups",
            p_worse=worse.pvalue,
            p_differs=both.pvalue,
            note="; ".join(filter(None, ["McNemar's test does not apply to rows in groups", both.reason])),
        )
    interval = accuracy_difference(only_b, only_a, n, confidence=confidence).interval
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


def _bootstrapped(row: Row, label: Any, a: Any, b: Any, group: Any, rule: Rule) -> Row:
    """Any other measure of predictions: the bootstrap of joint outcomes, or of whole groups of them."""
    if all((each == label[0]).all() for each in (label, a, b)):
        return replace(row, note="one class alone: nothing can be tested")
    groups = 0 if group is None else len(np.unique(group))
    few = f"only {groups} groups: the bootstrap wants {FEW_GROUPS} or more" if 0 < groups < FEW_GROUPS else ""
    if group is None:
        events = JointEvents.from_predictions(label, a, b)
        drawn = bootstrap_replicates(events, row.measure, rng=rule.seed, size=rule.resamples)
    else:
        events, drawn = grouped_replicates(
            label, a, b, group, measure=row.measure, resamples=rule.resamples, rng=rule.seed
        )
    options: dict[str, Any] = {"measure": row.measure, "undefined": int(drawn.undefined.sum())}
    if group is not None:
        options["discordant_groups"] = len(np.unique(group[a != b]))
    both = bootstrap_summary(events, drawn.differences, confidence=rule.confidence, **options)
    worse = bootstrap_summary(events, drawn.differences, alternative="greater", **options)
    tails = [(1 - rule.confidence) / 2, (1 + rule.confidence) / 2]
    intervals = [tuple(np.quantile(values, tails).tolist()) for values in (drawn.a, drawn.b)]
    return replace(
        row,
        baseline=both.value_a,
        candidate=both.value_b,
        baseline_interval=intervals[0],
        candidate_interval=intervals[1],
        difference=both.estimate,
        low=both.interval.low,
        high=both.interval.high,
        test="bootstrap" if group is None else f"bootstrap of {groups} groups",
        p_worse=worse.pvalue,
        p_differs=both.pvalue,
        note="; ".join(filter(None, [both.reason, few])),
    )
