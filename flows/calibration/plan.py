"""The calibration study: whether a test can be trusted at a sample size.

Test sets of each size are drawn from a known population, simulated or of rows on disk, and every test is applied to
each of them. The rate of rejections and the coverage of intervals are compared with their nominal values and, if the
test depends only on counts, with the exact rate.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sigstats._common.messages import rephrased
from sigstats._common.validation import refuse
from sigstats.tasks.calibration import own_tests
from sigstats.tasks.calibration.interval import run_intervals
from sigstats.tasks.calibration.population import EventPopulation, Population, is_large_part
from sigstats.tasks.calibration.populations.judged import JudgedRows
from sigstats.tasks.calibration.populations.tests import needs_classes, require_some_defined, run_test
from sigstats.tasks.calibration.rejections import cells_by_test
from sigstats.tasks.calibration.work import (
    AppliedTest,
    Described,
    OfFolds,
    OnTestSets,
    Samples,
    Tallied,
    Tested,
    measure_of,
)
from sigstats.tasks.fan_out import cell_of, input_cells
from sigstats.tasks.own_code import allow_measures, with_measure_code
from sigstats.tasks.plan import Cell
from sigstats.tasks.record import TwoViews, record
from sigstats.tasks.statistical_tests import of_sets
from sigstats.tasks.storage.data import StoredData
from sigstats.tasks.summary import Reference

from ..running.kind import Kind
from ..running.options import Prepared, Progress
from .model import CalibrationStudy, PublishedSize
from .populations import PopulationSpec
from .tests import INTERVALS, OF_FOLDS, OwnTest, label_of, options_of


def _layout(study: CalibrationStudy, base: Path, progress: Progress, allow: Sequence[str]) -> Prepared:
    allow_measures((getattr(test, "measure", "") for test in study.tests), allow)
    tests = {label_of(test): _with_identity(options_of(test, study.alpha), test, allow) for test in study.tests}
    limits = {label_of(test): test.limits("tests", imported=True) for test in study.tests if isinstance(test, OwnTest)}
    cells: list[Cell] = []
    notes: list[str] = []
    data: list[StoredData] = []
    for source in study.populations:
        with rephrased(f"populations: {source.name}: "):
            loaded_source = source.load(base / study.folder, study.seed, tests=tests.values(), progress=progress)
        data.extend(loaded_source.data)
        notes.extend([loaded_source.note] if loaded_source.note else [])
        notes.extend(_note_on_large_part(study, source.name, loaded_source.populations))
        for population in loaded_source.populations:
            cells.extend(_cells(study, source.name, population, tests, limits))
    if unused := sorted(tests.keys() - {cell.subject.get("test") for cell in cells}):
        raise ValueError(f"tests: {unused[0]} is not valid; expected a test that fits one of the populations")
    # Cells with results that other cells read come first.
    ordered = sorted(dict.fromkeys(cells), key=lambda cell: isinstance(cell.work, Tested))
    plan = study.plan_of(ordered, _analyses(study, cells))
    references = tuple(_published_sizes(study.published, plan.cells))
    return Prepared(plan, tuple(data), notes=tuple(notes), references=references)


def _note_on_large_part(study: CalibrationStudy, source: str, populations: Sequence[PopulationSpec]) -> Iterator[str]:
    """Yield a note if test sets are a large part of the rows, since they then vary less than new ones.

    For judged rows a size is the number of labels, and all rows are drawn again.
    """
    finite = (spec.rows for spec in populations if spec.rows and not isinstance(spec.values, JudgedRows))
    rows, n = min(finite, default=math.inf), max(study.sizes)
    if is_large_part(n, rows):
        yield (
            f"{source}: test sets of {n:,} of {rows:,} rows, without replacement, vary less than new rows like these; "
            "replacement = true draws as from an infinite population (predictions on disk)"
        )


def _analyses(study: CalibrationStudy, cells: Iterable[Cell]) -> Iterator[str]:
    fanouts = {cell.fanout for cell in cells}
    if any(isinstance(cell.work, Tested) and cell.fanout != "interval" for cell in cells):
        yield "calibration"
    if study.published:
        yield "sample-size"
    if not fanouts.isdisjoint({"predict", "categorise"}):
        yield "confidence"
    if "categorise" in fanouts:
        yield "trained"
    if study.performance or (study.performance is None and not fanouts.isdisjoint({"interval", "fold-test"})):
        yield "performance"


def _with_identity(options: dict[str, Any], test: Any, allow: Sequence[str]) -> AppliedTest:
    """Return a test with its options, and the identity of the code that other packages contribute."""
    options = with_measure_code(options)
    if not isinstance(test, OwnTest):
        return record(AppliedTest, options)
    own_tests.check_call(test.test, test.params, allow)
    return record(AppliedTest, options | {"code": own_tests.code_of(test.test, allow)})


def _cells(
    study: CalibrationStudy,
    source: str,
    population: PopulationSpec,
    tests: Mapping[str, AppliedTest],
    limits: Mapping[str, Mapping[str, float] | None],
) -> Iterator[Cell]:
    """Yield the cell of each test that fits a population, at each size, after the cells whose replicates it reads."""
    _check_sizes(study, source, population)
    fitting = {label: test for label, test in tests.items() if _fits(test, population)}
    if not fitting:
        raise ValueError(f"tests: no test applies to {source}; expected {_fitting_tests(population)}")
    slices = {} if population.slice is None else {"slice": population.slice}
    retrained = population.retrained is not None
    for label, test in fitting.items():
        _try_test(label, test, source, population)
        for n in study.sizes:
            fan_out, work = _work(study, source, population, label, test, n)
            cell = cell_of(
                fan_out,
                subject={"dataset": source, **slices, "n": str(n), "test": label},
                work=work,
                seed=study.seed,
                replicates=study.trials if retrained else study.most_trials,
                stopping=None if retrained else study.stopping,
                limits=limits.get(label),
            )
            yield from _with_inputs(cell)


def _check_sizes(study: CalibrationStudy, source: str, population: PopulationSpec) -> None:
    if population.rows is not None and (largest := max(study.sizes)) > population.rows:
        raise ValueError(f"sizes: {largest} is not valid; expected at most {population.rows}, the rows of {source}")
    if population.retrained is not None:
        least = 2 * population.retrained.scheme.folds
        if few := [n for n in study.sizes if n < least]:
            wanted = f"at least {least}, two rows for each fold of {source}"
            raise ValueError(f"sizes: {few[0]} is not valid; expected {wanted}")


def _work(
    study: CalibrationStudy, source: str, population: PopulationSpec, label: str, test: AppliedTest, n: int
) -> tuple[str, OnTestSets | OfFolds]:
    """Return the fan-out that applies a test to test sets of this size, and its work."""
    drawn_from, retrained, factors = population.values, population.retrained, population.factors or None
    test = _as_in_a_comparison(test, population)
    fan_out = "own-test" if test.code is not None else "interval" if test.test in INTERVALS else "subsample"
    if study.rates_only and (isinstance(drawn_from, TwoViews) or fan_out != "subsample"):
        raise ValueError(f"rates_only: true is not valid; {label} needs a row for each test set")
    if isinstance(drawn_from, TwoViews):
        assert retrained is not None
        samples = Samples(dataset=source, slice=retrained.rows, seed=study.seed, replicates=study.trials)
        learner, scheme = retrained.learner, retrained.scheme
        folds = OfFolds(
            population=drawn_from, n=n, test=test, of=samples, learner=learner, scheme=scheme, factors=factors
        )
        return "fold-test", folds
    work = OnTestSets(population=drawn_from, n=n, test=test, factors=factors)
    return ("tally", Tallied(**vars(work), alpha=study.alpha)) if study.rates_only else (fan_out, work)


def _as_in_a_comparison(test: AppliedTest, population: PopulationSpec) -> AppliedTest:
    """Return the test; areas of grouped rows are compared by Student's t, which keeps its level with few groups."""
    if population.grouped and test.measure == "auc":
        return replace(test, options={**test.options, "method": "t"})
    return test


