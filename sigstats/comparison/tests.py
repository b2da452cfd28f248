"""How each measure of a comparison is tested.

Accuracy by McNemar's exact test, and by its extension to groups of rows, the sign-flip test; areas under the curve by
DeLong's, means of marks and losses by `mean_tests`, all other measures by the bootstrap of joint outcomes, or by all
exchanges of the models where they differ on few rows. Rows in groups are tested as groups.
"""

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._common.validation import IntArray
from ..bootstrap.grouped import FEW_GROUPS, grouped_replicates
from ..bootstrap.replicates import bootstrap_replicates
from ..bootstrap.test import FEW_DISAGREEMENTS, bootstrap_summary
from ..effects import accuracy_difference
from ..intervals import Interval, clopper_pearson
from ..joint.events import JointEvents
from ..joint.outcomes import JointOutcomes
from ..mcnemar.sample_size import detectable_difference
from ..mcnemar.test import mcnemar_test
from ..measures.measure import as_measure
from ..measures.table import MEASURES, PairedTest, refers_to_one_class
from ..ranking.intervals import share_interval
from ..scores.auc import auc_test
from .exchange import exchange_test
from .mean_tests import by_group, test_averages, test_mean, test_pass_at, with_sign_flips
from .part import Part
from .rows import ComparisonRow
from .rule import ComparisonRule
from .score_rows import with_scores

_MCNEMAR = "McNemar, exact"


def uses_bootstrap(measure: str) -> bool:
    """Whether a measure is tested by a bootstrap."""
    return MEASURES[measure].test == "bootstrap"


def test_part(
    row: ComparisonRow,
    everything: Part,
    where: Callable[[], IntArray],
    outcomes: Sequence[int] | None,
    *,
    rule: ComparisonRule,
) -> ComparisonRow:
    """The row with its measure on the rows that `where` finds, tested; its p-value is not adjusted yet.

    `outcomes` counts the rows that neither, the candidate, the baseline and both got right, where that is known.
    """
    size, what = (row.n, "rows") if row.items is None else (row.items, "items")
    if size < rule.smallest_slice:
        return replace(row, note=f"too small to test: {size} of at least {rule.smallest_slice} {what}")
    if outcomes is not None and row.measure == "accuracy" and everything.group is None and everything.right is None:
        row = _test_counts(row, outcomes, rule)
        if not row.low == row.high == 0:
            return row
    part = everything if row.n == len(everything.label) else everything.rows(where())
    if part.group is not None and len(np.unique(part.group)) < 2:
        return replace(row, note="one group alone: nothing can be tested")
    spec = MEASURES[row.measure]
    test = test_pass_at if spec.answers else _TESTS[spec.test]
    row = test(row, part, rule)
    return _unseen(row, part, rule) if row.low == row.high == 0 else row


def _unseen(row: ComparisonRow, part: Part, rule: ComparisonRule) -> ComparisonRow:
    """The row where nothing differs: its interval is what so many rows allow.

    With none of m independent units seen to differ, a share of up to Clopper and Pearson's limit of 0 in m may; m is
    that of the rarest class, which decides areas and averages over classes. A measure without a bound has no interval.
    """
    row = replace(row, p_worse=1.0, p_differs=1.0, standard_error=None, differing=0)
    silent = f"no difference in {row.n:,} rows"
    if MEASURES[row.measure].unit == "own":
        return replace(row, low=None, high=None, note=f"{silent}, and none is excluded: no bound of them is known")
    unit = np.arange(row.n) if part.group is None else part.group
    sides = part.positive if MEASURES[row.measure].test == "delong" else part.label
    rarest = min(len(np.unique(unit[sides == side])) for side in np.unique(sides))
    most = clopper_pearson(0, rarest, confidence_level=rule.confidence).high
    return replace(row, low=-most, high=most, note="; ".join(filter(None, [silent, row.note])))


def _test_accuracy(row: ComparisonRow, part: Part, rule: ComparisonRule) -> ComparisonRow:
    """The accuracy of groups, by the sign flips of their differences, or of averages of items."""
    if part.right is not None:
        return test_averages(row, part, part.right, 1.0, rule)
    right_a, right_b = part.a == part.label, part.b == part.label
    if part.group is None:  # groups of one row each
        outcomes = np.bincount(right_a * 2 + right_b, minlength=4).tolist()
        return _test_counts(row, outcomes, rule)
    codes = np.unique(part.group, return_inverse=True)[1]
    intervals = [share_interval(right, codes, rule.confidence) for right in (right_a, right_b)]
    row = _with_accuracies(row, (int(right_a.sum()), int(right_b.sum())), intervals)
    sums, sizes = by_group(right_b.astype(np.float64) - right_a, part.group)
    return with_sign_flips(row, sums, sizes, 1.0, rule, "groups")


def _with_accuracies(row: ComparisonRow, right: tuple[int, int], intervals: Sequence[Interval]) -> ComparisonRow:
    return replace(
        row,
        baseline=right[0] / row.n,
        candidate=right[1] / row.n,
        baseline_interval=(intervals[0].low, intervals[0].high),
        candidate_interval=(intervals[1].low, intervals[1].high),
        difference=(right[1] - right[0]) / row.n,
    )


