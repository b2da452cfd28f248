"""Classifiers trained by a calibration study: the confidence of tests on their test set, and their performance.

A test has a confidence that the better classifier on the test set is truly better. This confidence is compared
with the share of other test sets of the same size, drawn from all remaining rows, on which the same classifier is
better (Table 3 of Keller, Mariethoz and Bengio). The performance of sets of classifiers is measured on the test set and
on all other unseen rows, which represent the population. The chosen parameters are reported.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats._common.random_streams import as_generator
from sigstats.intervals import clopper_pearson
from sigstats.measures.measure import as_measure

from ..plan import Cell
from ..record import SIDES, digest
from ..results import Results
from ..schema import Hypothesis
from ..statistical_tests import estimated
from .computed import chosen_parameters
from .populations.tests import AnyPopulation, advantage, bootstrap_of_better, confidence
from .rejections import totals
from .subsample import outcomes_cell, trained_outputs
from .work import Categorised, OnTestSets, TrainedPair, measure_name, measure_of

#: Number of bins of the histogram of bootstrap replicates.
_BINS = 48


def confidences(results: Results, _: str) -> Iterator[Hypothesis]:
    """Yield a row for each test of a pair of trained classifiers, if the drawn test sets have the pair's test size."""
    for cell in (*results.cells("subsample"), *results.cells("tally")):
        work = cell.work_of(OnTestSets)
        source = outcomes_cell(work)
        if source is None or not isinstance(source.work, TrainedPair) or work.population.swapped:
            continue
        if work.n == source.work.split.test:
            yield _confidence(results, cell, source)


def _confidence(results: Results, cell: Cell, source: Cell) -> Hypothesis:
    work, pair = cell.work_of(OnTestSets), source.work_of(TrainedPair)
    test = work.test
    row = results.hypothesis(
        source,
        cell,
        test="confidence",
        method=cell.subject["test"],
        alternative="greater",
        null_hypothesis="the classifier that is better on the test set is not better in truth",
        measure=measure_name(test),
        n=work.n,
    )
    predictions, drawn = results.table(source), results.table(cell)
    if predictions is None or drawn is None:
        return row
    test_set = trained_outputs(source, predictions, test=True)
    ahead = float(advantage(test, test_set.counts, test_set)[0])
    if not ahead:
        return row.with_(decision="none", note="on the test set neither is better")
    counts = totals(drawn, results.plan.alpha)
    agreeing, trials = counts["b_better" if ahead > 0 else "a_better"], counts["test_sets"]
    sides = [f"{side.upper()} ({pair.side(side).learner})" for side in SIDES]
    loser, winner = sides if ahead > 0 else reversed(sides)
    row = row.with_(a=loser, b=winner)
    resampled = resampled_differences(results, row)
    if resampled is None:
        row = row.with_(statistic=confidence(test, test_set))
    else:
        row = row.with_(statistic=float((resampled[0] > 0).mean()), resampled=json.dumps(_histogram(*resampled)))
    interval = clopper_pearson(agreeing, trials)
    return row.with_(**estimated(agreeing / trials, interval), replicates=trials, decision="none")


def resampled_differences(results: Results, row: Hypothesis) -> tuple[NDArray[np.float64], float] | None:
    """Return the bootstrap replicates behind a stated confidence, and the difference on the test set.

    Both are differences between the better classifier on the test set and the other; greater is better (Figure 1 of
    Keller, Mariethoz and Bengio). Returns None if the test has no replicates or predictions are missing.
    """
    named = {cell.name: cell for cell in results.plan.cells}
    source, cell = (named[name] for name in row.cell.split())
    predictions = results.table(source)
    test = cell.work_of(OnTestSets).test
    if test.test != "bootstrap" or predictions is None:
        return None
    test_set = trained_outputs(source, predictions, test=True)
    generator = as_generator(int(digest("confidence", cell=cell.fingerprint)[:12], 16))
    bootstrap = bootstrap_of_better(test, test_set, generator)
    sign = -1.0 if measure_of(test).greater_is_better else 1.0  # replicates are of A - B, and B is better
    return sign * np.array(bootstrap.bootstrap_distribution), sign * bootstrap.estimate


def _histogram(drawn: NDArray[np.float64], observed: float) -> dict[str, Any]:
    """Count the replicates in bins. Bin i begins at (first + i) times the width, so that one bin begins at 0."""
    low, high = min(0.0, float(drawn.min())), max(0.0, float(drawn.max()))
    width = (high - low) / _BINS or 1.0
    first = int(np.floor(low / width))
    counts = np.bincount(np.floor(drawn / width).astype(np.int64) - first, minlength=1)
    return {
        "replicates": len(drawn),
        "mean": float(drawn.mean()),
        "above": float((drawn > 0).mean()),
        "reach": float(np.quantile(np.abs(drawn - drawn.mean()), 0.95)),
        "observed": observed,
        "first": first,
        "width": width,
        "counts": counts.tolist(),
    }


def performances(results: Results, _: str) -> Iterator[Hypothesis]:
    """Yield a row per classifier and measure, with ``statistic`` on the test set and ``estimate`` in the population."""
    for cell in results.cells("categorise"):
        yield from _performance(results, cell)


def _performance(results: Results, cell: Cell) -> Iterator[Hypothesis]:
    table = results.table(cell)
    work = cell.work_of(Categorised)
    params = chosen_parameters(work, results.store)
    for place, side in enumerate(SIDES):
        for measure in ("micro-f1", "macro-f1"):
            row = results.hypothesis(
                cell,
                test="trained",
                method=_params_in_words(params[side]) if side in params else "as given",
                alternative="none",
                null_hypothesis="none",
                classifier=f"{side.upper()} ({work.side(side).learner})",
                measure=as_measure(measure).name,
                n=work.split.test,
            )
            if table is None:
                yield row
                continue
            test_set, population = (trained_outputs(cell, table, test=test) for test in (True, False))
            yield row.with_(
                statistic=_value(measure, test_set, place), estimate=_value(measure, population, place), decision="none"
            )


def _params_in_words(params: Mapping[str, Any]) -> str:
    texts = {name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in params.items()}
    return ", ".join(f"{name} = {text}" for name, text in texts.items())


def _value(measure: str, population: AnyPopulation, place: int) -> float:
    counts = np.atleast_2d(population.counts)
    record = population.record(counts[0].astype(np.int64).tolist())
    confusion = record.confusions(np.asarray([record.counts], dtype=np.float64))[place]
    return float(np.ravel(as_measure(measure).of(confusion, record.kind))[0])
