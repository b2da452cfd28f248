"""Is the candidate worse than the baseline, anywhere? Every measure, on all rows and on every slice, and a verdict."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sigstats.bootstrap import bootstrap_test
from sigstats.effects import accuracy_difference
from sigstats.events import JointEvents
from sigstats.grouped import grouped_accuracy_test
from sigstats.intervals import clopper_pearson
from sigstats.multiplicity import adjust
from sigstats.paired import mcnemar_test
from sigstats.possibility import possibility
from sigstats.power import detectable_difference
from tasks.plan import Adjustment
from tasks.predictions import Joined

from .config import Strict

Verdict = Literal["pass", "warn", "fail"]

#: The measures that can be asked for, each one the better the larger it is.
MEASURES = ("accuracy", "balanced-accuracy", "macro-f1", "macro-precision", "macro-recall", "mcc", "kappa")
ALL = "all rows"


class Rule(Strict):
    """What counts as a regression.

    A test fails if the candidate is worse with an adjusted one-sided p of at most `alpha` and by at least
    `minimum_effect`; it warns if the interval of the difference reaches below minus `margin`, so that the data do not
    exclude a drop that matters; else it passes.
    """

    alpha: Annotated[float, Field(gt=0, lt=1, description="The level of the one-sided tests")] = 0.05
    adjust: Annotated[Adjustment, Field(description="The adjustment over all slices and measures")] = "holm"
    minimum_effect: Annotated[float, Field(ge=0, le=1, description="The smallest drop that counts")] = 0.005
    margin: Annotated[float, Field(ge=0, le=1, description="The drop that a pass must exclude")] = 0.005
    confidence: Annotated[float, Field(gt=0, lt=1, description="Of the intervals")] = 0.95
    resamples: Annotated[int, Field(ge=99, le=10**6, description="Bootstrap replicates")] = 10_000
    seed: Annotated[int, Field(ge=0, lt=2**63, description="Of the bootstrap")] = 0
    smallest_slice: Annotated[int, Field(ge=1, description="Slices with fewer rows are not tested")] = 10

    def in_words(self) -> str:
        """The rule in a sentence."""
        adjusted = "" if self.adjust == "none" else f", adjusted by {self.adjust}"
        return (
            f"fail where the candidate is worse with one-sided p <= {self.alpha:g}{adjusted} and by at least "
            f"{100 * self.minimum_effect:g} points; warn where the {100 * self.confidence:g}% interval reaches below "
            f"-{100 * self.margin:g} points"
        )


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measure on one slice.

    Attributes
    ----------
    slice, measure : str
    n : int
        Rows.
    baseline, candidate : float or None
        The measure of both.
    baseline_interval, candidate_interval : tuple of float or None
        Of the accuracy, Clopper and Pearson.
    difference, low, high : float or None
        Candidate less baseline, and its interval.
    test : str
        How `p_worse` was found.
    p_worse : float or None
        One-sided p-value of "the candidate is not worse".
    p_differs : float or None
        Two-sided p-value of "both are equally good".
    p_adjusted : float or None
        `p_worse`, adjusted.
    pd, psd, nsd : float or None
        Possibilistic indices of "not worse" against "worse".
    detectable : float or None
        The smallest drop that this many rows show with power 0.8, given how often the models disagree.
    verdict : "pass", "warn", "fail" or None
        None where nothing was tested.
    note : str
    """

    slice: str
    measure: str
    n: int
    baseline: float | None = None
    candidate: float | None = None
    baseline_interval: tuple[float, float] | None = None
    candidate_interval: tuple[float, float] | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    test: str = ""
    p_worse: float | None = None
    p_differs: float | None = None
    p_adjusted: float | None = None
    pd: float | None = None
    psd: float | None = None
    nsd: float | None = None
    detectable: float | None = None
    verdict: Verdict | None = None
    note: str = ""


