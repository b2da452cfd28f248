"""A test on cross-validated learners: its p-value on each sample of a population, from the outcomes of the folds."""

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ..fan_out import new_cell, replicates_table
from ..plan import Block, Cell
from ..populations.fold_tests import permutation_of, permutation_pvalues, run_fold_test, scheme_of
from ..populations.tests import attempts, numbers, require_some_defined
from ..storage.store import Store
from ..work import OfFolds, OnSamples
from . import cross_validate, subsample

VERSION = 1
LANE_SIZE = 100

SCHEMA = subsample.SCHEMA


def stream(work: OfFolds) -> dict[str, Any]:
    """Keyed by the population and the size; the samples have streams of their own."""
    return {"of": "fold tests", "population": work.population, "n": work.n}


def folds_cell(work: OfFolds) -> Cell:
    """The cell of the cross-validation that a test is made of."""
    permutation = permutation_of(work.test)
    scheme = scheme_of(work.test, work.scheme)
    what = "" if permutation is None else f", {permutation.null} permuted"
    return new_cell(
        "cross-validate",
        cross_validate,
        subject={
            "dataset": work.of.dataset,
            "slice": work.of.slice,
            "n": str(work.n),
            "scheme": f"{scheme.repeats} x {scheme.folds} folds{what}",
        },
        work=OnSamples(
            population=work.population, n=work.n, learner=work.learner, scheme=scheme, permutation=permutation
        ),
        seed=work.of.seed,
        replicates=work.of.replicates,
    )


def needs(work: OfFolds) -> list[Cell]:
    """The cross-validation."""
    return [folds_cell(work)]


def compute(block: Block, store: Store) -> pa.Table:
    """The p-value on each sample of the block."""
    work = block.cell.work_of(OfFolds)
    source = folds_cell(work)
    folds = store.read_prefix(source)
    assert folds is not None  # the engine completes prerequisites first
    folds = folds.slice(block.first, block.last - block.first)
    size = folds.num_rows
    defined = folds.column("wrong").to_numpy() >= 0
    p_values, advantages = np.full(size, np.nan), np.zeros(size)
    if permutation_of(work.test) is None:
        p_values, advantages = _of_outcomes(block, folds, defined)
    elif defined.any():
        wrong = folds.column("wrong").to_numpy()[defined]
        permuted = np.array(folds.filter(pa.array(defined)).column("permuted").to_pylist(), dtype=np.int64)
        p_values[defined] = permutation_pvalues(wrong, permuted)
        advantages[defined] = permuted.mean(axis=1) - wrong
    return replicates_table(
        block,
        SCHEMA,
        p_value=p_values,
        covers=[None] * size,
        advantage=advantages,
        no_positive=np.zeros(size, dtype=np.bool_),
    )


def _of_outcomes(
    block: Block, folds: pa.Table, defined: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The p-value on each sample, NaN where the test is not defined, and by how much B is better."""
    work = block.cell.work_of(OfFolds)
    scheme = scheme_of(work.test, work.scheme)
    shape = (scheme.repeats, scheme.folds, 8)
    outcomes = folds.column("outcomes").to_pylist()
    answers: list[tuple[float, float] | None] = []
    for rng, size in block.lanes():
        first = len(answers)
        own = [place for place in range(first, first + size) if defined[place]]
        found, problem = attempts(
            partial(run_fold_test, work.test, np.array(outcomes[place], dtype=np.int64).reshape(shape), rng)
            for place in own
        )
        if block.first == first == 0 and own:
            require_some_defined(numbers(each and each[0] for each in found), problem)
        by_place = dict(zip(own, found, strict=True))
        answers.extend(by_place.get(place) for place in range(first, first + size))
    p_values, advantages = (numbers(each and each[side] for each in answers) for side in (0, 1))
    return p_values, np.nan_to_num(advantages)


def drawn_rows(block: Block, store: Store, index: int) -> pa.Table:  # noqa: ARG001
    """The rows of one sample: the class of each, and what A and B see of it."""
    source = folds_cell(block.cell.work_of(OfFolds))
    trial = block.first + index
    lane = trial // source.lane_size
    first = source.block(lane, lane + 1)
    sample = cross_validate.sample(first, trial - first.first)
    columns: dict[str, Any] = {"label": sample.y}
    for side, view in (("a", sample.a), ("b", sample.b)):
        columns |= {f"{side}{column + 1}": view[:, column] for column in range(view.shape[1])}
    return pa.table(columns)
