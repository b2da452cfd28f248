"""Two learners, cross-validated on samples of a population, and a test that compares them on each sample.

The stream is keyed only by the population and the size, and the samples of a lane are drawn before any folds, so that
all schemes of cross-validation get the same samples. A test uses the outcomes of each fold, or outcomes pooled over all
folds and repetitions. Pooled predictions share training rows, and several repetitions share test rows, so that a test
that assumes independence may not keep its level. Calibration studies examine this.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats._common.extreme import monte_carlo_pvalue
from sigstats._common.validation import FloatArray
from sigstats.efficiency import efficiency_test
from sigstats.homogeneity.homogeneity_test import homogeneity_test
from sigstats.joint.outcomes import JointOutcomes
from sigstats.retraining.resampled import corrected_resampled_test, five_by_two_test

from ..fan_out import FanOut, cell_of, replicates_table
from ..plan import Block, Cell
from ..record import Permuted, Scheme
from ..schema import REPLICATE, column
from ..storage.store import Store
from . import subsample
from .population import Population
from .populations import two_views
from .populations.tests import advantage, call_each, require_some_defined, run_test
from .work import AppliedTest, OfFolds, OnSamples

#: The number of samples that share a random stream.
_LANE = 10

#: The most samples in a stand-in for results, in whole lanes; the timing of a plan needs fewer.
_INVENTED = 1000


class _SampleCounts(NamedTuple):
    """The stored counts of one sample. The fields are columns of `_FOLDS`."""

    outcomes: list[int]
    wrong: int
    permuted: list[int]


#: Stored for a sample on which a learner fails: no outcomes, and an impossible number of wrong answers.
_FAILED = _SampleCounts([], -1, [])

_COUNTS = pa.list_(pa.field("element", pa.int32(), nullable=False))

_FOLDS = pa.schema(
    [
        REPLICATE,
        column(
            "outcomes",
            _COUNTS,
            "rows",
            "rows with the joint outcomes e1 to e8, of each fold of each repetition, one after another",
        ),
        column("wrong", pa.int32(), "rows", "wrong answers of A over all repetitions"),
        column("permuted", _COUNTS, "rows", "the same in each permutation; empty where there is none"),
    ]
)


def _cross_validate(block: Block, store: Store, work: OnSamples) -> pa.Table:  # noqa: ARG001
    rows: list[_SampleCounts] = []
    for rng, size in block.lanes():
        samples = two_views.draw(work.population, work.n, rng, _LANE)[:size]
        counts, problem = call_each(partial(_cross_validate_sample, work, sample, rng) for sample in samples)
        if block.first == 0 and not rows and not any(counts):
            raise ValueError(problem)  # a learner that fails on the whole first lane would fail on the others too
        rows.extend(row or _FAILED for row in counts)
    outcomes, wrong, permuted = map(list, zip(*rows, strict=True))
    return replicates_table(block, _FOLDS, outcomes=outcomes, wrong=wrong, permuted=permuted)


def _cross_validate_sample(work: OnSamples, sample: two_views.Sample, rng: np.random.Generator) -> _SampleCounts:
    folds = two_views.folds_of(sample, work.scheme, rng)
    learner, permutation = work.learner, work.permutation
    if permutation is None:
        outcomes = two_views.outcomes(sample, folds, learner)
        wrong = int(outcomes[:, :, [1, 3, 4, 6]].sum())  # of A: e2, e4, e5 and e7
        return _SampleCounts(outcomes.ravel().tolist(), wrong, [])
    wrong, permuted = two_views.permuted_wrong(sample, folds, learner, permutation, rng)
    return _SampleCounts([], wrong, permuted.tolist())


CROSS_VALIDATE = FanOut(
    about="Joint outcomes of two learners, cross-validated on samples of a population, in each fold of each sample.",
    in_words="cross-validation",
    work=OnSamples,
    lane_size=_LANE,
    stream=lambda work: {"population": work.population, "n": work.n},
    schema=_FOLDS,
    compute=_cross_validate,
)


def folds_cell(work: OfFolds) -> Cell:
    """Return the cell of the cross-validation that a test uses."""
    permutation = permutation_of(work.test)
    scheme = scheme_of(work.test, work.scheme)
    what = "" if permutation is None else f", {permutation.null} permuted"
    return cell_of(
        "cross-validate",
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


def _test(block: Block, store: Store, work: OfFolds) -> pa.Table:
    source = folds_cell(work)
    folds = store.read_prefix(source)
    assert folds is not None  # the engine completes prerequisites first
    folds = folds.slice(block.first, block.last - block.first)
    size = folds.num_rows
    learned = folds.column("wrong").to_numpy() >= 0
    if permutation_of(work.test) is None:
        p_values, advantages = _test_outcomes(block, folds, learned)
    else:
        p_values, advantages = _test_permutations(folds, learned)
    return replicates_table(
        block,
        subsample.SCHEMA,
        p_value=p_values,
        covers=[None] * size,
        advantage=advantages,
        no_positive=np.zeros(size, dtype=np.bool_),
    )


def _stand_in(work: OfFolds, store: Store) -> OfFolds:
    """Return the work with invented outcomes of the first samples, which are written to the store."""
    invented = replace(work, of=replace(work.of, slice="invented", seed=-1))
    source, scheme = folds_cell(invented), scheme_of(work.test, work.scheme)
    if store.find(source).done:
        return invented
    size, rng = min(source.replicates, _INVENTED), np.random.default_rng(0)
    rows = np.full((scheme.repeats, scheme.folds), max(1, work.n // scheme.folds))
    outcomes = rng.multinomial(rows, np.full(8, 1 / 8), (size, *rows.shape)).reshape(size, -1).tolist()
    permutation = permutation_of(work.test)
    permuted = [[0] * (0 if permutation is None else permutation.resamples)] * size
    block = source.block(0, -(-size // source.lane_size))
    table = replicates_table(block, _FOLDS, outcomes=outcomes, wrong=[0] * size, permuted=permuted)
    store.write_block(source, 0, size, table)
    return invented


def _test_outcomes(block: Block, folds: pa.Table, learned: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Test each sample by its outcomes; return the p-values, NaN if the test is undefined, and the advantages of B.

    `learned`: mask of the samples on which no learner failed.
    """
    work = block.cell.work_of(OfFolds)
    scheme = scheme_of(work.test, work.scheme)
    shape = (scheme.repeats, scheme.folds, 8)
    outcomes = folds.column("outcomes").to_pylist()
    p_values, advantages = np.full(len(learned), np.nan), np.zeros(len(learned))
    first = 0
    for rng, size in block.lanes():
        samples = first + np.flatnonzero(learned[first : first + size])
        answers, problem = call_each(
            partial(run_fold_test, work.test, np.array(outcomes[sample], dtype=np.int64).reshape(shape), rng)
            for sample in samples
        )
        for sample, answer in zip(samples, answers, strict=True):
            if answer is not None:
                p_values[sample], advantages[sample] = answer
        if block.first == first == 0 and samples.size:
            require_some_defined(p_values[samples], problem)
        first += size
    return p_values, np.nan_to_num(advantages)


