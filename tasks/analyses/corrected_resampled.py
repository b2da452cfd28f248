"""Would an algorithm do better on other training sets of this size? (the corrected resampled t-test, or the 5x2cv F).

The differences of accuracy on the folds of all repetitions of the cross-validation are tested: of five repetitions of
two folds by Alpaydin's F, of any others by Nadeau and Bengio's t.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sigstats._common.validation import FloatArray
from sigstats.retraining.corrected_resampled import corrected_resampled_test
from sigstats.retraining.five_by_two import five_by_two_test

from ..plan import Cell
from ..results import Results
from ..schema import Hypothesis
from ..work import CrossValidated

#: The fan-outs whose replicates it reads.
USES = ("crossval", "repetition")
TAKES_GROUPS = True


@dataclass(frozen=True)
class _Classifier:
    """A classifier on a data set: its cells, and its accuracy on each fold (repetitions, folds), None if missing."""

    cells: tuple[Cell, ...]
    accuracy: FloatArray | None
    rows: int

    @property
    def five_by_two(self) -> bool:
        """True if the plan asks for five repetitions of two folds."""
        settings = self.cells[0].work_of(CrossValidated).cross_validation
        return settings.folds == 2 and sum(cell.replicates for cell in self.cells) == 5


def rows(results: Results) -> Iterator[Hypothesis]:
    """One hypothesis for each pair of classifiers on a data set."""
    for cells in results.by_dataset("crossval").values():
        for a, b in combinations([_read(results, cell) for cell in cells], 2):
            yield _compared(results, a, b)


def _read(results: Results, observed: Cell) -> _Classifier:
    cells = (observed, *results.cells("repetition", **observed.subject))
    parts, rows = [], 0
    for cell in cells:
        table = results.table(cell) if cell is observed else results.read(cell)
        if table is None:
            return _Classifier(cells, None, 0)
        replicate, fold, label, prediction = (
            table.column(name).to_numpy() for name in ("replicate", "fold", "label", "prediction")
        )
        folds = int(fold.max()) + 1
        place = (replicate - replicate[0]) * folds + fold
        parts.append((np.bincount(place, label == prediction) / np.bincount(place)).reshape(-1, folds))
        rows = rows or len(label)
    return _Classifier(cells, np.concatenate(parts), rows)


def _compared(results: Results, a: _Classifier, b: _Classifier) -> Hypothesis:
    row = results.hypothesis(
        *a.cells,
        *b.cells,
        test="corrected-resampled",
        method="5x2cv F" if a.five_by_two else "corrected t",
        alternative="two-sided",
        null="the algorithms a and b are equally accurate when trained on other rows, as many as here",
        a=a.cells[0].subject["classifier"],
        b=b.cells[0].subject["classifier"],
        measure="difference of accuracies (b - a)",
    )
    if a.accuracy is None or b.accuracy is None:
        return row
    differences = b.accuracy - a.accuracy
    found: Any
    if a.five_by_two:
        found, interval = five_by_two_test(differences), {}
    else:
        found = corrected_resampled_test(differences.ravel(), n_train=differences.shape[1] - 1, n_test=1)
        low, high = found.confidence_interval
        interval = {"estimate_low": low, "estimate_high": high}
    return row.with_(
        n=a.rows,
        statistic=found.statistic,
        estimate=found.estimate,
        p_value=found.pvalue,
        note=found.reason,
        **interval,
    )
