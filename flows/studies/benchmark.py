"""The benchmark study: which classifiers learn which data sets, and whose accuracy needs the features' joint structure.

Every classifier is cross-validated on every data set; it is retrained on permuted labels (PermClass) and on features
permuted inside classes (PermFeats); every two are compared (McNemar). Predictions that are pooled from folds are not
independent, so Nyssen's test and those of two samples are made of them only where a study names them.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, WrapValidator, field_validator, model_validator

from sigstats._common.validation import as_choice, nearest, refuse, shown
from sigstats.measures.table import MEASURES
from sigstats.multiplicity import adjust
from sigstats.tasks import analyses
from sigstats.tasks.datasets import readers as sources
from sigstats.tasks.datasets.dataset import Dataset
from sigstats.tasks.datasets.folds import GIVEN, LEAVE_ONE_OUT, cross_validation_folds
from sigstats.tasks.fingerprint import digest
from sigstats.tasks.own_code import code_of
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.replicates import cell

from ..config.dataset_table import DatasetTable
from ..config.model import Options, Strict
from ..config.study import DataStudy
from ..running.prepared import Prepared, Progress
from ._cell_study import CellStudyKind
from ._published import Null, Published, published_references
from ._stopping import Stopping, StoppingSettings, stopping_notes

#: Tests of a benchmark that take all rows for independent.
_OF_INDEPENDENT_ROWS = ("efficiency", "homogeneity", "bootstrap")

#: The analysis that a study has which names measures.
MEASURES_ANALYSIS = "measures"

#: The test of the differences on folds.
OVER_FOLDS = "corrected-resampled"


class Needs(Strict):
    """What a classifier of another package needs of a worker."""

    memory: Annotated[
        str | None, Field(pattern=r"^[0-9.]+ ?[KMGT]?i?B$", description='The most memory of its process, as in "8 GiB"')
    ] = None


class Classifier(Strict):
    """A classifier with a name of its own."""

    name: Annotated[str, Field(min_length=1, max_length=40, description="Its name in the results")]
    learner: Annotated[
        str,
        Field(
            min_length=1,
            description="A ready learner, or the import path of a classifier of scikit-learn or an allowed package",
        ),
    ]
    params: Annotated[Options, Field(default_factory=dict, description="The parameters of the classifier")]
    time_limit: Annotated[
        float | None,
        Field(gt=0, exclude=True, description="Seconds that a fit of a classifier of another package may take"),
    ] = None
    resources: Annotated[
        Needs, Field(exclude=True, description="What a classifier of another package needs of a worker")
    ] = Needs()
    stopping: Annotated[
        Stopping | None, Field(description="When its permutation tests stop, if not as permutation.stopping says")
    ] = None


def _as_folds(value: Any) -> int | str:
    if value == LEAVE_ONE_OUT or (type(value) is int and 2 <= value <= 1000):
        return value  # type: ignore[no-any-return]
    raise ValueError(f"{shown(value)} is not valid; expected a whole number from 2 to 1000, or {LEAVE_ONE_OUT!r}")


Folds = Annotated[
    Annotated[int, Field(ge=2, le=1000)] | Literal["leave-one-out"], WrapValidator(lambda value, _: _as_folds(value))
]


class CrossValidation(Strict):
    """How errors are estimated."""

    folds: Annotated[
        Folds, Field(description="The number of stratified folds, or leave-one-out: every row is a fold of its own")
    ] = 10
    repeats: Annotated[
        int,
        Field(ge=1, le=1000, description="How often the rows are split and tested, for the test corrected-resampled"),
    ] = 1
    rare_classes: Annotated[
        Literal["refuse", "allow"],
        Field(description="What to do with data in which a class has fewer rows than there are folds"),
    ] = "refuse"
    transforms: Annotated[
        Literal["fold", "all"],
        Field(
            description="Learn scales, categories and imputed values on each training fold alone (fold), or once on "
            "all rows without their labels (all): faster, and the permutation tests stay valid"
        ),
    ] = "fold"

    @model_validator(mode="after")
    def _repeatable(self) -> "CrossValidation":
        if self.repeats > 1 and self.folds == LEAVE_ONE_OUT:
            raise ValueError(
                f"repeats: {self.repeats} is not valid; expected 1, since {LEAVE_ONE_OUT} has no other folds"
            )
        return self


class Permutation(StoppingSettings):
    """The permutation tests.

    None stops early unless told to: histograms, small p-values and what adjustments make of them rest on all retrains,
    and those of most ready learners cost little. Where they cost much, gandy needs the fewest of the rules with a bound
    on their error (`benchmarks/sequential.md`).
    """

    nulls: Annotated[
        tuple[Null, ...], Field(strict=False, description="labels is PermClass, features is PermFeats")
    ] = ("labels", "features")
    resamples: Annotated[int, Field(ge=1, le=10**9, description="Retrains for each null hypothesis")] = 999


def _known_analyses(names: tuple[str, ...]) -> tuple[str, ...]:
    known = analyses.REGISTRY.names()
    for name in names:
        if name not in known:
            near = nearest(name, known)
            hint = f" (did you mean {near!r}?)" if near else ""
            raise ValueError(f"{name!r} is not valid; expected one of {', '.join(known)}{hint}")
    return names


def _known_measures(names: tuple[str, ...]) -> tuple[str, ...]:
    from sigstats.comparison.requirements import COMPARED_MEASURES

    needs = ("answers", "classes", "scores", "probabilities")
    known = [*(name for name in COMPARED_MEASURES if MEASURES[name].needs in needs), "micro-f1"]
    for name in names:
        as_choice(name, "measures", known)
        if names.count(name) > 1:
            raise ValueError(f"{name!r} is not valid; expected each measure once")
    return names


class BenchmarkStudy(DataStudy):
    """What a study file of ``kind = "benchmark"`` may say."""

    question: ClassVar[str] = (
        "which classifiers learn which data sets, and whose accuracy depends on the joint structure of the features?"
    )

    kind: Literal["benchmark"]
    datasets: Annotated[
        list[str | DatasetTable],
        Field(
            min_length=1, description="Names of data sets that ship with scikit-learn, or tables with name and source"
        ),
    ]
    classifiers: Annotated[
        list[str | Classifier],
        Field(min_length=1, description="Names of ready learners, or tables with name, learner and params"),
    ]
    cross_validation: CrossValidation = CrossValidation()
    permutation: Permutation = Permutation()
    tests: Annotated[
        tuple[str, ...],
        Field(strict=False, description="The analyses of the summary, in order"),
        AfterValidator(_known_analyses),
    ] = ("permutation", "mcnemar")

    measures: Annotated[
        tuple[str, ...],
        Field(strict=False, description="Measures besides accuracy, to be estimated and compared: macro-f1, auc ..."),
        AfterValidator(_known_measures),
    ] = ()

    published: Annotated[
        list[Published],
        Field(default_factory=list, description="What a publication prints, to stand beside the results"),
    ]

    @model_validator(mode="before")
    @classmethod
    def _tests_of_repetitions(cls, values: Any) -> Any:
        """A study that repeats the cross-validation and names no test asks for that of the repetitions too."""
        if not isinstance(values, dict) or "tests" in values:
            return values
        settings = values.get("cross_validation")
        repeats = settings.get("repeats", 1) if isinstance(settings, dict) else 1
        return {**values, "tests": (*cls.model_fields["tests"].default, OVER_FOLDS)} if repeats != 1 else values

    @field_validator("classifiers", mode="after")
    @classmethod
    def _named_once(cls, classifiers: list[str | Classifier]) -> list[str | Classifier]:
        _require_distinct([_named(item).name for item in classifiers])
        return classifiers

    @field_validator("datasets", mode="after")
    @classmethod
    def _with_names(cls, datasets: list[str | dict[str, Any]]) -> list[str | dict[str, Any]]:
        for item in datasets:
            if isinstance(item, dict) and not isinstance(item.get("name"), str):
                raise ValueError(f"the data set {item!r} is not valid; expected a name among its keys")
        _require_distinct([item if isinstance(item, str) else item["name"] for item in datasets])
        return datasets

    @model_validator(mode="after")
    def _used(self) -> "BenchmarkStudy":
        settings = self.cross_validation
        if MEASURES_ANALYSIS in self.tests:
            raise ValueError(
                f"tests: {MEASURES_ANALYSIS!r} is not valid; expected measures = ['macro-f1', ...] instead"
            )
        if OVER_FOLDS in self.tests and settings.folds == LEAVE_ONE_OUT:
            raise ValueError(
                f"tests: {OVER_FOLDS!r} is not valid with {LEAVE_ONE_OUT}, whose training sets are all but the same; "
                "expected folds = 10, or another number"
            )
        return self

    @model_validator(mode="after")
    def _reachable(self) -> "BenchmarkStudy":
        if not analyses.used_by(self.tests, "retrain"):
            return self
        smallest = 1 / (self.permutation.resamples + 1)
        if self.permutation.nulls and smallest > self.alpha:
            wanted = int(1 / self.alpha)
            raise ValueError(
                f"permutation.resamples: {self.permutation.resamples} is not valid; expected at least {wanted}, "
                f"since the smallest p-value of {self.permutation.resamples} is above alpha = {self.alpha:g}"
            )
        return self


def _layout(study: BenchmarkStudy, base: Path, progress: Progress, allow: Sequence[str]) -> Prepared:
    """Read the data sets, check that every classifier can be built and folded, and lay out the cells."""
    from sigstats.learners import build

    datasets, cells, allowed = [], [], ("sklearn", *allow)
    for number, spec in enumerate(study.datasets):
        progress("data sets", number, len(study.datasets))
        dataset = sources.load(_spec(spec), base=base / study.folder)
        datasets.append(dataset)
        try:
            _check_folds(study, dataset)
        except ValueError as error:
            raise ValueError(f"data set {dataset.name}: {_by_the_keys(study, dataset, error)}") from None
        for item in study.classifiers:
            classifier = _named(item)
            build(classifier.learner, params=classifier.params, nominal=dataset.nominal, allowed=allowed)
            code = code_of(classifier.learner, allowed)
            cells.extend(_cells(study, dataset, classifier, code))
    plan = Plan(
        study=study.name,
        kind=study.kind,
        cells=tuple(sorted(cells, key=lambda cell: ("crossval", "repetition", "scores", "retrain").index(cell.fanout))),
        analyses=(*study.tests, *([MEASURES_ANALYSIS] if study.measures else [])),
        measures=study.measures,
        alpha=study.alpha,
        adjust=study.adjust,
    )
    references = tuple(published_references(study.published, plan.cells))
    notes = (*_notes(study, datasets), *stopping_notes(plan))
    return Prepared(plan, tuple(datasets), notes=notes, references=references)


def _check_folds(study: BenchmarkStudy, dataset: Dataset) -> None:
    """Refuse folds that cannot be made, and what cannot be said of rows in groups."""
    from sigstats.retraining.groups import LabelExchange, rows_to_permute

    settings = study.cross_validation
    cross_validation_folds(dataset, settings.model_dump(), 0)
    if dataset.folds is not None and settings.repeats > 1:
        raise refuse("cross_validation.repeats", settings.repeats, "1, since the data set names the fold of each row")
    if dataset.groups is None:
        return
    for test in study.tests:
        if test in _OF_INDEPENDENT_ROWS:
            raise refuse("tests", test, "others, since it takes rows for independent, and the data set has groups")
    if "labels" in _nulls(study):
        LabelExchange(dataset.y, dataset.groups)
    if "features" in _nulls(study):
        rows_to_permute(dataset.y, dataset.groups)


def _by_the_keys(study: BenchmarkStudy, dataset: Dataset, error: ValueError) -> str:
    """What is wrong with the folds of a data set, by the keys of the study file and the names of classes."""
    option, _, complaint = str(error).partition(":")
    key = {"n_splits": "cross_validation.folds", "rare_classes": "cross_validation.rare_classes"}.get(option, option)
    named = re.sub(r"(?<=class )\d+$", lambda code: repr(dataset.classes[int(code[0])]), complaint)
    few = "rows of class" in complaint and study.cross_validation.rare_classes == "refuse"
    return f"{key}:{named}" + ("; or cross_validation.rare_classes = 'allow', if folds may miss it" if few else "")


def _notes(study: BenchmarkStudy, datasets: list[Dataset]) -> Iterator[str]:
    for dataset in datasets:
        constant = dataset.constant_features()
        if constant:
            yield f"{dataset.name}: constant, so of no use: {', '.join(constant)}"
    repeats = study.cross_validation.repeats
    if repeats > 1 and not analyses.used_by(study.tests, "repetition"):
        yield f"the cross-validation is not repeated {repeats} times: no test of the study uses it"
    tests, resamples = len(datasets) * len(study.classifiers), study.permutation.resamples
    if _nulls(study) and study.adjust != "none":
        # All tests at the smallest p there is: what the adjustment then makes of it is the least it can ever be.
        smallest = float(adjust([1 / (resamples + 1)] * tests, method=study.adjust).min())
        if smallest > study.alpha:
            needed = math.ceil(smallest * (resamples + 1) / study.alpha) - 1
            yield (
                f"no permutation test can be rejected: {tests} tests adjusted by {study.adjust} need "
                f"permutation.resamples = {needed:,} or more"
            )


def _cells(
    study: BenchmarkStudy, dataset: Dataset, classifier: Classifier, code: Mapping[str, str] | None
) -> list[Cell]:
    content = dataset.digest()
    named: dict[str, Any] = {"learner": classifier.learner, "params": classifier.params}
    work: dict[str, Any] = {
        "dataset": {"name": dataset.name, "digest": content, **({} if dataset.groups is None else {"grouped": True})},
        "classifier": named if code is None else {**named, "code": code},
        # The folds of a data set are the same for all classifiers, so that they can be compared row by row.
        "cross_validation": {
            "folds": study.cross_validation.folds if dataset.folds is None else GIVEN,
            "seed": int(digest("folds", dataset=content, seed=study.seed)[:12], 16),
            **study.cross_validation.model_dump(include={"rare_classes", "transforms"}, exclude_defaults=True),
        },
    }
    subject = {"dataset": dataset.name, "classifier": classifier.name}
    stopping = study.permutation.stopping_of(
        alpha=study.alpha,
        adjust=study.adjust,
        tests=len(study.datasets) * len(study.classifiers),
        replicates=study.permutation.resamples,
        rule=classifier.stopping,
    )
    repeats = study.cross_validation.repeats
    limits = _limits(classifier, own=code is not None)
    observed = cell("crossval", subject=subject, work=work, seed=study.seed, replicates=1, limits=limits)
    retrains = [
        cell(
            "retrain",
            subject={**subject, "null": null},
            work={**work, "null": null},
            seed=study.seed,
            replicates=study.permutation.resamples,
            stopping=stopping,
            limits=limits,
        )
        for null in _nulls(study)
    ]
    if any(MEASURES[name].needs in ("scores", "probabilities") for name in study.measures):
        retrains = [cell("scores", subject=subject, work=work, seed=study.seed, replicates=1), *retrains]
    if repeats == 1 or not analyses.used_by(study.tests, "repetition"):
        return [observed, *retrains]
    return [
        observed,
        cell("repetition", subject=subject, work=work, seed=study.seed, replicates=repeats - 1, limits=limits),
        *retrains,
    ]


def _nulls(study: BenchmarkStudy) -> tuple[Null, ...]:
    """The null hypotheses under which classifiers are retrained: none if no test reads it."""
    return study.permutation.nulls if analyses.used_by(study.tests, "retrain") else ()


def _limits(classifier: Classifier, *, own: bool) -> dict[str, float] | None:
    """What a classifier may take; none for those of this package and scikit-learn's.

    Raises
    ------
    ValueError
        If one of these has a limit, since it has no process of its own.
    """
    from dask.utils import parse_bytes

    found = {}
    if classifier.time_limit is not None:
        found["time_limit"] = classifier.time_limit
    if classifier.resources.memory is not None:
        found["memory"] = float(parse_bytes(classifier.resources.memory))
    if found and not own:
        wanted = "none: they are for classifiers of other packages, which run in processes of their own"
        raise refuse(f"classifiers: {classifier.name}: limits", ", ".join(found), wanted)
    return found or None


def _spec(item: str | Mapping[str, Any]) -> Mapping[str, Any]:
    return {"source": "scikit-learn", "name": item} if isinstance(item, str) else item


def _named(item: str | Classifier) -> Classifier:
    return Classifier(name=item, learner=item, params={}) if isinstance(item, str) else item


def _require_distinct(names: list[str]) -> None:
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"{sorted(twice)[0]!r} is not valid; expected each name once")


KIND = CellStudyKind(BenchmarkStudy, _layout)