def _test_permutations(folds: pa.Table, learned: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Do the same as `_test_outcomes` by the wrong answers of A, as observed and in each permutation."""
    p_values, advantages = np.full(len(learned), np.nan), np.zeros(len(learned))
    if learned.any():
        wrong = folds.column("wrong").to_numpy()[learned]
        permuted = np.array(folds.filter(pa.array(learned)).column("permuted").to_pylist(), dtype=np.int64)
        p_values[learned] = permutation_pvalues(wrong, permuted)
        advantages[learned] = permuted.mean(axis=1) - wrong
    return p_values, advantages


def _drawn_rows(block: Block, store: Store, index: int) -> pa.Table:  # noqa: ARG001
    """Return the rows of one sample: their classes, and the features that A and B see."""
    work = block.cell.work_of(OfFolds)
    source = folds_cell(work)
    lane, place = divmod(block.first + index, source.lane_size)
    rng, _ = next(source.block(lane, lane + 1).lanes())
    sample = two_views.draw(work.population, work.n, rng, _LANE)[place]
    columns: dict[str, Any] = {"label": sample.y}
    for side, view in (("a", sample.a), ("b", sample.b)):
        columns |= {f"{side}{column + 1}": view[:, column] for column in range(view.shape[1])}
    return pa.table(columns)


#: A stand-in for the population, since pooled counts are not drawn from rows: tests only need both classes to occur.
_POOLED = Population(outcomes=(1,) * 8)


def scheme_of(test: AppliedTest, scheme: Scheme) -> Scheme:
    """Return the folds and repetitions that a test uses if the population has this scheme."""
    return Scheme(folds=2, repeats=5) if test.test == "five-by-two" else scheme


def permutation_of(test: AppliedTest) -> Permuted | None:
    """Return the null hypothesis and the number of permutations, or None for a test without permutations."""
    return Permuted(**test.options) if test.test == "permutation" else None


def differences(outcomes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the difference in accuracy, A - B, in each fold, shape (repeats, folds), from outcomes, shape (..., 8)."""
    only_a = outcomes[..., 2] + outcomes[..., 5]
    only_b = outcomes[..., 1] + outcomes[..., 6]
    return np.asarray((only_a - only_b) / outcomes.sum(axis=-1))


def run_fold_test(test: AppliedTest, outcomes: NDArray[np.int64], rng: np.random.Generator) -> tuple[float, float]:
    """Run a test on one sample; return its p-value and the advantage of B over A."""
    pooled = outcomes.sum(axis=(0, 1))
    if test.test == "efficiency":
        a = JointOutcomes(*pooled.tolist()).confusion_a
        result = efficiency_test([[int(a.tp), int(a.fn)], [int(a.fp), int(a.tn)]], method="exact")
        return result.pvalue, (a.tp + a.tn) / float(pooled.sum()) - 0.5
    ahead = -float(differences(outcomes).mean())
    if test.test == "homogeneity":
        return homogeneity_test(*_right_by_class(pooled)).pvalue, ahead
    if test.test == "five-by-two":
        return five_by_two_test(differences(outcomes)).pvalue, ahead
    if test.test == "corrected-t":
        folds = outcomes.shape[1]
        values = differences(outcomes).ravel()
        return corrected_resampled_test(values, n_train=folds - 1, n_test=1, **test.options).pvalue, ahead
    answers = run_test(test, pooled[None], _POOLED, rng)
    if answers.problem:
        raise ValueError(answers.problem)
    return float(answers.p_value[0]), float(advantage(test, pooled[None], _POOLED)[0])


def _right_by_class(pooled: NDArray[np.int64]) -> Iterator[list[int]]:
    """Yield Hryniewicz's counts of A and of B (eq. 1): right answers by class, and all wrong answers."""
    joint = JointOutcomes(*pooled.tolist())
    for side in (joint.confusion_a, joint.confusion_b):
        yield [int(side.tp), int(side.tn), int(side.fp + side.fn)]


def permutation_pvalues(wrong: NDArray[np.int64], permuted: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the p-value of each sample; `permuted`: the wrong answers in each permutation, shape (m, resamples)."""
    exceedances = np.count_nonzero(permuted <= wrong[:, None], axis=1)
    return np.array([monte_carlo_pvalue(int(count), permuted.shape[1]) for count in exceedances])


FOLD_TEST = FanOut(
    about="A test on cross-validated learners: p-values on samples of a population, from the outcomes of the folds.",
    in_words="samples",
    work=OfFolds,
    lane_size=100,
    # The samples have separate streams.
    stream=lambda work: {"of": "fold tests", "population": work.population, "n": work.n},
    schema=subsample.SCHEMA,
    compute=_test,
    needs=lambda work: [folds_cell(work)],
    stand_in=_stand_in,
    drawn_rows=_drawn_rows,
)
