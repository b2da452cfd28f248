"""The calibration study: how far a test can be trusted at a sample size.

Test sets of each size are drawn from a population of which all is known, simulated or of rows on disk, and each test is
applied to each: how often it rejects, and how often its interval holds the truth, is held against what is stated, and
where the test depends on counts alone against its exact rate.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from sigstats._common.validation import Alternative
from sigstats.measures.table import SCORE_MEASURES
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.populations.population import EventPopulation, Population
from sigstats.tasks.populations.tests import needs_classes, run_test
from sigstats.tasks.replicates import cell
from sigstats.tasks.storage.data import StoredData

from ..config.model import Strict
from ..config.study import DataStudy
from ..running.prepared import Prepared, Progress
from ._cell_study import CellStudyKind
from .populations import PopulationSpec, Source

_NAMES = {
    "mcnemar": "McNemar",
    "proportion": "proportion",
    "dcf": "DCF",
    "bootstrap": "bootstrap",
    "scores": "test of scores",
}

Side = Annotated[Alternative, Field(description="greater: A is better; less: B is")]


class McNemar(Strict):
    """McNemar's test."""

    test: Literal["mcnemar"]
    method: Annotated[Literal["exact", "mid-p", "chi2"], Field(description="How p is found")] = "exact"
    alternative: Side = "two-sided"
    correction: Annotated[bool, Field(description="Edwards's continuity correction, of chi2")] = False


class Proportion(Strict):
    """The test of two errors of Keller, Mariethoz and Bengio."""

    test: Literal["proportion"]
    paired: Annotated[bool, Field(description="From the disagreements alone, eq. (6), or not, eq. (4)")] = True
    alternative: Side = "two-sided"


class Dcf(Strict):
    """The test of two detection costs of Keller, Mariethoz and Bengio."""

    test: Literal["dcf"]
    cost_fn: Annotated[float, Field(ge=0, le=1e100, description="The cost of a missed positive")] = 1.0
    cost_fp: Annotated[float, Field(ge=0, le=1e100, description="The cost of a false positive")] = 1.0
    prior: Annotated[float, Field(gt=0, lt=1, description="The probability of a positive in use")] = 0.5
    paired: Annotated[bool, Field(description="From the disagreements alone, eq. (9), or not, eq. (8)")] = True
    alternative: Side = "two-sided"


class Bootstrap(Strict):
    """The bootstrap of a measure, whose interval has the confidence 1 - alpha."""

    test: Literal["bootstrap"]
    measure: Annotated[str, Field(description="A measure of two classes, such as f1")] = "f1"
    method: Annotated[Literal["percentile", "centred", "bca"], Field(description="The interval")] = "percentile"
    resamples: Annotated[int, Field(ge=1, le=10**6, description="Bootstrap replicates of each test set")] = 10_000
    alternative: Side = "two-sided"


class Scored(Strict):
    """A test of scores, whose interval has the confidence 1 - alpha: DeLong's of areas, Student's t of losses."""

    test: Literal["scores"]
    measure: Annotated[str, Field(description="The measure", json_schema_extra={"enum": list(SCORE_MEASURES)})] = "auc"
    alternative: Side = "two-sided"

    @field_validator("measure", mode="after")
    @classmethod
    def _of_scores(cls, measure: str) -> str:
        if measure not in SCORE_MEASURES:
            raise ValueError(f"{measure!r} is not valid; expected one of {', '.join(SCORE_MEASURES)}")
        return measure


Test = Annotated[McNemar | Proportion | Dcf | Bootstrap | Scored, Field(discriminator="test")]


class CalibrationStudy(DataStudy):
    """What a study file of ``kind = "calibration"`` may say."""

    question: ClassVar[str] = "can these tests be trusted at this sample size?"

    kind: Literal["calibration"]
    populations: Annotated[list[Source], Field(min_length=1, description="What test sets are drawn from")]
    tests: Annotated[list[Test], Field(min_length=1, description="What is applied to each test set")]
    sizes: Annotated[list[Annotated[int, Field(ge=1, le=10**7)]], Field(min_length=1, description="Rows of a test set")]
    trials: Annotated[int, Field(ge=1, le=10**8, description="Test sets of each size from each population")] = 1000

    @field_validator("alpha", mode="after")
    @classmethod
    def _level(cls, alpha: float) -> float:
        if alpha >= 0.5:
            raise ValueError(f"{alpha:g} is not valid; expected less than 0.5, the level of a test")
        return alpha

    @field_validator("sizes", "tests", mode="after")
    @classmethod
    def _once(cls, items: list[Any]) -> list[Any]:
        for item in items:
            if items.count(item) > 1:
                raise ValueError(f"{item!r} is there twice; expected everything once")
        return items

    @field_validator("populations", mode="after")
    @classmethod
    def _named_once(cls, populations: list[Source]) -> list[Source]:
        names = [population.name for population in populations]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"the name {name!r} is there twice; expected everything to be named once")
        return populations


