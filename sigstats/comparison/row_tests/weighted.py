"""Measures tested by random weights of rows or of whole groups: of two models on the same rows, or on different ones.

`by_weights` tests a function of classes or scores; `_law_of` prepares its random values, and `_with_law` turns these
into p-values and intervals. `test_samples` compares means on different rows, by bounds that need no random weights.

Null hypothesis on different rows: in the two populations of independent rows (groups), the candidate's measure is not
worse than the baseline's. The weights of the samples are independent, and each has one more row (group): melded
bounds, as `sigstats.scores.unpaired_test` computes of means, of any measure.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._common.extreme import difference, drawn_error
from ..._common.random_streams import as_generator
from ..._common.validation import IntArray
from ...joint.events import JointEvents
from ...joint.outcomes import JointOutcomes
from ...measures.measure import Measure, as_measure
from ...measures.table import MEASURES, refers_to_one_class
from ...measures.weighted import OfAreas, OfPairs, OfPrecision, average_precision, weighted_area
from ...unseen_row.drawn_law import Law
from ...unseen_row.means import missed
from ...unseen_row.orders import mirrored_law
from ..evidence import Attempts, Classes, Ratios, Values
from ..measure_names import MANY_NUMBERS
from ..rows import ComparisonRow
from ..rule import ComparisonRule, RowTest
from .mean_tests import unseen_unit


def by_weights(row: ComparisonRow, part: Classes, rule: ComparisonRule, bar: float | None = None) -> ComparisonRow:
    """Test any other measure of predictions by random weights of the joint outcomes, or of whole groups.

    With a `bar`, p is that of "the baseline is at least the bar"; the standard error and other interval are the
    baseline's.
    """
    units = part.units
    if units.candidates is not None:
        return _of_two_samples(row, part, units.candidates, rule)
    law_of = _law_of(part, rule)
    if isinstance(law_of, str):
        return replace(row, note=law_of)
    count, differing = units.count(), units.count(part.a != part.b)
    unit, unseen_group, other_group = unseen_unit(units.group is not None, count, rule.unseen_group)
    law = law_of(unseen_group=unseen_group)
    other_law = other_group and law_of(unseen_group=other_group)
    if other_law and unit.like_seen:
        law = law._replace(strict=other_law, missed=float(missed(count, 0.0)))
    elif other_law:
        other_law = other_law._replace(strict=law, missed=float(missed(count, 0.0)))
    test = unit.named(f"{unit} beside {count:,} {units.what}, {rule.n_resamples:,} weightings")
    note = f"{units.what} that differ: {differing:,} of {count:,}"
    row = _with_law(row, law, part, rule, test, note, bar)
    if row.pvalue is None:
        return row
    other_interval = other_law and other_law.intervals(rule.confidence_level)[bar is not None]
    return replace(row, other_interval=other_interval, differing=differing)


def _of_two_samples(row: ComparisonRow, part: Classes, ours: NDArray[np.bool_], rule: ComparisonRule) -> ComparisonRow:
    """Return the difference of two models on different rows; `ours`: those of the candidate."""
    rows, few = samples_in_words(part.units.group, ours)
    samples = [part.take(np.flatnonzero(at)) for at in (~ours, ours)]
    lacking = _labels_of_one(part, *(sample.label for sample in samples))
    if few or lacking:
        return replace(row, note=f"{rows}: {lacking or 'too few to test'}")
    # The smaller sample has the first stream, whichever model it belongs to.
    order = sorted((0, 1), key=lambda side: (samples[side].units.n, samples[side].a.sum()))
    ends, observed = [(np.zeros(0), np.zeros(0))] * 2, [0.0, 0.0]
    for side, stream in zip(order, as_generator(rule.rng).spawn(2), strict=True):
        law_of = _law_of(samples[side], rule)
        if isinstance(law_of, str):
            return replace(row, note=f"{rows}: {law_of}")
        law = law_of(unseen_group="any", rng=stream)
        observed[side] = law.observed[0]
        # The model is paired with itself, so that both sides, and mirrored draws, have the same weights.
        low, high = (np.array([law.a[end], law.b[end]]).reshape(-1, rule.n_resamples) for end in (0, 1))
        ends[side] = low.min(axis=0), high.max(axis=0)
    (low_a, high_a), (low_b, high_b) = ends
    law = Law(difference(low_b, high_a), difference(high_b, low_a), ends[0], ends[1], (observed[0], observed[1]))
    unseen = f"an unseen {'row' if part.units.group is None else 'group'} in each sample"
    return _with_law(row, law, part, rule, RowTest(f"{unseen}, {rule.n_resamples:,} weightings", "unpaired"), rows)


def test_samples(row: ComparisonRow, part: Values | Attempts | Ratios, rule: ComparisonRule) -> ComparisonRow:
    """Return the row with the difference of two models on different rows, without random weights."""
    from ...scores.unpaired_test import difference_of_samples, sample_of  # which needs more of SciPy

    group, sizes, unit = part.units.group, None, "row"
    ours = np.asarray(part.units.candidates)
    if isinstance(part, Attempts):
        totals, group = part.by_item()
        values, unit = part.chances(totals)[0], "item"
        items: Any = part.units.group if part.units.items is None else part.units.items
        ours = ours[np.unique(items, return_index=True)[1]]
    elif isinstance(part, Ratios):
        values, sizes = part.sign * part.scores[0], part.per[0]
    else:
        values = part.values[0]
    rows, _ = samples_in_words(group, ours, unit)
    samples = [
        sample_of(values[of], None if group is None else group[of], None if sizes is None else sizes[of])
        for of in (~ours, ours)
    ]
    if min(units.counts.sum() for units in samples) < 2:
        return replace(row, note=f"{rows}: too few to test")
    limits, level = part.limits or (0.0, 1.0), rule.confidence_level
    fields = difference_of_samples(samples[0], samples[1], limits, level, rule.margin_of(row))
    name = f"melded bounds of two samples, each with an unseen {unit if group is None else 'group'}"
    return replace(row, **fields, test=RowTest(name, "unpaired"), note=rows)


def samples_in_words(group: IntArray | None, ours: NDArray[np.bool_], what: str = "row") -> tuple[str, bool]:
    """Return the sizes of two samples, and if one has fewer than two rows (groups). `ours`: the candidate's."""
    units = np.arange(len(ours)) if group is None else group
    rows = f"{(~ours).sum():,} {what}s of the baseline and {ours.sum():,} of the candidate"
    return rows, min(len(np.unique(units[at])) for at in (ours, ~ours)) < 2


