"""The confidence of a test on one test set, and how often test sets agree (Table 3 of Keller, Mariethoz and Bengio).

Two classifiers that the study has trained are compared on its test set: a test gives the confidence that the one which
is better there is truly better. It is compared with the share of other test sets of the same size, drawn from all the
rest of the rows, on which the same classifier is better.
"""

from collections.abc import Iterator

import numpy as np

from sigstats._common.random_streams import as_generator
from sigstats.intervals import clopper_pearson
from sigstats.joint.outcomes import JointOutcomes

from ..fingerprint import digest
from ..plan import Cell
from ..populations.population import Population
from ..populations.tests import advantage, confidence, measure_of
from ..replicates.predict import outcomes
from ..replicates.subsample import outcomes_cell
from ..results import Results
from ..schema import Hypothesis


def rows(results: Results) -> Iterator[Hypothesis]:
    """One row for each test on each pair of trained classifiers, where test sets of the same size were drawn."""
    for cell in results.cells("subsample"):
        source = outcomes_cell(cell.work)
        if (
            source is None
            or source.fanout != "predict"
            or cell.work["population"]["swapped"]
            or cell.work["n"] != source.work["split"]["test"]
        ):
            continue
        yield _of_cell(results, cell, source)


def _of_cell(results: Results, cell: Cell, source: Cell) -> Hypothesis:
    test = cell.work["test"]
    row = Hypothesis(
        study=results.plan.study,
        cell=f"{source.name} {cell.name}",
        test="confidence",
        method=cell.subject["test"],
        alternative="greater",
        null="the classifier that is better on the test set is not better in truth",
        dataset=cell.subject["dataset"],
        slice=cell.subject["slice"],
        measure=measure_of(test).name,
        n=cell.work["n"],
    )
    predictions, drawn = results.table(source), results.table(cell)
    if predictions is None or drawn is None:
        return row
    joint = JointOutcomes(*outcomes(predictions, test=True))
    ahead = float(advantage(test, np.array([joint.counts]), Population(outcomes=joint.counts))[0])
    if not ahead:
        return row.with_(decision="none", note="on the test set neither is better")
    seed = int(digest("confidence", cell=cell.fingerprint)[:12], 16)
    agreeing = int(np.count_nonzero(drawn.column("advantage").to_numpy() * ahead > 0))
    low, high, _ = clopper_pearson(agreeing, drawn.num_rows)
    sides = [f"{side.upper()} ({source.work[side]['learner']})" for side in ("a", "b")]
    loser, winner = sides if ahead > 0 else reversed(sides)
    return row.with_(
        a=loser,
        b=winner,
        statistic=confidence(test, joint, as_generator(seed)),
        estimate=agreeing / drawn.num_rows,
        estimate_low=low,
        estimate_high=high,
        replicates=drawn.num_rows,
        decision="none",
    )
