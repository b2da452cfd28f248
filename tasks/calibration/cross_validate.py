"""Two learners, cross-validated on samples of a population: the joint outcomes of each fold of each sample.

The stream is keyed only by the population and the size, and the samples of a lane are drawn before any folds, so that
all schemes of cross-validation get the same samples.
"""

from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ..fan_out import FanOut, replicates_table
from ..plan import Block
from ..schema import REPLICATE, column
from ..storage.store import Store
from .populations import two_views
from .populations.tests import attempts
from .work import OnSamples

LANE_SIZE = 10

_Folds: TypeAlias = tuple[list[int], int, list[int]]

#: What is stored of a sample on which a learner fails: no outcomes, and a number wrong that cannot be.
_FAILED: _Folds = ([], -1, [])

_COUNTS = pa.list_(pa.field("element", pa.int32(), nullable=False))

_SCHEMA = pa.schema(
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


def _compute(block: Block, store: Store, work: OnSamples) -> pa.Table:  # noqa: ARG001
    entries: dict[str, list[Any]] = {"outcomes": [], "wrong": [], "permuted": []}
    for rng, size in block.lanes():
        samples = two_views.draw(work.population, work.n, rng, LANE_SIZE)
        answers, problem = attempts(partial(_of_sample, work, sample, rng) for sample in samples[:size])
        if block.first == 0 and not entries["wrong"] and not any(answers):
            raise ValueError(problem)  # a learner that fails on all samples of the first lane fails on more than these
        for outcomes, wrong, permuted in (answer or _FAILED for answer in answers):
            entries["outcomes"].append(outcomes)
            entries["wrong"].append(wrong)
            entries["permuted"].append(permuted)
    return replicates_table(block, _SCHEMA, **entries)


def _of_sample(work: OnSamples, sample: two_views.Sample, rng: np.random.Generator) -> _Folds:
    folds = two_views.folds_of(sample, work.scheme, rng)
    learner, permutation = work.learner, work.permutation
    if permutation is None:
        outcomes = two_views.outcomes(sample, folds, learner)
        wrong = int(outcomes[:, :, [1, 3, 4, 6]].sum())  # of A: e2, e4, e5 and e7
        return outcomes.ravel().tolist(), wrong, []
    wrong, permuted = two_views.permuted_wrong(sample, folds, learner, permutation, rng)
    return [], wrong, permuted.tolist()


def sample(block: Block, index: int) -> two_views.Sample:
    """The sample `index` of the first lane of a block."""
    rng, _ = next(block.lanes())
    work = block.cell.work_of(OnSamples)
    return two_views.draw(work.population, work.n, rng, LANE_SIZE)[index]


FAN_OUT = FanOut(
    about="Two learners, cross-validated on samples of a population: the joint outcomes of each fold of each sample.",
    in_words="cross-validation",
    work=OnSamples,
    lane_size=LANE_SIZE,
    stream=lambda work: {"population": work.population, "n": work.n},
    schema=_SCHEMA,
    compute=_compute,
)