def _test_counts(row: ComparisonRow, outcomes: Sequence[int], rule: ComparisonRule) -> ComparisonRow:
    """The accuracy, by McNemar's exact test."""
    _, only_b, only_a, both = outcomes
    n, confidence, right = row.n, rule.confidence, (both + only_a, both + only_b)
    row = _with_accuracies(row, right, [clopper_pearson(each, n, confidence_level=confidence) for each in right])
    interval = accuracy_difference(only_b, only_a, n, confidence_level=confidence).confidence_interval
    return replace(
        row,
        low=interval.low,
        high=interval.high,
        test=_MCNEMAR,
        p_worse=mcnemar_test(only_a, only_b, alternative="greater").pvalue,
        p_differs=mcnemar_test(only_a, only_b).pvalue,
        standard_error=_standard_error(only_a, only_b, n),
        differing=only_a + only_b,
        note=f"only baseline right: {only_a:,}, only candidate right: {only_b:,}",
    )


def with_detectable(row: ComparisonRow, level: float) -> ComparisonRow:
    """The row with the smallest drop of accuracy that so many rows show with power 0.8, by McNemar."""
    if row.test != _MCNEMAR or not row.differing:
        return row
    with contextlib.suppress(ValueError):  # so few rows that no drop is found often enough
        drop = detectable_difference(row.n, row.differing / row.n, alpha=level, alternative="greater")
        return replace(row, detectable=drop)
    return row


def _standard_error(only_a: int, only_b: int, n: int) -> float | None:
    """That of a difference of accuracies, of the sample variance of the rows' differences."""
    return math.sqrt((only_a + only_b - (only_b - only_a) ** 2 / n) / (n * (n - 1))) if n > 1 else None


def _test_area(row: ComparisonRow, part: Part, rule: ComparisonRule) -> ComparisonRow:
    """The area under the ROC curve, by DeLong's test, or Obuchowski's for groups with Student's t for their number."""
    units = np.arange(row.n) if part.group is None else part.group
    if min(len(np.unique(units[part.positive])), len(np.unique(units[~part.positive]))) < 2:
        of = "" if part.group is None else ", of two groups each,"
        return replace(row, note=f"too few of one class to test: two positives and two negatives{of} are needed")
    assert part.scores is not None
    options: dict[str, Any] = {"groups": part.group, "confidence_level": rule.confidence}
    found = auc_test(part.positive, *part.scores, method="asymptotic" if part.group is None else "t", **options)
    differing = len(np.unique(units[part.scores[0] != part.scores[1]]))
    return replace(with_scores(row, found), differing=differing)


def _test_by_bootstrap(row: ComparisonRow, part: Part, rule: ComparisonRule) -> ComparisonRow:
    """Any other measure of predictions: the bootstrap of joint outcomes, or of whole groups of them."""
    label, a, b, group = part.label, part.a, part.b, part.group
    if all((each == label[0]).all() for each in (label, a, b)):
        return replace(row, note="one class alone: nothing can be tested")
    groups = 0 if group is None else len(np.unique(group))
    few = f"only {groups} groups: the bootstrap wants {FEW_GROUPS} or more" if 0 < groups < FEW_GROUPS else ""
    options: dict[str, Any] = {"measure": row.measure}
    events: JointEvents | JointOutcomes
    of_one_class = refers_to_one_class(row.measure)
    if of_one_class and group is not None:
        return replace(row, note=f"{row.measure} has no test in groups; macro-{row.measure} has")
    if group is None:
        if of_one_class:
            events = JointOutcomes.from_predictions(label, a, b, positive=label[part.positive][0])
        else:
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
    row = replace(
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
        differing=int((a != b).sum()) if group is None else len(np.unique(group[a != b])),
        note="; ".join(filter(None, [both.reason, few])),
    )
    return _by_exchange(row, part, rule) if 0 < (row.differing or 0) < FEW_DISAGREEMENTS else row


def _by_exchange(row: ComparisonRow, part: Part, rule: ComparisonRule) -> ComparisonRow:
    """The row with the p-values of an exchange test: those of a bootstrap of so few differences are too small."""
    positive = int(part.label[part.positive][0]) if refers_to_one_class(row.measure) else None
    found = exchange_test(
        part.label,
        part.a,
        part.b,
        measure=as_measure(row.measure),
        positive=positive,
        group=part.group,
        most=rule.resamples,
        rng=rule.seed,
    )
    what = ("row" if part.group is None else "group") + "s" * (found.units != 1)
    how = "exact" if found.drawn is None else f"{found.drawn:,} drawn"
    test = f"{row.test}; p of exchanges of {found.units} {what}, {how}"
    return replace(row, test=test, p_worse=found.p_worse, p_differs=found.p_differs)


_TESTS: dict[PairedTest, Callable[[ComparisonRow, Part, ComparisonRule], ComparisonRow]] = {
    "mcnemar": _test_accuracy,
    "bootstrap": _test_by_bootstrap,
    "delong": _test_area,
    "sign-flips": test_mean,
    "student-t": test_mean,
}
