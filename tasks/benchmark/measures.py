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

#: The names of the tests on all rows and on slices: of a classifier, where nothing is tested, and of a pair.
_ON_ALL, _ON_SLICES = ("measures", "measured-pairs"), ("slices", "sliced-pairs")
#: The rules for all rows, however few, and for slices, which need the usual number of rows.
_RULE, _RULE_OF_SLICES = ComparisonRule(smallest_slice=1), ComparisonRule()


@dataclass(frozen=True)
class _Classifier:
    """A classifier on some rows: its cells, its predictions and scores if available, and the positive class."""

    cells: tuple[Cell, ...]
    #: The predictions on all rows, or None if replicates are missing.
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
        if self.run is None:
            return None
        return self.run.n if self.rows is None else len(self.rows)


def rows(results: Results, _: str) -> Iterator[Hypothesis]:
    """Yield, for each measure, a row per data set and classifier, then per pair of classifiers; the same on slices."""
    by_dataset = [[_read(results, cell) for cell in cells] for cells in results.by_dataset("crossval").values()]
    measures = [allowed_measure(name) for name in results.plan.measures]
    yield from _rows(results, measures, by_dataset, _ON_ALL)
    by_slice = [
        [replace(classifier, slice=name, rows=rows) for classifier in classifiers]
        for classifiers in by_dataset
        for name, rows in _slices(results, classifiers[0].cells[0])
    ]
    yield from _rows(results, ("accuracy", *measures), by_slice, _ON_SLICES)


def _slices(results: Results, cell: Cell) -> Iterator[tuple[str, IntArray]]:
    """Yield the name and the rows of each slice of a cell's data set."""
    if results.plan.slices:
        dataset = dataset_of(results.store, cell.work_of(CrossValidated))
        for feature in results.plan.slices:
            if feature in dataset.features:
                yield from dataset.slices(feature)


def _rows(
    results: Results, measures: Sequence[str], groups: Sequence[Sequence[_Classifier]], tests: tuple[str, str]
) -> Iterator[Hypothesis]:
    """Yield the rows of all measures for groups of classifiers, each on one data set or slice."""
    test_of_one, test_of_pair = tests
    for measure in measures:
        for classifiers in groups:
            yield from (_estimate(results, measure, classifier, test_of_one) for classifier in classifiers)
    for measure in measures:
        for classifiers in groups:
            for a, b in combinations(classifiers, 2):
                if not (_lacking(measure, a) or _lacking(measure, b)):
                    yield _hypothesis_of_pair(results, measure, a, b, test_of_pair)


def _read(results: Results, observed: Cell) -> _Classifier:
    """Return the classifier of a cell on all rows of its data set."""
    cells = results.cells("scores", **observed.subject)
    table = results.read(cells[0]) if cells else None
    run, scores = observed_run(results, observed), ClassScores(None, None)
    if table is not None:
        probabilities, decision = (table.column(name) for name in ("probabilities", "decision"))
        scores = ClassScores(
            None if probabilities.null_count else np.array(probabilities.to_pylist()),
            None if decision.null_count else decision.to_numpy(),
        )
    elif cells:  # the scores are not computed yet
        run = None
    positive = results.plan.positive.get(observed.subject["dataset"], 1)
    classes = dataset_of(results.store, observed.work_of(CrossValidated)).classes
    return _Classifier((observed, *cells), run, scores, positive, classes)


def _lacking(measure: str, classifier: _Classifier) -> str:
    """Return the reason why a classifier cannot be measured, or "" if it can or replicates are missing."""
    needs, scores = MEASURES[measure].needs, classifier.scores
    if classifier.run is None:
        return ""
    if refers_to_one_class(measure) and len(classifier.classes) > 2:
        return f"{measure} needs two classes, but there are {len(classifier.classes)}"
    needs_probabilities = needs in ("probabilities", "tables") or (needs == "scores" and scores.decision is None)
    if needs_probabilities and scores.probabilities is None:
        return f"{measure} needs {needs}, which {classifier.name} does not provide"
    return ""