@dataclass(frozen=True)
class Comparison:
    """All rows, and the verdict: the worst of theirs."""

    rows: tuple[Row, ...]
    rule: Rule
    n: int
    notes: tuple[str, ...] = field(default=())

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of any row."""
        found = {row.verdict for row in self.rows}
        return "fail" if "fail" in found else "warn" if "warn" in found else "pass"

    def reasons(self) -> list[str]:
        """A sentence for each row that does not pass."""
        return [_reason(row, self.rule) for row in self.rows if row.verdict in ("fail", "warn")]


def compare(joined: Joined, rule: Rule, measures: Sequence[str] = ("accuracy",)) -> Comparison:
    """Test every measure on all rows and on every slice."""
    rows = [_measured(joined, name, where, measure, rule) for name, where in _slices(joined) for measure in measures]
    tested = [position for position, row in enumerate(rows) if row.p_worse is not None]
    raw = [rows[position].p_worse for position in tested]
    adjusted = raw if rule.adjust == "none" or not raw else adjust(raw, method=rule.adjust).tolist()
    for position, p in zip(tested, adjusted, strict=True):
        rows[position] = _decided(replace(rows[position], p_adjusted=p), rule)
    return Comparison(tuple(rows), rule, joined.n, joined.notes)


def _slices(joined: Joined) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    yield ALL, np.ones(joined.n, dtype=bool)
    for column, (names, codes) in joined.slices.items():
        for code, name in enumerate(names):
            yield f"{column} = {name}", codes == code


def _measured(joined: Joined, name: str, where: NDArray[np.bool_], measure: str, rule: Rule) -> Row:
    n = int(where.sum())
    row = Row(slice=name, measure=measure, n=n)
    if n < rule.smallest_slice:
        return replace(row, note=f"too small to test: {n} of at least {rule.smallest_slice} rows")
    label, a, b = joined.label[where], joined.a[where], joined.b[where]
    if measure == "accuracy":
        return _accuracy(row, a == label, b == label, None if joined.group is None else joined.group[where], rule)
    return _bootstrapped(row, JointEvents.from_predictions(label, a, b), rule)


def _accuracy(row: Row, right_a: Any, right_b: Any, group: Any, rule: Rule) -> Row:
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
        if len(np.unique(group)) < 2:
            return replace(row, note="one group alone: nothing can be tested")
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
            detectable = detectable_difference(n, (only_a + only_b) / n, alpha=rule.alpha, alternative="greater")
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


def _bootstrapped(row: Row, events: JointEvents, rule: Rule) -> Row:
    options: dict[str, Any] = {"measure": row.measure, "resamples": rule.resamples, "rng": rule.seed}
    both = bootstrap_test(events, confidence=rule.confidence, **options)
    worse = bootstrap_test(events, alternative="greater", **options)
    return replace(
        row,
        baseline=both.value_a,
        candidate=both.value_b,
        difference=both.estimate,
        low=both.interval.low,
        high=both.interval.high,
        test="bootstrap",
        p_worse=worse.pvalue,
        p_differs=both.pvalue,
        note=both.reason,
    )


def _decided(row: Row, rule: Rule) -> Row:
    assert row.p_worse is not None
    assert row.p_adjusted is not None
    assert row.difference is not None
    assert row.low is not None
    indices = possibility(row.p_worse)
    verdict: Verdict = "pass"
    # A drop of exactly the smallest effect counts, whatever its last bit.
    if row.p_adjusted <= rule.alpha and row.difference <= -rule.minimum_effect + 1e-12:
        verdict = "fail"
    elif row.low < -rule.margin:
        verdict = "warn"
    return replace(row, pd=indices.pd, psd=indices.psd, nsd=indices.nsd, verdict=verdict)


def _reason(row: Row, rule: Rule) -> str:
    assert row.difference is not None
    assert row.low is not None
    assert row.high is not None
    change = (
        f"{row.measure} on {row.slice}: {_points(row.difference)} points ({_points(row.low)} to {_points(row.high)}), "
        f"adjusted p {_p(row.p_adjusted)}"
    )
    if row.verdict == "fail":
        return f"worse: {change}"
    return f"not shown to be worse, but a drop of more than {100 * rule.margin:g} points is not excluded: {change}"


def _points(value: float) -> str:
    text = f"{100 * value:+.2f}"
    return text.replace("-0.00", "0.00").replace("+0.00", "0.00")


def _p(value: float | None) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:.2g}"
