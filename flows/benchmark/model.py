"""The model of a benchmark study's file: data sets, classifiers, folds, permutations, tests and measures."""

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, WrapValidator, field_validator, model_validator

from sigstats._common.messages import rephrased
from sigstats._common.validation import as_choice, refuse, shown
from sigstats.measures.metrics import is_made
from sigstats.measures.own import is_path
from sigstats.measures.table import MEASURES, TOP
from sigstats.multiplicity import fewest_resamples
from sigstats.tasks.datasets.dataset import LEAVE_ONE_OUT, Dataset
from sigstats.tasks.record import Null, digest
from sigstats.tasks.statistical_tests import OF_RUNS, of_runs

from ..config.model import DataStudy, Options, Strict, Study, each_once
from ..config.settings import DatasetTable, Limited, Stopping, StoppingSettings
from .published import Published

#: The analysis of a study that names measures.
MEASURES_ANALYSIS = "measures"
#: The further analysis of a study that repeats its cross-validation.
MEASURES_OVER_FOLDS = "resampled-measures"
#: The measure by which retrains are compared by default.
ERROR = "error"
#: The test of the differences on folds.
OVER_FOLDS = "corrected-resampled"
#: The fan-outs that each analysis reads. A test of runs reads only ``crossval``.
_READS = {
    OVER_FOLDS: ("crossval", "repetition"),
    MEASURES_ANALYSIS: ("crossval", "scores"),
    MEASURES_OVER_FOLDS: ("crossval", "repetition"),
    "permutation": ("crossval", "retrain", "measured", "measured-retrain"),
}


class Classifier(Limited):
    """A classifier."""

    name: str = Field(min_length=1, max_length=40, description="Name in the results")
    learner: str = Field(
        min_length=1, description="Ready learner, or import path of a classifier of scikit-learn or an allowed package"
    )
    params: Options = Field(default_factory=dict, description="Parameters of the classifier")
    stopping: Stopping | None = Field(None, description="Stopping rule, if not permutation.stopping")


def _as_folds(value: Any) -> int | str:
    if value == LEAVE_ONE_OUT or (type(value) is int and 2 <= value <= 1000):
        return value  # type: ignore[no-any-return]
    raise ValueError(f"{shown(value)} is not valid; expected a whole number from 2 to 1000, or {LEAVE_ONE_OUT!r}")


Folds = Annotated[
    Annotated[int, Field(ge=2, le=1000)] | Literal["leave-one-out"], WrapValidator(lambda value, _: _as_folds(value))
]


class CrossValidation(Strict):
    """Cross-validation."""

    folds: Folds = Field(10, description="Number of stratified folds, or leave-one-out")
    repeats: int = Field(
        1, ge=1, le=1000, description="Repetitions of the cross-validation, for the test corrected-resampled"
    )
    rare_classes: Literal["refuse", "allow"] = Field(
        "refuse", description="Action if a class has fewer rows than folds"
    )
    transforms: Literal["fold", "all"] = Field(
        "fold",
        description="Scales, categories and imputed values are learnt on each training fold (fold), "
        "or once on all rows without labels (all: faster; permutation tests stay valid)",
    )

    @model_validator(mode="after")
    def _repeatable(self) -> "CrossValidation":
        if self.repeats > 1 and self.folds == LEAVE_ONE_OUT:
            raise ValueError(
                f"repeats: {self.repeats} is not valid; expected 1, since {LEAVE_ONE_OUT} has no other folds"
            )
        return self


def _known_statistic(name: str) -> str:
    from sigstats.retraining.measured import as_statistic

    return name if is_path(name) else as_statistic(name, (ERROR,))


class Permutation(StoppingSettings):
    """Permutation tests.

    No test stops early by default, since histograms and small p-values rest on all retrains. If retrains are expensive,
    joint needs the fewest (`benchmarks/joint.md`), and gandy for a single test (`benchmarks/sequential.md`).
    """

    nulls: tuple[Null, ...] = Field(
        ("labels", "features"), strict=False, description="labels (PermClass) or features (PermFeats)"
    )
    resamples: int = Field(999, ge=1, le=10**9, description="Retrains per null hypothesis")
    measure: Annotated[
        str,
        Field(
            description="Measure by which retrains are compared: error, macro-f1, auc, expected-cost(fn=10,fp=1) ..., "
            "or MODULE:FUNCTION of an allowed package"
        ),
        AfterValidator(_known_statistic),
    ] = ERROR


def _known_analyses(names: tuple[str, ...]) -> tuple[str, ...]:
    by_measures = {MEASURES_ANALYSIS, MEASURES_OVER_FOLDS}
    for name in by_measures.intersection(names):
        raise refuse("tests", name, "measures = ['macro-f1', ...] instead")
    return tuple(as_choice(name, "tests", sorted({*_READS, *OF_RUNS} - by_measures)) for name in names)


def read_by(names: Iterable[str], fanout: str) -> bool:
    """Return True if one of these analyses or tests reads the replicates of a fan-out."""
    return any(fanout in _READS.get(name, ("crossval",)) for name in names)


def takes_groups(name: str) -> bool:
    """Return True if an analysis or a test keeps its level for rows in dependent groups."""
    test = of_runs(name)
    return name in (OVER_FOLDS, "permutation") if test is None else test.takes_groups