def _with_inputs(cell: Cell) -> Iterator[Cell]:
    """Yield the cells that a cell reads, at any depth, and then the cell itself."""
    for before in input_cells(cell):
        yield from _with_inputs(before)
    yield cell


def _fits(test: AppliedTest, population: PopulationSpec) -> bool:
    """Return True if a population has what a test reads: rows of its kind, folds, scores, or predictions."""
    if isinstance(population.values, Described):
        return test.test == population.values.TEST and population.values.fits(test)
    if test.test in OF_FOLDS:
        return population.retrained is not None
    if test.code is not None:
        return population.retrained is None and not population.scored
    if test.test == "f1-interval":
        is_labelled = not population.scored and population.retrained is None
        return is_labelled and not isinstance(population.population, EventPopulation)
    if test.test == "scores":
        return population.scored
    return not population.scored and (test.test == "bootstrap" or of_sets(test.test) is not None)


def _fitting_tests(population: PopulationSpec) -> str:
    if isinstance(population.values, Described):
        return f"a {population.values.TEST} of such rows"
    return "a test of scores" if population.scored else "a test of predictions"


def _try_test(label: str, test: AppliedTest, source: str, spec: PopulationSpec) -> None:
    """Try a test once, so that its errors are reported before anything starts."""
    if spec.scored or test.test in OF_FOLDS or isinstance(spec.values, Described):
        return
    population = spec.population or Population(outcomes=(1,) * 8)
    counted = isinstance(population, EventPopulation) and test.test == "bootstrap"
    if needs_classes(test) and not population.binary and not counted:
        raise ValueError(
            f"tests: {label}: {source} is not valid; expected a population with rows of both classes (positive)"
        )
    one_of_each = np.ones((1, population.width), dtype=np.int64)
    try:
        if test.code is not None:  # it runs only in a separate process
            population.difference(measure_of(test))
        elif test.test == "f1-interval":
            ends, problem = run_intervals(test.options, one_of_each, np.random.default_rng(0))
            require_some_defined(ends[:, 1], problem)
        else:
            result = run_test(test, one_of_each, population, np.random.default_rng(0))
            require_some_defined(result.p_value, result.problem)
    except ValueError as error:
        # The study spells this argument as its files do.
        raise ValueError(f"tests: {label}: {str(error).replace('n_resamples', 'resamples')}") from None


