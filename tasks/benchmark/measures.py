"""Performance of classifiers by measures other than accuracy, and comparisons of all pairs of classifiers.

Each measure of the plan is estimated with an interval for each classifier on each data set. Pairs of classifiers are
compared by the measure's test (`sigstats.measures.table`): the bootstrap of joint outcomes, DeLong's test of areas
under the ROC curve, or Student's t of the losses of rows. A note names undefined values. If the plan names slices,
accuracy and these measures are also estimated and compared on each slice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from sigstats._common.validation import IntArray
from sigstats.comparison.measured import evidence_of
from sigstats.comparison.paired_predictions import PairedPredictions, Predicted, Scored
from sigstats.comparison.row_tests import test_part
from sigstats.comparison.row_tests.mean_tests import bounded
from sigstats.comparison.rows import ComparisonRow
from sigstats.comparison.rule import ComparisonRule
from sigstats.comparison.units import Units
from sigstats.measures.table import MEASURES, refers_to_one_class
from sigstats.retraining.measured import ClassScores, Statistic, scored

from ..own_code import allowed_measure
from ..plan import Cell
from ..record import digest
from ..results import Results
from ..schema import Hypothesis
from ..statistical_tests import ObservedRun
from .runs import observed_run
from .work import CrossValidated, dataset_of

#: The tests of the rows of `rows`: of one classifier, where nothing is tested, and of a pair; on all rows, on slices.
_ON_ALL, _ON_SLICES = ("measures", "measured-pairs"), ("slices", "sliced-pairs")


@dataclass(frozen=True)
class _Classifier:
    """A classifier on some rows: its cells, its predictions and scores if available, and the positive class."""

    cells: tuple[Cell, ...]
    run: ObservedRun | None
    scores: ClassScores
    positive: int
    classes: tuple[str, ...]
    #: The measured slice and its rows, or None for all rows.
    slice: str | None = None
    rows: IntArray | None = None

    @property
    def name(self) -> str:
        return self.cells[0].subject["classifier"]

    @property
    def n(self) -> int | None:
        """The number of measured rows, or None if replicates are missing."""
        return None if self.run is None else self.run.n if self.rows is None else len(self.rows)


def rows(results: Results, _: str) -> Iterator[Hypothesis]:
    """Yield, for each measure, a row per data set and classifier, then per pair of classifiers; the same on slices."""
    items = [[_read(results, cell) for cell in cells] for cells in results.by_dataset("crossval").values()]
    measures = [allowed_measure(name) for name in results.plan.measures]
    yield from _rows(results, measures, items, _ON_ALL)
    sliced = [
        [replace(one, slice=name, rows=where) for one in classifiers]
        for classifiers in items
        for name, where in _slices(results, classifiers[0].cells[0])
    ]
    yield from _rows(results, ("accuracy", *measures), sliced, _ON_SLICES)


def _slices(results: Results, cell: Cell) -> Iterator[tuple[str, IntArray]]:
    if results.plan.slices:
        dataset = dataset_of(results.store, cell.work_of(CrossValidated))
        for feature in results.plan.slices:
            if feature in dataset.features:
                yield from dataset.slices(feature)


def _rows(
    results: Results, measures: Sequence[str], value: Sequence[Sequence[_Classifier]], tests: tuple[str, str]
) -> Iterator[Hypothesis]:
    for measure in measures:
        for classifiers in value:
            yield from (_estimate(results, measure, one, tests[0]) for one in classifiers)
    for measure in measures:
        for classifiers in value:
            for a, b in combinations(classifiers, 2):
                if not (_lacking(measure, a) or _lacking(measure, b)):
                    yield _hypothesis_of_pair(results, measure, a, b, tests[1])


def _read(results: Results, observed: Cell) -> _Classifier:
    cells = results.cells("scores", **observed.subject)
    table = results.read(cells[0]) if cells else None
    run, positive = observed_run(results, observed), results.plan.positive.get(observed.subject["dataset"], 1)
    classes = dataset_of(results.store, observed.work_of(CrossValidated)).classes
    if table is None:
        return _Classifier((observed, *cells), None if cells else run, ClassScores(None, None), positive, classes)
    probabilities, decision = (table.column(name) for name in ("probabilities", "decision"))
    scores = ClassScores(
        None if probabilities.null_count else np.array(probabilities.to_pylist()),
        None if decision.null_count else decision.to_numpy(),
    )
    return _Classifier((observed, *cells), run, scores, positive, classes)


def _lacking(measure: str, of: _Classifier) -> str:
    """Return the reason why a classifier cannot be measured, or "" if it can or replicates are missing."""
    needs = MEASURES[measure].needs
    if of.run is None:
        return ""
    if refers_to_one_class(measure) and len(of.classes) > 2:
        return f"{measure} needs two classes, but there are {len(of.classes)}"
    if needs not in ("scores", "probabilities", "tables"):
        return ""
    if of.scores.probabilities is None and (needs != "scores" or of.scores.decision is None):
        return f"{measure} needs {needs}, which {of.name} does not provide"
    return ""


def _estimate(results: Results, measure: str, of: _Classifier, test: str) -> Hypothesis:
    row = _row(results, of.cells, test, "estimate", "nothing is tested", of.slice)
    row = row.with_(classifier=of.name, measure=title(measure))
    if of.run is None:
        return row
    lacking = _lacking(measure, of)
    if lacking:
        return row.with_(n=of.n, decision="none", note=lacking)
    other = _compare(measure, of, of)
    if other.baseline is None and MEASURES[measure].needs == "classes":  # groups have no interval of it
        run = of.run if of.rows is None else of.run.rows(of.rows)
        value = float(Statistic(measure, of.classes, of.positive).of_predictions(run.label, run.prediction[None])[0])
        return row.with_(n=of.n, decision="none", estimate=value, note=other.note)
    low, high = other.baseline_interval or (None, None)
    note = other.note if other.baseline is None else ""
    return row.with_(n=of.n, decision="none", estimate=other.baseline, estimate_low=low, estimate_high=high, note=note)


def _hypothesis_of_pair(results: Results, measure: str, a: _Classifier, b: _Classifier, test: str) -> Hypothesis:
    null = f"a and b have the same {measure}"
    row = _row(results, (*a.cells, *b.cells), test, "test of the measure", null, a.slice).with_(
        a=a.name, b=b.name, measure=f"difference of {MEASURES[measure].plural or title(measure)} (a - b)"
    )
    if a.run is None or b.run is None:
        return row
    other = _compare(measure, a, b)
    if other.two_sided_pvalue is None:
        return row.with_(n=a.n, decision="none", note=other.note)
    negated = (None if end is None else -end for end in (other.difference, other.high, other.low))
    difference, low, high = negated  # of a less b
    return row.with_(
        method=other.test
        if other.test.kind == "mcnemar"
        else "unseen row",  # without the number of rows, which differs within a family
        n=a.n,
        statistic=difference,
        estimate=difference,
        estimate_low=low,
        estimate_high=high,
        p_value=other.two_sided_pvalue,
        note=other.note if other.test.kind == "mcnemar" else f"{other.test}; {other.note}",
    )


def title(measure: str) -> str:
    """Return the name of a measure in results, where costs are negated so that greater is better."""
    return measure if MEASURES[measure].greater_is_better else f"neg-{measure}"


def _row(results: Results, cells: tuple[Cell, ...], test: str, method: str, null: str, part: str | None) -> Hypothesis:
    return results.hypothesis(
        *cells, test=test, method=method, alternative="two-sided", null_hypothesis=null, slice=part
    )


def _compare(measure: str, a: _Classifier, b: _Classifier) -> ComparisonRow:
    assert a.run is not None
    assert b.run is not None
    label, scores = a.run.label, None
    if measure == "neg-log-loss" or MEASURES[measure].needs == "tables":
        of_classes = [side.scores.probabilities for side in (a, b)]
        scores = Scored.of_classes(*(np.column_stack([label, table]) for table in of_classes if table is not None))
    elif MEASURES[measure].needs in ("scores", "probabilities"):
        of_a, of_b = (scored(measure, label, side.scores, side.positive)[1] for side in (a, b))
        scores = Scored(scores=(of_a, of_b))
    predicted = Predicted(classes=a.classes, label=label, a=a.run.prediction, b=b.run.prediction)
    paired = PairedPredictions(units=Units(n=len(label), group=a.run.groups), outcomes=predicted, scored=scores)
    evidence = evidence_of(paired, measure, a.classes[a.positive] if refers_to_one_class(measure) else None)
    if a.rows is not None:
        evidence = evidence.take(a.rows)
    seed = int(digest("measures", measure=measure, a=a.cells[0].name, b=b.cells[0].name)[:12], 16)
    row = ComparisonRow(slice="", measure=measure, n=evidence.units.n)
    rule = replace(_RULE if a.slice is None else _RULE_OF_SLICES, rng=seed)
    return bounded([test_part(row, evidence, None, rule=rule)], rule)[0]


_RULE, _RULE_OF_SLICES = ComparisonRule(smallest_slice=1), ComparisonRule()
