"""Tests on test sets from a population: their rejection rates, and the coverage of their intervals.

The stream is keyed only by the population and the size, and the test sets of a lane are drawn before any resamples of a
test, so that all tests get the same test sets.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats._common.extreme import at_most
from sigstats._common.validation import shown
from sigstats.measures.own import is_path

from ..fan_out import FanOut, cell_of, replicates_table
from ..own_code import admit_measure
from ..plan import Block, Cell
from ..record import Named
from ..schema import REPLICATE, column
from ..storage.data import read_data, write_data
from ..storage.seal import replicates_of
from ..storage.store import Store
from .computed import events, outcomes, total_outcomes
from .population import EIGHT, EventPopulation, Population
from .populations import judged as judged  # the imports register the records of these populations
from .populations import kinds as kinds
from .populations import series as series
from .populations import task_rows as task_rows
from .populations.scored import ScorePopulation
from .populations.tests import Answers, AnyPopulation, advantage, draws, require_some_defined, run_score_test, run_test
from .populations.trained import likely_answers
from .populations.votes import Votes
from .work import Categorised, Computed, Counted, Described, Events, OnTestSets, Predicted, ScoredRows

#: Several lanes: the generator and the number of test sets of each lane.
Lanes: TypeAlias = Sequence[tuple[np.random.Generator, int]]
#: Results on several test sets: the answers of the test, the advantage of B, and whether a class has no row.
Answered: TypeAlias = tuple[Answers, NDArray[np.float64], NDArray[np.bool_]]
#: The maximum number of counts in memory, over all test sets drawn together.
_TOGETHER = 2**21

LANE_SIZE = 100

SCHEMA = pa.schema(
    [
        REPLICATE,
        column("p_value", pa.float64(), "probability", "the test's p-value on the test set"),
        column(
            "covers",
            pa.bool_(),
            "yes or no",
            "whether the test's interval holds the population's difference; null for a test without one",
            nullable=True,
        ),
        column(
            "advantage",
            pa.float64(),
            "of the measure",
            "by how much B is better than A on the test set, in the measure that is tested",
        ),
        column("no_positive", pa.bool_(), "yes or no", "whether a class that counts has no row in the test set"),
    ]
)


def _stream(work: OnTestSets) -> dict[str, Any]:
    """Return the key of the stream: the population and the size, but not the test, nor the write times of files."""
    population = work.population
    if isinstance(population, Computed) and isinstance(counted := population.outcomes_of.work, Counted):
        source = replace(population.outcomes_of, work=replace(counted, written=None))
        population = replace(population, outcomes_of=source)
    return {"population": population, "n": work.n}


def _revision(work: OnTestSets) -> int:
    """Return 1 for areas (Obuchowski's variance of grouped rows) and groups of votes (tested by means), else 0."""
    areas = isinstance(work.population, ScoredRows) and work.test.measure == "auc"
    return int(areas or (isinstance(work.population, Votes) and "voters" in str(work.test.options["method"])))


def outcomes_cell(work: OnTestSets) -> Cell | None:
    """Return the cell that trains classifiers or counts files for the population, or None if there is none."""
    if not isinstance(work.population, Computed):
        return None
    of = work.population.outcomes_of
    return cell_of(of.fanout, subject=of.subject, work=of.work, seed=of.seed, replicates=of.replicates)


def _stand_in(work: OnTestSets, store: Store) -> OnTestSets | None:
    """Return the work with plausible answers of the classifiers to be trained, or None if no classifier is trained."""
    source = outcomes_cell(work)
    if source is None or not isinstance(source.work, Predicted | Categorised):
        return None
    likely, swapped = likely_answers(store, source.subject["slice"], source.work), work.population.swapped
    if isinstance(likely, Population):
        return replace(work, population=replace(likely, swapped=swapped))
    write_data(store, likely)
    return replace(work, population=Events(events=Named(name=likely.name, digest=likely.digest()), swapped=swapped))


def population(work: OnTestSets, store: Store) -> AnyPopulation | ScorePopulation | Described | None:
    """Return the population of a cell, or None if the cell that counts its outcomes is incomplete."""
    drawn_from = work.population
    if isinstance(drawn_from, Population | Described):
        return drawn_from
    data: EventPopulation | ScorePopulation
    if isinstance(drawn_from, Events):
        stored = read_data(store, EventPopulation, drawn_from.events.name, drawn_from.events.digest)
        data = replace(stored, endless=drawn_from.endless)
    elif isinstance(drawn_from, ScoredRows):
        data = read_data(store, ScorePopulation, drawn_from.scores.name, drawn_from.scores.digest)
    else:
        source = outcomes_cell(work)
        assert source is not None
        try:
            return replace(_counted(store, source), swapped=drawn_from.swapped)
        except LookupError:
            return None
    return replace(data, swapped=drawn_from.swapped)


@lru_cache(maxsize=16)
def _counted(store: Store, source: Cell) -> AnyPopulation:
    """Return the population that a cell counted, read once per process; raise LookupError if it is incomplete."""
    table = store.read_prefix(source)
    if table is None or replicates_of(table) < source.replicates:
        raise LookupError(source.name)
    if source.fanout == "count":
        return Population(outcomes=total_outcomes(table))
    return trained_outputs(source, table, test=False)


def trained_outputs(source: Cell, table: pa.Table, *, test: bool) -> AnyPopulation:
    """Return the outputs of the classifiers that a cell trained, for their test set or for all remaining rows."""
    if source.fanout == "predict":
        return Population(outcomes=outcomes(table, test=test))
    name = source.subject["slice"]
    return EventPopulation(name, events(table, source.work_of(Categorised).categories, test=test))


def results_of_block(block: Block, store: Store, work: OnTestSets, answer: Callable[..., Answered]) -> pa.Table:
    """Return the results of a test on each test set of a block. `answer` computes the results of several lanes."""
    admit_measure(work.test.measure, work.test.measure_code)
    drawn_from = population(work, store)
    assert drawn_from is not None  # the engine completes prerequisites first
    source = outcomes_cell(work)  # whether a label occurs is known only after all files are counted
    positive = getattr(source.work, "positive", None) if source else None
    if positive is not None and isinstance(drawn_from, Population) and not any(drawn_from.outcomes[:4]):
        raise ValueError(f"positive: no row has the label {shown(positive)}; name a label that occurs")
    parts: list[Any] = []
    for lanes in groups_of_lanes(block, drawn_from, alone=draws(work.test)):
        answers, better, lacking = answer(work, drawn_from, lanes)
        if block.first == 0 and not parts:
            require_some_defined(answers.p_value[:LANE_SIZE], answers.problem)
        covers = np.full(len(lacking), None) if answers.covers is None else answers.covers
        parts.append((answers.p_value, covers, better, lacking))
    columns = zip(SCHEMA.names[1:], map(np.concatenate, zip(*parts, strict=True)), strict=True)
    return replicates_table(block, SCHEMA, **dict(columns))


def groups_of_lanes(block: Block, drawn_from: object, *, alone: bool) -> Iterator[Lanes]:
    """Yield the lanes of a block in groups. If `alone`, a group is one lane, whose stream draws more than test sets."""
    lanes, group_size = block.lanes(), 1
    if isinstance(drawn_from, Population | EventPopulation) and not alone:
        group_size = max(1, _TOGETHER // (LANE_SIZE * drawn_from.width))
    while group := list(islice(lanes, group_size)):
        yield group


def draw_lanes(drawn_from: AnyPopulation, n: int, lanes: Lanes) -> NDArray[np.int64]:
    """Draw the test sets of several lanes. Whole lanes are drawn, so that a lane cut short has the same first sets."""
    return np.concatenate([drawn_from.draw(n, rng, LANE_SIZE)[:size] for rng, size in lanes])


def _drawn_rows(block: Block, store: Store, index: int) -> pa.Table:
    """Return the rows of one test set: distinct rows with counts, scored rows, or rows of a described population."""
    work = block.cell.work_of(OnTestSets)
    drawn_from = population(work, store)
    assert drawn_from is not None  # a replay checks this first
    rng, _ = next(block.lanes())
    if isinstance(drawn_from, Described):
        return pa.table(drawn_from.rows_of(drawn_from.draw(work.n, rng, LANE_SIZE)[index]))
    if not isinstance(drawn_from, ScorePopulation):
        return counted_rows(drawn_from, drawn_from.draw(work.n, rng, LANE_SIZE)[index].tolist())
    rows = drawn_from.draw(work.n, rng, LANE_SIZE).part(index)
    columns: dict[str, Any] = {"positive": rows.positive, "score_a": rows.a, "score_b": rows.b}
    return pa.table(columns | ({} if rows.group is None else {"group": rows.group}))


def _answer(work: OnTestSets, drawn_from: AnyPopulation | ScorePopulation | Described, lanes: Lanes) -> Answered:
    test, n, (rng, size) = work.test, work.n, lanes[0]
    if isinstance(drawn_from, Described):
        answers = drawn_from.run_test(test, drawn_from.draw(n, rng, LANE_SIZE)[:size], rng)
        return answers, np.zeros(size), np.zeros(size, np.bool_)
    if isinstance(drawn_from, ScorePopulation):
        sets = drawn_from.draw(n, rng, LANE_SIZE).part(slice(size))
        truth = 0.0 if drawn_from.swapped else drawn_from.truth[test.compared]
        return *run_score_test(test, sets, truth), sets.lacking
    drawn = draw_lanes(drawn_from, n, lanes)
    return run_test(test, drawn, drawn_from, rng), advantage(test, drawn, drawn_from), drawn_from.lacking(drawn)


def counted_rows(drawn_from: Population | EventPopulation, counts: Sequence[int]) -> pa.Table:
    """Return the distinct rows of a test set with their counts: the true class, and the predictions of A and B.

    If only right and wrong answers matter, all rows count as truly positive (`Population`).

    >>> counted_rows(Population(outcomes=(1,) * 8), [3, 1, 0, 0, 0, 0, 0, 6]).to_pylist()[1]
    {'label': 'positive', 'pred_a': 'negative', 'pred_b': 'positive', 'count': 1}
    """
    times: Sequence[int]
    if isinstance(drawn_from, EventPopulation):
        joint = drawn_from.record(counts)
        parts, times = zip(*joint.events, strict=True), joint.counts
        sides = [[", ".join(str(joint.categories[place]) for place in row) for row in part] for part in parts]
    else:
        events, times = zip(*((event, count) for event, count in enumerate(counts) if count), strict=True)
        sides = np.array(["negative", "positive"])[EIGHT[list(events)].T].tolist()
    return pa.table(dict(zip(("label", "pred_a", "pred_b"), sides, strict=True)) | {"count": list(times)})


def _own_code(work: OnTestSets) -> Mapping[str, str] | None:
    name, code = work.test.measure, work.test.measure_code
    return {"learner": str(name), **code} if is_path(name) and code else None


FAN_OUT = FanOut(
    about="Tests on test sets from a population: their rejection rates, and the coverage of their intervals.",
    in_words="test sets",
    work=OnTestSets,
    version=3,
    revision=_revision,
    lane_size=LANE_SIZE,
    stream=_stream,
    schema=SCHEMA,
    compute=partial(results_of_block, answer=_answer),
    needs=lambda work: [cell for cell in [outcomes_cell(work)] if cell is not None],
    stand_in=_stand_in,
    rejections=lambda table, alpha: at_most(table.column("p_value").to_numpy(), alpha),
    drawn_rows=_drawn_rows,
    own_code=_own_code,
)