def _layout(study: CalibrationStudy, base: Path, progress: Progress) -> Prepared:
    """Read the populations, try each test once, and lay out the cells."""
    tests = {_label(test): _options(test, study.alpha) for test in study.tests}
    cells: list[Cell] = []
    notes: list[str] = []
    data: list[StoredData] = []
    for source in study.populations:
        try:
            found = source.load(base / study.folder, study.seed, tests=tests.values(), progress=progress)
        except ValueError as error:
            raise ValueError(f"populations: {source.name}: {error}") from None
        cells.extend(found.cells)
        data.extend(found.data)
        notes.extend([found.note] if found.note else [])
        for population in found.populations:
            cells.extend(_cells(study, source.name, population, tests))
    trained = any(cell.fanout == "predict" for cell in cells)
    plan = Plan(
        study=study.name,
        kind=study.kind,
        cells=tuple(sorted(cells, key=lambda cell: cell.fanout == "subsample")),
        analyses=("calibration", "confidence") if trained else ("calibration",),
        alpha=study.alpha,
        adjust=study.adjust,
    )
    return Prepared(plan, tuple(data), notes=tuple(notes))


def _cells(
    study: CalibrationStudy, source: str, population: PopulationSpec, tests: Mapping[str, dict[str, Any]]
) -> Iterator[Cell]:
    """The cells of a population: each test that fits it, at each size."""
    if population.rows is not None and max(study.sizes) > population.rows:
        largest = max(study.sizes)
        raise ValueError(f"sizes: {largest} is not valid; expected at most {population.rows}, the rows of {source}")
    fitting = {label: test for label, test in tests.items() if (test["test"] == "scores") == population.scored}
    if not fitting:
        wanted = "a test of scores" if population.scored else "a test of predictions"
        raise ValueError(f"tests: none of them fits {source}; expected {wanted}")
    slices = {} if population.slice is None else {"slice": population.slice}
    for label, test in fitting.items():
        _try_test(label, test, source, population)
        if population.grouped and test.get("measure") == "auc":
            test = {**test, "method": "t"}  # keeps the level with few groups, as a comparison does
        for n in study.sizes:
            yield cell(
                "subsample",
                subject={"dataset": source, **slices, "n": str(n), "test": label},
                work={"population": population.values, "n": n, "test": test},
                seed=study.seed,
                replicates=study.trials,
            )


def _try_test(label: str, test: dict[str, Any], source: str, spec: PopulationSpec) -> None:
    """Refuse what the test itself would refuse, before anything starts."""
    if spec.scored:
        return
    population = spec.population or Population(outcomes=(1,) * 8)
    counted = isinstance(population, EventPopulation) and test["test"] == "bootstrap"
    if needs_classes(test) and not population.binary and not counted:
        raise ValueError(
            f"tests: {label}: {source} is not valid; expected a population with rows of both classes (positive)"
        )
    one_of_each = np.ones((1, population.width), dtype=np.int64)
    try:
        run_test(test, one_of_each, population, np.random.default_rng(0))
    except ValueError as error:
        # The study spells this argument as its files do.
        raise ValueError(f"tests: {label}: {str(error).replace('n_resamples', 'resamples')}") from None


def _options(test: Any, alpha: float) -> dict[str, Any]:
    options: dict[str, Any] = test.model_dump()
    return options | ({"confidence": 1 - alpha} if options["test"] in ("bootstrap", "scores") else {})


def _label(test: Any) -> str:
    """The test in a few words: its name, and in brackets how it is done and what is not as usual."""
    options = {key: getattr(test, key) for key in ("measure", "method") if hasattr(test, key)}
    options |= test.model_dump(exclude_defaults=True, exclude={"test"})
    words = [value if isinstance(value, str) else f"{key} = {value}" for key, value in options.items()]
    return f"{_NAMES[test.test]} ({', '.join(words)})" if words else _NAMES[test.test]


KIND = CellStudyKind(CalibrationStudy, _layout)