def _estimate(results: Results, measure: str, classifier: _Classifier, test: str) -> Hypothesis:
    """Return the row with the value of a measure for one classifier and, if known, its interval."""
    row = _row(results, classifier.cells, test, "estimate", "nothing is tested", classifier.slice)
    row = row.with_(classifier=classifier.name, measure=title(measure))
    if classifier.run is None:
        return row
    row, lacking = row.with_(n=classifier.n, decision="none"), _lacking(measure, classifier)
    if lacking:
        return row.with_(note=lacking)
    comparison = _compare(measure, classifier, classifier)
    if comparison.baseline is not None:
        low, high = comparison.baseline_interval or (None, None)
        return row.with_(estimate=comparison.baseline, estimate_low=low, estimate_high=high)
    value = None
    if MEASURES[measure].needs == "classes":  # if rows have groups, such a measure has a value but no interval
        run = classifier.run if classifier.rows is None else classifier.run.rows(classifier.rows)
        statistic = Statistic(measure, classifier.classes, classifier.positive)
        value = float(statistic.of_predictions(run.label, run.prediction[None])[0])
    return row.with_(estimate=value, note=comparison.note)


def _hypothesis_of_pair(results: Results, measure: str, a: _Classifier, b: _Classifier, test: str) -> Hypothesis:
    """Return the row with the difference of two classifiers, a - b, and its test."""
    null = f"a and b have the same {measure}"
    row = _row(results, (*a.cells, *b.cells), test, "test of the measure", null, a.slice).with_(
        a=a.name, b=b.name, measure=f"difference of {MEASURES[measure].plural or title(measure)} (a - b)"
    )
    if a.run is None or b.run is None:
        return row
    comparison = _compare(measure, a, b)
    if comparison.two_sided_pvalue is None:
        return row.with_(n=a.n, decision="none", note=comparison.note)
    of_b_less_a = (comparison.difference, comparison.high, comparison.low)
    difference, low, high = (None if value is None else -value for value in of_b_less_a)
    row = row.with_(
        n=a.n,
        statistic=difference,
        estimate=difference,
        estimate_low=low,
        estimate_high=high,
        p_value=comparison.two_sided_pvalue,
    )
    if comparison.test.kind == "mcnemar":
        return row.with_(method=comparison.test, note=comparison.note)
    # The name of another test includes the number of rows, which differs within a family of hypotheses.
    return row.with_(method="unseen row", note=f"{comparison.test}; {comparison.note}")


def title(measure: str) -> str:
    """Return the name of a measure in results, where costs are negated so that greater is better."""
    return measure if MEASURES[measure].greater_is_better else f"neg-{measure}"


def _row(results: Results, cells: tuple[Cell, ...], test: str, method: str, null: str, on: str | None) -> Hypothesis:
    """Return a row about cells `on` a slice, without results."""
    return results.hypothesis(*cells, test=test, method=method, alternative="two-sided", null_hypothesis=null, slice=on)


def _compare(measure: str, a: _Classifier, b: _Classifier) -> ComparisonRow:
    """Return the comparison of B (the candidate) with A (the baseline)."""
    assert a.run is not None
    assert b.run is not None
    label = a.run.label
    predicted = Predicted(classes=a.classes, label=label, a=a.run.prediction, b=b.run.prediction)
    units = Units(n=len(label), group=a.run.groups)
    paired = PairedPredictions(units=units, outcomes=predicted, scored=_scores(measure, label, a, b))
    evidence = evidence_of(paired, measure, a.classes[a.positive] if refers_to_one_class(measure) else None)
    if a.rows is not None:
        evidence = evidence.take(a.rows)
    seed = int(digest("measures", measure=measure, a=a.cells[0].name, b=b.cells[0].name)[:12], 16)
    row = ComparisonRow(slice="", measure=measure, n=evidence.units.n)
    rule = replace(_RULE if a.slice is None else _RULE_OF_SLICES, rng=seed)
    return bounded([test_part(row, evidence, None, rule=rule)], rule)[0]


def _scores(measure: str, label: IntArray, a: _Classifier, b: _Classifier) -> Scored | None:
    """Return the scores or probabilities that a measure needs, or None if it needs only predictions."""
    if measure == "neg-log-loss" or MEASURES[measure].needs == "tables":
        tables = [side.scores.probabilities for side in (a, b)]
        return Scored.of_classes(*(np.column_stack([label, table]) for table in tables if table is not None))
    if MEASURES[measure].needs in ("scores", "probabilities"):
        of_a, of_b = (scored(measure, label, side.scores, side.positive)[1] for side in (a, b))
        return Scored(scores=(of_a, of_b))
    return None
