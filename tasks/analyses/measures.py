"""How good each classifier is by other measures than accuracy, and which of two is better by them.

Every measure of the plan is estimated for each classifier on each data set, with its interval, and compared between
each two by the test that belongs to it (`sigstats.measures.table`): the bootstrap of joint outcomes, DeLong's test of
areas under the ROC curve, Student's t of the losses of rows. What cannot be had is said in a note.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from sigstats._common.validation import FloatArray
from sigstats.comparison.mean_tests import bounded
from sigstats.comparison.part import Part
from sigstats.comparison.rows import ComparisonRow
from sigstats.comparison.rule import ComparisonRule
from sigstats.comparison.tests import test_part
from sigstats.measures.table import MEASURES, refers_to_one_class
from sigstats.retraining.measured import Statistic

from ..fingerprint import digest
from ..observed_run import ObservedRun
from ..plan import Cell
from ..results import Results
from ..schema import Hypothesis
from ._observed_runs import observed_run

#: The fan-outs whose replicates it reads.
USES = ("crossval", "scores")

#: The tests of its rows: of one classifier, which tests nothing, and of two.
ESTIMATES, PAIRS = "measures", "measured-pairs"


@dataclass(frozen=True)
class _Classifier:
    """A classifier on a data set: its cells, predictions and scores, which may be missing, and the positive class."""

    cells: tuple[Cell, ...]
    run: ObservedRun | None
    probabilities: FloatArray | None
    decision: FloatArray | None
    positive: int = 1

    @property
    def name(self) -> str:
        return self.cells[0].subject["classifier"]


def rows(results: Results) -> Iterator[Hypothesis]:
    """Of each measure one row for each classifier on a data set, then one for each pair of them."""
    found = {name: [_read(results, cell) for cell in cells] for name, cells in results.by_dataset("crossval").items()}
    for measure in results.plan.measures:
        for classifiers in found.values():
            yield from (_estimate(results, measure, one) for one in classifiers)
    for measure in results.plan.measures:
        for classifiers in found.values():
            for a, b in combinations(classifiers, 2):
                if not (_lacking(measure, a) or _lacking(measure, b)):
                    yield _compared(results, measure, a, b)


def _read(results: Results, observed: Cell) -> _Classifier:
    cells = results.cells("scores", **observed.subject)
    table = results.read(cells[0]) if cells else None
    run, positive = observed_run(results, observed), results.plan.positive.get(observed.subject["dataset"], 1)
    if table is None:
        return _Classifier((observed, *cells), None if cells else run, None, None, positive)
    probabilities, decision = (table.column(name) for name in ("probabilities", "decision"))
    return _Classifier(
        (observed, *cells),
        run,
        None if probabilities.null_count else np.array(probabilities.to_pylist()),
        None if decision.null_count else decision.to_numpy(),
        positive,
    )


def _lacking(measure: str, of: _Classifier) -> str:
    """Why a classifier cannot be measured; empty where it can, or where its replicates are missing."""
    needs = MEASURES[measure].needs
    if of.run is None:
        return ""
    classes = int(of.run.label.max()) + 1
    if refers_to_one_class(measure) and classes > 2:
        return f"{measure} needs two classes, and there are {classes}"
    if needs not in ("scores", "probabilities"):
        return ""
    if of.probabilities is None and (needs == "probabilities" or of.decision is None):
        return f"{measure} needs {needs}, which {of.name} does not give"
    return ""


def _estimate(results: Results, measure: str, of: _Classifier) -> Hypothesis:
    row = _row(results, of.cells, ESTIMATES, "nothing is tested").with_(classifier=of.name, measure=measure)
    if of.run is None:
        return row
    lacking = _lacking(measure, of)
    if lacking:
        return row.with_(n=of.run.n, decision="none", note=lacking)
    found = _tested(measure, of, of)
    if found.baseline is None and MEASURES[measure].needs == "classes":  # in groups, which have no interval of it
        statistic = Statistic(measure, 1 + int(of.run.label.max()), of.positive)
        value = float(statistic.of_predictions(of.run.label, of.run.prediction[None])[0])
        return row.with_(n=of.run.n, decision="none", estimate=value, note=found.note)
    low, high = found.baseline_interval or (None, None)
    return row.with_(n=of.run.n, decision="none", estimate=found.baseline, estimate_low=low, estimate_high=high)


def _compared(results: Results, measure: str, a: _Classifier, b: _Classifier) -> Hypothesis:
    spec = MEASURES[measure]
    row = _row(results, (*a.cells, *b.cells), PAIRS, f"a and b have the same {measure}").with_(
        a=a.name, b=b.name, measure=f"difference of {spec.plural or measure} (b - a)"
    )
    if a.run is None or b.run is None:
        return row
    found = _tested(measure, a, b)
    if found.two_sided_pvalue is None:
        return row.with_(n=a.run.n, decision="none", note=found.note)
    return row.with_(
        method=found.test or spec.test,
        n=a.run.n,
        statistic=found.difference,
        estimate=found.difference,
        estimate_low=found.low,
        estimate_high=found.high,
        p_value=found.two_sided_pvalue,
        note=found.note,
    )


def _row(results: Results, cells: tuple[Cell, ...], test: str, null: str) -> Hypothesis:
    return results.hypothesis(
        *cells,
        test=test,
        method="estimate" if test == ESTIMATES else "test of the measure",
        alternative="two-sided",
        null=null,
    )


def _tested(measure: str, a: _Classifier, b: _Classifier) -> ComparisonRow:
    """The measure of both, and the test of its difference; of one classifier beside itself, its interval."""
    assert a.run is not None
    assert b.run is not None
    label, code, scores = a.run.label, a.positive, None
    if MEASURES[measure].needs in ("scores", "probabilities"):
        if measure == "neg-log-loss":  # the loss of a row is that of its true class, however many there are
            scores = (_of_true_class(a, label), _of_true_class(b, label))
            label, code = np.zeros_like(label), 0
        else:
            scores = (_of_positive_class(a), _of_positive_class(b))
    both = a.run.prediction, b.run.prediction
    part = Part(label=label, a=both[0], b=both[1], group=a.run.groups, code=code, scores=scores)
    seed = int(digest("measures", measure=measure, a=a.cells[0].name, b=b.cells[0].name)[:12], 16)
    row = ComparisonRow(slice="", measure=measure, n=len(label))
    rule = replace(_RULE, rng=seed)
    return bounded([test_part(row, part, lambda: np.arange(len(label)), None, rule=rule)], rule)[0]


_RULE = ComparisonRule(smallest_slice=1)


def _of_true_class(of: _Classifier, label: Any) -> FloatArray:
    assert of.probabilities is not None
    return np.asarray(of.probabilities[np.arange(len(label)), label])


def _of_positive_class(of: _Classifier) -> FloatArray:
    if of.probabilities is not None:
        return np.asarray(of.probabilities[:, of.positive])
    assert of.decision is not None
    return of.decision if of.positive == 1 else -of.decision