def _labels_of_one(part: Classes, labels: IntArray, others: IntArray) -> str:
    """Return a note on classes that only one sample has: neither weights nor an unseen row show their effect."""
    if part.code >= 0 or (part.unseen is not None and MEASURES[part.measure].needs != "tables"):
        return ""
    if part.values is not None and len(np.union1d(labels, others)) > MANY_NUMBERS:
        return ""
    lacking = len(np.setxor1d(labels, others))
    return f"{lacking:,} of the classes are labels of one sample only: nothing can be tested" if lacking else ""


def _law_of(part: Classes, rule: ComparisonRule) -> Callable[..., Law] | str:
    """Return a function of the assumption about unseen groups, which draws the law of the difference.

    Return the reason instead if nothing can be tested.
    """
    label, a, b, n, group, spec = part.label, part.a, part.b, part.units.n, part.units.group, MEASURES[part.measure]
    joint: JointEvents | JointOutcomes
    if part.values is None and refers_to_one_class(part.measure):
        true, in_a, in_b = (array == part.code for array in (label, a, b))
        if not (true | in_a | in_b).any():
            return "no row has the class as label or prediction: nothing can be tested"
        events = 4 * ~true + 2 * ~in_b + ~in_a  # e1 to e8
        joint = JointOutcomes(*np.bincount(events, minlength=8).tolist())
    else:
        unseen = part.unseen or ()
        occurring, codes = np.unique(np.concatenate([label, a, b, *unseen]), return_inverse=True)
        if len(occurring) < 2 or (spec.needs in ("scores", "tables") and label.min() == label.max()):
            return "only one class: nothing can be tested"
        joint, events = JointEvents.from_codes(occurring.tolist(), *codes[: 3 * n].reshape(3, -1))
    units = np.arange(n) if group is None else np.unique(group, return_inverse=True)[1]
    weights = part.units.weights
    if weights is not None:  # sorted, so that the draws do not depend on the order of the rows
        order = np.lexsort((weights, events, np.zeros(n) if group is None else units))
        weights, events, units = weights[order], events[order], units if group is None else units[order]
    groups = None if group is None and weights is None else (units, events)
    measure: Measure | OfPairs
    if part.values is not None:
        codes_of_unseen: Any = part.unseen and tuple(np.searchsorted(occurring, codes) for codes in part.unseen)
        formula: Any = spec.signed
        kind = OfPrecision if spec.of_weights is average_precision else OfPairs
        if spec.needs == "tables" or spec.of_weights is weighted_area:
            formula, kind = spec.of_weights, OfAreas
        measure = kind(formula, part.values[occurring], codes_of_unseen, slow=spec.is_slow)
    else:
        measure = as_measure(part.measure)
    rng = rule.rng if part.draws is None else part.draws
    options: Any = {"size": rule.n_resamples, "rng": rng, "groups": groups, "weights": weights}
    return partial(mirrored_law, joint, measure, **options)


def _with_law(
    row: ComparisonRow,
    law: Law,
    part: Classes,
    rule: ComparisonRule,
    test: RowTest,
    note: str,
    bar: float | None = None,
) -> ComparisonRow:
    """Return the row with p-values and intervals, unless its measure has one value. `bar` as in `by_weights`."""
    (baseline, candidate), level = law.observed, rule.confidence_level
    interval, *intervals = law.intervals(level)
    if interval.low == interval.high:  # kappa, for instance, where all labels are of one class
        return replace(row, note=f"{row.measure} has the same value here for any answers")
    pvalue = law.p_worse if bar is None else law.p_at_least(bar)
    return replace(
        row,
        baseline=baseline,
        candidate=candidate,
        baseline_interval=intervals[0],
        candidate_interval=intervals[1],
        difference=candidate - baseline,
        low=interval.low,
        high=interval.high,
        standard_error=law.standard_error if bar is None else float(np.std(sum(law.a) / 2)),
        test=test if part.limited else test.without_limits(),
        pvalue=pvalue,
        pvalue_error=drawn_error(pvalue, len(law.low)),
        end_error=law.end_error(level),
        two_sided_pvalue=min(1.0, 2 * min(law.p_worse, law.p_better)),
        equivalence_pvalue=law.equivalence(rule.margin_of(row)) if part.limited else 1.0,
        note=note,
    )