def _published_sizes(published: Iterable[PublishedSize], cells: Iterable[Cell]) -> Iterator[Reference]:
    """Return the printed numbers, each with the cells of its population and test."""
    groups = {
        (group[0].subject["dataset"], group[0].subject.get("slice"), group[0].subject["test"]): group
        for group in cells_by_test(cells)
        if group[0].work_of(Tested).test.test == "mcnemar"
    }
    for number, size in enumerate(published):
        wanted = (size.population, size.slice, size.test)
        if wanted not in groups:
            known = "; ".join(", ".join(part for part in key if part) for key in list(groups)[:10])
            raise refuse(
                f"published[{number}]", ", ".join(part for part in wanted if part), f"one of {known or 'none'}"
            )
        cell = " ".join(group.name for group in groups[wanted])
        yield Reference(cell=cell, name="estimate", printed=size.rows, remark=size.remark)


KIND = Kind(
    model=CalibrationStudy,
    layout=_layout,
    analyses={
        "calibration": "sigstats.tasks.calibration.rejections:rates",
        "confidence": "sigstats.tasks.calibration.trained:confidences",
        "performance": "sigstats.tasks.calibration.performance:rows",
        "sample-size": "sigstats.tasks.calibration.rejections:sample_sizes",
        "trained": "sigstats.tasks.calibration.trained:performances",
    },
    page="sigstats.flows.calibration.report.page",
)