def _known_measures(names: tuple[str, ...]) -> tuple[str, ...]:
    from sigstats.comparison.measure_names import COMPARED_MEASURES, as_compared_measure

    needs = ("answers", "classes", "scores", "probabilities", "tables")
    known = [*(name for name in COMPARED_MEASURES if MEASURES[name].needs in needs), "micro-f1"]
    known += filter(is_path, names)
    for name in names:
        with rephrased(lambda text: text.removeprefix("measures: ")):
            if is_made(name) or TOP.fullmatch(name):
                MEASURES[name]  # raises ValueError if the costs are not valid
            else:
                as_compared_measure(name, known)
    return each_once(names, "measure")


class BenchmarkStudy(DataStudy):
    """A study file of ``kind = "benchmark"``."""

    question: ClassVar[str] = (
        "which classifiers learn which data sets, and whose accuracy depends on the joint structure of the features?"
    )

    kind: Literal["benchmark"]
    datasets: list[str | DatasetTable] = Field(
        min_length=1, description="Data sets of scikit-learn by name, or tables with name and source"
    )
    classifiers: list[str | Classifier] = Field(
        min_length=1, description="Ready learners by name, or tables with name, learner and params"
    )
    cross_validation: CrossValidation = CrossValidation()
    permutation: Permutation = Permutation()
    tests: Annotated[
        tuple[str, ...],
        Field(strict=False, description="Analyses, in the order of the summary"),
        AfterValidator(_known_analyses),
    ] = ("permutation", "mcnemar")

    measures: Annotated[
        tuple[str, ...],
        Field(
            strict=False,
            description="Further measures to estimate and compare: macro-f1, auc, expected-cost(fn=10,fp=1) ..., or "
            "MODULE:FUNCTION of an allowed package",
        ),
        AfterValidator(_known_measures),
    ] = ()

    slices: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...],
        Field(
            strict=False,
            description="Features whose values are slices, with estimates and comparisons of their own; "
            "numbers with more than 8 values are cut into quarters",
        ),
        AfterValidator(each_once),
    ] = ()

    positive: str | dict[str, str] | None = Field(
        None,
        description="Positive class of f1, precision, recall and the like, or a table by data set; "
        "not needed for 0/1, -1/1, false/true and no/yes",
    )

    published: list[Published] = Field(default_factory=list, description="Published numbers, shown in the report")

    @model_validator(mode="before")
    @classmethod
    def _tests_of_repetitions(cls, values: Any) -> Any:
        """Add the test of repetitions if the cross-validation is repeated and no test is named."""
        if not isinstance(values, dict) or "tests" in values:
            return values
        settings = values.get("cross_validation")
        repeats = settings.get("repeats", 1) if isinstance(settings, dict) else 1
        return {**values, "tests": (*cls.model_fields["tests"].default, OVER_FOLDS)} if repeats != 1 else values

    @property
    def cases(self) -> int:
        """The number of permutation tests that are adjusted together: one for each classifier on each data set."""
        return len(self.datasets) * len(self.classifiers)

    @field_validator("classifiers", mode="after")
    @classmethod
    def _named_once(cls, classifiers: list[str | Classifier]) -> list[str | Classifier]:
        each_once([named(item).name for item in classifiers])
        return classifiers

    @field_validator("datasets", mode="after")
    @classmethod
    def _with_names(cls, datasets: list[str | dict[str, Any]]) -> list[str | dict[str, Any]]:
        for item in datasets:
            if isinstance(item, dict) and not isinstance(item.get("name"), str):
                raise ValueError(f"the data set {shown(item)} is not valid; expected a name among its keys")
        each_once([item if isinstance(item, str) else item["name"] for item in datasets])
        return datasets

    @model_validator(mode="after")
    def _used(self) -> "BenchmarkStudy":
        settings = self.cross_validation
        if OVER_FOLDS in self.tests and settings.folds == LEAVE_ONE_OUT:
            raise ValueError(
                f"tests: {OVER_FOLDS!r} is not valid with {LEAVE_ONE_OUT}, whose training sets are nearly the same; "
                "set folds = 10"
            )
        return self

    @model_validator(mode="after")
    def _reachable(self) -> "BenchmarkStudy":
        if not read_by(self.tests, "retrain"):
            return self
        smallest = 1 / (self.permutation.resamples + 1)
        if self.permutation.nulls and smallest > self.alpha:
            wanted = fewest_resamples(1, [], method="none", alpha=self.alpha)
            raise ValueError(
                f"permutation.resamples: {self.permutation.resamples} is not valid; expected at least {wanted}, "
                f"since the smallest p-value of {self.permutation.resamples} is above alpha = {self.alpha:g}"
            )
        return self


def named(item: str | Classifier) -> Classifier:
    """Return a classifier of a study file, which may state only its name."""
    return Classifier(name=item, learner=item, params={}) if isinstance(item, str) else item


def nulls_of(study: BenchmarkStudy) -> tuple[Null, ...]:
    """Return the null hypotheses under which classifiers are retrained; none if no test uses them."""
    return study.permutation.nulls if read_by(study.tests, "retrain") else ()


def seed_of_folds(study: BenchmarkStudy, dataset: Dataset) -> int:
    """Return the seed of the folds of a data set, which are the same for all classifiers."""
    return int(digest("folds", dataset=dataset.digest(), seed=study.seed)[:12], 16)


def learners(study: Study) -> set[str]:
    """Return the names of the learners that a benchmark study trains; none for a study of another kind."""
    return {named(item).learner for item in study.classifiers} if isinstance(study, BenchmarkStudy) else set()
